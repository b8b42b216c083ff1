// This tree and this policy give exactly this plan, or exactly this error text.
#include <gtest/gtest.h>

#include "support.hpp"

namespace rdtd {
namespace {

using test::after;
using test::machine;
using test::plan_text;
using test::untouched;

struct PlanRow {
  const char* policy;
  const char* plan;
};

TEST(Plan, Grants) {
  const Capabilities capabilities = machine(20, 2);
  const PlanRow rows[] = {
      {"", "Nothing to change.\n"},
      {"[group.a]\n",
       "create    a\nschemata  a  L3:0-1=fffff MB:0-1=100\n2 steps; groups: 1 to create, 0 to "
       "change, 0 to "
       "remove.\n"},
      {"[group.redis]\nl3 = \"4 ways\"\nexclusive = true\n[group.batch]\nl3 = { \"0\" = \"1 way\", "
       "\"*\" = \"10%\" }\nmb = \"10%\"\n",
       "schemata  default  L3:0-1=ffff0 (was 0-1=fffff)\ncreate    redis\nschemata  redis  "
       "L3:0-1=f MB:0-1=100\ncreate    batch\nschemata  batch  L3:0=10;1=30 MB:0-1=10\nmode      "
       "redis  exclusive\n6 steps; groups: 2 to create, 1 to change, 0 to remove.\n"},
      // Side by side while there is room, then overlapping.
      {"[group.a]\nl3 = \"12 ways\"\n[group.b]\nl3 = \"6 ways\"\n[group.c]\nl3 = \"4 ways\"\n",
       "create    a\nschemata  a  L3:0-1=fff MB:0-1=100\ncreate    b\nschemata  b  L3:0-1=3f000 "
       "MB:0-1=100\ncreate    c\nschemata  c  L3:0-1=f0000 MB:0-1=100\n6 steps; groups: 3 to "
       "create, 0 to "
       "change, 0 to remove.\n"},
      // Exclusive on one domain only: it uses the remainder on the other, and the kernel cannot
      // guard it.
      {"[group.a]\nl3 = { \"1\" = \"50%\" }\nexclusive = true\n",
       "schemata  default  L3:1=ffc00 (was 1=fffff)\ncreate    a\nschemata  a  L3:0=fffff;1=3ff "
       "MB:0-1=100\n3 steps; groups: 1 to create, 1 to change, 0 to remove.\n"},
      // A partition: its groups overlap each other, nobody else.
      {"[partition.p]\nl3 = \"8 ways\"\n[group.a]\npartition = \"p\"\nl3 = "
       "\"50%\"\n[group.b]\npartition = \"p\"\nl3 = \"75%\"\n[group.c]\npartition = \"p\"\n",
       "schemata  default  L3:0-1=fff00 (was 0-1=fffff)\ncreate    a\nschemata  a  L3:0-1=f "
       "MB:0-1=100\ncreate    b\nschemata  b  L3:0-1=fc MB:0-1=100\ncreate    c\nschemata  c  "
       "L3:0-1=ff MB:0-1=100\n7 steps; groups: 3 to create, 1 to change, 0 to remove.\n"},
      // Exactly 100%, the default group in one of the partitions: exactly all ways.
      {"[partition.p]\nl3 = \"33%\"\n[partition.q]\nl3 = \"67%\"\n[group.a]\npartition = "
       "\"p\"\n[group.default]\npartition = \"q\"\n",
       "schemata  default  L3:0-1=fff80 (was 0-1=fffff)\ncreate    a\nschemata  a  L3:0-1=7f "
       "MB:0-1=100\nmode      a  exclusive\n4 steps; groups: 1 to create, 1 to change, 0 to "
       "remove.\n"},
      // Sizes and bandwidth are rounded up to what holds them.
      {"[group.a]\nl3 = \"2.5 MiB\"\nmb = \"15%\"\n[group.b]\nl3 = \"1 KiB\"\nmb = "
       "\"1%\"\n[group.c]\nmb = \"unlimited\"\n",
       "create    a\nschemata  a  L3:0-1=7 MB:0-1=20\ncreate    b\nschemata  b  L3:0-1=8 "
       "MB:0-1=10\ncreate    c\nschemata  c  L3:0-1=fffff MB:0-1=100\n6 steps; groups: 3 to "
       "create, 0 to "
       "change, 0 to remove.\n"},
      // Explicit masks are obstacles to the exclusive ones.
      {"[group.a]\nl3 = \"0x3\"\n[group.b]\nl3 = \"ways 4-5\"\nexclusive = true\n[group.c]\nl3 = "
       "\"3 ways\"\nexclusive = true\n",
       "p.toml:4:6: warning: nobody fills ways 2-3 of L3 domains 0-1: the ways that are not "
       "exclusive are in pieces\n    4 | l3 = \"ways 4-5\"\n      |      ^~~~~~~~~~\n"
       "schemata  default  L3:0-1=ffe00 (was 0-1=fffff)\ncreate    a\nschemata  a  L3:0-1=3 "
       "MB:0-1=100\ncreate    b\nschemata  b  L3:0-1=30 MB:0-1=100\ncreate    c\nschemata  c  "
       "L3:0-1=1c0 MB:0-1=100\nmode      b  exclusive\nmode      c  exclusive\n9 steps; groups: 3 "
       "to "
       "create, 1 to change, 0 to remove.\n"},
      {"[group.a]\ncpus = \"1-2\"\nl3 = \"4 ways\"\n",
       "create    a\nschemata  a  L3:0-1=f MB:0-1=100\ncpus      a  1-2 (was none)\n3 steps; "
       "groups: 1 to "
       "create, 0 to change, 0 to remove.\n"},
      {"[group.default]\nl3 = \"5 ways\"\nmb = \"50%\"\n",
       "schemata  default  L3:0-1=1f (was 0-1=fffff) MB:0-1=50 (was 0-1=100)\n1 step; groups: 0 to "
       "create, "
       "1 to change, 0 to remove.\n"},
  };
  for (const PlanRow& row : rows) {
    EXPECT_EQ(plan_text(row.policy, capabilities, untouched(capabilities)), row.plan) << row.policy;
    // Applied twice, it changes nothing.
    EXPECT_TRUE(plan_text(row.policy, capabilities,
                          after(row.policy, capabilities, untouched(capabilities)))
                    .ends_with("Nothing to change.\n"))
        << row.policy;
  }
}

TEST(Plan, Refusals) {
  Capabilities capabilities = machine(11, 2, 5);
  capabilities.bandwidths.at(Resource::MB).unlimited = {{DomainId{0}, 100}, {DomainId{1}, 100}};
  const PlanRow rows[] = {
      {"[group.redis]\nl3 = \"8 ways\"\nexclusive = true\n[group.dpdk]\nl3 = \"6 ways\"\nexclusive "
       "= true\n",
       "p.toml:5:6: error: 14 ways asked for exclusively (redis 8, dpdk 6), but each of L3 domains "
       "0-1 has 11 ways, and 1 must be left to default\n    5 | l3 = \"6 ways\"\n      |      "
       "^~~~~~~~\n"},
      {"[group.a]\nl3 = \"60%\"\nexclusive = true\n[group.b]\nl3 = \"40%\"\nexclusive = true\n",
       "p.toml:5:6: error: 11 ways asked for exclusively (a 7, b 4), but each of L3 domains 0-1 "
       "has "
       "11 ways, and 1 must be left to default\n    5 | l3 = \"40%\"\n      |      ^~~~~ write "
       "less, "
       "or partitions, one of which [group.default] is in\n"},
      {"[partition.a]\nl3 = \"60%\"\n[partition.b]\nl3 = \"40%\"\n[group.x]\npartition = "
       "\"a\"\n[group.y]\npartition = \"b\"\n",
       "p.toml:4:6: error: 11 ways asked for exclusively (a 7, b 4), but each of L3 domains 0-1 "
       "has 11 ways, and 1 must be left to default\n    4 | l3 = \"40%\"\n      |      ^~~~~ write "
       "less, or partition = \"a\" in [group.default]\n"},
      {"[group.redis]\nl3 = { \"0\" = \"11 ways\" }\nexclusive = true\n",
       "p.toml:2:14: error: 11 ways asked for exclusively (redis 11), but L3 domain 0 has 11 ways, "
       "and 1 must be left to default\n    2 | l3 = { \"0\" = \"11 ways\" }\n      |              "
       "^~~~~~~~~\n"},
      {"[group.a]\nl3 = \"12 ways\"\n",
       "p.toml:2:6: error: a: '12 ways' does not fit in L3 domains 0-1: 11 ways are left\n    2 | "
       "l3 = \"12 ways\"\n      |      ^~~~~~~~~ write \"11 ways\"\n"},
      {"[group.a]\nl3 = \"8 ways\"\n[group.b]\nl3 = \"6 ways\"\nexclusive = true\n",
       "p.toml:2:6: error: a: '8 ways' does not fit in L3 domains 0-1: 5 ways are left beside b (6 "
       "ways)\n    2 | l3 = \"8 ways\"\n      |      ^~~~~~~~ write \"5 ways\"\n"},
      {"[group.a]\nl3 = \"0x5\"\n",
       "p.toml:2:6: error: a: '0x5' has gaps; masks of L3 domains 0-1 must be contiguous\n    2 | "
       "l3 = \"0x5\"\n      |      ^~~~~ write \"2 ways\"\n"},
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
       "GB/s\"\n      |      ^~~~~~~~ write a percentage, such as \"50%\"; for machines of both "
       "kinds, write mb = [\"8 GB/s\", \"50%\"]\n"},
      {"[group.a]\nl2 = \"1 way\"\n",
       "p.toml:2:6: error: 'l2': resctrl offers no L2 here; it offers L3, MB\n    2 | l2 = \"1 "
       "way\"\n      |      ^~~~~~~ remove it; for machines of several kinds write unsupported = "
       "\"skip\" in [daemon]\n"},
      {"[group.a]\nl3code = \"1 way\"\n",
       "p.toml:2:10: error: 'l3code': resctrl is mounted without 'cdp', so code and data share "
       "L3\n    2 | l3code = \"1 way\"\n      |          ^~~~~~~ if the processor has cdp_l3 (Arm: "
       "if the kernel was built with CONFIG_EXPERT=y): "
       "systemctl edit "
       "sys-fs-resctrl.mount, add the lines \"[Mount]\" and \"Options=cdp\", and reboot\n"},
      {"[group.a]\nsmba = \"50%\"\n",
       "p.toml:2:8: error: 'smba': resctrl offers no SMBA here; it offers L3, MB\n    2 | smba = "
       "\"50%\"\n      |        ^~~~~ remove it; for machines of several kinds write unsupported = "
       "\"skip\" in [daemon]\n"},
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
       "l3 = \"0x5\"\n      |      ^~~~~ write \"2 ways\"\n"},
      {"[partition.p]\nl3 = \"ways 0-3\"\n[group.a]\npartition = \"p\"\nl3 = \"0x30\"\n",
       "p.toml:5:6: error: a: '0x30' is not within partition 'p', which holds ways 0-3 of L3 "
       "domains 0-1\n    5 | l3 = \"0x30\"\n      |      ^~~~~~\n"},
  };
  Snapshot snapshot = untouched(capabilities);
  snapshot.possible_cpus = {0, 1, 2, 3};
  for (const PlanRow& row : rows)
    EXPECT_EQ(plan_text(row.policy, capabilities, snapshot), row.plan) << row.policy;
}

