// The steps that give groups of both kinds their CPUs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "rdtd/model/snapshot.hpp"
#include "rdtd/plan/step.hpp"
#include "rdtd/plan/transition.hpp"

namespace rdtd {

struct CpuSteps {
  std::vector<Step> groups;      // of control groups
  std::vector<Step> mon_groups;  // of monitoring groups, which are made before the step is due
};

// The arguments are those of `transition`; `gone`: the groups that earlier steps have removed.
[[nodiscard]] CpuSteps cpu_steps(const Snapshot& now, const std::vector<WantedGroup>& wanted,
                                 const std::map<std::string, CpuSet>& mon_groups,
                                 const std::set<std::string>& leaving,
                                 const std::set<std::string>& gone);

}  // namespace rdtd
