// The kernel's software events stand for the processor's, which virtual machines seldom have.
#include "task_counters.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.hpp"

namespace rdtd {
namespace {

const PerfEvent task_clock = {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK};
constexpr rlim_t few = 32, enough = 256;

// In a process whose limits of open files are these: what is missing of 100 counters.
std::string missing_of_100(rlim_t soft, rlim_t hard) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{soft, hard};
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
    const std::vector<pid_t> tasks(100, ::getpid());
    const std::string text = TaskCounters(tasks, task_clock).missing();
    (void)!::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  (void)::close(ends[1]);
  std::string out(500, '\0');
  const ssize_t length = ::read(ends[0], out.data(), out.size());
  out.resize(length > 0 ? static_cast<size_t>(length) : 0);
  (void)::close(ends[0]);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return out;
}

TEST(TaskCounters, OfMoreTasksThanFilesMayBeOpen) {
  if (const auto own = PerfEvents::open({&task_clock, 1}); !own)
    GTEST_SKIP() << "this machine refuses even software events: " << own.error().text();
  EXPECT_EQ(missing_of_100(few, enough), "");
  const std::string missing = missing_of_100(few, few);
  EXPECT_TRUE(
      missing.ends_with(" of 100 tasks were not counted: cannot open the processor's "
                        "performance counters: Too many open files."))
      << missing;
}

TEST(TaskCounters, ATaskThatHasEndedIsNotMissing) {
  const std::vector<pid_t> tasks = {0x3fffffff};
  const TaskCounters counters(tasks, task_clock);
  if (const auto own = PerfEvents::open({&task_clock, 1}); !own)
    GTEST_SKIP() << "this machine refuses even software events: " << own.error().text();
  EXPECT_EQ(counters.missing(), "");
  EXPECT_EQ(counters.count(), 0);
}

using CpuSeconds = Files;

TEST_F(CpuSeconds, AreThoseOfTheTasksThatAreThere) {
  put("7/schedstat", "1500000000 20 3\n");
  put("9/schedstat", "500000000 20 3\n");
  const std::vector<pid_t> tasks = {7, 8, 9};
  EXPECT_EQ(cpu_seconds_of(tasks, root_), 2);
}

}  // namespace
}  // namespace rdtd
