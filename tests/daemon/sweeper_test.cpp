// When processes are looked at, how often, and what a new table means for looks under way.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

using std::chrono::milliseconds;
using test::redis_policy;

class SweeperTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    ASSERT_EQ(reload(redis_policy), "");
    processes.calls.reset();
  }
  [[nodiscard]] Sweeper& sweeper() const { return manager->core().sweeper; }
  // How often a process was looked at.
  [[nodiscard]] size_t looks_at(pid_t pid) const {
    return static_cast<size_t>(
        std::ranges::count_if(processes.calls.log(), [&](const fake::Call& call) {
          return call.operation == "open" && call.path == std::to_string(pid);
        }));
  }
  [[nodiscard]] size_t threads_in(pid_t pid, const std::string& group) {
    return static_cast<size_t>(std::ranges::count_if(
        processes.find(pid)->threads,
        [&](const fake::Thread& thread) { return group_of(thread.tid) == group; }));
  }
  pid_t start_with_threads(const std::string& name, int threads) {
    const pid_t pid = processes.start({.name = name});
    for (int i = 0; i < threads; i++) (void)processes.clone(pid, "worker");
    return pid;
  }
  // Works for a short time, at the end of which a large process is not finished.
  void work_a_little() { sweeper().slice(clock + std::chrono::microseconds(100)); }
};

// A flood of requests about one process costs one visit in each interval, and keeps no other one
// waiting.
TEST_F(SweeperTest, OneProcessCannotTakeMoreThanItsShare) {
  const pid_t noisy = start_with_threads("bash", 5000);
  const pid_t redis = processes.start({.name = "redis-server"});
  for (int i = 0; i < 10000; i++) sweeper().visit({.pid = noisy});
  sweeper().visit({.pid = redis});
  run(milliseconds(10));
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_LE(looks_at(noisy), 1U);
}

// A process that causes an event every millisecond is looked at once in min_interval.
TEST_F(SweeperTest, APauseFollowsEachLook) {
  const pid_t noisy = processes.start({.name = "bash"});
  for (int i = 0; i < 1000; i++) {
    sweeper().visit({.pid = noisy});
    run(milliseconds(1));
  }
  const auto most = std::chrono::seconds(1) / Visits::min_interval + 1;
  EXPECT_LE(looks_at(noisy), static_cast<size_t>(most));
  EXPECT_GE(looks_at(noisy), static_cast<size_t>(most) / 2);
  // The last event is not lost.
  sweeper().visit({.pid = noisy});
  processes.rename(noisy, "redis-server");
  run(2 * Visits::min_interval);
  EXPECT_EQ(group_of(noisy), "redis");
}

// A thread ends after the list was read, and another process gets its id.
TEST_F(SweeperTest, TheIdOfAThreadThatHasEndedIsNotWritten) {
  const pid_t redis = processes.start({.name = "redis-server"});
  const pid_t thread = processes.clone(redis, "io");
  pid_t other = 0;
  processes.calls.hook = [&](const fake::Call& call) {
    if (other != 0 || call.operation != "read_thread_group") return;
    processes.exit_thread(thread);
    processes.next_pid = thread;
    other = processes.start({.name = "bash"});
  };
  kernel.calls.reset();
  sweeper().visit({.pid = redis});
  run(milliseconds(10));
  ASSERT_EQ(other, thread);
  EXPECT_EQ(group_of(redis), "redis");
  for (const fake::Call& call : kernel.calls.log())
    EXPECT_NE(call.argument, std::to_string(thread)) << call.text();
}

// A look that takes 10 ms is followed by a pause of 200 ms, in which others are served.
TEST_F(SweeperTest, ALongLookIsFollowedByALongPause) {
  const pid_t slow = processes.start({.name = "bash"});
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation == "read_name" && call.path == std::to_string(slow))
      clock += milliseconds(10);
  };
  for (int i = 0; i < 1000; i++) {
    sweeper().visit({.pid = slow});
    const pid_t redis = processes.start({.name = "redis-server"});
    sweeper().visit({.pid = redis});
    run(milliseconds(2));
    ASSERT_EQ(group_of(redis), "redis") << i;
  }
  EXPECT_LE(looks_at(slow), 11U);
  EXPECT_GE(looks_at(slow), 5U);
}

