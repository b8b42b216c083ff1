// What the groups and pseudo-locked regions of other tools mean for a plan.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement_support.hpp"
#include "rdtd/plan/prepare.hpp"

namespace rdtd {
namespace {

using test::exclusive;
using test::group;
using test::group_state;
using test::l3;
using test::layout;
using test::machine;
using test::plan_text;
using test::untouched;

TEST(ForeignGroups, Plans) {
  const Capabilities capabilities = machine(20, 1, 4);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["plain"] = group_state("L3:0=3\nMB:0=100\n");
  snapshot.groups["guarded"] = group_state("L3:0=c0000\nMB:0=100\n", Mode::exclusive);
  snapshot.groups.at("").schemata[Resource::L3][DomainId{0}] = 0x3ffff;
  EXPECT_EQ(
      plan_text("[group.a]\nl3 = \"ways 0-3\"\nexclusive = true\n", capabilities, snapshot),
      "p.toml:1:8: warning: group 'plain', which rdtd did not make, can fill ways 0-1 of L3 "
      "domain 0, exclusive to 'a'\n    1 | [group.a]\n      |        ^\nschemata  default  "
      "L3:0=3fff0 (was 0=3ffff)\ncreate    a\nschemata  a  L3:0=f MB:0=100\n3 steps; groups: 1 to "
      "create, 1 to change, 0 to remove.\n");
  EXPECT_EQ(
      plan_text("[group.plain]\nl3 = \"1 way\"\n", capabilities, snapshot),
      "p.toml:1:8: error: group 'plain' exists in resctrl already and rdtd did not make it\n    1 "
      "| [group.plain]\n      |        ^~~~~ choose another name, remove that group, or take it "
      "over: once with rdtctl adopt plain, always with adopt = true\n");
  snapshot.inodes["plain"] = 7;
  EXPECT_EQ(plan_text("[group.plain]\nl3 = \"1 way\"\nadopt = true\n", capabilities, snapshot),
            "adopt     plain\nschemata  plain  L3:0=1 (was 0=3)\n2 steps; groups: 0 to create, 1 "
            "to change, "
            "0 to remove.\n");
  Snapshot request = snapshot;
  request.to_adopt = {"plain", "nowhere", "guarded"};
  EXPECT_EQ(
      plan_text("[group.plain]\nl3 = \"1 way\"\n", capabilities, request),
      "adopt     plain\nschemata  plain  L3:0=1 (was 0=3)\n2 steps; groups: 0 to create, 1 to "
      "change, 0 to remove.\n");
  EXPECT_EQ(plan_text("[group.a]\n[group.b]\n", capabilities, snapshot),
            "p.toml:2:8: error: 2 groups asked for (a, b), 4 CLOSIDs here: 1 is the default "
            "group's, 2 taken by groups that rdtd did not make (guarded, plain)\n    2 | "
            "[group.b]\n      |        ^\n");
  EXPECT_EQ(plan_text("[group.a]\nl3 = \"0xc0000\"\n", capabilities, snapshot),
            "p.toml:2:6: error: a: '0xc0000' overlaps ways 18-19 of L3 domain 0, held by group "
            "'guarded', "
            "which rdtd did not make\n    2 | l3 = \"0xc0000\"\n      |      ^~~~~~~~~\n");
}

// libvirt gives a machine only ways that the default group does not have.
TEST(ForeignGroups, ADefaultGroupThatWasNarrowedIsNotWidenedInSilence) {
  const Capabilities capabilities = machine(11, 1, 4);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["qemu-1"] = group_state("L3:0=300\nMB:0=100\n");
  snapshot.groups["everywhere"] = group_state("L3:0=7ff\nMB:0=100\n");
  snapshot.groups.at("").schemata[Resource::L3][DomainId{0}] = 0xf;
  const std::string gets =
      "the default group gets ways 8-9 of L3 domain 0, so far kept from it for group 'qemu-1', "
      "which "
      "rdtd did not make";
  const std::string cure = "l3 = \"0xf\" in [group.default] leaves it as it is\n";
  const auto warns = [&](const std::string& policy) {
    return plan_text(policy, capabilities, snapshot).contains(gets);
  };
  const std::string text = plan_text("[group.db]\nl3 = \"2 ways\"\n", capabilities, snapshot);
  EXPECT_EQ(text.substr(0, text.find("schemata")),
            "p.toml:1:8: warning: " + gets + "\n    1 | [group.db]\n      |        ^~ " + cure);
  EXPECT_TRUE(warns("[group.db]\nmb = \"50%\"\n"));
  EXPECT_TRUE(warns("[partition.p]\nl3 = \"2 ways\"\n"));
  EXPECT_TRUE(warns("[group.default]\nmb = \"50%\"\n"));
  EXPECT_FALSE(warns("[group.db]\nl3 = \"2 ways\"\n[group.default]\nl3 = \"0xf\"\n"));
  EXPECT_FALSE(warns("[group.db]\nl3 = \"2 ways\"\n[group.default]\nl3 = \"all\"\n"));
  EXPECT_FALSE(warns("[[rule]]\ngroup = \"default\"\nname = \"x\"\n"));
  // What rdtd narrowed itself, it may widen.
  snapshot.owned.insert("");
  EXPECT_FALSE(warns("[group.db]\nl3 = \"2 ways\"\n"));
}

// The cure has what each domain had, and code and data where they are apart.
TEST(ForeignGroups, WhatADefaultGroupHadIsInTheCure) {
  Capabilities two = machine(11, 1, 4);
  l3(two).way_bytes[DomainId{1}] = l3(two).way_bytes.at(DomainId{0});
  Snapshot snapshot = untouched(two);
  snapshot.groups["qemu-1"] = group_state("L3:0=300;1=300\nMB:0=100\n");
  auto& now = snapshot.groups.at("").schemata;
  now[Resource::L3] = {{DomainId{0}, 0xf}, {DomainId{1}, 0x3}};
  EXPECT_TRUE(plan_text("[group.db]\nmb = \"50%\"\n", two, snapshot)
                  .contains("^~ l3 = { \"0\" = \"0xf\", \"1\" = \"0x3\" } in [group.default] "));
  EXPECT_TRUE(plan_text("[group.db]\nmb = \"50%\"\n[group.default]\nl3 = { \"0\" = \"2 ways\" }\n",
                        two, snapshot)
                  .contains("l3 = { \"1\" = \"0x3\" } in [group.default] "));
  const CacheInfo whole = l3(two);
  two.caches = {{Resource::L3CODE, whole}, {Resource::L3DATA, whole}};
  snapshot.groups["qemu-1"] = group_state("L3CODE:0=300;1=300\nL3DATA:0=300;1=300\nMB:0=100\n");
  now.erase(Resource::L3);
  now[Resource::L3CODE] = {{DomainId{0}, 0x3}, {DomainId{1}, 0x3}};
  now[Resource::L3DATA] = {{DomainId{0}, 0xc}, {DomainId{1}, 0xc}};
  EXPECT_TRUE(plan_text("[group.db]\nmb = \"50%\"\n", two, snapshot)
                  .contains("^~ l3code = \"0x3\" and l3data = \"0xc\" in [group.default] "));
  EXPECT_FALSE(plan_text("[group.default]\nl3code = \"all\"\nl3data = \"all\"\n", two, snapshot)
                   .contains("so far kept"));
}

// What they can fill is told of once for all domains, of groups and of partitions.
TEST(ForeignGroups, InWaysOfOne) {
  const Capabilities capabilities = machine(20, 2);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["theirs"] = group_state("L3:0=f0;1=f0\nMB:0=100;1=100\n");
  const auto warnings = [&](const char* policy) {
    const std::string text = plan_text(policy, capabilities, snapshot);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(warnings("[group.a]\nl3 = \"18 ways\"\nexclusive = true\n"),
            "p.toml:1:8: warning: group 'theirs', which rdtd did not make, can fill ways 4-7 of L3 "
            "domains 0-1, exclusive to 'a'");
  EXPECT_EQ(warnings("[partition.p]\nl3 = \"90%\"\n[group.a]\npartition = \"p\"\n"),
            "p.toml:1:12: warning: group 'theirs', which rdtd did not make, can fill ways 4-7 of "
            "L3 domains 0-1, exclusive to partition 'p'");
  EXPECT_EQ(
      warnings("[group.a]\nl3 = \"5 ways\"\nexclusive = true\n[group.b]\nl3 = \"ways 5-19\"\n"),
      "p.toml:1:8: warning: group 'theirs', which rdtd did not make, can fill way 4 of L3 "
      "domains 0-1, exclusive to 'a'");
}

TEST(ForeignGroups, PseudoLockedRegionsAreNotAdopted) {
  const Capabilities capabilities = machine(11, 1);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["a"] = group_state("L3:0=3\n", Mode::pseudo_locked);
  snapshot.inodes["a"] = 7;
  EXPECT_EQ(plan_text("[group.a]\nadopt = true\n", capabilities, snapshot),
            "p.toml:1:8: error: group 'a' is pseudo-locked: rdtd does not take it over\n    1 | "
            "[group.a]\n      |        ^ choose another name, or remove that group\n");
  snapshot.to_adopt = {"a"};
  EXPECT_EQ(plan_text("[group.a]\n", capabilities, snapshot),
            "p.toml:1:8: error: group 'a' is pseudo-locked: rdtd does not take it over\n    1 | "
            "[group.a]\n      |        ^ choose another name, or remove that group\n");
}

// Foreign groups: exclusive ones and pseudo-locked regions are obstacles.
TEST(ForeignGroups, Layouts) {
  Capabilities capabilities = machine(8, 1, 4);
  const struct {
    const char* name;
    GroupState foreign;
    unsigned min_cbm_bits;
    std::string policy;
    std::string layout;
  } rows[] = {
      {"too little room for anybody", group_state("L3:0=ff\nMB:0=100\n", Mode::exclusive), 1,
       group("a", "1 way"),
       "p.toml:2:6: error: 1 way must be left to default, but L3 domain 0 has 8 ways, 8 held by "
       "group 'x', which rdtd did not make\n    2 | l3 = \"1 way\"\n      |      ^~~~~~~\n"},
      {"no room for the default group", group_state("L3:0=7f\nMB:0=100\n", Mode::exclusive), 1,
       exclusive("a", "1 way"),
       "p.toml:2:6: error: 1 way asked for exclusively (a 1), but L3 domain 0 has 8 ways, 7 held "
       "by group 'x', which rdtd did not make, and 1 must be left to default\n    2 | l3 = \"1 "
       "way\"\n      |      ^~~~~~~\n"},
      {"nothing asked", group_state("L3:0=ff\nMB:0=100\n", Mode::exclusive), 1, "", "default 0-7"},
      {"not side by side", group_state("L3:0=38\nMB:0=100\n", Mode::exclusive), 1,
       exclusive("a", "4 ways"),
       "p.toml:2:6: error: 4 ways asked for exclusively (a 4), but in L3 domain 0 the 5 free ways "
       "are not side by side: ways 0-2 and 6-7, 3 held by group 'x', which rdtd did not make, and "
       "1 must be left to default\n    2 | l3 = \"4 ways\"\n      |      ^~~~~~~~\n"},
      {"the others not side by side", group_state("L3:0=38\nMB:0=100\n", Mode::exclusive), 1,
       group("a", "4 ways"),
       "p.toml:2:6: error: a: '4 ways' does not fit in L3 domain 0: 5 ways are free beside group "
       "'x' (3 ways), but not side by side: ways 0-2 and 6-7\n    2 | l3 = \"4 ways\"\n      |     "
       " ^~~~~~~~ write \"3 ways\"\n"},
      {"one way below it", group_state("L3:0=6\nMB:0=100\n", Mode::exclusive), 2,
       group("a", "2 ways"),
       "p.toml:1:8: error: group 'a' cannot be created: the kernel gives a new group the lowest "
       "ways that are free in L3 domain 0, and below the exclusive groups that rdtd did not make "
       "('x') these are fewer than the 2 ways of a mask (min_cbm_bits)\n    1 | [group.a]\n      | "
       "       ^\n"},
      {"a pseudo-locked region", group_state("L3:0=3\n", Mode::pseudo_locked), 1,
       group("a", "2 ways") + group("b", "") + group("c", "", "cpus = \"1\"\n"),
       "a 2-3, b 2-7, c 2-7, default 2-7"},
      {"a fourth group beside a pseudo-locked region", group_state("L3:0=3\n", Mode::pseudo_locked),
       1, group("a", "") + group("b", "") + group("c", "") + group("d", ""),
       "p.toml:4:8: error: 4 groups asked for (a, b, c, d), 4 CLOSIDs here: 1 is the default "
       "group's\n    4 | [group.d]\n      |        ^\n"},
      {"a group that takes a CLOSID", group_state("L3:0=3\nMB:0=100\n"), 1,
       group("a", "") + group("b", "") + group("c", ""),
       "p.toml:3:8: error: 3 groups asked for (a, b, c), 4 CLOSIDs here: 1 is the default group's, "
       "1 taken by a group that rdtd did not make (x)\n    3 | [group.c]\n      |        ^\n"},
  };
  for (const auto& row : rows) {
    Snapshot snapshot = untouched(capabilities);
    snapshot.groups["x"] = row.foreign;
    if (row.foreign.mode == Mode::pseudo_locked) snapshot.groups.at("x").cpus = {0, 1, 2, 3};
    l3(capabilities).min_cbm_bits = row.min_cbm_bits;
    EXPECT_EQ(layout(row.policy, capabilities, snapshot), row.layout) << row.name;
  }
}

// Ways that other tools' groups can fill are avoided as long as others are free, but a place is
// kept.
TEST(ForeignGroups, AreMetAsLittleAsPossible) {
  const Capabilities capabilities = machine(11, 1);
  Snapshot snapshot = untouched(capabilities);
  for (const char* name : {"vm1", "vm2", "vm3"})
    snapshot.groups[name] = group_state("L3:0=7\nMB:0=100\n");
  snapshot.groups["wide"] = group_state("L3:0=7ff\nMB:0=100\n");
  EXPECT_EQ(layout(group("b", "2 ways"), capabilities, snapshot), "b 3-4, default 0-10");
  EXPECT_EQ(layout(group("b", "8 ways"), capabilities, snapshot), "b 3-10, default 0-10");
  EXPECT_EQ(layout(group("b", "9 ways"), capabilities, snapshot), "b 0-8, default 0-10");
  snapshot.groups.erase("wide");
  EXPECT_EQ(plan_text(exclusive("db", "4 ways"), capabilities, snapshot),
            "schemata  default  L3:0=780 (was 0=7ff)\ncreate    db\nschemata  db  L3:0=78 "
            "MB:0=100\nmode      db  exclusive\n4 steps; groups: 1 to create, 1 to change, 0 to "
            "remove.\n");
  snapshot.groups["db"] = group_state("L3:0=f\nMB:0=100\n");
  snapshot.owned = {"", "db"};
  EXPECT_EQ(layout(exclusive("db", "4 ways"), capabilities, snapshot), "db 0-3, default 4-10");
}

// The CPUs of a pseudo-locked region are those of its domain, and other groups have them.
TEST(ForeignGroups, PseudoLockedRegionsHaveNoCpus) {
  const Capabilities capabilities = machine(8, 1);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["x"] = group_state("L3:0=3\n", Mode::pseudo_locked);
  snapshot.groups.at("x").cpus = {0, 1, 2, 3};
  snapshot.groups.at("").schemata[Resource::L3][DomainId{0}] = 0xfc;
  EXPECT_EQ(
      plan_text(group("a", "2 ways", "cpus = \"1\"\n"), capabilities, snapshot),
      "create    a\nschemata  a  L3:0=c MB:0=100\ncpus      a  1 (was none)\n3 steps; groups: 1 to "
      "create, 0 to change, 0 to remove.\n");
  const auto plan = make_plan(test::parse(group("a", "")).policy, capabilities, snapshot);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->groups.back().state.cpus, (CpuSet{0, 1, 2, 3}));
}

// On a mount with cdp, a foreign exclusive group holds the ways of its code and of its data.
TEST(ForeignGroups, CodeAndDataAreOneFootprint) {
  Capabilities capabilities = machine(8, 1);
  const CacheInfo whole = l3(capabilities);
  capabilities.caches = {{Resource::L3CODE, whole}, {Resource::L3DATA, whole}};
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["x"] = group_state("L3CODE:0=3\nL3DATA:0=c\nMB:0=100\n", Mode::exclusive);
  EXPECT_EQ(
      plan_text(group("a", "", "mb = \"50%\"\n"), capabilities, snapshot),
      "schemata  default  L3CODE:0=f0 (was 0=ff) L3DATA:0=f0 (was 0=ff)\ncreate    a\nschemata  a  "
      "L3CODE:0=f0 L3DATA:0=f0 MB:0=50\n3 steps; groups: 1 to create, 1 to change, 0 to remove.\n");
  EXPECT_EQ(plan_text("[group.a]\nl3code = \"2 ways\"\nexclusive = true\n", capabilities, snapshot),
            "schemata  default  L3CODE:0=c0 (was 0=ff) L3DATA:0=c0 (was 0=ff)\ncreate    a\n"
            "schemata  a  L3CODE:0=30 L3DATA:0=30 MB:0=100\nmode      a  exclusive\n4 steps; "
            "groups: 1 to "
            "create, 1 to change, 0 to remove.\n");
}

// At the start, what another tool is in the way of is left out, but no partition without a word:
// one without groups keeps its ways, or is named.
TEST(ForeignGroups, PartitionsWithoutGroupsWhereOthersAreInTheWay) {
  const Capabilities capabilities = machine(8, 1);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["a"] = group_state("L3:0=ff\nMB:0=100\n");
  const auto prepared = [&](const char* ways) {
    const std::vector<PolicyFile> files = {
        {.path = "p.toml",
         .text = "[group.a]\n[partition.p]\nl3 = \"" + std::string(ways) + "\"\n[group.b]\n"}};
    const auto fits = prepare_what_fits(files, Machine{capabilities, snapshot, {}});
    std::string out;
    if (!fits) return std::string("rejected");
    for (const GroupTarget& partition : fits->plan.partitions)
      out +=
          "partition " + partition.partition + " " + schemata_line(partition.state.schemata) + "; ";
    for (const GroupTarget& target : fits->plan.groups)
      out += group_label(target.directory) + " " + schemata_line(target.state.schemata) + "; ";
    for (const MissingPart& part : fits->missing)
      out += part.what + " missing: " + part.reason + "; ";
    return out;
  };
  EXPECT_EQ(
      prepared("2 ways"),
      "partition p L3:0=3; b L3:0=fc MB:0=100; default L3:0=fc MB:0=100; group 'a' is missing: "
      "group 'a' exists in resctrl already and rdtd did not make it; ");
  snapshot.groups["a"].mode = Mode::exclusive;
  snapshot.groups["a"].schemata.at(Resource::L3).at(DomainId{0}) = 0x3f;
  EXPECT_EQ(
      prepared("2 ways"),
      "b L3:0=c0 MB:0=100; default L3:0=c0 MB:0=100; group 'a' is missing: group 'a' exists in "
      "resctrl already and rdtd did not make it; partition 'p' is missing: 2 ways asked for "
      "exclusively (p 2), but L3 domain 0 has 8 ways, 6 held by group 'a', which rdtd did not "
      "make, and 1 must be left to default; ");
}

// That of the default group is there whatever is missing.
TEST(ForeignGroups, ThePartitionOfTheDefaultGroupStays) {
  const Capabilities capabilities = machine(8, 1);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["a"] = group_state("L3:0=ff\nMB:0=100\n");
  const PolicyFile file{.path = "p.toml",
                        .text =
                            "[group.a]\n[partition.q]\nl3 = \"2 ways\"\n[group.default]\n"
                            "partition = \"q\"\n[group.b]\n"};
  const auto fits = prepare_what_fits({&file, 1}, Machine{capabilities, snapshot, {}});
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->policy.partitions.size(), 1U);
  std::string out;
  for (const GroupTarget& target : fits->plan.groups)
    out += group_label(target.directory) + " " + schemata_line(target.state.schemata) + "; ";
  EXPECT_EQ(out, "b L3:0=fc MB:0=100; default L3:0=3 MB:0=100; ");
}

// Ways that a partition leaves idle are its own too.
TEST(ForeignGroups, InIdleWaysOfAPartition) {
  const Capabilities capabilities = machine(8, 1);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["other"] = group_state("L3:0=f0\nMB:0=100\n");
  const auto plan = make_plan(
      test::parse("[partition.p]\nl3 = \"6 ways\"\n[group.a]\npartition = \"p\"\nl3 = \"0x3\"\n")
          .policy,
      capabilities, snapshot);
  ASSERT_TRUE(plan);
  std::string text = schemata_line(plan->partitions.front().state.schemata);
  for (const Diagnostic& warning : plan->warnings) text += "; " + warning.message;
  EXPECT_EQ(text,
            "L3:0=3f; group 'other', which rdtd did not make, can fill ways 4-5 of L3 domain 0, "
            "exclusive to partition 'p'");
}

// Nobody knows its ways.
TEST(ForeignGroups, UnreadableOnesKeepTheKernelsModeAway) {
  Capabilities capabilities = machine(8, 1);
  Snapshot snapshot = untouched(capabilities);
  const std::string exclusive = "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n";
  const std::string partition = "[partition.p]\nl3 = \"4 ways\"\n";
  const std::string inside = partition + "[group.a]\npartition = \"p\"\nl3 = \"2 ways\"\n";
  const auto warnings = [&](const std::string& policy) {
    const auto plan = make_plan(test::parse(policy).policy, capabilities, snapshot);
    std::string text;
    for (const Diagnostic& warning : plan->warnings) text += warning.message + "; ";
    return text;
  };
  const auto mode = [&] {
    return make_plan(test::parse(exclusive).policy, capabilities, snapshot)
        ->groups.front()
        .state.mode;
  };
  EXPECT_EQ(mode(), Mode::exclusive);
  EXPECT_EQ(warnings(exclusive) + warnings(inside), "");
  snapshot.unreadable = {"odd"};
  EXPECT_EQ(mode(), Mode::shareable);
  EXPECT_EQ(warnings(exclusive),
            "group 'odd', which rdtd did not make, cannot be read: it may fill ways exclusive to "
            "'a', and the kernel's exclusive mode is not set; ");
  EXPECT_EQ(warnings(inside),
            "group 'odd', which rdtd did not make, cannot be read: it may fill ways of partition "
            "'p', and the kernel's exclusive mode is not set; ");
  EXPECT_EQ(warnings(inside + "[group.b]\npartition = \"p\"\nl3 = \"2 ways\"\n"),
            "group 'odd', which rdtd did not make, cannot be read: it may fill ways of partition "
            "'p'; ");
  EXPECT_EQ(warnings("[group.a]\nl3 = \"2 ways\"\n"), "");
}

// Another tool's group has a CPU of a group that is in force: everything else of it stays, and a
// comparison brings the CPU back, or not.
TEST(ForeignGroups, ThatHaveACpuTakeNothingElse) {
  const Capabilities capabilities = machine(8, 1, 4);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["theirs"] = group_state("L3:0=ff\nMB:0=100\n");
  snapshot.groups["theirs"].cpus = {2};
  snapshot.groups["a"] = group_state("L3:0=3\nMB:0=100\n");
  snapshot.groups["a"].cpus = {1};
  snapshot.groups.at("").cpus = {0, 3};
  snapshot.owned = {"", "a"};
  const std::string text = "[group.a]\nl3 = \"2 ways\"\ncpus = \"1-2\"\n";
  const PolicyFile file{.path = "p.toml", .text = text};
  const auto fits = prepare_what_fits({&file, 1}, Machine{capabilities, snapshot, {}});
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->plan.groups.front().directory, "a");
  EXPECT_EQ(fits->plan.groups.front().state.cpus, CpuSet{1});
  EXPECT_TRUE(fits->plan.changes.removals.empty());
  ASSERT_EQ(fits->missing.size(), 1U);
  EXPECT_EQ(fits->missing[0].what, "CPUs of group 'a' are");
  EXPECT_EQ(fits->missing[0].reason, "CPU 2 belongs to group 'theirs', which rdtd did not make");
  // A policy in force is planned for a machine that has changed.
  const auto again = make_plan(test::parse(text).policy, capabilities, snapshot, PlanFor::in_force);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->groups.front().state.cpus, (CpuSet{1, 2}));
}

