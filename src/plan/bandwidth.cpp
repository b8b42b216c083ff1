#include "bandwidth.hpp"

#include <algorithm>
#include <cmath>

namespace rdtd {

namespace {

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

}  // namespace

std::optional<uint32_t> bandwidth_value(const Amount& amount, const BandwidthInfo& info,
                                        uint32_t unlimited) {
  const bool percent_here = info.unit == BandwidthUnit::percent;
  // Both ends of a range have one unit; "unlimited" has none.
  if (amount.least && std::holds_alternative<Percent>(*amount.least) != percent_here)
    return std::nullopt;
  if (std::holds_alternative<Unlimited>(amount.value)) return unlimited;
  uint64_t value = 0;
  if (const auto* percent = std::get_if<Percent>(&amount.value); percent && percent_here)
    value = static_cast<uint64_t>(std::ceil(percent->value - 1e-9));
  else if (const auto* rate = std::get_if<Rate>(&amount.value); rate && !percent_here)
    value = round_up(rate->bytes_per_second, unit_bytes(info.unit)) / unit_bytes(info.unit);
  else
    return std::nullopt;
  // Nobody asks for no bandwidth at all, which 0 would mean on AMD.
  value = std::max<uint64_t>(value, 1);
  if (info.unit != BandwidthUnit::mbps) value = std::max<uint64_t>(value, info.min_bandwidth);
  value = round_up(value, info.bandwidth_gran);
  const auto rounded = static_cast<uint32_t>(std::min<uint64_t>(value, unlimited));
  // A percentage that the kernel takes for all of it.
  if (percent_here && percent_as_read(rounded, info.bandwidth_gran) >= unlimited) return unlimited;
  return rounded;
}

const Located<Amount>& form_for(const DomainAmount& line, const BandwidthInfo& info) {
  const bool takes_first = bandwidth_value(line.amount.value, info, 1).has_value();
  return takes_first || !line.other_form ? line.amount : *line.other_form;
}

}  // namespace rdtd
