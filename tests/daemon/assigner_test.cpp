// Placing one process while it changes: threads and children that appear between any two calls.
#include <gtest/gtest.h>

#include "placing.hpp"

namespace rdtd {
namespace {

using test::three_groups;

class AssignerTest : public test::PlacingWorld {};

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
// where its own rule or, without one, its parent's group puts it.
TEST_F(AssignerTest, AReusedPidIsPutRight) {
  const pid_t redis = processes.start({.name = "redis-parent"});
  const pid_t parent = processes.start({.name = "parent"});
  (void)kernel.resctrl.write("redis/tasks", std::to_string(redis) + "\n");
  (void)kernel.resctrl.write("c/tasks", std::to_string(parent) + "\n");
  const struct {
    const char* name;
    pid_t parent;
    const char* group;
  } rows[] = {{"bash", 0, "default"},
              {"batch", 0, "b"},
              {"batch", redis, "b"},
              {"bash", redis, "redis"},
              {"bash", parent, "c"}};
  for (const bool classifier : {true, false}) {
    for (const auto& row : rows) {
      const pid_t pid = processes.start({.name = "redis-server"});
      before_add([&] {
        processes.exit(pid);
        processes.next_pid = pid;
        (void)processes.start({.name = row.name}, row.parent);
      });
      EXPECT_EQ(place(pid, classifier).kind, Assignment::Kind::gone);
      EXPECT_EQ(group_of(pid), row.group) << row.name << row.parent << classifier;
    }
  }
}

// The same of a thread: its id may be a process's or a thread's of another one.
TEST_F(AssignerTest, AReusedThreadIdIsPutRight) {
  ASSERT_EQ(reload(three_groups + "[[rule]]\ngroup = \"c\"\nname = \"multi\"\nthread = \"io\"\n"),
            "");
  const pid_t multi = processes.start({.name = "multi"});
  const pid_t bash = processes.start({.name = "bash"});
  const struct {
    std::function<void()> reuse;
    const char* group;
  } rows[] = {{[&] { (void)processes.start({.name = "bash"}); }, "default"},
              {[&] { (void)processes.start({.name = "batch"}); }, "b"},
              {[&] { (void)processes.clone(bash, "io"); }, "default"},
              {[&] { (void)processes.clone(multi, "io"); }, "c"},
              {[&] { (void)processes.clone(multi, "other"); }, "default"}};
  for (const bool assigned : {false, true})
    for (const auto& row : rows) {
      const pid_t pid = processes.start({.name = "redis-server"});
      const pid_t thread = processes.clone(pid);
      kernel.calls.hook = [&](const fake::Call& call) {
        if (call.operation != "add" || call.argument != std::to_string(thread)) return;
        const auto once = std::exchange(kernel.calls.hook, nullptr);
        processes.exit_thread(thread);
        processes.next_pid = thread;
        row.reuse();
      };
      if (assigned)
        ASSERT_TRUE(
            (*manager->changes().prepare_assign(pid, "redis", {.uid = 0, .pid = 1}))->run());
      else
        (void)place(pid, false);
      EXPECT_EQ(group_of(pid), "redis");
      EXPECT_EQ(group_of(thread), row.group) << assigned << &row - rows;
    }
}

// A program that renames itself while it is placed goes where its new name wants it.
TEST_F(AssignerTest, ARenamedProcessIsPlacedAgain) {
  for (const bool classifier : {true, false}) {
    const pid_t pid = processes.start({.name = "redis-server"});
    before_add([&] { processes.rename(pid, "batch"); });
    EXPECT_EQ(place(pid, classifier).kind, Assignment::Kind::in_group);
    EXPECT_EQ(group_of(pid), "b") << classifier;
  }
}

TEST_F(AssignerTest, AProcessThatKeepsRenamingItselfIsLeftAlone) {
  for (const bool classifier : {true, false}) {
    const pid_t pid = processes.start({.name = "redis-server"});
    bool even = false;
    processes.calls.reset();
    processes.calls.hook = [&](const fake::Call& call) {
      if (call.operation != "read_name") return;
      even = !even;
      processes.rename(pid, even ? "redis-a" : "redis-b");
    };
    EXPECT_EQ(place(pid, classifier).kind, Assignment::Kind::in_group);
    processes.calls.hook = nullptr;
    EXPECT_LE(std::ranges::count(processes.calls.log(), "read_name", &fake::Call::operation), 6)
        << classifier;
    EXPECT_EQ(group_of(pid), "redis");
  }
}

// A process that makes a thread at each look is left after some looks.
TEST_F(AssignerTest, AProcessThatMakesThreadsAllTheTimeIsLeftAlone) {
  const pid_t pid = processes.start({.name = "redis-server"});
  (void)processes.clone(pid);
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation == "threads") (void)processes.clone(pid);
  };
  EXPECT_EQ(place(pid, false).kind, Assignment::Kind::in_group);
  const auto looks = std::ranges::count(processes.calls.log(), "threads", &fake::Call::operation);
  EXPECT_GT(looks, 5);
  EXPECT_LE(looks, 16);
}

