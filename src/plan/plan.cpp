#include "rdtd/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "bandwidth.hpp"
#include "planner.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

void Planner::make_targets() {
  const auto add = [&](const Group& group) {
    target_of_[&group] = targets_.size();
    GroupTarget& added = targets_.emplace_back();
    added.directory = group_directory(group.name.value);
    added.exclusive = group.exclusive;
    added.partition = group.partition ? group.partition->value : "";
    added.description = group.description;
  };
  for (const Group& group : policy_.groups) {
    if (group.name.value == "default")
      default_group_ = &group;
    else
      add(group);
  }
  if (default_group_ != nullptr)
    add(*default_group_);
  else
    targets_.emplace_back();
}

void Planner::check_names() {
  for (const Group& group : policy_.groups) {
    const std::string directory = group_directory(group.name.value);
    if (snapshot_.groups.contains(directory) && is_foreign(directory))
      error(group.name.where,
            fmt::format("group '{}' exists in resctrl already and rdtd did not make it",
                        group.name.value),
            "choose another name, or remove that group");
  }
}

void Planner::check_closids() {
  std::vector<std::string> asked, foreign;
  const Location* last = nullptr;
  for (const Group& group : policy_.groups) {
    if (group.name.value == "default") continue;
    asked.push_back(group.name.value);
    last = &group.name.where;
  }
  for (const auto& [name, state] : snapshot_.groups)
    if (is_foreign(name)) foreign.push_back(name);
  std::string taken = "1 is the default group's";
  if (!foreign.empty())
    taken += fmt::format(", {} taken by groups that rdtd did not make ({})", foreign.size(),
                         join(foreign, ", "));
  if (last == nullptr) return;
  if (asked.size() + foreign.size() + 1 > capabilities_.num_closids())
    error(*last,
          fmt::format("{} groups asked for ({}), {} CLOSIDs here: {}", asked.size(),
                      join(asked, ", "), capabilities_.num_closids(), taken),
          {}, Cause::closids);
  if (capabilities_.num_rmids &&
      asked.size() + foreign.size() + snapshot_.mon_groups + 1 > *capabilities_.num_rmids)
    error(*last,
          fmt::format("{} groups asked for ({}), {} RMIDs here: {}, {} taken by monitoring groups",
                      asked.size(), join(asked, ", "), *capabilities_.num_rmids, taken,
                      snapshot_.mon_groups),
          {}, Cause::closids);
}

void Planner::check_resources(const AmountTables& tables) {
  std::vector<std::string> offered;
  for (const auto& [resource, info] : capabilities_.caches)
    offered.emplace_back(to_string(resource));
  for (const auto& [resource, info] : capabilities_.bandwidths)
    offered.emplace_back(to_string(resource));
  for (const auto& [resource, table] : tables) {
    if (table.empty()) continue;
    const Location& where = table.front().amount.where;
    std::set<DomainId> known;
    if (resource == Resource::SMBA) {
      error(where, "'smba': this version of rdtd does not divide slow memory bandwidth");
      continue;
    }
    if (is_cache(resource) && resource != Resource::L3 && resource != Resource::L2) {
      error(where, fmt::format("'{}': this version of rdtd does not divide code and data",
                               resource_key(resource)));
      continue;
    }
    if (const auto cache = capabilities_.caches.find(resource);
        cache != capabilities_.caches.end()) {
      for (const auto& [domain, bytes] : cache->second.way_bytes) known.insert(domain);
    } else if (const auto bandwidth = capabilities_.bandwidths.find(resource);
               bandwidth != capabilities_.bandwidths.end()) {
      for (const auto& [domain, value] : bandwidth->second.unlimited) known.insert(domain);
    } else {
      // With cdp a cache is there in its two halves, and not as a whole.
      const bool halved = capabilities_.caches.contains(
          resource == Resource::L3 ? Resource::L3CODE : Resource::L2CODE);
      error(where,
            fmt::format("'{}': resctrl offers no {} here; it offers {}", resource_key(resource),
                        to_string(resource), join(offered, ", ")),
            {}, is_cache(resource) && halved ? Cause::mount : Cause::policy);
      continue;
    }
    std::vector<std::string> ids;
    for (const DomainId id : known) ids.push_back(to_string(id));
    for (const DomainAmount& line : table)
      for (const DomainId id : line.domains.value_or(std::set<DomainId>{}))
        if (!known.contains(id))
          error(line.domains_where,
                fmt::format("unknown {} domain {}", to_string(resource), to_string(id)),
                fmt::format("this machine has {}", join(ids, ", ")));
  }
}

