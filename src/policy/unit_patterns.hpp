// Patterns of the units of systemd.
#pragma once

#include <string_view>

#include "pattern_finding.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// The problem with a pattern of `unit` or `user_unit`, if there is one.
[[nodiscard]] pattern::Check check_unit(ConditionKind kind, std::string_view text);

}  // namespace rdtd
