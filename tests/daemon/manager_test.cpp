// The core of the daemon from reload to reconcile, without a kernel.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class ManagerTest : public test::World {};

TEST_F(ManagerTest, LoadsAPolicyAndPlacesWhatRuns) {
  const pid_t redis = processes.start({.name = "redis-server"});
  const pid_t thread = processes.clone(redis, "bio");
  const pid_t other = processes.start({.name = "bash"});
  policy = redis_policy;
  EXPECT_EQ(load(), "");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(schemata(""), "L3:0-1=ffff0 MB:0-1=100");
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(group_of(thread), "redis");
  EXPECT_EQ(group_of(other), "default");
  EXPECT_EQ(state(), "running");
}

TEST_F(ManagerTest, AnInvalidPolicyChangesNothing) {
  policy = redis_policy;
  ASSERT_EQ(load(), "");
  kernel.calls.reset();
  EXPECT_EQ(reload("[group.redis]\nl3 = \"4 ways\"\nexclusive = 7\n"),
            "p.toml:3:13: error: 'exclusive' must be true or false, not an integer\n"
            "    3 | exclusive = 7\n      |             ^\n");
  EXPECT_TRUE(kernel.calls.changes().empty());
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(problems(), std::vector<std::string>{"the last reload failed"});
  EXPECT_EQ(reload(redis_policy), "");
  EXPECT_EQ(state(), "running");
}

// Refused halfway: the groups are as before, and processes whose group was removed for it are back.
TEST_F(ManagerTest, ARefusedReloadLeavesThePreviousPolicyInForce) {
  for (auto& [resource, control] : kernel.resctrl.machine.controls) control.num_closids = 3;
  kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  const pid_t redis = processes.start({.name = "redis-server"});
  ASSERT_EQ(reload(redis_policy + "[group.b]\nl3 = \"2 ways\"\n"), "");
  ASSERT_EQ(group_of(redis), "redis");
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "write" && call.path == "c/schemata"; },
      EINVAL);
  const std::string refusal = reload("[group.b]\nl3 = \"2 ways\"\n[group.c]\nl3 = \"4 ways\"\n");
  EXPECT_EQ(refusal,
            "cannot write 'L3:0=f;1=f\nMB:0=100;1=100' to /sys/fs/resctrl/c/schemata: Invalid "
            "argument (everything is as it was)");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(schemata("c"), "none");
  run();
  EXPECT_EQ(group_of(redis), "redis");
}

TEST_F(ManagerTest, AChangedPolicyReleasesWhatNoRuleMatches) {
  const pid_t redis = processes.start({.name = "redis-server"});
  const pid_t manual = processes.start({.name = "bash"});
  ASSERT_EQ(reload(redis_policy), "");
  (void)kernel.resctrl.write("redis/tasks", std::to_string(manual) + "\n");  // by somebody else
  EXPECT_EQ(reload("[group.redis]\nl3 = \"4 ways\"\n"), "");
  EXPECT_EQ(group_of(redis), "default");
  EXPECT_EQ(group_of(manual), "redis");
  EXPECT_EQ(reload(""), "");
  EXPECT_EQ(schemata("redis"), "none");
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB:0-1=100");
}

// Each turn of the main loop lets only some threads go.
TEST_F(ManagerTest, ManyThreadsAreReleasedInTurns) {
  const pid_t redis = processes.start({.name = "redis-server"});
  for (int i = 0; i < 2000; i++) (void)processes.clone(redis, i % 2 == 0 ? "io" : "bg");
  ASSERT_EQ(reload(redis_policy), "");
  policy = "[group.redis]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"redis\"\nthread = \"bg\"\n";
  bool done = false;
  manager->reload([&](const auto& result) { done = result.has_value(); });
  size_t most = 0;
  while (!done) {
    kernel.calls.reset();
    manager->step(clock + std::chrono::microseconds(100));
    most = std::max(most, kernel.calls.changes().size());
  }
  EXPECT_GT(most, 0U);
  EXPECT_LT(most, 700U);  // of 1001 that are let go
  for (const fake::Thread& thread : processes.find(redis)->threads)
    EXPECT_EQ(group_of(thread.tid), thread.name == "bg" ? "redis" : "default");
}

