// ResctrlLock: the lock of resctrl that all tools share. Nobody waits for it: if another process
// holds it, the loop tries again. A process that keeps the lock cannot keep rdtd from its work:
// once it has held it for max_wait, changes are made without it. From then on the lock is tried
// until it is free, so that the end of this is reported.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "rdtd/daemon/system.hpp"

namespace rdtd {

class Problems;

class ResctrlLock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds retry_interval{50};
  static constexpr std::chrono::seconds max_wait{2};
  static constexpr std::chrono::seconds recheck_interval{1};

  // `problems` gets one while another process keeps the lock.
  ResctrlLock(const System& system, Problems& problems) : system_(system), problems_(problems) {}

  // The right to change resctrl, given back when it is destroyed. It may be without the lock.
  struct Right {
    std::unique_ptr<resctrl::Lock> lock;
  };
  // Nothing if another process holds the lock: to be called again at next_try().
  [[nodiscard]] std::optional<Right> try_take();
  [[nodiscard]] Time next_try() const { return next_try_; }

  // When recheck() has something to do; Time::max() if the last change was made with the lock.
  [[nodiscard]] Time next_recheck() const { return forced_ ? next_try_ : Time::max(); }
  // Ends the problem once the lock is free. True if it is.
  bool recheck();

 private:
  const System& system_;
  Problems& problems_;
  std::optional<Time> held_since_;  // by another process, at each attempt since then
  Time next_try_{};
  bool forced_ = false;  // the last change was made without the lock
};

}  // namespace rdtd
