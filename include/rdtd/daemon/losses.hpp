// Losses: process events that the kernel dropped, and other cases in which changes are not known
// one by one. All processes are looked at then, at most so often.
#pragma once

#include <chrono>
#include <cstdint>

#include "rdtd/daemon/event_source.hpp"
#include "rdtd/daemon/manager.hpp"

namespace rdtd {

class Losses {
 public:
  explicit Losses(Manager& manager) : manager_(manager) {}

  [[nodiscard]] int attach(sd_event* event);
  // Has all processes looked at. `why` is for the log.
  void look_at_all(const char* why);
  // How many events of the classifier's socket, or of that of renames, the kernel has dropped since
  // the start.
  void count_exec(uint64_t dropped_events);
  void count_changes(uint64_t dropped_events);
  // Some were dropped just now.
  void lost();

 private:
  using Time = std::chrono::steady_clock::time_point;
  [[nodiscard]] uint64_t dropped() const { return exec_ + changes_; }
  void sweep();

  Manager& manager_;
  Timer sweep_;
  Time next_sweep_{}, last_log_{};
  const char* reason_ = nullptr;  // a look at all processes waits, or is under way
  const char* again_ = nullptr;   // another one was asked for meanwhile
  uint64_t logged_ = 0;           // of those that were dropped
  uint64_t exec_ = 0, changes_ = 0;
};

}  // namespace rdtd
