// The classifier's thread, on events that the test sends and on the model kernel.
#include "rdtd/daemon/classifier.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <iterator>

#include "event_socket.hpp"
#include "running_classifier.hpp"
#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;
// What the classifier asks for, and the processes that it has moved or could not place.
struct Requests : Classifier::Requests {
  std::vector<pid_t> moved, not_placed;
  std::vector<uint64_t> exec_at;  // of both
};
using std::chrono::milliseconds;

class ClassifierTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    ASSERT_EQ(reload(redis_policy), "");
    requests_fd_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
    classifier_.run(requests_fd_.get(), milliseconds(1));
  }
  void TearDown() override {
    events_.hang_up();
    classifier_.end();
    World::TearDown();
  }

  void start(Connector connector) {
    classifier_->start(std::move(connector), processes, manager->core().manual);
  }
  // With the rules of redis_policy.
  void start_all() {
    EXPECT_EQ(classifier_->publish(manager->in_force().table), 1U);
    start(events_.connector(true));
    events_.beat();
    (void)collect([](const Requests& r) { return r.table_in_use == 1; });
  }

  // Waits on the eventfd, as the loop thread does, until the requests since the call meet a
  // condition. 20 s at most.
  template <class Condition>
  Requests collect(Condition condition) {
    Requests all;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition(all)) {
      if (std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "the requests never came";
        break;
      }
      pollfd ready{requests_fd_.get(), POLLIN, 0};
      if (::poll(&ready, 1, 10) > 0) {
        eventfd_t ignored = 0;
        (void)::eventfd_read(requests_fd_.get(), &ignored);
      }
      take(all);
    }
    return all;
  }
  // What there is now.
  void take(Requests& all) {
    add(all, classifier_->take_requests());
    for (const SecondLooks::Process& process : classifier_->second_looks().take_due(UINT64_MAX)) {
      (process.placed ? all.moved : all.not_placed).push_back(process.pid);
      all.exec_at.push_back(process.exec_at);
    }
  }
  static void add(Requests& all, Classifier::Requests some) {
    all.events_lost |= some.events_lost;
    all.table_in_use = std::max(all.table_in_use, some.table_in_use);
    all.table_old |= some.table_old;
    if (some.failed) all.failed = some.failed;
    all.unexamined.insert(all.unexamined.end(), some.unexamined.begin(), some.unexamined.end());
    all.assigned.insert(all.assigned.end(), some.assigned.begin(), some.assigned.end());
    all.dropped += some.dropped;
    std::ranges::move(some.retired, std::back_inserter(all.retired));
  }
  [[nodiscard]] static auto moved(pid_t pid) {
    return [pid](const Requests& r) { return std::ranges::find(r.moved, pid) != r.moved.end(); };
  }
  [[nodiscard]] static auto unexamined(pid_t pid) {
    return [pid](const Requests& r) {
      return std::ranges::find(r.unexamined, pid) != r.unexamined.end();
    };
  }
  // Waits for a condition without requests, 20 s at most.
  template <class Condition>
  static void wait_for(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::sleep_for(milliseconds(2));
    }
  }
  // Waits until all events so far were handled.
  void wait_until_handled() {
    const pid_t last = processes.start({.name = "last"});
    events_.exec(last);
    wait_for([&] { return opened(last) > 0; });
  }
  // A process of user 2201 in a cgroup so deep that its user rests after a look, which takes so
  // long.
  pid_t start_in_deep_cgroup(milliseconds look) {
    EXPECT_EQ(reload(redis_policy + "[[rule]]\ngroup = \"redis\"\ncgroup = \"/nowhere\"\n"), "");
    std::string deep;
    for (int i = 0; i < 200; i++) deep += "/a";
    const pid_t out = processes.start({.name = "bash", .cgroup = deep, .identity = {2201, 2201}});
    processes.calls.hook = [=](const fake::Call& call) {
      if (call.operation == "read_name" && call.path == std::to_string(out))
        std::this_thread::sleep_for(look);
    };
    return out;
  }
  // How often a process was looked at.
  [[nodiscard]] size_t opened(pid_t pid) const {
    const std::lock_guard lock(kernel.mutex);
    return static_cast<size_t>(
        std::ranges::count_if(processes.calls.log(), [pid](const fake::Call& call) {
          return call.operation == "open" && call.path == std::to_string(pid);
        }));
  }

  test::EventSocket events_;
  UniqueFd requests_fd_;
  test::RunningClassifier classifier_;
};

