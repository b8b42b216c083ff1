// This tree and this policy give exactly this plan, or exactly this error text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace rdtd {
namespace {

using test::after;
using test::group_state;
using test::machine;
using test::plan_text;
using test::untouched;

struct Row {
  const char* policy;
  const char* plan;
};

TEST(Plan, Grants) {
  const Capabilities capabilities = machine(20, 2);
  const Row rows[] = {
      {"", "Nothing to change.\n"},
      {"[group.a]\n",
       "create    a\nschemata  a  L3:0-1=fffff MB:0-1=100\n2 steps: 1 to create, 0 to change, 0 to "
       "remove.\n"},
      {"[group.redis]\nl3 = \"4 ways\"\nexclusive = true\n[group.batch]\nl3 = { \"0\" = \"1 way\", "
       "\"*\" = \"10%\" }\nmb = \"10%\"\n",
       "schemata  default  L3:0-1=ffff0 (was 0-1=fffff)\ncreate    redis\nschemata  redis  "
       "L3:0-1=f MB:0-1=100\ncreate    batch\nschemata  batch  L3:0=10;1=30 MB:0-1=10\nmode      "
       "redis  exclusive\n6 steps: 2 to create, 1 to change, 0 to remove.\n"},
      // Side by side while there is room, then overlapping.
      {"[group.a]\nl3 = \"12 ways\"\n[group.b]\nl3 = \"6 ways\"\n[group.c]\nl3 = \"4 ways\"\n",
       "create    a\nschemata  a  L3:0-1=fff MB:0-1=100\ncreate    b\nschemata  b  L3:0-1=3f000 "
       "MB:0-1=100\ncreate    c\nschemata  c  L3:0-1=f MB:0-1=100\n6 steps: 3 to create, 0 to "
       "change, 0 to remove.\n"},
      // Exclusive on one domain only: it uses the remainder on the other, and the kernel cannot
      // guard it.
      {"[group.a]\nl3 = { \"1\" = \"50%\" }\nexclusive = true\n",
       "schemata  default  L3:1=ffc00 (was 1=fffff)\ncreate    a\nschemata  a  L3:0=fffff;1=3ff "
       "MB:0-1=100\n3 steps: 1 to create, 1 to change, 0 to remove.\n"},
      // A partition: its groups overlap each other, nobody else.
      {"[partition.p]\nl3 = \"8 ways\"\n[group.a]\npartition = \"p\"\nl3 = "
       "\"50%\"\n[group.b]\npartition = \"p\"\nl3 = \"75%\"\n[group.c]\npartition = \"p\"\n",
       "schemata  default  L3:0-1=fff00 (was 0-1=fffff)\ncreate    a\nschemata  a  L3:0-1=f "
       "MB:0-1=100\ncreate    b\nschemata  b  L3:0-1=3f MB:0-1=100\ncreate    c\nschemata  c  "
       "L3:0-1=ff MB:0-1=100\n7 steps: 3 to create, 1 to change, 0 to remove.\n"},
      // Exactly 100%, the default group in one of the partitions: exactly all ways.
      {"[partition.p]\nl3 = \"33%\"\n[partition.q]\nl3 = \"67%\"\n[group.a]\npartition = "
       "\"p\"\n[group.default]\npartition = \"q\"\n",
       "schemata  default  L3:0-1=fff80 (was 0-1=fffff)\ncreate    a\nschemata  a  L3:0-1=7f "
       "MB:0-1=100\n3 steps: 1 to create, 1 to change, 0 to remove.\n"},
      // Sizes and bandwidth are rounded up to what holds them.
      {"[group.a]\nl3 = \"2.5 MiB\"\nmb = \"15%\"\n[group.b]\nl3 = \"1 KiB\"\nmb = "
       "\"1%\"\n[group.c]\nmb = \"unlimited\"\n",
       "create    a\nschemata  a  L3:0-1=7 MB:0-1=20\ncreate    b\nschemata  b  L3:0-1=8 "
       "MB:0-1=10\ncreate    c\nschemata  c  L3:0-1=fffff MB:0-1=100\n6 steps: 3 to create, 0 to "
       "change, 0 to remove.\n"},
      // Explicit masks are obstacles to the exclusive ones.
      {"[group.a]\nl3 = \"0x3\"\n[group.b]\nl3 = \"ways 4-5\"\nexclusive = true\n[group.c]\nl3 = "
       "\"3 ways\"\nexclusive = true\n",
       "schemata  default  L3:0-1=ffe00 (was 0-1=fffff)\ncreate    a\nschemata  a  L3:0-1=3 "
       "MB:0-1=100\ncreate    b\nschemata  b  L3:0-1=30 MB:0-1=100\ncreate    c\nschemata  c  "
       "L3:0-1=1c0 MB:0-1=100\nmode      b  exclusive\nmode      c  exclusive\n9 steps: 3 to "
       "create, 1 to change, 0 to remove.\n"},
      {"[group.a]\ncpus = \"1-2\"\nl3 = \"4 ways\"\n",
       "create    a\nschemata  a  L3:0-1=f MB:0-1=100\ncpus      a  1-2 (was none)\n3 steps: 1 to "
       "create, 0 to change, 0 to remove.\n"},
      {"[group.default]\nl3 = \"5 ways\"\nmb = \"50%\"\n",
       "schemata  default  L3:0-1=1f (was 0-1=fffff) MB:0-1=50 (was 0-1=100)\n1 step: 0 to create, "
       "1 to change, 0 to remove.\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(plan_text(row.policy, capabilities, untouched(capabilities)), row.plan) << row.policy;
    // Applied twice, it changes nothing.
    EXPECT_EQ(plan_text(row.policy, capabilities,
                        after(row.policy, capabilities, untouched(capabilities))),
              "Nothing to change.\n")
        << row.policy;
  }
}

TEST(Plan, Refusals) {
  Capabilities capabilities = machine(11, 2, 5);
  capabilities.bandwidths.at(Resource::MB).unlimited = {{DomainId{0}, 100}, {DomainId{1}, 100}};
  const Row rows[] = {
      {"[group.redis]\nl3 = \"8 ways\"\nexclusive = true\n[group.dpdk]\nl3 = \"6 ways\"\nexclusive "
       "= true\n",
       "p.toml:5:6: error: 14 ways asked for exclusively (redis 8, dpdk 6), but each of L3 domains "
       "0-1 has 11 ways, and 1 must be left to default\n    5 | l3 = \"6 ways\"\n      |      "
       "^~~~~~~~\n"},
      {"[group.redis]\nl3 = { \"0\" = \"11 ways\" }\nexclusive = true\n",
       "p.toml:2:14: error: 11 ways asked for exclusively (redis 11), but L3 domain 0 has 11 ways, "
       "and 1 must be left to default\n    2 | l3 = { \"0\" = \"11 ways\" }\n      |              "
       "^~~~~~~~~\n"},
      {"[group.a]\nl3 = \"12 ways\"\n",
       "p.toml:2:6: error: a: '12 ways' does not fit in L3 domains 0-1: 11 ways are left\n    2 | "
       "l3 = \"12 ways\"\n      |      ^~~~~~~~~\n"},
      {"[group.a]\nl3 = \"8 ways\"\n[group.b]\nl3 = \"6 ways\"\nexclusive = true\n",
       "p.toml:2:6: error: a: '8 ways' does not fit in L3 domains 0-1: 5 ways are left beside b (6 "
       "ways)\n    2 | l3 = \"8 ways\"\n      |      ^~~~~~~~\n"},
      {"[group.a]\nl3 = \"0x5\"\n",
       "p.toml:2:6: error: a: '0x5' has gaps; masks of L3 domains 0-1 must be contiguous\n    2 | "
       "l3 = \"0x5\"\n      |      ^~~~~\n"},
      {"[group.a]\nl3 = \"0x1000\"\n",
       "p.toml:2:6: error: a: '0x1000' is out of range: the mask of L3 domains 0-1 is 0x7ff\n    2 "
       "| l3 = \"0x1000\"\n      |      ^~~~~~~~\n"},
      {"[group.a]\nl3 = \"0x3\"\nexclusive = true\n[group.b]\nl3 = \"0x6\"\n",
       "p.toml:5:6: error: b: '0x6' overlaps way 1 of L3 domains 0-1, exclusive to a (p.toml:2)\n  "
       "  5 | l3 = \"0x6\"\n      |      ^~~~~\n"},
      {"[group.a]\nl3 = { \"7\" = \"1 way\" }\n",
       "p.toml:2:8: error: unknown L3 domain 7\n    2 | l3 = { \"7\" = \"1 way\" }\n      |        "
       "^~~ this machine has 0-1\n"},
      {"[group.a]\nmb = \"8 GB/s\"\n",
       "p.toml:2:6: error: '8 GB/s' is a rate, and MB counts percent here\n    2 | mb = \"8 "
       "GB/s\"\n      |      ^~~~~~~~ write \"50%\"\n"},
      {"[group.a]\nl2 = \"1 way\"\n",
       "p.toml:2:6: error: 'l2': resctrl offers no L2 here; it offers L3, MB\n    2 | l2 = \"1 "
       "way\"\n      |      ^~~~~~~\n"},
      {"[group.a]\nl3code = \"1 way\"\n",
       "p.toml:2:10: error: 'l3code': this version of rdtd does not divide code and data\n    2 | "
       "l3code = \"1 way\"\n      |          ^~~~~~~\n"},
      {"[group.a]\nsmba = \"50%\"\n",
       "p.toml:2:8: error: 'smba': this version of rdtd does not divide slow memory bandwidth\n    "
       "2 | smba = \"50%\"\n      |        ^~~~~\n"},
      {"[group.a]\ncpus = \"2-4\"\n",
       "p.toml:2:8: error: this machine cannot have CPU 4\n    2 | cpus = \"2-4\"\n      |        "
       "^~~~~ it can have 0-3\n"},
      {"[group.a]\ncpus = \"2-9\"\n",
       "p.toml:2:8: error: this machine cannot have CPUs 4-9\n    2 | cpus = \"2-9\"\n      |      "
       "  ^~~~~ it can have 0-3\n"},
      {"[group.a]\ncpus = \"1\"\n[group.b]\ncpus = \"1\"\n",
       "p.toml:4:8: error: CPU 1 is given to two groups: here and to 'a' in p.toml:2\n    4 | cpus "
       "= \"1\"\n      |        ^~~\n"},
      {"[group.a]\n[group.b]\n[group.c]\n[group.d]\n[group.e]\n",
       "p.toml:5:8: error: 5 groups asked for (a, b, c, d, e), 5 CLOSIDs here: 1 is the default "
       "group's\n    5 | [group.e]\n      |        ^\n"},
      {"[partition.p]\nl3 = \"4 ways\"\n[group.a]\npartition = \"p\"\nl3 = \"6 ways\"\n",
       "p.toml:5:6: error: a: '6 ways' does not fit in partition 'p', which has 4 ways of L3 "
       "domains 0-1\n    5 | l3 = \"6 ways\"\n      |      ^~~~~~~~\n"},
      {"[partition.p]\nl3 = \"4 ways\"\n[group.a]\npartition = \"p\"\nl3 = \"0x5\"\n",
       "p.toml:5:6: error: a: '0x5' has gaps; masks of L3 domains 0-1 must be contiguous\n    5 | "
       "l3 = \"0x5\"\n      |      ^~~~~\n"},
      {"[partition.p]\nl3 = \"ways 0-3\"\n[group.a]\npartition = \"p\"\nl3 = \"0x30\"\n",
       "p.toml:5:6: error: a: '0x30' is not within partition 'p', which holds ways 0-3 of L3 "
       "domains 0-1\n    5 | l3 = \"0x30\"\n      |      ^~~~~~\n"},
  };
  Snapshot snapshot = untouched(capabilities);
  snapshot.possible_cpus = {0, 1, 2, 3};
  for (const Row& row : rows)
    EXPECT_EQ(plan_text(row.policy, capabilities, snapshot), row.plan) << row.policy;
}

TEST(Plan, DomainsThatAreNotThereNow) {
  const Capabilities capabilities = machine(11, 1);
  Snapshot snapshot = untouched(capabilities);
  snapshot.possible_cpus = {0, 1, 2, 3, 4, 5};
  const std::string offline = "while CPUs 4-5 are offline; the amount applies once ";
  const struct {
    const char* amount;
    std::string first_line;
  } rows[] = {
      {"{ \"1\" = \"2 ways\" }",
       "p.toml:2:8: warning: there is no L3 domain 1 " + offline + "it is there"},
      {"{ \"1-2\" = \"50%\" }",
       "p.toml:2:8: warning: there are no L3 domains 1-2 " + offline + "they are there"},
      {"{ \"1\" = \"12 ways\" }", "p.toml:2:14: error: '12 ways' does not fit: there are 11 ways"},
      {"{ \"1\" = \"ways 10-11\" }",
       "p.toml:2:14: error: 'ways 10-11' is out of range: the mask is 0x7ff"},
      {"{ \"1\" = \"0x5\" }", "p.toml:2:14: error: '0x5' has gaps; masks must be contiguous"},
  };
  for (const auto& row : rows) {
    std::string text =
        plan_text("[group.a]\nl3 = " + std::string(row.amount), capabilities, snapshot);
    text = text.substr(text.find(row.first_line.substr(0, 17)));
    EXPECT_EQ(text.substr(0, text.find('\n')), row.first_line);
  }
}

TEST(Plan, PseudoLockedRegionsAreNotAdopted) {
  const Capabilities capabilities = machine(11, 1);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["a"] = group_state("L3:0=3\n", Mode::pseudo_locked);
  snapshot.inodes["a"] = 7;
  EXPECT_EQ(plan_text("[group.a]\nadopt = true\n", capabilities, snapshot),
            "p.toml:1:8: error: group 'a' is pseudo-locked: rdtd does not take it over\n    1 | "
            "[group.a]\n      |        ^ choose another name, or remove that group\n");
}

TEST(Plan, WaysOfDevicesAreNobodysOwn) {
  Capabilities capabilities = machine(11, 1);
  capabilities.caches.at(Resource::L3).shareable_bits = Cbm{0x600};
  const Row rows[] = {
      {"[group.redis]\nl3 = \"4 ways\"\nexclusive = true\n[group.batch]\nl3 = \"1 way\"\n",
       "schemata  default  L3:0=7f0 (was 0=7ff)\ncreate    redis\nschemata  redis  L3:0=f "
       "MB:0=100\ncreate    batch\nschemata  batch  L3:0=10 MB:0=100\nmode      redis  "
       "exclusive\n6 steps: 2 to create, 1 to change, 0 to remove.\n"},
      {"[group.redis]\nl3 = \"0x700\"\nexclusive = true\n",
       "p.toml:2:6: error: redis: '0x700' cannot be exclusive: I/O devices fill ways 9-10 of L3 "
       "domain 0 too\n    2 | l3 = \"0x700\"\n      |      ^~~~~~~\n"},
      {"[group.redis]\nl3 = \"10 ways\"\nexclusive = true\n",
       "p.toml:2:6: error: 10 ways asked for exclusively (redis 10), but L3 domain 0 has 11 ways, "
       "2 of them also filled by I/O devices\n    2 | l3 = \"10 ways\"\n      |      ^~~~~~~~~\n"}};
  for (const Row& row : rows)
    EXPECT_EQ(plan_text(row.policy, capabilities, untouched(capabilities)), row.plan) << row.policy;
}

TEST(Plan, LeastBitsAndSparseMasks) {
  Capabilities capabilities = machine(20, 1);
  capabilities.caches.at(Resource::L3).min_cbm_bits = 2;
  EXPECT_EQ(plan_text("[group.a]\nl3 = \"1%\"\n", capabilities, untouched(capabilities)),
            "create    a\nschemata  a  L3:0=3 MB:0=100\n2 steps: 1 to create, 0 to change, 0 to "
            "remove.\n");
  EXPECT_EQ(plan_text("[group.a]\nl3 = \"1 way\"\n", capabilities, untouched(capabilities)),
            "p.toml:2:6: error: '1 way' is too little: a mask of L3 has at least 2 ways "
            "(min_cbm_bits)\n    2 | l3 = \"1 way\"\n      |      ^~~~~~~\n");
  capabilities.caches.at(Resource::L3).sparse_masks = true;
  EXPECT_EQ(plan_text("[group.a]\nl3 = \"0x35\"\n", capabilities, untouched(capabilities)),
            "create    a\nschemata  a  L3:0=35 MB:0=100\n2 steps: 1 to create, 0 to change, 0 to "
            "remove.\n");
}

TEST(Plan, BandwidthAmounts) {
  struct {
    BandwidthUnit unit;
    unsigned gran;
    unsigned min;
    uint32_t unlimited;
    const char* amount;
    uint32_t value;
  } const rows[] = {
      {BandwidthUnit::percent, 10, 10, 100, "50%", 50},
      {BandwidthUnit::percent, 10, 10, 100, "51%", 60},
      {BandwidthUnit::percent, 10, 10, 100, "1%", 10},
      {BandwidthUnit::percent, 10, 20, 100, "1%", 20},
      {BandwidthUnit::percent, 7, 7, 100, "99.5%", 100},
      {BandwidthUnit::percent, 2, 2, 100, "0.1%", 2},
      {BandwidthUnit::percent, 10, 10, 100, "unlimited", 100},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "8 GB/s", 64},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "800 MiB/s", 7},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "1 KB/s", 1},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "255.9 GB/s", 2048},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "999999999 GB/s", 2048},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "unlimited", 2048},
      {BandwidthUnit::mbps, 1, 10, 4294967295, "800 MiB/s", 800},
      {BandwidthUnit::mbps, 10, 10, 4294967290, "8 GB/s", 7630},
      {BandwidthUnit::mbps, 10, 50, 4294967290, "1 KB/s", 10},
      {BandwidthUnit::mbps, 10, 10, 4294967290, "999999999 GB/s", 4294967290},
      {BandwidthUnit::mbps, 10, 10, 4294967290, "unlimited", 4294967290},
  };
  for (const auto& row : rows) {
    Capabilities capabilities = machine(20, 1);
    BandwidthInfo& mb = capabilities.bandwidths.at(Resource::MB);
    mb.unit = row.unit;
    mb.bandwidth_gran = row.gran;
    mb.min_bandwidth = row.min;
    mb.unlimited = {{DomainId{0}, row.unlimited}};
    EXPECT_EQ(plan_text(fmt::format("[group.a]\nmb = \"{}\"\n", row.amount), capabilities,
                        untouched(capabilities)),
              fmt::format("create    a\nschemata  a  L3:0=fffff MB:0={}\n2 steps: 1 to create, 0 "
                          "to change, 0 to remove.\n",
                          row.value))
        << to_string(row.unit) << " " << row.amount;
  }
}

