// Processes that keep their command line from being read: nobody else waits for them, they are no
// problem of the daemon's, and they come to their group as soon as it can be read.
#include "world.hpp"

namespace rdtd::test {
namespace {

const std::string worker_policy =
    "[group.workers]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"workers\"\ncmdline = \"*--worker*\"\n";

const std::string another_rule = "[[rule]]\ngroup = \"workers\"\nname = \"tar\"\n";

class HeldUp : public World {
 protected:
  void SetUp() override {
    World::SetUp();
    policy = worker_policy;
    ASSERT_EQ(load(), "");
  }
  // The process `pid` holds up the read of its command line until processes.calls.reset().
  void hold_up(pid_t pid) {
    processes.calls.fail_if(
        [pid](const fake::Call& call) {
          return call.operation == "read" && call.argument == "cmdline" &&
                 call.path == std::to_string(pid);
        },
        EAGAIN);
  }
};

TEST_F(HeldUp, IsPlacedOnceItCanBeRead) {
  const pid_t held = processes.start({.cmdline = "job --worker"});
  const pid_t other = processes.start({.cmdline = "job --worker"});
  hold_up(held);
  manager->reconciler().reconcile();
  run(std::chrono::seconds(3));
  EXPECT_EQ(group_of(held), "default");
  EXPECT_EQ(group_of(other), "workers");
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(problems(), std::vector<std::string>{});
  processes.calls.reset();
  run(std::chrono::seconds(2));
  EXPECT_EQ(group_of(held), "workers");
}

// The next try waits longer the more processes cannot be read, not the more are looked at.
TEST_F(HeldUp, DoesNotWaitForProcessesThatAreOnlyBusy) {
  const pid_t held = processes.start({.cmdline = "job --worker"});
  hold_up(held);
  for (pid_t busy = 100'000; busy < 120'000; busy++)
    manager->core().sweeper.visit({.pid = busy}, std::chrono::hours(1));
  manager->core().sweeper.visit({.pid = held});
  run(std::chrono::milliseconds(100));
  processes.calls.reset();
  run(2 * Visits::held_up_delay);
  EXPECT_EQ(group_of(held), "workers");
}

// Whose it is cannot be read now: it is not taken for one that no monitoring group counts.
TEST_F(HeldUp, StaysInTheMonitoringGroupOfItsUser) {
  ASSERT_EQ(reload("[group.workers]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"workers\"\n"
                   "name = \"job\"\nmonitor = \"{user}\"\n"),
            "");
  const pid_t job = processes.start({.name = "job", .identity = {0, 0, 1000}});
  manager->reconciler().reconcile();
  run(std::chrono::seconds(3));
  const std::string place = group_of(job);
  EXPECT_NE(place, "workers");
  processes.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "read" && call.argument == "identity";
      },
      EBUSY);
  manager->reconciler().reconcile();
  manager->core().sweeper.visit({.pid = job});
  run(std::chrono::seconds(3));
  EXPECT_EQ(group_of(job), place);
  EXPECT_TRUE(manager->answers().explain(job, std::nullopt));
  const pid_t another = processes.start({.name = "job", .identity = {0, 0, 1001}});
  manager->core().sweeper.visit({.pid = another});
  run(std::chrono::seconds(3));
  EXPECT_EQ(group_of(another), "default");
  processes.calls.reset();
  run(std::chrono::seconds(3));
  EXPECT_NE(group_of(another), "default");
}

TEST_F(HeldUp, IsLookedAtOnceASecond) {
  const pid_t held = processes.start({.cmdline = "job --worker"});
  hold_up(held);
  manager->core().sweeper.visit({.pid = held});
  run(std::chrono::seconds(10));
  size_t looks = 0;
  for (const fake::Call& call : processes.calls.log())
    if (call.operation == "read" && call.argument == "cmdline") looks++;
  EXPECT_GE(looks, 9U);
  EXPECT_LE(looks, 11U);
}

