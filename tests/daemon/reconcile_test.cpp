// What other tools and the machine change while a policy is in force, and what comes of it.
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class ReconcileTest : public test::World {};

TEST_F(ReconcileTest, DriftIsRestoredOrOnlyReported) {
  for (const bool restore : {true, false}) {
    drift.clear();
    const std::string daemon = restore ? "" : "[daemon]\ndrift = \"report\"\n";
    ASSERT_EQ(reload(daemon + redis_policy), "");
    (void)kernel.resctrl.write("redis/schemata", "L3:0=3\n");
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(schemata("redis"), restore ? "L3:0-1=f MB:0-1=100" : "L3:0=3;1=f MB:0-1=100");
    const std::string what = "group 'redis': L3:0=3, granted L3:0=f";
    EXPECT_EQ(drift, std::vector<std::string>{restore ? what + "; restored" : what});
    EXPECT_EQ(state(), restore ? "running" : "degraded");
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(drift.size(), 1U);  // reported once
  }
}

// Else each process that belongs there has everything compared at its exec.
TEST_F(ReconcileTest, AGroupThatIsGoneIsNotInTheTable) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  ASSERT_NE(manager->in_force().table->tasks_of("redis"), nullptr);
  (void)kernel.resctrl.remove("redis");
  manager->reconciler().resctrl_changed({"redis"});
  run(std::chrono::seconds(1));
  EXPECT_EQ(manager->in_force().table->tasks_of("redis"), nullptr);
  EXPECT_EQ(schemata("redis"), "none");
}

// What somebody moved away stays there under drift = "report"; what was never placed is placed.
TEST_F(ReconcileTest, ReportingDriftStillPlacesNewProcesses) {
  const pid_t moved = processes.start({.name = "redis-server"});
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  (void)kernel.resctrl.write("tasks", std::to_string(moved) + "\n");
  const pid_t missed = processes.start({.name = "redis-server"});
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(group_of(moved), "default");
  EXPECT_EQ(group_of(missed), "redis");
  EXPECT_EQ(drift, std::vector<std::string>{"1 thread was not in the group that the rules name"});
  drift.clear();
  (void)kernel.resctrl.write("tasks", std::to_string(missed) + "\n");
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(drift, std::vector<std::string>{"2 threads were not in the group that the rules name"});
}

// Any user can cause it at each comparison.
TEST_F(ReconcileTest, DriftOfProcessesIsLoggedOnceAMinute) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t redis = processes.start({.name = "redis-server"});
  manager->reconciler().reconcile();
  run();
  drift.clear();
  std::ostringstream text;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  for (int i = 0; i < 26; i++) {
    (void)kernel.resctrl.write("tasks", std::to_string(redis) + "\n");
    manager->reconciler().reconcile();
    run();
    clock += std::chrono::seconds(5);
  }
  spdlog::set_default_logger(before);
  EXPECT_EQ(drift.size(), 26U);
  const std::string lines = text.str(), what = "1 thread was not in the group that the rules name";
  const size_t first = lines.find(what), second = lines.find(what, first + 1);
  EXPECT_NE(second, std::string::npos) << lines;
  EXPECT_EQ(lines.find(what, second + 1), std::string::npos) << lines;
}

TEST_F(ReconcileTest, AGroupThatCannotBeRemovedIsLoggedOnce) {
  ASSERT_EQ(reload(redis_policy), "");
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "remove"; }, EBUSY);
  EXPECT_EQ(reload(""), "");
  const std::vector<std::string> stays = problems();
  EXPECT_EQ(stays.size(), 1U);
  for (int i = 0; i < 3; i++) {
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(problems(), stays);
  }
  kernel.calls.reset();
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(schemata("redis"), "none");
}

// What could not be read during a reload is let go by the next reconcile.
TEST_F(ReconcileTest, AFailedLookDoesNotKeepProcessesInTheirGroup) {
  const pid_t redis = processes.start({.name = "redis-server"});
  ASSERT_EQ(reload(redis_policy), "");
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "read" && call.path == "redis/tasks"; },
      ENOMEM);
  EXPECT_EQ(reload("[group.redis]\nl3 = \"4 ways\"\n"),
            "the policy is in force, but cannot read /sys/fs/resctrl/redis/tasks: Cannot allocate "
            "memory");
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(state(), "degraded");
  kernel.calls.reset();
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "default");
  EXPECT_EQ(state(), "running");
}

