// transition: the steps from the groups that exist to the groups that shall exist. The same
// function serves an apply, the repair of drift and the undo of a failed apply. Pure.
//
// The steps obey what the kernel enforces and what an exclusive group is promised, at every moment:
// - no step is refused: a mask never overlaps a group in the kernel's exclusive mode, and a group
// is
//   made only while a CLOSID, an RMID and a valid initial mask are available;
// - two groups that share no way before and after never share one in between. The only exception is
//   a group whose old and new ways have nothing in common: on its way it may use free ways, or ways
//   of groups that may overlap it, and if there are none, it shares ways for the time of one step;
// - a group that does not change is not written.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/plan/step.hpp"

namespace rdtd {

struct WantedGroup {
  std::string group;  // directory
  GroupState state;   // domains and CPUs that are offline are left out by `transition`
};

struct Steps {
  std::vector<Step> steps;
  std::vector<Step> removals;  // to be carried out once the processes have left those groups

  [[nodiscard]] bool empty() const { return steps.empty() && removals.empty(); }
};

// `mon_groups`: the monitoring groups that shall exist. `leaving`: groups of both kinds that shall
// not exist any more. Other groups in `now` are not touched.
[[nodiscard]] Steps transition(const Capabilities& capabilities, const Snapshot& now,
                               const std::vector<WantedGroup>& wanted,
                               const std::set<std::string>& mon_groups,
                               const std::set<std::string>& leaving);

}  // namespace rdtd