// A look at a large process takes several turns. Its events meanwhile begin no second one.
TEST_F(SweeperTest, EventsDuringALookBeginNoSecondOne) {
  const pid_t large = start_with_threads("redis-large", 3000);
  sweeper().visit({.pid = large});
  work_a_little();
  size_t events = 0;
  for (; threads_in(large, "redis") < 2900 && events < 200; events++) {
    sweeper().visit({.pid = large});
    work_a_little();
  }
  EXPECT_GT(events, 5U);
  EXPECT_EQ(looks_at(large), 1U);
  // They are not lost: there is another look after it.
  run(std::chrono::seconds(60));
  EXPECT_EQ(threads_in(large, "redis"), 3001U);
  EXPECT_GE(looks_at(large), 2U);
}

// A visit to a process with very many threads takes turns with the others.
TEST_F(SweeperTest, ManyThreadsAreVisitedInTurns) {
  const pid_t large = start_with_threads("redis-large", 3000);
  const pid_t small = processes.start({.name = "redis-small"});
  sweeper().visit({.pid = large});
  sweeper().visit({.pid = small});
  kernel.calls.reset();
  run(std::chrono::seconds(2));
  size_t before_small = 0;
  for (const fake::Call& call : kernel.calls.log()) {
    if (call.operation != "add") continue;
    if (call.argument == std::to_string(small)) break;
    before_small++;
  }
  EXPECT_LT(before_small, 200U);
  EXPECT_EQ(threads_in(large, "redis"), 3001U);
}

// Requests about very many threads of one process become one about all of them.
TEST_F(SweeperTest, ManySingleThreadsBecomeOneProcess) {
  const pid_t redis = start_with_threads("redis-server", 100);
  for (int i = 0; i < 20; i++)
    sweeper().visit({.pid = redis, .only_thread = processes.find(redis)->threads[i].tid});
  run(milliseconds(10));
  EXPECT_LE(looks_at(redis), 17U);
  EXPECT_EQ(threads_in(redis, "redis"), 101U);
}

// Another thread has put it in its group, and asks for a look at what it may have forked meanwhile.
TEST_F(SweeperTest, AProcessThatRemainedAloneIsNotVisited) {
  const pid_t alone = processes.start({.name = "redis-server"});
  const pid_t ended = processes.start({.name = "redis-server"});
  const pid_t parent = processes.start({.name = "redis-server"});
  const pid_t many = start_with_threads("redis-server", 2);
  const pid_t child = processes.fork(parent);
  sweeper().look_for_more(std::array{alone, ended, parent, many});
  processes.exit(ended);
  run(milliseconds(2));
  EXPECT_EQ(looks_at(alone) + looks_at(ended), 0U);
  EXPECT_EQ(group_of(child), "redis");
  EXPECT_EQ(threads_in(many, "redis"), 3U);
}

// Without cpu_resctrl_groups, each look moves the threads, as far as it can see.
TEST_F(SweeperTest, LooksEndIfTheKernelDoesNotSayWhereThreadsAre) {
  processes.reports_groups = false;
  const pid_t parent = start_with_threads("redis-server", 2);
  const pid_t child = processes.fork(parent);
  sweeper().look_for_more(std::array{parent});
  run(std::chrono::seconds(1));
  EXPECT_EQ(threads_in(parent, "redis"), 3U);
  EXPECT_EQ(group_of(child), "redis");
  EXPECT_EQ(sweeper().next_due(), Sweeper::Time::max());
  processes.calls.reset();
  run(std::chrono::seconds(10));
  EXPECT_EQ(processes.calls.log().size(), 0U);
}

TEST_F(SweeperTest, ASingleThreadIsVisitedAlone) {
  const pid_t redis = start_with_threads("redis-server", 3);
  const pid_t thread = processes.find(redis)->threads[2].tid;
  sweeper().visit({.pid = redis, .only_thread = thread});
  run(milliseconds(10));
  EXPECT_EQ(group_of(thread), "redis");
  EXPECT_EQ(threads_in(redis, "redis"), 1U);
}

