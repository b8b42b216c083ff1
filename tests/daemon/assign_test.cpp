// Manual assignment: what it outlives, and what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <cstdint>
#include <sstream>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class AssignTest : public test::World {
 protected:
  // The thread begins the next one and ends just before it would be moved, and so does that one:
  // `last` is the one that lives.
  void escape(pid_t& last, size_t times = SIZE_MAX) {
    kernel.calls.hook = [this, &last, times](const fake::Call& call) mutable {
      if (times == 0 || call.operation != "add" || call.argument != std::to_string(last)) return;
      times--;
      const pid_t next = processes.clone(last);
      processes.exit_thread(last);
      last = next;
    };
  }
};

TEST_F(AssignTest, AManualAssignmentOutlivesReloadAndRestart) {
  const pid_t pid = processes.start({.name = "redis-server"});
  const std::string two = redis_policy + "[group.b]\nl3 = \"2 ways\"\n";
  ASSERT_EQ(reload(two), "");
  const auto prepared = manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1});
  ASSERT_TRUE(prepared);
  EXPECT_EQ((*prepared)->details().at("pid"), std::to_string(pid));
  ASSERT_TRUE((*prepared)->run());
  EXPECT_EQ(group_of(pid), "b");
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(group_of(pid), "b");
  manager->store();
  start();
  ASSERT_EQ(load(), "");
  EXPECT_EQ(group_of(pid), "b");
  // Its group is made again: it is back.
  (void)kernel.resctrl.remove("b");
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(group_of(pid), "b");
  // Its group leaves the policy: the rules decide.
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(group_of(pid), "redis");
}

// A kernel without CONFIG_PROC_CPU_RESCTRL does not say in which group a process is.
TEST_F(AssignTest, WhereItIsMayNotBeKnown) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t pid = processes.start({.name = "bash"});
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "redis", {.uid = 0, .pid = 1}))->run());
  processes.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "read_thread_group"; }, ENOTSUP);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(drift, std::vector<std::string>{});
  processes.calls.reset();
  EXPECT_EQ(group_of(pid), "redis");
}

// Polkit may have permitted it for a process of one user.
TEST_F(AssignTest, AProcessThatBecomesAnotherUsersBeforeTheAnswerIsLeftAlone) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t pid = processes.start({.name = "bash", .identity = {2001, 2001, 2001}});
  const auto prepared = manager->changes().prepare_assign(pid, "redis", {.uid = 2002, .pid = 1});
  ASSERT_TRUE(prepared);
  EXPECT_EQ((*prepared)->details().at("uid"), "2001");
  processes.find(pid)->program.identity = {0, 0};
  const auto result = (*prepared)->run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text, fmt::format("process {} belongs to another user now", pid));
  EXPECT_EQ(result.error().kind, Refusal::Kind::not_permitted);
  EXPECT_EQ(group_of(pid), "default");
  processes.find(pid)->program.identity = {2001, 2001, 2001};
  EXPECT_TRUE((*prepared)->run());
  EXPECT_EQ(group_of(pid), "redis");
}

TEST_F(AssignTest, RefusesManualAssignments) {
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
    const auto prepared =
        manager->changes().prepare_assign(row.pid, row.group, {.uid = 0, .pid = 1});
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().text, row.refusal);
  }
}

// Between the request and its permission, anything may change.
TEST_F(AssignTest, RefusesWhatHasChangedMeanwhile) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t pid = processes.start({.name = "bash"});
  const auto change_and_run = [&](const std::function<void()>& change) {
    const auto prepared = manager->changes().prepare_assign(pid, "redis", {.uid = 0, .pid = 1});
    change();
    const auto done = (*prepared)->run();
    return done ? "" : done.error().text;
  };
  EXPECT_EQ(change_and_run([&] { ASSERT_EQ(reload("[group.b]\n"), ""); }),
            "group 'redis' is no longer in force");
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(change_and_run([&] { (void)kernel.resctrl.remove("redis"); }),
            "cannot open /sys/fs/resctrl/redis/tasks: No such file or directory");
  EXPECT_EQ(change_and_run([&] {
              (void)kernel.resctrl.make("redis");
              manager->reconciler().reconcile();
              run();
            }),
            "group 'redis' was removed and made again by another tool");
  (void)kernel.resctrl.remove("redis");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(change_and_run([&] { processes.exit(pid); }),
            "there is no process " + std::to_string(pid));
}

