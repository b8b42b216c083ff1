// The loop: systemd's requests, the classifier's requests, and timers. What changes of processes
// and cgroups lead to is in loop_changes_test.cpp.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <thread>

#include "log.hpp"
#include "loop_world.hpp"

namespace rdtd {
namespace {

using std::chrono::milliseconds;
using test::LoopTest;
using test::redis_policy;

TEST_F(LoopTest, LoadsThePolicyAndEndsWhenAskedTo) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const pid_t redis = processes.start({.name = "redis-server"});
    policy = redis_policy;
    end_signal = signal;
    notifications_.clear();
    EXPECT_EQ(run_loop({}, {{ready()}}), 0);
    EXPECT_EQ(group_of(redis), "redis");
    EXPECT_EQ(notifications_.back(), "STOPPING=1");
    start();
  }
  EXPECT_TRUE(notified("STATUS=2 groups, 1 rule, "));
  EXPECT_TRUE(
      logged("warning: cannot connect to the system bus: No such file or directory; trying "
             "again every second, and rdtctl cannot reach rdtd meanwhile\n")());
}

// systemd does not start the daemon again if the policy must be edited first.
TEST_F(LoopTest, TheStatusSaysWhetherAnotherStartMayHelp) {
  using State = PolicyFile::State;
  const struct {
    const char* text;
    std::optional<PolicyFile> unreadable;
    int status;
  } rows[] = {
      {"[group.redis]\nl3 = 7\n", std::nullopt, 78},
      {"", PolicyFile{"p.toml", State::unreadable, "", "is a directory", false}, 78},
      {"", PolicyFile{"p.toml", State::unreadable, "", "cannot be read: Out of memory", true}, 1},
  };
  for (const auto& row : rows) {
    policy = row.text;
    unreadable_policy = row.unreadable;
    EXPECT_EQ(run_loop({}, {}), row.status) << row.text;
    EXPECT_FALSE(notified("READY=1")) << row.text;
    start();
  }
}

// The next one opens what is mounted then.
TEST_F(LoopTest, EndsOnceResctrlIsUnmounted) {
  heartbeat_interval = milliseconds(20);
  end_signal = SIGURG;  // ignored
  bool unmounted = false;
  Loop::Sources sources;
  sources.unmounted = [&] { return unmounted; };
  EXPECT_EQ(run_loop(std::move(sources), {{ready(), [&] { unmounted = true; }}}), 1);
  EXPECT_TRUE(
      logged("error: resctrl was unmounted: rdtd ends, and has to be started again once it "
             "is mounted\n")());
}

// The machine may permit the policy later.
TEST_F(LoopTest, AMachineThatRefusesThePolicyIsNoReasonToEnd) {
  policy = redis_policy;
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "write"; }, EINVAL);
  EXPECT_EQ(run_loop({}, {{ready()}}), 0);
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(schemata("redis"), "none");
}

TEST_F(LoopTest, AHangupReloads) {
  std::vector<std::string> sent;
  const auto reload_to = [&](const std::string& text) {
    return [this, text] {
      policy = text;
      notifications_.clear();
      ::raise(SIGHUP);
    };
  };
  const auto reload_fails = [&] {
    sent = notifications_;
    reload_to("[group.redis]\nl3 = 7\n")();
  };
  EXPECT_EQ(run_loop({}, {{ready(), reload_to(redis_policy)},
                          {ready(), reload_fails},
                          {logged("the policy was not applied, the previous one stays in force")},
                          {ready()}}),
            0);
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_TRUE(sent[0].starts_with("RELOADING=1\nMONOTONIC_USEC=")) << sent[0];
  EXPECT_EQ(sent[1], "STATUS=2 groups, 1 rule, 0 threads assigned");
  EXPECT_EQ(sent[2], "READY=1");
  EXPECT_TRUE(notified("STATUS=2 groups, 1 rule, 0 threads assigned; last reload failed: "));
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(state(), "degraded");
}

