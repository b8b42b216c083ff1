// Rules with `monitor`: threads are in the control group, and there in the monitoring group.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

const std::string redis_text = "[group.redis]\nl3 = \"4 ways\"\n";

std::string rule(const std::string& name, const std::string& monitor = "",
                 const std::string& group = "redis") {
  return "[[rule]]\ngroup = \"" + group + "\"\nname = \"" + name + "\"\n" +
         (monitor.empty() ? "" : "monitor = \"" + monitor + "\"\n");
}

const std::string web_and_others = redis_text + rule("web", "front") + rule("db");

class MonitorTest : public test::World {
 protected:
  // As on each x86 processor, there are at least as many as CLOSIDs.
  void use_three_rmids() {
    kernel.resctrl.machine.num_rmids = 3;
    for (auto& [resource, control] : kernel.resctrl.machine.controls) control.num_closids = 3;
    kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  }
  void put_by_another_tool(const std::string& directory, pid_t tid) {
    EXPECT_TRUE(kernel.resctrl.write(directory + "/tasks", std::to_string(tid) + "\n"));
  }
  void reconcile() {
    manager->reconciler().reconcile();
    run(std::chrono::seconds(1));
  }
};

// What cannot be listed is not gone: it would be made again, and then be another tool's.
TEST_F(MonitorTest, AListingThatFailsLosesNothing) {
  ASSERT_EQ(reload(web_and_others), "");
  std::set<std::string> owned;
  for (const std::string directory : {"redis/mon_groups", "mon_groups", "info"}) {
    kernel.calls.reset();
    kernel.calls.fail_if([&](const fake::Call& call) { return call.path == directory; }, ENOMEM);
    reconcile();
    EXPECT_EQ(kernel.calls.changes(), std::vector<std::string>{}) << directory;
    const std::string refusal = reload(web_and_others + rule("other", "more"));
    EXPECT_EQ(refusal.empty(), directory != "info") << directory << refusal;
    kernel.calls.reset();
    reconcile();
    EXPECT_EQ(reload(web_and_others), "") << directory;
    reconcile();
    if (owned.empty()) owned = manager->core().applier.last_owned();
    EXPECT_EQ(manager->core().applier.last_owned(), owned) << directory;
    EXPECT_TRUE(owned.contains("redis/mon_groups/front"));
    EXPECT_EQ(problems(), std::vector<std::string>{}) << directory;
  }
}

// Of one that no list shows, nobody knows whether it is there: its name is kept, and the reset
// fails. Else its RMID would be lost until the next boot.
TEST_F(MonitorTest, AResetKeepsTheNamesOfGroupsThatCannotBeListed) {
  const auto reset = [&] {
    return wait([&](Manager::Done done) { manager->changes().reset(std::move(done)); });
  };
  const std::string nothing = tree();
  for (const int failures : {1, 2, 3, 100}) {
    SCOPED_TRACE(failures);
    ASSERT_EQ(reload(web_and_others + rule("cron", "jobs", "default")), "");
    kernel.calls.fail_if(
        [left = failures](const fake::Call& call) mutable {
          return call.operation == "list" && call.path == "mon_groups" && left-- > 0;
        },
        EMFILE);
    const std::string said = reset();
    kernel.calls.reset();
    if (said.empty()) {
      EXPECT_EQ(tree(), nothing);
    } else {
      EXPECT_EQ(said, "cannot list /sys/fs/resctrl/mon_groups: Too many open files");
    }
    EXPECT_EQ(said.empty(), failures < 3);
    EXPECT_EQ(reset(), "");
    EXPECT_EQ(tree(), nothing);
  }
}

TEST_F(MonitorTest, PlacesProcessesAndThreads) {
  const pid_t before = processes.start({.name = "web"});
  const pid_t thread = processes.clone(before);
  ASSERT_EQ(reload(web_and_others + "[[rule]]\ngroup = \"redis\"\nthread = \"bio*\"\n"
                                    "monitor = \"threads\"\n"),
            "");
  const pid_t bio = processes.clone(before, "bio_close");
  const pid_t db = processes.start({.name = "db"});
  const pid_t after = processes.start({.name = "web"});
  for (const pid_t pid : {db, after}) place_at_exec(pid);
  manager->core().sweeper.visit({.pid = before});
  run();
  EXPECT_EQ(group_of(before), "redis/front");
  EXPECT_EQ(group_of(thread), "redis/front");
  EXPECT_EQ(group_of(after), "redis/front");
  EXPECT_EQ(group_of(db), "redis");
  // The first rule that matches decides, and the one of the process stands before it.
  EXPECT_EQ(group_of(bio), "redis/front");
  processes.rename(before, "other");
  manager->core().sweeper.visit({.pid = before});
  run();
  EXPECT_EQ(group_of(bio), "redis/threads");
}

