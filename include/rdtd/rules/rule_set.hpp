// RuleSet: the rules of a policy, compiled once, and match: from the facts of a process to the rule
// that decides. It is pure and immutable, so every thread may use it. match reports the next fact
// that it needs, and needs none that cannot change the result.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/model/snapshot.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/rules/cgroup_patterns.hpp"
#include "rdtd/rules/match_memo.hpp"
#include "rdtd/rules/condition.hpp"
#include "rdtd/rules/postings.hpp"
#include "rdtd/rules/text_index.hpp"
#include "rdtd/rules/users.hpp"

namespace rdtd {

struct Decision {
  enum class Kind {
    matched,
    left,  // the first rule that matches leaves the process where it is
    unmatched,
    needs_fact,
  };
  Kind kind = Kind::unmatched;
  size_t rule = 0;         // matched, left: index into RuleSet::rules()
  Fact fact = Fact::name;  // needs_fact
};

// Where a rule puts processes: a control group, and a monitoring group in it.
struct Destination {
  std::string group;      // its directory; empty: the default group
  std::string mon_group;  // empty: none
  bool own_only = false;  // not from a group of another tool

  auto operator<=>(const Destination&) const = default;
  // "redis", "redis/web"
  [[nodiscard]] std::string label() const {
    return group_label(group) + (mon_group.empty() ? "" : "/" + mon_group);
  }
};

// A part of one of the arrays of a RuleSet.
struct Stretch {
  uint32_t begin = 0;
  uint32_t size = 0;
  auto operator<=>(const Stretch&) const = default;

  template <class T>
  [[nodiscard]] std::span<T> of(std::vector<T>& array) const {
    return std::span(array).subspan(begin, size);
  }
  template <class T>
  [[nodiscard]] std::span<const T> of(const std::vector<T>& array) const {
    return std::span(array).subspan(begin, size);
  }
};

struct CompiledRule {
  Location where;
  Stretch conditions;        // RuleSet::conditions_of()
  uint32_t destination = 0;  // index into RuleSet::destinations(), unless it leaves processes alone
  bool leaves = false;
  bool per_thread = false;  // has a `thread` condition: decides single threads only
};

class RuleSet {
 public:
  RuleSet() = default;
  RuleSet(const Policy& policy, const Users& users);

  // The first rule that matches. With facts.thread, the rule for that thread; else the rule for the
  // process, and rules with a `thread` condition do not count. With a memo, which only the calling
  // thread uses, comparisons with long cgroup paths and command lines are remembered.
  [[nodiscard]] Decision match(const ProcessFacts& facts, MatchMemo* memo = nullptr) const;
  // Whether any rule has a condition on this fact.
  [[nodiscard]] bool reads(Fact fact) const;

  [[nodiscard]] const std::vector<CompiledRule>& rules() const { return rules_; }
  // Each as a CompiledCondition, the cheapest first.
  [[nodiscard]] auto conditions_of(const CompiledRule& rule) const {
    return rule.conditions.of(conditions_) |
           std::views::transform([this](const StoredCondition& condition) {
             return CompiledCondition{condition.kind, condition.patterns.of(patterns_)};
           });
  }
  // Distinct.
  [[nodiscard]] const std::vector<Destination>& destinations() const { return destinations_; }
  // For messages also of a rule that leaves processes where they are, as a group "leave".
  [[nodiscard]] const Destination& destination_of(size_t rule) const {
    return rules_[rule].leaves ? left_ : destinations_[rules_[rule].destination];
  }
  [[nodiscard]] const std::string& group_of(size_t rule) const {
    return destination_of(rule).group;
  }
  // Whether a `cgroup`, `unit` or `user_unit` condition holds for processes in this cgroup.
  [[nodiscard]] bool speaks_of_cgroup(const std::string& path) const {
    return cgroups_.hold_for(path, patterns_);
  }
  // Whether such a condition can hold for a cgroup below this one, if none holds for this one.
  [[nodiscard]] bool may_speak_below_cgroup(std::string_view path) const {
    return cgroups_.may_hold_below(path);
  }
  [[nodiscard]] bool has_thread_rules() const { return has_thread_rules_; }
  // Whether the two decide the same about every process, wherever their rules stand.
  [[nodiscard]] bool decides_as(const RuleSet& other) const;

 private:
  // Many rules have one condition of one pattern: arrays for the whole set take less memory than
  // arrays for each rule.
  struct StoredCondition {
    ConditionKind kind = ConditionKind::name;
    Stretch patterns;
    bool operator==(const StoredCondition&) const = default;
  };
  // The rules that have their cheapest condition, the anchor, in common.
  struct Anchors {
    TextIndex texts;
    Postings ids;             // user, user_group
    size_t first = SIZE_MAX;  // the first rule
  };
  template <class T>
  using ByKind = std::array<T, condition_kinds.size()>;

  [[nodiscard]] Stretch compile(const std::vector<Condition>& conditions, const Users& users);
  [[nodiscard]] Stretch compile_patterns(const Condition& condition, const Users& users);
  void add_anchor(const StoredCondition& condition, uint32_t rule);
  [[nodiscard]] CgroupPatterns::Indexes about_cgroups() const;
  [[nodiscard]] Decision evaluate(const CompiledRule& rule, Subject& subject) const;
  [[nodiscard]] const Anchors& anchors(ConditionKind kind) const {
    return anchors_[static_cast<size_t>(kind)];
  }
  [[nodiscard]] size_t first_rule(Fact fact, bool for_thread) const;
  void find_candidates(Fact fact, Subject& subject, Candidates& out) const;

  std::vector<CompiledRule> rules_;
  std::vector<StoredCondition> conditions_;  // of all rules
  std::vector<CompiledPattern> patterns_;    // of all conditions
  std::vector<Destination> destinations_;
  Destination left_{std::string(leave_group), {}};
  ByKind<Anchors> anchors_;
  CgroupPatterns cgroups_;
  uint32_t cmdline_patterns_ = 0;
  std::shared_ptr<const int> identity_ = std::make_shared<const int>();  // for MatchMemo
  bool has_thread_rules_ = false;
};

}  // namespace rdtd
