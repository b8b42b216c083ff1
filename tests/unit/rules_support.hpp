// Rules and a process, for the tests of rules.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "rdtd/rules/rule_set.hpp"
#include "support.hpp"

namespace rdtd::test {

inline ProcessFacts facts(const char* name) {
  return {.name = name,
          .exe = "/usr/bin/redis-server",
          .cgroup = "/system.slice/redis.service",
          .container = ContainerNames{},
          .cmdline = "redis-server *:6379",
          .identity = Identity{100, 200}};
}

inline RuleSet rules(const std::string& text) {
  const ParsedPolicy parsed = parse("[group.a]\n[group.b]\n" + text);
  EXPECT_FALSE(has_errors(parsed.diagnostics))
      << format_diagnostics(parsed.diagnostics, parsed.policy.sources);
  return RuleSet(parsed.policy, {{{"redis", 100}}, {{"staff", 200}}});
}

inline std::string rule(const std::string& conditions, const char* group = "a") {
  return std::string("[[rule]]\ngroup = \"") + group + "\"\n" + conditions;
}

}  // namespace rdtd::test
