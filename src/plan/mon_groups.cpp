// The monitoring groups that the policy names, and the RMIDs for them and for the control groups.
#include <fmt/format.h>

#include <optional>

#include "planner.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/monitor_template.hpp"

namespace rdtd {

const char* Planner::why_unmonitored() const {
  if (!capabilities_.num_rmids) return "resctrl monitors nothing here";
  if (capabilities_.rmids_of_closid() == 1)
    return "a control group has a single RMID here, which is its own";
  return nullptr;
}

void Planner::find_mon_groups() {
  const char* const unmonitored = why_unmonitored();
  for (const Rule& rule : policy_.rules) {
    if (!rule.monitor) continue;
    if (unmonitored != nullptr)  // said once, however many rules there are
      return unsupported(rule.monitor->where, fmt::format("'monitor': {}", unmonitored));
    if (!is_monitor_template(rule.monitor->value))
      mon_groups_.emplace(
          mon_group_directory(group_directory(rule.group.value), rule.monitor->value),
          rule.monitor->where);
  }
  for (const Group& group : policy_.groups)
    for (const MonitorCpus& monitor : group.monitor_cpus) {
      if (unmonitored != nullptr)
        return unsupported(monitor.group.where, fmt::format("'monitor_cpus': {}", unmonitored));
      mon_groups_.emplace(
          mon_group_directory(group_directory(group.name.value), monitor.group.value),
          monitor.group.where);
    }
  std::optional<size_t> needed;
  for (const Rule& rule : policy_.rules) {
    if (!rule.monitor || !is_monitor_template(rule.monitor->value)) continue;
    if (!needed) needed = targets_.size() + others_with_rmids().size() + locks_.size();
    keep_mon_groups(group_directory(rule.group.value), *rule.monitor, *needed);
  }
  std::map<std::string_view, GroupTarget*> targets;
  for (GroupTarget& target : targets_) targets[target.directory] = &target;
  for (const auto& [directory, where] : mon_groups_)
    targets.at(control_group_of(directory))->mon_groups.insert(directory);
}

// Those that a template has made stay, as far as nothing else needs their RMIDs: the daemon makes
// them, and removes them when they are empty. `needed`: RMIDs that others have or will have.
void Planner::keep_mon_groups(const std::string& control, const Located<std::string>& monitor,
                              size_t needed) {
  const auto parsed = parse_monitor_template(monitor.value);
  const auto rmids = capabilities_.shared_rmids();
  for (const std::string& directory : snapshot_.mon_groups)
    if (parsed && snapshot_.owned.contains(directory) && control_group_of(directory) == control &&
        parsed->makes(std::string_view(directory).substr(directory.rfind('/') + 1)) &&
        (!rmids || needed + mon_groups_.size() < *rmids))
      mon_groups_.emplace(directory, monitor.where);
}

void Planner::check_mon_group_names() {
  for (const auto& [directory, where] : mon_groups_) {
    const std::string_view control = control_group_of(directory);
    if (!is_taken(directory, snapshot_) || is_taken(std::string(control), snapshot_)) continue;
    error(where,
          fmt::format("monitoring group '{}' exists in resctrl already and rdtd did not make it",
                      group_label(directory)),
          control == root_group
              ? "choose another name, or remove that group"
              : fmt::format("choose another name, remove that group, or take it over with "
                            "adopt = true in [group.{}]",
                            control));
  }
}

// The kernel decides if it does not say how many RMIDs a CLOSID has.
void Planner::check_rmids_of_closids() {
  std::map<std::string_view, std::vector<std::string>> asked, others;
  std::map<std::string_view, const Location*> last;
  for (const auto& [directory, where] : mon_groups_) {
    asked[control_group_of(directory)].push_back(group_label(directory));
    const Location*& latest = last[control_group_of(directory)];
    if (latest == nullptr || *latest < where) latest = &where;
  }
  for (const std::string& directory : snapshot_.mon_groups)
    if (is_foreign(directory)) others[control_group_of(directory)].push_back(directory);
  for (const auto& [control, names] : asked)
    if (const auto rmids = capabilities_.rmids_of_closid();
        rmids && names.size() + others[control].size() + 1 > *rmids)
      error(*last.at(control),
            fmt::format("{} asked for ({}), and each control group has {} here: {}",
                        counted(names.size(), "monitoring group"), join(names, ", "),
                        counted(*rmids, "RMID"), taken_by(others[control], "its own")),
            {}, Cause::closids);
}

// Directories of groups and monitoring groups of other tools, but for those that go with a group of
// the policy.
std::vector<std::string> Planner::others_with_rmids() const {
  std::vector<std::string> out;
  for (const auto& [name, state] : snapshot_.groups)
    if (is_foreign(name) && !is_pseudo(state.mode)) out.push_back(name);
  for (const std::string& name : snapshot_.unreadable)
    if (is_foreign(name)) out.push_back(name);
  std::set<std::string_view> staying;
  for (const GroupTarget& target : targets_) staying.insert(target.directory);
  for (const std::string& directory : snapshot_.mon_groups)
    if (const auto control = control_group_of(directory);
        is_foreign(directory) && (staying.contains(control) || is_foreign(std::string(control))))
      out.push_back(directory);
  return out;
}

void Planner::check_rmids() {
  if (capabilities_.rmids_per_closid) return check_rmids_of_closids();
  std::vector<std::string> asked;
  const std::vector<std::string> others = others_with_rmids();
  const Location* last = nullptr;
  size_t control_groups = 0;
  for (const Group& group : policy_.groups) {
    if (&group == default_group_) continue;
    asked.push_back(group.name.value);
    control_groups++;
    last = &group.name.where;
  }
  for (const auto& [directory, where] : mon_groups_) {
    asked.push_back(group_label(directory));
    if (last == nullptr || *last < where) last = &where;
  }
  // Each region has one until it is locked; then the kernel keeps it in limbo.
  std::vector<std::string> regions;
  for (const PseudoLock* lock : locks_) regions.push_back(lock->name.value);
  if (last == nullptr && !locks_.empty()) last = &locks_.front()->name.where;
  if (last == nullptr || !capabilities_.num_rmids ||
      asked.size() + others.size() + 1 + regions.size() <= *capabilities_.num_rmids)
    return;
  std::string what = counted(control_groups, "group");
  if (!mon_groups_.empty())
    what = (control_groups == 0 ? "" : what + " and ") +
           counted(mon_groups_.size(), "monitoring group");
  error(*last,
        fmt::format("{} asked for{}, {} here: {}", what, names_asked(asked),
                    counted(*capabilities_.num_rmids, "RMID"), taken_by(others)) +
            (regions.empty()
                 ? ""
                 : fmt::format(", {} needed to lock {} ({})", counted(regions.size(), "is", "are"),
                               regions.size() == 1 ? "a region" : "regions", join(regions, ", "))),
        {}, Cause::closids);
}

}  // namespace rdtd
