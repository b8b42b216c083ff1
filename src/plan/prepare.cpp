#include "rdtd/plan/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
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

CpuSet cpus_of_others(const Snapshot& snapshot) {
  CpuSet out;
  for (const auto* of : {&snapshot.groups, &snapshot.half_read})
    for (const auto& [name, state] : *of)
      if (name != root_group && !snapshot.owned.contains(name) && !is_pseudo(state.mode))
        out.insert(state.cpus.begin(), state.cpus.end());
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

// The parts of a policy that are had, by their places in it.
struct Kept {
  bool amounts = false;  // of the default group, which is always there
  std::set<size_t> groups;
  std::set<size_t> partitions;  // those of the groups too
  std::set<size_t> locks;
  std::set<size_t> cpus;  // groups that have all their CPUs, also those of other tools' groups
  bool io = false;
  std::set<std::string> monitored;  // groups that have their monitoring groups
};

// A part of a policy that the machine may forbid.
struct Part {
  std::string name;
  std::string_view what;  // "group '{}' is", with the name in it
  std::function<void(Kept&)> put;
  const PseudoLock* lock = nullptr;
};

bool is_default(const Group& group) { return group.name.value == "default"; }

// Of the parts, in their order, each that can be had together with those before it.
class Fitting {
 public:
  Fitting(const Policy& policy, const Machine& machine)
      : policy_(policy),
        machine_(machine),
        cpus_of_others_(cpus_of_others(machine.snapshot)),
        settings_(policy) {
    settings_.groups.clear();
    settings_.partitions.clear();
    settings_.locks.clear();
    settings_.rules.clear();
    settings_.io.reset();
    settings_.sources = {};
    for (size_t i = 0; i < policy.groups.size(); ++i) {
      const Group& group = policy.groups[i];
      if (!is_default(group)) continue;
      kept_.groups.insert(i);
      const auto partition = std::ranges::find_if(policy.partitions, [&](const Partition& one) {
        return group.partition && group.partition->value == one.name.value;
      });
      if (partition != policy.partitions.end())
        kept_.partitions.insert(static_cast<size_t>(partition - policy.partitions.begin()));
    }
  }

  // All at once if they can be had, and half of them otherwise: few that cannot be had among many
  // must not cost a plan for each.
  void add(std::span<const Part> parts) {
    if (parts.empty()) return;
    Kept with = kept_;
    for (const Part& part : parts) part.put(with);
    Policy tried = parts_of(with);
    if (!with.monitored.empty()) tried.rules = rules_of(with);
    const auto plan = plan_for(tried, machine_);
    if (plan) {
      kept_ = std::move(with);
    } else if (parts.size() > 1) {
      add(parts.first(parts.size() / 2));
      add(parts.subspan(parts.size() / 2));
    } else {
      const auto error = std::ranges::find(plan.error(), Severity::error, &Diagnostic::severity);
      missing.push_back({parts[0].name, fmt::format(fmt::runtime(parts[0].what), parts[0].name),
                         error->message, error->cause});
      if (parts[0].lock != nullptr) missing.back().lock = *parts[0].lock;
    }
  }

  [[nodiscard]] Policy policy() const {
    Policy out = parts_of(kept_);
    out.rules = rules_of(kept_);
    out.sources = policy_.sources;
    return out;
  }
  [[nodiscard]] std::set<std::string> groups() const { return groups_of(kept_); }

  std::vector<MissingPart> missing;

 private:
  [[nodiscard]] std::set<std::string> groups_of(const Kept& kept) const {
    std::set<std::string> out = {"default"};
    for (const size_t i : kept.groups) out.insert(policy_.groups[i].name.value);
    return out;
  }

  // All but the rules, of which a plan looks only at those with monitoring groups.
  [[nodiscard]] Policy parts_of(const Kept& kept) const {
    Policy out = settings_;
    for (const size_t i : kept.groups) {
      Group& group = out.groups.emplace_back(policy_.groups[i]);
      if (group.cpus && !kept.cpus.contains(i))
        group.cpus->value = without(group.cpus->value, cpus_of_others_);
      if (!kept.monitored.contains(group.name.value)) group.monitor_cpus.clear();
      if (!is_default(group) || kept.amounts) continue;
      group.amounts.clear();
      group.controls.clear();
    }
    for (const size_t i : kept.partitions) out.partitions.push_back(policy_.partitions[i]);
    for (const size_t i : kept.locks) out.locks.push_back(policy_.locks[i]);
    if (kept.io) out.io = policy_.io;
    return out;
  }

  [[nodiscard]] std::vector<Rule> rules_of(const Kept& kept) const {
    std::vector<Rule> out = policy_.rules;
    const std::set<std::string> groups = groups_of(kept);
    for (Rule& rule : out) {
      // No later rule decides instead.
      rule.stands_in = !rule.leaves() && !groups.contains(rule.group.value);
      if (rule.stands_in) rule.group.value = "default";
      if (rule.stands_in || !kept.monitored.contains(rule.group.value)) rule.monitor.reset();
    }
    return out;
  }

  const Policy& policy_;
  const Machine& machine_;
  const CpuSet cpus_of_others_;
  Policy settings_;  // without any part
  Kept kept_;
};

// The groups with their partitions, then the partitions that no group names.
std::vector<Part> groups_and_partitions(const Policy& policy) {
  std::map<std::string_view, size_t> partitions;
  for (size_t i = 0; i < policy.partitions.size(); ++i)
    partitions.emplace(policy.partitions[i].name.value, i);
  std::vector<Part> out;
  std::set<size_t> named;
  for (size_t i = 0; i < policy.groups.size(); ++i) {
    const Group& group = policy.groups[i];
    const auto partition =
        group.partition ? partitions.find(group.partition->value) : partitions.end();
    const auto place =
        partition != partitions.end() ? std::optional(partition->second) : std::nullopt;
    if (place) named.insert(*place);
    if (!is_default(group))
      out.push_back({group.name.value, "group '{}' is", [i, place](Kept& kept) {
                       kept.groups.insert(i);
                       if (place) kept.partitions.insert(*place);
                     }});
  }
  for (size_t i = 0; i < policy.partitions.size(); ++i)
    if (!named.contains(i))
      out.push_back({policy.partitions[i].name.value, "partition '{}' is",
                     [i](Kept& kept) { kept.partitions.insert(i); }});
  return out;
}

// A group whose CPUs another tool's group has keeps everything else.
std::vector<Part> cpus(const Policy& policy, const std::set<std::string>& groups) {
  std::vector<Part> out;
  for (size_t i = 0; i < policy.groups.size(); ++i)
    if (const Group& group = policy.groups[i]; group.cpus && groups.contains(group.name.value))
      out.push_back(
          {group.name.value, "CPUs of group '{}' are", [i](Kept& kept) { kept.cpus.insert(i); }});
  return out;
}

std::vector<Part> locks(const Policy& policy) {
  std::vector<Part> out;
  for (size_t i = 0; i < policy.locks.size(); ++i)
    out.push_back({policy.locks[i].name.value, "pseudo_lock '{}' is",
                   [i](Kept& kept) { kept.locks.insert(i); }, &policy.locks[i]});
  return out;
}

// Those of these groups, each with all its monitoring groups.
std::vector<Part> mon_groups(const Policy& policy, const std::set<std::string>& groups) {
  std::set<std::string> monitored;
  for (const Rule& rule : policy.rules)
    if (rule.monitor && groups.contains(rule.group.value)) monitored.insert(rule.group.value);
  for (const Group& group : policy.groups)
    if (!group.monitor_cpus.empty() && groups.contains(group.name.value))
      monitored.insert(group.name.value);
  std::vector<Part> out;
  for (const std::string& name : monitored)
    out.push_back({name, "the monitoring groups of '{}' are",
                   [name](Kept& kept) { kept.monitored.insert(name); }});
  return out;
}

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
  fitting.add(std::array{
      Part{"default", "the amounts of group '{}' are", [](Kept& kept) { kept.amounts = true; }}});
  fitting.add(groups_and_partitions(parsed.policy));
  fitting.add(cpus(parsed.policy, fitting.groups()));
  fitting.add(locks(parsed.policy));
  if (parsed.policy.io)
    fitting.add(std::array{Part{parsed.policy.io->name.value, "the ways of I/O devices are",
                                [](Kept& kept) { kept.io = true; }}});
  fitting.add(mon_groups(parsed.policy, fitting.groups()));
  parsed.policy = fitting.policy();
  auto plan = plan_for(parsed.policy, machine);
  if (!plan) return whole;  // even the default group's part is impossible
  Prepared out = finished(std::move(parsed), std::move(*plan));
  std::ranges::move(fitting.missing, std::back_inserter(out.missing));
  return out;
}

}  // namespace rdtd
