// The fakes that stand in for the kernel and /proc: calls that are counted and made to fail, and
// processes with their groups.
#include <gtest/gtest.h>

#include <cerrno>

#include "fake/kernel.hpp"
#include "fake/processes.hpp"

namespace rdtd {
namespace {

using fake::Calls;
using fake::Kernel;
using fake::Resctrl;
using Strings = std::vector<std::string>;

TEST(FakeKernel, CountsCallsAndMakesThemFail) {
  Kernel kernel(fake::xeon());
  kernel.calls.fail(2, EIO);
  kernel.calls.fail(3, EBUSY, Calls::When::after_effect);
  EXPECT_TRUE(kernel.make("a"));
  EXPECT_EQ(kernel.make("b").error().text(),
            "cannot make group /sys/fs/resctrl/b: Input/output error");
  EXPECT_EQ(kernel.write("a/schemata", "MB:0=50\n").error().text(),
            "cannot write 'MB:0=50' to /sys/fs/resctrl/a/schemata: Device or resource busy");
  EXPECT_EQ(*kernel.read("a/size"), "    MB:0=50;1=100\n    L3:0=1310720;1=1310720\n");
  EXPECT_FALSE(kernel.resctrl.find("b"));
  EXPECT_EQ(kernel.calls.texts(),
            (Strings{"make a", "make b", "write a/schemata 'MB:0=50'", "read a/size"}));
  EXPECT_EQ(kernel.calls.changes().size(), 3U);
  EXPECT_EQ(kernel.read("none").error().text(),
            "cannot open /sys/fs/resctrl/none: No such file or directory");
}

TEST(FakeKernel, RunsAHookBeforeEachCall) {
  Kernel kernel(fake::xeon());
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.text() == "remove a") (void)kernel.resctrl.remove("a");
  };
  EXPECT_TRUE(kernel.make("a"));
  EXPECT_EQ(kernel.remove("a").error().code, ENOENT);
}

TEST(FakeKernel, HoldsOneLock) {
  Kernel kernel(fake::xeon());
  {
    const auto lock = kernel.lock();
    EXPECT_TRUE(lock && kernel.locked());
    EXPECT_EQ(kernel.lock().error().code, EWOULDBLOCK);
  }
  EXPECT_TRUE(kernel.lock());
  kernel.locked_by_other = true;
  EXPECT_EQ(kernel.lock().error().text(),
            "cannot lock /sys/fs/resctrl: Resource temporarily unavailable");
}

TEST(FakeKernel, KeepsOpenTasksWithTheirGroup) {
  Kernel kernel(fake::xeon());
  ASSERT_TRUE(kernel.make("a"));
  const uint64_t inode = kernel.resctrl.find("a")->inode;
  const auto tasks = kernel.open_tasks("a");
  ASSERT_TRUE(tasks);
  kernel.resctrl.add_task(7);
  EXPECT_EQ((*tasks)->add(7), 0);
  EXPECT_EQ((*tasks)->add(8), ESRCH);
  ASSERT_TRUE(kernel.remove("a"));
  ASSERT_TRUE(kernel.make("a"));
  EXPECT_NE(kernel.resctrl.find("a")->inode, inode);
  EXPECT_EQ((*tasks)->add(7), ENODEV);
  EXPECT_EQ(kernel.resctrl.group_of(7), "");
}

TEST(FakeProcesses, InheritTheGroupOfTheForkingThread) {
  Kernel kernel(fake::xeon());
  fake::Processes processes(kernel);
  ASSERT_TRUE(kernel.make("a"));
  const pid_t parent = processes.start({.exe = "/usr/bin/redis-server"});
  const pid_t thread = processes.clone(parent, "io");
  ASSERT_TRUE(kernel.write("a/tasks", std::to_string(thread)));
  const pid_t child = processes.fork(thread);
  const auto opened = processes.open(child);
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->read_thread_group(child), "a");
  EXPECT_EQ((*opened)->read_name(), "io");
  EXPECT_EQ((*opened)->read_status()->parent, parent);
  EXPECT_EQ((*processes.open(parent))->children(std::vector{parent, thread}), std::vector{child});
  EXPECT_EQ((*processes.open(parent))->threads(), (std::vector{parent, thread}));
  EXPECT_EQ(processes.process_of(thread), parent);
  EXPECT_EQ((*processes.open(parent))->read_thread_group(parent), "");
}

TEST(FakeProcesses, KeepAnOpenProcessApartFromALaterOneWithItsPid) {
  Kernel kernel(fake::xeon());
  fake::Processes processes(kernel);
  const pid_t pid = processes.start();
  const auto opened = processes.open(pid);
  ASSERT_TRUE(opened);
  processes.exit(pid);
  processes.next_pid = pid;
  ASSERT_EQ(processes.start({.exe = "/usr/bin/other"}), pid);
  EXPECT_EQ((*opened)->read_name().error().code, ESRCH);
  EXPECT_EQ((*opened)->thread_count(), 0U);
  EXPECT_EQ((*processes.open(pid))->read_name(), "other");
  EXPECT_EQ(processes.open(pid + 1).error().code, ENOENT);
}

TEST(FakeProcesses, ExecKeepsTheGroupOfTheCallingThread) {
  Kernel kernel(fake::xeon());
  fake::Processes processes(kernel);
  ASSERT_TRUE(kernel.make("a"));
  const pid_t pid = processes.start();
  const pid_t thread = processes.clone(pid);
  ASSERT_TRUE(kernel.write("a/tasks", std::to_string(thread)));
  const auto opened = processes.open(pid);
  processes.exec(thread, {.exe = "/opt/a-name-of-17-bytes"});
  EXPECT_EQ((*opened)->read_name(), "a-name-of-17-by");
  EXPECT_EQ((*opened)->threads(), std::vector{pid});
  EXPECT_EQ((*opened)->read_thread_group(pid), "a");
  EXPECT_EQ(*kernel.read("a/tasks"), std::to_string(pid) + "\n");
}

TEST(FakeProcesses, CountCallsAndMakeThemFail) {
  Kernel kernel(fake::xeon());
  fake::Processes processes(kernel);
  const pid_t pid = processes.start();
  processes.calls.fail(3, EMFILE);
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.number == 2) processes.clone(pid);
  };
  const auto opened = processes.open(pid);
  EXPECT_EQ((*opened)->threads()->size(), 2U);
  EXPECT_EQ((*opened)->threads().error().code, EMFILE);
  ProcessFacts facts;
  EXPECT_TRUE((*opened)->read(Fact::exe, facts));
  EXPECT_EQ(facts.exe, "/usr/bin/true");
  EXPECT_EQ(processes.calls.texts(),
            (Strings{"open 1000", "threads 1000", "threads 1000", "read 1000 'exe'"}));
}

}  // namespace
}  // namespace rdtd
