#include "rdtd/daemon/watchdog.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <system_error>
#include <utility>

namespace rdtd {

Watchdog::Watchdog(std::function<bool()> in_kernel, std::function<void()> alive)
    : in_kernel_(std::move(in_kernel)),
      alive_(std::move(alive)),
      question_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::answer() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(question_.get(), &ignored);
}

void Watchdog::beat() {
  pollfd waiting{question_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, 0) == 0 || in_kernel_()) alive_();
  (void)::eventfd_write(question_.get(), 1);
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