// From anywhere else a thread comes by way of the control group; one that is in it needs one write.
TEST_F(MonitorTest, WritesNoMoreThanNeeded) {
  ASSERT_EQ(reload(web_and_others), "");
  const pid_t pid = processes.start({.name = "web"});
  const auto writes = [&] {
    kernel.calls.reset();
    place_at_exec(pid);
    std::string out;
    for (const fake::Call& call : kernel.calls.log()) out += call.path + "\n";
    return out;
  };
  const std::string monitor = "redis/mon_groups/front/tasks\n";
  EXPECT_EQ(writes(), monitor + "redis/tasks\n" + monitor);
  EXPECT_EQ(writes(), monitor);
  put_by_another_tool("redis", pid);
  EXPECT_EQ(writes(), monitor);
}

// A program that becomes another one goes where that one belongs, within the same control group
// too.
TEST_F(MonitorTest, LeavesTheMonitoringGroup) {
  ASSERT_EQ(reload(web_and_others), "");
  const pid_t pid = processes.start({.name = "web"});
  place_at_exec(pid);
  ASSERT_EQ(group_of(pid), "redis/front");
  for (const bool by_sweep : {false, true}) {
    processes.rename(pid, by_sweep ? "db" : "web");
    if (by_sweep)
      reconcile();
    else
      place_at_exec(pid);
    EXPECT_EQ(group_of(pid), by_sweep ? "redis" : "redis/front");
  }
}

TEST_F(MonitorTest, FollowsThePolicy) {
  const pid_t pid = processes.start({.name = "web"});
  ASSERT_EQ(reload(web_and_others), "");
  ASSERT_EQ(reload(redis_text + rule("web", "back")), "");
  EXPECT_EQ(group_of(pid), "redis/back");
  EXPECT_FALSE(kernel.resctrl.read("redis/mon_groups/front/tasks"));
  ASSERT_EQ(reload(redis_text + rule("web")), "");
  EXPECT_EQ(group_of(pid), "redis");
  ASSERT_EQ(reload(rule("web", "all", "default")), "");
  EXPECT_EQ(group_of(pid), "default/all");
  EXPECT_EQ(schemata("redis"), "none");
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(group_of(pid), "default");
  EXPECT_FALSE(kernel.resctrl.read("mon_groups/all/tasks"));
  EXPECT_EQ(test::World::schemata(""), "L3:0-1=fffff MB:0-1=100");
}

TEST_F(MonitorTest, AMonitoringGroupThatAnotherToolRemovesComesBack) {
  const pid_t pid = processes.start({.name = "web"});
  ASSERT_EQ(reload(web_and_others), "");
  (void)kernel.resctrl.remove("redis/mon_groups/front");
  EXPECT_EQ(group_of(pid), "redis");
  reconcile();
  EXPECT_EQ(drift,
            std::vector<std::string>{"monitoring group 'redis/front' is not there; restored"});
  EXPECT_EQ(group_of(pid), "redis/front");
  EXPECT_EQ(state(), "running");
}

// Another tool's monitoring group of that name is left alone. The process keeps its limits.
TEST_F(MonitorTest, AnotherToolsMonitoringGroupIsLeftAlone) {
  ASSERT_EQ(reload(web_and_others), "");
  (void)kernel.resctrl.remove("redis/mon_groups/front");
  (void)kernel.resctrl.make("redis/mon_groups/front");
  reconcile();
  const pid_t pid = processes.start({.name = "web"});
  place_at_exec(pid);
  reconcile();
  EXPECT_EQ(group_of(pid), "redis");
  EXPECT_EQ(problems(), std::vector<std::string>{"monitoring group 'redis/front' was removed and "
                                                 "made again by another tool"});
  (void)kernel.resctrl.remove("redis/mon_groups/front");
  reconcile();
  EXPECT_EQ(group_of(pid), "redis/front");
  EXPECT_EQ(state(), "running");
}