// The rules of the group that it is assigned to do not matter.
// A list costs as a look at some of its threads does, so that no step takes long.
TEST_F(AssignerTest, AListOfManyThreadsEndsTheStep) {
  const pid_t pid = processes.start({.name = "redis-server"});
  for (int i = 0; i < 200; i++) (void)processes.clone(pid);
  size_t lists = 0;
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation != "threads") return;
    lists++;
    (void)processes.clone(pid);
  };
  Visit visit(placement(), pid, {});
  for (bool over = false; !over;) {
    const size_t before = lists;
    over = visit.step(64);
    EXPECT_LE(lists - before, 2U);
  }
  EXPECT_EQ(lists, 16U);
  for (const fake::Thread& thread : processes.find(pid)->threads)
    EXPECT_EQ(group_of(thread.tid), "redis");
}

TEST_F(AssignerTest, LongListsAreReadInFewPasses) {
  const pid_t pid = processes.start({.name = "redis-server"});
  for (int i = 0; i < 3000; i++) (void)processes.clone(pid);
  size_t lists = 0;
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation != "threads") return;
    lists++;
    (void)processes.clone(pid);
  };
  EXPECT_EQ(place(pid, false).kind, Assignment::Kind::in_group);
  EXPECT_EQ(lists, 6U);
}

TEST_F(AssignerTest, AManualAssignmentThatComesMeanwhileWins) {
  for (const char* group : {"b", "c", "default"}) {
    const pid_t pid = processes.start({.name = "redis-server"});
    ManualAssignments::Held held{.process = std::move(*processes.open(pid)), .group = group};
    before_add([&] {
      ASSERT_FALSE(manager->core().manual.add(std::move(held)));
      (void)kernel.resctrl.write(resctrl::file_of(group_directory(group), "tasks"),
                                 std::to_string(pid) + "\n");
    });
    (void)place_leader(placement(), pid);
    EXPECT_EQ(group_of(pid), group);
    // It stays there at every later look.
    manager->core().sweeper.visit({.pid = pid});
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(group_of(pid), group);
  }
}

TEST_F(AssignerTest, AManualAssignmentBetweenTwoTurnsWins) {
  for (const char* group : {"b", "c", "default"}) {
    const pid_t pid = processes.start({.name = "redis-server"});
    for (int i = 0; i < 200; i++) (void)processes.clone(pid);
    Visit visit(placement(), pid, {});
    ASSERT_FALSE(visit.step(64));
    ASSERT_TRUE((*manager->changes().prepare_assign(pid, group, {.uid = 0, .pid = 1}))->run());
    while (!visit.step(64)) {}
    run();
    for (const fake::Thread& thread : processes.find(pid)->threads)
      ASSERT_EQ(group_of(thread.tid), group);
  }
}

// To compare a long command line takes time: the loop thread does that.
TEST_F(AssignerTest, ALongCommandLineIsLeftToTheMainThread) {
  ASSERT_EQ(reload("[group.redis]\n[[rule]]\ngroup = \"redis\"\ncmdline = \"*x\"\n"), "");
  const pid_t small = processes.start({.cmdline = std::string(4000, 'x')});
  const pid_t large = processes.start({.cmdline = std::string(5000, 'x')});
  EXPECT_EQ(place(small, true).kind, Assignment::Kind::in_group);
  EXPECT_EQ(place(large, true).error, E2BIG);
  EXPECT_EQ(group_of(large), "default");
  EXPECT_EQ(place(large, false).kind, Assignment::Kind::in_group);
  EXPECT_EQ(group_of(large), "redis");
}

// A thread that ends meanwhile does not keep the others from their group.
TEST_F(AssignerTest, AThreadThatEndsMeanwhileIsNoFailure) {
  const pid_t pid = processes.start({.name = "redis-server"});
  const pid_t first = processes.clone(pid);
  const pid_t second = processes.clone(pid);
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.operation != "add" || call.argument != std::to_string(first)) return;
    processes.exit_thread(first);
  };
  EXPECT_EQ(place(pid, false).kind, Assignment::Kind::in_group);
  EXPECT_EQ(group_of(second), "redis");
  for (const bool classifier : {true, false}) {
    const pid_t ended = processes.start({.name = "redis-server"});
    before_add([&] { processes.exit(ended); });
    EXPECT_EQ(place(ended, classifier).kind, Assignment::Kind::gone) << classifier;
  }
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
    manager->core().sweeper.visit({.pid = pid});
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
    manager->core().sweeper.visit({.pid = pid, .children = true}, Visits::second_look_delay);
    run(std::chrono::milliseconds(200));
    processes.calls.hook = nullptr;
    if (child == 0) {
      EXPECT_GT(moment, 3U);
      return;
    }
    EXPECT_EQ(group_of(child), "redis") << moment;
  }
}

// Cgroup changes name threads of threaded cgroups only.
TEST_F(AssignerTest, AThreadIsVisitedWithItsProcess) {
  const pid_t redis = processes.start({.name = "redis-server"});
  const pid_t thread = processes.clone(redis, "bio");
  manager->core().sweeper.visit_thread(99999);
  manager->core().sweeper.visit_thread(thread);
  run();
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(group_of(thread), "redis");
}

}  // namespace
}  // namespace rdtd
