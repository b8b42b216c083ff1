// Loading a policy: what it comes to, and what is left when it fails.
#include <fmt/format.h>
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

// The kernel refuses the exclusive mode where it divides no cache.
TEST_F(ManagerTest, LoadsAnExclusiveGroupWhereOnlyBandwidthIsDivided) {
  kernel.resctrl.machine.controls.erase(Resource::L3);
  kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  policy = "[daemon]\nunsupported = \"skip\"\n" + redis_policy + "[group.batch]\nmb = \"20%\"\n";
  EXPECT_EQ(load(), "");
  EXPECT_EQ(schemata("batch"), "MB:0-1=20");
  EXPECT_EQ(state(), "running");
}

// At the start, a policy for a larger machine comes into force as far as this one goes.
TEST_F(ManagerTest, TheFirstLoadGivesAsManyGroupsAsThereAreClosids) {
  for (int i = 0; i < 60; i++)
    policy += fmt::format(
        "[group.g{0}]\nl3 = \"2 ways\"\n[[rule]]\ngroup = \"g{0}\"\nname = \"p{0}\"\n", i);
  const pid_t first = processes.start({.name = "p0"});
  const pid_t last = processes.start({.name = "p59"});
  EXPECT_EQ(load(), "");
  EXPECT_EQ(kernel.resctrl.groups.size(), 8U);
  EXPECT_EQ(group_of(first), "g0");
  EXPECT_EQ(group_of(last), "default");
  EXPECT_EQ(state(), "degraded");
  ASSERT_EQ(problems().size(), 53U);
  EXPECT_TRUE(problems().front().starts_with("group 'g10' is not in force: 8 groups asked for"))
      << problems().front();
  // A reload says so instead.
  EXPECT_TRUE(reload(policy).contains("60 groups asked for"));
  EXPECT_EQ(group_of(first), "g0");
}

// /run is full: groups that exist need no record, and a new one waits until it can be recorded.
TEST_F(ManagerTest, TheFirstLoadGoesOnWithoutWhatCannotBeRecorded) {
  policy = redis_policy;
  ASSERT_EQ(load(), "");
  manager->store();
  const std::string record = *Directory::open(root_.string())->read("groups");
  start();
  put(".groups.new/in the way", "");
  policy += "[group.batch]\nl3 = \"2 ways\"\n";
  const pid_t redis = processes.start({.name = "redis-server"});
  EXPECT_EQ(load(), "");
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(schemata("batch"), "none");
  const std::string why = "cannot open " + (root_ / ".groups.new").string() + ": File exists";
  EXPECT_EQ(problems(),
            (std::vector<std::string>{
                "group 'batch' is not in force: group 'batch' cannot be made now: " + why,
                why + ": a restart will not know what rdtd has made"}));
  EXPECT_EQ(*Directory::open(root_.string())->read("groups"), record);
  std::filesystem::remove_all(root_ / ".groups.new");
  run(std::chrono::seconds(6));
  EXPECT_EQ(schemata("batch"), "L3:0-1=30 MB:0-1=100");
  EXPECT_EQ(state(), "running");
}

// The same where nothing at all can be had at first.
TEST_F(ManagerTest, AFirstLoadThatFailsIsTriedAgain) {
  policy = redis_policy;
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "make"; }, ENOMEM);
  EXPECT_EQ(load(), "");
  EXPECT_EQ(problems(), std::vector<std::string>{"group 'redis' is not in force: cannot make group "
                                                 "/sys/fs/resctrl/redis: Cannot allocate memory"});
  // After pauses that grow.
  run(std::chrono::seconds(600));
  EXPECT_LE(std::ranges::count(kernel.calls.texts(), "make redis"), 10);
  kernel.calls.reset();
  run(std::chrono::seconds(300));
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(state(), "running");
}