// One policy for different machines: what one of them does not have is left out there.
TEST(Plan, LeavesOutWhatIsUnsupported) {
  const Capabilities capabilities = machine(8, 2);
  Snapshot snapshot = untouched(capabilities);
  snapshot.possible_cpus = CpuSet{0, 1, 2, 3};
  const std::string skip = "[daemon]\nunsupported = \"skip\"\n[group.a]\n";
  const std::string left_out = ": warning: not available on this machine, left out: ";
  const struct {
    std::string line;
    std::string warning;  // without the excerpt
    std::string schemata;
  } rows[] = {
      {"l2 = \"1 way\"", "4:6" + left_out + "'l2': resctrl offers no L2 here; it offers L3, MB",
       "L3:0-1=ff MB:0-1=100"},
      {"smba = \"1 GB/s\"",
       "4:8" + left_out + "'smba': resctrl offers no SMBA here; it offers L3, MB",
       "L3:0-1=ff MB:0-1=100"},
      {"l3data = \"1 way\"\nl3 = \"2 ways\"",
       "4:10" + left_out + "'l3data': resctrl is mounted without 'cdp', so code and data share L3",
       "L3:0-1=3 MB:0-1=100"},
      {"mb = \"1 GB/s\"", "4:6" + left_out + "'1 GB/s' is a rate, and MB counts percent here",
       "L3:0-1=ff MB:0-1=100"},
      {"l3 = { \"1,7\" = \"2 ways\" }", "4:8" + left_out + "unknown L3 domain 7",
       "L3:0=ff;1=3 MB:0-1=100"},
      {"cpus = \"3,9\"", "4:8" + left_out + "this machine cannot have CPU 9",
       "L3:0-1=ff MB:0-1=100\ncpus      a  3 (was none)"},
  };
  for (const auto& row : rows) {
    const std::string text = plan_text(skip + row.line + "\n", capabilities, snapshot);
    EXPECT_TRUE(text.starts_with("p.toml:" + row.warning + "\n")) << text;
    EXPECT_NE(text.find("create    a\nschemata  a  " + row.schemata + "\n"), std::string::npos)
        << text;
  }
  // An amount that does not fit is still refused.
  EXPECT_EQ(plan_text(skip + "l3 = \"9 ways\"\nexclusive = true\n", capabilities, snapshot),
            "p.toml:4:6: error: 9 ways asked for exclusively (a 9), but each of L3 domains 0-1 has "
            "8 ways, and 1 must be left to default\n    4 | l3 = \"9 ways\"\n      |      "
            "^~~~~~~~\n");
}

