// Policies that the machine has no room for, each with its whole error text.
#include <gtest/gtest.h>

#include "placement_support.hpp"

namespace rdtd {
namespace {

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

// With all ways that a mask can have, more than any sum of them can hold.
TEST(PlacementRefusals, AmountsBeyondAnyCache) {
  const Capabilities capabilities = machine(32, 1);
  for (const char* amount : {"4294967295 ways", "4294967293 ways", "600000000 GiB"})
    EXPECT_TRUE(plan_text(group("a", amount) + exclusive("b", "3 ways"), capabilities,
                          untouched(capabilities))
                    .contains("does not fit in L3 domain 0: 29 ways are left beside b (3 ways)"))
        << amount;
}

TEST(PlacementRefusals, Ways) {
  const Capabilities capabilities = machine(8, 2);
  const PolicyAndLayout rows[] = {
      {exclusive("a", "4 ways") + group("b", "ways 3-5"),
       "p.toml:2:6: error: 4 ways asked for exclusively (a 4), but in L3 domains 0-1 the 5 free "
       "ways are not side by side: ways 0-2 and 6-7, 3 named by b\n "
       "   2 | l3 = \"4 ways\"\n      |      ^~~~~~~~\n"},
      // The default group has the ways that b names too.
      {exclusive("a", "5 ways") + group("b", "ways 0-3"),
       "p.toml:2:6: error: 5 ways asked for exclusively (a 5), but each of L3 domains 0-1 has 8 "
       "ways, 4 named by b\n    2 | l3 = \"5 ways\"\n      |      ^~~~~~~~\n"},
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
       "  2 | l3 = \"4294967295 ways\"\n      |      ^~~~~~~~~~~~~~~~~ write \"8 ways\"\n"},
      {group("a", "60%") + exclusive("b", "4 ways"),
       "p.toml:2:6: error: a: '60%' (5 ways) does not fit in L3 domains 0-1: 4 ways are left "
       "beside b (4 ways)\n    2 | l3 = \"60%\"\n      |      ^~~~~ write \"4 ways\"\n"},
      {group("a", "100%") + exclusive("b", "4 ways"),
       "p.toml:2:6: error: a: '100%' (8 ways) does not fit in L3 domains 0-1: 4 ways are left "
       "beside b (4 ways)\n    2 | l3 = \"100%\"\n      |      ^~~~~~ write \"all\": every way "
       "that "
       "the group may fill\n"},
      {group("a", "4 ways") + exclusive("b", "ways 2-4"),
       "p.toml:2:6: error: a: '4 ways' does not fit in L3 domains 0-1: 5 ways are free beside b (3 "
       "ways), but not side by side: ways 0-1 and 5-7\n    2 | l3 = \"4 ways\"\n      |      "
       "^~~~~~~~ write \"3 ways\"\n"},
      {partition("p", "8 ways") + member("default", "p") + group("a", ""),
       "p.toml:2:6: error: 8 ways asked for exclusively (p 8), but each of L3 domains 0-1 has 8 "
       "ways, and 1 must be left to a\n    2 | l3 = \"8 ways\"\n      |      ^~~~~~~~\n"},
      {group("a", "ways 6-9"),
       "p.toml:2:6: error: a: 'ways 6-9' is out of range: each of L3 domains 0-1 has ways 0-7\n    "
       "2 | l3 = \"ways 6-9\"\n      |      ^~~~~~~~~~ write \"ways 6-7\"\n"},
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
       "p.toml:2:10: error: 'l3code': resctrl is mounted without 'cdp', so code and data share "
       "L3\n    2 | l3code = \"1 way\"\n      |          ^~~~~~~ if the processor has cdp_l3 (Arm: "
       "if the kernel was built with CONFIG_EXPERT=y): "
       "systemctl edit "
       "sys-fs-resctrl.mount, add the lines \"[Mount]\" and \"Options=cdp\", and reboot\n"},
      {"[group.a]\nl3 = { \"4-5,7\" = \"1 way\" }\n",
       "p.toml:2:8: error: unknown L3 domains 4-5,7\n    2 | l3 = { \"4-5,7\" = \"1 way\" }\n      "
       "|        ^~~~~~~ this machine has 0-1\n"},
  };
  for (const PolicyAndLayout& row : rows)
    EXPECT_EQ(layout(row.policy, capabilities, untouched(capabilities)), row.layout) << row.policy;
}

