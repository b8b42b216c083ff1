// CLOCK_MONOTONIC in nanoseconds, the clock of the kernel's process events, how it differs from the
// one that goes on while the machine is suspended, and the time of a thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace rdtd {

[[nodiscard]] inline uint64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  (void)::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

[[nodiscard]] inline uint64_t monotonic_nanoseconds() { return nanoseconds_of(CLOCK_MONOTONIC); }

// How long the calling thread had a processor: a busy machine makes nothing long by it.
[[nodiscard]] inline std::chrono::nanoseconds thread_cpu_time() {
  return std::chrono::nanoseconds(nanoseconds_of(CLOCK_THREAD_CPUTIME_ID));
}

// How long the machine was suspended since it booted; up to the time between two readings more.
[[nodiscard]] inline uint64_t suspended_nanoseconds() {
  const uint64_t awake = monotonic_nanoseconds();
  return nanoseconds_of(CLOCK_BOOTTIME) - awake;
}

[[nodiscard]] inline uint64_t clock_usec(clockid_t clock) { return nanoseconds_of(clock) / 1000; }

}  // namespace rdtd
