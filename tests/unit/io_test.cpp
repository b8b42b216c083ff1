// [io], the ways that I/O devices fill: its errors, where it is placed beside groups, which steps
// lead to it and away from it, and what is refused.
#include <gtest/gtest.h>

#include "policy_support.hpp"
#include "rdtd/plan/prepare.hpp"

namespace rdtd {
namespace {

using test::group_state;
using test::parse;
using test::plan_text;
using test::untouched;

// L3 of 8 ways and 8 CLOSIDs on `domains` domains, with io_alloc; MB has 8 CLOSIDs too.
Capabilities machine(unsigned domains = 1) {
  Capabilities out = test::machine(8, domains, 8);
  out.caches[Resource::L3].io_alloc = true;
  return out;
}

// The machine after io_alloc was enabled with this mask, by rdtd or not.
Snapshot with_io(uint32_t mask, bool owned, Snapshot snapshot = untouched(machine())) {
  snapshot.io = {{Resource::L3, {{DomainId{0}, mask}}}};
  if (owned) snapshot.owned.insert(std::string(io_group));
  return snapshot;
}

const std::string io = "[io]\nl3 = \"2 ways\"\n";
const std::string db = "[group.db]\nl3 = \"4 ways\"\nexclusive = true\n";
const std::string strict_db = "[group.db]\nl3 = \"4 ways\"\nexclusive = \"strict\"\n";

TEST(IoPolicy, Errors) {
  const test::PolicyAndErrors rows[] = {
      {"[io]\nl3 = \"2 ways\"\nx-note = 1\n", ""},
      {"[io]\nl3 = { \"0\" = \"2 ways\", \"*\" = \"all\" }\n", ""},
      {"io = 2\n",
       "p.toml:1:6: error: 'io' must be a table, not an integer\n    1 | io = 2\n      |      ^ "
       "write [io]\n"},
      {"[io]\n",
       "p.toml:1:2: error: [io] has no cache amount\n    1 | [io]\n      |  ^~ write l3 = \"2 "
       "ways\"\n"},
      {"[io]\nl2 = \"2 ways\"\n",
       "p.toml:2:1: error: unknown key 'l2' in [io]\n    2 | l2 = \"2 ways\"\n      | ^~ did you "
       "mean 'l3'?\n"},
      {"[io]\nllc = \"2 ways\"\n",
       "p.toml:2:1: error: unknown key 'llc' in [io]\n    2 | llc = \"2 ways\"\n      | ^~~ did "
       "you "
       "mean 'l3'?\n"},
      {"[io]\nl3 = 2\n",
       "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an "
       "integer\n    2 | l3 = 2\n      |      ^ write \"2 ways\"\n"},
      {"[io]\nl3 = \"remainder\"\n",
       "p.toml:2:6: error: 'remainder' is for the default group\n    2 | l3 = \"remainder\"\n      "
       "|      ^~~~~~~~~~~ write \"all\" for all available ways\n"},
      {"[io]\nl3 = \"2 ways\"\noverride = \"yes\"\n",
       "p.toml:3:12: error: 'override' must be true or false, not a string\n    3 | override = "
       "\"yes\"\n      |            ^~~~~ write override = true\n"},
      {"[io_alloc]\nl3 = \"2 ways\"\n",
       "p.toml:1:2: error: unknown key 'io_alloc' in a policy\n    1 | [io_alloc]\n      |  "
       "^~~~~~~~ write [io]\n"},
  };
  test::expect_errors(rows);
}

TEST(IoPolicy, Override) {
  const auto parse_both = [&](const std::string& second) {
    return parse_policy(std::vector{PolicyFile{"1.toml", PolicyFile::State::active, io, {}},
                                    PolicyFile{"2.toml", PolicyFile::State::active, second, {}}});
  };
  const std::string three = "[io]\nl3 = \"3 ways\"\n";
  EXPECT_EQ(format_diagnostics(parse_both(three).diagnostics, {}),
            "2.toml:1:2: error: [io] is defined twice: here and in 1.toml:1\n      | 'override = "
            "true' here would replace that one\n");
  const ParsedPolicy replaced = parse_both(three + "override = true\n");
  EXPECT_TRUE(replaced.diagnostics.empty());
  EXPECT_EQ(replaced.policy.io->amounts.at(Resource::L3).front().amount.value.text, "3 ways");
  EXPECT_FALSE(replaced.policy.divides_nothing());
}

TEST(Io, Steps) {
  Snapshot leaving = untouched(machine());
  leaving.groups["old"] = group_state("L3:0=ff\nMB:0=100\n");
  leaving.owned = {"", "old"};
  const struct {
    std::string policy;
    Snapshot now;
    std::string plan;
  } rows[] = {
      {io, untouched(machine()),
       "io_alloc  I/O  L3 enabled\nschemata  I/O  L3:0=3\n2 steps; groups: 0 to create, 1 to "
       "change, 0 to "
       "remove.\n"},
      {io, with_io(3, true), "Nothing to change.\n"},
      // Another tool enabled it: its masks are set, and stay when [io] goes.
      {io, with_io(0xff, false),
       "schemata  I/O  L3:0=3 (was 0=ff)\n1 step; groups: 0 to create, 1 to change, 0 to "
       "remove.\n"},
      {"", with_io(3, false), "Nothing to change.\n"},
      {"", with_io(3, true),
       "io_alloc  I/O  L3 disabled\n1 step; groups: 0 to create, 1 to change, 0 to remove.\n"},
      // It has its CLOSID before the groups, and ways beside them.
      {io + db, untouched(machine()),
       "schemata  default  L3:0=f0 (was 0=ff)\nio_alloc  I/O  L3 enabled\nschemata  I/O  L3:0=30\n"
       "create    db\nschemata  db  L3:0=f MB:0=100\nmode      db  exclusive\n6 steps; groups: 1 "
       "to "
       "create, "
       "2 to change, 0 to remove.\n"},
      // The devices keep their place unless an exclusive group names it.
      {io + db, with_io(3, true),
       "p.toml:4:6: warning: nobody fills ways 6-7 of L3 domain 0: the groups keep their places, "
       "which leaves the other ways in pieces\n    4 | l3 = \"4 ways\"\n      |      ^~~~~~~~ "
       "'rdtctl reset' and 'rdtctl reload' place all groups again\n"
       "schemata  default  L3:0=3 (was 0=ff)\ncreate    db\nschemata  db  L3:0=3c MB:0=100\nmode   "
       "   db  exclusive\n4 steps; groups: 1 to create, 1 to change, 0 to remove.\n"},
      {io + "[group.db]\nl3 = \"ways 0-3\"\nexclusive = true\n", with_io(3, true),
       "schemata  default  L3:0=f0 (was 0=ff)\nschemata  I/O  L3:0=30 (was 0=3)\ncreate    db\n"
       "schemata  db  L3:0=f MB:0=100\nmode      db  exclusive\n5 steps; groups: 1 to create, 2 to "
       "change, "
       "0 to remove.\n"},
      // A group that goes may hold the highest CLOSID.
      {io, leaving,
       "remove    old\nio_alloc  I/O  L3 enabled\nschemata  I/O  L3:0=3\n3 steps; groups: 0 to "
       "create, 1 "
       "to "
       "change, 1 to remove.\n"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(plan_text(row.policy, machine(), row.now), row.plan) << row.policy;
}

// Its CLOSID counts: a group goes before another one comes.
TEST(Io, ClosidsInTheSteps) {
  Capabilities small = machine();
  small.caches[Resource::L3].num_closids = 3;
  Snapshot now = with_io(3, true);
  now.groups["a"] = group_state("L3:0=ff\nMB:0=100\n");
  now.owned.insert({"", "a"});
  EXPECT_EQ(
      plan_text(io + "[group.b]\n", small, now),
      "remove    a\ncreate    b\nschemata  b  L3:0=ff MB:0=100\n3 steps; groups: 1 to create, 0 to "
      "change, 1 to remove.\n");
  EXPECT_EQ(plan_text("[group.a]\n[group.b]\n", small, now),
            "io_alloc  I/O  L3 disabled\ncreate    b\nschemata  b  L3:0=ff MB:0=100\n3 steps; "
            "groups: 1 to "
            "create, 1 to change, 0 to remove.\n");
}

// The kernel mirrors the masks of code and data.
TEST(Io, CodeAndData) {
  Capabilities cdp = machine();
  const CacheInfo l3 = cdp.caches[Resource::L3];
  cdp.caches = {{Resource::L3CODE, l3}, {Resource::L3DATA, l3}};
  EXPECT_EQ(
      plan_text(io + "[group.a]\nl3code = \"1 way\"\nl3data = \"1 way\"\n", cdp, untouched(cdp)),
      "io_alloc  I/O  L3CODE enabled\nschemata  I/O  L3CODE:0=c\ncreate    a\nschemata  a  "
      "L3CODE:0=1 L3DATA:0=2 MB:0=100\n4 steps; groups: 1 to create, 1 to change, 0 to remove.\n");
}

TEST(Io, Domains) {
  const auto plan = make_plan(
      parse("[io]\nl3 = { \"0\" = \"2 ways\", \"1\" = \"ways 4-5\" }\n[group.a]\nl3 = \"2 ways\"\n")
          .policy,
      machine(3), untouched(machine(3)));
  ASSERT_TRUE(plan && plan->io);
  EXPECT_EQ(schemata_line(plan->io->state.schemata), "L3:0=c;1=30;2=ff");
  EXPECT_EQ(schemata_line(plan->io->asked.empty() ? Schemata{} : plan->groups[0].state.schemata),
            "L3:0-2=3 MB:0-2=100");
}

TEST(Io, Refusals) {
  Capabilities without = machine();
  without.caches[Resource::L3].io_alloc = false;
  Capabilities no_l3 = machine();
  no_l3.caches[Resource::L2] = no_l3.caches[Resource::L3];
  no_l3.caches.erase(Resource::L3);
  Capabilities few_elsewhere = machine();
  few_elsewhere.bandwidths[Resource::MB].num_closids = 4;
  Capabilities small = machine();
  small.caches[Resource::L3].num_closids = 3;
  const struct {
    std::string policy;
    Capabilities machine;
    Snapshot now;
    std::string error;
  } rows[] = {
      {io, without, untouched(without),
       "p.toml:1:2: error: [io]: the ways that I/O devices fill cannot be set here (io_alloc)\n    "
       "  | that requires Linux 6.19 and an AMD processor with SDCIAE\n"},
      {io, no_l3, untouched(no_l3),
       "p.toml:2:6: error: 'l3': resctrl offers no L3 here; it offers L2, MB\n"
       "      | remove it; for machines of several kinds write unsupported = \"skip\" in "
       "[daemon]\n"},
      {io, few_elsewhere, untouched(few_elsewhere),
       "p.toml:1:2: error: [io]: I/O devices need CLOSID 7 (io_alloc), and the highest one that "
       "all "
       "resources have is 3\n"},
      {"[io]\nl3 = { \"7\" = \"1 way\" }\n", machine(), untouched(machine()),
       "p.toml:2:8: error: unknown L3 domain 7\n      | this machine has 0\n"},
      {io + "[group.a]\n[group.b]\n", small, untouched(small),
       "p.toml:4:8: error: 2 groups asked for (a, b), 3 CLOSIDs here: 1 is the default group's, "
       "I/O devices (io_alloc) hold one\n"},
      {"[group.a]\n[group.b]\n", small, with_io(3, false),
       "p.toml:2:8: error: 2 groups asked for (a, b), 3 CLOSIDs here: 1 is the default group's, "
       "I/O devices (io_alloc) hold one\n"},
      {"[io]\nl3 = \"5 ways\"\n" + db, machine(), untouched(machine()),
       "p.toml:2:6: error: I/O: '5 ways' does not fit in L3 domain 0: 4 ways are left beside db (4 "
       "ways)\n      | write \"4 ways\"\n"},
      {"[io]\nl3 = \"0x3\"\n[group.db]\nl3 = \"ways 0-3\"\nexclusive = true\n", machine(),
       untouched(machine()),
       "p.toml:2:6: error: I/O: '0x3' overlaps ways 0-1 of L3 domain 0, exclusive to db "
       "(p.toml:4)\n"},
      {strict_db, machine(), with_io(0x3f, false),
       "p.toml:2:6: error: 4 ways asked for exclusively (db 4), but L3 domain 0 has 8 ways, 6 of "
       "them also filled by I/O devices (io_alloc, which rdtd did not enable: [io] would set their "
       "ways), which exclusive = \"strict\" excludes\n"},
      {"[group.db]\nl3 = \"ways 0-1\"\nexclusive = \"strict\"\n", machine(), with_io(3, false),
       "p.toml:2:6: error: db: 'ways 0-1' cannot be strictly exclusive: I/O devices (io_alloc, "
       "which rdtd did not enable: [io] would set their ways) fill ways 0-1 of L3 domain 0 too\n"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(test::refusal(row.policy, row.machine, row.now), row.error);
}

// Groups lie elsewhere than the devices if there is room, whoever set these.
TEST(Io, PlacementBesideTheMasksOfOthers) {
  EXPECT_EQ(plan_text(db, machine(), with_io(3, false)),
            "p.toml:2:6: warning: nobody fills ways 6-7 of L3 domain 0: the ways that are not "
            "exclusive are in pieces\n    2 | l3 = \"4 ways\"\n      |      ^~~~~~~~\n"
            "schemata  default  L3:0=3 (was 0=ff)\ncreate    db\nschemata  db  L3:0=3c MB:0=100\n"
            "mode      db  exclusive\n4 steps; groups: 1 to create, 1 to change, 0 to remove.\n");
  EXPECT_EQ(plan_text(db, machine(), with_io(0x3f, false)),
            "p.toml:2:6: warning: I/O devices (io_alloc, which rdtd did not enable: [io] would set "
            "their ways) can fill ways 4-5 of L3 domain 0, exclusive to 'db'\n    2 | l3 = \"4 "
            "ways\"\n      |      ^~~~~~~~ exclusive = \"strict\" refuses such ways\nschemata  "
            "default  L3:0=f (was 0=ff)\ncreate    db\nschemata  db  L3:0=f0 MB:0=100\n3 steps; "
            "groups: 1 to create, 1 to change, 0 to remove.\n");
}

TEST(Io, LeftOutWhereUnsupported) {
  Capabilities without = machine();
  without.caches[Resource::L3].io_alloc = false;
  EXPECT_EQ(
      plan_text("[daemon]\nunsupported = \"skip\"\n" + io, without, untouched(without)),
      "p.toml:3:2: warning: not available on this machine, left out: [io]: the ways that I/O "
      "devices fill cannot be set here (io_alloc)\n    3 | [io]\n      |  ^~ that requires Linux "
      "6.19 and an AMD processor with SDCIAE\nNothing to change.\n");
}

// At the start, the ways of devices that another tool set do not keep the rest.
TEST(Io, WhatFits) {
  Capabilities small = machine();
  small.caches[Resource::L3].num_closids = 3;
  Snapshot now = untouched(small);
  now.groups["theirs"] = group_state("L3:0=ff\nMB:0=100\n");
  const auto prepared = prepare_what_fits(
      std::vector{PolicyFile{"p.toml", PolicyFile::State::active, "[group.a]\n" + io, {}}},
      {small, now, {}});
  ASSERT_TRUE(prepared);
  ASSERT_EQ(prepared->missing.size(), 1U);
  EXPECT_EQ(prepared->missing[0].what, "the ways of I/O devices are");
  EXPECT_EQ(prepared->missing[0].reason,
            "1 group asked for (a), 3 CLOSIDs here: 1 is the default group's, 1 taken by a group "
            "that rdtd did not make (theirs), I/O devices (io_alloc) hold one");
  EXPECT_FALSE(prepared->policy.io);
}

TEST(Io, Differences) {
  const auto plan = make_plan(parse(io).policy, machine(), untouched(machine()));
  ASSERT_TRUE(plan);
  const auto texts = [&](const Snapshot& now) {
    std::string out;
    for (const Difference& difference : differences(plan->groups, plan->locks, plan->io, now))
      out += difference.text + "\n";
    return out;
  };
  EXPECT_EQ(texts(with_io(3, true)), "");
  EXPECT_EQ(texts(with_io(0xf0, true)), "I/O devices: L3:0=f0, granted L3:0=3\n");
  EXPECT_EQ(texts(untouched(machine())), "I/O devices: io_alloc is disabled\n");
}

}  // namespace
}  // namespace rdtd