// What is known of one that cannot be understood counts: nobody takes its CPUs, and its ways only
// where no others are left.
TEST(ForeignGroups, KeepWhatIsKnownOfThem) {
  const Capabilities capabilities = machine(8, 1, 4);
  Snapshot snapshot = untouched(capabilities);
  snapshot.unreadable = {"odd"};
  snapshot.half_read["odd"] = group_state("L3:0=3\nMB:0=100\n");
  snapshot.half_read["odd"].cpus = {2, 3};
  snapshot.groups.at("").cpus = {0, 1};
  EXPECT_EQ(test::refusal("[group.a]\ncpus = \"1-2\"\n", capabilities, snapshot),
            "p.toml:2:8: error: CPU 2 belongs to group 'odd', which rdtd did not make\n");
  const auto plan = make_plan(test::parse("[group.a]\nl3 = \"2 ways\"\ncpus = \"1\"\n").policy,
                              capabilities, snapshot);
  ASSERT_TRUE(plan);
  EXPECT_EQ(schemata_line(plan->groups.front().state.schemata), "L3:0=c MB:0=100");
  EXPECT_EQ(plan->groups.back().state.cpus, (CpuSet{0}));
}

// If it may be exclusive, nobody gets its ways, also not the default group.
TEST(ForeignGroups, HalfReadOnesMayBeExclusive) {
  const Capabilities capabilities = machine(8, 1, 4);
  Snapshot snapshot = untouched(capabilities);
  snapshot.unreadable = {"odd"};
  snapshot.half_read["odd"] = group_state("L3:0=3\nMB:0=100\n");
  snapshot.half_read["odd"].mode = Mode::exclusive;
  snapshot.groups.at("").schemata = group_state("L3:0=fc\nMB:0=100\n").schemata;
  const auto plan =
      make_plan(test::parse("[group.a]\nl3 = \"2 ways\"\n").policy, capabilities, snapshot);
  ASSERT_TRUE(plan);
  for (const GroupTarget& group : plan->groups)
    EXPECT_FALSE(Cbm{group.state.schemata.at(Resource::L3).at(DomainId{0})}.overlaps(Cbm{3}))
        << group.directory;
  EXPECT_EQ(
      test::refusal("[group.a]\nl3 = \"ways 0-1\"\n", capabilities, snapshot),
      "p.toml:2:6: error: a: 'ways 0-1' overlaps ways 0-1 of L3 domain 0, held by group 'odd', "
      "which rdtd did not make\n");
  EXPECT_EQ(
      test::refusal("[pseudo_lock.r]\nl3 = { \"0\" = \"ways 0-1\" }\n", capabilities, snapshot),
      "p.toml:2:14: error: pseudo_lock 'r': 'ways 0-1' overlaps ways 0-1 of L3 domain 0, "
      "held by group 'odd', which rdtd did not make\n");
}

