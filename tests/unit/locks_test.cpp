// Pseudo-locked regions: where they are placed, which steps make and undo them, and what is
// refused.
#include <gtest/gtest.h>

#include "rdtd/model/machine.hpp"
#include "rdtd/plan/prepare.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

using test::group_state;
using test::plan_text;
using test::untouched;

// Two L2 caches of 8 ways of 512 KiB.
Capabilities atom() {
  Capabilities out;
  CacheInfo& l2 = out.caches[Resource::L2];
  l2.cbm_mask = Cbm{0xff};
  l2.num_closids = 4;
  l2.way_bytes = {{DomainId{0}, 512 << 10}, {DomainId{1}, 512 << 10}};
  out.pseudo_locking = true;
  return out;
}

std::string lock(const std::string& name, const std::string& amount, const char* domain = "1") {
  return "[pseudo_lock." + name + "]\nl2 = { \"" + domain + "\" = \"" + amount + "\" }\n";
}

const std::string buffer_policy = lock("buffer", "1 MiB");

// rdtd has locked ways of domain 1 for 'buffer'; the default group has the others.
Snapshot locked(const std::string& mask, const std::string& rest) {
  Snapshot out = untouched(atom());
  out.groups[""] = group_state("L2:0=ff;1=" + rest + "\n");
  out.groups["buffer"] = group_state("L2:1=" + mask + "\n", Mode::pseudo_locked);
  out.owned = {"", "buffer"};
  return out;
}

Snapshot with(Snapshot snapshot, const std::string& name, const std::string& schemata,
              Mode mode = Mode::shareable) {
  snapshot.groups[name] = group_state(schemata, mode);
  return snapshot;
}

Snapshot busy(Snapshot snapshot) {
  snapshot.busy_locks["buffer"] = "process 812 (app) has /dev/pseudo_lock/buffer open";
  return snapshot;
}

TEST(Locks, Steps) {
  const struct {
    std::string policy;
    Snapshot now;
    std::string plan;
  } rows[] = {
      {buffer_policy, untouched(atom()),
       "schemata  default  L2:1=fc (was 1=ff)\ncreate    buffer\nlock      buffer  L2:1=3\n3 "
       "steps; groups: 1 to create, 1 to change, 0 to remove.\n"},
      {buffer_policy, locked("3", "fc"), "Nothing to change.\n"},
      // It stays where it is.
      {buffer_policy, locked("30", "f"), "Nothing to change.\n"},
      {"", locked("3", "fc"),
       "remove    buffer\nschemata  default  L2:1=ff (was 1=fc)\n2 steps; groups: 0 to create, 1 "
       "to "
       "change, 1 to remove.\n"},
      {lock("buffer", "3 ways"), locked("3", "fc"),
       "remove    buffer\nschemata  default  L2:1=f8 (was 1=fc)\ncreate    buffer\nlock      "
       "buffer  L2:1=7\n4 steps; groups: 1 to create, 1 to change, 1 to remove.\n"},
      // Another policy does not move it, unless only that makes room.
      {buffer_policy + "[group.a]\nl2 = \"4 ways\"\nexclusive = true\n", locked("c", "f3"),
       "schemata  default  L2:0=f0;1=3 (was 0=ff;1=f3)\ncreate    a\nschemata  a  "
       "L2:0=f;1=f0\nmode      a  exclusive\n4 steps; groups: 1 to create, 1 to change, 0 to "
       "remove.\n"},
      {buffer_policy + "[group.a]\nl2 = \"ways 2-3\"\n", locked("c", "f3"),
       "remove    buffer\nschemata  default  L2:1=fc (was 1=f3)\ncreate    a\nschemata  a  "
       "L2:0-1=c\ncreate    buffer\nlock      buffer  L2:1=3\n6 steps; groups: 2 to create, 1 to "
       "change, 1 "
       "to remove.\n"},
      // The domain was offline for a while, and the region is lost.
      {buffer_policy, with(locked("3", "fc"), "buffer", "", Mode::pseudo_locked),
       "remove    buffer\ncreate    buffer\nlock      buffer  L2:1=3\n3 steps; groups: 1 to "
       "create, 0 to "
       "change, 1 to remove.\n"},
      // Beside other tools: no group may fill the ways.
      {buffer_policy, with(untouched(atom()), "theirs", "L2:0=1;1=1\n"),
       "schemata  default  L2:1=f8 (was 1=ff)\ncreate    buffer\nlock      buffer  L2:1=6\n3 "
       "steps; groups: 1 to create, 1 to change, 0 to remove.\n"},
  };
  for (const auto& row : rows) EXPECT_EQ(plan_text(row.policy, atom(), row.now), row.plan);
}