TEST(Plan, PercentIsRefusedOnMachinesWithRates) {
  Capabilities capabilities = machine(20, 1);
  for (const BandwidthUnit unit : {BandwidthUnit::mbps, BandwidthUnit::eighth_gbps}) {
    capabilities.bandwidths.at(Resource::MB).unit = unit;
    EXPECT_EQ(plan_text("[group.a]\nmb = \"50%\"\n", capabilities, untouched(capabilities)),
              "p.toml:2:6: error: '50%' is a percentage, and MB counts rates here\n    2 | mb = "
              "\"50%\"\n      |      ^~~~~ write \"8 GB/s\"\n");
  }
}

// A group that had a limit must lose it, and a new one must not depend on the state that the kernel
// gives it.
TEST(Plan, NoLimitIsWrittenOnMachinesWithRates) {
  Capabilities capabilities = machine(20, 1);
  BandwidthInfo& mb = capabilities.bandwidths.at(Resource::MB);
  mb.unit = BandwidthUnit::mbps;
  mb.unlimited = {{DomainId{0}, 4294967290}};
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups.at("").schemata[Resource::MB] = {{DomainId{0}, 4294967295}};
  snapshot.groups["old"] = group_state("L3:0=fffff\nMB:0=500\n");
  snapshot.owned = {"old"};
  EXPECT_EQ(plan_text("[group.old]\nmb = \"unlimited\"\n[group.new]\n", capabilities, snapshot),
            "schemata  old  MB:0=4294967290 (was 0=500)\ncreate    new\nschemata  new  L3:0=fffff "
            "MB:0=4294967290\n3 steps: 1 to create, 1 to change, 0 to remove.\n");
  mb.unit = BandwidthUnit::eighth_gbps;
  mb.unlimited = {{DomainId{0}, 2048}};
  snapshot.groups.at("").schemata[Resource::MB] = {{DomainId{0}, 2048}};
  EXPECT_EQ(
      plan_text("[group.old]\n", capabilities, snapshot),
      "schemata  old  MB:0=2048 (was 0=500)\n1 step: 0 to create, 1 to change, 0 to remove.\n");
}

