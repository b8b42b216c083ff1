// Pseudo-locked regions for people and programs: those of the policy, as the daemon reports them,
// and those in resctrl, no matter who made them.
#pragma once

#include <vector>

#include "context.hpp"
#include "output.hpp"

namespace rdtd {

// A table with a row for each; nothing if there are none.
void print_policy_regions(const Context& context, const std::vector<LockStatus>& locks);
[[nodiscard]] JsonValue policy_regions_json(const std::vector<LockStatus>& locks);

void print_regions(const Context& context, const TreeMachine& machine);
[[nodiscard]] JsonValue regions_json(const TreeMachine& machine);

}  // namespace rdtd
