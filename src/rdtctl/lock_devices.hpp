// The devices of pseudo-locked regions, as far as rdtctl sees to them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "context.hpp"

namespace rdtd {

// Has udev set the owner and mode of each device again, as the policy in force says (see
// 70-rdtd.rules): udev looks at a device that stays only when it is asked to. `devices` is
// /sys/class/pseudo_lock, `uuid` a name for the question, which its answers have ("uevent" in
// Documentation/ABI/testing/sysfs-uevent of the kernel). Returns the number of devices; EACCES:
// only root may ask.
[[nodiscard]] Result<size_t> renew_device_access(const std::string& devices,
                                                 const std::string& uuid);
// The same after a reload, with a note if it fails. Waits for udev, for two seconds at most.
void renew_device_access(const Context& context);

struct DeviceAccess {
  std::string owner, user_group;  // names, or numbers without one
  unsigned mode = 0600;
};
// Of the regions whose devices exist.
[[nodiscard]] std::map<std::string, DeviceAccess> read_device_access(
    const std::vector<std::string>& regions);

}  // namespace rdtd
