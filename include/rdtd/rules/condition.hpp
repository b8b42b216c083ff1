// Conditions of a rule, compiled once, and whether they hold for a process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "rdtd/base/glob.hpp"
#include "rdtd/model/process_facts.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/rules/match_memo.hpp"

namespace rdtd {

struct CompiledPattern {
  std::string text;                 // a glob, or if it is literal, the one text that it matches
  std::optional<uint32_t> id = {};  // user, user_group; nothing for an unknown name
  // cgroup, unit, user_unit, vm: index into RuleSet::cgroup_patterns_; cmdline: counted likewise.
  uint32_t number = 0;
  bool literal = false;

  // The beginning of all texts that it matches.
  [[nodiscard]] std::string_view prefix() const { return literal ? text : glob_prefix(text); }
  bool operator==(const CompiledPattern&) const = default;
};

struct CompiledCondition {
  ConditionKind kind = ConditionKind::name;
  std::span<const CompiledPattern> patterns;  // of the rule set
};

// The fact that the condition is about.
[[nodiscard]] Fact fact_of(ConditionKind kind);
// Whether the condition names a user or a user group.
[[nodiscard]] bool is_identity(ConditionKind kind);

// A process that rules are tried on: its facts, the units that follow from them, and, for a long
// cgroup path or command line, the answers remembered for it.
class Subject {
 public:
  explicit Subject(const ProcessFacts& of) : facts(of) {}

  const ProcessFacts& facts;
  PatternMemo::Answers* cgroup_answers = nullptr;
  PatternMemo::Answers* cmdline_answers = nullptr;
  [[nodiscard]] const CgroupUnits& units();
  // Of the virtual machine; empty if it is in none.
  [[nodiscard]] const std::string& vm();

 private:
  std::optional<CgroupUnits> units_;
  std::optional<std::string> vm_;
};

// Both require the fact that the condition is about.
[[nodiscard]] bool holds(ConditionKind kind, const CompiledPattern& pattern, Subject& subject);
[[nodiscard]] bool holds(const CompiledCondition& condition, Subject& subject);

}  // namespace rdtd
