// Sizes for people.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace rdtd {

// "256 KiB", "2.25 MiB".
[[nodiscard]] inline std::string size_text(uint64_t bytes) {
  if (bytes < 1 << 20) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{:.2f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace rdtd