TEST_F(ManagerTest, AnInvalidPolicyChangesNothing) {
  policy = redis_policy;
  ASSERT_EQ(load(), "");
  kernel.calls.reset();
  EXPECT_EQ(reload("[group.redis]\nl3 = \"4 ways\"\nexclusive = 7\n"),
            "p.toml:3:13: error: 'exclusive' must be true, false or \"strict\", not an integer\n"
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

// Wherever it is: rules neither move it nor let it go.
TEST_F(ManagerTest, ARuleLeavesProcessesWhereTheyAre) {
  const std::string leave = "[[rule]]\ngroup = \"leave\"\nname = \"redis-server\"\n";
  const std::string all = "[[rule]]\ngroup = \"redis\"\nname = \"*\"\n";
  const std::string group = "[group.redis]\nl3 = \"4 ways\"\n";
  for (const std::string& threads :
       {std::string(), std::string("[[rule]]\ngroup = \"redis\"\nthread = \"io\"\n")}) {
    const pid_t redis = processes.start({.name = "redis-server"});
    const pid_t bash = processes.start({.name = "bash"});
    ASSERT_EQ(reload(group + leave + all + threads), "");
    EXPECT_EQ(group_of(redis), "default") << threads;
    EXPECT_EQ(group_of(bash), "redis") << threads;
    const auto rules = manager->answers().list_rules();
    EXPECT_EQ(rules.at(0).group, "leave");
    EXPECT_EQ(rules.at(0).processes, 1U) << threads;
    ASSERT_EQ(reload(group + all + threads), "");
    EXPECT_EQ(group_of(redis), "redis") << threads;
    ASSERT_EQ(reload(group + leave + all + threads), "");
    EXPECT_EQ(group_of(redis), "redis") << threads;
    ASSERT_EQ(reload(group + threads), "");
    processes.exit(redis);
    processes.exit(bash);
  }
}

// Each turn of the main loop lets only some threads go.
TEST_F(ManagerTest, ManyThreadsAreReleasedInTurns) {
  const pid_t redis = processes.start({.name = "redis-server"});
  for (int i = 0; i < 2000; i++) (void)processes.clone(redis, i % 2 == 0 ? "io" : "bg");
  ASSERT_EQ(reload(redis_policy), "");
  policy = "[group.redis]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"redis\"\nthread = \"bg\"\n";
  bool done = false;
  manager->changes().reload([&](const auto& result) { done = result.has_value(); });
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

// /proc opens for a thread too, with the thread's name.
TEST_F(ManagerTest, AThreadStandsForItsProcess) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t qemu = processes.start({.name = "qemu"});
  const pid_t vcpu = processes.clone(qemu, "redis-vcpu");
  manager->core().sweeper.visit_thread(vcpu);
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
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "a");
  no_users = true;
  ASSERT_EQ(reload(by_user + "[group.b]\n"), "");
  EXPECT_EQ(group_of(redis), "a");
}

// Each question may hold up the loop for two seconds.
TEST_F(ManagerTest, ASilentUserDatabaseIsAskedEveryFiveMinutes) {
  no_users = true;
  ASSERT_EQ(reload("[group.a]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"a\"\nuser = \"redis\"\n"), "");
  const auto reconcile_after = [&](std::chrono::seconds pause) {
    run(pause);
    manager->reconciler().reconcile();
    run(std::chrono::seconds(1));
    return user_questions;
  };
  const int asked = reconcile_after({});
  for (int minute = 1; minute < 5; minute++)
    EXPECT_EQ(reconcile_after(std::chrono::seconds(58)), asked) << minute;
  EXPECT_GT(reconcile_after(std::chrono::seconds(70)), asked);
}

// The files in force are applied again; those that were refused are still refused.
TEST_F(ManagerTest, AFailedReloadIsNotForgottenByARetry) {
  (void)kernel.resctrl.make("b");
  policy = redis_policy + "[group.b]\n";
  ASSERT_EQ(load(), "");
  EXPECT_NE(reload("[group.x"), "");
  (void)kernel.resctrl.remove("b");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_NE(schemata("b"), "none");
  EXPECT_EQ(state(), "degraded");
  EXPECT_NE(manager->answers().properties().last_reload_error, "");
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
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "a");
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

TEST_F(ManagerTest, AResetThatFailsSaysWhy) {
  ASSERT_EQ(reload(redis_policy), "");
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "remove"; }, EBUSY);
  const auto reset = [this] {
    return wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); });
  };
  EXPECT_EQ(reset(), "cannot remove group /sys/fs/resctrl/redis: Device or resource busy");
  EXPECT_EQ(state(), "degraded");
  // The group that stays takes nothing from others.
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB:0-1=100");
  EXPECT_EQ(kernel.resctrl.find("redis")->mode, Mode::shareable);
  EXPECT_EQ(kernel.calls.changes().back(), "remove redis");
  kernel.calls.reset();
  EXPECT_EQ(reset(), "");
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(schemata("redis"), "none");
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB:0-1=100");
}

TEST_F(ManagerTest, ThePolicyInForceSaysWhoMayRead) {
  using resctrl::Admit;
  EXPECT_EQ(admitted, std::nullopt);
  policy = redis_policy;
  ASSERT_EQ(load(), "");
  EXPECT_EQ(admitted, Admit::group);
  ASSERT_EQ(reload("[daemon]\nreaders = \"all\"\n"), "");
  EXPECT_EQ(admitted, Admit::all);
  ASSERT_NE(reload("[daemon]\nreaders = \"group\"\n[group.a]\nl3 = 7\n"), "");
  EXPECT_EQ(admitted, Admit::all);
  ASSERT_EQ(wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); }), "");
  EXPECT_EQ(admitted, Admit::before);
  EXPECT_EQ(groups_at_admission, 1U);
  no_chmod = true;
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(problems(),
            std::vector<std::string>{"cannot change the mode of resctrl: Read-only file system"});
  EXPECT_EQ(state(), "degraded");
  no_chmod = false;
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(admitted, Admit::group);
  EXPECT_EQ(state(), "running");
}

// Under the mode of before, root may not remove groups.
TEST_F(ManagerTest, AResetThatFailedCanBeTriedAgain) {
  using resctrl::Admit;
  ASSERT_EQ(reload(redis_policy), "");
  const auto reset = [this] {
    return wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); });
  };
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "remove"; }, EBUSY);
  EXPECT_NE(reset(), "");
  kernel.calls.reset();
  admissions.clear();
  EXPECT_EQ(reset(), "");
  EXPECT_EQ(admissions, (std::vector{Admit::all, Admit::before}));
  EXPECT_EQ(kernel.resctrl.groups.size(), 1U);
  admissions.clear();
  ASSERT_TRUE(manager->remove_all());
  EXPECT_EQ(admissions, (std::vector{Admit::all, Admit::before}));
}

// At its end the daemon waits for no lock, and leaves nothing behind.
TEST_F(ManagerTest, RemovesAllAtTheEnd) {
  const pid_t pid = processes.start({.name = "bash"});
  ASSERT_EQ(reload(redis_policy + "[group.b]\n"), "");
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  kernel.locked_by_other = true;
  ASSERT_TRUE(manager->remove_all());
  EXPECT_EQ(admitted, resctrl::Admit::before);
  // Not before the groups are gone: the kernel's mode of its root, 0555, allows root to remove
  // none.
  EXPECT_EQ(groups_at_admission, 1U);
  EXPECT_EQ(kernel.resctrl.groups.size(), 1U);
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB:0-1=100");
  EXPECT_EQ(group_of(pid), "default");
  EXPECT_EQ(manager->core().manual.group_of(pid), std::nullopt);
}

}  // namespace
}  // namespace rdtd
