// TableMaker: opens the `tasks` files that rules lead to. It keeps what outlives a table: how many
// threads went to a group, and whether other tools monitor in it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rdtd/daemon/in_force.hpp"
#include "rdtd/daemon/rule_table.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd {

// The monitoring groups of other tools: their directories, by control group.
using OthersMonitoring = std::map<std::string, std::set<std::string>>;

class TableMaker {
 public:
  explicit TableMaker(resctrl::Filesystem& resctrl) : resctrl_(resctrl) {}

  // One that cannot be opened is left out, or an error. Monitoring groups limit nobody.
  enum class LeaveOut { monitoring, all };
  // The rules with the `tasks` files as they are now. Instead of a group that another tool has
  // taken, its rules lead to the default group: without them, a wider rule's group would get the
  // processes that are started there. `left_out`: the errors of those that were left out.
  [[nodiscard]] Result<std::shared_ptr<const RuleTable>> make(
      std::shared_ptr<const RuleSet> rules, const std::vector<GroupTarget>& groups,
      const std::set<std::string>& taken, LeaveOut what, std::vector<Error>& left_out);

  // Which groups have monitoring groups of other tools now: all tables know it at once.
  void note_others(const Snapshot& now);
  [[nodiscard]] const OthersMonitoring& others_monitoring() const { return others_monitoring_; }

  // By directory, of the groups that rules lead to. The figures of a group go when no rule leads to
  // it any more: leases make ever new ones.
  using Counters = std::map<std::string, std::shared_ptr<AssignmentCounter>>;
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  resctrl::Filesystem& resctrl_;
  Counters counters_;
  OthersMonitoring others_monitoring_;
};

}  // namespace rdtd
