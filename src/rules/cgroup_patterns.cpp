#include "rdtd/rules/cgroup_patterns.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "rdtd/model/process_facts.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/model/virtual_machine.hpp"

namespace rdtd {

CgroupPatterns::CgroupPatterns(const Indexes& about_cgroups,
                               std::vector<CompiledPattern>& patterns) {
  std::map<std::tuple<ConditionKind, bool, std::string_view>, uint32_t> numbers;
  for (const auto& [kind, index] : about_cgroups) {
    CompiledPattern& pattern = patterns[index];
    const auto next = static_cast<uint32_t>(distinct_.size());
    const auto [known, is_new] =
        numbers.emplace(std::tuple(kind, pattern.literal, std::string_view(pattern.text)), next);
    pattern.number = known->second;
    if (!is_new) continue;
    distinct_.emplace_back(kind, index);
    add(kind, pattern);
  }
  for (TextIndex& index : by_kind_) index.sort();
}

void CgroupPatterns::add(ConditionKind kind, const CompiledPattern& pattern) {
  by_kind_[static_cast<size_t>(kind)].add(kind, pattern, pattern.number);
  kinds_.insert(kind);
  if (kind != ConditionKind::cgroup) return;
  const std::string_view prefix = pattern.prefix();
  prefixes_.emplace(prefix);
  prefix_lengths_.insert(prefix.size());
}

bool CgroupPatterns::hold_for(const std::string& path,
                              std::span<const CompiledPattern> patterns) const {
  ProcessFacts facts;
  facts.cgroup = path;
  Subject subject(facts);
  Candidates candidates;
  const auto find = [&](ConditionKind kind, std::string_view text) {
    by_kind_[static_cast<size_t>(kind)].find(text, candidates);
  };
  find(ConditionKind::cgroup, path);
  for (const std::string_view unit : subject.units().system) find(ConditionKind::unit, unit);
  for (const std::string_view unit : subject.units().user) find(ConditionKind::user_unit, unit);
  if (has(ConditionKind::vm) && !subject.vm().empty()) find(ConditionKind::vm, subject.vm());
  remove_duplicates(candidates);
  return std::ranges::any_of(candidates, [&](std::span<const Posting> postings) {
    return std::ranges::any_of(postings, [&](const Posting& posting) {
      const auto& [kind, index] = distinct_[posting.number];
      return holds(kind, patterns[index], subject);
    });
  });
}

// A unit has no other unit of the same manager below it, and a pattern matches only paths that
// begin with its prefix.
bool CgroupPatterns::may_hold_below(std::string_view path) const {
  const auto without_unit = [](const std::vector<std::string_view>& units) {
    return units.empty() || units.back().ends_with(".slice");
  };
  const CgroupUnits units = units_of_cgroup(path);
  if (has(ConditionKind::unit) && without_unit(units.system)) return true;
  const bool may_have_users =
      without_unit(units.system) || units.system.back().starts_with("user@");
  if (has(ConditionKind::user_unit) && may_have_users && without_unit(units.user)) return true;
  if (has(ConditionKind::vm) && may_hold_vms(path)) return true;
  const auto next = prefixes_.lower_bound(path);
  if (next != prefixes_.end() && next->starts_with(path)) return true;
  return std::ranges::any_of(prefix_lengths_, [&](size_t length) {
    return length <= path.size() && prefixes_.contains(path.substr(0, length));
  });
}

}  // namespace rdtd