// A group that has no limit keeps its value: on a mount with mba_MBps the kernel starts with one
// that is above `unlimited`.
uint32_t Planner::no_limit(const std::string& directory, Resource resource, DomainId domain,
                           uint32_t unlimited) const {
  const auto group = snapshot_.groups.find(directory);
  if (group == snapshot_.groups.end()) return unlimited;
  const auto values = group->second.schemata.find(resource);
  if (values == group->second.schemata.end()) return unlimited;
  const auto value = values->second.find(domain);
  return value == values->second.end() ? unlimited : std::max(unlimited, value->second);
}

void Planner::refuse_bandwidth(Resource resource, const BandwidthInfo& info,
                               const DomainAmount& line) {
  const std::string& asked = line.amount.value.text;
  const bool percent_here = info.unit == BandwidthUnit::percent;
  error(line.amount.where,
        fmt::format("'{}' is a {}, and {} counts {} here", asked,
                    percent_here ? "rate" : "percentage", to_string(resource),
                    percent_here ? "percent" : "rates"),
        percent_here ? "write \"50%\"" : "write \"8 GB/s\"",
        info.unit == BandwidthUnit::mbps ? Cause::mount : Cause::policy);
}

void Planner::set_bandwidth(Resource resource, const BandwidthInfo& info) {
  for (const auto& [domain, unlimited] : info.unlimited) {
    for (GroupTarget& group : targets_)
      group.state.schemata[resource][domain] =
          no_limit(group.directory, resource, domain, unlimited);
    for (const Group& group : policy_.groups) {
      const DomainAmount* line = line_for(group.amounts, resource, domain);
      if (line == nullptr) continue;
      const Amount& amount = line->amount.value;
      target(&group).asked[resource][domain] = amount.text;
      const auto value = bandwidth_value(amount, info, unlimited);
      if (!value) refuse_bandwidth(resource, info, *line);
      if (value && *value < unlimited) target(&group).state.schemata[resource][domain] = *value;
    }
  }
}

void Planner::assign_cpus() {
  const CpuSet online = snapshot_.online_cpus();
  CpuSet rest = online;
  std::map<unsigned, const Group*> holder;
  for (const auto& [name, state] : snapshot_.groups)
    if (is_foreign(name))
      for (const unsigned cpu : state.cpus) rest.erase(cpu);
  for (const Group& group : policy_.groups) {
    if (!group.cpus) continue;
    const Location& where = group.cpus->where;
    CpuSet offline;
    std::ranges::set_difference(group.cpus->value, online, std::inserter(offline, offline.end()));
    if (!offline.empty())
      error(where,
            fmt::format("CPU{} {} not online here", offline.size() == 1 ? "" : "s",
                        format_cpu_list(offline) + (offline.size() == 1 ? " is" : " are")),
            fmt::format("online are {}", format_cpu_list(online)));
    for (const unsigned cpu : group.cpus->value) {
      if (offline.contains(cpu)) continue;
      const auto [other, is_new] = holder.emplace(cpu, &group);
      if (!is_new)
        error(where, fmt::format("CPU {} is given to two groups: here and to '{}' in {}", cpu,
                                 other->second->name.value, other->second->cpus->where.text()));
      for (const auto& [name, state] : snapshot_.groups)
        if (is_foreign(name) && state.cpus.contains(cpu))
          error(where,
                fmt::format("CPU {} belongs to group '{}', which rdtd did not make", cpu, name));
      rest.erase(cpu);
    }
    target(&group).state.cpus = group.cpus->value;
  }
  targets_.back().state.cpus = rest;
}