TEST_F(ManagerTest, AnotherToolsGroupIsNeverTouched) {
  ASSERT_EQ(reload(redis_policy), "");
  (void)kernel.resctrl.remove("redis");
  (void)kernel.resctrl.make("redis");
  (void)kernel.resctrl.write("redis/schemata", "L3:0=f0000;1=f0000\n");
  const std::string theirs = schemata("redis");
  const pid_t redis = processes.start({.name = "redis-server"});
  manager->reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(schemata("redis"), theirs);
  EXPECT_EQ(group_of(redis), "default");
  EXPECT_EQ(state(), "degraded");
  std::string result;
  manager->reset([&](const auto& done) { result = done ? "" : done.error().text; });
  run();
  EXPECT_EQ(schemata("redis"), theirs);
}

// With `adopt`, a group that rdtd did not make is taken over at the load, and again if another tool
// makes it anew. So is one of its own, if the record was lost.
TEST_F(ManagerTest, AdoptsAGroup) {
  (void)kernel.resctrl.make("redis");
  const pid_t theirs = processes.start({.name = "bash"});
  const pid_t redis = processes.start({.name = "redis-server"});
  (void)kernel.resctrl.write("redis/tasks", std::to_string(theirs) + "\n");
  const std::string adopting =
      "[group.redis]\nl3 = \"4 ways\"\nexclusive = true\nadopt = true\n[[rule]]\ngroup = "
      "\"redis\"\nname = \"redis-*\"\n";
  ASSERT_EQ(reload(adopting), "");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(group_of(theirs), "redis");
  EXPECT_EQ(group_of(redis), "redis");
  (void)kernel.resctrl.remove("redis");
  (void)kernel.resctrl.make("redis");
  manager->reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(drift, std::vector<std::string>{
                       "group 'redis' was removed and made again by another tool; restored"});
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(group_of(redis), "redis");
  std::filesystem::remove(root_ / "groups");
  start();
  EXPECT_EQ(load(), "");
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(reload(""), "");
  EXPECT_EQ(schemata("redis"), "none");
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB:0-1=100");
}

// A group whose load fails is as foreign as before.
TEST_F(ManagerTest, AFailedLoadAdoptsNothing) {
  (void)kernel.resctrl.make("redis");
  const std::string before = schemata("redis");
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "redis/schemata";
      },
      EIO);
  EXPECT_NE(reload("[group.redis]\nl3 = \"4 ways\"\nadopt = true\n"), "");
  EXPECT_EQ(schemata("redis"), before);
  kernel.calls.reset();
  EXPECT_EQ(reload("[group.other]\n"), "");
  EXPECT_EQ(schemata("redis"), before);
}

TEST_F(ManagerTest, AGroupThatAnotherToolMadeMeanwhileIsNotRemoved) {
  ASSERT_EQ(reload(redis_policy), "");
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation != "list") return;  // the look at all processes, before the removals
    processes.calls.hook = nullptr;
    (void)kernel.resctrl.remove("redis");
    (void)kernel.resctrl.make("redis");
  };
  EXPECT_EQ(reload("[group.b]\n[[rule]]\ngroup = \"b\"\nname = \"x\"\n"), "");
  EXPECT_NE(schemata("redis"), "none");
}

TEST_F(ManagerTest, AGroupThatCannotBeRemovedIsLoggedOnce) {
  ASSERT_EQ(reload(redis_policy), "");
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "remove"; }, EBUSY);
  EXPECT_EQ(reload(""), "");
  const std::vector<std::string> stays = problems();
  EXPECT_EQ(stays.size(), 1U);
  for (int i = 0; i < 3; i++) {
    manager->reconcile();
    run();
    EXPECT_EQ(problems(), stays);
  }
  kernel.calls.reset();
  manager->reconcile();
  run();
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(schemata("redis"), "none");
}

// What could not be read during a reload is let go by the next reconcile.
TEST_F(ManagerTest, AFailedLookDoesNotKeepProcessesInTheirGroup) {
  const pid_t redis = processes.start({.name = "redis-server"});
  ASSERT_EQ(reload(redis_policy), "");
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "read" && call.path == "redis/tasks"; },
      ENOMEM);
  EXPECT_EQ(reload("[group.redis]\nl3 = \"4 ways\"\n"), "");
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(state(), "degraded");
  kernel.calls.reset();
  manager->reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "default");
  EXPECT_EQ(state(), "running");
}

