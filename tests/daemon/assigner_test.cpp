// Placing one process while it changes: threads and children that appear between any two calls.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

// A rule leads to the groups redis and b, and none to the group c.
const std::string three_groups =
    redis_policy + "[group.b]\n[[rule]]\ngroup = \"b\"\nname = \"batch\"\n[group.c]\n";

class AssignerTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    ASSERT_EQ(reload(three_groups), "");
  }
  [[nodiscard]] Placement placement() const {
    return {*manager->in_force().table, processes, manager->core().manual};
  }
  // Places a process as the classifier does, or as the loop thread does.
  Assignment place(pid_t pid, bool classifier) {
    if (classifier) return place_leader(placement(), pid);
    Visit visit(placement(), pid, {});
    for (int turn = 0; turn < 1000 && !visit.step(64); turn++) {}
    return visit.result();
  }
  // Runs once, before the next thread is written to `tasks`.
  void before_add(std::function<void()> change) {
    kernel.calls.hook = [this, change = std::move(change)](const fake::Call& call) {
      if (call.operation != "add") return;
      const auto once = std::exchange(kernel.calls.hook, nullptr);
      change();
    };
  }
  void fail_in_proc(const char* operation, int code) {
    processes.calls.fail_if(
        [operation](const fake::Call& call) { return call.operation == operation; }, code);
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

TEST_F(AssignerTest, FactsThatCannotBeReadAreReported) {
  const pid_t pid = processes.start({.name = "redis-server"});
  (void)processes.clone(pid);
  const struct {
    const char* operation;
    int code;
    Assignment::Kind classifier;
    Assignment::Kind main;
  } rows[] = {
      {"open", EMFILE, Assignment::Kind::unknown, Assignment::Kind::unknown},
      {"read_name", EIO, Assignment::Kind::unknown, Assignment::Kind::unknown},
      {"read_name", ESRCH, Assignment::Kind::gone, Assignment::Kind::gone},
      {"threads", EMFILE, Assignment::Kind::in_group, Assignment::Kind::unknown},
      {"threads", ESRCH, Assignment::Kind::in_group, Assignment::Kind::in_group},
  };
  for (const auto& row : rows) {
    for (const bool classifier : {true, false}) {
      processes.calls.reset();
      fail_in_proc(row.operation, row.code);
      const Assignment result = place(pid, classifier);
      EXPECT_EQ(result.kind, classifier ? row.classifier : row.main)
          << row.operation << " " << row.code << " " << classifier;
      if (result.kind == Assignment::Kind::unknown) {
        EXPECT_EQ(result.error, row.code) << row.operation;
      }
    }
  }
  processes.calls.reset();
  fail_in_proc("read", EIO);
  ASSERT_EQ(reload("[group.redis]\n[[rule]]\ngroup = \"redis\"\nexe = \"/x\"\n"),
            "the policy is in force, but 1 process cannot be examined: Input/output error");
  for (const bool classifier : {true, false}) EXPECT_EQ(place(pid, classifier).error, EIO);
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

TEST_F(AssignerTest, ARefusalOfTheKernelIsReported) {
  const pid_t pid = processes.start({.name = "redis-server"});
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "add"; }, EPERM);
  EXPECT_EQ(place(pid, true).kind, Assignment::Kind::refused);
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(problems(), std::vector<std::string>{
                            "the kernel refuses to move 1 process: Operation not permitted"});
  uint64_t refused = 0;
  for (const auto& row : manager->answers().properties().assignments)
    if (row.group == "redis" && row.result == "refused") refused = row.threads;
  EXPECT_EQ(refused, 6U);  // one attempt of the classifier, one in each pass
  kernel.calls.reset();
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(group_of(pid), "redis");
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

// /proc that cannot be read is not the same as nobody being there.
TEST_F(AssignerTest, AFailureOfProcIsReported) {
  processes.start({.name = "redis-server"});
  processes.calls.fail_if([](const fake::Call& call) { return call.operation == "open"; }, EMFILE);
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(problems(),
            std::vector<std::string>{"1 process cannot be examined: Too many open files"});
  processes.calls.reset();
  processes.calls.fail_if([](const fake::Call& call) { return call.operation == "list"; }, ENOMEM);
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(state(), "degraded");
  processes.calls.reset();
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(state(), "running");
}

// Neither with rules for threads: then each thread is decided about by itself.
TEST_F(AssignerTest, AFailureOfProcFailsALoadWithRulesForThreads) {
  const std::string with_threads =
      "[group.t]\n[[rule]]\ngroup = \"t\"\nthread = \"io-*\"\ncmdline = \"job*\"\n";
  const pid_t job = processes.start({.name = "job", .cmdline = "job 1"});
  const pid_t thread = processes.clone(job, "io-1");
  for (const char* operation : {"open", "threads", "read_thread_name", "read"}) {
    fail_in_proc(operation, EMFILE);
    EXPECT_EQ(reload(with_threads),
              "the policy is in force, but 1 process cannot be examined: Too many open files")
        << operation;
    EXPECT_EQ(problems(),
              std::vector<std::string>{"1 process cannot be examined: Too many open files"});
    EXPECT_EQ(group_of(thread), "default");
    processes.calls.reset();
    EXPECT_EQ(reload(with_threads), "");
    EXPECT_EQ(state(), "running");
    EXPECT_EQ(group_of(thread), "t");
    EXPECT_EQ(group_of(job), "default");
    ASSERT_EQ(reload(three_groups), "");
  }
  fail_in_proc("list", EMFILE);
  EXPECT_EQ(reload(with_threads),
            "the policy is in force, but cannot list /proc: Too many open files");
  // How many threads there are is seen in another way too.
  processes.calls.reset();
  fail_in_proc("thread_count", ENOMEM);
  EXPECT_EQ(reload(with_threads), "");
  EXPECT_EQ(group_of(thread), "t");
}

// What held a process is not forgotten before the process could be let go.
TEST_F(AssignerTest, AProcessThatCannotBeExaminedIsReleasedLater) {
  for (const std::string thread_rule : {"", "[[rule]]\ngroup = \"b\"\nthread = \"io-*\"\n"}) {
    ASSERT_EQ(reload(three_groups + thread_rule), "");
    const pid_t batch = processes.start({.name = "batch"});
    manager->reconciler().reconcile();
    run();
    for (const char* operation : {"open", "threads", "read_thread_name"}) {
      if (thread_rule.empty() && operation == std::string("read_thread_name")) continue;
      ASSERT_EQ(reload(three_groups + thread_rule), "");
      ASSERT_EQ(group_of(batch), "b");
      fail_in_proc(operation, EMFILE);
      EXPECT_EQ(reload(redis_policy + "[group.b]\n"),
                "the policy is in force, but 1 process cannot be examined: Too many open files")
          << operation << thread_rule;
      EXPECT_EQ(group_of(batch), "b");
      processes.calls.reset();
      manager->reconciler().reconcile();
      run();
      EXPECT_EQ(group_of(batch), "default") << operation << thread_rule;
    }
    processes.exit(batch);
  }
}

// The process that took the pid of one that ended may be in a group that is not its own.
TEST_F(AssignerTest, AReusedPidThatCannotBeExaminedIsUnknown) {
  for (const bool classifier : {true, false}) {
    const pid_t pid = processes.start({.name = "redis-server"});
    before_add([&] {
      processes.exit(pid);
      processes.next_pid = pid;
      (void)processes.start({.name = "bash"});
      fail_in_proc("open", EMFILE);
    });
    const Assignment assignment = place(pid, classifier);
    EXPECT_EQ(assignment.kind, Assignment::Kind::unknown) << classifier;
    EXPECT_EQ(assignment.error, EMFILE);
    processes.calls.reset();
  }
}

// A single look that fails is made up for by one at all processes.
TEST_F(AssignerTest, ALookThatFailsAsksForALookAtAll) {
  int lost = 0;
  manager->connect({.visits_lost = [&] { lost++; }});
  const pid_t pid = processes.start({.name = "redis-server"});
  fail_in_proc("open", EMFILE);
  manager->core().sweeper.visit_thread(pid);
  run();
  EXPECT_EQ(lost, 1);
  manager->core().sweeper.visit({.pid = pid});
  run();
  EXPECT_EQ(lost, 2);
  processes.calls.reset();
  fail_in_proc("children", EMFILE);
  manager->core().sweeper.visit({.pid = pid, .children = true});
  run();
  EXPECT_GT(lost, 2);
  EXPECT_EQ(group_of(pid), "redis");
}

TEST_F(AssignerTest, AFailureOfProcIsNoEndOfAProcess) {
  const pid_t pid = processes.start({.name = "redis-server"});
  const std::string process = "/proc/" + std::to_string(pid);
  const struct {
    const char* operation;
    std::string text;
  } rows[] = {
      {"open", "cannot open " + process + ": Too many open files"},
      {"read", "cannot read " + process + ": Too many open files"},
  };
  for (const auto& row : rows) {
    fail_in_proc(row.operation, EMFILE);
    EXPECT_EQ(manager->answers().explain(pid, std::nullopt).error().text, row.text);
    EXPECT_EQ(manager->changes().prepare_assign(pid, "b", {}).error().text, row.text);
    processes.calls.reset();
  }
  fail_in_proc("threads", EMFILE);
  EXPECT_EQ(manager->answers().explain(pid, std::nullopt).error().text, rows[1].text);
  processes.calls.reset();
  const auto prepared = manager->changes().prepare_assign(pid, "b", {});
  ASSERT_TRUE(prepared);
  fail_in_proc("read_name", EIO);
  EXPECT_EQ((*prepared)->run().error().text,
            "cannot put process " + std::to_string(pid) + " in group 'b': Input/output error");
}

}  // namespace
}  // namespace rdtd