// The kernel guards a group's ways too where it can: only where no domain of any cache is shared
// with anybody.
void Planner::decide_modes() {
  for (GroupTarget& group : targets_) {
    if (!group.exclusive || group.directory == root_group) continue;
    bool alone = true;
    for (const auto& [resource, info] : capabilities_.caches) {
      for (const auto& [domain, value] : group.state.schemata[resource]) {
        const Cbm mask{value};
        if (mask.overlaps(info.shareable_bits)) alone = false;
        for (const GroupTarget& other : targets_)
          if (&other != &group && other.state.schemata.contains(resource) &&
              mask.overlaps(Cbm{other.state.schemata.at(resource).at(domain)}))
            alone = false;
        for (const auto& [name, state] : snapshot_.groups)
          if (is_foreign(name) && mask.overlaps(previous_mask(name, resource, domain)))
            alone = false;
      }
    }
    if (alone) group.state.mode = Mode::exclusive;
  }
}

// Others keep what they can fill, ways too that the policy wants for one group or partition alone.
void Planner::warn_of_foreign_groups(Resource resource, const CacheInfo& info) {
  std::vector<std::pair<Refusal, DomainId>> found;
  const auto look = [&](const Location& where, Cbm mask, DomainId domain,
                        const std::string& claim) {
    for (const auto& [name, state] : snapshot_.groups) {
      const Cbm theirs = is_foreign(name) ? previous_mask(name, resource, domain) & mask : Cbm{};
      if (!theirs.empty())
        found.push_back({{where,
                          fmt::format("group '{}', which rdtd did not make, can fill ways {} of ",
                                      name, way_list(theirs)),
                          ", " + claim},
                         domain});
    }
  };
  for (const auto& [domain, bytes] : info.way_bytes) {
    const auto mask_of = [&](const Group& group) {
      return Cbm{target(&group).state.schemata.at(resource).at(domain)};
    };
    for (const Group& group : policy_.groups)
      if (group.exclusive && line_for(group.amounts, resource, domain) != nullptr)
        look(group.name.where, mask_of(group), domain,
             fmt::format("exclusive to '{}'", group.name.value));
    for (const Partition& partition : policy_.partitions) {
      if (line_for(partition.amounts, resource, domain) == nullptr) continue;
      Cbm mask;
      for (const Group& group : policy_.groups)
        if (group.partition && group.partition->value == partition.name.value)
          mask = mask | mask_of(group);
      look(partition.name.where, mask, domain,
           fmt::format("which are of partition '{}'", partition.name.value));
    }
  }
  report(resource, std::move(found), Severity::warning);
}

std::expected<Plan, std::vector<Diagnostic>> Planner::run() {
  make_targets();
  check_names();
  check_closids();
  for (const Partition& partition : policy_.partitions) check_resources(partition.amounts);
  for (const Group& group : policy_.groups) check_resources(group.amounts);
  for (const auto& [resource, info] : capabilities_.caches) place_resource(resource, info);
  for (const auto& [resource, info] : capabilities_.bandwidths) set_bandwidth(resource, info);
  assign_cpus();
  if (!has_errors(diagnostics_)) {
    for (const auto& [resource, info] : capabilities_.caches)
      warn_of_foreign_groups(resource, info);
    decide_modes();
  }
  sort_by_place(diagnostics_);
  if (has_errors(diagnostics_)) return std::unexpected(std::move(diagnostics_));
  if (leaves_default_group(policy_, snapshot_))
    targets_.back().state = snapshot_.groups.at(std::string(root_group));
  Steps steps = steps_to(targets_, capabilities_, snapshot_);
  return Plan{std::move(targets_), std::move(steps.steps), std::move(steps.removals),
              std::move(diagnostics_)};
}

bool leaves_default_group(const Policy& policy, const Snapshot& snapshot) {
  return policy.groups.empty() && policy.partitions.empty() &&
         !snapshot.owned.contains(std::string(root_group));
}

std::expected<Plan, std::vector<Diagnostic>> make_plan(const Policy& policy,
                                                       const Capabilities& capabilities,
                                                       const Snapshot& snapshot) {
  return Planner(policy, capabilities, snapshot).run();
}

}  // namespace rdtd