// However many there are, to look at them takes little.
TEST_F(HeldUp, ManyAreLookedAtLessOften) {
  std::vector<pid_t> held(1500);
  for (pid_t& pid : held) pid = processes.start({.cmdline = "job --worker"});
  processes.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "read" && call.argument == "cmdline"; },
      EAGAIN);
  for (const pid_t pid : held) manager->core().sweeper.visit({.pid = pid});
  const auto looks = [this] {
    return std::ranges::count_if(processes.calls.log(), [](const fake::Call& call) {
      return call.operation == "read" && call.argument == "cmdline";
    });
  };
  run(std::chrono::seconds(1));
  const auto before = looks();
  for (int second = 0; second < 12; second++) run(std::chrono::seconds(1));
  EXPECT_GE(looks() - before, 900);
  EXPECT_LE(looks() - before, 12 * 2 * 128);
  processes.calls.reset();
  for (int second = 0; second < 15; second++) run(std::chrono::seconds(1));
  for (const pid_t pid : held) EXPECT_EQ(group_of(pid), "workers");
}

TEST_F(HeldUp, WithRulesForThreads) {
  ASSERT_EQ(reload(worker_policy + "thread = \"io-*\"\n"), "");
  const pid_t held = processes.start({.cmdline = "job --worker"});
  const pid_t thread = processes.clone(held, "io-1");
  hold_up(held);
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(thread), "default");
  processes.calls.reset();
  run(std::chrono::seconds(2));
  EXPECT_EQ(group_of(thread), "workers");
  EXPECT_EQ(group_of(held), "default");
}

// A load has an end, and its answer comes when all is decided.
TEST_F(HeldUp, IsAwaitedByALoad) {
  const pid_t held = processes.start({.cmdline = "job --worker"});
  const pid_t other = processes.start({.cmdline = "job --worker"});
  const pid_t child = processes.fork(held);
  hold_up(held);
  policy += another_rule;
  bool loaded = false;
  manager->changes().reload(
      [&](const std::expected<void, Refusal>& result) { loaded = result.has_value(); });
  run(Sweep::max_patience / 2);
  EXPECT_FALSE(loaded);
  EXPECT_EQ(group_of(held), "default");
  EXPECT_EQ(group_of(other), "workers");
  processes.calls.reset();
  run(2 * Sweep::patient_delay);
  EXPECT_TRUE(loaded);
  EXPECT_EQ(group_of(held), "workers");
  EXPECT_EQ(group_of(child), "workers");
  const auto rules = manager->answers().list_rules();
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].processes, 3U);
}

// Only the process that is held up is still looked at when the table is replaced: then all are, at
// once, and each counts once.
TEST_F(HeldUp, ANewTableHasAllLookedAtAgain) {
  const pid_t held = processes.start({.cmdline = "job --worker"});
  const pid_t other = processes.start({.cmdline = "job --worker"});
  hold_up(held);
  policy += another_rule;
  bool loaded = false;
  manager->changes().reload([&](const auto&) { loaded = true; });
  run(Sweep::max_patience / 2);
  ASSERT_EQ(group_of(other), "workers");
  const pid_t late = processes.start({.cmdline = "job --worker"});
  manager->core().sweeper.use(manager->in_force().table);
  run(std::chrono::milliseconds(1));
  EXPECT_EQ(group_of(late), "workers");
  EXPECT_FALSE(loaded);
  processes.calls.reset();
  run(2 * Sweep::patient_delay);
  EXPECT_TRUE(loaded);
  EXPECT_EQ(manager->answers().list_rules()[0].processes, 3U);
}

TEST_F(HeldUp, IsAwaitedForALimitedTime) {
  const pid_t held = processes.start({.cmdline = "job --worker"});
  hold_up(held);
  policy += another_rule;
  bool loaded = false;
  manager->changes().reload(
      [&](const std::expected<void, Refusal>& result) { loaded = result.has_value(); });
  run(Sweep::max_patience + 2 * Sweep::patient_delay);
  EXPECT_TRUE(loaded);
  processes.calls.reset();
  run(Visits::held_up_delay + Sweep::patient_delay);
  EXPECT_EQ(group_of(held), "workers");
}

