// A change of a lease that is one of amounts only: what a controller does every few seconds. The
// rest of the policy need not be read again for it.
#pragma once

#include <optional>

#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/search.hpp"

namespace rdtd {

// `policy` with the amounts that `after` names. Nothing if the two texts of one lease, `before` and
// `after`, differ in anything but amounts, or if either cannot be understood without the files.
[[nodiscard]] std::optional<Policy> with_amounts_of(const Policy& policy, const PolicyFile& before,
                                                    const PolicyFile& after);

}  // namespace rdtd
