// The lease of a guard, which may do less than other leases.
#pragma once

#include <optional>
#include <string>

#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/search.hpp"

namespace rdtd {

// What the text of a lease does beyond changing `mb` of groups of the files within their ranges.
// Nothing if that is all, or if it is no lease at all.
[[nodiscard]] std::optional<std::string> beyond_ranges(const Policy& policy,
                                                       const PolicyFile& lease);

}  // namespace rdtd
