#include "rdtd/model/capabilities.hpp"

#include <algorithm>
#include <array>

namespace rdtd {

std::string_view to_string(BandwidthUnit unit) {
  constexpr std::array<std::string_view, 3> names = {"percent", "MiB/s", "1/8 GB/s"};
  return names.at(static_cast<size_t>(unit));
}

uint64_t unit_bytes(BandwidthUnit unit) {
  constexpr std::array<uint64_t, 3> bytes = {0, 1 << 20, 125'000'000};
  return bytes.at(static_cast<size_t>(unit));
}

uint32_t percent_as_read(uint32_t written, unsigned bandwidth_gran) {
  constexpr uint32_t whole = 100, most_bits = 6;
  for (uint32_t bits = 1; bits <= most_bits; ++bits) {
    const uint32_t parts = 1U << bits;
    if ((whole + parts - 1) / parts != bandwidth_gran) continue;
    const uint32_t nearest = std::clamp((written * parts + whole / 2) / whole, 1U, parts);
    return (nearest * whole + parts / 2) / parts;
  }
  return written;
}

}  // namespace rdtd