// The kernel has no exclusive mode where it divides no cache.
TEST(Plan, ExclusiveWhereOnlyBandwidthIsDivided) {
  Capabilities capabilities = machine(8, 1);
  capabilities.caches.clear();
  EXPECT_EQ(plan_text("[daemon]\nunsupported = \"skip\"\n[group.redis]\nl3 = \"4 ways\"\n"
                      "exclusive = true\n[group.batch]\nmb = \"20%\"\n",
                      capabilities, untouched(capabilities)),
            "p.toml:4:6: warning: not available on this machine, left out: 'l3': resctrl offers no "
            "L3 here; it offers MB\n    4 | l3 = \"4 ways\"\n      |      ^~~~~~~~ on Skylake-SP "
            "and Cascade "
            "Lake, the kernel needs rdt=l3cat on its command line to offer it\ncreate    "
            "redis\nschemata  redis  MB:0=100\ncreate    batch\nschemata  batch  MB:0=20\n"
            "4 steps; groups: 2 to create, 0 to change, 0 to remove.\n");
}

TEST(Plan, DomainsThatAreNotThereNow) {
  Capabilities capabilities = machine(11, 1);
  capabilities.caches.at(Resource::L3).min_cbm_bits = 2;
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
      {"{ \"1\" = \"1 way\" }",
       "p.toml:2:14: error: '1 way' is too little: a mask of L3 has at least 2 ways "
       "(min_cbm_bits)"},
      {"{ \"1\" = \"ways 3\" }",
       "p.toml:2:14: error: 'ways 3' is too little: a mask of L3 has at least 2 ways "
       "(min_cbm_bits)"},
      {"\"4 ways\"\nmb = { \"1\" = \"8 GB/s\" }",
       "p.toml:3:14: error: '8 GB/s' is a rate, and MB counts percent here"},
  };
  for (const auto& row : rows) {
    std::string text =
        plan_text("[group.a]\nl3 = " + std::string(row.amount), capabilities, snapshot);
    text = text.substr(text.find(row.first_line.substr(0, 17)));
    EXPECT_EQ(text.substr(0, text.find('\n')), row.first_line);
  }
}

