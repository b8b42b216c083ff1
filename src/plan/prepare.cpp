#include "rdtd/plan/prepare.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace rdtd {

namespace {

std::expected<Plan, std::vector<Diagnostic>> plan_for(const Policy& policy,
                                                      const Machine& machine) {
  return make_plan(policy, machine.capabilities, machine.snapshot);
}

// The machine without other tools: only they and their groups can go away without an edit.
Machine without_others(const Machine& machine) {
  Machine out = machine;
  std::erase_if(out.snapshot.groups, [&](const auto& group) {
    return group.first != root_group && !machine.snapshot.owned.contains(group.first);
  });
  std::erase_if(out.snapshot.unreadable,
                [&](const std::string& name) { return !machine.snapshot.owned.contains(name); });
  out.snapshot.mon_groups = 0;
  return out;
}

Prepared finished(ParsedPolicy parsed, Plan plan) {
  Prepared out{std::move(parsed.policy), std::move(plan), std::move(parsed.diagnostics), {}};
  std::ranges::copy(out.plan.warnings, std::back_inserter(out.warnings));
  sort_by_place(out.warnings);
  return out;
}

Policy with_groups(const Policy& policy, const std::set<std::string>& names) {
  Policy out = policy;
  std::erase_if(out.groups, [&](const Group& group) {
    return group.name.value != "default" && !names.contains(group.name.value);
  });
  std::erase_if(out.partitions, [&](const Partition& partition) {
    return std::ranges::none_of(out.groups, [&](const Group& group) {
      return group.partition && group.partition->value == partition.name.value;
    });
  });
  std::erase_if(out.rules, [&](const Rule& rule) {
    return rule.group.value != "default" && !names.contains(rule.group.value);
  });
  return out;
}

MissingGroup missing_group(const std::string& name, const std::vector<Diagnostic>& diagnostics) {
  const auto error = std::ranges::find(diagnostics, Severity::error, &Diagnostic::severity);
  return {name, error->message, error->cause};
}

}  // namespace

std::expected<Prepared, Rejected> prepare(std::span<const PolicyFile> files,
                                          const Machine& machine) {
  ParsedPolicy parsed = parse_policy(files);
  if (has_errors(parsed.diagnostics))
    return std::unexpected(
        Rejected{std::move(parsed.diagnostics), std::move(parsed.policy.sources)});
  auto plan = plan_for(parsed.policy, machine);
  if (plan) return finished(std::move(parsed), std::move(*plan));
  const bool others = plan_for(parsed.policy, without_others(machine)).has_value();
  const bool mount = std::ranges::all_of(plan.error(), [](const Diagnostic& d) {
    return d.severity == Severity::warning || d.cause == Cause::mount;
  });
  return std::unexpected(
      Rejected{std::move(plan.error()), std::move(parsed.policy.sources), others || mount});
}

std::expected<Prepared, Rejected> prepare_what_fits(std::span<const PolicyFile> files,
                                                    const Machine& machine) {
  auto whole = prepare(files, machine);
  if (whole || !whole.error().machine_is_cause) return whole;
  ParsedPolicy parsed = parse_policy(files);
  std::set<std::string> names;
  std::vector<MissingGroup> missing;
  for (const Group& group : parsed.policy.groups) {
    const std::string& name = group.name.value;
    if (name == "default") continue;
    names.insert(name);
    const auto plan = plan_for(with_groups(parsed.policy, names), machine);
    if (plan) continue;
    names.erase(name);
    missing.push_back(missing_group(name, plan.error()));
  }
  parsed.policy = with_groups(parsed.policy, names);
  auto plan = plan_for(parsed.policy, machine);
  if (!plan) return whole;  // even the default group's part is impossible
  Prepared out = finished(std::move(parsed), std::move(*plan));
  out.missing = std::move(missing);
  return out;
}

}  // namespace rdtd
