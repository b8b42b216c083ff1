#include "rdtd/model/control.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

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
  std::vector<std::string> out;
  if (name.is_bitmap())
    out.emplace_back(control.sparse ? "a bit mask" : "a bit mask without gaps");
  else
    out.push_back(control.unit.empty() ? "a number" : printable(control.unit));
  if (control.scale != control.resolution)
    out.push_back(fmt::format("times {}/{}", control.scale, control.resolution));
  if (control.minimum && control.maximum && !name.is_bitmap())
    out.push_back(fmt::format("{} to {}", *control.minimum, *control.maximum));
  else if (control.maximum && name.is_bitmap())
    out.push_back(fmt::format("at most {:x}", *control.maximum));
  if (control.granularity > 1) out.push_back(fmt::format("in steps of {}", control.granularity));
  if (!control.scope.empty())
    out.push_back(fmt::format("a value for each {}", printable(control.scope)));
  return join(out, ", ");
}

}  // namespace rdtd
