// Watchdog: reports to systemd that the loop is alive. A loop that hangs by itself is to be killed,
// one that the kernel holds up is not: else a user who reads resctrl all the time could have the
// daemon killed. So a thread asks the loop, which need not answer while a call of the kernel waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "rdtd/base/unique_fd.hpp"

namespace rdtd {

class Watchdog {
 public:
  // Both are called in its thread.
  Watchdog(std::function<bool()> in_kernel, std::function<void()> alive);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // Readable while a question waits for `answer`.
  [[nodiscard]] int fd() const { return question_.get(); }
  void answer();
  // Says that the loop is alive, unless the last question still waits, and asks the next one.
  void beat();
  // Beats from now on, in the thread. Returns 0, or -errno.
  [[nodiscard]] int start(std::chrono::microseconds interval);

 private:
  std::function<bool()> in_kernel_;
  std::function<void()> alive_;
  UniqueFd question_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace rdtd
