// Controls that a policy set by control = { NAME = ... } or mb_min, and that the next one no longer
// sets: they get the values of before. Pure.
#pragma once

#include <map>
#include <string>

#include "rdtd/plan/plan.hpp"

namespace rdtd {

// The values that the groups of a plan had of the controls that it sets, before any policy set
// them: from the record of the policy before, or as they are now. A new group gets what the default
// group had.
[[nodiscard]] ControlValues values_before(const Plan& plan, const Capabilities& capabilities,
                                          const Snapshot& snapshot, const ControlValues& record);

// Adds to the targets what is in the record of the snapshot and what they do not set themselves.
void restore_controls(std::vector<GroupTarget>& targets, const Snapshot& snapshot);

}  // namespace rdtd
