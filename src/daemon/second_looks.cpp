#include "rdtd/daemon/second_looks.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

namespace rdtd {

namespace {

constexpr uint64_t nanoseconds(std::chrono::nanoseconds duration) {
  return static_cast<uint64_t>(duration.count());
}

}  // namespace

Result<std::unique_ptr<SecondLooks>> SecondLooks::make() {
  UniqueFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer) return errno_error("create", "a timer");
  return std::unique_ptr<SecondLooks>(new SecondLooks(std::move(timer)));
}

void SecondLooks::arm(uint64_t time) const {
  constexpr uint64_t second = 1'000'000'000;
  itimerspec setting{};
  setting.it_value = {static_cast<time_t>(time / second), static_cast<long>(time % second)};
  (void)::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

bool SecondLooks::add(const Process& process) {
  const size_t at = added_.load(std::memory_order_relaxed);
  const size_t waiting = at - taken_.load(std::memory_order_acquire);
  if (waiting >= (process.placed ? capacity : capacity / 2)) return false;
  ring_[at % capacity] = process;
  added_ = at + 1;
  if (!armed_.exchange(true)) arm(process.moved_at + nanoseconds(interval));
  return true;
}

std::vector<SecondLooks::Process> SecondLooks::take_due(uint64_t now) {
  uint64_t ignored = 0;
  (void)!::read(timer_.get(), &ignored, sizeof ignored);
  std::vector<Process> out;
  size_t at = taken_.load(std::memory_order_relaxed);
  const size_t end = added_;
  for (; at != end && ring_[at % capacity].moved_at + nanoseconds(delay) <= now; at++)
    out.push_back(ring_[at % capacity]);
  taken_.store(at, std::memory_order_release);
  // The classifier arms it from now on, unless it has added one since.
  if (at == end) armed_ = false;
  if (at != end || (added_ != at && !armed_.exchange(true))) arm(now + nanoseconds(interval));
  return out;
}

}  // namespace rdtd
