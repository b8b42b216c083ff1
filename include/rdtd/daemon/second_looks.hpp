// SecondLooks: hands the processes that the classifier has moved over to the loop thread, which
// looks at each once more a moment later; and those that it could not place, of which only the
// children are looked at. The classifier never waits here: there is no lock, no
// allocation, and a system call only for the first process after a pause. The loop thread is woken
// up once for all processes of an interval.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd {

class SecondLooks {
 public:
  // A process is looked at so long after it was moved, or up to one interval later. The kernel may
  // hold a clone(2) that has copied its parent's group and is not in /proc yet.
  static constexpr std::chrono::milliseconds delay{20};
  static constexpr std::chrono::milliseconds interval{100};
  static constexpr size_t capacity = 4096;

  struct Process {
    pid_t pid = 0;
    // CLOCK_MONOTONIC, nanoseconds.
    uint64_t exec_at = 0;  // its first exec since it was looked at; 0: unknown
    uint64_t moved_at = 0;
    bool placed = true;  // false: it has ended, or could not be examined
  };

  // Fails if there can be no more descriptors.
  [[nodiscard]] static Result<std::unique_ptr<SecondLooks>> make();

  // For the classifier. False if as many as `capacity` wait; of one that was not placed, half of
  // that, so that a user who starts and ends programs in a loop leaves places to others.
  [[nodiscard]] bool add(const Process& process);

  // For the loop thread. The descriptor is readable once take_due has something to do.
  [[nodiscard]] int fd() const { return timer_.get(); }
  // Those that were moved at least `delay` ago.
  [[nodiscard]] std::vector<Process> take_due(uint64_t now);

 private:
  explicit SecondLooks(UniqueFd timer) : timer_(std::move(timer)) {}
  void arm(uint64_t time) const;

  UniqueFd timer_;
  std::array<Process, capacity> ring_;
  std::atomic<size_t> added_ = 0, taken_ = 0;  // so far; written by one thread each
  std::atomic<bool> armed_ = false;            // whether the timer is set
};

}  // namespace rdtd
