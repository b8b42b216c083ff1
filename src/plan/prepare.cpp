#include "rdtd/plan/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace rdtd {

namespace {

// The policy with each range at its lower end. Nothing if it has no range.
std::optional<Policy> lower_end(const Policy& policy) {
  std::optional<Policy> out;
  const auto lower = [&](size_t group, Resource resource, size_t line) {
    if (!out) out = policy;
    DomainAmount& to = out->groups[group].amounts[resource][line];
    for (Located<Amount>* amount : {&to.amount, to.other_form ? &*to.other_form : nullptr})
      if (amount != nullptr && amount->value.least) amount->value.value = *amount->value.least;
  };
  for (size_t i = 0; i < policy.groups.size(); ++i)
    for (const auto& [resource, table] : policy.groups[i].amounts)
      for (size_t line = 0; line < table.size(); ++line)
        if (table[line].amount.value.least ||
            (table[line].other_form && table[line].other_form->value.least))
          lower(i, resource, line);
  return out;
}

// The plan of the ranges' upper ends. The lower ones must be possible too: a guard that lowers an
// amount is not refused.
std::expected<Plan, std::vector<Diagnostic>> plan_for(const Policy& policy,
                                                      const Machine& machine) {
  auto plan = make_plan(policy, machine.capabilities, machine.snapshot);
  const auto lower = plan ? lower_end(policy) : std::nullopt;
  if (!lower) return plan;
  auto possible = make_plan(*lower, machine.capabilities, machine.snapshot);
  if (possible) return plan;
  for (Diagnostic& diagnostic : possible.error())
    if (diagnostic.severity == Severity::error)
      diagnostic.message = "with ranges at their lower ends: " + diagnostic.message;
  return std::unexpected(std::move(possible.error()));
}

// With the groups that this machine can have.
ParsedPolicy parse_for(std::span<const PolicyFile> files, const Machine& machine) {
  ParsedPolicy parsed = parse_policy(files);
  if (!has_errors(parsed.diagnostics))
    std::ranges::move(leave_out_groups(parsed.policy, machine.capabilities),
                      std::back_inserter(parsed.diagnostics));
  return parsed;
}

// The machine without other tools and programs: only they, their groups and the regions that they
// have open can go away without an edit.
Machine without_others(const Machine& machine) {
  Machine out = machine;
  std::erase_if(out.snapshot.groups, [&](const auto& group) {
    return group.first != root_group && (!machine.snapshot.owned.contains(group.first) ||
                                         machine.snapshot.busy_locks.contains(group.first));
  });
  out.snapshot.busy_locks.clear();
  out.snapshot.unrecordable.clear();
  out.snapshot.refused.clear();
  if (!machine.snapshot.owned.contains(std::string(io_group))) out.snapshot.io.clear();
  std::erase_if(out.snapshot.unreadable,
                [&](const std::string& name) { return !machine.snapshot.owned.contains(name); });
  std::erase_if(out.snapshot.half_read,
                [&](const auto& group) { return !machine.snapshot.owned.contains(group.first); });
  std::erase_if(out.snapshot.mon_groups,
                [&](const std::string& name) { return !machine.snapshot.owned.contains(name); });
  std::erase_if(out.snapshot.mon_cpus,
                [&](const auto& mon) { return !machine.snapshot.owned.contains(mon.first); });
  return out;
}

Prepared finished(ParsedPolicy parsed, Plan plan) {
  Prepared out{std::move(parsed.policy),
               std::move(plan),
               parsed.diagnostics,
               std::move(parsed.diagnostics),
               {}};
  out.missing = std::move(out.plan.missing);
  std::ranges::copy(out.plan.warnings, std::back_inserter(out.warnings));
  sort_by_place(out.warnings);
  return out;
}

// The parts of a policy that are had, by the names of groups.
struct Kept {
  std::set<std::string> amounts;  // of the default group, which is always there
  std::set<std::string> groups;
  std::set<std::string> partitions;  // that no group names; the others come with their groups
  std::set<std::string> locks;
  std::set<std::string> io;         // [io], which is one or none
  std::set<std::string> monitored;  // those with their monitoring groups
};

bool has_groups(const Partition& partition, const std::vector<Group>& groups) {
  return std::ranges::any_of(groups, [&](const Group& group) {
    return group.partition && group.partition->value == partition.name.value;
  });
}

Policy reduced(const Policy& policy, const Kept& kept) {
  Policy out = policy;
  std::erase_if(out.groups, [&](const Group& group) {
    return group.name.value != "default" && !kept.groups.contains(group.name.value);
  });
  std::erase_if(out.locks,
                [&](const PseudoLock& lock) { return !kept.locks.contains(lock.name.value); });
  if (kept.io.empty()) out.io.reset();
  std::erase_if(out.partitions, [&](const Partition& partition) {
    return !has_groups(partition, out.groups) && !kept.partitions.contains(partition.name.value);
  });
  for (Rule& rule : out.rules) {
    // No later rule decides instead.
    rule.stands_in =
        rule.group.value != "default" && !rule.leaves() && !kept.groups.contains(rule.group.value);
    if (rule.stands_in) rule.group.value = "default";
    if (rule.stands_in || !kept.monitored.contains(rule.group.value)) rule.monitor.reset();
  }
  for (Group& group : out.groups) {
    if (group.name.value != "default" || !kept.amounts.empty()) continue;
    group.amounts.clear();
    group.controls.clear();
  }
  for (Group& group : out.groups)
    if (!kept.monitored.contains(group.name.value)) group.monitor_cpus.clear();
  return out;
}

// Of the names, in their order, each that can be had together with those before it.
class Fitting {
 public:
  Fitting(const Policy& policy, const Machine& machine) : policy_(policy), machine_(machine) {}

