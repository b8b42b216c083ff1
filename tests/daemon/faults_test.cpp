// What fails once, or for one group only, keeps nothing else from being as the policy says, and is
// tried again by itself.
#include <gtest/gtest.h>

#include <cerrno>

#include "unit/support.hpp"
#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

const std::string all = "L3:0-1=fffff MB:0-1=100";
const std::string two = "[group.a]\nl3 = \"2 ways\"\n[group.b]\nl3 = \"3 ways\"\n";

class FaultsTest : public test::World {
 protected:
  // The call fails as often as that.
  void fail(const std::string& operation, const std::string& path, int code, int times = 1) {
    kernel.calls.fail_if(
        [=, left = std::make_shared<int>(times)](const fake::Call& call) {
          return call.operation == operation && call.path == path && (*left)-- > 0;
        },
        code);
  }
  void write(const std::string& file, const std::string& text) {
    ASSERT_TRUE(kernel.resctrl.write(file, text + "\n"));
  }
  std::string reset() {
    return wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); });
  }
  static constexpr int for_ever = 1'000'000;
};

// Nobody tries again after a reset, and the groups are gone: the default group needs its ways back.
TEST_F(FaultsTest, AResetGivesAllBackAlthoughAWriteFails) {
  for (const char* file : {"redis/mode", "schemata", "redis/schemata"}) {
    ASSERT_EQ(reload(redis_policy), "");
    fail("write", file, EIO);
    EXPECT_EQ(reset(), "") << file;
    kernel.calls.reset();
    EXPECT_EQ(schemata("redis"), "none") << file;
    EXPECT_EQ(schemata(""), all) << file;
    ASSERT_EQ(reload(redis_policy), "");
    fail("write", file, EIO);
    EXPECT_TRUE(manager->remove_all()) << file;
    kernel.calls.reset();
    EXPECT_EQ(schemata(""), all) << file;
    start();
  }
}

TEST_F(FaultsTest, OneGroupThatCannotBeOpenedKeepsNoOther) {
  const std::string rules =
      "[[rule]]\ngroup = \"a\"\nname = \"in-a\"\n[[rule]]\ngroup = \"b\"\nname = \"in-b\"\n";
  ASSERT_EQ(reload(two + rules), "");
  fail("open_tasks", "a/tasks", EACCES, for_ever);
  ASSERT_TRUE(kernel.resctrl.remove("b"));
  const pid_t pid = processes.start({.name = "in-b"});
  manager->reconciler().reconcile();
  run(std::chrono::seconds(5));
  EXPECT_EQ(group_of(pid), "b");
  EXPECT_EQ(problems(),
            (std::vector<std::string>{
                "cannot open /sys/fs/resctrl/a/tasks: Permission denied (rdtd writes only files of "
                "root: give it back, and let others write by chgrp and chmod)"}));
  kernel.calls.reset();
  run(std::chrono::seconds(20));
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

// Somebody let a user write to the file by giving it away.
TEST_F(FaultsTest, AReloadGoesOnWithoutAGroupWhoseTasksAreAUsers) {
  ASSERT_EQ(reload(two), "");
  fail("open_tasks", "a/tasks", EACCES, for_ever);
  const pid_t pid = processes.start({.name = "in-b"});
  EXPECT_EQ(
      reload(two + "[[rule]]\ngroup = \"a\"\nname = \"in-a\"\n[[rule]]\ngroup = \"b\"\nname = "
                   "\"in-b\"\n"),
      "");
  EXPECT_EQ(group_of(pid), "b");
  EXPECT_EQ(state(), "degraded");
  kernel.calls.reset();
  run(std::chrono::seconds(40));
  EXPECT_EQ(problems(), std::vector<std::string>{});
  const pid_t other = processes.start({.name = "in-a"});
  place_at_exec(other);
  EXPECT_EQ(group_of(other), "a");
}

TEST_F(FaultsTest, OneGroupThatTheKernelRefusesKeepsNoOtherFromBeingRestored) {
  ASSERT_EQ(reload(two), "");
  const std::string a = schemata("a"), b = schemata("b");
  write("a/schemata", "L3:0=fff");
  write("b/schemata", "L3:0=fff");
  fail("write", "a/schemata", EINVAL, for_ever);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata("b"), b);
  EXPECT_NE(schemata("a"), a);
  kernel.calls.reset();
  run(std::chrono::seconds(20));
  EXPECT_EQ(schemata("a"), a);
  EXPECT_EQ(state(), "running");
}

// What others changed and rdtd only reports stays theirs, although the kernel refuses once to give
// another group back what it lost with a socket.
TEST_F(FaultsTest, ARefusedRestorationForgetsOnlyItsOwnGroupUnderReport) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n[group.a]\nl3 = \"2 ways\"\n"
                   "[group.b]\nl3 = { \"0\" = \"3 ways\" }\n"),
            "");
  const std::string a = schemata("a");
  write("b/schemata", "L3:0=1ff");
  manager->reconciler().reconcile();
  run();
  const std::string of_others = schemata("b");
  fail("write", "a/schemata", EIO);
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
  manager->reconciler().cpu_changed();
  run(std::chrono::seconds(3));
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
  manager->reconciler().cpu_changed();
  run(std::chrono::seconds(60));
  EXPECT_EQ(schemata("a"), a);
  EXPECT_EQ(schemata("b"), of_others);
}

