// What failed once is tried again until it is as it should be, also if no comparison is due; what
// fails for ever is logged once.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <cerrno>
#include <filesystem>
#include <limits>
#include <memory>
#include <sstream>

#include "world.hpp"

namespace rdtd {
namespace {

using Texts = std::vector<std::string>;
using test::redis_policy;

// Since the logger was replaced.
class LogLines {
 public:
  LogLines() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_st>(text_)));
    spdlog::set_level(spdlog::level::info);
  }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  ~LogLines() { spdlog::set_default_logger(before_); }
  // Messages: one may have several lines.
  [[nodiscard]] size_t count() const {
    size_t out = 0;
    const std::string text = text_.str(), mark = "[test]";
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at++) out++;
    return out;
  }
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

class FailedOnceTest : public test::World {
 protected:
  void fail(const std::string& operation, const std::string& path, int code,
            int times = std::numeric_limits<int>::max()) {
    kernel.calls.fail_if(
        [=, left = times](const fake::Call& call) mutable {
          return call.operation == operation && call.path == path && left-- > 0;
        },
        code);
  }
  // Pauses have long reached their longest, of 5 minutes.
  void compare_each_minute(int minutes = 60) {
    for (int minute = 0; minute < minutes; minute++) {
      manager->reconciler().reconcile();
      run(std::chrono::minutes(1));
    }
  }
  // Without regular comparisons; another tool changes something, which an event reports.
  void begin(const fake::Machine& machine, const std::string& text,
             const std::string& drift_mode = "restore") {
    use(machine);
    kernel.calls.reset();
    ASSERT_EQ(
        reload("[daemon]\nreconcile_interval = \"0\"\ndrift = \"" + drift_mode + "\"\n" + text),
        "");
    run(std::chrono::minutes(1));
    wanted_ = tree();
  }
  void changed(const std::string& group) {
    ASSERT_NE(tree(), wanted_);
    manager->reconciler().resctrl_changed({group});
    run(std::chrono::hours(1));
    EXPECT_EQ(tree(), wanted_);
    EXPECT_EQ(problems(), Texts{});
    EXPECT_EQ(state(), "running");
  }

  std::string wanted_;
};

TEST_F(FailedOnceTest, AModeWithoutAnInterval) {
  begin(fake::xeon(), "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n");
  ASSERT_TRUE(kernel.resctrl.write("a/mode", "shareable\n"));
  fail("write", "a/mode", EIO, 1);
  changed("a");
}

TEST_F(FailedOnceTest, ARegionWithoutAnInterval) {
  begin(fake::atom(), "[pseudo_lock.buffer]\nl2 = { \"1\" = \"1 MiB\" }\n");
  ASSERT_TRUE(kernel.resctrl.remove("buffer"));
  fail("write", "buffer/schemata", ENOMEM, 1);
  changed("buffer");
}

TEST_F(FailedOnceTest, IoAllocWithoutAnInterval) {
  begin(fake::with_io_alloc(fake::amd()), "[io]\nl3 = \"2 ways\"\n");
  ASSERT_TRUE(kernel.resctrl.write("info/L3/io_alloc", "0\n"));
  fail("write", "info/L3/io_alloc", EBUSY, 1);
  changed("info");
}

// Nobody but the kernel has taken what a reset takes, so it is given back even if drift is only
// reported, whatever fails once meanwhile.
TEST_F(FailedOnceTest, AnythingAfterAReset) {
  struct Row {
    fake::Machine machine;
    const char *text, *operation, *path;
  };
  const char* exclusive = "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n";
  const char* region = "[pseudo_lock.buffer]\nl2 = { \"1\" = \"1 MiB\" }\n";
  const std::vector<Row> rows = {{fake::xeon(), exclusive, "write", "a/mode"},
                                 {fake::xeon(), exclusive, "write", "a/schemata"},
                                 {fake::xeon(), exclusive, "list", ""},
                                 {fake::atom(), region, "write", "buffer/schemata"},
                                 {fake::atom(), region, "make", "buffer"},
                                 {fake::atom(), region, "list", ""}};
  for (const Row& row : rows)
    for (int at = 1; at <= 8; at++) {
      SCOPED_TRACE(fmt::format("{} {} {}", row.operation, row.path, at));
      begin(row.machine, row.text, "report");
      for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
      manager->reconciler().cpu_changed();
      run(std::chrono::minutes(1));
      for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
      kernel.calls.fail_if(
          [&row, at, seen = 0](const fake::Call& call) mutable {
            return call.operation == row.operation && call.path == row.path && ++seen == at;
          },
          EIO);
      manager->reconciler().cpu_changed();
      run(std::chrono::hours(1));
      EXPECT_EQ(tree(), wanted_);
      EXPECT_EQ(problems(), Texts{});
    }
}

