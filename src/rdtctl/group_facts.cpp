#include "group_facts.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "rdtd/policy/monitor_template.hpp"

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

}  // namespace rdtd
