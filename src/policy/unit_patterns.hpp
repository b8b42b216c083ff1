// Patterns of the units of systemd.
#pragma once

#include <string_view>

#include "pattern_finding.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// What is wrong with a pattern of `unit` or `user_unit`, if anything is.
[[nodiscard]] pattern::Check check_unit(ConditionKind kind, std::string_view text);

}  // namespace rdtd