TEST_F(ClassifierTest, AnExecPutsTheProcessInItsGroup) {
  start_all();
  const pid_t bash = processes.start({.name = "bash"});
  const pid_t redis = processes.start({.name = "redis-server"});
  for (const pid_t pid : {bash, redis}) {
    EXPECT_EQ(group_of(pid), "default");
    events_.exec(pid);
  }
  const Requests requests = collect(moved(redis));
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(group_of(bash), "default");
  EXPECT_EQ(requests.moved, std::vector{redis});
  EXPECT_TRUE(requests.assigned.empty());
  EXPECT_FALSE(requests.events_lost || requests.table_old || requests.failed);
}

// Renames are the loop thread's, and without rules nobody is looked at.
TEST_F(ClassifierTest, OtherEventsAndEventsWithoutRulesAreIgnored) {
  start(events_.connector(true));
  const pid_t redis = processes.start({.name = "redis-server"});
  processes.calls.reset();
  events_.exec(redis);
  events_.comm(redis, redis);
  wait_for([&] { return classifier_->events_seen() == 2; });
  EXPECT_EQ(classifier_->publish(manager->in_force().table), 1U);
  events_.comm(redis, redis);
  EXPECT_EQ(collect([](const Requests& r) { return r.table_in_use == 1; }).moved.size(), 0U);
  wait_until_handled();
  EXPECT_EQ(opened(redis), 0U);
  EXPECT_EQ(group_of(redis), "default");
  EXPECT_EQ(classifier_->events_seen(), 4U);
}

// An assignment of the record ends by an exec before the first load too.
TEST_F(ClassifierTest, AnExecWithoutRulesEndsAnAssignment) {
  const pid_t redis = processes.start({.name = "redis-server"});
  ASSERT_EQ(manager->core().manual.add({.process = *processes.open(redis), .group = "redis"}),
            std::nullopt);
  start(events_.connector(true));
  events_.exec(redis);
  wait_for([&] { return classifier_->events_seen() == 1; });
  wait_for([&] { return !manager->core().manual.group_of(redis); });
}

// The events of one batch: a program that runs another one at once is looked at once.
TEST_F(ClassifierTest, TheLastExecOfABatchDecides) {
  const pid_t redis = processes.start({.name = "redis-server"});
  const pid_t other = processes.start({.name = "redis-cli"});
  for (const uint64_t time : {7U, 8U, 9U}) events_.exec(redis, time);
  events_.exec(other, 9);
  events_.exec(redis, 10);
  events_.comm(redis, redis);
  processes.calls.reset();
  (void)classifier_->publish(manager->in_force().table);
  start(events_.connector(true));
  const Requests requests = collect(moved(redis));
  EXPECT_EQ(requests.moved, (std::vector{other, redis}));
  // Forks since the first exec count.
  EXPECT_EQ(requests.exec_at, (std::vector<uint64_t>{9, 7}));
  EXPECT_EQ(opened(redis), 1U);
  EXPECT_EQ(opened(other), 1U);
}

// The first process of a user costs much: the others of that user wait for the processes of others.
TEST_F(ClassifierTest, UsersShareTheTime) {
  std::vector<pid_t> pids;
  for (const uid_t user : {2201U, 2201U, 2201U, 2201U, 2202U})
    pids.push_back(processes.start({.name = "redis-server", .identity = {user, user}}));
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation == "read_name" && call.path == std::to_string(pids[0]))
      std::this_thread::sleep_for(milliseconds(200));
  };
  for (const pid_t pid : pids) events_.exec(pid);
  (void)classifier_->publish(manager->in_force().table);
  start(events_.connector(true));
  const Requests requests = collect([](const Requests& r) { return r.moved.size() == 5; });
  EXPECT_EQ(requests.moved, (std::vector{pids[0], pids[4], pids[1], pids[2], pids[3]}));
  for (const pid_t pid : pids) EXPECT_EQ(group_of(pid), "redis");
  EXPECT_EQ(requests.exec_at, std::vector<uint64_t>(5, test::event_time));
}

