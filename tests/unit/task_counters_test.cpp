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
  TaskCounters counters(tasks, task_clock);
  if (const auto own = PerfEvents::open({&task_clock, 1}); !own)
    GTEST_SKIP() << "this machine refuses even software events: " << own.error().text();
  EXPECT_EQ(counters.missing(), "");
  EXPECT_EQ(counters.count(), 0);
}

using CpuSecondsOfTasks = Files;

TEST_F(CpuSecondsOfTasks, AreThoseOfTheTasksThatAreThere) {
  put("7/schedstat", "1500000000 20 3\n");
  put("9/schedstat", "500000000 20 3\n");
  const std::vector<pid_t> tasks = {7, 8, 9};
  const CpuSeconds before = cpu_seconds_of(tasks, root_);
  EXPECT_EQ(before, (std::map<pid_t, double>{{7, 1.5}, {9, 0.5}}));
}

// Those that came are not counted, unless one of the others started them.
TEST(UsedBetween, TellsWhatCameFromWhatWent) {
  EXPECT_EQ(used_between({{7, 1}, {8, 2}}, {{7, 1.5}}).came, 0U);
  EXPECT_EQ(used_between({{7, 1}, {8, 2}}, {{7, 1.5}, {9, 1}}).came, 1U);
  EXPECT_EQ(used_between({{7, 10}}, {{7, 0.1}}).came, 1U);
}

// Neither one that ends nor one that comes may make it more or less.
TEST(UsedBetween, IsOfTheTasksThatStayed) {
  const auto used = [](const CpuSeconds& before, const CpuSeconds& after) {
    const UsedMeanwhile out = used_between(before, after);
    return std::pair(out.seconds, out.others);
  };
  EXPECT_EQ(used({{7, 1}, {8, 2}}, {{7, 1.5}, {8, 4}}), std::pair(2.5, size_t{0}));
  EXPECT_EQ(used({{7, 1}, {8, 10}}, {{7, 1.5}}), std::pair(0.5, size_t{1}));
  EXPECT_EQ(used({{7, 1}}, {{7, 1.5}, {9, 3600}}), std::pair(0.5, size_t{1}));
  // Another task with the number of one that ended.
  EXPECT_EQ(used({{7, 10}}, {{7, 0.1}}), std::pair(0.0, size_t{2}));
}

}  // namespace
}  // namespace rdtd
