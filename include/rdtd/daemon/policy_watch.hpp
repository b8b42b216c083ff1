// PolicyWatch: hears of changes in the directories of policy files, also of those that are made, or
// replaced by others, after it has begun.
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "rdtd/daemon/event_source.hpp"

namespace rdtd {

class PolicyWatch {
 public:
  // From the first change until `changed` is called: a change becomes complete meanwhile.
  static constexpr std::chrono::seconds delay{1};

  PolicyWatch() = default;
  PolicyWatch(const PolicyWatch&) = delete;
  PolicyWatch& operator=(const PolicyWatch&) = delete;
  ~PolicyWatch();

  // 0, or -errno. Without directories it does nothing.
  [[nodiscard]] int attach(sd_event* event, const std::vector<std::string>& directories,
                           std::function<void()> changed);
  // Looks whether the paths are still the directories that are watched: the kernel does not say
  // when one is made. To be called every some seconds.
  void follow();

 private:
  struct Watched {
    std::string path;
    sd_event_source* source = nullptr;  // null: it is not there, or cannot be watched
    dev_t device = 0;
    ino_t inode = 0;
    bool failed = false;  // and that was logged
  };
  [[nodiscard]] bool follow(Watched& directory);
  [[nodiscard]] bool follow_all();
  void tell_what_is_watched() const;
  static int on_change(sd_event_source* source, const inotify_event*, void* self);

  sd_event* event_ = nullptr;
  std::vector<Watched> directories_;
  Timer changed_;
};

}  // namespace rdtd
