// Changes of resctrl by others, between two reconciles.
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>

#include "rdtd/daemon/drift_pace.hpp"
#include "world.hpp"

namespace rdtd::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(DriftPace, SlowsDownForAGroupThatIsChangedAllTheTime) {
  DriftPace pace;
  DriftPace::Time now{std::chrono::hours(1)};
  EXPECT_EQ(pace.delay("redis"), milliseconds(100));
  for (int change = 0; change < 5; change++) {
    EXPECT_TRUE(pace.found({"redis"}, now += seconds(1)).empty());
    EXPECT_EQ(pace.delay("redis"), milliseconds(100));
  }
  EXPECT_EQ(pace.found({"batch", "redis"}, now += seconds(1)), std::vector<std::string>{"redis"});
  EXPECT_TRUE(pace.too_often("redis"));
  EXPECT_FALSE(pace.too_often("batch"));
  EXPECT_EQ(pace.delay("batch"), milliseconds(100));
  milliseconds expected{200};
  for (int change = 0; change < 20; change++) {
    EXPECT_EQ(pace.delay("redis"), expected);
    expected = std::min(2 * expected, milliseconds(30'000));
    EXPECT_TRUE(pace.found({"redis"}, now += pace.delay("redis")).empty());
  }
  EXPECT_EQ(pace.delay("redis"), seconds(30));
  (void)pace.found({}, now += seconds(91));
  EXPECT_FALSE(pace.too_often("redis"));
}

TEST(DriftPace, WaitsLongerAfterEachRefusal) {
  DriftPace pace;
  std::chrono::milliseconds last = pace.delay("redis");
  for (int i = 0; i < 4; i++) {
    pace.tried({"redis"}, false);
    EXPECT_EQ(pace.delay("redis"), 2 * last);
    EXPECT_EQ(pace.delay("web"), DriftPace::first_delay);
    EXPECT_FALSE(pace.too_often("redis"));
    last = pace.delay("redis");
  }
  pace.tried({}, true);
  EXPECT_EQ(pace.delay("web"), 2 * last);
  for (int i = 0; i < 20; i++) pace.tried({"redis"}, false);
  EXPECT_EQ(pace.delay("redis"), DriftPace::longest_delay);
  pace.tried({}, false);
  EXPECT_EQ(pace.delay("redis"), DriftPace::first_delay);
}

TEST(DriftPace, AllowsChangesNowAndThen) {
  DriftPace pace;
  DriftPace::Time now{std::chrono::hours(1)};
  for (int change = 0; change < 100; change++)
    EXPECT_TRUE(pace.found({"redis"}, now += seconds(3)).empty());
  EXPECT_EQ(pace.delay("redis"), milliseconds(100));
}

class DriftTest : public World {
 protected:
  void SetUp() override {
    World::SetUp();
    policy = redis_policy;
    ASSERT_EQ(load(), "");
    granted_ = schemata("redis");
  }
  // What another tool does, and the kernel reports.
  void change(const std::string& text) {
    ASSERT_TRUE(kernel.resctrl.write("redis/schemata", text));
    manager->reconciler().resctrl_changed({"redis"});
  }
  std::string granted_;
};

TEST_F(DriftTest, IsRestoredAtOnce) {
  const pid_t redis = processes.start({.name = "redis-server"});
  processes.calls.reset();
  change("L3:0=3\n");
  run(milliseconds(50));
  EXPECT_NE(schemata("redis"), granted_);
  run(milliseconds(60));
  EXPECT_EQ(schemata("redis"), granted_);
  EXPECT_EQ(drift, std::vector<std::string>{"group 'redis': L3:0=3, granted L3:0=f; restored"});
  // The processes are another matter.
  EXPECT_EQ(processes.calls.count(), 0U);
  EXPECT_EQ(group_of(redis), "default");
}

// Its own writes are reported too. They are no drift, and the status still tells of what was found.
TEST_F(DriftTest, OwnChangesAreNoDrift) {
  change("L3:0=3\n");
  run();
  drift.clear();
  manager->reconciler().resctrl_changed({"redis"});
  run();
  EXPECT_EQ(drift, std::vector<std::string>{});
  EXPECT_EQ(manager->answers().properties().drift, 1U);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(manager->answers().properties().drift, 0U);
}

TEST_F(DriftTest, AGroupThatWasRemovedIsBackWithItsProcesses) {
  const pid_t redis = processes.start({.name = "redis-server"});
  manager->reconciler().reconcile();
  run();
  ASSERT_EQ(group_of(redis), "redis");
  ASSERT_TRUE(kernel.resctrl.remove("redis"));
  manager->reconciler().resctrl_changed({"redis"});
  run(seconds(1));
  EXPECT_EQ(schemata("redis"), granted_);
  EXPECT_EQ(group_of(redis), "redis");
}

TEST_F(DriftTest, IsReportedOnceUnderAPolicyThatOnlyReports) {
  ASSERT_EQ(reload(redis_policy + "[daemon]\ndrift = \"report\"\n"), "");
  change("L3:0=3\n");
  run();
  manager->reconciler().resctrl_changed({"redis"});
  run();
  EXPECT_NE(schemata("redis"), granted_);
  EXPECT_EQ(drift, std::vector<std::string>{"group 'redis': L3:0=3, granted L3:0=f"});
}

TEST_F(DriftTest, AToolThatNeverStopsIsReportedOnce) {
  std::ostringstream text;
  const auto before = spdlog::default_logger();
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(text);
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::move(sink)));
  spdlog::set_pattern("%v");
  spdlog::set_level(spdlog::level::warn);
  for (int times = 0; times < 900; times++) {
    if (times == 500) {
      EXPECT_EQ(state(), "running");
    }
    change("L3:0=3\n");
    run(milliseconds(200));
  }
  spdlog::set_default_logger(before);
  std::istringstream lines(text.str());
  std::vector<std::string> log;
  for (std::string line; std::getline(lines, line);) log.push_back(line);
  ASSERT_EQ(log.size(), 7U) << text.str();
  EXPECT_EQ(log[0], "group 'redis': L3:0=3, granted L3:0=f; restored");
  EXPECT_EQ(log[6],
            "group 'redis' was changed by others more than 5 times in 10 s; rdtd restores it after "
            "growing pauses now, of 30 s at most");
  EXPECT_LT(drift.size(), 20U);
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(problems(),
            std::vector<std::string>{"others change group 'redis' all the time: what the policy "
                                     "says of it is in force for moments only"});
  // A group that the policy does not name has nobody who misses it.
  ASSERT_EQ(reload(""), "");
  manager->reconciler().reconcile();
  run(seconds(1));
  EXPECT_EQ(problems(), std::vector<std::string>{});
  ASSERT_EQ(reload(redis_policy), "");
  run(seconds(300));
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

// A comparison of resctrl alone does not replace a reconcile, which looks at processes too.
TEST_F(DriftTest, AReconcileDuringAComparisonIsNotLost) {
  const pid_t redis = processes.start({.name = "redis-server"});
  kernel.locked_by_other = true;
  change("L3:0=3\n");
  run(milliseconds(150));
  manager->reconciler().reconcile();
  run(seconds(3));
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(schemata("redis"), granted_);
}

// What the kernel resets is nobody's fault, however often CPUs come and go.
TEST_F(DriftTest, CpusThatComeAreNoToolThatNeverStops) {
  for (int times = 0; times < 20; times++) {
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
    manager->reconciler().cpu_changed();
    run(milliseconds(150));
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
    manager->reconciler().cpu_changed();
    manager->reconciler().resctrl_changed({"redis"});
    run(milliseconds(150));
    ASSERT_EQ(schemata("redis"), granted_) << times;
  }
}

// A CPU is found before its event is there: no tool took it out of its group.
TEST_F(DriftTest, ACpuThatCameIsFoundWithoutItsEvent) {
  policy = "[daemon]\ndrift = \"report\"\n[group.redis]\ncpus = \"2-3\"\n";
  ASSERT_EQ(load(), "");
  const auto granted = [&] { return kernel.resctrl.read("redis/cpus_list").value(); };
  kernel.resctrl.take_offline(3);
  manager->reconciler().reconcile();
  run(seconds(3));
  ASSERT_EQ(granted(), "2\n");
  kernel.resctrl.bring_online(3);
  manager->reconciler().reconcile();
  run(seconds(3));
  EXPECT_EQ(granted(), "2-3\n");
  EXPECT_EQ(drift, std::vector<std::string>{"group 'redis': CPUs 2, granted 2-3; restored"});
}

// A change that comes while another comparison goes on is not lost.
TEST_F(DriftTest, AChangeDuringAReconcileIsFound) {
  for (int i = 0; i < 2000; i++) processes.start({.name = "bash"});
  manager->reconciler().reconcile();
  manager->step(clock + milliseconds(1));
  change("L3:0=3\n");
  run(seconds(2));
  EXPECT_EQ(schemata("redis"), granted_);
}

}  // namespace
}  // namespace rdtd::test