// The groups of other tools.
TEST(Plan, ForeignGroups) {
  const Capabilities capabilities = machine(20, 1, 4);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["plain"] = group_state("L3:0=3\nMB:0=100\n");
  snapshot.groups["guarded"] = group_state("L3:0=c0000\nMB:0=100\n", Mode::exclusive);
  snapshot.groups.at("").schemata[Resource::L3][DomainId{0}] = 0x3ffff;
  EXPECT_EQ(plan_text("[group.a]\nl3 = \"4 ways\"\nexclusive = true\n", capabilities, snapshot),
            "p.toml:1:8: warning: group 'plain', which rdtd did not make, can fill ways 0-1 of L3 "
            "domain 0, exclusive to 'a'\n    1 | [group.a]\n      |        ^\nschemata  default  "
            "L3:0=3fff0 (was 0=3ffff)\ncreate    a\nschemata  a  L3:0=f MB:0=100\n3 steps: 1 to "
            "create, 1 to change, 0 to remove.\n");
  EXPECT_EQ(
      plan_text("[group.plain]\nl3 = \"1 way\"\n", capabilities, snapshot),
      "p.toml:1:8: error: group 'plain' exists in resctrl already and rdtd did not make it\n    1 "
      "| [group.plain]\n      |        ^~~~~ choose another name, remove that group, or take it "
      "over with adopt = "
      "true\n");
  snapshot.inodes["plain"] = 7;
  EXPECT_EQ(
      plan_text("[group.plain]\nl3 = \"1 way\"\nadopt = true\n", capabilities, snapshot),
      "adopt     plain\nschemata  plain  L3:0=1 (was 0=3)\n2 steps: 0 to create, 1 to change, "
      "0 to remove.\n");
  EXPECT_EQ(plan_text("[group.a]\n[group.b]\n", capabilities, snapshot),
            "p.toml:2:8: error: 2 groups asked for (a, b), 4 CLOSIDs here: 1 is the default "
            "group's, 2 taken by groups that rdtd did not make (guarded, plain)\n    2 | "
            "[group.b]\n      |        ^\n");
  EXPECT_EQ(
      plan_text("[group.a]\nl3 = \"0xc0000\"\n", capabilities, snapshot),
      "p.toml:2:6: error: a: '0xc0000' overlaps ways 18-19 of L3 domain 0, which group 'guarded' "
      "holds and rdtd did not make\n    2 | l3 = \"0xc0000\"\n      |      ^~~~~~~~~\n");
}

