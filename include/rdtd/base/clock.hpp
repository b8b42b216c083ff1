// CLOCK_MONOTONIC in nanoseconds: the clock of the kernel's process events.
#pragma once

#include <cstdint>
#include <ctime>

namespace rdtd {

[[nodiscard]] inline uint64_t monotonic_nanoseconds() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace rdtd
