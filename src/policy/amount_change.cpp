#include "rdtd/policy/amount_change.hpp"

#include <algorithm>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>

#include "rdtd/policy/parse.hpp"

namespace rdtd {

namespace {

// Everything but the amounts, and where it stands.
auto beside_amounts(const Group& group) {
  const auto value = [](const auto& located) {
    return located ? std::optional(located->value) : std::nullopt;
  };
  return std::tuple(group.name.value, group.exclusive, group.strict, value(group.partition),
                    value(group.cpus), group.description, group.adopt, group.replaces, group.amends,
                    group.is_protected);
}

// `table` with another amount for the domains of the line.
void put(AmountTable& table, const DomainAmount& line) {
  if (!line.domains) {
    table = {line};
    return;
  }
  for (DomainAmount& other : table)
    if (other.domains)
      std::erase_if(*other.domains, [&](DomainId id) { return line.domains->contains(id); });
  std::erase_if(table,
                [](const DomainAmount& other) { return other.domains && other.domains->empty(); });
  table.insert(table.begin(), line);
}

bool same_but_amounts(const Policy& before, const Policy& after) {
  return before.rules.empty() && after.rules.empty() && !after.groups.empty() &&
         std::ranges::equal(before.groups, after.groups, {}, beside_amounts, beside_amounts);
}

}  // namespace

void amend(Group& group, const Group& change) {
  if (group.unamended)
    group.amounts = *group.unamended;
  else
    group.unamended = group.amounts;
  group.amended_by = change.name.where.file.text();
  for (const auto& [resource, lines] : change.amounts) {
    AmountTable& table = group.amounts[resource];
    // "*" is the last, and is for the domains that no other line has.
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) put(table, *line);
  }
}

std::optional<Policy> with_amounts_of(const Policy& policy, const PolicyFile& before,
                                      const PolicyFile& after) {
  const ParsedPolicy old_text = parse_lease(before);
  ParsedPolicy new_text = parse_lease(after);
  if (!old_text.diagnostics.empty() || !new_text.diagnostics.empty() ||
      !same_but_amounts(old_text.policy, new_text.policy))
    return std::nullopt;
  Policy out = policy;
  for (Group& group : new_text.policy.groups) {
    const auto in_force = std::ranges::find_if(out.groups, [&](const Group& known) {
      return known.name.value == group.name.value &&
             (group.amends ? known.amended_by == after.path : known.name.where.file == after.path);
    });
    if (in_force == out.groups.end()) return std::nullopt;
    if (group.amends)
      amend(*in_force, group);
    else
      *in_force = std::move(group);
  }
  out.sources[after.path] = after.text;
  return out;
}

}  // namespace rdtd