TEST_F(LoopTest, AReloadKeepsTheLogLevelThatWasSetMeanwhile) {
  policy = "[daemon]\nlog_level = \"warning\"\n";
  const auto expect_level = [this](const std::string& level) {
    EXPECT_EQ(syslog_level(), level);
    notifications_.clear();
    ::raise(SIGHUP);
  };
  EXPECT_EQ(run_loop({}, {{ready(),
                           [&] {
                             expect_level("warning");
                             EXPECT_TRUE(set_syslog_level("debug"));
                           }},
                          {ready(),
                           [&] {
                             policy = "[daemon]\nlog_level = \"error\"\n";
                             expect_level("debug");
                           }},
                          {ready(), [&] { expect_level("err"); }}}),
            0);
}

// The classifier moves the first thread. The threads and children of before are visited a moment
// later.
TEST_F(LoopTest, RequestsOfTheClassifierLeadToVisits) {
  policy = redis_policy;
  pid_t redis = 0, thread = 0, child = 0;
  const auto exec = [&] {
    redis = processes.start({.name = "redis-server"});
    thread = processes.clone(redis, "bio");
    child = processes.fork(redis);
    events_.exec(redis);
  };
  EXPECT_EQ(run_loop(with_classifier(), {{ready(), exec},
                                         {in_group(redis, "redis")},
                                         {in_group(thread, "redis")},
                                         {in_group(child, "redis")}}),
            0);
  EXPECT_EQ(state(), "running");
  // The load went on as soon as the classifier had taken the rules.
  EXPECT_FALSE(logged("the classifier does not use the new rules yet")());
}

TEST_F(LoopTest, TheLogNamesTheAssignmentsOfTheClassifier) {
  policy = redis_policy + "[daemon]\nlog_level = \"debug\"\n";
  const pid_t redis = processes.start({.name = "bash"});
  const auto exec = [&] {
    processes.exec(redis, {.name = "redis-server"});
    events_.exec(redis);
  };
  const std::string line =
      "debug: process " + std::to_string(redis) + " put in group redis, p.toml:4\n";
  EXPECT_EQ(run_loop(with_classifier(), {{ready(), exec}, {logged(line)}}), 0);
}

TEST_F(LoopTest, AnExecIntoARemovedGroupMakesItAgain) {
  policy = redis_policy;
  pid_t redis = 0;
  const auto exec = [&] {
    {
      const std::lock_guard lock(kernel.mutex);
      ASSERT_TRUE(kernel.resctrl.remove("redis"));
    }
    redis = processes.start({.name = "redis-server"});
    events_.exec(redis);
  };
  EXPECT_EQ(run_loop(with_classifier(), {{ready(), exec}, {in_group(redis, "redis")}}), 0);
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
}

TEST_F(LoopTest, LostProcessEventsLeadToASweep) {
  policy = redis_policy;
  test::OverrunSocket overrun;
  classifier_->start(overrun.connector(true), processes, manager->core().manual);
  pid_t redis = 0;
  const auto lose = [&] {
    redis = processes.start({.name = "redis-server"});
    overrun.overrun();
  };
  EXPECT_EQ(
      run_loop({.classifier = classifier_.get()}, {{ready(), lose}, {in_group(redis, "redis")}}),
      0);
  EXPECT_TRUE(logged("warning: the kernel dropped ")()) << log_.str();
  EXPECT_GT(manager->answers().properties().event_overruns, 0U);
}

TEST_F(LoopTest, WithoutEventsItGoesOn) {
  policy = redis_policy + "[daemon]\nreconcile_interval = \"100ms\"\n";
  const auto always = [] { return true; };
  const auto start_classifier = [&] {
    classifier_->start(test::broken_connector(), processes, manager->core().manual);
  };
  pid_t redis = 0;
  const auto start_redis = [&] { redis = processes.start({.name = "redis-server"}); };
  EXPECT_EQ(run_loop({.classifier = classifier_.get()},
                     {{always, start_classifier},
                      {logged("warning: cannot receive process events: Transport endpoint is not "
                              "connected; trying again\n")},
                      {ready(), start_redis},
                      {in_group(redis, "redis")}}),
            0);
  EXPECT_EQ(problems(), std::vector<std::string>{"the kernel sends no process events"});
}