// Its processes come back to their limits, and its RMID is free again.
TEST_F(MonitorTest, AMonitoringGroupThatWasRenamedIsStillOurs) {
  const std::string two = web_and_others + "[group.batch]\nl3 = \"4 ways\"\n";
  const pid_t pid = processes.start({.name = "web"});
  ASSERT_EQ(reload(two), "");
  for (const std::string place : {"batch/mon_groups/front", "mon_groups/other"}) {
    drift.clear();
    ASSERT_TRUE(kernel.resctrl.rename("redis/mon_groups/front", place));
    EXPECT_NE(group_of(pid), "redis/front");
    reconcile();
    EXPECT_FALSE(kernel.resctrl.list(place)) << place;
    EXPECT_EQ(group_of(pid), "redis/front") << place;
    EXPECT_EQ(drift,
              std::vector<std::string>{"monitoring group 'redis/front' is not there; restored"});
    EXPECT_EQ(state(), "running");
  }
  // Another tool's may have its name meanwhile.
  ASSERT_TRUE(kernel.resctrl.rename("redis/mon_groups/front", "batch/mon_groups/front"));
  ASSERT_TRUE(kernel.resctrl.make("redis/mon_groups/front"));
  reconcile();
  EXPECT_FALSE(kernel.resctrl.list("batch/mon_groups/front"));
  EXPECT_EQ(group_of(pid), "redis");
  // Nor are those left behind that are renamed before they go.
  ASSERT_TRUE(kernel.resctrl.remove("redis/mon_groups/front"));
  reconcile();
  ASSERT_TRUE(kernel.resctrl.rename("redis/mon_groups/front", "mon_groups/front"));
  ASSERT_EQ(reload(""), "");
  EXPECT_FALSE(kernel.resctrl.list("mon_groups/front"));
}

// One may get the name that another one had.
TEST_F(MonitorTest, MonitoringGroupsThatChangeNamesAreStillOurs) {
  ASSERT_EQ(reload(redis_text + rule("web", "front") + rule("db", "back")), "");
  const auto move = [&](const std::string& from, const std::string& to) {
    ASSERT_TRUE(kernel.resctrl.rename("redis/mon_groups/" + from, "redis/mon_groups/" + to));
  };
  const size_t free_rmids = kernel.resctrl.free_rmids.size() + kernel.resctrl.limbo.size();
  move("front", "between");
  move("back", "front");
  move("between", "back");
  reconcile();
  EXPECT_EQ(problems(), std::vector<std::string>{});
  move("back", "last");
  move("front", "back");
  reconcile();
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_FALSE(kernel.resctrl.list("redis/mon_groups/last"));
  EXPECT_EQ(kernel.resctrl.free_rmids.size() + kernel.resctrl.limbo.size(), free_rmids);
}

// What others observe in their own monitoring groups stays there: it is in the right control group.
TEST_F(MonitorTest, OthersMayMonitorToo) {
  ASSERT_EQ(reload(web_and_others), "");
  const pid_t pid = processes.start({.name = "db"});
  place_at_exec(pid);
  ASSERT_TRUE(kernel.resctrl.make("redis/mon_groups/theirs"));
  put_by_another_tool("redis/mon_groups/theirs", pid);
  reconcile();
  EXPECT_EQ(group_of(pid), "redis/theirs");
  EXPECT_EQ(drift, std::vector<std::string>{});
  ASSERT_EQ(reload(redis_text + rule("db")), "");
  EXPECT_EQ(group_of(pid), "redis/theirs");
  place_at_exec(pid);  // as if it had executed another program
  EXPECT_EQ(group_of(pid), "redis/theirs");
  const pid_t elsewhere = processes.start({.name = "db"});
  place_at_exec(elsewhere);
  EXPECT_EQ(group_of(elsewhere), "redis");
  (void)kernel.resctrl.remove("redis/mon_groups/theirs");
  reconcile();
  place_at_exec(pid);  // nobody looks any more where nobody else monitors
  EXPECT_EQ(group_of(pid), "redis");
}