// Outside of the ways of devices if there is room, with the kernel's mode, else also in those.
TEST(Plan, WaysOfDevices) {
  Capabilities capabilities = machine(11, 1);
  capabilities.caches.at(Resource::L3).shareable_bits = Cbm{0x600};
  const PlanRow rows[] = {
      {"[group.redis]\nl3 = \"4 ways\"\nexclusive = true\n[group.batch]\nl3 = \"1 way\"\n",
       "schemata  default  L3:0=7f0 (was 0=7ff)\ncreate    redis\nschemata  redis  L3:0=f "
       "MB:0=100\ncreate    batch\nschemata  batch  L3:0=10 MB:0=100\nmode      redis  "
       "exclusive\n6 steps; groups: 2 to create, 1 to change, 0 to remove.\n"},
      {"[group.redis]\nl3 = \"0x700\"\nexclusive = true\n",
       "p.toml:2:6: warning: I/O devices can fill ways 9-10 of L3 domain 0, exclusive to 'redis'\n"
       "    2 | l3 = \"0x700\"\n      |      ^~~~~~~ exclusive = \"strict\" refuses such ways\n"
       "schemata  default  L3:0=ff (was 0=7ff)\ncreate    redis\nschemata  redis  L3:0=700 "
       "MB:0=100\n3 steps; groups: 1 to create, 1 to change, 0 to remove.\n"},
      {"[group.redis]\nl3 = \"0x700\"\nexclusive = \"strict\"\n",
       "p.toml:2:6: error: redis: '0x700' cannot be strictly exclusive: I/O devices fill ways 9-10 "
       "of L3 domain 0 too\n    2 | l3 = \"0x700\"\n      |      ^~~~~~~\n"},
      {"[group.redis]\nl3 = \"10 ways\"\nexclusive = true\n",
       "p.toml:2:6: warning: I/O devices can fill way 9 of L3 domain 0, exclusive to 'redis'\n"
       "    2 | l3 = \"10 ways\"\n      |      ^~~~~~~~~ exclusive = \"strict\" refuses such ways\n"
       "p.toml:2:6: warning: processors from Broadwell to Cascade Lake fill ways 9-10 of L3 domain "
       "0 as one: 'redis', exclusive, has one of them, and the default group the other\n"
       "    2 | l3 = \"10 ways\"\n      |      ^~~~~~~~~ give both to one group, or to none that "
       "is "
       "exclusive\n"
       "schemata  default  L3:0=400 (was 0=7ff)\ncreate    redis\nschemata  redis  L3:0=3ff "
       "MB:0=100\n3 steps; groups: 1 to create, 1 to change, 0 to remove.\n"},
      {"[group.redis]\nl3 = \"10 ways\"\nexclusive = \"strict\"\n",
       "p.toml:2:6: error: 10 ways asked for exclusively (redis 10), but L3 domain 0 has 11 ways, "
       "2 of them also filled by I/O devices, which exclusive = \"strict\" excludes\n    2 | l3 = "
       "\"10 ways\"\n      |      ^~~~~~~~~\n"},
      // As few of them in these ways as possible: the kernel guards the others.
      {"[group.a]\nl3 = \"3 ways\"\nexclusive = true\n[group.b]\nl3 = \"3 ways\"\nexclusive = "
       "true\n[group.c]\nl3 = \"3 ways\"\nexclusive = \"strict\"\n[group.d]\nl3 = \"1 "
       "way\"\nexclusive = true\n",
       "p.toml:11:6: warning: I/O devices can fill way 9 of L3 domain 0, exclusive to 'd'\n   11 | "
       "l3 = \"1 way\"\n      |      ^~~~~~~ exclusive = \"strict\" refuses such ways\n"
       "p.toml:11:6: warning: processors from Broadwell to Cascade Lake fill ways 9-10 of L3 "
       "domain "
       "0 as one: 'd', exclusive, has one of them, and the default group the other\n   11 | "
       "l3 = \"1 way\"\n      |      ^~~~~~~ give both to one group, or to none that is exclusive\n"
       "schemata  default  L3:0=400 (was 0=7ff)\ncreate    a\nschemata  a  L3:0=7 MB:0=100\ncreate "
       "   "
       "b\nschemata  b  L3:0=38 MB:0=100\ncreate    c\nschemata  c  L3:0=1c0 MB:0=100\ncreate    "
       "d\nschemata  d  L3:0=200 MB:0=100\nmode      a  exclusive\nmode      b  exclusive\nmode    "
       " "
       " c  exclusive\n12 steps; groups: 4 to create, 1 to change, 0 to remove.\n"},
      // The whole cache in disjoint parts, one of them with the default group.
      {"[partition.p]\nl3 = \"60%\"\n[partition.q]\nl3 = \"40%\"\n[group.a]\npartition = "
       "\"p\"\n[group.default]\npartition = \"q\"\n",
       "p.toml:4:6: warning: I/O devices can fill ways 9-10 of L3 domain 0, exclusive to partition "
       "'q'\n    4 | l3 = \"40%\"\n      |      ^~~~~ exclusive = \"strict\" refuses such ways\n"
       "schemata  default  L3:0=780 (was 0=7ff)\ncreate    a\nschemata  a  L3:0=7f MB:0=100\nmode  "
       "    a  exclusive\n4 steps; groups: 1 to create, 1 to change, 0 to remove.\n"}};
  for (const PlanRow& row : rows)
    EXPECT_EQ(plan_text(row.policy, capabilities, untouched(capabilities)), row.plan) << row.policy;
}

