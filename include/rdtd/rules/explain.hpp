// explain: why each rule of a rule set matches a process, or does not.
#pragma once

#include <string>
#include <vector>

#include "rdtd/rules/rule_set.hpp"

namespace rdtd {

// The result of trying one rule.
struct RuleTrial {
  size_t rule = 0;
  bool matched = false;
  std::string reason;  // of the first condition that failed: "name is 'bash', not 'redis-server'"
};

// Tries each rule up to the one that matches; requires all facts. Without `with_values`, the
// reasons do not reveal the facts.
[[nodiscard]] std::vector<RuleTrial> explain(const RuleSet& rules, const ProcessFacts& facts,
                                             bool with_values);

}  // namespace rdtd
