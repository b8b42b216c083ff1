// UdevAnswers: waits until udev has handled the events that carry the name of a question, as
// udevadm(8) does with --settle.
#pragma once

#include <cstddef>
#include <string>

using sd_device = struct sd_device;
using sd_device_monitor = struct sd_device_monitor;
using sd_event = struct sd_event;

namespace rdtd {

class UdevAnswers {
 public:
  // Listens from now on. `subsystem`: of the devices, such as "pseudo_lock".
  explicit UdevAnswers(const char* subsystem);
  UdevAnswers(const UdevAnswers&) = delete;
  UdevAnswers& operator=(const UdevAnswers&) = delete;
  ~UdevAnswers();

  // To be written behind the action to `uevent` (Documentation/ABI/testing/sysfs-uevent).
  [[nodiscard]] const std::string& uuid() const { return uuid_; }
  // Waits for so many devices, for two seconds at most; not at all where udev does not run.
  void wait_for(size_t devices);

 private:
  static int on_device(sd_device_monitor* monitor, sd_device* device, void* self);

  std::string uuid_;
  sd_event* event_ = nullptr;
  sd_device_monitor* monitor_ = nullptr;
  bool listens_ = false;
  size_t left_ = 0;
};

}  // namespace rdtd
