// Leases last as long as their descriptor is open, and what ends them.
#include <gtest/gtest.h>

#include "lease_world.hpp"
#include "unit/support.hpp"

namespace rdtd {
namespace {

using test::bench;
using test::redis_policy;

const std::string of_lease = "nobody has its descriptor open any more";

using LeaseEndsTest = test::LeaseWorld;

TEST_F(LeaseEndsTest, WhatItsRulesHaveMovedIsForgottenWithIt) {
  ASSERT_EQ(reload(redis_policy), "");
  (void)processes.start({.name = "redis-server"});
  manager->reconciler().reconcile();
  run();
  const auto moved = [&] {
    std::string out;
    for (const AssignmentCount& row : manager->answers().properties().assignments)
      if (row.result == "moved") out += row.group + " " + std::to_string(row.threads) + "\n";
    return out;
  };
  const std::string before = moved();
  EXPECT_TRUE(before.contains("redis 1\n")) << before;
  EXPECT_EQ(lease("bench", bench + "[[rule]]\ngroup = \"bench\"\nname = \"gzip\"\n"), "");
  EXPECT_EQ(moved(), "bench 0\n" + before);
  close("bench");
  EXPECT_EQ(moved(), before);
}

TEST_F(LeaseEndsTest, IsInForceUntilItsLastCopyIsClosed) {
  ASSERT_EQ(reload(redis_policy), "");
  const std::string before = tree();
  EXPECT_EQ(lease("bench", bench, 1000), "");
  EXPECT_EQ(schemata("bench"), "L3:0-1=30 MB:0-1=100");
  const auto leases = manager->answers().list_leases({.uid = 1000});
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].name, "bench");
  EXPECT_EQ(leases[0].uid, 1000U);
  EXPECT_EQ(leases[0].since, 1U);
  EXPECT_EQ(leases[0].groups, std::vector<std::string>{"bench"});
  EXPECT_EQ(leases[0].policy, bench);
  EXPECT_EQ(manager->answers().list_leases({.uid = 1001})[0].policy, "");
  EXPECT_EQ(manager->answers().list_leases({.uid = 0})[0].policy, bench);
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(manager->answers().properties().config_files, std::vector<std::string>{"p.toml"});

  UniqueFd copy(::dup(lease_fds["bench"].get()));
  close("bench");
  EXPECT_EQ(names(), "bench");
  copy.reset();
  poll_leases();
  EXPECT_EQ(names(), "");
  EXPECT_EQ(tree(), before);
  EXPECT_EQ(ended, std::vector<std::string>{"bench: " + of_lease});
  EXPECT_EQ(state(), "running");
}

TEST_F(LeaseEndsTest, ReloadKeepsThoseThatFit) {
  ASSERT_EQ(reload(redis_policy), "");
  ASSERT_EQ(lease("one", "[group.one]\nl3 = \"2 ways\"\n"), "");
  ASSERT_EQ(lease("two", "[group.two]\nl3 = \"1 ways\"\n"), "");
  ASSERT_EQ(lease("three", "[group.three]\nl3 = \"1 ways\"\n"), "");
  EXPECT_EQ(reload(redis_policy + "[group.web]\nl3 = \"1 ways\"\n"), "");
  EXPECT_EQ(names(), "one two three");
  EXPECT_EQ(reload(redis_policy + "[group.two]\nl3 = \"4 ways\"\n"), "");
  EXPECT_EQ(names(), "one three");
  EXPECT_EQ(ended, std::vector<std::string>{
                       "two: the policy has no place for it:\n"
                       "lease:two:1:8: error: group 'two' is defined twice: here and in p.toml:7\n"
                       "      | 'override = true' here would replace that one"});
  EXPECT_TRUE(hung_up("two"));
  EXPECT_FALSE(hung_up("one"));
  EXPECT_EQ(schemata("two"), "L3:0-1=f00 MB:0-1=100");
  EXPECT_NE(schemata("one"), "none");
  EXPECT_NE(schemata("three"), "none");
}

// The error is about the policy only, and the old one stays with its leases.
TEST_F(LeaseEndsTest, ARefusedReloadEndsNone) {
  ASSERT_EQ(reload(redis_policy), "");
  ASSERT_EQ(lease("bench", bench), "");
  const std::string before = tree();
  EXPECT_EQ(
      reload("[group.bench]\nl3 = \"x\"\n"),
      "p.toml:2:6: error: 'x' is not a cache amount\n"
      "    2 | l3 = \"x\"\n"
      "      |      ^~~ write \"40%\", \"4 ways\", \"ways 4-7\", \"6 MiB\", \"0xf0\" or \"all\"\n");
  EXPECT_EQ(names(), "bench");
  EXPECT_EQ(tree(), before);
  EXPECT_FALSE(hung_up("bench"));
  close("bench");
  EXPECT_EQ(schemata("bench"), "none");
  // That the last reload failed does not end with a lease.
  EXPECT_EQ(problems(), std::vector<std::string>{"the last reload failed"});
}