// A comparison reads resctrl again in its middle.
TEST_F(FailedOnceTest, AReadingWithoutAnInterval) {
  for (int at = 1; at <= 8; at++) {
    SCOPED_TRACE(at);
    begin(fake::xeon(), "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n");
    ASSERT_TRUE(kernel.resctrl.write("a/mode", "shareable\n"));
    kernel.calls.fail_if(
        [at, seen = 0](const fake::Call& call) mutable {
          return call.operation == "list" && call.path.empty() && ++seen == at;
        },
        EIO);
    changed("a");
  }
}

// A difference that it leaves is nobody's drift.
TEST_F(FailedOnceTest, AnUndoUnderReport) {
  begin(fake::xeon(), "[group.a]\nl3 = \"4 ways\"\n[group.b]\nl3 = \"2 ways\"\n", "report");
  int writes = 0;
  kernel.calls.fail_if(
      [&](const fake::Call& call) {
        return call.operation == "write" && call.path.ends_with("/schemata") && ++writes >= 2;
      },
      EIO);
  EXPECT_NE(reload("[daemon]\nreconcile_interval = \"0\"\ndrift = \"report\"\n"
                   "[group.a]\nl3 = \"6 ways\"\n[group.b]\nl3 = \"3 ways\"\n"),
            "");
  EXPECT_NE(tree(), wanted_);
  kernel.calls.reset();
  run(std::chrono::minutes(1));
  EXPECT_EQ(tree(), wanted_);
}

// The list of what was in its group before is not lost with one reading.
TEST_F(FailedOnceTest, TheListOfAGroupUnderReport) {
  use(fake::xeon());
  const pid_t pid = processes.start({.name = "redis-server"});
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  ASSERT_EQ(group_of(pid), "redis");
  const auto compare = [&] {
    manager->reconciler().reconcile();
    run();
  };
  compare();
  fail("read", "redis/tasks", EMFILE);
  compare();
  kernel.calls.reset();
  (void)kernel.resctrl.write("tasks", std::to_string(pid) + "\n");
  compare();
  EXPECT_EQ(group_of(pid), "default");
  EXPECT_EQ(state(), "degraded");
}

TEST_F(FailedOnceTest, AnAssignedProcessThatCannotBePutBack) {
  begin(fake::xeon(), redis_policy + "[group.b]\n");
  const pid_t pid = processes.start({.name = "bash"});
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "b", {.uid = 0, .pid = 1}))->run());
  (void)kernel.resctrl.write("tasks", std::to_string(pid) + "\n");
  fail("add", "b/tasks", EPERM);
  const LogLines log;
  compare_each_minute(5);
  const std::string text =
      "cannot put process " + std::to_string(pid) + " in group 'b' again: Operation not permitted";
  EXPECT_EQ(problems(), Texts{text});
  EXPECT_EQ(log.count(), 1U) << log.text();
  kernel.calls.reset();
  run(std::chrono::hours(1));
  EXPECT_EQ(problems(), Texts{});
  EXPECT_EQ(group_of(pid), "b");
}

// Its mode could not be set after a reset, and its directory stays for a while.
TEST_F(FailedOnceTest, AModeOfAGroupThatLeavesThePolicy) {
  begin(fake::xeon(), "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n", "report");
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
  for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
  fail("write", "a/mode", EIO);
  manager->reconciler().cpu_changed();
  run(std::chrono::minutes(1));
  kernel.calls.reset();
  fail("remove", "a", EBUSY);
  EXPECT_EQ(reload("[daemon]\ndrift = \"report\"\n"), "");
  manager->reconciler().reconcile();
  run(std::chrono::minutes(1));
  EXPECT_NE(schemata("a"), "none");
  kernel.calls.reset();
  run(std::chrono::hours(1));
  EXPECT_EQ(schemata("a"), "none");
}

TEST_F(FailedOnceTest, AnAdoptionWithoutAnInterval) {
  begin(fake::xeon(), "[group.a]\nl3 = \"2 ways\"\nadopt = true\n");
  ASSERT_TRUE(kernel.resctrl.remove("a"));
  ASSERT_TRUE(kernel.resctrl.make("a"));
  // The record cannot be written.
  std::filesystem::create_directories(root_ / ".groups.new/x");
  manager->reconciler().resctrl_changed({"a"});
  run(std::chrono::seconds(2));
  EXPECT_NE(tree(), wanted_);
  std::filesystem::remove_all(root_ / ".groups.new");
  run(std::chrono::hours(1));
  EXPECT_EQ(tree(), wanted_);
  EXPECT_EQ(problems(), Texts{});
}

