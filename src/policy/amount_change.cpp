#include "rdtd/policy/amount_change.hpp"

#include <algorithm>
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
                    value(group.cpus), group.description, group.adopt, group.replaces);
}

bool same_but_amounts(const Policy& before, const Policy& after) {
  return before.rules.empty() && after.rules.empty() && !after.groups.empty() &&
         std::ranges::equal(before.groups, after.groups, {}, beside_amounts, beside_amounts);
}

}  // namespace

std::optional<Policy> with_amounts_of(const Policy& policy, const PolicyFile& before,
                                      const PolicyFile& after) {
  const ParsedPolicy old_text = parse_policy({&before, 1});
  ParsedPolicy new_text = parse_policy({&after, 1});
  if (!old_text.diagnostics.empty() || !new_text.diagnostics.empty() ||
      !same_but_amounts(old_text.policy, new_text.policy))
    return std::nullopt;
  Policy out = policy;
  for (Group& group : new_text.policy.groups) {
    const auto in_force = std::ranges::find_if(out.groups, [&](const Group& known) {
      return known.name.value == group.name.value && known.name.where.file == after.path;
    });
    if (in_force == out.groups.end()) return std::nullopt;
    *in_force = std::move(group);
  }
  out.sources[after.path] = after.text;
  return out;
}

}  // namespace rdtd
