#include "rdtd/model/capabilities.hpp"

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

}  // namespace rdtd
