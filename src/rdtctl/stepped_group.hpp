// The group that `rdtctl suggest` steps through amounts, as the text of a lease.
#pragma once

#include <string>

#include "rdtd/policy/policy.hpp"

namespace rdtd {

// "[group.NAME]" with this amount of the resource on all domains, and all other settings of the
// group. It replaces the group's definition.
[[nodiscard]] std::string stepped_group_text(const Group& group, Resource resource,
                                             const std::string& amount);

}  // namespace rdtd