// What it has forked is to be found, also if it ended while it was deferred.
TEST_F(ClassifierTest, OneThatHasEndedIsHandedOver) {
  std::vector<pid_t> pids;
  for (int i = 0; i < 5; i++)
    pids.push_back(processes.start({.name = "redis-server", .identity = {2201, 2201}}));
  processes.exit(pids[0]);
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation != "read_name") return;
    if (call.path == std::to_string(pids[1])) std::this_thread::sleep_for(milliseconds(200));
    if (call.path == std::to_string(pids[2]) && processes.find(pids[4]) != nullptr)
      processes.exit(pids[4]);
  };
  for (const pid_t pid : pids) events_.exec(pid);
  (void)classifier_->publish(manager->in_force().table);
  start(events_.connector(true));
  const Requests requests = collect([](const Requests& r) { return r.exec_at.size() == 5; });
  EXPECT_EQ(requests.not_placed, (std::vector{pids[0], pids[4]}));
  EXPECT_EQ(requests.exec_at, std::vector<uint64_t>(5, test::event_time));
  EXPECT_EQ(requests.unexamined, std::vector<pid_t>{});
}

// A pid that waits with those of a user who rests: it may be another user's by now, who need not
// wait.
TEST_F(ClassifierTest, AnExecOfAPidThatWaitsIsLookedAt) {
  const pid_t slow = start_in_deep_cgroup(milliseconds(100));  // its user rests for 30 s
  const pid_t waits = processes.start({.name = "bash", .identity = {2201, 2201}});
  start_all();
  events_.exec(slow);
  events_.exec(waits);
  wait_until_handled();
  EXPECT_EQ(group_of(waits), "default");
  processes.exit(waits);
  processes.next_pid = waits;
  ASSERT_EQ(processes.start({.name = "redis-server", .identity = {2202, 2202}}), waits);
  events_.exec(waits);
  wait_until_handled();
  EXPECT_EQ(group_of(waits), "redis");
}

// A look at a process in a deeply nested cgroup takes long: its user rests, although nobody waits,
// and a process that starts programs in a loop is looked at once afterwards.
TEST_F(ClassifierTest, AUserInADeepCgroupRests) {
  const pid_t looping = start_in_deep_cgroup(milliseconds(10));
  start_all();
  processes.calls.reset();
  for (int i = 0; i < 10; i++) {
    events_.exec(looping);
    wait_until_handled();
  }
  // Its user rests for 4 s. It is only seen whose it is.
  const auto looks = [&] {
    const std::lock_guard lock(kernel.mutex);
    return std::ranges::count_if(processes.calls.log(), [&](const fake::Call& call) {
      return call.operation == "read_name" && call.path == std::to_string(looping);
    });
  };
  EXPECT_EQ(looks(), 1);
  wait_for([&] { return looks() == 2; });
}

// More of them than can wait are not looked at by the loop thread instead.
TEST_F(ClassifierTest, ManyProcessesOfAUserWhoRests) {
  const pid_t slow = start_in_deep_cgroup(milliseconds(100));  // its user rests for 30 s
  start_all();
  events_.exec(slow);
  for (size_t i = 0; i < Deferred::max_of_user + 10; i++)
    events_.exec(processes.start({.name = "bash", .identity = {2201, 2201}}));
  wait_until_handled();
  Requests all;
  take(all);
  EXPECT_EQ(all.unexamined, std::vector<pid_t>{});
  EXPECT_FALSE(all.events_lost);
}

// While the kernel's queue is not empty, the kernel drops every further event: a look at all
// processes before that would miss some.
TEST_F(ClassifierTest, LostEventsAskForASweepOnceTheQueueIsDrained) {
  test::OverrunSocket overrun;
  overrun.overrun();
  // It fills the eventfd, so that the thread waits in its first request.
  ASSERT_EQ(::eventfd_write(requests_fd_.get(), UINT64_MAX - 1), 0);
  Connector connector = overrun.connector(true);
  start(std::move(connector));
  Requests requests;
  wait_for([&] {
    take(requests);
    return requests.events_lost;
  });
  EXPECT_GT(classifier_->events_seen(), Connector::batch_size);
  EXPECT_GT(classifier_->event_overruns(), 0U);
  EXPECT_EQ(classifier_->events_seen() + classifier_->event_overruns(), 1000U);
  eventfd_t ignored = 0;
  ASSERT_EQ(::eventfd_read(requests_fd_.get(), &ignored), 0);
}