// A visit that waits and one with children that comes first are one visit with children.
TEST_F(SweeperTest, AVisitThatWaitsGainsTheChildren) {
  const pid_t redis = processes.start({.name = "redis-server"});
  const pid_t child = processes.fork(redis);
  sweeper().visit({.pid = redis}, milliseconds(5));
  sweeper().visit({.pid = redis, .children = true});
  run(milliseconds(10));
  EXPECT_EQ(looks_at(redis), 1U);
  EXPECT_EQ(group_of(child), "redis");
}

TEST_F(SweeperTest, AllChildrenAreVisited) {
  const pid_t redis = processes.start({.name = "redis-server"});
  std::vector<pid_t> children;
  for (int i = 0; i < 20; i++) {
    children.push_back(processes.fork(redis));
    for (int thread = 0; thread < 70; thread++) (void)processes.clone(children.back());
  }
  sweeper().visit({.pid = redis, .children = true});
  run(milliseconds(15));
  for (const pid_t child : children) EXPECT_EQ(threads_in(child, "redis"), 71U);
}

// To look for the children of a thread opens a file: a look at those of very many takes turns too.
TEST_F(SweeperTest, ChildrenOfManyThreadsAreListedInTurns) {
  const pid_t large = start_with_threads("redis-large", 200);
  const pid_t child = processes.fork(large);
  const pid_t small = processes.start({.name = "redis-small"});
  std::string calls;
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation == "children") calls += "c";
    if (call.operation == "open" && call.path == std::to_string(small)) calls += "s";
    // Something else to do, as soon as the children are being listed.
    if (calls == "c") sweeper().visit({.pid = small});
  };
  sweeper().visit({.pid = large, .children = true});
  run(milliseconds(15));
  EXPECT_EQ(calls, "csccc") << "201 threads, 64 at a time";
  EXPECT_EQ(group_of(child), "redis");
}

TEST_F(SweeperTest, MoreVisitsThanCanWaitAreReported) {
  size_t lost = 0;
  manager->connect({.visits_lost = [&] { lost++; }});
  for (pid_t pid = 1; pid <= 65'537; pid++) sweeper().visit({.pid = pid});
  run(milliseconds(1));
  EXPECT_EQ(lost, 1U);
}

// A new table ends the visits under way, which use the old one: they begin again.
TEST_F(SweeperTest, ANewTableBeginsVisitsAgain) {
  const pid_t large = start_with_threads("redis-large", 3000);
  const pid_t child = processes.fork(large);
  sweeper().visit({.pid = large, .children = true});
  work_a_little();
  ASSERT_GT(threads_in(large, "redis"), 0U);
  ASSERT_LT(threads_in(large, "redis"), 3001U);
  policy = redis_policy + "[group.b]\nl3 = \"2 ways\"\n[[rule]]\ngroup = \"b\"\nname = \"x\"\n";
  ASSERT_EQ(wait([this](Manager::Done done) { manager->changes().reload(std::move(done)); }), "");
  EXPECT_EQ(threads_in(large, "redis"), 3001U);
  EXPECT_EQ(group_of(child), "redis");
}

// The same without a look at all processes.
TEST_F(SweeperTest, ARenewedTableBeginsVisitsAgain) {
  const pid_t large = start_with_threads("redis-large", 3000);
  const pid_t child = processes.fork(large);
  sweeper().visit({.pid = large, .children = true});
  work_a_little();
  ASSERT_LT(threads_in(large, "redis"), 3001U);
  sweeper().use(manager->in_force().table);
  run(std::chrono::seconds(2));
  EXPECT_EQ(threads_in(large, "redis"), 3001U);
  EXPECT_EQ(group_of(child), "redis");
}

// Also the look at the children, if the process itself is where it belongs.
TEST_F(SweeperTest, ARenewedTableForgetsNoChildren) {
  const pid_t large = start_with_threads("redis-large", 3000);
  const pid_t child = processes.fork(large);
  sweeper().visit({.pid = large});
  run(std::chrono::seconds(60));
  (void)kernel.resctrl.write("tasks", std::to_string(child) + "\n");
  sweeper().visit({.pid = large, .children = true});
  work_a_little();
  ASSERT_EQ(group_of(child), "default");
  sweeper().use(manager->in_force().table);
  run(std::chrono::seconds(2));
  EXPECT_EQ(group_of(child), "redis");
}

TEST_F(SweeperTest, ANewTableBeginsThePassAgain) {
  const pid_t first = processes.start({.name = "redis-first"});
  const pid_t large = start_with_threads("redis-large", 3000);
  bool done = false;
  manager->reconciler().sweep("a test", [&] { done = true; });
  work_a_little();
  ASSERT_GT(threads_in(large, "redis"), 0U);
  ASSERT_LT(threads_in(large, "redis"), 3001U);
  processes.rename(first, "bash");
  const pid_t late = processes.start({.name = "redis-late"});
  sweeper().use(manager->in_force().table);
  run(std::chrono::seconds(2));
  EXPECT_TRUE(done);
  EXPECT_EQ(group_of(late), "redis");
  EXPECT_EQ(threads_in(large, "redis"), 3001U);
}

// A pass that cannot begin again ends with its error, and the next one succeeds.
TEST_F(SweeperTest, APassThatCannotBeginAgainIsAProblem) {
  const pid_t large = start_with_threads("redis-large", 3000);
  bool done = false;
  manager->reconciler().sweep("a test", [&] { done = true; });
  work_a_little();
  processes.calls.fail_if([](const fake::Call& call) { return call.operation == "list"; }, ENOMEM);
  sweeper().use(manager->in_force().table);
  EXPECT_TRUE(done);
  EXPECT_EQ(problems(), std::vector<std::string>{"cannot list /proc: Cannot allocate memory"});
  processes.calls.reset();
  manager->reconciler().reconcile();
  run(std::chrono::seconds(2));
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(threads_in(large, "redis"), 3001U);
}

// A second pass that cannot begin is a problem too.
TEST_F(SweeperTest, ALaterPassThatFailsIsAProblem) {
  const pid_t redis = processes.start({.name = "redis-server"});
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation != "open" || call.path != std::to_string(redis)) return;
    processes.calls.fail_if([](const fake::Call& next) { return next.operation == "list"; }, EIO);
  };
  bool done = false;
  manager->reconciler().sweep("a test", [&] { done = true; });
  run();
  EXPECT_TRUE(done);
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(problems(), std::vector<std::string>{"cannot list /proc: Input/output error"});
}

