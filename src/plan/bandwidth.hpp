// Converts an amount of memory bandwidth to its value in `schemata`. Pure, and independent of the
// planner.
#pragma once

#include <cstdint>
#include <optional>

#include "rdtd/model/capabilities.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// The value for one domain, rounded up as the kernel rounds it, so that it reads back the same.
// `unlimited`: the value that means no limit there. Nothing if the amount is not of the kind that
// this machine counts, a percentage or a rate.
[[nodiscard]] std::optional<uint32_t> bandwidth_value(const Amount& amount,
                                                      const BandwidthInfo& info,
                                                      uint32_t unlimited);

// Of the forms that a policy gives for one amount, the first that the control takes, or else the
// first.
[[nodiscard]] const Located<Amount>& form_for(const DomainAmount& line, const BandwidthInfo& info);

}  // namespace rdtd
