// explain: why each rule of a rule set matches a process, or does not. The process may be one that
// is only described.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/rules/rule_set.hpp"

namespace rdtd {

// The result of trying one rule.
struct RuleTrial {
  size_t rule = 0;
  bool matched = false;
  std::string reason;  // of the first condition that failed: "name is 'bash', not 'redis-server'"
  // Of a described process: the value that decides and is not known. `matched` is false then.
  std::optional<ConditionKind> needs = {};
};

// Tries each rule up to the one that matches; requires all facts. Without `with_patterns`, the
// reasons do not reveal what the rules look for.
[[nodiscard]] std::vector<RuleTrial> explain(const RuleSet& rules, const ProcessFacts& facts,
                                             bool with_patterns);

// A process as somebody describes it, by the values that conditions are about. Units are complete
// names. Of `cgroup` on one side, `unit` and `user_unit` on the other, one side is given.
struct ProcessDescription {
  std::map<ConditionKind, std::string> values;  // an absent one is not known
  std::map<ConditionKind, uint32_t> ids;        // of `user` and `user_group`, if they are known
  // The users of the rules were looked up: a name without a number is nobody's.
  bool knows_users = false;
};

// Tries each rule up to the one that matches. Without `thread`, it describes the process as a
// whole.
[[nodiscard]] std::vector<RuleTrial> explain(const RuleSet& rules,
                                             const ProcessDescription& process);

}  // namespace rdtd