// L3 beside L2, in one domain or in two.
Capabilities two_caches(unsigned l3_domains) {
  Capabilities out = atom();
  out.caches[Resource::L3] = out.caches[Resource::L2];
  if (l3_domains == 1) out.caches[Resource::L3].way_bytes.erase(DomainId{1});
  return out;
}

std::string lock_l3(const std::string& name, const std::string& amount) {
  return "[pseudo_lock." + name + "]\nl3 = { \"0\" = \"" + amount + "\" }\n";
}

TEST(Locks, Refusals) {
  Capabilities other_processor = atom();
  other_processor.pseudo_locking = false;
  Capabilities cdp = atom();
  const CacheInfo l2 = cdp.caches[Resource::L2];
  cdp.caches = {{Resource::L2CODE, l2}, {Resource::L2DATA, l2}};
  Capabilities large = atom();
  large.caches[Resource::L2].way_bytes[DomainId{1}] = 2 << 20;
  const struct {
    std::string policy;
    Capabilities machine;
    Snapshot now;
    std::string error;
  } rows[] = {
      {buffer_policy, other_processor, untouched(atom()),
       "p.toml:1:14: error: pseudo_lock 'buffer': the kernel cannot lock memory into the caches of "
       "this processor\n      | it can on some models only (Intel Broadwell-X, Apollo Lake, Gemini "
       "Lake)\n"},
      {buffer_policy, cdp, untouched(cdp),
       "p.toml:1:14: error: pseudo_lock 'buffer': the kernel locks no memory while a cache is "
       "divided into code and data\n      | mount resctrl without cdp and cdpl2\n"},
      {lock("buffer", "3 ways"), large, untouched(large),
       "p.toml:2:14: error: pseudo_lock 'buffer': the kernel locks at most 4096 KiB in one region, "
       "and 3 ways of L2 domain 1 hold 6144 KiB\n"},
      {lock("buffer", "8 ways"), atom(), untouched(atom()),
       "p.toml:2:14: error: 8 ways asked for exclusively (pseudo_lock 'buffer' 8), but L2 domain 1 "
       "has 8 ways, and 1 must be left to default\n"},
      {lock("buffer", "0x5"), atom(), untouched(atom()),
       "p.toml:2:14: error: pseudo_lock 'buffer': '0x5' has gaps; masks of L2 domain 1 must be "
       "contiguous\n      | write \"2 ways\"\n"},
      {lock("buffer", "1 MiB", "7"), atom(), untouched(atom()),
       "p.toml:2:8: error: unknown L2 domain 7\n      | this machine has 0-1\n"},
      {"[pseudo_lock.p]\nl3 = { \"0\" = \"1 MiB\" }\n", atom(), untouched(atom()),
       "p.toml:2:14: error: 'l3': resctrl offers no L3 here; it offers L2\n"
       "      | remove it; for machines of several kinds write unsupported = \"skip\" in "
       "[daemon]\n"},
      {buffer_policy + lock("other", "1 MiB"), atom(), untouched(atom()),
       "p.toml:4:8: error: pseudo_lock 'other' and pseudo_lock 'buffer' in p.toml:1 are both in L2 "
       "domain 1, and the kernel locks one region in a domain\n"},
      {buffer_policy, atom(), with(untouched(atom()), "buffer", "L2:1=3\n", Mode::pseudo_locked),
       "p.toml:1:14: error: group 'buffer' exists in resctrl already and rdtd did not make it\n    "
       "  | choose another name, or remove that group\n"},
      {buffer_policy, atom(), with(untouched(atom()), "theirs", "L2:1=f0\n", Mode::pseudo_locked),
       "p.toml:2:14: error: pseudo_lock 'buffer': group 'theirs', which rdtd did not make, is "
       "locked in L2 domain 1, and the kernel locks one region in a domain\n"},
      {buffer_policy, atom(), with(untouched(atom()), "theirs", "L2:0=ff;1=ff\n"),
       "p.toml:2:14: error: pseudo_lock 'buffer': no group may fill the ways of a region, and "
       "groups that rdtd did not make ('theirs') can fill ways of L2 domain 1\n"},
      // Another group that is elsewhere is not in the way.
      {lock("buffer", "ways 2-3"), atom(),
       with(with(untouched(atom()), "far", "L2:1=f0\n"), "near", "L2:1=c\n"),
       "p.toml:2:14: error: pseudo_lock 'buffer': no group may fill the ways of a region, and "
       "groups that rdtd did not make ('near') can fill ways of L2 domain 1\n"},
      // The only L3 is over all CPUs.
      {lock_l3("large", "1 MiB") + buffer_policy, two_caches(1), untouched(two_caches(1)),
       "p.toml:4:8: error: pseudo_lock 'buffer' in L2 domain 1 and pseudo_lock 'large' of p.toml:1 "
       "in L3 domain 0 are over the same CPUs, and the kernel locks one region there\n"},
      {buffer_policy, two_caches(1),
       with(untouched(two_caches(1)), "theirs", "L3:0=3\n", Mode::pseudo_locked),
       "p.toml:2:14: error: pseudo_lock 'buffer': group 'theirs', which rdtd did not make, is "
       "locked in L3, over the CPUs of L2 domain 1, and the kernel locks one region over the same "
       "CPUs\n"},
      // Of several, the kernel decides.
      {lock_l3("large", "1 MiB") + buffer_policy, two_caches(2), untouched(two_caches(2)),
       "granted"},
      // What the machine does not have is over no CPUs.
      {"[daemon]\nunsupported = \"skip\"\n" + lock_l3("large", "1 MiB") + lock("b", "1 MiB", "7"),
       two_caches(1), untouched(two_caches(1)), "granted"},
      {"[group.buffer]\n", atom(), busy(locked("3", "fc")),
       "p.toml:1:8: error: the name of group 'buffer' is not free: process 812 (app) has "
       "/dev/pseudo_lock/buffer open\n"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(test::refusal(row.policy, row.machine, row.now), row.error);
}

// Of CLOSIDs and RMIDs there are few: the text names who asks for one and who has one.
TEST(Locks, OutOfNumbers) {
  Capabilities two_closids = atom();
  two_closids.caches[Resource::L2].num_closids = 2;
  Capabilities one_closid = two_closids;
  one_closid.caches[Resource::L2].num_closids = 1;
  Capabilities two_rmids = atom();
  two_rmids.num_rmids = 2;
  Capabilities one_rmid = atom();
  one_rmid.num_rmids = 1;
  const struct {
    std::string policy;
    const Capabilities& machine;
    std::string error;
  } rows[] = {
      {buffer_policy + "[group.a]\n", two_closids,
       "p.toml:3:8: error: 1 group asked for (a), 2 CLOSIDs here: 1 is the default group's, 1 is "
       "needed while pseudo_lock 'buffer' is locked\n"},
      {buffer_policy, one_closid,
       "p.toml:1:14: error: 0 groups asked for, 1 CLOSID here: 1 is the default group's, 1 is "
       "needed while pseudo_lock 'buffer' is locked\n"},
      {buffer_policy, one_rmid,
       "p.toml:1:14: error: 0 groups asked for, 1 RMID here: 1 is the default group's, 1 is "
       "needed to lock a region (buffer)\n"},
      {buffer_policy + "[group.a]\n", two_rmids,
       "p.toml:3:8: error: 1 group asked for (a), 2 RMIDs here: 1 is the default group's, 1 is "
       "needed to lock a region (buffer)\n"},
      {buffer_policy + lock("other", "1 MiB", "0") + "[group.a]\n", two_rmids,
       "p.toml:5:8: error: 1 group asked for (a), 2 RMIDs here: 1 is the default group's, 2 are "
       "needed to lock regions (buffer, other)\n"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(test::refusal(row.policy, row.machine, untouched(row.machine)), row.error);
}

// What other tools keep from being locked is left out at the start, and named.
TEST(Locks, WhatFits) {
  const Machine machine{atom(), with(untouched(atom()), "theirs", "L2:0=ff;1=ff\n"), {}};
  const std::vector<PolicyFile> files = {{.path = "p.toml", .text = buffer_policy}};
  const auto prepared = prepare_what_fits(files, machine);
  ASSERT_TRUE(prepared && prepared->missing.size() == 1);
  EXPECT_EQ(prepared->missing[0].what, "pseudo_lock 'buffer' is");
  EXPECT_EQ(prepared->missing[0].reason,
            "pseudo_lock 'buffer': no group may fill the ways of a region, and groups that rdtd "
            "did not make ('theirs') can fill ways of L2 domain 1");
}

TEST(Locks, LeftOutWhereUnsupported) {
  Capabilities other_processor = atom();
  other_processor.pseudo_locking = false;
  EXPECT_EQ(
      plan_text("[daemon]\nunsupported = \"skip\"\n" + buffer_policy, other_processor,
                untouched(atom())),
      "p.toml:3:14: warning: not available on this machine, left out: pseudo_lock 'buffer': the "
      "kernel cannot lock memory into the caches of this processor\n    3 | [pseudo_lock.buffer]\n "
      "     |              ^~~~~~ it can on some models only (Intel Broadwell-X, Apollo Lake, "
      "Gemini Lake)\nNothing to change.\n");
}

// What is left out needs no CLOSID.
TEST(Locks, LeftOutWithoutACost) {
  Capabilities small = atom();
  small.pseudo_locking = false;
  small.caches[Resource::L2].num_closids = 2;
  small.num_rmids = 2;
  const auto plan = make_plan(
      test::parse("[daemon]\nunsupported = \"skip\"\n" + buffer_policy + "[group.a]\n").policy,
      small, untouched(small));
  EXPECT_TRUE(plan) << format_diagnostics(plan.error(), {});
  // Nor where the processor can lock, but lacks the cache or the domain.
  small.pseudo_locking = true;
  for (const std::string& locks :
       {lock_l3("b", "1 MiB"), lock("b", "1 MiB", "7") + lock("c", "1 MiB", "7")}) {
    const std::string policy = "[daemon]\nunsupported = \"skip\"\n" + locks + "[group.a]\n";
    EXPECT_EQ(test::refusal(policy, small, untouched(small)), "granted") << policy;
  }
}

// What is open stays, and the plan says what waits for it.
TEST(Locks, InUse) {
  const struct {
    std::string policy;
    std::string plan;
    std::string missing;
  } rows[] = {
      {"", "Nothing to change.\n", "the end of pseudo_lock 'buffer' is"},
      {lock("buffer", "3 ways"), "Nothing to change.\n", "the change of pseudo_lock 'buffer' is"},
      {lock("buffer", "ways 4-5"), "Nothing to change.\n", "the change of pseudo_lock 'buffer' is"},
      {lock("buffer", "2 ways", "0"), "Nothing to change.\n", "the end of pseudo_lock 'buffer' is"},
      {"[group.a]\nl2 = { \"1\" = \"6 ways\" }\n",
       "create    a\nschemata  a  L2:0=ff;1=fc\n2 steps; groups: 1 to create, 0 to change, 0 to "
       "remove.\n",
       "the end of pseudo_lock 'buffer' is"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(plan_text(row.policy, atom(), busy(locked("3", "fc"))), row.plan) << row.policy;
    const auto prepared =
        prepare(std::vector{PolicyFile{"p.toml", PolicyFile::State::active, row.policy, {}}},
                {atom(), busy(locked("3", "fc")), {}});
    ASSERT_TRUE(prepared && prepared->missing.size() == 1) << row.policy;
    EXPECT_EQ(prepared->missing[0].what, row.missing);
    EXPECT_EQ(prepared->missing[0].reason, "process 812 (app) has /dev/pseudo_lock/buffer open");
  }
  EXPECT_EQ(
      test::refusal("[group.a]\nl2 = \"7 ways\"\nexclusive = true\n", atom(),
                    busy(locked("3", "fc"))),
      "p.toml:2:6: error: 7 ways asked for exclusively (a 7), but L2 domain 1 has 8 ways, 2 held "
      "by pseudo_lock 'buffer', which is still in use, and 1 must be left to default\n");
  EXPECT_EQ(
      test::refusal(buffer_policy + "[group.a]\nl2 = \"ways 0-3\"\n", atom(),
                    busy(locked("3", "fc"))),
      "p.toml:4:6: error: a: 'ways 0-3' overlaps ways 0-1 of L2 domain 1, held by pseudo_lock "
      "'buffer', which is still in use\n");
  EXPECT_EQ(test::refusal(lock("other", "1 MiB"), atom(), busy(locked("3", "fc"))),
            "p.toml:2:14: error: pseudo_lock 'other': pseudo_lock 'buffer', which is still in use, "
            "is locked in L2 domain 1, and the kernel locks one region in a domain\n");
}

TEST(Locks, Differences) {
  const auto plan = make_plan(test::parse(buffer_policy).policy, atom(), untouched(atom()));
  ASSERT_TRUE(plan);
  const auto texts = [&](Snapshot now) {
    std::string out;
    for (const Difference& difference : differences(plan->groups, plan->locks, plan->io, now))
      out += difference.text + "\n";
    return out;
  };
  EXPECT_EQ(texts(locked("3", "fc")), "");
  Snapshot gone = locked("3", "fc");
  gone.groups.erase("buffer");
  EXPECT_EQ(texts(gone), "pseudo_lock 'buffer' is not there\n");
  EXPECT_EQ(texts(with(locked("3", "fc"), "buffer", "", Mode::pseudo_locked)),
            "pseudo_lock 'buffer' has lost its region\n");
  Snapshot taken = locked("3", "fc");
  taken.owned.erase("buffer");
  EXPECT_EQ(texts(taken), "pseudo_lock 'buffer' was removed and made again by another tool\n");
}

TEST(Locks, Processors) {
  const auto cpuinfo = [](const char* vendor, const char* family, const char* model) {
    return std::string("processor\t: 0\nvendor_id\t: ") + vendor + "\ncpu family\t: " + family +
           "\nmodel\t\t: " + model + "\nmodel name\t: x\n\nprocessor\t: 1\nmodel\t\t: 92\n";
  };
  EXPECT_TRUE(can_pseudo_lock(cpuinfo("GenuineIntel", "6", "92")));
  EXPECT_TRUE(can_pseudo_lock(cpuinfo("GenuineIntel", "6", "79")));
  EXPECT_FALSE(can_pseudo_lock(cpuinfo("GenuineIntel", "6", "106")));
  EXPECT_FALSE(can_pseudo_lock(cpuinfo("AuthenticAMD", "6", "92")));
  EXPECT_FALSE(can_pseudo_lock(cpuinfo("GenuineIntel", "15", "92")));
  EXPECT_FALSE(can_pseudo_lock(""));
}

Capabilities two_ways_at_least() {
  Capabilities out = atom();
  out.caches.at(Resource::L2).min_cbm_bits = 2;
  return out;
}

// The kernel makes a group only if the lowest ways that it offers are enough for a mask: rdtd's own
// groups leave the exclusive mode meanwhile.
TEST(Locks, BelowAnExclusiveGroup) {
  const std::string a = "[group.a]\nl2 = \"ways 1-2\"\nexclusive = true\n";
  const Capabilities two = two_ways_at_least();
  const std::string plan = plan_text(a + lock("buffer", "2 ways"), two, untouched(two));
  EXPECT_EQ(plan.substr(plan.find("schemata")),
            "schemata  default  L2:0=f8;1=e0 (was 0-1=ff)\n"
            "create    a\n"
            "schemata  a  L2:0-1=6\n"
            "mode      a  exclusive\n"
            "mode      a  shareable\n"
            "create    buffer\n"
            "lock      buffer  L2:1=18\n"
            "mode      a  exclusive\n"
            "8 steps; groups: 2 to create, 1 to change, 0 to remove.\n");
  EXPECT_EQ(test::refusal("[group.a]\nl2 = { \"1\" = \"ways 3-4\" }\nexclusive = true\n" +
                              lock("buffer", "2 ways"),
                          two, untouched(two)),
            "granted");
}

// Nor do regions leave ways, nor the groups of others.
TEST(Locks, NoPlaceForNewGroups) {
  const Capabilities two = two_ways_at_least();
  EXPECT_EQ(test::refusal(lock("buffer", "2 ways"), two,
                          with(untouched(two), "theirs", "L2:0=6\n", Mode::pseudo_locked)),
            "p.toml:1:14: error: pseudo_lock 'buffer' cannot be locked: the kernel gives a new "
            "group the lowest ways that are free in L2 domain 0, and below exclusive groups and "
            "regions these are fewer than the 2 ways of a mask (min_cbm_bits)\n");
  EXPECT_EQ(
      test::refusal(lock("first", "ways 1-2", "0") + lock("buffer", "2 ways"), two, untouched(two)),
      "p.toml:3:14: error: pseudo_lock 'buffer' cannot be locked: the kernel gives a new group the "
      "lowest ways that are free in L2 domain 0, and below exclusive groups and regions these are "
      "fewer than the 2 ways of a mask (min_cbm_bits)\n");
  EXPECT_EQ(test::refusal(lock("buffer", "ways 1-2") + "[group.a]\n", two, locked("6", "f8")),
            "p.toml:3:8: error: group 'a' cannot be created: the kernel gives a new group the "
            "lowest ways that are free in L2 domain 1, and below exclusive groups and regions "
            "these are fewer than the 2 ways of a mask (min_cbm_bits)\n");
}

// Where other masks can have gaps, a region still cannot.
TEST(Locks, SparseMasks) {
  Capabilities sparse = atom();
  sparse.caches.at(Resource::L2).sparse_masks = true;
  EXPECT_EQ(test::refusal("[group.a]\nl2 = \"0xaa\"\nexclusive = true\n" + lock("buffer", "25%"),
                          sparse, untouched(sparse)),
            "p.toml:5:14: error: pseudo_lock 'buffer': '25%' (2 ways) does not fit in L2 domain 1: "
            "4 ways are free, but not side by side: ways 0, 2, 4 and 6\n");
  EXPECT_EQ(test::refusal(lock("buffer", "0x5"), sparse, untouched(sparse)),
            "p.toml:2:14: error: pseudo_lock 'buffer': '0x5' has gaps; the ways of a region in L2 "
            "domain 1 must be side by side\n      | write \"2 ways\"\n");
  EXPECT_EQ(test::refusal(lock("buffer", "2 ways"), sparse,
                          with(untouched(sparse), "theirs", "L2:0=aa;1=aa\n")),
            "p.toml:2:14: error: pseudo_lock 'buffer': no group may fill the ways of a region, and "
            "groups that rdtd did not make ('theirs') can fill ways of L2 domain 1\n");
}

TEST(Locks, BesideDevices) {
  Capabilities machine = atom();
  CacheInfo& l2 = machine.caches.at(Resource::L2);
  l2.shareable_bits = Cbm{0xf0};
  EXPECT_EQ(test::refusal(lock("buffer", "ways 3-4"), machine, untouched(machine)),
            "p.toml:2:14: error: pseudo_lock 'buffer': 'ways 3-4' cannot be locked: I/O devices "
            "fill way 4 of L2 domain 1 too\n");
  EXPECT_EQ(
      test::refusal(lock("buffer", "5 ways"), machine, untouched(machine)),
      "p.toml:2:14: error: 5 ways asked for exclusively (pseudo_lock 'buffer' 5), but L2 domain 1 "
      "has 8 ways, 4 of them also filled by I/O devices, where no region can be locked\n");
  EXPECT_EQ(test::refusal(
                "[group.a]\nl2 = \"2 ways\"\nexclusive = \"strict\"\n" + lock("buffer", "3 ways"),
                machine, untouched(machine)),
            "p.toml:5:14: error: 5 ways asked for exclusively (a 2, pseudo_lock 'buffer' 3), but "
            "L2 domain 1 has 8 ways, 4 of them also filled by I/O devices, which exclusive = "
            "\"strict\" excludes\n");
  l2.way_bytes[DomainId{1}] = 5 << 20;
  EXPECT_EQ(test::refusal(lock("buffer", "1 way"), machine, untouched(machine)),
            "p.toml:2:14: error: pseudo_lock 'buffer': the kernel locks at most 4096 KiB in one "
            "region, and 1 way of L2 domain 1 holds 5120 KiB\n");
}

}  // namespace
}  // namespace rdtd
