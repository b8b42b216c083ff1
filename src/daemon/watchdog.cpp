#include "rdtd/daemon/watchdog.hpp"

#include <sys/prctl.h>

#include <system_error>
#include <utility>

namespace rdtd {

Watchdog::Watchdog(std::function<bool()> in_kernel, std::function<void()> alive)
    : in_kernel_(std::move(in_kernel)), alive_(std::move(alive)) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::beat() const {
  if (in_kernel_()) alive_();
}

int Watchdog::start(std::chrono::microseconds interval) {
  try {
    thread_ = std::thread([this, interval] {
      (void)::prctl(PR_SET_NAME, "rdtd-watchdog");
      std::unique_lock lock(mutex_);
      do beat();
      while (!stopped_.wait_for(lock, interval, [this] { return stop_; }));
    });
  } catch (const std::system_error& error) {
    return -error.code().value();
  }
  return 0;
}

}  // namespace rdtd