// What they can fill is told of once for all domains, of groups and of partitions.
TEST(Plan, ForeignGroupsInWaysOfOne) {
  const Capabilities capabilities = machine(20, 2);
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups["theirs"] = group_state("L3:0=f0;1=f0\nMB:0=100;1=100\n");
  const auto warnings = [&](const char* policy) {
    const std::string text = plan_text(policy, capabilities, snapshot);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(warnings("[group.a]\nl3 = \"8 ways\"\nexclusive = true\n"),
            "p.toml:1:8: warning: group 'theirs', which rdtd did not make, can fill ways 4-7 of L3 "
            "domains 0-1, exclusive to 'a'");
  EXPECT_EQ(warnings("[partition.p]\nl3 = \"50%\"\n[group.a]\npartition = \"p\"\n"),
            "p.toml:1:12: warning: group 'theirs', which rdtd did not make, can fill ways 4-7 of "
            "L3 domains 0-1, which are of partition 'p'");
}

// From one policy to another.
TEST(Plan, Changes) {
  const Capabilities capabilities = machine(20, 1, 4);
  const struct {
    const char* from;
    const char* to;
    const char* plan;
  } rows[] = {
      // A group that held as many ways before keeps its place, even when one before it goes.
      {"[group.a]\nl3 = \"4 ways\"\n[group.b]\nl3 = \"4 ways\"\n", "[group.b]\nl3 = \"4 ways\"\n",
       "remove    a\n1 step: 0 to create, 0 to change, 1 to remove.\n"},
      // A group keeps its place, even if that divides the remainder.
      {"[group.a]\nl3 = \"4 ways\"\nexclusive = true\n[group.b]\nl3 = \"4 ways\"\nexclusive = "
       "true\n",
       "[group.b]\nl3 = \"4 ways\"\nexclusive = true\n",
       "mode      a  shareable\nremove    a\n2 steps: 0 to create, 0 to change, 1 to remove.\n"},
      // What shrinks goes first, and a group that does not change is not touched.
      {"[group.a]\nl3 = \"4 ways\"\nexclusive = true\n[group.b]\nl3 = \"2 ways\"\nexclusive = "
       "true\n",
       "[group.a]\nl3 = \"4 ways\"\nexclusive = true\n[group.b]\nl3 = \"6 ways\"\nexclusive = "
       "true\n",
       "mode      b  shareable\nschemata  default  L3:0=ffc00 (was 0=fffc0)\nschemata  b  L3:0=3f0 "
       "(was 0=30)\nmode      b  exclusive\n4 steps: 0 to create, 2 to change, 0 to remove.\n"},
      // Renamed with a CLOSID free: the new one stands before the old one goes.
      {"[group.a]\nl3 = \"2 ways\"\n", "[group.b]\nl3 = \"2 ways\"\n",
       "create    b\nschemata  b  L3:0=3 MB:0=100\nremove    a\n3 steps: 1 to create, 0 to change, "
       "1 to remove.\n"},
      // Renamed with none free: the old one first.
      {"[group.a]\n[group.b]\n[group.c]\n", "[group.a]\n[group.b]\n[group.d]\n",
       "remove    c\ncreate    d\nschemata  d  L3:0=fffff MB:0=100\n3 steps: 1 to create, 0 to "
       "change, 1 to remove.\n"},
      {"[group.a]\nl3 = \"2 ways\"\nexclusive = true\n", "",
       "mode      a  shareable\nschemata  default  L3:0=fffff (was 0=ffffc)\nremove    a\n3 steps: "
       "0 to create, 1 to change, 1 to remove.\n"},
      {"[group.a]\ncpus = \"1-2\"\n", "[group.a]\ncpus = \"2-3\"\n",
       "cpus      a  2-3 (was 1-2)\n1 step: 0 to create, 1 to change, 0 to remove.\n"},
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
  EXPECT_TRUE(steps_to(plan->groups, capabilities, snapshot).steps.empty());
  snapshot.groups.erase("a");
  snapshot.groups.at("").cpus = {0, 1, 2};
  std::string steps;
  for (const Step& step : steps_to(plan->groups, capabilities, snapshot).steps)
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
    for (const Difference& difference : differences(plan->groups, snapshot))
      found += difference.text + "\n";
    EXPECT_EQ(found, row.differences) << row.name;
  }
}

}  // namespace
}  // namespace rdtd