TEST_F(ClassifierTest, ARemovedGroupAsksForANewTable) {
  start_all();
  {
    const std::lock_guard lock(kernel.mutex);
    ASSERT_TRUE(kernel.resctrl.remove("redis"));
  }
  const pid_t redis = processes.start({.name = "redis-server"});
  events_.exec(redis);
  EXPECT_TRUE(collect([](const Requests& r) { return r.table_old; }).moved.empty());
  EXPECT_EQ(group_of(redis), "default");
}

// The loop thread tries again.
TEST_F(ClassifierTest, AProcessThatCannotBeExaminedIsLeftToTheMainThread) {
  start_all();
  const pid_t redis = processes.start({.name = "redis-server"});
  {
    const std::lock_guard lock(kernel.mutex);
    processes.calls.fail_if([](const fake::Call& call) { return call.operation == "open"; },
                            EMFILE);
  }
  events_.exec(redis);
  Requests requests = collect(unexamined(redis));
  wait_for([&] {
    take(requests);
    return !requests.not_placed.empty();
  });
  EXPECT_EQ(requests.unexamined, std::vector{redis});
  EXPECT_EQ(requests.not_placed, std::vector{redis}) << "its children, should it end before";
  EXPECT_EQ(group_of(redis), "default");
}

TEST_F(ClassifierTest, AManualAssignmentHoldsForEventsThatAreOlder) {
  start_all();
  const pid_t old_event = processes.start({.name = "redis-server"});
  const pid_t new_program = processes.start({.name = "redis-server"});
  // The test's events happened at 0x200000001.
  for (const auto& [pid, since] : {std::pair{old_event, 0x200000002U}, {new_program, 0U}})
    ASSERT_EQ(manager->core().manual.add(
                  {.process = *processes.open(pid), .group = "default", .since = since}),
              std::nullopt);
  events_.exec(old_event);
  events_.exec(new_program);
  EXPECT_EQ(collect(moved(new_program)).moved, std::vector{new_program});
  EXPECT_EQ(group_of(old_event), "default");
  EXPECT_EQ(group_of(new_program), "redis");
}

TEST_F(ClassifierTest, ReportsAssignmentsWhileTheyAreWatched) {
  start_all();
  const pid_t redis = processes.start({.name = "redis-server"});
  classifier_->watch_assignments(true);
  events_.exec(redis);
  const Requests watched = collect(moved(redis));
  ASSERT_EQ(watched.assigned.size(), 1U);
  EXPECT_EQ(watched.assigned[0].pid, redis);
  EXPECT_EQ(watched.assigned[0].group, "redis");
  EXPECT_EQ(watched.assigned[0].rule, "p.toml:4");
  classifier_->watch_assignments(false);
  events_.exec(redis);
  EXPECT_TRUE(collect(moved(redis)).assigned.empty());
}

// If the loop thread is slow: further assignments are only counted, and all processes are looked at
// instead of those that were moved.
TEST_F(ClassifierTest, RequestsAreBounded) {
  start_all();
  classifier_->watch_assignments(true);
  // More processes than a batch has events, so that no event is repeated in one.
  std::vector<pid_t> redis(Connector::batch_size + 1);
  for (pid_t& pid : redis) pid = processes.start({.name = "redis-server"});
  constexpr size_t events = 5000;
  for (size_t i = 0; i < events; i++) events_.exec(redis[i % redis.size()]);
  wait_until_handled();
  Requests requests;
  take(requests);
  EXPECT_EQ(requests.moved.size(), SecondLooks::capacity);
  EXPECT_EQ(requests.assigned.size(), 4096U);
  EXPECT_EQ(requests.dropped, events - 4096);
  EXPECT_TRUE(requests.events_lost);
  requests = {};
  take(requests);
  EXPECT_TRUE(requests.moved.empty() && requests.assigned.empty());
  EXPECT_FALSE(requests.events_lost);
}

