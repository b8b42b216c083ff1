#include "rdtd/policy/guard_lease.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rdtd/model/guard_status.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

namespace {

// Whether the line is within the range that the policy has there.
bool is_within(const DomainAmount& line, const DomainAmount& of_policy) {
  const auto range = guard_range(of_policy);
  if (!range || !is_within(line.amount.value, *range)) return false;
  if (!line.other_form) return true;
  const auto other =
      of_policy.other_form ? bandwidth_range(of_policy.other_form->value) : std::nullopt;
  return other && is_within(line.other_form->value, *other);
}

bool is_within(const DomainAmount& line, const AmountTable& of_policy) {
  // Of all domains: also of those that no line of the policy names.
  if (!line.domains)
    return !of_policy.empty() && !of_policy.back().domains &&
           std::ranges::all_of(of_policy,
                               [&](const DomainAmount& other) { return is_within(line, other); });
  return std::ranges::all_of(*line.domains, [&](DomainId domain) {
    const DomainAmount* other = line_for(of_policy, domain);
    return other != nullptr && is_within(line, *other);
  });
}

// The amounts that the files give the group.
const AmountTable* bandwidth_of(const Policy& policy, const std::string& group) {
  const auto found =
      std::ranges::find(policy.groups, group, [](const Group& known) { return known.name.value; });
  if (found == policy.groups.end()) return nullptr;
  const AmountTables& amounts = found->unamended ? *found->unamended : found->amounts;
  const auto table = amounts.find(Resource::MB);
  return table == amounts.end() ? nullptr : &table->second;
}

bool is_protected(const Policy& policy, const std::string& group) {
  return std::ranges::any_of(policy.groups, [&](const Group& known) {
    return known.name.value == group && known.is_protected;
  });
}

}  // namespace

std::optional<std::string> beyond_guard(const Policy& policy, const PolicyFile& lease, uid_t uid) {
  if (uid == 0 || lease.path != lease_file(guard_lease_name, {}).path) return std::nullopt;
  // Its errors are the load's to report. Read by itself, it may have some that it has not there.
  const ParsedPolicy parsed = parse_lease(lease);
  if (!parsed.policy.rules.empty()) return "it has a rule";
  for (const Group& group : parsed.policy.groups) {
    const std::string& name = group.name.value;
    if (!group.amends) return fmt::format("it does not amend group '{}', but makes it", name);
    if (!group.controls.empty() || group.amounts.size() != 1 ||
        !group.amounts.contains(Resource::MB))
      return fmt::format("it sets more of group '{}' than mb", name);
    if (is_protected(policy, name)) return fmt::format("group '{}' is protected", name);
    const AmountTable* of_policy = bandwidth_of(policy, name);
    for (const DomainAmount& line : group.amounts.at(Resource::MB))
      if (of_policy == nullptr || !is_within(line, *of_policy))
        return fmt::format("'{}' is not within a range that group '{}' has", line.amount.value.text,
                           name);
  }
  // The observer reads the files by itself: they may not be in force.
  if (!parsed.policy.groups.empty() && policy.guard.mode != GuardMode::on)
    return fmt::format("the guard's mode is \"{}\" in the policy that is in force",
                       to_string(policy.guard.mode));
  return std::nullopt;
}

}  // namespace rdtd
