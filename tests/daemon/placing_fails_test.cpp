// Placing one process whose facts cannot be read, or that the kernel refuses to move.
#include <gtest/gtest.h>

#include "placing.hpp"

namespace rdtd {
namespace {

using test::redis_policy;
using test::three_groups;

class PlacingFailsTest : public test::PlacingWorld {};

TEST_F(PlacingFailsTest, FactsThatCannotBeReadAreReported) {
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

TEST_F(PlacingFailsTest, ARefusalOfTheKernelIsReported) {
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

// /proc that cannot be read is not the same as nobody being there.
TEST_F(PlacingFailsTest, AFailureOfProcIsReported) {
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
TEST_F(PlacingFailsTest, AFailureOfProcFailsALoadWithRulesForThreads) {
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
TEST_F(PlacingFailsTest, AProcessThatCannotBeExaminedIsReleasedLater) {
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
TEST_F(PlacingFailsTest, AReusedPidThatCannotBeExaminedIsUnknown) {
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
TEST_F(PlacingFailsTest, ALookThatFailsAsksForALookAtAll) {
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

TEST_F(PlacingFailsTest, AFailureOfProcIsNoEndOfAProcess) {
  const pid_t pid = processes.start({.name = "redis-server"});
  const std::string process = "/proc/" + std::to_string(pid);
  const struct {
    const char* operation;
    std::string text;
  } rows[] = {
      {"open", "cannot open " + process + ": Too many open files"},
      {"process_of", "cannot list " + process + ": Too many open files"},
      {"read_status", "cannot read " + process + ": Too many open files"},
  };
  for (const auto& row : rows) {
    fail_in_proc(row.operation, EMFILE);
    EXPECT_EQ(manager->answers().explain(pid, std::nullopt).error().text, row.text);
    EXPECT_EQ(manager->changes().prepare_assign(pid, "b", {}).error().text, row.text);
    processes.calls.reset();
  }
  for (const char* operation : {"read", "threads"}) {
    fail_in_proc(operation, EMFILE);
    EXPECT_EQ(manager->answers().explain(pid, std::nullopt).error().text, rows[2].text);
    processes.calls.reset();
  }
  const auto prepared = manager->changes().prepare_assign(pid, "b", {});
  ASSERT_TRUE(prepared);
  fail_in_proc("read_name", EIO);
  EXPECT_EQ((*prepared)->run().error().text,
            "cannot put process " + std::to_string(pid) + " in group 'b': Input/output error");
}

}  // namespace
}  // namespace rdtd
