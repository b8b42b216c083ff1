// The rule file of `rdtctl assign --unit`, and which processes a unit has.
#include "unit_rule.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "files.hpp"
#include "support.hpp"
#include "unit_processes.hpp"

namespace rdtd {
namespace {

TEST(UnitRule, FileNames) {
  const struct {
    const char *unit, *file;
  } rows[] = {
      {"redis.service", "00-assign-redis.service.toml"},
      {"a:b_c@1.service", "00-assign-a:b_c@1.service.toml"},
      {"../x.service", "00-assign-..\\x2fx.service.toml"},
      {"a b\n.service", "00-assign-a\\x20b\\x0a.service.toml"},
      {"dev-x\\x2dy.device", "00-assign-dev-x\\x5cx2dy.device.toml"},
      {"a@*", "00-assign-a@\\x2a.toml"},
  };
  for (const auto& row : rows) EXPECT_EQ(unit_rule_file(row.unit), row.file);
}

// The parser reads the rule as it was meant, and nothing in a name gets out of its string.
TEST(UnitRule, Text) {
  EXPECT_EQ(unit_rule_text("redis", "redis.service"),
            "# Written by 'rdtctl assign --unit', which replaces this file.\n"
            "# To end the assignment, remove the file and run 'rdtctl reload'.\n\n"
            "[[rule]]\ngroup = \"redis\"\nunit = \"redis.service\"\n");
  const std::string odd = "a\"unit2=\".service";
  const ParsedPolicy parsed = test::parse("[group.redis]\n" + unit_rule_text("redis", odd));
  ASSERT_EQ(parsed.diagnostics.size(), 1U);
  EXPECT_EQ(parsed.diagnostics[0].message,
            "'a\"unit2=\".service' can never match: the name of a unit has no '\"'");
  ASSERT_EQ(parsed.policy.rules.size(), 1U);
  EXPECT_EQ(parsed.policy.rules[0].conditions.at(0).patterns.at(0).value, odd);
}

// A user may give a cgroup of the user's own any name.
class UnitProcesses : public Files {};
TEST_F(UnitProcesses, AreThoseThatSystemdHasInIt) {
  const std::pair<const char*, const char*> rows[] = {
      {"11", "/system.slice/redis.service"},
      {"12", "/system.slice/redis.service/payload"},
      {"13", "/x/redis.service"},
      {"14", "/user.slice/user-1000.slice/user@1000.service/app.slice/redis.service"},
      {"15", "/user.slice/user-1000.slice/session-1.scope/redis.service"}};
  for (const auto& [pid, cgroup] : rows) {
    put(fmt::format("proc/{}/comm", pid), "x\n");
    put(fmt::format("proc/{}/cgroup", pid), fmt::format("0::{}\n", cgroup));
  }
  const Context context{.proc = (root_ / "proc").string()};
  const auto of = [&](const char* unit) {
    auto pids = *processes_of_unit(context, unit);
    std::ranges::sort(pids);
    return pids;
  };
  EXPECT_EQ(of("redis.service"), (std::vector<pid_t>{11, 12}));
  EXPECT_EQ(of("system.slice"), (std::vector<pid_t>{11, 12}));
  EXPECT_EQ(of("user@1000.service"), std::vector<pid_t>{14});
  EXPECT_EQ(of("payload"), std::vector<pid_t>{});
}

}  // namespace
}  // namespace rdtd