// What the kernel has reset while it could not be read is restored later.
TEST_F(FaultsTest, AResetOfWhatCannotBeReadIsNotForgottenUnderReport) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n[group.a]\nl3 = \"2 ways\"\n"
                   "[group.b]\nl3 = \"3 ways\"\n"),
            "");
  const std::string a = schemata("a"), b = schemata("b");
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
  manager->reconciler().cpu_changed();
  run(std::chrono::seconds(3));
  fail("read", "a/schemata", EIO, for_ever);
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
  manager->reconciler().cpu_changed();
  run(std::chrono::seconds(3));
  EXPECT_EQ(schemata("b"), b);
  EXPECT_NE(schemata("a"), a);
  kernel.calls.reset();
  run(std::chrono::seconds(60));
  EXPECT_EQ(schemata("a"), a);
}

// Nothing was written, so no event comes.
TEST_F(FaultsTest, ARestorationThatFailsIsTriedAgain) {
  ASSERT_EQ(reload("[daemon]\nreconcile_interval = \"0\"\n" + two), "");
  const std::string a = schemata("a");
  write("a/schemata", "L3:0=fff");
  fail("write", "a/schemata", EIO, 3);
  manager->reconciler().resctrl_changed({"a"});
  run(std::chrono::seconds(60));
  EXPECT_EQ(schemata("a"), a);
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

TEST_F(FaultsTest, AReadingThatFailsForgetsNoDrift) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + two), "");
  write("a/schemata", "L3:0=fff");
  manager->reconciler().reconcile();
  run();
  const auto told = drift;
  ASSERT_EQ(told.size(), 1U);
  fail("read", "a/schemata", EIO, 2);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(manager->answers().properties().drift, 1U);
  kernel.calls.reset();
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(drift, told);
}

TEST_F(FaultsTest, TheRightToReadIsTriedAgain) {
  no_chmod = true;
  ASSERT_EQ(reload(redis_policy), "");
  no_chmod = false;
  run(std::chrono::seconds(20));
  EXPECT_EQ(admitted, resctrl::Admit::group);
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

// What only a look at the processes finds holds until the next one.
TEST_F(FaultsTest, ALoadWithoutALookForgetsNothingThatLooksFind) {
  ASSERT_EQ(reload(redis_policy), "");
  (void)processes.start({.name = "redis-server"});
  fail("add", "redis/tasks", EPERM, for_ever);
  manager->reconciler().reconcile();
  run();
  const std::vector<std::string> refused = {
      "the kernel refuses to move 1 process: Operation not permitted"};
  ASSERT_EQ(problems(), refused);
  ASSERT_EQ(lease("amount", "[group.x]\nmb = \"50%\"\n"), "");
  EXPECT_EQ(problems(), refused);
}

TEST_F(FaultsTest, WhatTheKernelRefusedOnceIsMovedALittleLater) {
  ASSERT_EQ(reload("[daemon]\nreconcile_interval = \"0\"\n" + redis_policy), "");
  const pid_t pid = processes.start({.name = "redis-server"});
  fail("add", "redis/tasks", ENOMEM);
  manager->core().sweeper.visit({.pid = pid});
  run(std::chrono::seconds(5));
  EXPECT_EQ(group_of(pid), "redis");
}

// The caller hears that it failed, and then it has.
TEST_F(FaultsTest, AnAssignmentThatFailsLeavesTheProcessWhereItWas) {
  ASSERT_EQ(reload(redis_policy + "monitor = \"probe\"\n"), "");
  const pid_t pid = processes.start({.name = "bash"});
  fail("add", "redis/mon_groups/probe/tasks", EPERM, for_ever);
  const auto prepared = manager->changes().prepare_assign(pid, "redis/probe", {.uid = 0, .pid = 1});
  ASSERT_TRUE(prepared) << prepared.error().text;
  EXPECT_FALSE((*prepared)->run());
  run();
  EXPECT_EQ(group_of(pid), "default");
}

TEST_F(FaultsTest, ALockThatFailsOnceIsNoLastingProblem) {
  fail("lock", "", EIO);
  ASSERT_EQ(reload("[daemon]\nreconcile_interval = \"0\"\n" + redis_policy), "");
  run(std::chrono::seconds(5));
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

TEST_F(FaultsTest, ALookThatFailsOnceIsTakenAgain) {
  const std::string by_hand = "[daemon]\nreconcile_interval = \"0\"\n";
  ASSERT_EQ(reload(by_hand + redis_policy), "");
  const pid_t pid = processes.start({.name = "redis-server"});
  manager->core().sweeper.visit({.pid = pid});
  run();
  ASSERT_EQ(group_of(pid), "redis");
  fail("read", "redis/tasks", ENOMEM);
  EXPECT_NE(reload(by_hand + "[group.redis]\nl3 = \"4 ways\"\n"), "");
  run(std::chrono::seconds(20));
  EXPECT_EQ(group_of(pid), "default");
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

TEST_F(FaultsTest, OneListOfTasksThatCannotBeReadKeepsNoOther) {
  const std::string rules =
      "[[rule]]\ngroup = \"a\"\nname = \"in-a\"\n[[rule]]\ngroup = \"b\"\nname = \"in-b\"\n";
  ASSERT_EQ(reload(two + rules), "");
  const pid_t in_a = processes.start({.name = "in-a"}), in_b = processes.start({.name = "in-b"});
  fail("read", "b/tasks", EIO, for_ever);
  manager->reconciler().sweep("a test wants it", [] {});
  run();
  EXPECT_EQ(group_of(in_a), "a");
  EXPECT_EQ(group_of(in_b), "b");
}

}  // namespace
}  // namespace rdtd
