// Leases: what they change, and what is refused.
#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "property/random_case.hpp"
#include "rdtd/base/text.hpp"
#include "unit/support.hpp"
#include "lease_world.hpp"

namespace rdtd {
namespace {

using test::bench;
using test::redis_policy;

using LeasesTest = test::LeaseWorld;

TEST_F(LeasesTest, ItsRulesFollowThoseOfTheFiles) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t redis = processes.start({.name = "redis-server"});
  const pid_t tar = processes.start({.name = "tar"});
  ASSERT_EQ(lease("bench", bench + "[[rule]]\ngroup = \"bench\"\nname = [\"tar\", \"redis-*\"]\n"),
            "");
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(group_of(tar), "bench");
  const auto explained = manager->answers().explain(tar, std::nullopt);
  ASSERT_TRUE(explained);
  EXPECT_EQ(explained->trials.back().place, "lease:bench:3");
  close("bench");
  EXPECT_EQ(group_of(tar), "default");
}

// A group of the files may be replaced for a while.
TEST_F(LeasesTest, ReplacesAGroupOfTheFiles) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t redis = processes.start({.name = "redis-server"});
  manager->reconciler().reconcile();
  run();
  ASSERT_EQ(lease("a", "[group.redis]\noverride = true\nl3 = \"2 ways\"\n"), "");
  EXPECT_EQ(schemata("redis"), "L3:0-1=3 MB:0-1=100");
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(lease("b", "[group.redis]\noverride = true\nl3 = \"1 ways\"\n"),
            "lease:b:1:8: error: group 'redis' belongs to another lease, in lease:a:1\n"
            "    1 | [group.redis]\n"
            "      |        ^~~~~ a lease can replace groups of policy files only\n");
  // Closing it and asking for the next needs no pause between them.
  lease_fds.erase("a");
  EXPECT_EQ(lease("a", "[group.redis]\noverride = true\nl3 = \"3 ways\"\n"), "");
  EXPECT_EQ(schemata("redis"), "L3:0-1=7 MB:0-1=100");
  close("a");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(group_of(redis), "redis");
}

// Nobody has asked to restore what others changed.
TEST_F(LeasesTest, UnderReportLeaveWhatOthersChanged) {
  std::vector<std::string> told;
  manager->connect({.on_drift = [&](const std::string& text) { told.push_back(text); }});
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy +
                   "[group.gone]\nl3 = \"2 ways\"\ncpus = \"1-2\"\nmonitor_cpus = { x = \"1\" }\n"),
            "");
  ASSERT_TRUE(kernel.resctrl.write("redis/schemata", "L3:0=3\n"));
  ASSERT_TRUE(kernel.resctrl.remove("gone"));
  manager->reconciler().reconcile();
  run();
  const std::string left = "L3:0=3;1=f MB:0-1=100";
  ASSERT_EQ(schemata("redis"), left);
  const size_t known = told.size();
  ASSERT_GE(known, 2U);
  ASSERT_EQ(lease("bench", bench), "");
  EXPECT_EQ(schemata("bench"), "L3:0-1=c0 MB:0-1=100");
  EXPECT_EQ(schemata("redis"), left);
  close("bench");
  EXPECT_EQ(schemata("bench"), "none");
  EXPECT_EQ(schemata("redis"), left);
  EXPECT_EQ(schemata("gone"), "none");
  const std::vector<std::string> standing = {"group 'redis': L3:0=3, granted L3:0=f",
                                             "group 'gone' is not there"};
  EXPECT_EQ(problems(), standing);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(problems(), standing);
  EXPECT_EQ(told.size(), known) << told.back();
}