// Who shares an exclusive way because the processor does not keep the two ways of devices apart.
TEST(Plan, WaysThatAreOne) {
  Capabilities capabilities = machine(11, 1);
  CacheInfo& cache = capabilities.caches.at(Resource::L3);
  cache.shareable_bits = Cbm{0x600};
  const auto warned = [&](const std::string& policy) {
    const std::string text = plan_text(policy, capabilities, untouched(capabilities));
    const size_t at = text.find("processors from Broadwell");
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  const std::string a = "[group.a]\nl3 = \"ways 0-9\"\nexclusive = true\n",
                    b = "[group.b]\nl3 = \"ways 10\"\nexclusive = true\n",
                    start =
                        "processors from Broadwell to Cascade Lake fill ways 9-10 of L3 domain "
                        "0 as one: 'a', exclusive, has one of them, and ";
  EXPECT_EQ(warned(a), start + "the default group the other");
  EXPECT_EQ(warned(a + "[group.c]\n"), start + "'c', the default group the other");
  EXPECT_EQ(warned("[group.a]\nl3 = \"ways 8-9\"\nexclusive = true\n" + b),
            start + "'b' the other");
  EXPECT_EQ(warned("[group.a]\nl3 = \"ways 9-10\"\nexclusive = true\n"), "");
  EXPECT_EQ(warned("[group.a]\nl3 = \"ways 9\"\n[group.c]\nl3 = \"ways 10\"\n"), "");
  EXPECT_EQ(warned("[group.default]\nl3 = \"ways 0-1\"\n[group.a]\nl3 = \"ways 10\"\nexclusive = "
                   "true\n"),
            "");
  EXPECT_EQ(warned("[group.default]\n" + a), start + "'default' the other");
  EXPECT_EQ(warned("[partition.a]\nl3 = \"ways 0-9\"\n[group.g]\npartition = \"a\"\n"),
            "processors from Broadwell to Cascade Lake fill ways 9-10 of L3 domain 0 as one: "
            "partition 'a', exclusive, has one of them, and the default group the other");
  cache.sparse_masks = true;
  EXPECT_EQ(warned(a), "");
  cache.sparse_masks = false;
  capabilities.caches.at(Resource::L3).shareable_bits = Cbm{0x3};
  EXPECT_EQ(warned("[group.a]\nl3 = \"ways 1-10\"\nexclusive = true\n"), "");
}

TEST(Plan, LeastBitsAndSparseMasks) {
  Capabilities capabilities = machine(20, 1);
  capabilities.caches.at(Resource::L3).min_cbm_bits = 2;
  EXPECT_EQ(
      plan_text("[group.a]\nl3 = \"1%\"\n", capabilities, untouched(capabilities)),
      "create    a\nschemata  a  L3:0=3 MB:0=100\n2 steps; groups: 1 to create, 0 to change, 0 to "
      "remove.\n");
  EXPECT_EQ(plan_text("[group.a]\nl3 = \"1 way\"\n", capabilities, untouched(capabilities)),
            "p.toml:2:6: error: '1 way' is too little: a mask of L3 has at least 2 ways "
            "(min_cbm_bits)\n    2 | l3 = \"1 way\"\n      |      ^~~~~~~ write \"2 ways\"\n");
  capabilities.caches.at(Resource::L3).sparse_masks = true;
  EXPECT_EQ(
      plan_text("[group.a]\nl3 = \"0x35\"\n", capabilities, untouched(capabilities)),
      "create    a\nschemata  a  L3:0=35 MB:0=100\n2 steps; groups: 1 to create, 0 to change, 0 to "
      "remove.\n");
}

}  // namespace
}  // namespace rdtd