// The kernel answers ENOENT to a write that waited while the group was removed.
TEST_F(ReconcileTest, ARemovedGroupIsNoRefusal) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t redis = processes.start({.name = "redis-server"});
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.operation == "add") (void)kernel.resctrl.remove("redis");
  };
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "add"; }, ENOENT);
  manager->core().sweeper.visit({.pid = redis});
  manager->step(clock + std::chrono::milliseconds(50));
  kernel.calls.hook = nullptr;
  kernel.calls.reset();
  run(std::chrono::seconds(3));
  EXPECT_EQ(group_of(redis), "redis");
}

TEST_F(ReconcileTest, ARemovedGroupIsMadeAgainWithItsProcesses) {
  const pid_t redis = processes.start({.name = "redis-server"});
  ASSERT_EQ(reload(redis_policy), "");
  (void)kernel.resctrl.remove("redis");
  ASSERT_EQ(group_of(redis), "default");
  // The next visit finds that the table is out of date, long before the next reconcile.
  manager->core().sweeper.visit({.pid = redis});
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(drift, std::vector<std::string>{"group 'redis' is not there; restored"});
}

// A domain that comes back has been reset by the kernel: nobody made that change on purpose.
TEST_F(ReconcileTest, ADomainThatComesBackIsRestored) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  kernel.resctrl.take_offline(2);
  kernel.resctrl.take_offline(3);
  manager->reconciler().reconcile();
  run();
  kernel.resctrl.bring_online(2);
  kernel.resctrl.bring_online(3);
  EXPECT_EQ(schemata("redis"), "L3:0=f;1=fffff MB:0-1=100");
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
}

// The same if it was away so shortly that no comparison saw it.
TEST_F(ReconcileTest, ADomainThatWasAwayForAMomentIsRestored) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  for (const unsigned cpu : {2U, 3U}) {
    kernel.resctrl.take_offline(cpu);
    manager->reconciler().cpu_changed();
  }
  for (const unsigned cpu : {2U, 3U}) {
    kernel.resctrl.bring_online(cpu);
    manager->reconciler().cpu_changed();
  }
  EXPECT_EQ(schemata("redis"), "L3:0=f;1=fffff MB:0-1=100");
  run();
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(state(), "running");
}

// The uevent of its end may arrive when it is back already, and that of its return after the look.
TEST_F(ReconcileTest, ACpuIsRestoredBeforeItsReturnIsKnown) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
  manager->reconciler().cpu_changed();
  run();
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  for (const std::string& text : drift) EXPECT_TRUE(text.ends_with("; restored")) << text;
}

// A policy may name a socket that is off: its part is done when the socket is there.
TEST_F(ReconcileTest, AnAbsentDomainIsNoError) {
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
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata("a"), "L3:0=f;1=ff MB:0-1=100");
  EXPECT_EQ(state(), "running");
  kernel.resctrl.take_offline(2);
  kernel.resctrl.take_offline(3);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(reload(both + "mb = \"50%\"\n"), "");
  EXPECT_EQ(schemata("a"), "L3:0=f MB:0=50");
}

// At start, what the machine cannot give is left out, and done once it becomes possible.
TEST_F(ReconcileTest, AStateOfTheMachineIsNoErrorOfThePolicy) {
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
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(group_of(redis), "default");
  (void)kernel.resctrl.remove("redis");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(state(), "running");
}

// The policy in force does not fit a machine that has changed: it stays, and this is a problem.
TEST_F(ReconcileTest, AMachineThatThePolicyDoesNotFitIsAProblem) {
  ASSERT_EQ(reload(redis_policy), "");
  fake::Control& l3 = kernel.resctrl.machine.controls.at(Resource::L3);
  l3.num_closids = 1;
  for (int i = 0; i < 2; i++) {
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(problems(),
              std::vector<std::string>{
                  "the machine has changed, and the policy in force does not fit it:\np.toml:1:8: "
                  "error: 1 group asked for (redis), 1 CLOSID here: 1 is the default group's\n    "
                  "1 | [group.redis]\n      |        ^~~~~"});
    EXPECT_EQ(manager->answers().properties().problems_public,
              std::vector<std::string>{
                  "the machine has changed, and the policy in force does not fit it:\np.toml:1:8: "
                  "error: 1 group asked for (redis), 1 CLOSID here: 1 is the default group's"});
    EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  }
  l3.num_closids = 4;
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(state(), "running");
}