TEST_F(ClassifierTest, TellsWhichTableItUses) {
  start_all();
  const auto first = manager->in_force().table;
  ASSERT_EQ(reload("[group.web]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"web\"\nname = \"nginx\"\n"),
            "");
  EXPECT_EQ(classifier_->publish(first), 2U);
  EXPECT_EQ(classifier_->publish(manager->in_force().table), 3U);
  events_.beat();
  (void)collect([](const Requests& r) { return r.table_in_use == 3; });
  const pid_t nginx = processes.start({.name = "nginx"});
  events_.exec(nginx);
  (void)collect(moved(nginx));
  EXPECT_EQ(group_of(nginx), "web");
}

// To destroy a large table takes long, so the loop thread does it.
TEST_F(ClassifierTest, ATableThatItDoesNotUseAnyMoreIsHandedBack) {
  start_all();
  auto first = std::make_shared<RuleTable>();
  const std::weak_ptr<RuleTable> watched = first;
  EXPECT_EQ(classifier_->publish(std::move(first)), 2U);
  events_.beat();
  (void)collect([](const Requests& r) { return r.table_in_use == 2; });
  EXPECT_EQ(classifier_->publish(manager->in_force().table), 3U);
  events_.beat();
  Requests requests = collect([](const Requests& r) { return r.table_in_use == 3; });
  EXPECT_FALSE(watched.expired());
  requests.retired.clear();
  EXPECT_TRUE(watched.expired());
}

TEST_F(ClassifierTest, AHeartbeatIsSeenByItsEvent) {
  start_all();
  wait_until_handled();
  EXPECT_TRUE(classifier_->heartbeat());  // of publish
  EXPECT_FALSE(classifier_->heartbeat());
  events_.exec(processes.start());
  wait_until_handled();
  EXPECT_FALSE(classifier_->heartbeat());
  events_.beat();
  wait_until_handled();
  EXPECT_TRUE(classifier_->heartbeat());
}

TEST_F(ClassifierTest, SubscribesAgain) {
  start_all();
  EXPECT_FALSE(events_.take_subscription());
  EXPECT_TRUE(classifier_->resubscribe());
  EXPECT_TRUE(events_.take_subscription());
}

// Each error may have cost events. It is reported, and tried again for ever.
TEST_F(ClassifierTest, AFailingSocketIsTriedAgain) {
  events_.break_off();
  (void)classifier_->publish(manager->in_force().table);
  start(events_.connector(true));
  const Requests requests = collect([](const Requests& r) { return r.failed.has_value(); });
  EXPECT_EQ(requests.failed->text(),
            "cannot receive process events: Transport endpoint is not connected");
  EXPECT_TRUE(requests.events_lost);
  EXPECT_EQ(classifier_->events_seen(), 0U);
  EXPECT_EQ(classifier_->resubscribe().error().text(),
            "cannot subscribe to process events: Transport endpoint is not connected");
  EXPECT_FALSE(classifier_->heartbeat());
  events_.repair();
  const pid_t redis = processes.start({.name = "redis-server"});
  events_.exec(redis);
  bool lost = false;
  const Requests again = collect([&](const Requests& r) {
    lost = lost || r.events_lost;
    return lost && moved(redis)(r);
  });
  EXPECT_FALSE(again.failed);
  EXPECT_EQ(group_of(redis), "redis");
}

// The kernel sends it when the CPU time of a real-time thread comes near its limit.
TEST_F(ClassifierTest, GoesOnAfterTheLimitOfRealTime) {
  start_all();
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_RTTIME, &limit), 0);
  EXPECT_LE(limit.rlim_cur, 4'000'000);
  EXPECT_LE(limit.rlim_max, 5'000'000);
  ASSERT_EQ(::raise(SIGXCPU), 0);
  const pid_t redis = processes.start({.name = "redis-server"});
  events_.exec(redis);
  (void)collect(moved(redis));
  EXPECT_EQ(group_of(redis), "redis");
}

// Otherwise these would wait forever.
TEST_F(ClassifierTest, StopEndsTheThread) {
  classifier_.end();  // not started
  classifier_.run(requests_fd_.get(), milliseconds(1));
  start_all();
  wait_until_handled();
  classifier_.end();  // waits for events
}

}  // namespace
}  // namespace rdtd
