#include "rdtd/daemon/table_maker.hpp"

#include <cerrno>
#include <utility>

#include "rdtd/resctrl/read.hpp"

namespace rdtd {

void TableMaker::note_others(const Snapshot& now) {
  others_monitoring_.clear();
  for (const std::string& directory : now.mon_groups)
    if (!now.owned.contains(directory))
      others_monitoring_[std::string(control_group_of(directory))].insert(directory);
  for (const auto& [group, counter] : counters_)
    counter->others_monitor = others_monitoring_.contains(group);
}

Result<std::shared_ptr<const RuleTable>> TableMaker::make(std::shared_ptr<const RuleSet> rules,
                                                          const std::vector<GroupTarget>& groups,
                                                          const std::set<std::string>& taken,
                                                          LeaveOut what,
                                                          std::vector<Error>& left_out) {
  auto table = std::make_shared<RuleTable>(std::move(rules));
  const auto open = [&](const std::string& group) -> Result<const resctrl::Tasks*> {
    const auto [known, is_new] = table->tasks.try_emplace(group);
    if (!is_new || taken.contains(group)) return known->second.get();
    auto tasks = resctrl_.open_tasks(group);
    // Somebody has given the file to a user. The other groups are not to wait for that.
    const bool not_roots = !tasks && tasks.error().code == EACCES;
    if (not_roots)
      tasks.error().detail =
          "rdtd writes only files of root: give it back, and let others write by chgrp and chmod";
    // A group that is gone is missing until the next reconcile makes it again. Of one whose
    // directory is there, the file says so by mistake.
    const bool absent = !tasks && resctrl::is_absent(tasks.error()) && group != root_group &&
                        resctrl::inode_of(resctrl_, group).value_or(0) == 0;
    const bool failed = !tasks && !absent;
    if (failed && !not_roots && what == LeaveOut::monitoring && !is_mon_group(group))
      return std::unexpected(tasks.error());
    if (failed) left_out.push_back(tasks.error());
    if (tasks) known->second = std::move(*tasks);
    return known->second.get();
  };
  Counters counters;
  for (const auto& [wanted, mon_group, own_only] : table->rules.destinations()) {
    const bool is_taken = taken.contains(wanted);
    const std::string group(is_taken ? root_group : wanted);
    const auto tasks = open(group);
    if (!tasks) return std::unexpected(tasks.error());
    const auto known = counters_.find(group);
    const auto& counter =
        counters
            .try_emplace(group, known != counters_.end() ? known->second
                                                         : std::make_shared<AssignmentCounter>())
            .first->second;
    counter->others_monitor = others_monitoring_.contains(group);
    Place& place = table->places.emplace_back(group, *tasks, nullptr, counter);
    place.own_only = own_only || is_taken;
    if (is_taken || mon_group.empty() || !place.exists()) continue;
    if (is_monitor_template(mon_group)) {
      place.monitor = *parse_monitor_template(mon_group);
      table->counted_by_value.insert(group);
      continue;
    }
    const std::string directory = mon_group_directory(group, mon_group);
    const auto mon_tasks = open(directory);
    if (!mon_tasks) return std::unexpected(mon_tasks.error());
    if (*mon_tasks == nullptr) continue;
    place.mon_group = *mon_tasks;
    place.directory = directory;
    table->mon_groups.insert(directory);
  }
  for (const GroupTarget& group : groups) {
    if (const auto tasks = open(group.directory); !tasks) return std::unexpected(tasks.error());
    for (const std::string& directory : group.mon_groups) {
      const auto tasks = open(directory);
      if (!tasks) return std::unexpected(tasks.error());
      if (*tasks != nullptr) table->mon_groups.insert(directory);
    }
  }
  if (const auto root = open(std::string(root_group)); !root) return std::unexpected(root.error());
  counters_ = std::move(counters);
  return table;
}

}  // namespace rdtd
