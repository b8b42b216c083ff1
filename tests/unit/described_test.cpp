// Rules and processes that are only described.
#include <gtest/gtest.h>

#include "rdtd/rules/explain.hpp"
#include "rules_support.hpp"

namespace rdtd {
namespace {

using test::rule;
using test::rules;
using enum ConditionKind;

TEST(Described, Conditions) {
  const struct {
    std::string condition;
    ProcessDescription process;
    std::string expected;  // "yes", the value that decides, or the reason
  } rows[] = {
      {"name = \"redis*\"\n", {{{name, "redis-server"}}, {}}, "yes"},
      {"name = \"redis\"\n", {{{name, "bash"}}, {}}, "name is 'bash', not 'redis'"},
      {"name = \"redis\"\n", {{{exe, "/bin/a"}}, {}}, "needs name"},
      {"exe = [\"/bin/*\", \"/sbin/a\"]\n", {{{exe, "/bin/a"}}, {}}, "yes"},
      {"exe = \"/bin/*\"\n", {{{exe, "/sbin/a"}}, {}}, "exe is '/sbin/a', not '/bin/*'"},
      {"exe = \"/bin/*\"\n", {{{name, "a"}}, {}}, "needs exe"},
      {"cmdline = \"* --fast\"\n", {{{cmdline, "a --fast"}}, {}}, "yes"},
      {"cmdline = \"* --fast\"\n", {{{name, "a"}}, {}}, "needs cmdline"},
      // A condition that fails decides, whatever is not known of the others.
      {"name = \"a\"\nexe = \"/bin/a\"\n",
       {{{exe, "/bin/b"}}, {}},
       "exe is '/bin/b', not '/bin/a'"},
      {"name = \"a\"\nexe = \"/bin/a\"\n", {{{exe, "/bin/a"}}, {}}, "needs name"},
      // Where users are looked up, a name without a number is nobody's.
      {"user = \"ghost\"\n",
       {{{user, "root"}}, {{user, 0}}, true},
       "there is no user 'ghost' here"},
      {"user = \"ghost\"\n", {{{name, "a"}}, {}, true}, "there is no user 'ghost' here"},
      {"user_group = \"ghosts\"\n", {{}, {}, true}, "there is no user group 'ghosts' here"},
      {"user = [\"ghost\", \"0\"]\n", {{{name, "a"}}, {}, true}, "needs user"},
      {"user = \"ghost\"\n", {{{user, "ghost"}}, {}}, "yes"},
      // Units.
      {"unit = \"a.service\"\n", {{{unit, "a.service"}}, {}}, "yes"},
      {"unit = \"a@*.service\"\n", {{{unit, "a@1.service"}}, {}}, "yes"},
      {"unit = \"a.service\"\n",
       {{{unit, "b.service"}}, {}},
       "unit is 'b.service', not 'a.service'"},
      {"unit = \"a@*.service\"\n",
       {{{unit, "b.service"}}, {}},
       "unit is 'b.service', not 'a@*.service'"},
      {"unit = \"system.slice\"\n", {{{unit, "b.service"}}, {}}, "needs cgroup"},
      {"unit = \"s*\"\n", {{{unit, "b.service"}}, {}}, "needs cgroup"},
      {"unit = \"a.service\"\n", {{{user_unit, "a.service"}}, {}}, "needs unit"},
      {"user_unit = \"a.service\"\n", {{{user_unit, "a.service"}}, {}}, "yes"},
      {"user_unit = \"a.service\"\n",
       {{{unit, "b.service"}}, {}},
       "unit 'b.service' has no user_unit, rule requires 'a.service'"},
      {"user_unit = \"a.service\"\n", {{{unit, "user@1000.service"}}, {}}, "needs user_unit"},
      {"user_unit = \"a.service\"\n", {{{name, "a"}}, {}}, "needs user_unit"},
      {"cgroup = \"/system.slice\"\n", {{{unit, "b.service"}}, {}}, "needs cgroup"},
      {"cgroup = \"/system.slice\"\n", {{{cgroup, "/system.slice/b.service"}}, {}}, "yes"},
      {"unit = \"system.slice\"\n", {{{cgroup, "/system.slice/b.service"}}, {}}, "yes"},
      {"unit = \"a.service\"\n",
       {{{cgroup, "/system.slice/b.service"}}, {}},
       "unit is 'b.service', not 'a.service'"},
      {"user_unit = \"a.service\"\n",
       {{{cgroup, "/system.slice/b.service"}}, {}},
       "cgroup '/system.slice/b.service' has no user_unit, rule requires 'a.service'"},
      {"vm = \"web\"\n", {{{unit, "b.service"}}, {}}, "needs cgroup"},
      {"vm = \"web\"\n", {{{cgroup, "/qemu.slice/web.scope"}}, {}}, "yes"},
      {"vm = \"web\"\n", {{{cgroup, "/qemu.slice/100.scope"}}, {}}, "vm is '100', not 'web'"},
      {"vm = \"web\"\n",
       {{{cgroup, "/system.slice/b.service"}}, {}},
       "cgroup '/system.slice/b.service' has no vm, rule requires 'web'"},
      // Users, of whom rules() knows redis (100) and the group staff (200).
      {"user = \"redis\"\n", {{{user, "redis"}}, {}}, "yes"},
      {"user = \"redis\"\n", {{{user, "100"}}, {{user, 100}}}, "yes"},
      {"user = \"100\"\n", {{{user, "redis"}}, {{user, 100}}}, "yes"},
      {"user = \"redis\"\n", {{{user, "0"}}, {{user, 0}}}, "user is '0', not 'redis' (100)"},
      {"user = \"unknown\"\n",
       {{{user, "other"}}, {}},
       "user is 'other', not 'unknown' (unknown here)"},
      {"user = \"unknown\"\n", {{{user, "7"}}, {{user, 7}}}, "needs user"},
      {"user = \"7\"\n", {{{user, "unknown"}}, {}}, "needs user"},
      {"user = \"redis\"\n", {{{name, "a"}}, {}}, "needs user"},
      {"user_group = \"staff\"\n", {{{user_group, "200"}}, {{user_group, 200}}}, "yes"},
      {"user_group = \"staff\"\n", {{{user, "redis"}}, {}}, "needs user_group"},
      // Threads.
      {"name = \"a\"\nthread = \"t\"\n", {{{name, "a"}}, {}}, "thread 't' is for single threads"},
      {"name = \"a\"\nthread = \"t\"\n", {{{name, "a"}, {thread, "t"}}, {}}, "yes"},
      {"name = \"a\"\nthread = \"t\"\n",
       {{{name, "a"}, {thread, "u"}}, {}},
       "thread is 'u', not 't'"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.condition);
    const auto trials = explain(rules(rule(row.condition)), row.process);
    ASSERT_EQ(trials.size(), 1U);
    const RuleTrial& trial = trials.front();
    EXPECT_EQ(trial.matched ? "yes"
              : trial.needs ? "needs " + std::string(to_string(*trial.needs))
                            : trial.reason,
              row.expected);
  }
}

// What is not known keeps no later rule from being tried; the one that matches ends the list.
TEST(Described, ListsRulesUpToTheOneThatMatches) {
  const auto trials = explain(rules(rule("exe = \"/bin/a\"\n") + rule("name = \"b\"\n") +
                                    rule("name = \"a\"\n", "b") + rule("name = \"*\"\n")),
                              {{{name, "a"}}, {}});
  ASSERT_EQ(trials.size(), 3U);
  EXPECT_EQ(trials[0].needs, exe);
  EXPECT_EQ(trials[1].reason, "name is 'a', not 'b'");
  EXPECT_TRUE(trials[2].matched);
}

}  // namespace
}  // namespace rdtd