// Another tool took a CPU of a group: the end of a lease costs the group nothing else, and the CPU
// comes back when it is free.
TEST_F(LeasesTest, TheEndLeavesAGroupOfWhichOthersHaveACpu) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n[group.redis]\nl3 = \"4 ways\"\nexclusive = "
                   "true\ncpus = \"1-2\"\n[[rule]]\ngroup = \"redis\"\nname = \"redis-server\"\n"),
            "");
  const pid_t redis = processes.start({.name = "redis-server"});
  manager->reconciler().reconcile();
  run();
  ASSERT_EQ(lease("bench", bench), "");
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  ASSERT_TRUE(kernel.resctrl.write("theirs/cpus_list", "2\n"));
  close("bench");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(kernel.resctrl.read("redis/cpus_list"), "1\n");
  EXPECT_EQ(problems(), (std::vector<std::string>{
                            "CPUs of group 'redis' are not in force: CPU 2 belongs to group "
                            "'theirs', which rdtd did not make"}));
  ASSERT_TRUE(kernel.resctrl.remove("theirs"));
  clock += std::chrono::hours(1);
  manager->reconciler().reconcile();
  run(std::chrono::seconds(2));
  EXPECT_EQ(kernel.resctrl.read("redis/cpus_list"), "1-2\n");
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

// What is wanted otherwise than before is written; so is what is in the way.
TEST_F(LeasesTest, UnderReportWriteWhatTheyNeed) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n[group.redis]\nl3 = \"4 ways\"\n"), "");
  const auto change = [&](const char* mask) {
    ASSERT_TRUE(kernel.resctrl.write("redis/schemata", mask));
    manager->reconciler().reconcile();
    run();
  };
  change("L3:0=3\n");
  ASSERT_EQ(lease("bench", "[group.redis]\noverride = true\nl3 = \"3 ways\"\n"), "");
  EXPECT_EQ(schemata("redis"), "L3:0-1=7 MB:0-1=100");
  close("bench");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  change("L3:0=7ff\n");
  ASSERT_EQ(lease("bench", "[group.bench]\nl3 = \"2 ways\"\nexclusive = true\n"), "");
  EXPECT_EQ(schemata("redis"), "L3:0=3c;1=f MB:0-1=100");
  EXPECT_EQ(kernel.resctrl.find("bench")->mode, Mode::exclusive);
  close("bench");
  change("L3:0=3\n");
  ASSERT_EQ(reload(policy), "");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
}

