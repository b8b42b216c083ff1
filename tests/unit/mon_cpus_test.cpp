// monitor_cpus: monitoring groups that count by CPU.
#include <gtest/gtest.h>

#include "policy_support.hpp"
#include "rdtd/plan/prepare.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

using test::after;
using test::machine;
using test::plan_text;
using test::untouched;

const test::PolicyAndErrors errors[] = {
    {"[group.default]\nmonitor_cpus = \"0-3\"\n",
     R"(p.toml:2:16: error: 'monitor_cpus' must be a table from monitoring groups to their CPUs, not a string
    2 | monitor_cpus = "0-3"
      |                ^~~~~ write monitor_cpus = { NAME = "0-3" }
)"},
    {"[group.default]\nmonitor_cpus = {}\n",
     R"(p.toml:2:16: error: 'monitor_cpus' is an empty table
    2 | monitor_cpus = {}
      |                ^~ write monitor_cpus = { NAME = "0-3" }
)"},
    {"[group.default]\nmonitor_cpus = { \"a b\" = 1 }\n",
     R"(p.toml:2:18: error: 'a b' cannot be the name of a monitoring group: a name consists of letters, digits, '.', '_' and '-'
    2 | monitor_cpus = { "a b" = 1 }
      |                  ^~~~~
)"},
    {"[group.default]\nmonitor_cpus = { \"{unit}\" = 1 }\n",
     R"(p.toml:2:18: error: '{unit}' cannot be the name of a monitoring group: a name consists of letters, digits, '.', '_' and '-'
    2 | monitor_cpus = { "{unit}" = 1 }
      |                  ^~~~~~~~
)"},
    {"[group.default]\nmonitor_cpus = { a = true }\n",
     R"(p.toml:2:22: error: 'a' must be a string, an integer or an array of integers, not a boolean
    2 | monitor_cpus = { a = true }
      |                      ^~~~ for example "0-3,8"
)"},
    {"[group.default]\nmonitor_cpus = { a = [], b = \"3-1\" }\n",
     R"(p.toml:2:22: error: 'a' is an empty array
    2 | monitor_cpus = { a = [], b = "3-1" }
      |                      ^~
p.toml:2:30: error: '3-1' is not a CPU list: the range '3-1' ends before it begins
    2 | monitor_cpus = { a = [], b = "3-1" }
      |                              ^~~~~ for example "0-3,8"
)"},
    {"[group.default]\nmonitor_cpus = { a = \"0-3\", b = [9, 2] }\n",
     R"(p.toml:2:33: error: CPU 2 is given to two monitoring groups of 'default': here and to 'a' in p.toml:2
    2 | monitor_cpus = { a = "0-3", b = [9, 2] }
      |                                 ^~~~~~
)"},
    {"[group.default]\nmonitor_cpus = { a = \"0-3\" }\n[group.b]\ncpus = \"2-7\"\n",
     R"(p.toml:2:22: error: CPUs 2-3 of monitoring group 'default/a' are given to group 'b' in p.toml:4
    2 | monitor_cpus = { a = "0-3" }
      |                      ^~~~~ write 'monitor_cpus' in [group.b]
)"},
    {"[group.b]\nmonitor_cpus = { a = 1 }\n",
     R"(p.toml:2:22: error: group 'b' has no 'cpus' of which 'monitor_cpus' could be a part
    2 | monitor_cpus = { a = 1 }
      |                      ^ write 'cpus' in the group, or 'monitor_cpus' in [group.default]
)"},
    {"[group.b]\ncpus = \"zz\"\nmonitor_cpus = { a = 1 }\n",
     R"(p.toml:2:8: error: 'zz' is not a CPU list: 'zz' is not a number
    2 | cpus = "zz"
      |        ^~~~ for example "0-3,8"
)"},
    {"[group.b]\ncpus = \"1-2,5-6,9\"\nmonitor_cpus = { a = \"1-2\", b = \"5-9\", c = 0 }\n",
     R"(p.toml:3:33: error: CPUs 7-8 of monitoring group 'b/b' are not in 'cpus' of the group
    3 | monitor_cpus = { a = "1-2", b = "5-9", c = 0 }
      |                                 ^~~~~
p.toml:3:44: error: CPU 0 of monitoring group 'b/c' is not in 'cpus' of the group
    3 | monitor_cpus = { a = "1-2", b = "5-9", c = 0 }
      |                                            ^
)"},
};

TEST(MonCpus, Errors) { test::expect_errors(errors); }

const std::string counting = "[group.default]\nmonitor_cpus = { a = \"0-1\" }\n";
const std::string own = "[group.g]\ncpus = \"2-3\"\nmonitor_cpus = { b = 2 }\n";

