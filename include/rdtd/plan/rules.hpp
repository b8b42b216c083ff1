// RuleSet: the rules of a policy, compiled once, and match: from what is known of a process to the
// rule that decides. Pure and immutable, so any thread may ask. Facts are asked for one by one:
// match says which one it needs next, and needs none that cannot change the outcome. Rules are
// found by hash of what they name literally, or of the part of a glob before its first special
// character, so that many rules cost what few do.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rdtd/model/process_facts.hpp"
#include "rdtd/policy/diagnostic.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// The user database as values; a name that is not in it matches nobody.
struct Users {
  std::map<std::string, uid_t> users;
  std::map<std::string, gid_t> groups;
};

// Asks for each name in the rules' `user` and `user_group`, with a warning for one that is not
// known.
[[nodiscard]] Users look_up_users(
    const Policy& policy, const std::function<std::optional<uid_t>(const std::string&)>& find_user,
    const std::function<std::optional<gid_t>(const std::string&)>& find_user_group,
    std::vector<Diagnostic>& warnings);

struct Decision {
  enum class Kind { matched, unmatched, needs_fact };
  Kind kind = Kind::unmatched;
  size_t rule = 0;         // matched: index into RuleSet::rules()
  Fact fact = Fact::name;  // needs_fact
};

struct CompiledCondition {
  struct Pattern {
    std::string text;
    bool literal = false;
    std::optional<uint32_t> id;  // user, user_group; nothing for a name that is not known
  };
  ConditionKind kind = ConditionKind::name;
  std::vector<Pattern> patterns;
};

struct CompiledRule {
  size_t group = 0;  // index into RuleSet::groups()
  std::vector<CompiledCondition> conditions;
  Location where;
  bool per_thread = false;  // has a `thread` condition: decides single threads only
};

// How one rule fared.
struct RuleTrial {
  size_t rule = 0;
  bool matched = false;
  std::string reason;  // of the first condition that failed: "name is 'bash', not 'redis-server'"
};

class Subject;

class RuleSet {
 public:
  RuleSet() = default;
  RuleSet(const Policy& policy, const Users& users);

  // The first rule that matches. With facts.thread set, the rule for that thread; else for the
  // process, and rules with a `thread` condition do not count.
  [[nodiscard]] Decision match(const ProcessFacts& facts) const;
  // Each rule up to the one that matches; wants all facts. Without `with_values` the reasons do not
  // tell the facts.
  [[nodiscard]] std::vector<RuleTrial> explain(const ProcessFacts& facts, bool with_values) const;

  [[nodiscard]] const std::vector<CompiledRule>& rules() const { return rules_; }
  [[nodiscard]] const std::vector<std::string>& groups() const {
    return groups_;
  }  // directories that rules name
  // Whether a `cgroup`, `unit` or `user_unit` condition holds for processes in this cgroup.
  [[nodiscard]] bool speaks_of_cgroup(const std::string& path) const;
  [[nodiscard]] bool has_thread_rules() const { return has_thread_rules_; }
  [[nodiscard]] const std::string& group_of(size_t rule) const {
    return groups_[rules_[rule].group];
  }

 private:
  // Where to look for the rules whose anchor, the cheapest of their conditions, a given text may
  // satisfy.
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  template <class Value>
  using ByText = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;
  using Postings = std::vector<size_t>;  // rules, in order
  using Candidates = std::vector<const Postings*>;
  struct Index {
    ByText<Postings> literal;
    std::map<size_t, ByText<Postings>> prefix;  // by length of the prefix
    size_t first = SIZE_MAX;                    // the first rule in it
    void add(const CompiledCondition& condition, size_t rule);
    void find(std::string_view text, Candidates& out) const;
  };

  [[nodiscard]] const Index& index(ConditionKind kind) const {
    return indexes_[static_cast<size_t>(kind)];
  }
  [[nodiscard]] size_t first_rule(Fact fact, bool for_thread) const;
  void find_candidates(Fact fact, Subject& subject, Candidates& out) const;
  [[nodiscard]] static Decision evaluate(const CompiledRule& rule, Subject& subject);

  std::vector<CompiledRule> rules_;
  std::vector<std::string> groups_;
  std::array<Index, 9> indexes_;  // by ConditionKind
  std::unordered_map<uint32_t, std::vector<size_t>> by_user_, by_user_group_;
  bool has_thread_rules_ = false;
};

}  // namespace rdtd
