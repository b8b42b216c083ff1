#include "guard_check.hpp"

#include <algorithm>

namespace rdtd {

namespace {

bool has_range(const Group& group) {
  const auto table = group.amounts.find(Resource::MB);
  return table != group.amounts.end() &&
         std::ranges::any_of(table->second, [](const DomainAmount& line) {
           return line.amount.value.least || (line.other_form && line.other_form->value.least);
         });
}

}  // namespace

void warn_of_idle_guard(const Policy& policy, std::vector<Diagnostic>& diagnostics) {
  const auto warn = [&](const Location& where, std::string message, std::string hint) {
    diagnostics.push_back({Severity::warning, where, std::move(message), std::move(hint)});
  };
  if (policy.guard.mode == GuardMode::off) return;
  if (std::ranges::none_of(policy.groups, &Group::is_protected))
    warn(policy.guard.where, "no group is protected: the guard does nothing",
         "write protected = true in the [group.NAME] that must not suffer");
  if (std::ranges::none_of(policy.groups, has_range))
    warn(policy.guard.where, "no group has a range of mb: the guard can lower nothing",
         "write mb = \"10%..100%\" in the [group.NAME] that may have less");
  for (const Group& group : policy.groups)
    if (group.is_protected && has_range(group))
      warn(group.name.where,
           "group '" + group.name.value + "' is protected: the guard leaves its range at the "
           "upper end",
           "remove 'protected', or write one amount");
}

}  // namespace rdtd
