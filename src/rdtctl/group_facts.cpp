#include "group_facts.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "rdtd/policy/monitor_template.hpp"
#include "rdtd/resctrl/members.hpp"

namespace rdtd {

namespace {

// Directories of the groups and monitoring groups that need one.
std::set<std::string> groups_with_rmids(const Policy& policy) {
  std::set<std::string> out;
  const auto add = [&](const std::string& group, const std::string& monitor) {
    if (!is_monitor_template(monitor))
      out.insert(mon_group_directory(group_directory(group), monitor));
  };
  for (const Group& group : policy.groups) {
    if (group.name.value != "default") out.insert(group.name.value);
    for (const MonitorCpus& monitor : group.monitor_cpus)
      add(group.name.value, monitor.group.value);
  }
  for (const Rule& rule : policy.rules)
    if (rule.monitor) add(rule.group.value, rule.monitor->value);
  return out;
}

// Locked regions have none. What is in an adopted group goes with it.
void find_rmid_holders(const Snapshot& now, const std::set<std::string>& own, MachineFacts& facts) {
  const auto count = [&](const std::string& name) {
    if (own.contains(name))
      facts.own_rmids++;
    else
      facts.foreign_rmids.push_back(name);
  };
  for (const auto& [name, state] : now.groups)
    if (name != root_group && !is_pseudo(state.mode)) count(name);
  std::ranges::for_each(now.unreadable, count);
  std::ranges::for_each(now.mon_groups, count);
}

}  // namespace

void read_groups(const Capabilities& capabilities, const Snapshot& now, const Policy& policy,
                 MachineFacts& facts) {
  std::set<std::string> own = now.owned;
  for (const Group& group : policy.groups)
    if (group.adopt) own.insert(group.name.value);
  if (!capabilities.divides_nothing()) facts.num_closids = capabilities.num_closids();
  facts.io_holds_closid =
      !now.io.empty() ||
      (policy.io && std::ranges::any_of(capabilities.caches,
                                        [](const auto& cache) { return cache.second.io_alloc; }));
  for (const std::string& name : now.closid_holders())
    (own.contains(name) ? facts.own_groups : facts.foreign_groups).push_back(name);
  for (const auto& [name, state] : now.groups)
    if (state.mode == Mode::pseudo_locked && !now.owned.contains(name))
      facts.foreign_regions.insert(name);
  facts.num_rmids = capabilities.shared_rmids();
  find_rmid_holders(now, own, facts);
  facts.rmids_needed = groups_with_rmids(policy).size();
}

void find_used(const resctrl::Filesystem& filesystem, const Snapshot& now, MachineFacts& facts) {
  const auto is_used = [&](const std::string& name) {
    const auto group = now.groups.find(name);
    if (group != now.groups.end() && !group->second.cpus.empty()) return true;
    if (now.mon_cpus.contains(name)) return true;
    const auto members = resctrl::read_members(filesystem, name);
    return !members || !members->tasks.empty() || !members->iommu_groups.empty();
  };
  for (const auto* names : {&facts.foreign_groups, &facts.foreign_rmids})
    std::ranges::copy_if(*names, std::inserter(facts.used, facts.used.end()), is_used);
}

}  // namespace rdtd
