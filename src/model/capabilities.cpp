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

uint32_t percent_slack(unsigned bandwidth_gran) {
  constexpr std::array<unsigned, 4> steps = {1, 3, 6, 12};  // of 6 bits or more, 5, 4 and 3
  // A step, and what each bit loses where the kernel adds their percentages up.
  return std::ranges::find(steps, bandwidth_gran) == steps.end() ? 0 : bandwidth_gran + 2;
}

uint32_t Capabilities::slack_of(const Resource& resource) const {
  if (const auto found = bandwidths.find(resource); found != bandwidths.end())
    return found->second.unit == BandwidthUnit::percent
               ? percent_slack(found->second.bandwidth_gran)
               : 0;
  const auto found = controls.find(resource);
  if (found == controls.end() || found->second.unit != "percent") return 0;
  // The generic description, which also says what a row controls, is of later kernels.
  return found->second.resource.empty() ? percent_slack(found->second.granularity) : 0;
}

}  // namespace rdtd
