// InForce: the policy in force and all that was made of it, as one value. It is replaced as a
// whole: nobody ever sees half of an old policy and half of a new one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rdtd/daemon/rule_table.hpp"
#include "rdtd/plan/prepare.hpp"
#include "rdtd/rules/users.hpp"

namespace rdtd {

struct InForce {
  // Of its rules, only those that make monitoring groups: the table has all of them.
  Policy policy;
  Users users;                      // that the policy names, as they were when it was loaded
  std::vector<GroupTarget> groups;  // the default group last; empty: no policy is in force
  std::vector<LockTarget> locks;
  IoTarget io;
  Capabilities capabilities;                  // that the targets were planned for
  std::map<std::string, Schemata> obstacles;  // that they were planned around
  // As they were read: what becomes possible later is planned from them, not from files that
  // somebody may be editing.
  std::vector<PolicyFile> files, leases;
  std::vector<MissingPart> missing;  // what of the policy the machine cannot have now
  // Groups of the policy that another tool has removed and made again: directories. They are not
  // touched, and no rule puts a process there: it leads to the default group meanwhile.
  std::set<std::string> taken;
  std::shared_ptr<const RuleTable> table;
  std::vector<Diagnostic> warnings;
  std::vector<Diagnostic> text_warnings;  // those of them that are about the texts alone

  // No policy is in force: at the start, and after a reset.
  [[nodiscard]] bool is_nothing() const { return files.empty(); }
  // Null if it is no group of the policy in force.
  [[nodiscard]] const GroupTarget* find(const std::string& directory) const {
    for (const GroupTarget& group : groups)
      if (group.directory == directory) return &group;
    return nullptr;
  }
  // Whether it is a group or a monitoring group of the policy in force.
  [[nodiscard]] bool has(const std::string& directory) const {
    const GroupTarget* group = find(std::string(control_group_of(directory)));
    return group != nullptr && (!is_mon_group(directory) || group->mon_groups.contains(directory));
  }
};

}  // namespace rdtd
