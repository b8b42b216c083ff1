// Watchdog: reports to systemd that the loop is alive. A loop that hangs by itself is to be killed,
// one that the kernel holds up is not: else a user who reads resctrl all the time could have the
// daemon killed. So a thread asks whether the loop has come round, which it need not have while a
// call of the kernel waits.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace rdtd {

class Watchdog {
 public:
  // Both are called in its thread.
  Watchdog(std::function<bool()> in_kernel, std::function<void()> alive);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // The loop has come round. It says so at least once in each interval, and wakes nobody for it.
  void come_round() { came_round_ = true; }
  // Says that the loop is alive if it has come round since the last time.
  void beat();
  // Beats from now on, in the thread. Returns 0, or -errno.
  [[nodiscard]] int start(std::chrono::microseconds interval);

 private:
  std::function<bool()> in_kernel_;
  std::function<void()> alive_;
  std::atomic<bool> came_round_ = true;  // it is asked by the loop that begins
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace rdtd
