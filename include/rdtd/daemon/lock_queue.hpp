// LockQueue: changes to resctrl, one after the other, each under the lock that all tools share.
// Nobody waits for it: if another process holds the lock, the loop tries again. A process that
// keeps the lock cannot keep rdtd from its work: once it has held it for max_wait, changes are made
// without it. From then on the lock is tried until it is free, so that the end of this is reported.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "rdtd/daemon/system.hpp"

namespace rdtd {

class LockQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds retry_interval{50};
  static constexpr std::chrono::seconds max_wait{2};
  static constexpr std::chrono::seconds recheck_interval{1};

  // Before each change one of them is called: `on_forced` with the reason if it is made without the
  // lock. After that, `on_locked` is also called once the lock is free again.
  LockQueue(System& system, std::function<void()> on_locked,
            std::function<void(const std::string&)> on_forced)
      : system_(system), on_locked_(std::move(on_locked)), on_forced_(std::move(on_forced)) {}

  // Runs the change at once if the lock is free and no other change waits, else later.
  void run(std::function<void()> change);
  // Tries again.
  void step();
  // When step has something to do; Time::max() if nothing waits.
  [[nodiscard]] Time next_due() const;

 private:
  void recheck();
  System& system_;
  std::function<void()> on_locked_;
  std::function<void(const std::string&)> on_forced_;
  std::deque<std::function<void()>> waiting_;
  std::optional<Time> held_since_;  // by another process, at each attempt since then
  Time retry_{};
  bool stepping_ = false;
  bool forced_ = false;  // another process held the lock when the last change was made
};

}  // namespace rdtd