// Another tool can have very many: they are counted, and the first of them named.
TEST(ForeignGroups, VeryManyAreCounted) {
  Capabilities capabilities = machine(8, 1, 16);
  capabilities.num_rmids = 32;
  Snapshot snapshot = untouched(capabilities);
  for (int i = 1; i <= 31; i++)
    snapshot.mon_groups.insert(fmt::format("mon_groups/pqos-51-{:02}", i));
  EXPECT_EQ(test::refusal("[group.a]\n", capabilities, snapshot),
            "p.toml:1:8: error: 1 group asked for (a), 32 RMIDs here: 1 is the default group's, 31 "
            "taken by monitoring groups that rdtd did not make (default/pqos-51-01, "
            "default/pqos-51-02, default/pqos-51-03, default/pqos-51-04, "
            "default/pqos-51-05 and 26 more)\n");
  snapshot.mon_groups.clear();
  for (int i = 1; i <= 7; i++)
    snapshot.groups[fmt::format("COS{}", i)] = group_state("L3:0=ff\nMB:0=100\n");
  l3(capabilities).num_closids = 8;
  EXPECT_EQ(test::refusal("[group.a]\n", capabilities, snapshot),
            "p.toml:1:8: error: 1 group asked for (a), 8 CLOSIDs here: 1 is the default group's, 7 "
            "taken by groups that rdtd did not make (COS1, COS2, COS3, COS4, COS5 and 2 more)\n");
}