// But not if the rule says where to count it.
TEST_F(MonitorTest, ARuleWithMonitorTakesProcessesFromOthers) {
  for (const std::string monitor : {"front", "user-{user}"}) {
    ASSERT_EQ(reload(redis_text + rule("web", monitor)), "");
    const pid_t pid = processes.start({.name = "web"});
    place_at_exec(pid);
    reconcile();
    const std::string own = group_of(pid);
    EXPECT_EQ(own, monitor == "front" ? "redis/front" : "redis/user-0");
    ASSERT_TRUE(kernel.resctrl.make("redis/mon_groups/theirs"));
    put_by_another_tool("redis/mon_groups/theirs", pid);
    reconcile();
    EXPECT_EQ(group_of(pid), own);
    put_by_another_tool("redis/mon_groups/theirs", pid);
    place_at_exec(pid);
    reconcile();
    EXPECT_EQ(group_of(pid), own);
    ASSERT_TRUE(kernel.resctrl.remove("redis/mon_groups/theirs"));
  }
}

TEST_F(MonitorTest, OutlivesTheDaemon) {
  const pid_t pid = processes.start({.name = "web"});
  ASSERT_EQ(reload(web_and_others), "");
  start();
  ASSERT_EQ(load(), "");
  EXPECT_EQ(group_of(pid), "redis/front");
  EXPECT_EQ(state(), "running");
  std::string result = "never";
  manager->changes().reset([&](const auto& done) { result = done ? "" : done.error().text; });
  run();
  EXPECT_EQ(result, "");
  EXPECT_EQ(group_of(pid), "default");
}

TEST_F(MonitorTest, AManualAssignmentIsToTheControlGroup) {
  ASSERT_EQ(reload(web_and_others + "[group.b]\n"), "");
  const pid_t pid = processes.start({.name = "web"});
  place_at_exec(pid);
  const auto assign = manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1});
  ASSERT_TRUE(assign);
  EXPECT_TRUE((*assign)->run());
  EXPECT_EQ(group_of(pid), "b");
  reconcile();
  EXPECT_EQ(group_of(pid), "b");
}

TEST_F(MonitorTest, IsExplained) {
  ASSERT_EQ(reload(web_and_others), "");
  const pid_t pid = processes.start({.name = "web"});
  place_at_exec(pid);
  const auto explained = manager->answers().explain(pid, std::nullopt);
  ASSERT_TRUE(explained);
  EXPECT_EQ(explained->trials.at(0).group, "redis/front");
  EXPECT_EQ(explained->threads.at(0).second, "redis/front");
}

// Then all that rules monitor is counted in the default group.
TEST_F(MonitorTest, CountsWhereNothingIsDivided) {
  kernel.resctrl.machine.controls.clear();
  kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  const pid_t pid = processes.start({.name = "web"});
  EXPECT_EQ(reload("[daemon]\nunsupported = \"skip\"\n" + web_and_others), "");
  EXPECT_EQ(group_of(pid), "default/front");
  EXPECT_EQ(state(), "running");
}

// An RMID in limbo delays the counters, not the limits. They come by themselves, also if drift is
// only reported.
TEST_F(MonitorTest, WaitsForLimbo) {
  for (const bool report : {false, true}) {
    use_three_rmids();
    std::filesystem::remove(root_ / "groups");
    start();
    (void)kernel.resctrl.make("mon_groups/theirs");
    (void)kernel.resctrl.remove("mon_groups/theirs");
    const pid_t pid = processes.start({.name = "web"});
    policy = (report ? "[daemon]\ndrift = \"report\"\nreconcile_interval = \"0\"\n" : "") +
             web_and_others;
    drift.clear();
    std::string result = "never";
    manager->changes().reload([&](const auto& done) { result = done ? "" : done.error().text; });
    run(std::chrono::seconds(1));
    EXPECT_EQ(result, "");
    EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
    EXPECT_EQ(group_of(pid), "redis");
    ASSERT_EQ(problems().size(), 1U);
    EXPECT_TRUE(problems()[0].starts_with("cannot make group /")) << problems()[0];
    kernel.resctrl.end_limbo();
    run(std::chrono::seconds(10));
    EXPECT_EQ(group_of(pid), "redis/front");
    EXPECT_EQ(problems(), std::vector<std::string>{});
    EXPECT_EQ(drift, std::vector<std::string>{});
  }
}