// Without a beat, it subscribes again and looks at all processes; with one, all is well again.
TEST_F(LoopTest, ChecksThatProcessEventsArrive) {
  policy = redis_policy;
  heartbeat_interval = milliseconds(20);
  pid_t redis = 0;
  const auto fall_silent = [&] {
    beats = false;
    (void)events_.take_subscription();
    redis = processes.start({.name = "redis-server"});
  };
  const auto speak_again = [&] {
    EXPECT_EQ(problems(), std::vector<std::string>{"the kernel sends no process events"});
    EXPECT_TRUE(events_.take_subscription());
    beats = true;
  };
  EXPECT_EQ(run_loop(with_classifier(),
                     {{ready(), fall_silent},
                      {logged("warning: no process events arrive; subscribing again, and "
                              "examining all processes meanwhile\n")},
                      {in_group(redis, "redis"), speak_again},
                      {logged("info: process events arrive again\n")}}),
            0);
  EXPECT_GT(manager->answers().properties().events_seen, 0U);
}

TEST_F(LoopTest, ReconcilesInTheIntervalOfThePolicy) {
  const auto policy_with = [](const std::string& interval) {
    return redis_policy + "[daemon]\nreconcile_interval = \"" + interval + "\"\n";
  };
  policy = policy_with("0");
  const auto change = [&] {
    ASSERT_TRUE(kernel.resctrl.write("redis/schemata", "L3:0=3\n"));
    notifications_.clear();
  };
  const auto reload_to = [&](const std::string& interval) {
    return [this, text = policy_with(interval)] {
      policy = text;
      notifications_.clear();
      ::raise(SIGHUP);
    };
  };
  const auto restored = [this] { return schemata("redis") == "L3:0-1=f MB:0-1=100"; };
  std::chrono::steady_clock::time_point since;
  EXPECT_EQ(
      run_loop({},
               {{ready(), reload_to("100ms")},
                {ready(), change},
                {restored, change},  // more than once
                {restored, reload_to("0")},
                {ready(),
                 [&] {
                   change();
                   since = std::chrono::steady_clock::now();
                 }},
                {[&] { return std::chrono::steady_clock::now() - since >= milliseconds(300); }}}),
      0);
  EXPECT_FALSE(restored());
}

// Not those of the last heartbeat.
TEST_F(LoopTest, ProcessEventsAreCountedAsTheyArrive) {
  policy = redis_policy;
  pid_t redis = 0;
  const auto exec = [&] {
    redis = processes.start({.name = "redis-server"});
    events_.exec(redis);
  };
  const auto counted = [this] { return manager->answers().properties().events_seen > 0; };
  EXPECT_EQ(run_loop(with_classifier(), {{ready(), exec}, {in_group(redis, "redis")}, {counted}}),
            0);
}

// For a moment, the descriptor that the loop waits on is none of epoll's.
TEST_F(LoopTest, AFailureOfTheEventLoopIsNotItsEnd) {
  policy = redis_policy;
  std::thread repair;
  const auto fail = [&] {
    sd_event* event = nullptr;
    ASSERT_GE(sd_event_default(&event), 0);
    const int fd = sd_event_get_fd(event);
    sd_event_unref(event);
    const int good = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
    ASSERT_EQ(::dup3(requests_fd_.get(), fd, O_CLOEXEC), fd);
    repair = std::thread([fd, good] {
      std::this_thread::sleep_for(milliseconds(150));
      EXPECT_EQ(::dup3(good, fd, O_CLOEXEC), fd);
      (void)::close(good);
    });
  };
  EXPECT_EQ(run_loop(with_classifier(),
                     {{ready(), fail},
                      {logged("warning: the event loop: Invalid argument; trying again\n")},
                      {[] { return true; }}}),
            0);
  repair.join();
}

