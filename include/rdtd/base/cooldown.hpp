// Cooldown: a pause after work that is so many times as long as the work took, so that what causes
// the work, however often, takes a known part of the time.
#pragma once

#include <algorithm>
#include <chrono>

namespace rdtd {

struct Cooldown {
  int factor = 0;
  std::chrono::nanoseconds least{};
  std::chrono::nanoseconds most = std::chrono::nanoseconds::max();

  [[nodiscard]] constexpr std::chrono::nanoseconds after(std::chrono::nanoseconds took) const {
    return std::min(most, std::max(least, factor * took));
  }
};

}  // namespace rdtd