// If the kernel refuses it, the rules decide again.
TEST_F(AssignTest, ARefusedAssignmentIsUndone) {
  ASSERT_EQ(reload(redis_policy + "[group.b]\n"), "");
  const pid_t pid = processes.start({.name = "redis-server"});
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "add" && call.path == "b/tasks"; },
      EPERM);
  const auto refused = (*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text,
            "cannot put process " + std::to_string(pid) + " in group 'b': Operation not permitted");
  run();
  EXPECT_EQ(group_of(pid), "redis");
}

TEST_F(AssignTest, OneUserHasSoManyAssignments) {
  ASSERT_EQ(reload(redis_policy), "");
  std::expected<void, Refusal> result;
  size_t assigned = 0;
  for (; result && assigned <= ManualAssignments::max_per_user; assigned++) {
    const pid_t pid = processes.start({.name = "bash"});
    result = (*manager->changes().prepare_assign(pid, "redis", {.uid = 1000, .pid = 1}))->run();
  }
  EXPECT_EQ(assigned, ManualAssignments::max_per_user + 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text, "too many manual assignments of this user");
  EXPECT_EQ(result.error().kind, Refusal::Kind::busy);
}

// An assignment that cannot be restored now is restored by a later load.
TEST_F(AssignTest, AnAssignmentThatCannotBeRestoredIsKept) {
  const std::string two = redis_policy + "[group.b]\n";
  ASSERT_EQ(reload(two), "");
  const pid_t pid = processes.start({.name = "redis-server"});
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  (void)kernel.resctrl.remove("b");
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "add"; }, EPERM);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(group_of(pid), "default");
  kernel.calls.reset();
  ASSERT_EQ(reload(two), "");
  EXPECT_EQ(group_of(pid), "b");
}

// A restart, on a machine that cannot have the group for a moment.
TEST_F(AssignTest, OutlivesAGroupThatTheMachineCannotHaveNow) {
  ASSERT_EQ(reload(redis_policy + "[group.b]\n"), "");
  const pid_t pid = processes.start({.name = "redis-server"});
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  (void)kernel.resctrl.remove("b");
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "make" && call.path == "b"; }, EBUSY);
  start();
  ASSERT_EQ(load(), "");
  ASSERT_EQ(schemata("b"), "none");
  kernel.calls.reset();
  run(std::chrono::seconds(20));
  EXPECT_EQ(group_of(pid), "b");
}

// Nobody reads it again.
TEST_F(AssignTest, ARecordThatCannotBeReadForAMomentIsReadAgain) {
  ASSERT_EQ(reload(redis_policy + "[group.b]\n"), "");
  const pid_t pid = processes.start({.name = "redis-server"});
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  manager->store();
  for (const size_t call : {1, 2, 3}) {
    SCOPED_TRACE(call);
    processes.calls.reset();
    processes.calls.fail(call, EMFILE);
    start();
    processes.calls.reset();
    ASSERT_EQ(load(), "");
    EXPECT_EQ(group_of(pid), "b");
  }
}

// The record cannot be written: that is a problem until it can.
TEST_F(AssignTest, ARecordThatCannotBeWrittenIsAProblem) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t pid = processes.start({.name = "bash"});
  put("by_hand/in the way", "");
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "redis", {.uid = 0, .pid = 1}))->run());
  const std::string path = (root_ / "by_hand").string();
  EXPECT_EQ(problems(), std::vector<std::string>{
                            "cannot replace " + path +
                            ": Is a directory: a restart will not know what rdtd has made"});
  std::filesystem::remove_all(root_ / "by_hand");
  manager->store();
  EXPECT_EQ(state(), "running");
  start();
  ASSERT_EQ(load(), "");
  EXPECT_EQ(group_of(pid), "redis");
}

