// The kernel's software events stand for the processor's, which virtual machines seldom have.
#include "rdtd/proc/perf_events.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace rdtd {
namespace {

const std::vector<PerfEvent> clock_and_faults = {
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}};

struct Sockets {
  UniqueFd mine, others;
  Sockets() {
    int both[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, both), 0);
    mine = UniqueFd(both[0]);
    others = UniqueFd(both[1]);
  }
};

// The process sends its counters, and executes a program that starts another one.
TEST(PerfEvents, AProgramAndWhatItStartsAreCounted) {
  if (const auto own = PerfEvents::open(clock_and_faults); !own)
    GTEST_SKIP() << "this machine refuses even software events: " << own.error().text();
  const Sockets sockets;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    PerfEvents::send(sockets.others.get(), PerfEvents::open(clock_and_faults));
    ::execl("/bin/sh", "sh", "-c",
            "/bin/sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; :", nullptr);
    ::_exit(1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const auto events = PerfEvents::receive(sockets.mine.get());
  ASSERT_TRUE(events) << events.error().text();
  const auto counts = events->read();
  ASSERT_TRUE(counts) << counts.error().text();
  ASSERT_EQ(counts->size(), 2U);
  EXPECT_GT(counts->at(0), 1e6);  // nanoseconds: the inner shell's
  EXPECT_GT(counts->at(1), 50);
}

TEST(PerfEvents, WhyThereAreNoneIsSentToo) {
  const Sockets sockets;
  PerfEvents::send(sockets.others.get(), std::unexpected(Error{"open", "counters", EACCES, {}}));
  const auto events = PerfEvents::receive(sockets.mine.get());
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().text(),
            "cannot open the processor's performance counters: Permission denied");
}

TEST(PerfEvents, AProcessThatEndedBeforeItSentAny) {
  Sockets sockets;
  const auto events = PerfEvents::receive(sockets.mine.get());
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, EAGAIN);
}

TEST(PerfEvents, AnEventThatDoesNotExist) {
  const auto events = PerfEvents::open(std::vector<PerfEvent>{{"none", 0xffff, 0}});
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().path, "the processor's performance counters");
}

}  // namespace
}  // namespace rdtd
