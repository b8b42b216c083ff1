// From a policy to what the guard may do, and from the guard's amounts to the lease that asks for
// them.
#pragma once

#include <string>

#include "rdtd/observe/guard.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

[[nodiscard]] observe::GuardRules guard_rules(const Policy& policy);

// The groups of the policy with these amounts, as the text of a lease; "" if there are none.
[[nodiscard]] std::string guard_lease(const Policy& policy, const observe::Guard::Amounts& amounts);

}  // namespace rdtd