// What a group of another tool that cannot be read, or not be understood, has: a CLOSID and an
// RMID.
TEST(ForeignGroups, UnreadableOnesTakeTheirNumbers) {
  Capabilities capabilities = machine(8, 1, 2);
  Snapshot snapshot = untouched(capabilities);
  snapshot.unreadable = {"odd"};
  EXPECT_EQ(test::refusal("[group.a]\n", capabilities, snapshot),
            "p.toml:1:8: error: 1 group asked for (a), 2 CLOSIDs here: 1 is the default group's, 1 "
            "taken by a group that rdtd did not make (odd)\n");
  l3(capabilities).num_closids = 8;
  capabilities.num_rmids = 2;
  EXPECT_EQ(test::refusal("[group.a]\n", capabilities, snapshot),
            "p.toml:1:8: error: 1 group asked for (a), 2 RMIDs here: 1 is the default group's, 1 "
            "taken by a group that rdtd did not make (odd)\n");
  EXPECT_EQ(
      test::refusal("[group.odd]\n", machine(8, 1), snapshot),
      "p.toml:1:8: error: group 'odd' exists in resctrl already and rdtd did not make it\n"
      "      | choose another name, remove that group, or take it over: once with rdtctl adopt "
      "odd, always with adopt = true\n");
}

// Their ways are in the way; what bandwidth they have changes nothing for others.
TEST(ForeignGroups, ObstaclesAreWays) {
  Snapshot snapshot;
  snapshot.groups["x"] = group_state("L3:0=38\nMB:0=50\n", Mode::exclusive);
  snapshot.groups["plain"] = group_state("L3:0=7\nMB:0=50\n", Mode::shareable);
  const auto before = obstacles(snapshot);
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(schemata_line(before.at("x")), "L3:0=38");
  snapshot.groups["x"].schemata.at(Resource::MB).at(DomainId{0}) = 20;
  EXPECT_EQ(obstacles(snapshot), before);
  snapshot.groups["x"].schemata.at(Resource::L3).at(DomainId{0}) = 0x30;
  EXPECT_NE(obstacles(snapshot), before);
}

}  // namespace
}  // namespace rdtd