TEST_F(HeldUp, IsExplained) {
  const pid_t held = processes.start({.cmdline = "job --worker"});
  hold_up(held);
  const auto explanation = manager->answers().explain(held, std::nullopt);
  ASSERT_FALSE(explanation);
  EXPECT_EQ(explanation.error().kind, Refusal::Kind::busy);
  EXPECT_EQ(explanation.error().text,
            "cannot read /proc/" + std::to_string(held) + ": Resource temporarily unavailable");
}

// Its rule has gone, and whether the rule held it can be told only later.
TEST_F(HeldUp, IsReleasedOnceItCanBeRead) {
  const pid_t held = processes.start({.cmdline = "job --worker"});
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  ASSERT_EQ(group_of(held), "workers");
  hold_up(held);
  ASSERT_EQ(reload("[group.workers]\nl3 = \"4 ways\"\n"), "");
  EXPECT_EQ(group_of(held), "workers");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(held), "workers");
  processes.calls.reset();
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(held), "default");
}

// Two reloads, each of which takes away the rule of a process that is held up.
TEST_F(HeldUp, EveryRuleThatIsGoneLetsGo) {
  const std::string groups = "[group.workers]\nl3 = \"4 ways\"\n";
  const std::string rule = "[[rule]]\ngroup = \"workers\"\ncmdline = ";
  ASSERT_EQ(reload(groups + rule + "\"first*\"\n"), "");
  const pid_t first = processes.start({.cmdline = "first job"});
  const pid_t second = processes.start({.cmdline = "second job"});
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  hold_up(first);
  ASSERT_EQ(reload(groups + rule + "\"second*\"\n"), "");
  run(std::chrono::seconds(1));
  ASSERT_EQ(group_of(second), "workers");
  hold_up(second);
  ASSERT_EQ(reload(groups), "");
  EXPECT_EQ(group_of(first), "workers");
  EXPECT_EQ(group_of(second), "workers");
  processes.calls.reset();
  for (int times = 0; times < 2; times++) {
    manager->reconciler().reconcile();
    run(std::chrono::seconds(1));
  }
  EXPECT_EQ(group_of(first), "default");
  EXPECT_EQ(group_of(second), "default");
}

// What happens to it meanwhile is looked at without delay.
TEST_F(HeldUp, ARenameIsLookedAtAtOnce) {
  ASSERT_EQ(reload("[group.named]\nmb = \"50%\"\n[[rule]]\ngroup = \"named\"\nname = "
                   "\"redis-server\"\n" +
                   worker_policy),
            "");
  const pid_t held = processes.start({.cmdline = "job --worker"});
  hold_up(held);
  manager->core().sweeper.visit({.pid = held});
  run();
  processes.rename(held, "redis-server");
  manager->core().sweeper.visit({.pid = held});
  run();
  EXPECT_EQ(group_of(held), "named");
}

// The reports name the rule that a thread of it was moved by.
TEST_F(HeldUp, ItsThreadsAreReportedInTheirGroup) {
  ASSERT_EQ(reload("[group.named]\nmb = \"50%\"\n" + worker_policy +
                   "[[rule]]\ngroup = \"named\"\nthread = \"io-*\"\n"),
            "");
  std::vector<std::string> reports;
  manager->connect({.on_assigned = [&](pid_t, const std::string& group, const std::string& rule) {
    reports.push_back(group + " " + rule);
  }});
  const pid_t held = processes.start({.cmdline = "job"});
  const pid_t thread = processes.clone(held, "io-1");
  size_t reads = 0;
  // Only the first read of its command line is held up: that for the first thread.
  processes.calls.fail_if(
      [&](const fake::Call& call) {
        return call.operation == "read" && call.argument == "cmdline" && reads++ == 0;
      },
      EAGAIN);
  manager->core().sweeper.visit({.pid = held});
  run();
  EXPECT_EQ(group_of(thread), "named");
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0], "named p.toml:8");
}

}  // namespace
}  // namespace rdtd::test
