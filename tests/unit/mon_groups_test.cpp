// The monitoring groups that rules name: which steps make and remove them, and what is refused.
#include <gtest/gtest.h>

#include "rdtd/plan/prepare.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

using test::after;
using test::group_state;
using test::machine;
using test::plan_text;
using test::untouched;

std::string rule_of(const std::string& group, const std::string& monitor = "") {
  return "[[rule]]\ngroup = \"" + group + "\"\nname = \"x\"\n" +
         (monitor.empty() ? "" : "monitor = \"" + monitor + "\"\n");
}

const std::string redis = "[group.redis]\n";

TEST(MonGroups, Steps) {
  const Capabilities capabilities = machine(20, 1);
  const struct {
    std::string from;
    std::string to;
    std::string plan;
  } rows[] = {
      {"", redis + rule_of("redis", "web"),
       "create    redis\nschemata  redis  L3:0=fffff MB:0=100\ncreate    redis/web\n"
       "3 steps; groups: 1 to create, 0 to change, 0 to remove; monitoring groups: 1 to create.\n"},
      // A policy that divides nothing may monitor.
      {"", rule_of("default", "web") + rule_of("default", "db") + rule_of("default", "web"),
       "create    default/db\ncreate    default/web\n"
       "2 steps; monitoring groups: 2 to create.\n"},
      {redis + rule_of("redis", "web"), redis + rule_of("redis", "db"),
       "create    redis/db\nremove    redis/web\n"
       "2 steps; monitoring groups: 1 to create, 1 to remove.\n"},
      {rule_of("default", "web"), "",
       "remove    default/web\n1 step; monitoring groups: 1 to remove.\n"},
      // It goes with its control group.
      {redis + rule_of("redis", "web"), "",
       "remove    redis\n1 step; groups: 0 to create, 0 to change, 1 to remove.\n"},
      {redis + rule_of("redis", "web"), redis + rule_of("redis", "web"), "Nothing to change.\n"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(
        plan_text(row.to, capabilities, after(row.from, capabilities, untouched(capabilities))),
        row.plan)
        << row.from << "-- to\n"
        << row.to;
}

// No control group goes early for a counter: its processes would lose their limits. A monitoring
// group does, for a new group of either kind.
TEST(MonGroups, FewRmids) {
  Capabilities capabilities = machine(20, 1);
  capabilities.num_rmids = 3;
  const Snapshot snapshot =
      after(redis + rule_of("redis", "web"), capabilities, untouched(capabilities));
  EXPECT_EQ(plan_text(redis + rule_of("redis", "db"), capabilities, snapshot),
            "remove    redis/web\ncreate    redis/db\n"
            "2 steps; monitoring groups: 1 to create, 1 to remove.\n");
  capabilities.num_rmids = 4;
  EXPECT_EQ(plan_text(redis + rule_of("redis", "db"), capabilities, snapshot),
            "create    redis/db\nremove    redis/web\n"
            "2 steps; monitoring groups: 1 to create, 1 to remove.\n");
  // Those of each CLOSID (MPAM): all but one are for monitoring groups.
  capabilities.rmids_per_closid = true;
  for (const unsigned of_each : {2, 3}) {
    capabilities.num_rmids = of_each * capabilities.num_closids();
    EXPECT_EQ(plan_text(redis + rule_of("redis", "db"), capabilities, snapshot),
              of_each == 2 ? "remove    redis/web\ncreate    redis/db\n"
                             "2 steps; monitoring groups: 1 to create, 1 to remove.\n"
                           : "create    redis/db\nremove    redis/web\n"
                             "2 steps; monitoring groups: 1 to create, 1 to remove.\n");
  }
  capabilities.rmids_per_closid = false;
  capabilities.num_rmids = 3;
  EXPECT_EQ(plan_text(rule_of("default", "a") + rule_of("default", "b"), capabilities, snapshot),
            "create    default/a\ncreate    default/b\nremove    redis\n"
            "3 steps; groups: 0 to create, 0 to change, 1 to remove; monitoring groups: 2 to "
            "create.\n");
  EXPECT_EQ(plan_text(redis + "[group.b]\n", capabilities, snapshot),
            "remove    redis/web\ncreate    b\nschemata  b  L3:0=fffff MB:0=100\n"
            "3 steps; groups: 1 to create, 0 to change, 0 to remove; monitoring groups: 1 to "
            "remove.\n");
}

TEST(MonGroups, Refusals) {
  const struct {
    const char* name;
    void (*change)(Capabilities&, Snapshot&);
    std::string policy;
    std::string text;
  } rows[] = {
      {"no monitoring", [](Capabilities& c, Snapshot&) { c.num_rmids.reset(); },
       rule_of("default", "a") + rule_of("default", "b"),
       "p.toml:4:11: error: 'monitor': resctrl monitors nothing here\n    4 | monitor = \"a\"\n    "
       "  |           ^~~\n"},
      {"no monitoring, which the policy allows",
       [](Capabilities& c, Snapshot&) { c.num_rmids.reset(); },
       "[daemon]\nunsupported = \"skip\"\n" + rule_of("default", "a"),
       "p.toml:6:11: warning: not available on this machine, left out: 'monitor': resctrl monitors "
       "nothing here\n    6 | monitor = \"a\"\n      |           ^~~\nNothing to change.\n"},
      {"nothing but monitoring",
       [](Capabilities& c, Snapshot& s) {
         c.caches.clear();
         c.bandwidths.clear();
         s = untouched(c);
       },
       redis + rule_of("redis", "a"),
       "p.toml:1:8: error: group 'redis': resctrl divides nothing here, so that there is only the "
       "default group\n    1 | [group.redis]\n      |        ^~~~~\n"},
      {"nothing but monitoring, which the policy allows",
       [](Capabilities& c, Snapshot& s) {
         c.caches.clear();
         c.bandwidths.clear();
         s = untouched(c);
       },
       "[daemon]\nunsupported = \"skip\"\n" + redis + "l3 = \"2 ways\"\n" + rule_of("redis", "a"),
       "p.toml:3:8: warning: not available on this machine, left out: group 'redis': resctrl "
       "divides nothing here, so that there is only the default group\n    3 | [group.redis]\n    "
       "  |        ^~~~~\ncreate    default/a\n1 step; monitoring groups: 1 to create.\n"},
      {"nothing but monitoring, and no group",
       [](Capabilities& c, Snapshot& s) {
         c.caches.clear();
         c.bandwidths.clear();
         s = untouched(c);
       },
       rule_of("default", "a"), "create    default/a\n1 step; monitoring groups: 1 to create.\n"},
      {"another tool's in the default group",
       [](Capabilities&, Snapshot& s) { s.mon_groups = {"mon_groups/a"}; }, rule_of("default", "a"),
       "p.toml:4:11: error: monitoring group 'default/a' exists in resctrl already and rdtd did "
       "not make it\n    4 | monitor = \"a\"\n      |           ^~~ choose another name, or remove "
       "that group\n"},
      {"another tool's in a group of rdtd",
       [](Capabilities&, Snapshot& s) {
         s.groups["redis"] = group_state("L3:0=fffff\nMB:0=100\n");
         s.owned = {"", "redis"};
         s.mon_groups = {"redis/mon_groups/a"};
       },
       redis + rule_of("redis", "a"),
       "p.toml:5:11: error: monitoring group 'redis/a' exists in resctrl already and rdtd did not "
       "make it\n    5 | monitor = \"a\"\n      |           ^~~ choose another name, remove that "
       "group, or take it over with adopt = true in [group.redis]\n"},
      {"the same with adopt",
       [](Capabilities&, Snapshot& s) {
         s.groups["redis"] = group_state("L3:0=fffff\nMB:0=100\n");
         s.mon_groups = {"redis/mon_groups/a"};
         s.inodes = {{"redis", 5}, {"redis/mon_groups/a", 6}};
         s.owned = {""};
       },
       redis + "adopt = true\n" + rule_of("redis", "a"),
       "adopt     redis\nadopt     redis/a\n2 steps; groups: 0 to create, 1 to change, 0 to "
       "remove; monitoring groups: 1 to change.\n"},
      {"RMIDs, without a group",
       [](Capabilities& c, Snapshot& s) {
         c.num_rmids = 3;
         s.mon_groups = {"mon_groups/theirs"};
       },
       rule_of("default", "a") + rule_of("default", "b"),
       "p.toml:8:11: error: 2 monitoring groups asked for (default/a, default/b), 3 RMIDs here: 1 "
       "is the default group's, 1 taken by a monitoring group that rdtd did not make "
       "(default/theirs)\n    8 "
       "| monitor = \"b\"\n      |           ^~~\n"},
      {"RMIDs, with a group", [](Capabilities& c, Snapshot&) { c.num_rmids = 2; },
       redis + rule_of("redis", "a"),
       "p.toml:5:11: error: 1 group and 1 monitoring group asked for (redis, redis/a), 2 RMIDs "
       "here: 1 is the default group's\n    5 | monitor = \"a\"\n      |           ^~~\n"},
  };
  for (const auto& row : rows) {
    Capabilities capabilities = machine(20, 1);
    Snapshot snapshot = untouched(capabilities);
    row.change(capabilities, snapshot);
    EXPECT_EQ(plan_text(row.policy, capabilities, snapshot), row.text) << row.name;
  }
}

// Each CLOSID has its own RMIDs (MPAM): control groups need none, and monitoring groups are limited
// in each of them.
TEST(MonGroups, RmidsOfClosids) {
  Capabilities capabilities = machine(20, 1);
  capabilities.rmids_per_closid = true;
  Snapshot snapshot = untouched(capabilities);
  snapshot.mon_groups = {"mon_groups/theirs"};
  const std::string two_groups = "[group.a]\n[group.b]\n";
  const std::string two_in_a = two_groups + rule_of("a", "x") + rule_of("a", "y");
  const std::string steps =
      "create    a\nschemata  a  L3:0=fffff MB:0=100\ncreate    b\nschemata  b  L3:0=fffff "
      "MB:0=100\n";
  const struct {
    unsigned num_rmids;
    std::string policy;
    std::string text;
  } rows[] = {
      {1, two_groups, steps + "4 steps; groups: 2 to create, 0 to change, 0 to remove.\n"},
      // The kernel does not say how many there are.
      {2, two_in_a,
       steps + "create    a/x\ncreate    a/y\n6 steps; groups: 2 to create, 0 to change, 0 to "
               "remove; monitoring groups: 2 to create.\n"},
      {24, two_in_a,
       steps + "create    a/x\ncreate    a/y\n6 steps; groups: 2 to create, 0 to change, 0 to "
               "remove; monitoring groups: 2 to create.\n"},
      {16, two_in_a,
       "p.toml:10:11: error: 2 monitoring groups asked for (a/x, a/y), and each control group has "
       "2 "
       "RMIDs here: 1 is its own\n   10 | monitor = \"y\"\n      |           ^~~\n"},
      {8, two_groups + rule_of("b", "x"),
       "p.toml:6:11: error: 'monitor': a control group has a single RMID here, which is its own\n"
       "    6 | monitor = \"x\"\n      |           ^~~\n"},
      {8, "[daemon]\nunsupported = \"skip\"\n" + two_groups + rule_of("b", "x"),
       "p.toml:8:11: warning: not available on this machine, left out: 'monitor': a control group "
       "has a single RMID here, which is its own\n    8 | monitor = \"x\"\n      |           "
       "^~~\n" +
           steps + "4 steps; groups: 2 to create, 0 to change, 0 to remove.\n"},
      {16, rule_of("default", "x"),
       "p.toml:4:11: error: 1 monitoring group asked for (default/x), and each control group has 2 "
       "RMIDs here: 1 is its own, 1 taken by a monitoring group that rdtd did not make "
       "(default/theirs)\n    "
       "4 "
       "| monitor = \"x\"\n      |           ^~~\n"},
  };
  for (const auto& row : rows) {
    capabilities.num_rmids = row.num_rmids;
    EXPECT_EQ(plan_text(row.policy, capabilities, snapshot), row.text) << row.policy;
  }
}

// A CLOSID has two PARTIDs then, and the kernel still counts the RMIDs of all of them.
TEST(MonGroups, RmidsOfClosidsWithCodeAndData) {
  Capabilities capabilities = machine(20, 1);
  EXPECT_EQ(capabilities.rmids_of_closid(), std::nullopt);
  capabilities.rmids_per_closid = true;
  const unsigned closids = capabilities.num_closids();
  capabilities.num_rmids = 4 * closids;
  EXPECT_EQ(capabilities.rmids_of_closid(), 4U);
  auto cache = capabilities.caches.extract(Resource::L3);
  capabilities.caches[Resource::L3CODE] = capabilities.caches[Resource::L3DATA] = cache.mapped();
  EXPECT_EQ(capabilities.rmids_of_closid(), 2U);
  capabilities.num_rmids = 2 * closids - 1;
  EXPECT_EQ(capabilities.rmids_of_closid(), std::nullopt);
}

TEST(MonGroups, Differences) {
  const Capabilities capabilities = machine(20, 1);
  const std::string policy = redis + rule_of("redis", "web");
  const auto plan = make_plan(test::parse(policy).policy, capabilities, untouched(capabilities));
  ASSERT_TRUE(plan);
  Snapshot snapshot = after(policy, capabilities, untouched(capabilities));
  const auto text = [&] {
    std::string out;
    for (const Difference& difference : differences(plan->groups, plan->locks, plan->io, snapshot))
      out += difference.group + ": " + difference.text + "\n";
    return out;
  };
  EXPECT_EQ(text(), "");
  snapshot.owned.erase("redis/mon_groups/web");
  EXPECT_EQ(text(),
            "redis/mon_groups/web: monitoring group 'redis/web' was removed and made again by "
            "another tool\n");
  snapshot.mon_groups.clear();
  EXPECT_EQ(text(), "redis/mon_groups/web: monitoring group 'redis/web' is not there\n");
}

// Where the machine is short of RMIDs because of other tools, the groups are had without their
// monitoring groups.
TEST(MonGroups, WhatFits) {
  Machine machine{test::machine(20, 1), {}, {}};
  machine.capabilities.num_rmids = 4;
  machine.snapshot = untouched(machine.capabilities);
  machine.snapshot.mon_groups = {"mon_groups/theirs"};
  const std::string policy = redis + rule_of("redis", "a") + rule_of("default", "b");
  const std::vector<PolicyFile> files = {{.path = "p.toml", .text = policy}};
  EXPECT_FALSE(prepare(files, machine));
  const auto prepared = prepare_what_fits(files, machine);
  ASSERT_TRUE(prepared);
  EXPECT_EQ(
      format_plan(prepared->plan),
      "create    redis\nschemata  redis  L3:0=fffff MB:0=100\ncreate    default/b\n"
      "3 steps; groups: 1 to create, 0 to change, 0 to remove; monitoring groups: 1 to create.\n");
  ASSERT_EQ(prepared->missing.size(), 1U);
  EXPECT_EQ(prepared->missing[0].what, "the monitoring groups of 'redis' are");
  EXPECT_EQ(prepared->missing[0].reason,
            "1 group and 2 monitoring groups asked for (redis, default/b, redis/a), 4 RMIDs here: "
            "1 is the default group's, 1 taken by a monitoring group that rdtd did not make "
            "(default/theirs)");
}

}  // namespace
}  // namespace rdtd
