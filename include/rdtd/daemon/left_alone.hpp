// LeftAlone: what others changed and rdtd left so, under drift = "report". When the kernel has
// reset something, only that is restored.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rdtd/model/machine.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/plan/plan.hpp"

namespace rdtd {

class LeftAlone {
 public:
  // At the end of a comparison.
  void remember(const std::vector<GroupTarget>& targets, Snapshot now);
  void forget() { *this = LeftAlone(); }
  // Of these groups, by directory.
  void forget(const std::set<std::string>& groups);
  // Takes away the steps of groups that are as they were then, of which the same is wanted, and of
  // monitoring groups that were missing then. What a reset gives is never left: it may have been
  // there before anybody said so. `pending`: groups of which rdtd itself has yet to set the mode,
  // and monitoring groups that it has yet to make. Regions, counters and CPUs of monitoring groups
  // are not looked at.
  void take_out(const std::vector<GroupTarget>& targets, const Machine& machine,
                const std::set<std::string>& pending, Steps& back) const;

 private:
  [[nodiscard]] bool is_as_left(const GroupTarget& target, const Machine& machine) const;

  std::map<std::string, GroupState> wanted_;  // by directory
  std::optional<Snapshot> left_;
};

}  // namespace rdtd