// Under a policy that divides nothing, the default group is other tools' matter.
TEST_F(ReconcileTest, TheDefaultGroupOfAnEmptyPolicyIsLeftAlone) {
  ASSERT_EQ(reload(""), "");
  for (const char* mask : {"ff", "f0"}) {
    (void)kernel.resctrl.write("schemata", std::string("L3:0=") + mask + ";1=" + mask + "\n");
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(schemata(""), std::string("L3:0-1=") + mask + " MB:0-1=100");
    EXPECT_EQ(drift, std::vector<std::string>{});
    EXPECT_EQ(state(), "running");
    EXPECT_EQ(test::shares_line(manager->answers().list_groups()->find("default")->granted),
              std::string("L3:0-1=") + mask + " MB:0-1=100");
  }
}

TEST_F(ReconcileTest, AMachineThatCannotBeReadIsAProblem) {
  ASSERT_EQ(reload(redis_policy), "");
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "read" && call.path == "schemata"; },
      EIO);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(problems(),
            std::vector<std::string>{"cannot read /sys/fs/resctrl/schemata: Input/output error"});
  kernel.calls.reset();
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(state(), "running");
}

// A group was made again, and its file cannot be opened: the next reconcile tries again.
TEST_F(ReconcileTest, FilesThatCannotBeOpenedAreAProblem) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t redis = processes.start({.name = "redis-server"});
  (void)kernel.resctrl.remove("redis");
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "open_tasks"; },
                       EMFILE);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(problems(), std::vector<std::string>{
                            "cannot open /sys/fs/resctrl/redis/tasks: Too many open files"});
  kernel.calls.reset();
  manager->reconciler().reconcile();
  run(std::chrono::seconds(2));
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(group_of(redis), "redis");
}

// A first load that finds no resctrl is done once there is one.
TEST_F(ReconcileTest, AFailedFirstLoadIsTriedAgain) {
  const pid_t redis = processes.start({.name = "redis-server"});
  policy = redis_policy;
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "list"; }, ENODEV);
  EXPECT_EQ(load(), "cannot list /sys/fs/resctrl: No such device");
  EXPECT_EQ(state(), "degraded");
  kernel.calls.reset();
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(group_of(redis), "redis");
}

// A group becomes possible, and the kernel refuses it: a problem until it can be made.
TEST_F(ReconcileTest, AMissingGroupThatTheKernelRefusesIsAProblem) {
  (void)kernel.resctrl.make("b");
  policy = redis_policy + "[group.b]\n";
  ASSERT_EQ(load(), "");
  (void)kernel.resctrl.remove("b");
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "make"; }, ENOSPC);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(problems(), std::vector<std::string>{"group 'b' is not in force: cannot make group "
                                                 "/sys/fs/resctrl/b: No space left on device"});
  kernel.calls.reset();
  run(std::chrono::seconds(12));
  EXPECT_EQ(state(), "running");
  EXPECT_NE(schemata("b"), "none");
}

// When the kernel resets a group, the changes of others to other groups still stand.
TEST_F(ReconcileTest, AResetRestoresNothingThatOthersChanged) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy +
                   "[group.batch]\nl3 = \"2 ways\"\ncpus = \"1\"\n[group.gone]\n"
                   "[[rule]]\ngroup = \"gone\"\nname = \"x\"\nmonitor = \"m\"\n"),
            "");
  (void)kernel.resctrl.write("redis/schemata", "L3:0=3\n");
  (void)kernel.resctrl.remove("gone");
  manager->reconciler().reconcile();
  run();
  const std::vector<std::string> reported = {"group 'gone' is not there",
                                             "group 'redis': L3:0=3, granted L3:0=f"};
  std::ranges::sort(drift);
  EXPECT_EQ(drift, reported);
  kernel.resctrl.take_offline(1);
  manager->reconciler().cpu_changed();
  run();
  kernel.resctrl.bring_online(1);
  manager->reconciler().cpu_changed();
  run();
  EXPECT_EQ(*kernel.resctrl.read("batch/cpus_list"), "1\n");
  EXPECT_EQ(schemata("redis"), "L3:0=3;1=f MB:0-1=100");
  EXPECT_EQ(schemata("gone"), "none");
  // Nor does another tool whose group has ways for itself.
  ASSERT_TRUE(kernel.resctrl.make("others"));
  ASSERT_TRUE(kernel.resctrl.write("others/schemata", "L3:0=c0000;1=c0000\n"));
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata("redis"), "L3:0=3;1=f MB:0-1=100");
  // The kernel resets it itself.
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
  manager->reconciler().reconcile();
  run();
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
}

