#include "rdtd/daemon/template_groups.hpp"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <iterator>
#include <string_view>
#include <utility>

#include "rdtd/policy/monitor_template.hpp"

namespace rdtd {

namespace {

std::string_view name_of(std::string_view directory) {
  return directory.substr(directory.rfind('/') + 1);
}

// The monitoring groups and the templates of them that a policy names.
struct Named {
  std::map<std::string, std::vector<MonitorTemplate>> templates;  // by control group
  std::set<std::string> directories;                              // of those that are no template

  explicit Named(const Policy& policy) {
    for (const Group& group : policy.groups)
      for (const MonitorCpus& monitor : group.monitor_cpus)
        directories.insert(
            mon_group_directory(group_directory(group.name.value), monitor.group.value));
    for (const Rule& rule : policy.rules) {
      if (!rule.monitor) continue;
      const std::string control = group_directory(rule.group.value);
      if (const auto made = is_monitor_template(rule.monitor->value)
                                ? parse_monitor_template(rule.monitor->value)
                                : std::unexpected(std::string()))
        templates[control].push_back(*made);
      else
        directories.insert(mon_group_directory(control, rule.monitor->value));
    }
  }
  // Whether only a template can have made this monitoring group.
  [[nodiscard]] bool by_template(const std::string& directory) const {
    const auto known = templates.find(std::string(control_group_of(directory)));
    return known != templates.end() && !directories.contains(directory) &&
           std::ranges::any_of(known->second, [&](const MonitorTemplate& made) {
             return made.makes(name_of(directory));
           });
  }
};

// That no group has, but for one for each CLOSID that is left: the kernel does not give an RMID
// away at once that was in use, and control groups come first.
size_t free_rmids(const InForce& in_force, const OthersMonitoring& others) {
  const auto rmids = in_force.capabilities.shared_rmids();
  if (!rmids) return SIZE_MAX;
  size_t used = std::max<size_t>(in_force.groups.size(), in_force.capabilities.most_groups());
  for (const auto& [control, directories] : others) used += directories.size();
  for (const GroupTarget& group : in_force.groups) used += group.mon_groups.size();
  return *rmids - std::min<size_t>(*rmids, used);
}

}  // namespace

// Those that have been empty for long enough.
std::set<std::string> TemplateGroups::over(const std::set<std::string>& there,
                                           const std::set<std::string>& wanted, Time now) {
  std::map<std::string, Time> before = std::move(empty_since_);
  empty_since_.clear();
  std::set<std::string> out;
  for (const std::string& directory : there) {
    if (wanted.contains(directory)) continue;
    const auto known = before.find(directory);
    const Time since = known == before.end() ? now : known->second;
    if (now - since >= kept_empty)
      out.insert(directory);
    else
      empty_since_.emplace(directory, since);
  }
  return out;
}

TemplateGroups::Change TemplateGroups::update(const std::shared_ptr<const InForce>& in_force,
                                              const std::set<std::string>& wanted, bool all,
                                              const OthersMonitoring& others, Time now) {
  const Named named(in_force->policy);
  std::set<std::string> there;
  for (const GroupTarget& group : in_force->groups)
    std::ranges::copy_if(
        group.mon_groups, std::inserter(there, there.end()),
        [&](const std::string& directory) { return named.by_template(directory); });
  std::set<std::string> removed;
  if (all) {
    removed = over(there, wanted, now);
    waiting_.clear();
  }
  const auto is_of_others = [&](const std::string& directory) {
    const auto theirs = others.find(std::string(control_group_of(directory)));
    return theirs != others.end() && theirs->second.contains(directory);
  };
  std::ranges::copy_if(there, std::inserter(removed, removed.end()), is_of_others);
  Change out;
  size_t left = free_rmids(*in_force, others);
  for (const std::string& directory : wanted) {
    if (there.contains(directory) || !named.by_template(directory) || is_of_others(directory) ||
        in_force->find(std::string(control_group_of(directory))) == nullptr)
      continue;
    const bool fits = left > 0;
    if (fits) left--;
    (fits ? out.added : waiting_).insert(directory);
    if (fits) waiting_.erase(directory);
  }
  if (out.added.empty() && removed.empty()) return out;
  auto changed = std::make_shared<InForce>(*in_force);
  for (GroupTarget& group : changed->groups) {
    for (const std::string& directory : removed) group.mon_groups.erase(directory);
    for (const std::string& directory : out.added)
      if (control_group_of(directory) == group.directory) group.mon_groups.insert(directory);
  }
  out.in_force = std::move(changed);
  return out;
}

}  // namespace rdtd