// Whichever reading it is that fails.
TEST_F(LeaseEndsTest, StayIfTheKernelCannotBeReadForAMoment) {
  ASSERT_EQ(reload(redis_policy), "");
  ASSERT_EQ(lease("bench", bench), "");
  const std::string before = tree();
  for (const std::string& text : {redis_policy, redis_policy + "[group.c]\nmb = \"50%\"\n"})
    for (int failing = 0, reads = 1; failing < reads; failing++) {
      reads = 0;
      kernel.calls.reset();
      kernel.calls.fail_if(
          [&](const fake::Call& call) {
            return call.operation == "read" && call.path == "schemata" && reads++ == failing;
          },
          EIO);
      (void)reload(text);
      kernel.calls.reset();
      EXPECT_EQ(names(), "bench") << failing;
      EXPECT_FALSE(hung_up("bench")) << failing;
      EXPECT_EQ(reload(redis_policy), "");
      EXPECT_EQ(tree(), before);
    }
}

TEST_F(LeaseEndsTest, ResetEndsAll) {
  ASSERT_EQ(reload(redis_policy), "");
  ASSERT_EQ(lease("bench", bench), "");
  EXPECT_EQ(wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); }), "");
  EXPECT_TRUE(hung_up("bench"));
  EXPECT_EQ(ended, std::vector<std::string>{"bench: rdtd removed all of its groups"});
  EXPECT_EQ(names(), "");
  EXPECT_EQ(schemata("bench"), "none");
  // Without a policy it is in force alone.
  ASSERT_EQ(lease("alone", bench), "");
  EXPECT_EQ(schemata("bench"), "L3:0-1=3 MB:0-1=100");
  close("alone");
  EXPECT_EQ(schemata("bench"), "none");
}

TEST_F(LeaseEndsTest, NoneOutlivesTheDaemon) {
  ASSERT_EQ(reload(redis_policy), "");
  const std::string before = tree();
  ASSERT_EQ(lease("bench", bench), "");
  start();
  observe();
  EXPECT_TRUE(hung_up("bench"));
  ASSERT_EQ(load(), "");
  EXPECT_EQ(names(), "");
  EXPECT_EQ(tree(), before);
}

// It goes as soon as the kernel lets it.
TEST_F(LeaseEndsTest, AnEndThatFailsIsTriedAgain) {
  ASSERT_EQ(reload(redis_policy), "");
  const std::string before = tree();
  ASSERT_EQ(lease("a", "[group.redis]\noverride = true\nl3 = \"2 ways\"\n"), "");
  refuse_writes_of("redis/schemata");
  close("a");
  EXPECT_EQ(names(), "");
  EXPECT_EQ(state(), "degraded");
  const std::string text = join(problems(), "\n");
  EXPECT_TRUE(text.starts_with("groups of ended leases are still there: cannot write ")) << text;
  kernel.calls.reset();
  run(std::chrono::seconds(10));
  EXPECT_EQ(tree(), before);
  EXPECT_EQ(state(), "running");
}

// One lease may fit only as long as another one makes room. The files do not wait for it.
TEST_F(LeaseEndsTest, OneThatNeedsAnotherEndsWithIt) {
  ASSERT_EQ(reload("[group.redis]\nl3 = \"16 ways\"\nexclusive = true\n"), "");
  const std::string before = tree();
  ASSERT_EQ(lease("a", "[group.redis]\noverride = true\nl3 = \"4 ways\"\n"), "");
  ASSERT_EQ(lease("b", "[group.b]\nl3 = \"10 ways\"\nexclusive = true\n"), "");
  close("a");
  EXPECT_EQ(names(), "");
  EXPECT_TRUE(hung_up("b"));
  EXPECT_EQ(tree(), before);
  EXPECT_EQ(state(), "running");
  ASSERT_EQ(lease("a", "[group.x]\n"), "");
  EXPECT_EQ(
      lease("b", "[[rule]]\ngroup = \"x\"\nname = \"n\"\n"),
      "lease:b:2:9: error: group 'x' belongs to another lease, in lease:a:1\n"
      "    2 | group = \"x\"\n"
      "      |         ^~~ a rule of a lease names groups of that lease or of policy files\n");
}

// What a lease had put in force does not come back after a reset, nor does anything else.
TEST_F(LeaseEndsTest, AResetForgetsAnEndThatFailed) {
  ASSERT_EQ(reload(redis_policy), "");
  ASSERT_EQ(lease("a", "[group.redis]\noverride = true\nl3 = \"2 ways\"\n"), "");
  refuse_writes_of("redis/schemata");
  close("a");
  kernel.calls.reset();
  EXPECT_EQ(wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); }), "");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(20));
  EXPECT_TRUE(manager->in_force().groups.empty());
}

}  // namespace
}  // namespace rdtd
