#include "rdtd/model/control.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// Units of bandwidth, as the kernel writes them.
constexpr std::array<std::pair<std::string_view, uint64_t>, 4> rates = {
    {{"MBps", 1'000'000}, {"MiBps", 1 << 20}, {"GBps", 1'000'000'000}, {"GiBps", 1 << 30}}};

}  // namespace

uint64_t rate_of_unit(const Control& control) {
  for (const auto& [unit, bytes] : rates)
    if (control.unit == unit) return bytes;
  return 0;
}

// "all" is all that there is.
std::optional<uint32_t> whole_of(const Control& control) {
  const uint64_t whole = control.unit == "all" ? 1 : control.unit == "percent" ? 100 : 0;
  if (whole == 0) return std::nullopt;
  return static_cast<uint32_t>(whole * control.resolution / control.scale);
}

std::string describe(const Resource& name, const Control& control) {
  if (name.is_bitmap())
    return fmt::format("a bit mask {} gaps{}", control.sparse ? "with or without" : "without",
                       control.maximum ? fmt::format(", of {:x}", *control.maximum) : "");
  std::string out = control.unit.empty() ? "a number" : printable(control.unit);
  if (control.unit == "all") out = "of all";
  if (control.scale != control.resolution)
    out = fmt::format("{}/{} {}", control.scale, control.resolution, out);
  if (control.minimum && control.maximum)
    out += fmt::format(", from {} to {}", *control.minimum, *control.maximum);
  if (control.granularity > 1) out += fmt::format(", in steps of {}", control.granularity);
  return out;
}

}  // namespace rdtd