// The kernel answers ENOENT to a write that waited while the group was removed.
TEST_F(ManagerTest, ARemovedGroupIsNoRefusal) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t redis = processes.start({.name = "redis-server"});
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.operation == "add") (void)kernel.resctrl.remove("redis");
  };
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "add"; }, ENOENT);
  manager->sweeper().visit({.pid = redis});
  manager->step(clock + std::chrono::milliseconds(50));
  kernel.calls.hook = nullptr;
  kernel.calls.reset();
  run(std::chrono::seconds(3));
  EXPECT_EQ(group_of(redis), "redis");
}

// /proc opens for a thread too, with the thread's name.
TEST_F(ManagerTest, AThreadStandsForItsProcess) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t qemu = processes.start({.name = "qemu"});
  const pid_t vcpu = processes.clone(qemu, "redis-vcpu");
  manager->visit_thread(vcpu);
  run();
  EXPECT_EQ(group_of(vcpu), "default");
}

TEST_F(ManagerTest, ASilentUserDatabaseMovesNobody) {
  users = {{"redis", 107}};
  const pid_t redis = processes.start({.name = "redis-server", .identity = {.uid = 107}});
  const std::string by_user =
      "[group.a]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"a\"\nuser = \"redis\"\n";
  no_users = true;
  ASSERT_EQ(reload(by_user), "");
  EXPECT_EQ(group_of(redis), "default");
  no_users = false;
  manager->reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "a");
  no_users = true;
  ASSERT_EQ(reload(by_user + "[group.b]\n"), "");
  EXPECT_EQ(group_of(redis), "a");
}

// The files in force are applied again; those that were refused are still refused.
TEST_F(ManagerTest, AFailedReloadIsNotForgottenByARetry) {
  (void)kernel.resctrl.make("b");
  policy = redis_policy + "[group.b]\n";
  ASSERT_EQ(load(), "");
  EXPECT_NE(reload("[group.x"), "");
  (void)kernel.resctrl.remove("b");
  manager->reconcile();
  run(std::chrono::seconds(1));
  EXPECT_NE(schemata("b"), "none");
  EXPECT_EQ(state(), "degraded");
  EXPECT_NE(manager->properties().last_reload_error, "");
}

TEST_F(ManagerTest, DriftIsRestoredOrOnlyReported) {
  for (const bool restore : {true, false}) {
    drift.clear();
    const std::string daemon = restore ? "" : "[daemon]\ndrift = \"report\"\n";
    ASSERT_EQ(reload(daemon + redis_policy), "");
    (void)kernel.resctrl.write("redis/schemata", "L3:0=3\n");
    manager->reconcile();
    run();
    EXPECT_EQ(schemata("redis"), restore ? "L3:0-1=f MB:0-1=100" : "L3:0=3;1=f MB:0-1=100");
    const std::string what = "group 'redis': L3:0=3, granted L3:0=f";
    EXPECT_EQ(drift, std::vector<std::string>{restore ? what + "; restored" : what});
    EXPECT_EQ(state(), restore ? "running" : "degraded");
    manager->reconcile();
    run();
    EXPECT_EQ(drift.size(), 1U);  // reported once
  }
}

// What somebody moved away stays there under drift = "report"; what was never placed is placed.
TEST_F(ManagerTest, ReportingDriftStillPlacesNewProcesses) {
  const pid_t moved = processes.start({.name = "redis-server"});
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  (void)kernel.resctrl.write("tasks", std::to_string(moved) + "\n");
  const pid_t missed = processes.start({.name = "redis-server"});
  manager->reconcile();
  run();
  EXPECT_EQ(group_of(moved), "default");
  EXPECT_EQ(group_of(missed), "redis");
  EXPECT_EQ(drift, std::vector<std::string>{"1 thread was not in the group that the rules name"});
}

