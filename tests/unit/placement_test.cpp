// Where groups are placed: this machine, these groups and this policy give exactly this layout.
#include <gtest/gtest.h>

#include "placement_support.hpp"

namespace rdtd {
namespace {

using test::after;
using test::exclusive;
using test::group;
using test::group_state;
using test::l3;
using test::layout;
using test::machine;
using test::member;
using test::partition;
using test::plan_text;
using test::PolicyAndLayout;
using test::untouched;

// On 20 ways, nothing there before.
TEST(Placement, Fresh) {
  const Capabilities capabilities = machine(20, 1);
  const PolicyAndLayout rows[] = {
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
      {group("a", "12 ways") + group("b", "12 ways"), "a 0-11, b 8-19, default 0-19"},
      // Exactly 100%, with small shares.
      {partition("p", "1%") + partition("q", "1%") + partition("r", "98%") + member("a", "p") +
           member("b", "q") + member("default", "r"),
       "a 0, b 1, default 2-19"},
      // Any percentage is at least one way.
      {group("a", "1%"), "a 0, default 0-19"},
  };
  for (const PolicyAndLayout& row : rows) {
    EXPECT_EQ(layout(row.policy, capabilities, untouched(capabilities)), row.layout) << row.policy;
    EXPECT_TRUE(plan_text(row.policy, capabilities,
                          after(row.policy, capabilities, untouched(capabilities)))
                    .ends_with("Nothing to change.\n"))
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
// that keeps them all. A search that solved equal states again would not end.
TEST(Placement, ManyStates) {
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
  EXPECT_EQ(layout(policy, capabilities, snapshot),
            "g0 0, g1 1, g2 11, g3 21, g4 16, g5 10, g6 17-18, g7 8-9, g8 6-7, g9 13-15, g10 "
            "22-24, g11 2-5, g12 25-29, b 12, c 20, d 30-31, default 19-20");
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
      // The places of b and c count more than that of a, although a comes first.
      {group("a", "ways 0-1") + group("b", "ways 6-7") + group("c", "ways 7-8"),
       partition("p", "4 ways") + member("a", "p", "2 ways") + member("b", "p", "2 ways") +
           member("c", "p", "2 ways"),
       "a 5-6, b 6-7, c 7-8, default 9-19"},
      // A place that another party names is lost, and no other.
      {exclusive("a", "4 ways") + exclusive("b", "4 ways"),
       exclusive("a", "4 ways") + exclusive("b", "4 ways") + exclusive("c", "ways 2-3"),
       "a 8-11, b 4-7, c 2-3, default 12-19"},
      // Plain groups may overlap, but not without need.
      {group("a", "4 ways"), group("a", "4 ways") + group("b", "ways 2-5"),
       "a 6-9, b 2-5, default 0-19"},
      {group("a", "18 ways"), group("a", "18 ways") + group("b", "ways 2-5"),
       "a 0-17, b 2-5, default 0-19"},
      // From shared to exclusive.
      {group("a", "4 ways") + group("b", "4 ways"), group("a", "4 ways") + exclusive("b", "4 ways"),
       "a 0-3, b 4-7, default 8-19"},
  };
  for (const auto& row : rows) {
    const Snapshot before = after(row.from, capabilities, untouched(capabilities));
    EXPECT_EQ(layout(row.to, capabilities, before), row.layout) << row.from << "--\n" << row.to;
    EXPECT_TRUE(plan_text(row.to, capabilities, after(row.to, capabilities, before))
                    .ends_with("Nothing to change.\n"))
        << row.from << "--\n"
        << row.to;
  }
}

// Groups that had to overlap, for want of room, lie side by side again once there is room.
TEST(Placement, OverlapsNoMoreThanNecessary) {
  const Capabilities capabilities = machine(20, 1);
  const std::string two = group("a", "4 ways") + group("b", "4 ways");
  const std::string squeezed = exclusive("z", "14 ways") + two;
  const PolicyAndLayout rows[] = {
      {squeezed, "z 0-13, a 14-17, b 16-19, default 14-19"},
      {two, "a 14-17, b 0-3, default 0-19"},
      // Both have the same ways, and one keeps them.
      {group("a", "ways 0-3") + group("b", "ways 0-3"), "a 0-3, b 0-3, default 0-19"},
      {two, "a 0-3, b 4-7, default 0-19"},
      // A group makes room for another one, so that neither overlaps.
      {group("a", "ways 4-7"), "a 4-7, default 0-19"},
      {group("a", "4 ways") + group("b", "14 ways"), "a 0-3, b 4-17, default 0-19"},
      // In a partition as well.
      {partition("p", "6 ways") + member("a", "p", "4 ways") + member("b", "p", "4 ways"),
       "a 0-3, b 2-5, default 6-19"},
      {partition("p", "8 ways") + member("a", "p", "4 ways") + member("b", "p", "4 ways"),
       "a 0-3, b 4-7, default 8-19"},
  };
  Snapshot now = untouched(capabilities);
  for (const PolicyAndLayout& row : rows) {
    EXPECT_EQ(layout(row.policy, capabilities, now), row.layout) << row.policy;
    now = after(row.policy, capabilities, now);
    EXPECT_EQ(plan_text(row.policy, capabilities, now), "Nothing to change.\n") << row.policy;
  }
}

// min_cbm_bits is 0 on AMD, and the kernel accepts an empty mask there.
TEST(Placement, NobodyIsWithoutAWay) {
  Capabilities capabilities = machine(16, 1);
  l3(capabilities).min_cbm_bits = 0;
  l3(capabilities).sparse_masks = true;
  const PolicyAndLayout rows[] = {
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
  for (const PolicyAndLayout& row : rows)
    EXPECT_EQ(layout(row.policy, capabilities, untouched(capabilities)), row.layout) << row.policy;
}

// Domain ids are any number that fits, as on Arm.
// 5,040 orders, and 330 ways to leave gaps in each; all are tried, since only one group can keep
// its place. It ends because parts that were tried are known.
TEST(Placement, ManyKinds) {
  const Capabilities capabilities = machine(32, 1);
  Snapshot snapshot = untouched(capabilities);
  std::string policy;
  for (unsigned ways = 1; ways <= 7; ways++) {
    const std::string name = "g" + std::to_string(ways);
    policy += exclusive(name, std::to_string(ways) + " ways");
    snapshot.groups[name] = group_state("L3:0=" + to_string(Cbm::range(0, ways)) + "\nMB:0=100\n");
    snapshot.owned.insert(name);
  }
  EXPECT_EQ(layout(policy, capabilities, snapshot),
            "g1 0, g2 1-2, g3 3-5, g4 6-9, g5 10-14, g6 15-20, g7 21-27, default 28-31");
}

TEST(Placement, LargeDomainIds) {
  Capabilities capabilities = machine(8, 0);
  for (const uint32_t id : {65536U, 65537U, 4294967295U}) {
    l3(capabilities).way_bytes[DomainId{id}] = 1 << 20;
    capabilities.bandwidths.at(Resource::MB).unlimited[DomainId{id}] = 100;
  }
  EXPECT_EQ(plan_text(group("a", "9 ways"), capabilities, untouched(capabilities)),
            "p.toml:2:6: error: a: '9 ways' does not fit in L3 domains 65536-65537,4294967295: 8 "
            "ways are left\n    2 | l3 = \"9 ways\"\n      |      ^~~~~~~~ write \"8 ways\"\n");
  EXPECT_EQ(
      plan_text(group("a", "2 ways"), capabilities, untouched(capabilities)),
      "create    a\nschemata  a  L3:65536-65537,4294967295=3 "
      "MB:65536-65537,4294967295=100\n2 steps; groups: 1 to create, 0 to change, 0 to remove.\n");
}

// Groups keep their places, also where that leaves the other ways in pieces.
TEST(Placement, WaysThatNobodyFills) {
  const Capabilities capabilities = machine(16, 1);
  const std::string a = exclusive("a", "4 ways");
  const auto from = [&](const std::string& policy) {
    return after(policy, capabilities, untouched(capabilities));
  };
  const auto warnings = [&](const std::string& policy, const Snapshot& now) {
    const auto plan = make_plan(test::parse(policy).policy, capabilities, now);
    return plan ? format_diagnostics(plan->warnings, {}) : "refused";
  };
  const Snapshot moved = from(exclusive("b", "8 ways") + a);
  EXPECT_EQ(layout(a, capabilities, moved), "a 8-11, default 0-7");
  EXPECT_EQ(warnings(a, moved),
            "p.toml:2:6: warning: nobody fills ways 12-15 of L3 domain 0: the groups keep their "
            "places, which leaves the other ways in pieces\n      | 'rdtctl reset' and 'rdtctl "
            "reload' place all groups again\n");
  EXPECT_EQ(warnings(a, from("")), "");
  const std::string named = exclusive("a", "ways 4-7");
  EXPECT_EQ(warnings(named, from("")),
            "p.toml:2:6: warning: nobody fills ways 0-3 of L3 domain 0: the ways that are not "
            "exclusive are in pieces\n");
  // Somebody has them: a plain group, another tool, or by an amount of the policy.
  EXPECT_EQ(warnings(named + group("b", "ways 0-3"), from("")), "");
  EXPECT_EQ(warnings(named + group("default", "ways 8-15"), from("")), "");
  Snapshot others = from("");
  others.groups["theirs"] = group_state("L3:0=f\nMB:0=100\n");
  EXPECT_EQ(warnings(named, others), "");
  // With gaps, the default group takes all of it.
  Capabilities gaps = capabilities;
  l3(gaps).sparse_masks = true;
  EXPECT_EQ(plan_text(named, gaps, untouched(gaps)).find("warning"), std::string::npos);
}

}  // namespace
}  // namespace rdtd
