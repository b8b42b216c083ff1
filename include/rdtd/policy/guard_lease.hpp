// The lease of a guard, which may do less than other leases.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/search.hpp"

namespace rdtd {

// polkit lets rdtd-observer have the lease of the guard, whatever it says: that must be all that
// who controls the observer can have. The text says what the lease of this name and user does
// beyond changing `mb` of groups of the files within their ranges, in a policy that switches the
// guard on and does not protect the group. Nothing if that is all, if it is no lease at all, or one
// of another name or of root.
[[nodiscard]] std::optional<std::string> beyond_guard(const Policy& policy, const PolicyFile& lease,
                                                      uid_t uid);

}  // namespace rdtd
