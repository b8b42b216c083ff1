// MachineChanges: what happens to the machine beside its processes: others change resctrl, CPUs go
// and come, the machine was suspended, a policy file was edited.
#pragma once

#include <systemd/sd-device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rdtd/daemon/event_source.hpp"
#include "rdtd/daemon/manager.hpp"
#include "rdtd/daemon/policy_watch.hpp"
#include "rdtd/resctrl/change_watch.hpp"

namespace rdtd {

class MachineChanges {
 public:
  // How long the machine was suspended since it booted, in nanoseconds.
  using Suspended = std::function<uint64_t()>;

  explicit MachineChanges(Manager& manager) : manager_(manager) {}
  MachineChanges(const MachineChanges&) = delete;
  MachineChanges& operator=(const MachineChanges&) = delete;
  ~MachineChanges();

  // `resctrl`: null: it is not watched. A change in a policy directory reloads the policy. 0, or
  // -errno.
  [[nodiscard]] int attach(sd_event* event, std::unique_ptr<resctrl::ChangeWatch> resctrl,
                           const std::vector<std::string>& policy_directories, Suspended suspended);
  // From now on, the groups of the policy in force, as they are now: one that was made again is
  // another one.
  void follow_groups();
  // Notices a suspend that nobody announced, and directories of policy files that were made.
  void beat();

 private:
  void watch_cpus(sd_event* event);
  static int on_cpu(sd_device_monitor*, sd_device* device, void* self);

  Manager& manager_;
  std::unique_ptr<resctrl::ChangeWatch> resctrl_;
  Readable resctrl_changed_;
  sd_device_monitor* cpus_ = nullptr;
  PolicyWatch policy_;
  Suspended suspended_;
  uint64_t suspended_before_ = 0;  // nanoseconds, at the last beat
  bool unwatched_logged_ = false;  // files of resctrl
};

}  // namespace rdtd