// A domain that comes back has been reset by the kernel: nobody made that change on purpose.
TEST_F(ManagerTest, ADomainThatComesBackIsRestored) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  kernel.resctrl.take_offline(2);
  kernel.resctrl.take_offline(3);
  manager->reconcile();
  run();
  kernel.resctrl.bring_online(2);
  kernel.resctrl.bring_online(3);
  EXPECT_EQ(schemata("redis"), "L3:0=f;1=fffff MB:0-1=100");
  manager->reconcile();
  run();
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
}

// A policy may name a socket that is off: its part is done when the socket is there.
TEST_F(ManagerTest, AnAbsentDomainIsNoError) {
  const std::string both = "[group.a]\nl3 = { \"0\" = \"4 ways\", \"1\" = \"8 ways\" }\n";
  kernel.resctrl.take_offline(2);
  kernel.resctrl.take_offline(3);
  ASSERT_EQ(reload(both), "");
  EXPECT_EQ(schemata("a"), "L3:0=f MB:0=100");
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(
      warnings(),
      "p.toml:2:24: warning: there is no L3 domain 1 while CPUs 2-3 are offline; the "
      "amount applies once it is there\n    2 | l3 = { \"0\" = \"4 ways\", \"1\" = \"8 ways\" }\n"
      "      |                        ^~~\n");
  kernel.resctrl.bring_online(2);
  kernel.resctrl.bring_online(3);
  manager->reconcile();
  run();
  EXPECT_EQ(schemata("a"), "L3:0=f;1=ff MB:0-1=100");
  EXPECT_EQ(state(), "running");
  kernel.resctrl.take_offline(2);
  kernel.resctrl.take_offline(3);
  manager->reconcile();
  run();
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(reload(both + "mb = \"50%\"\n"), "");
  EXPECT_EQ(schemata("a"), "L3:0=f MB:0=50");
}

TEST_F(ManagerTest, ARemovedGroupIsMadeAgainWithItsProcesses) {
  const pid_t redis = processes.start({.name = "redis-server"});
  ASSERT_EQ(reload(redis_policy), "");
  (void)kernel.resctrl.remove("redis");
  ASSERT_EQ(group_of(redis), "default");
  // The next visit finds that the table is out of date, long before the next reconcile.
  manager->sweeper().visit({.pid = redis});
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(drift, std::vector<std::string>{"group 'redis' is not there; restored"});
}

// The user database is asked when a policy is loaded: one that does not answer later, as it may
// come from the network, changes no rule.
TEST_F(ManagerTest, RulesKeepTheUsersOfTheirLoad) {
  users = {{"redis", 107}};
  const pid_t redis = processes.start({.name = "redis-server", .identity = {.uid = 107}});
  ASSERT_EQ(reload("[group.a]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"a\"\nuser = \"redis\"\n"), "");
  ASSERT_EQ(group_of(redis), "a");
  users.clear();
  (void)kernel.resctrl.remove("a");
  manager->reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "a");
}

// At start, what the machine cannot give is left out, and done once it becomes possible.
TEST_F(ManagerTest, AStateOfTheMachineIsNoErrorOfThePolicy) {
  (void)kernel.resctrl.make("redis");
  const pid_t redis = processes.start({.name = "redis-server"});
  const pid_t batch = processes.start({.name = "batch"});
  policy = redis_policy + "[group.b]\nl3 = \"2 ways\"\n[[rule]]\ngroup = \"b\"\nname = \"batch\"\n";
  EXPECT_EQ(load(), "");
  EXPECT_EQ(group_of(batch), "b");
  EXPECT_EQ(group_of(redis), "default");
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(problems(),
            std::vector<std::string>{"group 'redis' is not in force: group 'redis' exists in "
                                     "resctrl already and rdtd did not make it"});
  manager->reconcile();
  run();
  EXPECT_EQ(group_of(redis), "default");
  (void)kernel.resctrl.remove("redis");
  manager->reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(state(), "running");
}