// Without logind nobody announces it, and no reconcile is due.
TEST_F(LoopTest, NoticesASuspendByTheClocks) {
  policy = redis_policy + "[daemon]\nreconcile_interval = \"0\"\n";
  heartbeat_interval = milliseconds(20);
  uint64_t suspended = 7'000'000'000;
  Loop::Sources sources;
  sources.suspended = [&] { return suspended; };
  const auto suspend = [&] {
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
    EXPECT_EQ(schemata("redis"), "L3:0=f;1=fffff MB:0-1=100");
    suspended += 2'000'000'000;
  };
  const auto restored = [this] { return schemata("redis") == "L3:0-1=f MB:0-1=100"; };
  EXPECT_EQ(run_loop(std::move(sources), {{ready(), suspend}, {restored}}), 0);
}

// As the kubelet changes a ConfigMap: a link to the directory of the files is replaced.
TEST_F(LoopTest, AChangeInADirectoryOfPolicyFilesReloads) {
  if (!fs::exists("/proc/self")) GTEST_SKIP() << "/proc is not mounted";
  fs::create_directories(root_ / "policy/..1");
  fs::create_directory_symlink("..1", root_ / "policy/..data");
  const std::string directory = (root_ / "policy").string();
  Loop::Sources sources;
  sources.policy_directories = {directory, (root_ / "absent").string()};
  const auto change = [&] {
    policy = redis_policy;
    fs::create_directories(root_ / "policy/..2");
    fs::create_directory_symlink("..2", root_ / "policy/..new");
    fs::rename(root_ / "policy/..new", root_ / "policy/..data");
  };
  EXPECT_EQ(run_loop(std::move(sources),
                     {{ready(), change}, {[&] { return schemata("redis") != "none"; }}}),
            0);
  EXPECT_TRUE(logged("info: reloading the policy when a file changes in " + directory + "\n")());
}

// As an installation does that comes after the daemon, and one that exchanges the whole directory.
TEST_F(LoopTest, ADirectoryOfPolicyFilesThatComesOrIsReplacedIsWatched) {
  if (!fs::exists("/proc/self")) GTEST_SKIP() << "/proc is not mounted";
  const fs::path directory = root_ / "policy";
  heartbeat_interval = std::chrono::milliseconds(100);  // looks for one that was absent
  Loop::Sources sources;
  sources.policy_directories = {directory.string()};
  const auto make = [&] {
    policy = redis_policy;
    fs::create_directories(directory);
  };
  const auto replace = [&] {
    policy = "";
    fs::create_directories(root_ / "other");
    fs::rename(directory, root_ / "old");
    fs::rename(root_ / "other", directory);
  };
  const auto edit = [&] {
    policy = redis_policy;
    put("policy/10-redis.toml", policy);
  };
  // The new one may have the inode of the old one.
  const auto make_again = [&] {
    policy = "";
    fs::remove_all(directory);
    fs::create_directories(directory);
  };
  const auto is_there = [&] { return schemata("redis") != "none"; };
  const auto is_gone = [&] { return schemata("redis") == "none"; };
  EXPECT_EQ(run_loop(std::move(sources), {{ready(), make},
                                          {is_there, replace},
                                          {is_gone, edit},
                                          {is_there, make_again},
                                          {is_gone, edit},
                                          {is_there}}),
            0);
}

TEST_F(LoopTest, NoDirectoryOfPolicyFiles) {
  Loop::Sources sources;
  sources.policy_directories = {(root_ / "absent").string()};
  EXPECT_EQ(run_loop(std::move(sources), {{ready()}}), 0);
  EXPECT_TRUE(logged("warning: there is no directory of policy files to watch\n")());
}

}  // namespace
}  // namespace rdtd