// The group is there: what its `tasks` file says once costs its rules no process for long.
TEST_F(FailedOnceTest, ATasksFileThatCannotBeOpened) {
  const std::string text =
      "[group.a]\nl3 = \"2 ways\"\n[[rule]]\ngroup = \"a\"\nname = \"in-a\"\nmonitor = \"probe\"\n";
  for (const int code : {ENODEV, ENOENT, EMFILE})
    for (const char* file : {"a/tasks", "tasks", "a/mon_groups/probe/tasks"}) {
      SCOPED_TRACE(std::string(file) + " " + std::to_string(code));
      use(fake::xeon());
      kernel.calls.reset();
      const pid_t pid = processes.start({.name = "in-a"});
      fail("open_tasks", file, code, 1);
      policy = text;
      EXPECT_EQ(load(), "");
      run(std::chrono::minutes(1));
      EXPECT_EQ(group_of(pid), "a/probe");
      EXPECT_EQ(problems(), Texts{});
      processes.exit(pid);
    }
}

TEST_F(FailedOnceTest, TheEndOfALeaseThatFailsForEver) {
  ASSERT_EQ(reload("[group.a]\nl3 = \"2 ways\"\n[group.b]\nl3 = \"3 ways\"\n"), "");
  ASSERT_EQ(lease("x", "[group.a]\noverride = true\nl3 = \"5 ways\"\n[group.y]\nmb = \"20%\"\n"),
            "");
  fail("write", "a/schemata", EIO);
  const LogLines log;
  lease_fds.clear();
  manager->leases().end_abandoned();
  run(std::chrono::seconds(5));
  compare_each_minute();
  // That it has ended, that it could not be carried out, and why a later attempt failed.
  EXPECT_EQ(log.count(), 3U) << log.text();
}

// Whatever else asks for comparisons.
TEST_F(FailedOnceTest, TheEndOfALeaseIsTriedAfterGrowingPauses) {
  ASSERT_EQ(reload("[group.a]\nl3 = \"2 ways\"\n"), "");
  ASSERT_EQ(lease("x", "[group.a]\noverride = true\nl3 = \"5 ways\"\n"), "");
  fail("write", "a/schemata", EIO);
  size_t failed = 0;
  manager->connect({.after_reload = [&](bool success) { failed += success ? 0 : 1; }});
  lease_fds.clear();
  manager->leases().end_abandoned();
  for (int second = 0; second < 3600; second += 5) {
    manager->reconciler().reconcile();
    run(std::chrono::seconds(5));
  }
  // Pauses of 5, 10, 20, 40, 80 and 160 s, and then of 300 s.
  EXPECT_GE(failed, 15U);
  EXPECT_LE(failed, 17U);
  EXPECT_EQ(problems().size(), 2U);
  kernel.calls.reset();
  run(std::chrono::minutes(5));
  EXPECT_EQ(problems(), Texts{});
}

// What has failed for long has nobody wait who comes now.
TEST_F(FailedOnceTest, AModeBesideAFailureForEver) {
  no_chmod = true;
  begin(fake::xeon(), "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n");
  run(std::chrono::hours(1));
  ASSERT_EQ(problems().size(), 1U);
  ASSERT_TRUE(kernel.resctrl.write("a/mode", "shareable\n"));
  fail("write", "a/mode", EIO, 1);
  manager->reconciler().resctrl_changed({"a"});
  run(std::chrono::seconds(10));
  EXPECT_EQ(tree(), wanted_);
}

// The limits do not wait for what only counts.
TEST_F(FailedOnceTest, AReloadWhileMonitoringGroupsCannotBeListed) {
  ASSERT_EQ(reload("[group.a]\nl3 = \"2 ways\"\n"), "");
  fail("list", "a/mon_groups", EIO);
  const pid_t pid = processes.start({.name = "in-a"});
  EXPECT_EQ(reload("[group.a]\nl3 = \"3 ways\"\n[[rule]]\ngroup = \"a\"\nname = \"in-a\"\n"
                   "monitor = \"probe\"\n"),
            "");
  EXPECT_EQ(schemata("a"), "L3:0-1=7 MB:0-1=100");
  EXPECT_EQ(group_of(pid), "a");
  EXPECT_EQ(
      problems(),
      (Texts{"cannot list /sys/fs/resctrl/a/mon_groups: Input/output error",
             "cannot list /sys/fs/resctrl/a/mon_groups: Input/output error (everything is as it "
             "was)"}));
  kernel.calls.reset();
  run(std::chrono::minutes(1));
  EXPECT_EQ(group_of(pid), "a/probe");
  EXPECT_EQ(problems(), Texts{});
}

