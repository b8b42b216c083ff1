// CgroupPatterns: the distinct patterns of a rule set that are about cgroups, whether a rule is
// found by them or not: whether one of them holds for a cgroup, or can hold below it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rdtd/rules/condition.hpp"
#include "rdtd/rules/text_index.hpp"

namespace rdtd {

class CgroupPatterns {
 public:
  // Indexes into the patterns of the rule set, with the kind of their condition.
  using Indexes = std::vector<std::pair<ConditionKind, uint32_t>>;

  CgroupPatterns() = default;
  // Numbers the patterns: equal ones of a kind have the same number.
  CgroupPatterns(const Indexes& about_cgroups, std::vector<CompiledPattern>& patterns);

  // How many numbers there are.
  [[nodiscard]] size_t size() const { return distinct_.size(); }
  // Whether one of them holds for processes in this cgroup. `patterns`: those of the rule set.
  [[nodiscard]] bool hold_for(const std::string& path,
                              std::span<const CompiledPattern> patterns) const;
  // Whether one can hold for a cgroup below this one, if none holds for this one.
  [[nodiscard]] bool may_hold_below(std::string_view path) const;

 private:
  void add(ConditionKind kind, const CompiledPattern& pattern);
  [[nodiscard]] bool has(ConditionKind kind) const { return kinds_.contains(kind); }

  Indexes distinct_;  // by number
  std::array<TextIndex, condition_kinds.size()> by_kind_;
  std::set<ConditionKind> kinds_;
  // Of the `cgroup` patterns: the part before the first special character.
  std::set<std::string, std::less<>> prefixes_;
  std::set<size_t> prefix_lengths_;
};

}  // namespace rdtd