// On Arm each control group has RMIDs of its own, and older kernels do not say how many.
TEST_F(MonitorTest, TheKernelDecidesAboutRmidsOfAControlGroup) {
  kernel.resctrl.machine.more_info.clear();  // thread_throttle_mode is Intel's
  kernel.resctrl.machine.num_rmids = 4;
  kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "make" && call.path == "redis/mon_groups/front";
      },
      ENOSPC);
  EXPECT_EQ(reload(web_and_others), "");
  ASSERT_EQ(problems().size(), 1U);
  EXPECT_TRUE(
      problems()[0].contains("/redis/mon_groups/front: No space left on device (each "
                             "control group has RMIDs of its own here, and those of "
                             "'redis' are used ("))
      << problems()[0];
}

// After a reset, nothing is tried again.
TEST_F(MonitorTest, AResetEndsTheRetries) {
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "make" && call.path == "redis/mon_groups/front";
      },
      EBUSY);
  ASSERT_EQ(reload(web_and_others), "");
  EXPECT_EQ(problems().size(), 1U);
  EXPECT_NE(manager->next_due(), Manager::Time::max());
  manager->changes().reset([](const auto&) {});
  run(std::chrono::seconds(10));
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(manager->next_due(), Manager::Time::max());
}

// A monitoring group that cannot be made again keeps no limit from being restored.
TEST_F(MonitorTest, LimitsDoNotWaitForCounters) {
  ASSERT_EQ(reload(web_and_others), "");
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "make" && call.path == "redis/mon_groups/front";
      },
      EBUSY);
  (void)kernel.resctrl.remove("redis/mon_groups/front");
  (void)kernel.resctrl.write("redis/schemata", "L3:0=3\n");
  reconcile();
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  const pid_t pid = processes.start({.name = "web"});
  place_at_exec(pid);
  EXPECT_EQ(group_of(pid), "redis");
  kernel.calls.reset();
  run(std::chrono::seconds(10));
  EXPECT_EQ(group_of(pid), "redis/front");
  EXPECT_EQ(state(), "running");
}

// The monitoring group of an old rule goes before the process could be examined: it is let go
// nevertheless.
TEST_F(MonitorTest, LetsGoWhatItCouldNotExamine) {
  const pid_t pid = processes.start({.name = "web"});
  ASSERT_EQ(reload(web_and_others), "");
  ASSERT_EQ(group_of(pid), "redis/front");
  processes.calls.fail_if([](const fake::Call& call) { return call.operation == "list"; }, ENOMEM);
  EXPECT_EQ(reload(redis_text),
            "the policy is in force, but cannot list /proc: Cannot allocate memory");
  EXPECT_FALSE(kernel.resctrl.read("redis/mon_groups/front/tasks"));
  EXPECT_EQ(group_of(pid), "redis");
  processes.calls.reset();
  reconcile();
  EXPECT_EQ(group_of(pid), "default");
}

TEST_F(MonitorTest, AdoptsAgain) {
  ASSERT_EQ(reload("[group.redis]\nadopt = true\n" + rule("web", "front")), "");
  (void)kernel.resctrl.remove("redis/mon_groups/front");
  (void)kernel.resctrl.make("redis/mon_groups/front");
  reconcile();
  EXPECT_EQ(drift, std::vector<std::string>{"monitoring group 'redis/front' was removed and made "
                                            "again by another tool; restored"});
  const pid_t pid = processes.start({.name = "web"});
  place_at_exec(pid);
  EXPECT_EQ(group_of(pid), "redis/front");
}

// Where other tools hold the RMIDs, the limits are in force without the counters, and these come
// once there are RMIDs.
TEST_F(MonitorTest, WaitsForRmids) {
  use_three_rmids();
  ASSERT_TRUE(kernel.resctrl.make("mon_groups/theirs"));
  const pid_t pid = processes.start({.name = "web"});
  policy = web_and_others;
  ASSERT_EQ(load(), "");
  EXPECT_EQ(group_of(pid), "redis");
  EXPECT_EQ(problems(),
            std::vector<std::string>{
                "the monitoring groups of 'redis' are not in force: 1 group and 1 monitoring group "
                "asked for (redis, redis/front), 3 RMIDs here: 1 is the default group's, 1 taken "
                "by a monitoring group that rdtd did not make (default/theirs)"});
  ASSERT_TRUE(kernel.resctrl.remove("mon_groups/theirs"));
  kernel.resctrl.end_limbo();
  reconcile();
  EXPECT_EQ(group_of(pid), "redis/front");
  EXPECT_EQ(state(), "running");
}

}  // namespace
}  // namespace rdtd