// Another tool moves it away: the next reconcile puts it back, or reports it.
TEST_F(AssignTest, IsPutBackWhereItWasAssigned) {
  const std::string two = redis_policy + "[group.b]\n";
  ASSERT_EQ(reload(two), "");
  const pid_t pid = processes.start({.name = "bash"});
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  (void)kernel.resctrl.write("tasks", std::to_string(pid) + "\n");
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(group_of(pid), "b");
  EXPECT_EQ(drift, std::vector<std::string>{
                       "1 process was not in the group of a manual assignment; restored"});
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + two), "");
  (void)kernel.resctrl.write("tasks", std::to_string(pid) + "\n");
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(group_of(pid), "default");
  EXPECT_EQ(drift.back(), "1 process was not in the group of a manual assignment");
}

// clone(2) copies the group early, and shows the new thread in /proc late.
TEST_F(AssignTest, AThreadInTheMakingIsFoundAMomentLater) {
  ASSERT_EQ(reload(redis_policy + "[group.b]\n[daemon]\nreconcile_interval = \"0\"\n"), "");
  const pid_t pid = processes.start({.name = "redis-server"});
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  const pid_t late = processes.clone(pid);
  (void)kernel.resctrl.write("tasks", std::to_string(late) + "\n");
  run(std::chrono::milliseconds(120));
  EXPECT_EQ(group_of(pid), "b");
  EXPECT_EQ(group_of(late), "b");
  EXPECT_EQ(drift, std::vector<std::string>{});
}

TEST_F(AssignTest, AComparisonLooksAtEveryThread) {
  const std::string two =
      redis_policy + "[group.b]\n[[rule]]\ngroup = \"b\"\nmonitor = \"web\"\nname = \"web\"\n";
  ASSERT_EQ(reload(two), "");
  for (const std::string group : {"b", "b/web"}) {
    drift.clear();
    const pid_t pid = processes.start({.name = "bash"});
    const pid_t thread = processes.clone(pid);
    ASSERT_TRUE((*manager->changes().prepare_assign(pid, group, {.uid = 0, .pid = 1}))->run());
    run();
    (void)kernel.resctrl.write("tasks", std::to_string(thread) + "\n");
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(group_of(pid), group);
    EXPECT_EQ(group_of(thread), group);
    EXPECT_EQ(drift, std::vector<std::string>{
                         "1 process was not in the group of a manual assignment; restored"});
    processes.calls.reset();
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(drift.size(), 1U);
    for (const fake::Call& call : processes.calls.log())
      EXPECT_NE(call.operation, "read_thread_group") << "the list of the group says it";
  }
}

TEST_F(AssignTest, AProcessThatEscapesIsLookedAtAgain) {
  ASSERT_EQ(reload(redis_policy + "[group.b]\n[daemon]\nreconcile_interval = \"0\"\n"), "");
  const pid_t pid = processes.start({.name = "bash"});
  pid_t last = processes.clone(pid);
  escape(last);
  const auto logger = spdlog::default_logger();
  std::ostringstream log;
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_st>(log)));
  spdlog::set_pattern("%l: %v");
  EXPECT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  spdlog::set_default_logger(logger);
  EXPECT_EQ(log.str(),
            fmt::format("warning: process {} begins threads faster than they can be put in group "
                        "'b'; looking again\n",
                        pid));
  EXPECT_EQ(group_of(last), "default");
  kernel.calls.hook = nullptr;
  run(std::chrono::milliseconds(120));
  EXPECT_EQ(group_of(pid), "b");
  EXPECT_EQ(group_of(last), "b");
}