// The machine's limits, each reached.
TEST(PlacementRefusals, Limits) {
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
         s.mon_groups = {"mon_groups/m", "x/mon_groups/m"};
         s.groups["x"] = group_state("L3:0=3\nMB:0=100\n");
         s.groups["y"] = group_state("L3:0=c\n", Mode::pseudo_locked);
       },
       group("a", ""),
       "p.toml:1:8: error: 1 group asked for (a), 4 RMIDs here: 1 is the default group's, 3 taken "
       "by groups and monitoring groups that rdtd did not make (x, default/m, "
       "x/m)\n    1 | [group.a]\n      |        ^\n"},
      {"a group's ways fix its partition",
       [](Capabilities& c, Snapshot&) { l3(c).min_cbm_bits = 2; },
       partition("p", "6 ways") + member("a", "p", "ways 1-6"),
       "p.toml:2:6: error: 6 ways asked for exclusively (p 6), but in L3 domain 0 they do not fit "
       "around what is fixed: ways 1-6 of p named by a, and 2 must be left to default\n    2 | l3 "
       "= \"6 ways\"\n      |      ^~~~~~~~\n"},
      {"a group's ways fix its partition, beside which another one does not fit",
       [](Capabilities&, Snapshot&) {},
       partition("p", "3 ways") + member("a", "p", "ways 2-3") + group("b", "5 ways"),
       "p.toml:7:6: error: b: '5 ways' does not fit in L3 domain 0: 5 ways are free beside p (3 "
       "ways, ways 2-3 of p named by a), but not side by side: ways 0 and 4-7\n    7 | l3 = \"5 "
       "ways\"\n      |      ^~~~~~~~ write \"4 ways\"\n"},
      {"only the strict one does not fit",
       [](Capabilities& c, Snapshot&) { l3(c).shareable_bits = Cbm{0x30}; },
       group("a", "5 ways", "exclusive = \"strict\"\n") + exclusive("b", "1 way"),
       "p.toml:2:6: error: 5 ways asked for exclusively (a 5), but in L3 domain 0 the 6 free ways "
       "are not side by side: ways 0-3 and 6-7, ways 4-5 also filled by I/O devices, which "
       "exclusive = \"strict\" excludes, and 1 must be left to default\n    2 | l3 = \"5 ways\"\n  "
       "    |      ^~~~~~~~\n"},
      {"no ways",
       [](Capabilities& c, Snapshot&) {
         l3(c).cbm_mask = Cbm{};
         l3(c).shareable_bits = Cbm{};
       },
       group("a", "4 ways") + group("b", "1 way", "exclusive = true\n"),
       "p.toml:2:6: error: the kernel reports no ways of L3 (cbm_mask is 0)\n    2 | l3 = \"4 "
       "ways\"\n      |      ^~~~~~~~\n"},
      {"no ways, and no amount of them", [](Capabilities& c, Snapshot&) { l3(c).cbm_mask = Cbm{}; },
       "[group.default]\nmb = \"50%\"\n[group.a]\nmb = \"50%\"\n",
       "p.toml:3:8: error: the kernel reports no ways of L3 (cbm_mask is 0)\n    3 | "
       "[group.a]\n      |        ^\n"},
      {"MB beside cdp, on Arm",
       [](Capabilities& c, Snapshot& s) {
         const CacheInfo halves = l3(c);
         c.caches.clear();
         c.caches[Resource::L3CODE] = c.caches[Resource::L3DATA] = halves;
         c.bandwidths.clear();
         c.rmids_per_closid = true;
         s.groups.at("").schemata.erase(Resource::MB);
       },
       "[group.a]\nmb = \"50%\"\n",
       "p.toml:2:6: error: 'mb': resctrl offers no MB here; it offers L3CODE, L3DATA\n    2 | mb = "
       "\"50%\"\n      |      ^~~~~ with cdp, MPAM has no MB: mount resctrl without cdp\n"},
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
TEST(PlacementRefusals, OfflineCpus) {
  const Capabilities capabilities = machine(8, 1);
  Snapshot snapshot = untouched(capabilities);
  const std::string policy = group("a", "2 ways", "cpus = \"3-5\"\n");
  const std::string steps =
      "create    a\nschemata  a  L3:0=3 MB:0=100\ncpus      a  3 (was none)\n3 steps; groups: 1 to "
      "create, "
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
