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
  std::vector<Step> groups;                         // of those that are there by then
  std::map<std::string, WriteCpus> new_mon_groups;  // by directory
};

// The arguments are those of `transition`, with the groups that are there before its steps only.
[[nodiscard]] CpuSteps cpu_steps(const Snapshot& now, const std::vector<WantedGroup>& wanted,
                                 const std::map<std::string, CpuSet>& mon_groups,
                                 const std::set<std::string>& leaving,
                                 const std::set<std::string>& replaced);

}  // namespace rdtd