TEST_F(LeasesTest, RefusesWithoutAChange) {
  ASSERT_EQ(reload(redis_policy), "");
  ASSERT_EQ(lease("bench", bench), "");
  const std::string before = tree();
  const struct {
    std::string name, policy, text;
    Refusal::Kind kind = Refusal::Kind::invalid_policy;
  } rows[] = {
      {"bench", "[group.b]\n", "there is a lease 'bench' already", Refusal::Kind::busy},
      {"a b", bench,
       "'a b' cannot be the name of a lease: a name consists of letters, digits, '.', '_' and "
       "'-'"},
      {"", bench, "'' cannot be the name of a lease: a name has at least one character"},
      {"a", "", "lease:a: error: the lease has neither a group nor a rule\n"},
      {"a", "version = 1\n", "lease:a: error: the lease has neither a group nor a rule\n"},
      {"a", "[daemon]\nlog_level = \"debug\"\n[group.b]\n",
       "lease:a:1:2: error: 'daemon' cannot be in a lease\n"
       "    1 | [daemon]\n"
       "      |  ^~~~~~ a lease has [group.NAME] and [[rule]] only\n"},
      {"a", "[io]\nl3 = \"1 ways\"\n[partition.p]\nl3 = \"1 ways\"\n[pseudo_lock.l]\n[group.b]\n",
       "lease:a:1:2: error: 'io' cannot be in a lease\n"
       "    1 | [io]\n"
       "      |  ^~ a lease has [group.NAME] and [[rule]] only\n"
       "lease:a:3:2: error: 'partition' cannot be in a lease\n"
       "    3 | [partition.p]\n"
       "      |  ^~~~~~~~~ a lease has [group.NAME] and [[rule]] only\n"
       "lease:a:5:2: error: 'pseudo_lock' cannot be in a lease\n"
       "    5 | [pseudo_lock.l]\n"
       "      |  ^~~~~~~~~~~ a lease has [group.NAME] and [[rule]] only\n"},
      {"a", "[group.b]\nadopt = true\n",
       "lease:a:1:8: error: group 'b': a lease cannot take over a group\n"
       "    1 | [group.b]\n"
       "      |        ^ adopt = true belongs in a policy file\n"},
      {"a", "[group.redis]\n",
       "lease:a:1:8: error: group 'redis' is defined twice: here and in p.toml:1\n"
       "    1 | [group.redis]\n"
       "      |        ^~~~~ 'override = true' here would replace that one\n"},
      {"a", "[[rule]]\ngroup = \"nowhere\"\nname = \"x\"\n",
       "lease:a:2:9: error: unknown group 'nowhere'\n"
       "    2 | group = \"nowhere\"\n"
       "      |         ^~~~~~~~~ add [group.nowhere], or name one of bench, redis\n"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(lease(row.name, row.policy), row.text);
    EXPECT_EQ(kind, row.kind) << row.text;
    EXPECT_EQ(tree(), before) << row.text;
    EXPECT_EQ(names(), "bench") << row.text;
    EXPECT_EQ(state(), "running") << row.text;
  }
}

// Any text that a policy file may hold, good or bad: a refusal changes nothing, and the end of what
// was accepted restores everything.
TEST_F(LeasesTest, AnyTextLeavesNothingBehind) {
  ASSERT_EQ(reload(redis_policy), "");
  const std::string before = tree();
  size_t refused = 0, accepted = 0;
  for (const auto& file : std::filesystem::directory_iterator(RDTD_POLICY_TEXTS)) {
    std::ifstream in(file.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (lease("any", text).empty()) {
      accepted++;
      close("any");
    } else {
      refused++;
    }
    ASSERT_EQ(names(), "") << file.path();
    ASSERT_EQ(tree(), before) << file.path();
    ASSERT_EQ(state(), "running") << file.path();
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(accepted, 0U);
}

TEST_F(LeasesTest, AreSixteenAtMost) {
  ASSERT_EQ(reload(redis_policy), "");
  for (int i = 0; i < 16; i++)
    ASSERT_EQ(lease(fmt::format("l{}", i),
                    fmt::format("[[rule]]\ngroup = \"redis\"\nname = \"n{}\"\n", i)),
              "");
  EXPECT_EQ(lease("more", bench), "there are 16 leases, and no more are possible");
  EXPECT_EQ(kind, Refusal::Kind::busy);
  // The guard is not one of them.
  EXPECT_EQ(lease("guard", bench), "");
  EXPECT_EQ(lease("more", bench), "there are 16 leases, and no more are possible");
  lease_fds.clear();
  poll_leases();
  EXPECT_EQ(names(), "");
  EXPECT_EQ(lease("more", bench), "");
}

// What the kernel refuses leaves no lease and no group.
TEST_F(LeasesTest, OnlySoManyRequestsWait) {
  start();
  std::vector<UniqueFd> granted;
  std::vector<std::string> refused;
  for (int i = 0; i < 20; i++)
    manager->changes().lease(fmt::format("l{}", i), "[[rule]]\ngroup = \"default\"\nname = \"x\"\n",
                             {}, [&](std::expected<UniqueFd, Refusal> fd) {
                               if (fd)
                                 granted.push_back(std::move(*fd));
                               else
                                 refused.push_back(fd.error().text);
                             });
  // One is at work, 16 wait.
  EXPECT_EQ(refused, std::vector<std::string>(3, "16 requests for a lease wait already"));
  for (int i = 0; i < 20; i++) run(std::chrono::seconds(5));
  EXPECT_EQ(granted.size(), 16U);
  ASSERT_EQ(refused.size(), 4U);
  EXPECT_EQ(refused.back(), "there are 16 leases, and no more are possible");
}

TEST_F(LeasesTest, TheKernelRefuses) {
  ASSERT_EQ(reload(redis_policy), "");
  const std::string before = tree();
  refuse_writes_of("bench/schemata");
  EXPECT_EQ(lease("bench", bench),
            "cannot write 'L3:0=30;1=30\nMB:0=100;1=100' to /sys/fs/resctrl/bench/schemata: "
            "Input/output error "
            "(everything is as it was)");
  kernel.calls.reset();
  EXPECT_EQ(tree(), before);
  EXPECT_EQ(names(), "");
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(ended, std::vector<std::string>{});
}

// The monitoring groups of a lease can be assigned to.
TEST_F(LeasesTest, AssignsToItsMonitoringGroup) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t pid = processes.start({.name = "tar"});
  ASSERT_EQ(lease("bench", "[[rule]]\ngroup = \"redis\"\nmonitor = \"m\"\ncgroup = \"/bench\"\n"),
            "");
  const auto assign = [&](const std::string& group) {
    const auto prepared = manager->changes().prepare_assign(pid, group, {.uid = 0, .pid = 1});
    if (!prepared) return prepared.error().text;
    const auto done = (*prepared)->run();
    return done ? "" : done.error().text;
  };
  EXPECT_EQ(assign("redis/m"), "");
  EXPECT_EQ(group_of(pid), "redis/m");
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(group_of(pid), "redis/m");
  EXPECT_EQ(assign("redis/other"), "there is no group 'redis/other' in the policy in force");
  EXPECT_EQ(assign("redis/m/m"), "there is no group 'redis/m/m' in the policy in force");
  EXPECT_EQ(assign("default/m"),
            "there is no group 'default/m' in the policy in force; did you mean 'default'?");
  EXPECT_EQ(assign(""), "there is no group '' in the policy in force");
  EXPECT_EQ(assign("/m"), "there is no group '/m' in the policy in force");
  EXPECT_EQ(assign("redis"), "");
  EXPECT_EQ(group_of(pid), "redis");
}

// The plan that an administrator sees keeps the groups of leases.
TEST_F(LeasesTest, ThePlanHasThem) {
  ASSERT_EQ(reload(redis_policy), "");
  ASSERT_EQ(lease("bench", bench), "");
  EXPECT_EQ(manager->answers().plan()->steps.size(), 0U);
  // The comparison leaves them alone too.
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata("bench"), "L3:0-1=30 MB:0-1=100");
  EXPECT_EQ(state(), "running");
}

// While the machine has only a part of the policy, it may have no room for a lease.
TEST_F(LeasesTest, OneWithoutRoomBesideAPartOfThePolicyIsRefused) {
  for (int i = 0; i < 20; i++) policy += "[group.g" + std::to_string(i) + "]\n";
  ASSERT_EQ(load(), "");
  EXPECT_EQ(lease("bench", bench),
            "the machine cannot have this lease now: 8 groups asked for (g0, g1, g2, g3, g4, g5, "
            "g6, bench), 8 CLOSIDs here: 1 is the default group's");
  EXPECT_EQ(kind, Refusal::Kind::busy);
  EXPECT_EQ(names(), "");
}

// Whatever they displace: groups of random policies, on random machines.
TEST_F(LeasesTest, LeaveAllMasksAsTheyWere) {
  unsigned displaced = 0;
  for (unsigned seed = 1; seed <= test::random_cases(300); seed++) {
    const oracle::Case c = oracle::random_case(seed);
    fake::Machine machine = fake::xeon(1, c.ways);
    fake::Control& l3 = machine.controls.at(Resource::L3);
    l3.min_cbm_bits = c.min;
    l3.sparse_masks = c.sparse;
    l3.shareable_bits = Cbm{c.shareable};
    machine.num_rmids = 4096;
    kernel.resctrl = fake::Resctrl(machine);
    lease_fds.clear();
    fs::remove_all(root_ / "groups");
    start();
    observe();
    // Places that no fresh start would give.
    (void)reload(oracle::policy_text(oracle::random_case(seed + 1'000'000)));
    if (!reload(oracle::policy_text(c)).empty()) continue;
    // That of the guard can be there for long, and holds no ways.
    if (seed % 2 == 0) (void)lease("guard", "[group.throttled]\nmb = \"50%\"\n");
    const std::string before = tree();
    oracle::Random random(seed);
    const size_t others = lease_fds.size();
    for (const std::string name : {"x", "y"})
      (void)lease(name, "[group." + name + "]\nl3 = \"" + std::to_string(1 + random.below(5)) +
                            " ways\"\n" + (random.one_in(2) ? "exclusive = true\n" : ""));
    const bool moved = lease_fds.size() > others && !tree().starts_with(before);
    close("x");
    close("y");
    ASSERT_EQ(tree(), before) << "seed " << seed << ": " << oracle::describe(c);
    displaced += moved ? 1 : 0;
  }
  EXPECT_GT(displaced, test::random_cases(300) / 30);
}

}  // namespace
}  // namespace rdtd
