#include "rdtd/daemon/stand_ins.hpp"

#include <optional>
#include <set>
#include <utility>

namespace rdtd {

namespace {

// The state that a group or a region of the policy is to have.
std::optional<GroupState> granted(const InForce& in_force, const std::string& directory) {
  if (const GroupTarget* target = in_force.find(directory)) return target->state;
  for (const LockTarget& lock : in_force.locks)
    if (const LockRegion& region = lock.region; region.group == directory)
      return GroupState{.mode = Mode::pseudo_locked,
                        .schemata = {{region.resource, {{region.domain, region.mask.bits}}}},
                        .cpus = {}};
  return std::nullopt;
}

void fill_group(GroupState& state, const GroupState& wanted, const std::set<std::string>& unread) {
  if (unread.contains("mode")) state.mode = wanted.mode;
  if (unread.contains("schemata")) state.schemata = wanted.schemata;
  if (unread.contains("cpus_list")) state.cpus = wanted.cpus;
}

}  // namespace

void StandIns::fill(Machine& machine, const InForce& in_force) {
  Snapshot& now = machine.snapshot;
  const auto was_made_again = [&](const std::string& group) {
    const auto before = inodes_.find(group), found = now.inodes.find(group);
    return before != inodes_.end() && found != now.inodes.end() && before->second != found->second;
  };
  for (const auto& [group, unread] : now.unread) {
    const std::string control(control_group_of(group));
    if (in_force.taken.contains(control) || was_made_again(control)) continue;
    if (const auto wanted = granted(in_force, group); wanted && now.half_read.contains(group)) {
      fill_group(now.half_read.at(group), *wanted, unread.names);
      take_half_read(now, {group});
    }
    if (is_mon_group(group) && mon_cpus_.contains(group)) now.mon_cpus[group] = mon_cpus_.at(group);
    if (!unread.names.contains("mon_groups")) continue;
    for (const auto& [directory, inode] : inodes_)
      if (is_mon_group(directory) && control_group_of(directory) == group) {
        now.mon_groups.insert(directory);
        now.inodes.emplace(directory, inode);
        if (mon_cpus_.contains(directory)) now.mon_cpus[directory] = mon_cpus_.at(directory);
      }
  }
  // One that cannot be read stays the one that it was.
  auto before = std::exchange(inodes_, now.inodes);
  for (const std::string& group : now.unreadable)
    if (const auto known = before.find(group); known != before.end())
      inodes_[group] = known->second;
  mon_cpus_ = now.mon_cpus;
}

}  // namespace rdtd
