// Assigning counters to the groups of a policy, where the processor has fewer counters than RMIDs.
// The kernel assigns some when a group is made, as long as there are any. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rdtd/plan/plan.hpp"

namespace rdtd {

struct CounterPlan {
  std::vector<Step> steps;  // AssignCounters, as far as counters are free
  // By directory: what a group cannot have now, and who has it.
  std::map<std::string, std::string> missing;
};

// In the order of the policy. The default group keeps what it has: somebody may have taken its
// counters to have more for others.
[[nodiscard]] CounterPlan plan_counters(const std::vector<GroupTarget>& targets,
                                        const Snapshot& snapshot);

}  // namespace rdtd
