// Where groups are placed: this machine, these groups and this policy give exactly this plan, or
// exactly this error text.
#include <gtest/gtest.h>

#include <chrono>

#include "support.hpp"

namespace rdtd {
namespace {

using test::after;
using test::group_state;
using test::machine;
using test::plan_text;
using test::untouched;

CacheInfo& l3(Capabilities& capabilities) { return capabilities.caches.at(Resource::L3); }

// The tables of a policy.
std::string group(const std::string& name, const std::string& l3, const std::string& more = "") {
  return "[group." + name + "]\n" + (l3.empty() ? "" : "l3 = \"" + l3 + "\"\n") + more;
}
std::string exclusive(const std::string& name, const std::string& l3) {
  return group(name, l3, "exclusive = true\n");
}
std::string partition(const std::string& name, const std::string& l3) {
  return "[partition." + name + "]\nl3 = \"" + l3 + "\"\n";
}
std::string member(const std::string& name, const std::string& of, const std::string& l3 = "") {
  return group(name, l3, "partition = \"" + of + "\"\n");
}

// "a 0-3, default 4-7": who has which ways, or the errors.
std::string layout(const std::string& policy, const Capabilities& capabilities,
                   const Snapshot& snapshot) {
  const ParsedPolicy parsed = test::parse(policy);
  const auto plan = make_plan(parsed.policy, capabilities, snapshot);
  if (!plan) return format_diagnostics(plan.error(), parsed.policy.sources);
  std::string out;
  for (const GroupTarget& target : plan->groups)
    out += (out.empty() ? "" : ", ") + group_label(target.directory) + " " +
           way_list(Cbm{target.state.schemata.at(Resource::L3).at(DomainId{0})});
  return out;
}

struct Row {
  std::string policy;
  std::string layout;
};

// On 20 ways, nothing there before.
TEST(Placement, Fresh) {
  const Capabilities capabilities = machine(20, 1);
  const Row rows[] = {
      // A group without an amount takes no room from the groups after it.
      {group("slow", "", "mb = \"50%\"\n") + group("a", "4 ways") + group("b", "4 ways"),
       "slow 0-19, a 0-3, b 4-7, default 0-19"},
      {group("all", "all") + group("a", "4 ways") + group("b", "4 ways"),
       "all 0-19, a 0-3, b 4-7, default 0-19"},
      // Numbers of ways avoid ways that others name, in any order.
      {group("a", "4 ways") + group("b", "ways 0-3"), "a 4-7, b 0-3, default 0-19"},
      {exclusive("a", "4 ways") + exclusive("b", "ways 2-3"), "a 4-7, b 2-3, default 8-19"},
      {partition("p", "4 ways") + member("a", "p", "ways 4-7"), "a 4-7, default 8-19"},
      {partition("p", "4 ways") + partition("q", "4 ways") + member("a", "p", "ways 2-3") +
           member("b", "q"),
       "a 2-3, b 4-7, default 8-19"},
      // Side by side if that is possible at all, then overlapping.
      {group("a", "3 ways") + group("b", "5 ways") + group("c", "ways 3-14"),
       "a 0-2, b 15-19, c 3-14, default 0-19"},
      {group("a", "12 ways") + group("b", "12 ways"), "a 0-11, b 0-11, default 0-19"},
      // Exactly 100%, with small shares.
      {partition("p", "1%") + partition("q", "1%") + partition("r", "98%") + member("a", "p") +
           member("b", "q") + member("default", "r"),
       "a 0, b 1, default 2-19"},
      // Any percentage is at least one way.
      {group("a", "1%"), "a 0, default 0-19"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(layout(row.policy, capabilities, untouched(capabilities)), row.layout) << row.policy;
    EXPECT_EQ(plan_text(row.policy, capabilities,
                        after(row.policy, capabilities, untouched(capabilities))),
              "Nothing to change.\n")
        << row.policy;
  }
}

// A placement is found if there is one, on 8 ways.
TEST(Placement, Exact) {
  const Capabilities plain = machine(8, 1);
  Capabilities sparse = plain;
  l3(sparse).sparse_masks = true;
  Capabilities two_bits = plain;
  l3(two_bits).min_cbm_bits = 2;
  const struct {
    const Capabilities& capabilities;
    std::string policy;
    std::string layout;
  } rows[] = {
      // Only way 7 is left for g if c has its 5 ways. The default group is in a partition.
      {plain,
       partition("g", "1 way") + partition("b", "ways 5-6") + partition("c", "5 ways") +
           member("x", "g") + member("y", "b") + member("default", "c"),
       "x 7, y 5-6, default 0-4"},
      // Packed low, and as few ways as possible are cut off from the remainder.
      {plain, exclusive("a", "1 way") + exclusive("b", "2 ways") + exclusive("c", "ways 2-3"),
       "a 4, b 0-1, c 2-3, default 5-7"},
      {plain, exclusive("a", "2 ways") + exclusive("b", "3 ways") + group("c", "ways 3-4"),
       "a 5-6, b 0-2, c 3-4, default 3-4"},
      {plain, exclusive("a", "2 ways") + exclusive("b", "ways 3-4") + group("c", "3 ways"),
       "a 0-1, b 3-4, c 5-7, default 5-7"},
      // Contiguous if possible, else sparse.
      {sparse, exclusive("a", "3 ways") + exclusive("b", "ways 2-3"),
       "a 4-6, b 2-3, default 0-1,7"},
      {sparse, exclusive("a", "5 ways") + exclusive("b", "ways 2-3"),
       "a 0-1,4-6, b 2-3, default 7"},
      {sparse, group("a", "5 ways") + exclusive("b", "ways 2-3"),
       "a 0-1,4-6, b 2-3, default 0-1,4-7"},
      // No single way is left below an exclusive group: the kernel could create no group then.
      {two_bits, exclusive("a", "2 ways") + exclusive("b", "ways 3-4"),
       "a 5-6, b 3-4, default 0-2"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(layout(row.policy, row.capabilities, untouched(row.capabilities)), row.layout)
        << row.policy;
}

// 13 parties of five sizes between named ways, whose places overlap: many states, and no placement
// that keeps them all.
TEST(Placement, WorstCaseTakesMilliseconds) {
  Capabilities capabilities = machine(32, 1, 64);
  capabilities.bandwidths.at(Resource::MB).num_closids = 64;
  Snapshot snapshot = untouched(capabilities);
  std::string policy;
  const unsigned sizes[] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5};
  for (unsigned i = 0; i < std::size(sizes); i++) {
    const std::string name = "g" + std::to_string(i);
    policy += exclusive(name, std::to_string(sizes[i]) + " ways");
    const Cbm mask = Cbm::range(i * 7 % 25, sizes[i]);
    snapshot.groups[name] = group_state("L3:0=" + to_string(mask) + "\nMB:0=100\n");
    snapshot.owned.insert(name);
  }
  policy += group("b", "0x1000") + group("c", "0x100000") + group("d", "2 ways");
  const auto begin = std::chrono::steady_clock::now();
  const std::string found = layout(policy, capabilities, snapshot);
  const auto duration = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(found,
            "g0 0, g1 1, g2 11, g3 21, g4 16, g5 10, g6 17-18, g7 8-9, g8 6-7, g9 13-15, g10 "
            "22-24, g11 2-5, g12 25-29, b 12, c 20, d 30-31, default 19-20");
  EXPECT_LT(duration, std::chrono::seconds(1));  // on a busy machine, too
}

// Places are kept, whatever is added and in any order.
TEST(Placement, KeepsPlaces) {
  const Capabilities capabilities = machine(20, 1);
  const struct {
    std::string from;
    std::string to;
    std::string layout;
  } rows[] = {
      {group("a", "4 ways"), group("z", "4 ways") + group("a", "4 ways"),
       "z 4-7, a 0-3, default 0-19"},
      {group("a", "4 ways"), exclusive("z", "4 ways") + group("a", "4 ways"),
       "z 4-7, a 0-3, default 8-19"},
      {exclusive("a", "4 ways"), exclusive("z", "6 ways") + exclusive("a", "4 ways"),
       "z 4-9, a 0-3, default 10-19"},
      {exclusive("a", "4 ways") + exclusive("b", "4 ways"), exclusive("b", "4 ways"),
       "b 4-7, default 8-19"},
      // The new group takes the ways that divide the remainder least.
      {exclusive("a", "4 ways") + exclusive("b", "4 ways"),
       exclusive("c", "2 ways") + exclusive("b", "4 ways"), "c 0-1, b 4-7, default 8-19"},
      // Partitions whose groups name no amount.
      {partition("p", "4 ways") + member("a", "p"),
       partition("o", "6 ways") + member("b", "o") + partition("p", "4 ways") + member("a", "p"),
       "b 4-9, a 0-3, default 10-19"},
      {partition("o", "4 ways") + partition("p", "4 ways") + member("a", "p", "2 ways") +
           member("b", "o"),
       partition("p", "4 ways") + partition("o", "4 ways") + member("a", "p", "2 ways") +
           member("b", "o"),
       "a 4-5, b 0-3, default 8-19"},
      // A place that another party names is lost, and no other.
      {exclusive("a", "4 ways") + exclusive("b", "4 ways"),
       exclusive("a", "4 ways") + exclusive("b", "4 ways") + exclusive("c", "ways 2-3"),
       "a 8-11, b 4-7, c 2-3, default 12-19"},
      // Plain groups may overlap, so they keep their places even then.
      {group("a", "4 ways"), group("a", "4 ways") + group("b", "ways 2-5"),
       "a 0-3, b 2-5, default 0-19"},
      // From shared to exclusive.
      {group("a", "4 ways") + group("b", "4 ways"), group("a", "4 ways") + exclusive("b", "4 ways"),
       "a 0-3, b 4-7, default 8-19"},
  };
  for (const auto& row : rows) {
    const Snapshot before = after(row.from, capabilities, untouched(capabilities));
    EXPECT_EQ(layout(row.to, capabilities, before), row.layout) << row.from << "--\n" << row.to;
    EXPECT_EQ(plan_text(row.to, capabilities, after(row.to, capabilities, before)),
              "Nothing to change.\n")
        << row.from << "--\n"
        << row.to;
  }
}

// min_cbm_bits is 0 on AMD, and the kernel accepts an empty mask there.
TEST(Placement, NobodyIsWithoutAWay) {
  Capabilities capabilities = machine(16, 1);
  l3(capabilities).min_cbm_bits = 0;
  l3(capabilities).sparse_masks = true;
  const Row rows[] = {
      {group("a", "2%"), "a 0, default 0-15"},
      {partition("p", "2%") + member("a", "p", "1%"), "a 0, default 1-15"},
      {exclusive("a", "15 ways"), "a 0-14, default 15"},
      {exclusive("a", "100%"),
       "p.toml:2:6: error: 16 ways asked for exclusively (a 16), but L3 domain 0 has 16 ways, and "
       "1 "
       "must be left to default\n    2 | l3 = \"100%\"\n      |      ^~~~~~\n"},
      {exclusive("a", "0xffff"),
       "p.toml:2:6: error: 16 ways asked for exclusively (a 16), but L3 domain 0 has 16 ways, and "
       "1 "
       "must be left to default\n    2 | l3 = \"0xffff\"\n      |      ^~~~~~~~\n"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(layout(row.policy, capabilities, untouched(capabilities)), row.layout) << row.policy;
}

TEST(Placement, Refusals) {
  const Capabilities capabilities = machine(8, 2);
  const Row rows[] = {
      {exclusive("a", "4 ways") + group("b", "ways 3-5"),
       "p.toml:2:6: error: 4 ways asked for exclusively (a 4), but in L3 domains 0-1 the 5 free "
       "ways are not side by side: ways 0-2 and 6-7, 3 named by b, and 1 must be left to default\n "
       "   2 | l3 = \"4 ways\"\n      |      ^~~~~~~~\n"},
      {exclusive("a", "4294967295 ways") + exclusive("b", "4294967295 ways"),
       "p.toml:5:6: error: 8589934590 ways asked for exclusively (a 4294967295, b 4294967295), but "
       "each of L3 domains 0-1 has 8 ways, and 1 must be left to default\n    5 | l3 = "
       "\"4294967295 ways\"\n      |      ^~~~~~~~~~~~~~~~~\n"},
      {exclusive("a", "18000 GiB"),
       "p.toml:2:6: error: 18432000 ways asked for exclusively (a 18432000), but each of L3 "
       "domains 0-1 has 8 ways, and 1 must be left to default\n    2 | l3 = \"18000 GiB\"\n      | "
       "     ^~~~~~~~~~~\n"},
      {group("a", "4294967295 ways"),
       "p.toml:2:6: error: a: '4294967295 ways' does not fit in L3 domains 0-1: 8 ways are left\n  "
       "  2 | l3 = \"4294967295 ways\"\n      |      ^~~~~~~~~~~~~~~~~\n"},
      {group("a", "60%") + exclusive("b", "4 ways"),
       "p.toml:2:6: error: a: '60%' (5 ways) does not fit in L3 domains 0-1: 4 ways are left "
       "beside b (4 ways)\n    2 | l3 = \"60%\"\n      |      ^~~~~\n"},
      {group("a", "4 ways") + exclusive("b", "ways 2-4"),
       "p.toml:2:6: error: a: '4 ways' does not fit in L3 domains 0-1: 5 ways are free beside b (3 "
       "ways), but not side by side: ways 0-1 and 5-7\n    2 | l3 = \"4 ways\"\n      |      "
       "^~~~~~~~\n"},
      {partition("p", "8 ways") + member("default", "p") + group("a", ""),
       "p.toml:2:6: error: 8 ways asked for exclusively (p 8), but each of L3 domains 0-1 has 8 "
       "ways, and 1 must be left to a\n    2 | l3 = \"8 ways\"\n      |      ^~~~~~~~\n"},
      {group("a", "ways 6-9"),
       "p.toml:2:6: error: a: 'ways 6-9' is out of range: each of L3 domains 0-1 has ways 0-7\n    "
       "2 | l3 = \"ways 6-9\"\n      |      ^~~~~~~~~~\n"},
      {exclusive("a", "ways 0-1") + partition("p", "4 ways") + member("b", "p", "ways 1-2"),
       "p.toml:2:6: error: a: 'ways 0-1' overlaps way 1 of L3 domains 0-1, exclusive to p "
       "(p.toml:5)\n    2 | l3 = \"ways 0-1\"\n      |      ^~~~~~~~~~\n"},
      {partition("p", "3 ways") + member("a", "p", "ways 0-1") + member("b", "p", "ways 4-5"),
       "p.toml:7:6: error: partition 'p' has 3 ways of L3 domains 0-1, and its groups name ways "
       "0-1 and 4-5 (a 'ways 0-1', b 'ways 4-5')\n    7 | l3 = \"ways 4-5\"\n      |      "
       "^~~~~~~~~~\n"},
      {partition("p", "3 ways") + member("a", "p", "ways 0-3"),
       "p.toml:4:6: error: partition 'p' has 3 ways of L3 domains 0-1, and its groups name ways "
       "0-3 (a 'ways 0-3')\n    4 | l3 = \"ways 0-3\"\n      |      ^~~~~~~~~~\n"},
      {partition("p", "ways 0-3") + member("a", "p", "ways 3-4"),
       "p.toml:4:6: error: a: 'ways 3-4' is not within partition 'p', which holds ways 0-3 of L3 "
       "domains 0-1\n    4 | l3 = \"ways 3-4\"\n      |      ^~~~~~~~~~\n"},
      {partition("p", "2 ways") + member("a", "p", "3 MiB"),
       "p.toml:4:6: error: a: '3 MiB' (3 ways) does not fit in partition 'p', which has 2 ways of "
       "L3 domains 0-1\n    4 | l3 = \"3 MiB\"\n      |      ^~~~~~~\n"},
      {group("a", "", "l3code = \"1 way\"\n"),
       "p.toml:2:10: error: 'l3code': this version of rdtd does not divide code and data\n    2 | "
       "l3code = \"1 way\"\n      |          ^~~~~~~\n"},
      {"[group.a]\nl3 = { \"4-5,7\" = \"1 way\" }\n",
       "p.toml:2:8: error: unknown L3 domains 4-5,7\n    2 | l3 = { \"4-5,7\" = \"1 way\" }\n      "
       "|        ^~~~~~~ this machine has 0-1\n"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(layout(row.policy, capabilities, untouched(capabilities)), row.layout) << row.policy;
}

// Foreign groups: exclusive ones and pseudo-locked regions are obstacles.
TEST(Placement, ForeignGroups) {
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
       " ^~~~~~~~\n"},
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

// The CPUs of a pseudo-locked region are those of its domain, and other groups have them.
TEST(Placement, PseudoLockedRegionsHaveNoCpus) {
  const Capabilities capabilities = machine(8, 1);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["x"] = group_state("L3:0=3\n", Mode::pseudo_locked);
  snapshot.groups.at("x").cpus = {0, 1, 2, 3};
  snapshot.groups.at("").schemata[Resource::L3][DomainId{0}] = 0xfc;
  EXPECT_EQ(plan_text(group("a", "2 ways", "cpus = \"1\"\n"), capabilities, snapshot),
            "create    a\nschemata  a  L3:0=c MB:0=100\ncpus      a  1 (was none)\n3 steps: 1 to "
            "create, 0 to change, 0 to remove.\n");
  const auto plan = make_plan(test::parse(group("a", "")).policy, capabilities, snapshot);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->groups.back().state.cpus, (CpuSet{0, 1, 2, 3}));
}

// On a mount with cdp, a foreign exclusive group holds the ways of its code and of its data.
TEST(Placement, CodeAndDataAreOneFootprint) {
  Capabilities capabilities = machine(8, 1);
  const CacheInfo whole = l3(capabilities);
  capabilities.caches = {{Resource::L3CODE, whole}, {Resource::L3DATA, whole}};
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["x"] = group_state("L3CODE:0=3\nL3DATA:0=c\nMB:0=100\n", Mode::exclusive);
  EXPECT_EQ(
      plan_text(group("a", "", "mb = \"50%\"\n"), capabilities, snapshot),
      "schemata  default  L3CODE:0=f0 (was 0=ff) L3DATA:0=f0 (was 0=ff)\ncreate    a\nschemata  a  "
      "L3CODE:0=f0 L3DATA:0=f0 MB:0=50\n3 steps: 1 to create, 1 to change, 0 to remove.\n");
  EXPECT_EQ(plan_text(group("a", "2 ways"), capabilities, snapshot),
            "p.toml:2:6: error: 'l3': resctrl is mounted with 'cdp', which divides L3 into L3CODE "
            "and L3DATA; this version of rdtd does not divide code and data\n    2 | l3 = \"2 "
            "ways\"\n      |      ^~~~~~~~\n");
}

// Domain ids are any number that fits, as on Arm.
TEST(Placement, LargeDomainIds) {
  Capabilities capabilities = machine(8, 0);
  for (const uint32_t id : {65536U, 65537U, 4294967295U}) {
    l3(capabilities).way_bytes[DomainId{id}] = 1 << 20;
    capabilities.bandwidths.at(Resource::MB).unlimited[DomainId{id}] = 100;
  }
  EXPECT_EQ(plan_text(group("a", "9 ways"), capabilities, untouched(capabilities)),
            "p.toml:2:6: error: a: '9 ways' does not fit in L3 domains 65536-65537,4294967295: 8 "
            "ways are left\n    2 | l3 = \"9 ways\"\n      |      ^~~~~~~~\n");
  EXPECT_EQ(plan_text(group("a", "2 ways"), capabilities, untouched(capabilities)),
            "create    a\nschemata  a  L3:65536-65537,4294967295=3 "
            "MB:65536-65537,4294967295=100\n2 steps: 1 to create, 0 to change, 0 to remove.\n");
}

// The machine's limits, each reached.
TEST(Placement, Limits) {
  const struct {
    const char* name;
    void (*change)(Capabilities&, Snapshot&);
    std::string policy;
    std::string layout;
  } rows[] = {
      {"one CLOSID", [](Capabilities& c, Snapshot&) { l3(c).num_closids = 1; }, group("a", ""),
       "p.toml:1:8: error: 1 group asked for (a), 1 CLOSID here: 1 is the default group's\n    1 | "
       "[group.a]\n      |        ^\n"},
      {"RMIDs",
       [](Capabilities& c, Snapshot& s) {
         c.num_rmids = 4;
         s.mon_groups = 2;
         s.groups["x"] = group_state("L3:0=3\nMB:0=100\n");
         s.groups["y"] = group_state("L3:0=c\n", Mode::pseudo_locked);
       },
       group("a", ""),
       "p.toml:1:8: error: 1 group asked for (a), 4 RMIDs here: 1 is the default group's, 1 taken "
       "by a group that rdtd did not make (x), 2 taken by monitoring groups\n    1 | [group.a]\n   "
       "   |        ^\n"},
      {"CPUs of a foreign group",
       [](Capabilities&, Snapshot& s) {
         s.groups["x"] = group_state("L3:0=3\nMB:0=100\n");
         s.groups.at("x").cpus = {2};
       },
       group("a", "", "cpus = \"1-2\"\n"),
       "p.toml:2:8: error: CPU 2 belongs to group 'x', which rdtd did not make\n    2 | cpus = "
       "\"1-2\"\n      |        ^~~~~\n"},
      {"no way size", [](Capabilities& c, Snapshot&) { l3(c).way_bytes.at(DomainId{0}) = 0; },
       group("a", "1 MiB"),
       "p.toml:2:6: error: '1 MiB': the kernel does not report the size of L3 domain 0; ask for "
       "ways or percent\n    2 | l3 = \"1 MiB\"\n      |      ^~~~~~~\n"},
      {"a mask that is too small", [](Capabilities& c, Snapshot&) { l3(c).min_cbm_bits = 2; },
       group("a", "ways 3"),
       "p.toml:2:6: error: a: 'ways 3' is 1 way; a mask of L3 domain 0 has at least 2 "
       "(min_cbm_bits)\n    2 | l3 = \"ways 3\"\n      |      ^~~~~~~~\n"},
  };
  for (const auto& row : rows) {
    Capabilities capabilities = machine(8, 1);
    Snapshot snapshot = untouched(capabilities);
    row.change(capabilities, snapshot);
    EXPECT_EQ(layout(row.policy, capabilities, snapshot), row.layout) << row.name;
  }
}

// A CPU that is offline joins its group when it comes online.
TEST(Placement, OfflineCpus) {
  const Capabilities capabilities = machine(8, 1);
  Snapshot snapshot = untouched(capabilities);
  const std::string policy = group("a", "2 ways", "cpus = \"3-5\"\n");
  const std::string steps =
      "create    a\nschemata  a  L3:0=3 MB:0=100\ncpus      a  3 (was none)\n3 steps: 1 to create, "
      "0 to change, 0 to remove.\n";
  EXPECT_EQ(plan_text(policy, capabilities, snapshot), steps);
  snapshot.possible_cpus = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(plan_text(policy, capabilities, snapshot), steps);
  snapshot.possible_cpus = {0, 1, 2, 3, 4};
  EXPECT_EQ(plan_text(policy, capabilities, snapshot),
            "p.toml:3:8: error: this machine cannot have CPU 5\n    3 | cpus = \"3-5\"\n      |    "
            "    ^~~~~ it can have 0-4\n");
}

}  // namespace
}  // namespace rdtd