  void add(const std::string& name, std::set<std::string> Kept::* part, std::string_view what) {
    (kept_.*part).insert(name);
    const auto plan = plan_for(reduced(policy_, kept_), machine_);
    if (plan) return;
    (kept_.*part).erase(name);
    const auto error = std::ranges::find(plan.error(), Severity::error, &Diagnostic::severity);
    missing.push_back({name, fmt::format(fmt::runtime(what), name), error->message, error->cause});
  }
  [[nodiscard]] Policy policy() const { return reduced(policy_, kept_); }
  [[nodiscard]] const std::set<std::string>& groups() const { return kept_.groups; }

  std::vector<MissingPart> missing;

 private:
  const Policy& policy_;
  const Machine& machine_;
  Kept kept_;
};

}  // namespace

std::expected<Prepared, Rejected> prepare(std::span<const PolicyFile> files,
                                          const Machine& machine) {
  ParsedPolicy parsed = parse_for(files, machine);
  if (has_errors(parsed.diagnostics))
    return std::unexpected(
        Rejected{std::move(parsed.diagnostics), std::move(parsed.policy.sources)});
  auto plan = plan_for(parsed.policy, machine);
  if (plan) return finished(std::move(parsed), std::move(*plan));
  const bool others = plan_for(parsed.policy, without_others(machine)).has_value();
  const bool too_small = std::ranges::all_of(plan.error(), [](const Diagnostic& d) {
    return d.severity == Severity::warning || d.cause == Cause::mount || d.cause == Cause::closids;
  });
  return std::unexpected(
      Rejected{std::move(plan.error()), std::move(parsed.policy.sources), others || too_small});
}

std::optional<Prepared> prepare_known(Policy policy, std::vector<Diagnostic> text_warnings,
                                      const Machine& machine) {
  auto plan = plan_for(policy, machine);
  if (!plan) return std::nullopt;
  return finished({std::move(policy), std::move(text_warnings)}, std::move(*plan));
}

std::expected<Prepared, Rejected> prepare_what_fits(std::span<const PolicyFile> files,
                                                    const Machine& machine) {
  auto whole = prepare(files, machine);
  if (whole || !whole.error().machine_is_cause) return whole;
  ParsedPolicy parsed = parse_for(files, machine);
  Fitting fitting(parsed.policy, machine);
  fitting.add("default", &Kept::amounts, "the amounts of group '{}' are");
  for (const Group& group : parsed.policy.groups)
    if (group.name.value != "default")
      fitting.add(group.name.value, &Kept::groups, "group '{}' is");
  for (const Partition& partition : parsed.policy.partitions)
    if (!has_groups(partition, parsed.policy.groups))
      fitting.add(partition.name.value, &Kept::partitions, "partition '{}' is");
  for (const PseudoLock& lock : parsed.policy.locks) {
    const size_t before = fitting.missing.size();
    fitting.add(lock.name.value, &Kept::locks, "pseudo_lock '{}' is");
    if (fitting.missing.size() > before) fitting.missing.back().lock = lock;
  }
  if (parsed.policy.io)
    fitting.add(parsed.policy.io->name.value, &Kept::io, "the ways of I/O devices are");
  std::set<std::string> monitored;
  for (const Rule& rule : parsed.policy.rules)
    if (rule.monitor &&
        (rule.group.value == "default" || fitting.groups().contains(rule.group.value)))
      monitored.insert(rule.group.value);
  for (const Group& group : parsed.policy.groups)
    if (!group.monitor_cpus.empty() &&
        (group.name.value == "default" || fitting.groups().contains(group.name.value)))
      monitored.insert(group.name.value);
  for (const std::string& name : monitored)
    fitting.add(name, &Kept::monitored, "the monitoring groups of '{}' are");
  parsed.policy = fitting.policy();
  auto plan = plan_for(parsed.policy, machine);
  if (!plan) return whole;  // even the default group's part is impossible
  Prepared out = finished(std::move(parsed), std::move(*plan));
  std::ranges::move(fitting.missing, std::back_inserter(out.missing));
  return out;
}

}  // namespace rdtd
