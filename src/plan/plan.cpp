#include "rdtd/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "bandwidth.hpp"
#include "placement_refusals.hpp"
#include "planner.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"
#include "rdtd/plan/controls.hpp"

namespace rdtd {

void Planner::make_targets() {
  const auto add = [&](const Group& group) {
    target_of_[&group] = targets_.size();
    GroupTarget& added = targets_.emplace_back();
    added.directory = group_directory(group.name.value);
    added.exclusive = group.exclusive;
    added.partition = group.partition ? group.partition->value : "";
    added.description = group.description;
    added.adopt = group.adopt;
  };
  for (const Group& group : policy_.groups) {
    if (group.name.value == "default")
      default_group_ = &group;
    else
      add(group);
    if (group.partition) members_[group.partition->value].push_back(&group);
  }
  if (default_group_ != nullptr)
    add(*default_group_);
  else
    targets_.emplace_back();
  for (const Partition& partition : policy_.partitions)
    partition_targets_.emplace_back().partition = partition.name.value;
  for (const auto& [resource, info] : capabilities_.caches) {
    for (const auto& [domain, bytes] : info.way_bytes) domains_[resource].insert(domain);
    const Resource whole = resources_of_cache(resource).front();
    if (caches_.empty() || caches_.back().resource != whole)
      caches_.push_back({whole, {resource}, info});
    else
      caches_.back().parts.push_back(resource);
  }
  for (const auto& [resource, info] : capabilities_.bandwidths)
    for (const auto& [domain, unlimited] : info.unlimited) domains_[resource].insert(domain);
  for (const auto& [resource, control] : capabilities_.controls)
    domains_[resource] = control.domains;
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
  // In a table of domains, the array stands in place of the amount.
  const bool in_table = line.domains_where != line.amount.where;
  const std::string place = in_table ? "" : fmt::format("{} = ", resource_key(resource));
  const std::string_view here = percent_here ? "50%" : "8 GB/s";
  unsupported(
      line.amount.where,
      fmt::format("'{}' is a {}, and {} counts {} here", asked,
                  percent_here ? "rate" : "percentage", to_string(resource),
                  percent_here ? "percent" : "rates"),
      fmt::format("write a {}, such as \"{}\"; for machines of both kinds, write {}[\"{}\", "
                  "\"{}\"]",
                  percent_here ? "percentage" : "rate", here, place, asked, here),
      info.unit == BandwidthUnit::mbps ? Cause::mount : Cause::policy);
}

void Planner::warn_of_no_limit(Resource resource, const DomainAmount& line, uint32_t unlimited) {
  const Located<Amount>& amount = form_for(line, capabilities_.bandwidths.at(resource));
  warning(
      amount.where,
      fmt::format("'{}' is taken as no limit: by what groups have, {} counts up to {} GB/s here",
                  amount.value.text, to_string(resource), unlimited / 8));
}

// A guard changes what lies between the ends of a range.
void Planner::warn_of_narrow_range(const Located<Amount>& amount, const BandwidthInfo& info,
                                   uint32_t most, uint32_t unlimited) {
  const std::string& text = amount.value.text;
  const size_t dots = text.find("..");
  // Of two ends that are written alike, the policy's own check warns.
  if (policy_.guard.mode == GuardMode::off || !amount.value.least || dots == std::string::npos ||
      trim(text.substr(0, dots)) == trim(text.substr(dots + 2)))
    return;
  const auto least = bandwidth_value({*amount.value.least, amount.value.text, {}}, info, unlimited);
  if (least && *least >= most)
    warning(amount.where, fmt::format("both ends of '{}' are the same on this machine: the guard "
                                      "can change nothing",
                                      amount.value.text));
}

void Planner::set_bandwidth(Resource resource, const BandwidthInfo& info) {
  std::set<const DomainAmount*> too_high;
  for (const auto& [domain, unlimited] : info.unlimited) {
    for (GroupTarget& group : targets_)
      group.state.schemata[resource][domain] =
          no_limit(group.directory, resource, domain, unlimited);
    for (const Group& group : policy_.groups) {
      const DomainAmount* line = line_for(group.amounts, resource, domain);
      if (line == nullptr) continue;
      const Amount& amount = form_for(*line, info).value;
      const auto value = bandwidth_value(amount, info, unlimited);
      if (value)
        target(&group).asked[resource][domain] = amount.text;
      else
        refuse_bandwidth(resource, info, *line);
      if (value) warn_of_narrow_range(form_for(*line, info), info, *value, unlimited);
      if (value && *value < unlimited) target(&group).state.schemata[resource][domain] = *value;
      const bool is_rate = value && info.unit == BandwidthUnit::eighth_gbps &&
                           std::holds_alternative<Rate>(amount.value);
      if (is_rate && *bandwidth_value(amount, info, UINT32_MAX) > unlimited &&
          too_high.insert(line).second)
        warn_of_no_limit(resource, *line, unlimited);
    }
  }
}

// A partition with one group is as good as an exclusive group.
bool Planner::is_alone_in_partition(const GroupTarget& group) const {
  const auto members = members_.find(group.partition);
  return members != members_.end() && members->second.size() == 1;
}

// The kernel's exclusive mode guards a group's ways against other tools too. The kernel takes it
// only for a group that shares no domain of any cache with anybody, and where there is a cache to
// divide.
void Planner::decide_modes() {
  if (caches_.empty()) return;
  // One whose ways nobody knows may share them with anybody.
  if (std::ranges::any_of(snapshot_.unreadable,
                          [this](const std::string& name) { return is_foreign(name); }))
    return;
  std::map<const GroupTarget*, bool> shares;
  for (const Cache& cache : caches_) {
    const auto& [resource, parts, info] = cache;
    for (const auto& [domain, bytes] : info.way_bytes) {
      Cbm one = ways_of_devices({cache, domain});
      if (io_target_) one = one | footprint(io_target_->state.schemata, resource, domain);
      Cbm several = one;
      const auto add = [&](Cbm ways) {
        several = several | (one & ways);
        one = one | ways;
      };
      for (const GroupTarget& group : targets_)
        add(footprint(group.state.schemata, resource, domain));
      for (const auto& [name, state] : snapshot_.groups)
        if (is_foreign(name)) add(footprint(state.schemata, resource, domain));
      for (const GroupTarget& group : targets_)
        if (footprint(group.state.schemata, resource, domain).overlaps(several))
          shares[&group] = true;
    }
  }
  for (GroupTarget& group : targets_)
    if ((group.exclusive || is_alone_in_partition(group)) && group.directory != root_group &&
        !shares[&group])
      group.state.mode = Mode::exclusive;
}

// "" if it can do something.
std::string Planner::why_guard_is_idle() const {
  const auto mb = capabilities_.bandwidths.find(Resource::MB);
  if (mb == capabilities_.bandwidths.end()) {
    const auto* cap = find_control(std::string(to_string(Resource::MB)));
    return cap == nullptr ? "this machine does not divide bandwidth"
                          : fmt::format(
                                "bandwidth is set by {} here, which the guard does not "
                                "change",
                                cap->first.name());
  }
  if (mb->second.unit == BandwidthUnit::mbps)
    return "resctrl is mounted with mba_MBps, and the kernel changes the bandwidth by itself";
  if (!capabilities_.num_rmids) return "this machine does not count the traffic of groups";
  const CountedTraffic& traffic = snapshot_.traffic;
  const bool is_known = !traffic.domains.empty();
  const bool is_elsewhere = std::ranges::none_of(
      mb->second.unlimited, [&](const auto& of) { return traffic.domains.contains(of.first); });
  return is_known && is_elsewhere ? traffic_elsewhere(traffic, domains_.at(Resource::MB)) : "";
}

void Planner::warn_of_idle_guard() {
  if (policy_.guard.mode == GuardMode::off) return;
  if (const std::string why = why_guard_is_idle(); !why.empty())
    warning(policy_.guard.where, "the guard does nothing here: " + why);
}

std::expected<Plan, std::vector<Diagnostic>> Planner::run() {
  make_targets();
  find_mon_groups();
  check_refused();
  check_locks();
  find_busy_locks();
  check_io();
  std::vector<Step> steps = adoptions(targets_, snapshot_);
  for (const Step& step : steps) snapshot_.owned.insert(group_of(step));
  if (plan_for_ == PlanFor::new_policy) {
    check_mon_group_names();
    check_rmids();
  }
  if (leaves_default_group(policy_, snapshot_)) {
    targets_.back().state = snapshot_.groups.at(std::string(root_group));
  } else {
    check_names();
    check_closids();
    check_new_groups();
    for (const Partition& partition : policy_.partitions) check_resources(partition.amounts);
    for (const Group& group : policy_.groups) check_resources(group.amounts);
    // With far more groups than CLOSIDs, each would be refused in each domain.
    constexpr size_t most_placed = 1024;  // some Arm machines have so many CLOSIDs
    if (!has_errors(diagnostics_) || policy_.groups.size() <= most_placed) {
      // All of them: one that is refused ends the search in its cache.
      for (const Partition& partition : policy_.partitions) check_amounts(partition.amounts);
      for (const Group& group : policy_.groups) check_amounts(group.amounts);
      for (const Cache& cache : caches_) place_cache(cache);
    }
    for (const auto& [resource, info] : capabilities_.bandwidths) set_bandwidth(resource, info);
    set_controls();
  }
  restore_controls(targets_, snapshot_);
  bound_by_nodes();
  assign_cpus();
  if (!has_errors(diagnostics_)) {
    for (const Cache& cache : caches_) {
      warn_of_foreign_groups(cache);
      warn_of_wider_default(cache);
    }
    warn_of_unreadable_groups();
    warn_of_idle_guard();
    decide_modes();
    check_new_regions();
  }
  sort_by_place(diagnostics_);
  if (has_errors(diagnostics_)) return std::unexpected(std::move(diagnostics_));
  std::vector<LockTarget> locks;
  for (const PseudoLock* lock : locks_)
    if (const auto target = lock_targets_.find(lock); target != lock_targets_.end())
      locks.push_back(std::move(target->second));
  Steps changes = steps_to(targets_, locks, io_target_, capabilities_, snapshot_);
  changes.steps.insert(changes.steps.begin(), std::make_move_iterator(steps.begin()),
                       std::make_move_iterator(steps.end()));
  return Plan{
      std::move(targets_), std::move(partition_targets_), std::move(locks),   std::move(io_target_),
      std::move(changes),  std::move(diagnostics_),       std::move(missing_)};
}

std::vector<Diagnostic> Planner::follow_others(std::vector<GroupTarget>& targets,
                                               const IoTarget& io) {
  make_targets();
  targets_ = targets;
  io_target_ = io;
  if (io && policy_.io) io_ = &*policy_.io;
  for (GroupTarget& target : targets_) {
    if (target.directory != root_group) target.state.mode = Mode::shareable;
    // The group of that name is another tool's.
    if (is_taken(target.directory, snapshot_)) target.state.schemata.clear();
  }
  for (const Cache& cache : caches_) warn_of_foreign_groups(cache);
  warn_of_unreadable_groups();
  decide_modes();
  for (size_t i = 0; i < targets.size(); i++) targets[i].state.mode = targets_[i].state.mode;
  sort_by_place(diagnostics_);
  return std::move(diagnostics_);
}

bool leaves_default_group(const Policy& policy, const Snapshot& snapshot) {
  return policy.divides_nothing() && !snapshot.owned.contains(std::string(root_group));
}

std::expected<Plan, std::vector<Diagnostic>> make_plan(const Policy& policy,
                                                       const Capabilities& capabilities,
                                                       const Snapshot& snapshot, PlanFor plan_for) {
  if (!capabilities.divides_nothing() || policy.daemon.unsupported == OnUnsupported::refuse)
    return Planner(policy, capabilities, snapshot, plan_for).run();
  Policy reduced = policy;
  auto left_out = leave_out_groups(reduced, capabilities);
  auto plan = Planner(reduced, capabilities, snapshot, plan_for).run();
  std::ranges::move(left_out, std::back_inserter(plan ? plan->warnings : plan.error()));
  sort_by_place(plan ? plan->warnings : plan.error());
  return plan;
}

std::vector<Diagnostic> follow_others(const Policy& policy, const Capabilities& capabilities,
                                      const Snapshot& snapshot, std::vector<GroupTarget>& targets,
                                      const IoTarget& io) {
  return Planner(policy, capabilities, snapshot, PlanFor::in_force).follow_others(targets, io);
}

}  // namespace rdtd