// Processes that begin faster than they are found do not keep a look from its end.
TEST_F(SweeperTest, ALookAtAllProcessesGivesUp) {
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation == "list") (void)processes.start({.name = "redis-server"});
  };
  bool done = false;
  manager->reconciler().sweep("a test", [&] { done = true; });
  run(std::chrono::seconds(1));
  EXPECT_TRUE(done);
  const auto lists = std::ranges::count(processes.calls.log(), "list", &fake::Call::operation);
  EXPECT_EQ(lists, 5);
}

// Looks that wait for the one under way are one look.
TEST_F(SweeperTest, RequestsThatWaitAreServedTogether) {
  std::vector<int> done;
  for (int i = 0; i < 4; i++)
    manager->reconciler().sweep("a test", [&done, i] { done.push_back(i); });
  run();
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(std::ranges::count(processes.calls.log(), "list", &fake::Call::operation), 1);
}

// The group is removed while a visit goes on: the next reconcile comes at once, makes it again, and
// opens its file again, so that the visit's process and later ones are placed.
TEST_F(SweeperTest, AGroupThatIsRemovedDuringAVisitIsOpenedAgain) {
  const pid_t large = start_with_threads("redis-large", 3000);
  sweeper().visit({.pid = large});
  work_a_little();
  ASSERT_LT(threads_in(large, "redis"), 3001U);
  ASSERT_FALSE(sweeper().table_out_of_date());
  (void)kernel.resctrl.remove("redis");
  kernel.calls.reset();
  work_a_little();
  EXPECT_TRUE(sweeper().table_out_of_date());
  run(std::chrono::seconds(2));
  EXPECT_FALSE(sweeper().table_out_of_date());
  const auto calls = kernel.calls.texts();
  EXPECT_EQ(std::ranges::count(calls, "open_tasks redis/tasks"), 1);
  EXPECT_EQ(threads_in(large, "redis"), 3001U);
  EXPECT_EQ(drift, std::vector<std::string>{"group 'redis' is not there; restored"});
  const pid_t later = processes.start({.name = "redis-later"});
  sweeper().visit({.pid = later});
  run();
  EXPECT_EQ(group_of(later), "redis");
}

}  // namespace
}  // namespace rdtd
