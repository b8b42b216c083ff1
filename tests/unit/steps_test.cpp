// The steps from one state to another, and the differences between the two.
#include <gtest/gtest.h>

#include "support.hpp"

namespace rdtd {
namespace {

using test::after;
using test::machine;
using test::plan_text;
using test::untouched;

// From one policy to another.
TEST(Steps, Changes) {
  const Capabilities capabilities = machine(20, 1, 4);
  const struct {
    const char* from;
    const char* to;
    const char* plan;
  } rows[] = {
      // A group that held as many ways before keeps its place, even when one before it goes.
      {"[group.a]\nl3 = \"4 ways\"\n[group.b]\nl3 = \"4 ways\"\n", "[group.b]\nl3 = \"4 ways\"\n",
       "remove    a\n1 step; groups: 0 to create, 0 to change, 1 to remove.\n"},
      // A group keeps its place, even if that divides the remainder.
      {"[group.a]\nl3 = \"4 ways\"\nexclusive = true\n[group.b]\nl3 = \"4 ways\"\nexclusive = "
       "true\n",
       "[group.b]\nl3 = \"4 ways\"\nexclusive = true\n",
       "p.toml:2:6: warning: nobody fills ways 0-3 of L3 domain 0: the groups keep their places, "
       "which leaves the other ways in pieces\n    2 | l3 = \"4 ways\"\n      |      ^~~~~~~~ "
       "'rdtctl reset' and 'rdtctl reload' place all groups again\n"
       "mode      a  shareable\nremove    a\n2 steps; groups: 0 to create, 0 to change, 1 to "
       "remove.\n"},
      // What shrinks goes first, and a group that does not change is not touched.
      {"[group.a]\nl3 = \"4 ways\"\nexclusive = true\n[group.b]\nl3 = \"2 ways\"\nexclusive = "
       "true\n",
       "[group.a]\nl3 = \"4 ways\"\nexclusive = true\n[group.b]\nl3 = \"6 ways\"\nexclusive = "
       "true\n",
       "mode      b  shareable\nschemata  default  L3:0=ffc00 (was 0=fffc0)\nschemata  b  L3:0=3f0 "
       "(was 0=30)\nmode      b  exclusive\n4 steps; groups: 0 to create, 2 to change, 0 to "
       "remove.\n"},
      // Renamed with a CLOSID free: the new one stands before the old one goes.
      {"[group.a]\nl3 = \"2 ways\"\n", "[group.b]\nl3 = \"2 ways\"\n",
       "create    b\nschemata  b  L3:0=3 MB:0=100\nremove    a\n3 steps; groups: 1 to create, 0 to "
       "change, "
       "1 to remove.\n"},
      // Renamed with none free: the old one first.
      {"[group.a]\n[group.b]\n[group.c]\n", "[group.a]\n[group.b]\n[group.d]\n",
       "remove    c\ncreate    d\nschemata  d  L3:0=fffff MB:0=100\n3 steps; groups: 1 to create, "
       "0 to "
       "change, 1 to remove.\n"},
      {"[group.a]\nl3 = \"2 ways\"\nexclusive = true\n", "",
       "mode      a  shareable\nschemata  default  L3:0=fffff (was 0=ffffc)\nremove    a\n3 steps; "
       "groups: "
       "0 to create, 1 to change, 1 to remove.\n"},
      {"[group.a]\ncpus = \"1-2\"\n", "[group.a]\ncpus = \"2-3\"\n",
       "cpus      a  2-3 (was 1-2)\n1 step; groups: 0 to create, 1 to change, 0 to remove.\n"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(
        plan_text(row.to, capabilities, after(row.from, capabilities, untouched(capabilities))),
        row.plan)
        << row.from << "--\n"
        << row.to;
}

// What is offline is neither written nor drift.
TEST(Steps, OfflineCpusAndDomains) {
  const Capabilities capabilities = machine(20, 2);
  const char* policy = "[group.a]\nl3 = \"4 ways\"\ncpus = \"2-3\"\n";
  Snapshot snapshot = after(policy, capabilities, untouched(capabilities));
  const auto plan = make_plan(test::parse(policy).policy, capabilities, snapshot);
  ASSERT_TRUE(plan);
  snapshot.groups.at("a").cpus = {2};
  for (auto& [name, state] : snapshot.groups)
    for (auto& [resource, values] : state.schemata) values.erase(DomainId{1});
  EXPECT_TRUE(steps_to(plan->groups, plan->locks, plan->io, capabilities, snapshot).steps.empty());
  snapshot.groups.erase("a");
  snapshot.groups.at("").cpus = {0, 1, 2};
  std::string steps;
  for (const Step& step :
       steps_to(plan->groups, plan->locks, plan->io, capabilities, snapshot).steps)
    steps += format_step(step) + "\n";
  EXPECT_EQ(steps, "create    a\nschemata  a  L3:0=f MB:0=100\ncpus      a  2 (was none)\n");
}

// Each difference as it stands and as it was granted, without the steps that lead back.
TEST(Steps, Differences) {
  const Capabilities capabilities = machine(20, 2);
  const char* policy =
      "[group.a]\nl3 = \"4 ways\"\nexclusive = true\ncpus = \"1\"\n[group.b]\nmb = \"50%\"\n";
  const Snapshot good = after(policy, capabilities, untouched(capabilities));
  const auto plan = make_plan(test::parse(policy).policy, capabilities, good);
  ASSERT_TRUE(plan);
  const struct {
    const char* name;
    void (*change)(Snapshot&);
    const char* differences;
  } rows[] = {
      {"none", [](Snapshot&) {}, ""},
      {"a mask", [](Snapshot& s) { s.groups.at("a").schemata[Resource::L3][DomainId{0}] = 0xff; },
       "group 'a': L3:0=ff, granted L3:0=f\n"},
      {"two resources",
       [](Snapshot& s) {
         s.groups.at("b").schemata[Resource::L3][DomainId{1}] = 1;
         s.groups.at("b").schemata[Resource::MB] = {{DomainId{0}, 10}, {DomainId{1}, 20}};
       },
       "group 'b': L3:1=1 MB:0=10;1=20, granted L3:1=ffff0 MB:0-1=50\n"},
      {"the mode", [](Snapshot& s) { s.groups.at("a").mode = Mode::shareable; },
       "group 'a': mode shareable, granted exclusive\n"},
      {"CPUs", [](Snapshot& s) { std::swap(s.groups.at("a").cpus, s.groups.at("b").cpus); },
       "group 'a': CPUs none, granted 1\ngroup 'b': CPUs 1, granted none\n"},
      {"gone", [](Snapshot& s) { s.groups.erase("b"); }, "group 'b' is not there\n"},
      {"the default group",
       [](Snapshot& s) { s.groups.at("").schemata[Resource::L3][DomainId{0}] = 3; },
       "group 'default': L3:0=3, granted L3:0=ffff0\n"},
      {"another's", [](Snapshot& s) { s.groups["c"] = s.groups.at("b"); }, ""},
  };
  for (const auto& row : rows) {
    Snapshot snapshot = good;
    row.change(snapshot);
    std::string found;
    for (const Difference& difference : differences(plan->groups, plan->locks, plan->io, snapshot))
      found += difference.text + "\n";
    EXPECT_EQ(found, row.differences) << row.name;
  }
}

}  // namespace
}  // namespace rdtd
