#include "rdtd/observer/guard_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

namespace {

using observe::Range;

// Within the range, and in a unit in which rounding changes little.
std::string exact_text(const AmountRange& range, double amount) {
  if (range.percent) return fmt::format("{:g}%", amount);
  return fmt::format("{:.0f} KB/s", std::ceil(std::clamp(amount, range.least, range.most) / 1e3));
}

// Each form at the same part of the way between its ends.
std::string lowered_value(const DomainAmount& line, double amount) {
  const AmountRange counted = *guard_range(line);
  const std::string first = toml_string(exact_text(counted, amount));
  if (!line.other_form) return first;
  const AmountRange other = *bandwidth_range(line.other_form->value);
  const double part = (amount - counted.least) / (counted.most - counted.least);
  return fmt::format(
      "[{}, {}]", first,
      toml_string(exact_text(other, other.least + part * (other.most - other.least))));
}

std::string directory_of(const Group& group) {
  return group.name.value == "default" ? std::string(root_group) : group.name.value;
}

}  // namespace

observe::GuardRules guard_rules(const Policy& policy) {
  observe::GuardRules out;
  out.acts = policy.guard.mode == GuardMode::on;
  out.traffic = policy.guard.traffic;
  for (const Group& group : policy.groups) {
    if (group.is_protected) out.protected_groups.insert(directory_of(group));
    const auto table = group.amounts.find(Resource::MB);
    if (table == group.amounts.end()) continue;
    auto& ranges = out.ranges[directory_of(group)];
    for (const DomainAmount& line : table->second) {
      const auto allowed = guard_range(line);
      const Range range =
          allowed ? Range{allowed->least, allowed->most, allowed->percent} : Range{0, 0, true};
      if (!line.domains)
        ranges[std::nullopt] = range;
      else
        // Also a fixed amount: such a domain must not get the range of the others.
        for (const DomainId domain : *line.domains) ranges[domain] = range;
    }
  }
  return out;
}

std::string guard_lease(const Policy& policy, const observe::Guard::Amounts& amounts) {
  std::string out;
  for (const Group& group : policy.groups) {
    const auto lower = amounts.find(directory_of(group));
    const auto table = group.amounts.find(Resource::MB);
    if (lower == amounts.end() || table == group.amounts.end()) continue;
    std::vector<std::string> entries;
    for (const auto& [domain, amount] : lower->second)
      if (const DomainAmount* line = line_for(table->second, domain); line && guard_range(*line))
        entries.push_back(
            fmt::format("\"{}\" = {}", to_string(domain), lowered_value(*line, amount)));
    if (!entries.empty())
      out += fmt::format("[group.{}]\namend = true\nmb = {{ {} }}\n", toml_key(group.name.value),
                         join(entries, ", "));
  }
  return out;
}

}  // namespace rdtd