// A suspend may be noticed after a comparison has seen what it did.
TEST_F(ReconcileTest, AResetThatWasSeenBeforeItIsKnownIsRestored) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy +
                   "[group.batch]\nmb = \"20%\"\ncpus = \"3\"\n"),
            "");
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata("redis"), "L3:0=f;1=fffff MB:0-1=100");
  EXPECT_EQ(state(), "degraded");
  manager->reconciler().cpu_changed();
  run();
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(schemata("batch"), "L3:0-1=ffff0 MB:0-1=20");
  EXPECT_EQ(*kernel.resctrl.read("batch/cpus_list"), "3\n");
  EXPECT_EQ(state(), "running");
}

TEST_F(ReconcileTest, AResetThatCannotBeRestoredIsTriedAgain) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "redis/schemata";
      },
      EIO);
  manager->reconciler().cpu_changed();
  run();
  EXPECT_EQ(schemata("redis"), "L3:0=f;1=fffff MB:0-1=100");
  kernel.calls.reset();
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(state(), "running");
}

// A tool that does not know the lock removes a group of rdtd's during a load and makes its own.
TEST_F(ReconcileTest, AGroupThatIsMadeAgainDuringALoadIsAnothers) {
  const auto replace = [this] {
    (void)kernel.resctrl.remove("redis");
    ASSERT_TRUE(kernel.resctrl.make("redis"));
    ASSERT_TRUE(kernel.resctrl.write("redis/schemata", "L3:0=30000;1=30000\n"));
  };
  const std::string theirs = "L3:0-1=30000 MB:0-1=100";
  // Whenever that is. Before rdtd has changed it, the load is planned again, and the name is taken.
  std::set<std::string> answers;
  for (int at = 1; at <= 12; at++) {
    SCOPED_TRACE(at);
    (void)kernel.resctrl.remove("redis");
    ASSERT_EQ(reload("[group.redis]\nl3 = \"2 ways\"\n"), "");
    int lists = 0;
    kernel.calls.hook = [&](const fake::Call& call) {
      if (call.operation == "list" && call.path.empty() && ++lists == at) replace();
    };
    answers.insert(reload("[group.redis]\nl3 = \"6 ways\"\n[group.a]\n"));
    kernel.calls.hook = nullptr;
    if (lists >= at) {
      EXPECT_EQ(schemata("redis"), theirs);
    }
  }
  EXPECT_TRUE(answers.contains(
      "p.toml:1:8: error: group 'redis' exists in resctrl already and rdtd did not make it\n"
      "    1 | [group.redis]\n      |        ^~~~~ choose another name, remove that group, or "
      "take it over: once with rdtctl adopt redis, always with adopt = true\n"));
  // After it: the undo leaves it alone.
  (void)kernel.resctrl.remove("redis");
  ASSERT_EQ(reload("[group.redis]\nl3 = \"8 ways\"\n"), "");
  bool done = false;
  const auto is_last = [](const fake::Call& call) {
    return call.operation == "write" && call.path == "a/schemata";
  };
  kernel.calls.hook = [&](const fake::Call& call) {
    if (is_last(call) && !std::exchange(done, true)) replace();
  };
  kernel.calls.fail_if(is_last, EINVAL);
  EXPECT_EQ(
      reload("[group.redis]\nl3 = \"4 ways\"\nexclusive = true\n[group.a]\nl3 = \"16 ways\"\n"),
      "cannot write 'L3:0=ffff0;1=ffff0\nMB:0=100;1=100' to /sys/fs/resctrl/a/schemata: Invalid "
      "argument (not restored: group 'redis': another tool made one of that name)");
  EXPECT_TRUE(done);
  EXPECT_EQ(schemata("redis"), theirs);
}

}  // namespace
}  // namespace rdtd