// Into a monitoring group a thread comes by way of its control group, whenever it was begun.
TEST_F(AssignTest, AProcessThatEscapesAMonitoringGroup) {
  ASSERT_EQ(reload("[group.b]\n[[rule]]\ngroup = \"b\"\nmonitor = \"web\"\nname = \"web\"\n"), "");
  const pid_t pid = processes.start({.name = "bash"});
  pid_t last = processes.clone(pid);
  escape(last, 5);
  EXPECT_TRUE((*manager->changes().prepare_assign(pid, "b/web", {.uid = 0, .pid = 1}))->run());
  kernel.calls.hook = nullptr;
  run(std::chrono::milliseconds(120));
  EXPECT_EQ(group_of(pid), "b/web");
  EXPECT_EQ(group_of(last), "b/web");
}

// What another tool counts of an assigned process stays with it when a thread has strayed.
TEST_F(AssignTest, OneThreadIsPutBackAlone) {
  ASSERT_EQ(reload("[group.b]\n"), "");
  const pid_t pid = processes.start({.name = "bash"});
  const pid_t thread = processes.clone(pid);
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  ASSERT_TRUE(kernel.resctrl.make("b/mon_groups/theirs"));
  ASSERT_TRUE(kernel.resctrl.write("b/mon_groups/theirs/tasks", std::to_string(pid) + "\n"));
  ASSERT_TRUE(kernel.resctrl.write("tasks", std::to_string(thread) + "\n"));
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(group_of(pid), "b/theirs");
  EXPECT_EQ(group_of(thread), "b");
}

// No rule has moved it: there may be none.
TEST_F(AssignTest, AProcessThatEndsWhileItsThreadsArePutBack) {
  ASSERT_EQ(reload("[group.b]\n"), "");
  const pid_t pid = processes.start({.name = "bash"});
  const pid_t thread = processes.clone(pid);
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  for (const pid_t tid : {pid, thread})
    ASSERT_TRUE(kernel.resctrl.write("tasks", std::to_string(tid) + "\n"));
  bool ended = false;
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.operation != "add" || call.argument != std::to_string(thread)) return;
    ended = true;
    processes.exit(pid);
  };
  run(std::chrono::milliseconds(120));
  EXPECT_TRUE(ended);
  EXPECT_EQ(state(), "running");
}

// What is not moved at once is moved in turns with other looks.
TEST_F(AssignTest, VeryManyThreadsAreMovedInParts) {
  ASSERT_EQ(reload(redis_policy + "[group.b]\n"), "");
  const pid_t pid = processes.start({.name = "bash"});
  std::vector<pid_t> threads;
  for (int i = 0; i < 4200; i++) threads.push_back(processes.clone(pid));
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  EXPECT_EQ(group_of(threads[4000]), "b");
  EXPECT_EQ(group_of(threads.back()), "default");
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(threads.back()), "b");
}

// It ends while a look at its threads goes on.
TEST_F(AssignTest, AnAssignmentThatEndsIsNotCarriedOut) {
  ASSERT_EQ(reload(redis_policy + "[group.b]\n"), "");
  const pid_t pid = processes.start({.name = "redis-server"});
  for (int i = 0; i < 100; i++) (void)processes.clone(pid);
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  for (const fake::Thread& thread : processes.find(pid)->threads)
    (void)kernel.resctrl.write("tasks", std::to_string(thread.tid) + "\n");
  Visit visit({*manager->in_force().table, processes, manager->core().manual}, pid,
              {.manual_too = true});
  EXPECT_FALSE(visit.step(10));
  EXPECT_EQ(visit.result().moved, 0U) << "a list counts too";
  EXPECT_FALSE(visit.step(10));
  EXPECT_EQ(visit.result().moved, 10U);
  manager->core().manual.remove(pid);
  EXPECT_TRUE(visit.step(10));
  EXPECT_EQ(visit.result().moved, 10U);
  EXPECT_EQ(visit.result().kind, Assignment::Kind::unmatched);
}

}  // namespace
}  // namespace rdtd
