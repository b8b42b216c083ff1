// Placing one process while it changes: threads and children that appear between any two calls.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class AssignerTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    ASSERT_EQ(reload(redis_policy), "");
  }
  [[nodiscard]] Placement placement() const {
    return {*manager->in_force().table, processes, manager->manual()};
  }
};

TEST_F(AssignerTest, PlacesTheLeader) {
  const pid_t pid = processes.start({.name = "redis-server"});
  const Assignment assignment = place_leader(placement(), pid);
  EXPECT_EQ(assignment.kind, Assignment::Kind::in_group);
  EXPECT_EQ(group_of(pid), "redis");
  EXPECT_EQ(place_leader(placement(), 99999).kind, Assignment::Kind::gone);
  const pid_t other = processes.start({.name = "bash"});
  EXPECT_EQ(place_leader(placement(), other).kind, Assignment::Kind::unmatched);
}

// A process that ends while its pid is written, and whose pid another process takes: that one goes
// where it belongs.
TEST_F(AssignerTest, AReusedPidIsPutRight) {
  const pid_t pid = processes.start({.name = "redis-server"});
  kernel.calls.reset();
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.operation != "add") return;
    kernel.calls.hook = nullptr;
    processes.exit(pid);
    processes.next_pid = pid;
    processes.start({.name = "bash"});
  };
  EXPECT_EQ(place_leader(placement(), pid).kind, Assignment::Kind::gone);
  EXPECT_EQ(group_of(pid), "default");
}

// Whatever moment a thread begins at, the visit and the look after it find it.
TEST_F(AssignerTest, AThreadThatBeginsAtAnyMomentIsFound) {
  for (size_t moment = 1; moment < 60; moment++) {
    const pid_t pid = processes.start({.name = "redis-server"});
    processes.clone(pid, "bio");
    pid_t born = 0;
    processes.calls.reset();
    processes.calls.hook = [&](const fake::Call& call) {
      if (call.number == moment) born = processes.clone(pid, "late");
    };
    manager->sweeper().visit({.pid = pid});
    run();
    processes.calls.hook = nullptr;
    if (born == 0) {
      EXPECT_GT(moment, 5U);
      return;
    }
    EXPECT_EQ(group_of(born), "redis") << moment;
    EXPECT_EQ(group_of(pid), "redis") << moment;
  }
}

// A child that was forked before its parent was moved inherits the old group.
TEST_F(AssignerTest, AChildThatIsForkedAtAnyMomentIsFound) {
  for (size_t moment = 1; moment < 60; moment++) {
    const pid_t pid = processes.start({.name = "redis-server"});
    pid_t child = 0;
    processes.calls.reset();
    processes.calls.hook = [&](const fake::Call& call) {
      if (call.number == moment) child = processes.fork(pid);
    };
    ASSERT_EQ(place_leader(placement(), pid).kind, Assignment::Kind::in_group);
    manager->sweeper().visit({.pid = pid, .children = true}, Sweeper::second_look_delay);
    run(std::chrono::milliseconds(200));
    processes.calls.hook = nullptr;
    if (child == 0) {
      EXPECT_GT(moment, 3U);
      return;
    }
    EXPECT_EQ(group_of(child), "redis") << moment;
  }
}

// /proc that cannot be read is not the same as nobody being there.
TEST_F(AssignerTest, AFailureOfProcIsReported) {
  processes.start({.name = "redis-server"});
  processes.calls.fail_if([](const fake::Call& call) { return call.operation == "open"; }, EMFILE);
  manager->reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(problems(),
            std::vector<std::string>{"1 processes cannot be examined: Too many open files"});
  processes.calls.reset();
  processes.calls.fail_if([](const fake::Call& call) { return call.operation == "list"; }, ENOMEM);
  manager->reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(state(), "degraded");
  processes.calls.reset();
  manager->reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(state(), "running");
}

}  // namespace
}  // namespace rdtd