TEST(MonCpus, Steps) {
  const Capabilities capabilities = machine(20, 1);
  const struct {
    std::string from;
    std::string to;
    std::string plan;
  } rows[] = {
      {"", counting,
       "create    default/a\ncpus      default/a  0-1 (was none)\n"
       "2 steps; monitoring groups: 1 to create.\n"},
      {"", own,
       "create    g\nschemata  g  L3:0=fffff MB:0=100\ncpus      g  2-3 (was none)\n"
       "create    g/b\ncpus      g/b  2 (was none)\n"
       "5 steps; groups: 1 to create, 0 to change, 0 to remove; monitoring groups: 1 to create.\n"},
      {own, own, "Nothing to change.\n"},
      {counting, "[group.default]\nmonitor_cpus = { a = 1, b = 0 }\n",
       "cpus      default/a  1 (was 0-1)\ncreate    default/b\ncpus      default/b  0 (was none)\n"
       "3 steps; monitoring groups: 1 to create, 1 to change.\n"},
      // They swap.
      {"[group.default]\nmonitor_cpus = { a = 1, b = 0 }\n",
       "[group.default]\nmonitor_cpus = { a = 0, b = 1 }\n",
       "cpus      default/a  0 (was 1)\ncpus      default/b  1 (was none)\n"
       "2 steps; monitoring groups: 2 to change.\n"},
      // A rule may name the same monitoring group, and keeps it.
      {counting, "[[rule]]\ngroup = \"default\"\nname = \"x\"\nmonitor = \"a\"\n",
       "cpus      default/a  none (was 0-1)\n1 step; monitoring groups: 1 to change.\n"},
      // The kernel takes the CPUs of all monitoring groups when it gives a group other CPUs.
      {own, "[group.g]\ncpus = \"1-3\"\nmonitor_cpus = { b = 2 }\n",
       "cpus      g  1-3 (was 2-3)\ncpus      g/b  2 (was none)\n"
       "2 steps; groups: 0 to create, 1 to change, 0 to remove; monitoring groups: 1 to change.\n"},
      // A group that goes does so last, and gives them up before.
      {own, "[group.default]\nmonitor_cpus = { a = \"2-3\" }\n",
       "cpus      g  none (was 2-3)\ncreate    default/a\ncpus      default/a  2-3 (was none)\n"
       "remove    g\n4 steps; groups: 0 to create, 0 to change, 1 to remove; monitoring groups: 1 "
       "to "
       "create.\n"},
      // What is there gives them up before others are made.
      {"[group.default]\nmonitor_cpus = { b = 1 }\n",
       "[group.default]\nmonitor_cpus = { a = 1 }\n"
       "[[rule]]\ngroup = \"default\"\nname = \"x\"\nmonitor = \"b\"\n",
       "cpus      default/b  none (was 1)\ncreate    default/a\ncpus      default/a  1 (was none)\n"
       "3 steps; monitoring groups: 1 to create, 1 to change.\n"},
      {counting, counting + "[group.g]\ncpus = \"2-3\"\n",
       "create    g\nschemata  g  L3:0=fffff MB:0=100\ncpus      g  2-3 (was none)\n"
       "3 steps; groups: 1 to create, 0 to change, 0 to remove.\n"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(
        plan_text(row.to, capabilities, after(row.from, capabilities, untouched(capabilities))),
        row.plan)
        << row.from << "-- to\n"
        << row.to;
}

struct OfMachine {
  const char* name;
  void (*change)(Capabilities&, Snapshot&);
  std::string policy;
  std::string text;
};

const std::vector<OfMachine>& machines() {
  static const std::vector<OfMachine> rows = {
      {"no monitoring", [](Capabilities& c, Snapshot&) { c.num_rmids.reset(); }, counting,
       "p.toml:2:18: error: 'monitor_cpus': resctrl monitors nothing here\n    2 | monitor_cpus = "
       "{ "
       "a = \"0-1\" }\n      |                  ^\n"},
      {"no monitoring, which the policy allows",
       [](Capabilities& c, Snapshot&) { c.num_rmids.reset(); },
       "[daemon]\nunsupported = \"skip\"\n" + counting,
       "p.toml:4:18: warning: not available on this machine, left out: 'monitor_cpus': resctrl "
       "monitors nothing here\n    4 | monitor_cpus = { a = \"0-1\" }\n      |                  ^\n"
       "Nothing to change.\n"},
      {"a single RMID for each CLOSID, which the policy allows",
       [](Capabilities& c, Snapshot&) {
         c.rmids_per_closid = true;
         c.num_rmids = c.num_closids();
       },
       "[daemon]\nunsupported = \"skip\"\n" + counting,
       "p.toml:4:18: warning: not available on this machine, left out: 'monitor_cpus': a control "
       "group has a single RMID here, which is its own\n    4 | monitor_cpus = { a = \"0-1\" }\n"
       "      |                  ^\nNothing to change.\n"},
      // What a group was to count is counted all the same.
      {"nothing but monitoring, which the policy allows",
       [](Capabilities& c, Snapshot& s) {
         c.caches.clear();
         c.bandwidths.clear();
         s = untouched(c);
       },
       "[daemon]\nunsupported = \"skip\"\n" + own + counting,
       "p.toml:3:8: warning: not available on this machine, left out: group 'g': resctrl divides "
       "nothing here, so that there is only the default group\n    3 | [group.g]\n      |        "
       "^\n"
       "create    default/a\ncreate    default/b\ncpus      default/a  0-1 (was none)\n"
       "cpus      default/b  2 (was none)\n"
       "4 steps; monitoring groups: 2 to create.\n"},
      {"a CPU that there is not",
       [](Capabilities&, Snapshot& s) { s.possible_cpus = CpuSet{0, 1, 2, 3}; },
       "[group.default]\nmonitor_cpus = { a = \"3-5\" }\n",
       "p.toml:2:22: error: this machine cannot have CPUs 4-5\n    2 | monitor_cpus = { a = "
       "\"3-5\" "
       "}\n      |                      ^~~~~ it can have 0-3\n"},
      {"a CPU that is offline",
       [](Capabilities&, Snapshot& s) { s.groups.at("").cpus = {0, 2, 3}; }, counting,
       "create    default/a\ncpus      default/a  0 (was none)\n"
       "2 steps; monitoring groups: 1 to create.\n"},
      {"another tool counts there",
       [](Capabilities&, Snapshot& s) {
         s.mon_groups = {"mon_groups/pqos"};
         s.mon_cpus = {{"mon_groups/pqos", {1}}};
       },
       counting,
       "p.toml:2:22: error: CPU 1 belongs to monitoring group 'default/pqos', which rdtd did not "
       "make\n    2 | monitor_cpus = { a = \"0-1\" }\n      |                      ^~~~~\n"},
      {"another tool has the CPU",
       [](Capabilities&, Snapshot& s) {
         s.groups.at("").cpus = {0, 2, 3};
         s.groups["theirs"] = test::group_state("L3:0=f\nMB:0=100\n");
         s.groups["theirs"].cpus = {1};
       },
       counting,
       "p.toml:2:22: error: CPU 1 belongs to group 'theirs', which rdtd did not make\n    2 | "
       "monitor_cpus = { a = \"0-1\" }\n      |                      ^~~~~\n"},
      {"another tool counts on CPUs that become a group's",
       [](Capabilities&, Snapshot& s) {
         s.mon_groups = {"mon_groups/pqos"};
         s.mon_cpus = {{"mon_groups/pqos", {1, 2}}};
       },
       "[group.g]\ncpus = \"2-3\"\n",
       "p.toml:2:8: warning: monitoring group 'default/pqos', which rdtd did not make, loses CPU "
       "2\n    "
       "2 | cpus = \"2-3\"\n      |        ^~~~~\n"
       "create    g\nschemata  g  L3:0=fffff MB:0=100\ncpus      g  2-3 (was none)\n"
       "3 steps; groups: 1 to create, 0 to change, 0 to remove.\n"},
      // The kernel takes its CPUs away, but not on purpose.
      {"another tool counts elsewhere in the group",
       [](Capabilities& c, Snapshot& s) {
         s = after("[group.g]\ncpus = \"2-3\"\n", c, s);
         s.mon_groups = {"g/mon_groups/theirs"};
         s.mon_cpus = {{"g/mon_groups/theirs", {2, 3}}};
       },
       "[group.g]\ncpus = \"1-2\"\n",
       "p.toml:2:8: warning: monitoring group 'g/theirs', which rdtd did not make, loses CPU 3\n   "
       " 2 "
       "| cpus = \"1-2\"\n      |        ^~~~~\n"
       "cpus      g  1-2 (was 2-3)\ncpus      g/theirs  2 (was none)\n"
       "2 steps; groups: 0 to create, 1 to change, 0 to remove; monitoring groups: 1 to change.\n"},
  };
  return rows;
}

TEST(MonCpus, OfTheMachine) {
  const Capabilities capabilities = machine(20, 1);
  for (const OfMachine& row : machines()) {
    Capabilities changed = capabilities;
    Snapshot snapshot = untouched(capabilities);
    row.change(changed, snapshot);
    EXPECT_EQ(plan_text(row.policy, changed, snapshot), row.text) << row.name;
  }
}

// While another tool counts on the CPU, the rest of the policy is in force.
TEST(MonCpus, WaitForAnotherTool) {
  Machine busy{.capabilities = machine(20, 1), .snapshot = untouched(machine(20, 1))};
  busy.snapshot.mon_groups = {"mon_groups/pqos"};
  busy.snapshot.mon_cpus = {{"mon_groups/pqos", {1}}};
  const PolicyFile file{.path = "p.toml", .text = counting + own};
  const auto prepared = prepare_what_fits({&file, 1}, busy);
  ASSERT_TRUE(prepared);
  ASSERT_EQ(prepared->missing.size(), 1U);
  EXPECT_EQ(prepared->missing[0].what, "the monitoring groups of 'default' are");
  EXPECT_EQ(prepared->missing[0].reason,
            "CPU 1 belongs to monitoring group 'default/pqos', which rdtd did not make");
  EXPECT_EQ(
      format_plan(prepared->plan),
      "create    g\nschemata  g  L3:0=fffff MB:0=100\ncpus      g  2-3 (was none)\n"
      "create    g/b\ncpus      g/b  2 (was none)\n"
      "5 steps; groups: 1 to create, 0 to change, 0 to remove; monitoring groups: 1 to create.\n");
}

}  // namespace
}  // namespace rdtd