TEST_F(ManagerTest, AHeldLockDelaysAChangeAndThenDoesNotHinderIt) {
  kernel.locked_by_other = true;
  policy = redis_policy;
  std::string result = "waiting";
  manager->start([&](const auto& done) { result = done ? "done" : done.error().text; });
  run(std::chrono::milliseconds(500));
  EXPECT_EQ(result, "waiting");
  EXPECT_EQ(schemata("redis"), "none");
  kernel.locked_by_other = false;
  run(std::chrono::milliseconds(500));
  EXPECT_EQ(result, "done");
  kernel.locked_by_other = true;
  EXPECT_EQ(reload(redis_policy + "[group.b]\n"), "");
  EXPECT_EQ(schemata("b"), "L3:0-1=ffff0 MB:0-1=100");
  // It is reported once, until the lock is free again: a new policy does not change who holds it.
  const std::vector<std::string> held = {
      "process 812 (pqos) holds the lock of /sys/fs/resctrl for 2 s: it is changed without it"};
  EXPECT_EQ(problems(), held);
  EXPECT_EQ(reload(redis_policy), "");
  EXPECT_EQ(problems(), held);
  kernel.locked_by_other = false;
  run(std::chrono::seconds(2));
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(reload(redis_policy), "");
}

TEST_F(ManagerTest, SurvivesAKillAtEachCall) {
  const std::string to = redis_policy + "[group.b]\nl3 = \"2 ways\"\ncpus = \"1\"\n";
  const pid_t redis = processes.start({.name = "redis-server"});
  for (size_t killed_at = 1; killed_at < 200; killed_at++) {
    policy = "";
    ASSERT_EQ(load(), "");
    ASSERT_EQ(reload("[group.b]\nl3 = \"4 ways\"\n"), "");
    kernel.calls.reset();
    // From this call on, nothing has an effect: the daemon is dead.
    kernel.calls.fail_if([&](const fake::Call& call) { return call.number >= killed_at; }, EIO);
    const std::string result = reload(to);
    const bool finished = kernel.calls.count() < killed_at;
    kernel.calls.reset();
    start();
    policy = to;
    ASSERT_EQ(load(), "") << killed_at;
    EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100") << killed_at;
    EXPECT_EQ(group_of(redis), "redis") << killed_at;
    EXPECT_EQ(state(), "running") << killed_at << result;
    manager->reset([](const auto&) {});
    run();
    ASSERT_EQ(kernel.resctrl.groups.size(), 1U) << killed_at;
    if (finished) return;
  }
}

TEST_F(ManagerTest, AManualAssignmentOutlivesReloadAndRestart) {
  const pid_t pid = processes.start({.name = "redis-server"});
  const std::string two = redis_policy + "[group.b]\nl3 = \"2 ways\"\n";
  ASSERT_EQ(reload(two), "");
  const auto prepared = manager->prepare_assign(pid, "b", {.uid = 0, .pid = 1});
  ASSERT_TRUE(prepared);
  EXPECT_EQ((*prepared)->details().at("pid"), std::to_string(pid));
  ASSERT_TRUE((*prepared)->run());
  EXPECT_EQ(group_of(pid), "b");
  manager->reconcile();
  run();
  EXPECT_EQ(group_of(pid), "b");
  manager->store();
  start();
  ASSERT_EQ(load(), "");
  EXPECT_EQ(group_of(pid), "b");
  // Its group is made again: it is back.
  (void)kernel.resctrl.remove("b");
  manager->reconcile();
  run();
  EXPECT_EQ(group_of(pid), "b");
  // Its group leaves the policy: the rules decide.
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(group_of(pid), "redis");
}

TEST_F(ManagerTest, RefusesManualAssignments) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t pid = processes.start({.name = "bash"});
  const pid_t thread = processes.clone(pid);
  const struct {
    pid_t pid;
    const char* group;
    std::string refusal;
  } rows[] = {
      {pid, "rediss", "there is no group 'rediss' in the policy in force; did you mean 'redis'?"},
      {0, "redis", "there is no process 0"},
      {99999, "redis", "there is no process 99999"},
      {thread, "redis",
       std::to_string(thread) + " is a thread of process " + std::to_string(pid) +
           ", and only a whole process can be assigned"},
  };
  for (const auto& row : rows) {
    const auto prepared = manager->prepare_assign(row.pid, row.group, {.uid = 0, .pid = 1});
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().text, row.refusal);
  }
}

}  // namespace
}  // namespace rdtd