// The next load opens it at the latest.
TEST_F(FailedOnceTest, ATasksFileOfAMonitoringGroupAtAReload) {
  const std::string text =
      "[group.a]\nl3 = \"2 ways\"\n[[rule]]\ngroup = \"a\"\nname = \"in-a\"\nmonitor = \"probe\"\n";
  ASSERT_EQ(reload("[group.a]\nl3 = \"2 ways\"\n"), "");
  const pid_t pid = processes.start({.name = "in-a"});
  fail("open_tasks", "a/mon_groups/probe/tasks", EIO);
  EXPECT_EQ(reload(text), "");
  EXPECT_EQ(group_of(pid), "a");
  EXPECT_EQ(problems(),
            Texts{"cannot open /sys/fs/resctrl/a/mon_groups/probe/tasks: Input/output error"});
  kernel.calls.reset();
  EXPECT_EQ(reload(text), "");
  EXPECT_EQ(group_of(pid), "a/probe");
  EXPECT_EQ(problems(), Texts{});
}

TEST_F(FailedOnceTest, AGroupThatCouldComeIfAnotherCouldBeWritten) {
  ASSERT_TRUE(kernel.resctrl.make("b"));
  policy = "[group.a]\nl3 = \"2 ways\"\n[group.b]\nl3 = \"3 ways\"\nexclusive = true\n";
  ASSERT_EQ(load(), "");
  ASSERT_TRUE(kernel.resctrl.remove("b"));
  fail("write", "schemata", EIO);
  fail("write", "a/schemata", EIO);
  const LogLines log;
  compare_each_minute();
  EXPECT_EQ(log.count(), 1U) << log.text();
}

TEST_F(FailedOnceTest, AGroupThatTheKernelRefusesForEver) {
  for (const char* file : {"a/schemata", "a/mode"}) {
    SCOPED_TRACE(file);
    use(fake::xeon());
    kernel.calls.reset();
    fail("write", file, EIO);
    const LogLines log;
    policy =
        "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n[group.b]\nl3 = \"3 ways\"\n"
        "[[rule]]\ngroup = \"b\"\nname = \"x\"\n[[rule]]\ngroup = \"b\"\nname = \"x\"\n";
    EXPECT_EQ(load(), "");
    compare_each_minute(20);
    // The rule that never decides, what is not in force, and what is.
    EXPECT_EQ(log.count(), 3U) << log.text();
    EXPECT_EQ(problems().size(), 1U);
    // A reload of a policy without it ends that.
    EXPECT_EQ(reload("[group.b]\nl3 = \"3 ways\"\n"), "");
    EXPECT_EQ(problems(), Texts{});
  }
}

TEST_F(FailedOnceTest, AMonitoringGroupBesideAGroupThatIsRefused) {
  fail("write", "a/schemata", EIO);
  fail("make", "b/mon_groups/probe", ENOSPC);
  const LogLines log;
  policy =
      "[group.a]\nl3 = \"2 ways\"\n[group.b]\nl3 = \"3 ways\"\n"
      "[[rule]]\ngroup = \"b\"\nname = \"x\"\nmonitor = \"probe\"\n";
  EXPECT_EQ(load(), "");
  run(std::chrono::minutes(10));
  // Each of the two once, and what is in force.
  EXPECT_EQ(log.count(), 3U) << log.text();
  EXPECT_TRUE(log.text().contains(
      "[test] [error] cannot make group /sys/fs/resctrl/b/mon_groups/probe: No space left on "
      "device (everything is as it was)\n"))
      << log.text();
  EXPECT_EQ(problems().size(), 2U);
}

// A reset has no policy that anything could be missing of.
TEST_F(FailedOnceTest, AResetEndsWhatWasMissing) {
  fail("write", "a/schemata", EIO);
  policy = "[group.a]\nl3 = \"2 ways\"\n";
  EXPECT_EQ(load(), "");
  EXPECT_EQ(problems().size(), 1U);
  EXPECT_EQ(wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); }), "");
  EXPECT_EQ(problems(), Texts{});
}

}  // namespace
}  // namespace rdtd
