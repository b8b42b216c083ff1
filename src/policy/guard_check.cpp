#include "guard_check.hpp"

#include <algorithm>

namespace rdtd {

namespace {

bool has_range(const Group& group) {
  const auto table = group.amounts.find(Resource::MB);
  return table != group.amounts.end() &&
         std::ranges::any_of(
             table->second, [](const DomainAmount& line) { return guard_range(line).has_value(); });
}

// Ranges that are none for the guard.
void warn_of_unused_ranges(const Group& group, std::vector<Diagnostic>& diagnostics) {
  const auto table = group.amounts.find(Resource::MB);
  if (table == group.amounts.end()) return;
  for (const DomainAmount& line : table->second) {
    const bool one = line.amount.value.least || (line.other_form && line.other_form->value.least);
    if (one && !guard_range(line))
      diagnostics.push_back(
          {Severity::warning, line.amount.where, "the guard cannot use this range",
           line.other_form ? "write a range for both forms of the amount"
                           : "write two ends that differ, such as \"1 GB/s..8 GB/s\""});
  }
}

}  // namespace

std::optional<AmountRange> guard_range(const DomainAmount& line) {
  const auto first = bandwidth_range(line.amount.value);
  if (line.other_form && !bandwidth_range(line.other_form->value)) return std::nullopt;
  return first;
}

void warn_of_idle_guard(const Policy& policy, std::vector<Diagnostic>& diagnostics) {
  const auto warn = [&](const Location& where, std::string message, std::string hint) {
    diagnostics.push_back({Severity::warning, where, std::move(message), std::move(hint)});
  };
  if (policy.guard.mode == GuardMode::off) {
    // A user who has written that it is off knows it.
    if (!policy.guard.where.file.empty()) return;
    const auto found = std::ranges::find_if(
        policy.groups, [](const Group& group) { return group.is_protected || has_range(group); });
    if (found != policy.groups.end())
      warn(found->name.where,
           found->is_protected ? "the guard is off: nothing is done for the groups with 'protected'"
                               : "the guard is off: each range of mb is its upper end",
           "write mode = \"on\" or \"shadow\" in [guard]");
    return;
  }
  if (std::ranges::none_of(policy.groups, &Group::is_protected))
    warn(policy.guard.where, "no group is protected: the guard does nothing",
         "write protected = true in the [group.NAME] that must not suffer");
  if (std::ranges::none_of(policy.groups, has_range))
    warn(policy.guard.where, "no group has a range of mb: the guard can lower nothing",
         "write mb = \"10%..100%\" in the [group.NAME] that may have less");
  for (const Group& group : policy.groups) warn_of_unused_ranges(group, diagnostics);
  for (const Group& group : policy.groups)
    if (group.is_protected && has_range(group))
      warn(group.name.where,
           "group '" + group.name.value +
               "' is protected: the guard leaves its range at the "
               "upper end",
           "remove 'protected', or write one amount");
}

}  // namespace rdtd
