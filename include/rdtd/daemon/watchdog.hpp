// Watchdog: reports to systemd that the loop is alive. A loop that hangs by itself is to be killed,
// one that the kernel holds up is not: else a user who reads resctrl all the time could have the
// daemon killed. So the loop reports for itself, and a thread does while the loop is in a call of
// the kernel.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace rdtd {

class Watchdog {
 public:
  // Any thread may call both.
  Watchdog(std::function<bool()> in_kernel, std::function<void()> alive);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // The loop has come round.
  void come_round() const { alive_(); }
  // Reports if the loop is in a call of the kernel.
  void beat() const;
  // Beats from now on, in the thread. Returns 0, or -errno.
  [[nodiscard]] int start(std::chrono::microseconds interval);

 private:
  std::function<bool()> in_kernel_;
  std::function<void()> alive_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace rdtd
