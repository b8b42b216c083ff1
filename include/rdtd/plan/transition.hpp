// transition: the steps from the groups that exist to the groups that shall exist. The same
// function serves an apply, the repair of drift and the undo of a failed apply. Pure.
//
// The steps obey what the kernel enforces and what an exclusive group is promised, at every moment:
// - no step is refused: a mask never overlaps a group in the kernel's exclusive mode, and a group
//   is made only while a CLOSID, an RMID and a valid initial mask are available;
// - two groups that share no way before and after never share one in between. The only exception is
//   a mask whose old and new ways have nothing in common: on its way it may use free ways, or ways
//   of groups that may overlap it, and if there are none, it shares ways for the time of one step;
// - a group that leaves keeps its bandwidth while processes are in it, and shares the default
//   group's ways where it would be in those of an exclusive group or of a region;
// - a group that does not change is not written;
// - a locked region that goes is undone first, and one that comes is locked when its ways are free;
// - io_alloc is disabled first, and enabled before groups are made: it needs the highest CLOSID,
//   and a new group gets the lowest free one.
#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/plan/step.hpp"

namespace rdtd {

struct WantedGroup {
  std::string group;  // directory; io_group has schemata only
  GroupState state;   // domains and CPUs that are offline are left out by `transition`
  // Its ways are promised to it, or to its partition, also where the kernel's exclusive mode is not
  // set.
  bool exclusive = false;
};

struct Steps {
  std::vector<Step> steps;
  // Locks regions; groups may leave the exclusive mode meanwhile. A load carries them out with the
  // others, all or none. A restoration does each region (two steps) and each other step by itself:
  // the kernel may have no memory for a region, and limits do not depend on it.
  std::vector<Step> locks;
  // Gives monitoring groups their CPUs, and makes new ones. Each step may fail by itself, and
  // limits do not depend on it: the kernel keeps an RMID that was freed in limbo until its lines
  // have left the cache.
  std::vector<Step> mon_groups;
  // Assigns counters to groups that are there already; those that are made get theirs from the
  // kernel. Each may fail by itself. Not by `transition`.
  std::vector<Step> counters;
  std::vector<Step> removals;  // to be carried out once the processes have left those groups

  [[nodiscard]] size_t size() const {
    return steps.size() + locks.size() + mon_groups.size() + counters.size() + removals.size();
  }
  [[nodiscard]] bool empty() const { return size() == 0; }
};
// In the order in which they are carried out.
[[nodiscard]] inline std::array<const std::vector<Step>*, 5> parts(const Steps& steps) {
  return {&steps.steps, &steps.locks, &steps.mon_groups, &steps.counters, &steps.removals};
}

// `mon_groups`: the monitoring groups that shall exist, with their CPUs. Others lose none of theirs
// that their control group keeps. `leaving`: groups of both kinds that shall not exist any more.
// `locks`: the regions to be locked. Other groups in `now` are not touched, except that one of
// `now.owned` may leave the exclusive mode while a group is made.
[[nodiscard]] Steps transition(const Capabilities& capabilities, const Snapshot& now,
                               const std::vector<WantedGroup>& wanted,
                               const std::map<std::string, CpuSet>& mon_groups,
                               const std::set<std::string>& leaving,
                               const std::vector<LockRegion>& locks = {});

}  // namespace rdtd
