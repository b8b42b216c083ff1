#include "rdtd/observer/guard_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "rdtd/model/snapshot.hpp"
#include "rdtd/policy/group_text.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

namespace {

using observe::Range;

std::optional<double> number_of_amount(const Amount::Value& value) {
  if (const auto* percent = std::get_if<Percent>(&value)) return percent->value;
  if (const auto* rate = std::get_if<Rate>(&value))
    return static_cast<double>(rate->bytes_per_second);
  return std::nullopt;
}

std::optional<Range> range_of(const Amount& amount) {
  if (!amount.least) return std::nullopt;
  const auto least = number_of_amount(*amount.least), most = number_of_amount(amount.value);
  if (!least || !most || *least >= *most) return std::nullopt;
  return Range{*least, *most, std::holds_alternative<Percent>(amount.value)};
}

// The one that the guard counts in: of two forms of one amount, the first that is a range.
std::optional<Range> range_of(const DomainAmount& line) {
  const auto first = range_of(line.amount.value);
  return first || !line.other_form ? first : range_of(line.other_form->value);
}

// Each form that is a range, at the same part of the way between its ends.
std::string lowered_value(const DomainAmount& line, double amount) {
  const Range counted = *range_of(line);
  const double part = (amount - counted.least) / (counted.most - counted.least);
  const auto text = [&](const Amount& form) {
    const auto range = range_of(form);
    return toml_string(range ? observe::amount_text(
                                   *range, range->least + part * (range->most - range->least))
                             : form.text);
  };
  const std::string first = text(line.amount.value);
  return line.other_form ? fmt::format("[{}, {}]", first, text(line.other_form->value)) : first;
}

std::string directory_of(const Group& group) {
  return group.name.value == "default" ? std::string(root_group) : group.name.value;
}

}  // namespace

observe::GuardRules guard_rules(const Policy& policy) {
  observe::GuardRules out;
  out.traffic = policy.guard.traffic;
  for (const Group& group : policy.groups) {
    if (group.is_protected) out.protected_groups.insert(directory_of(group));
    const auto table = group.amounts.find(Resource::MB);
    if (table == group.amounts.end()) continue;
    auto& ranges = out.ranges[directory_of(group)];
    for (const DomainAmount& line : table->second) {
      const auto range = range_of(line);
      if (!line.domains) {
        if (range) ranges[std::nullopt] = *range;
        continue;
      }
      // A domain that has a fixed amount must not get the range of the others.
      for (const DomainId domain : *line.domains)
        ranges[domain] = range.value_or(Range{0, 0, true});
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
    std::map<DomainId, std::string> values;
    for (const auto& [domain, amount] : lower->second)
      if (const DomainAmount* line = line_for(table->second, domain); line && range_of(*line))
        values[domain] = lowered_value(*line, amount);
    if (!values.empty()) out += replacing_group_text(group, values);
  }
  return out;
}

}  // namespace rdtd
