// Processes that were moved: handed over between the threads, and what fork events say about them.
#include "rdtd/daemon/second_looks.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "event_socket.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/proc/fork_watch.hpp"

namespace rdtd {
namespace {

using proc::ForkWatch;
using Kind = ForkWatch::Forks::Kind;
constexpr uint64_t millisecond = 1'000'000;

std::vector<pid_t> pids(const std::vector<SecondLooks::Process>& processes) {
  std::vector<pid_t> out;
  for (const SecondLooks::Process& process : processes) out.push_back(process.pid);
  return out;
}

bool readable(const SecondLooks& looks, int timeout) {
  pollfd ready{looks.fd(), POLLIN, 0};
  return ::poll(&ready, 1, timeout) > 0;
}

TEST(SecondLooks, ThoseThatWereMovedLongEnoughAgoAreDue) {
  const auto looks = std::move(*SecondLooks::make());
  for (const uint64_t moved_at : {100U, 101U, 119U, 120U, 121U})
    EXPECT_TRUE(looks->add({static_cast<pid_t>(moved_at), 7, moved_at * millisecond}));
  EXPECT_TRUE(looks->take_due(119 * millisecond).empty());
  const auto due = looks->take_due(140 * millisecond);
  EXPECT_EQ(pids(due), (std::vector<pid_t>{100, 101, 119, 120}));
  EXPECT_EQ(due[0].exec_at, 7U);
  EXPECT_TRUE(looks->take_due(140 * millisecond).empty());
  EXPECT_EQ(pids(looks->take_due(UINT64_MAX / 2)), std::vector<pid_t>{121});
}

TEST(SecondLooks, OneWakeUpServesAnInterval) {
  const auto looks = std::move(*SecondLooks::make());
  EXPECT_FALSE(readable(*looks, 0));
  const uint64_t begin = monotonic_nanoseconds();
  for (pid_t pid = 1; pid <= 3; pid++) EXPECT_TRUE(looks->add({pid, 0, begin}));
  EXPECT_TRUE(readable(*looks, 20'000));
  EXPECT_GE(monotonic_nanoseconds() - begin, 100 * millisecond);
  // The fourth is not due yet: the timer is set again, without another process.
  EXPECT_TRUE(looks->add({4, 0, monotonic_nanoseconds() + 1000 * millisecond}));
  EXPECT_EQ(looks->take_due(monotonic_nanoseconds()).size(), 3U);
  EXPECT_TRUE(readable(*looks, 20'000));
  EXPECT_EQ(looks->take_due(UINT64_MAX / 2).size(), 1U);
  EXPECT_FALSE(readable(*looks, 0));
}

TEST(SecondLooks, MoreThanCanWaitAreRefused) {
  const auto looks = std::move(*SecondLooks::make());
  for (size_t i = 0; i < SecondLooks::capacity; i++) EXPECT_TRUE(looks->add({1, 0, 1}));
  EXPECT_FALSE(looks->add({2, 0, 1}));
  EXPECT_EQ(looks->take_due(100 * millisecond).size(), SecondLooks::capacity);
  EXPECT_TRUE(looks->add({3, 0, 1}));
  EXPECT_EQ(pids(looks->take_due(100 * millisecond)), std::vector<pid_t>{3});
}

// Programs that end at once take no places from those that were moved.
TEST(SecondLooks, HalfOfThePlacesAreForThoseThatWereNotPlaced) {
  const auto looks = std::move(*SecondLooks::make());
  for (size_t i = 0; i < SecondLooks::capacity / 2; i++) EXPECT_TRUE(looks->add({1, 0, 1, false}));
  EXPECT_FALSE(looks->add({2, 0, 1, false}));
  EXPECT_TRUE(looks->add({3, 0, 1, true}));
  const auto due = looks->take_due(100 * millisecond);
  EXPECT_EQ(due.size(), SecondLooks::capacity / 2 + 1);
  EXPECT_FALSE(due.front().placed);
  EXPECT_TRUE(due.back().placed);
}

// One thread adds while the other one takes and waits for the timer: each process comes once, in
// its order, and no wake-up is missed.
TEST(SecondLooks, NothingIsLostBetweenTheThreads) {
  constexpr pid_t count = 200'000;
  const auto looks = std::move(*SecondLooks::make());
  std::thread classifier([&] {
    for (pid_t pid = 1; pid <= count; pid++)
      // Moved long ago, so that the timer goes off at once.
      while (!looks->add({pid, 0, 1})) std::this_thread::yield();
  });
  pid_t last = 0;
  while (last < count && readable(*looks, 20'000))
    for (const pid_t pid : pids(looks->take_due(monotonic_nanoseconds()))) ASSERT_EQ(pid, ++last);
  EXPECT_EQ(last, count);
  classifier.join();
}

class ForkWatchTest : public testing::Test {
 protected:
  test::EventSocket events_;
  ForkWatch watch_{events_.connector(false)};
  uint64_t start_ = monotonic_nanoseconds();
};

TEST_F(ForkWatchTest, ThreadsAndChildrenSinceATime) {
  events_.fork(10, 11, start_ + 5);
  events_.fork(10, 12, start_ + 8);
  events_.fork(20, 22, start_ + 6);
  events_.clone(20, 21, start_ + 7);
  for (pid_t child = 31; child <= 40; child++)
    events_.fork(30, child, start_ + static_cast<uint64_t>(child));
  const struct {
    pid_t pid;
    uint64_t since;
    Kind kind;
    std::vector<pid_t> children;
  } rows[] = {{10, start_, Kind::children, {11, 12}},
              {10, start_ + 5, Kind::children, {11, 12}},
              {10, start_ + 6, Kind::children, {12}},
              {10, start_ + 9, Kind::none, {}},
              {11, start_, Kind::none, {}},
              {20, start_, Kind::more, {22}},
              {20, start_ + 7, Kind::more, {}},
              {20, start_ + 8, Kind::none, {}},
              {30, start_ + 33, Kind::children, {33, 34, 35, 36, 37, 38, 39, 40}},
              {30, start_ + 32, Kind::more, {33, 34, 35, 36, 37, 38, 39, 40}},
              {1, start_, Kind::none, {}},
              {50, start_, Kind::none, {}},
              {50, 0, Kind::unknown, {}},
              {10, 0, Kind::unknown, {}},
              {50, start_ - 1'000'000'000, Kind::unknown, {}}};
  EXPECT_EQ(watch_.forks_of(10, start_).kind, Kind::none) << "nothing has been read";
  watch_.update();
  for (const auto& row : rows) {
    const auto forks = watch_.forks_of(row.pid, row.since);
    EXPECT_EQ(forks.kind, row.kind) << row.pid << " " << row.since - start_;
    EXPECT_EQ(forks.children, row.children) << row.pid << " " << row.since - start_;
  }
}

TEST_F(ForkWatchTest, OtherEventsAreIgnored) {
  events_.exec(10);
  events_.comm(10, 10);
  watch_.update();
  EXPECT_EQ(watch_.forks_of(10, start_).kind, Kind::none);
}

// An update is bounded. Behind the events that it has read may be any process.
TEST(ForkWatch, AFloodMakesAnswersUnknown) {
  test::EventSocket events;
  ForkWatch watch(events.connector(false), 2);
  const uint64_t start = monotonic_nanoseconds();
  for (size_t i = 0; i < 2 * Connector::batch_size + 10; i++) events.fork(10, 11, start);
  watch.update();
  EXPECT_EQ(watch.forks_of(30, start).kind, Kind::unknown);
  EXPECT_EQ(watch.forks_of(30, monotonic_nanoseconds()).kind, Kind::unknown);
  watch.update();
  EXPECT_EQ(watch.forks_of(30, start).kind, Kind::unknown);
  const uint64_t later = monotonic_nanoseconds();
  events.fork(30, 31, later);
  watch.update();
  EXPECT_EQ(watch.forks_of(30, later).kind, Kind::children);
  EXPECT_EQ(watch.forks_of(10, later).kind, Kind::none);
}

// What happened before the queue was drained may have been dropped.
TEST(ForkWatch, ALossMakesAnswersUnknown) {
  test::OverrunSocket overrun;
  ForkWatch watch(overrun.connector(false));
  const uint64_t before = monotonic_nanoseconds();
  overrun.overrun();
  EXPECT_GT(watch.waiting(), 0U);
  watch.update();
  EXPECT_EQ(watch.waiting(), 0U);
  EXPECT_EQ(watch.forks_of(30, before).kind, Kind::unknown);
  EXPECT_EQ(watch.forks_of(30, monotonic_nanoseconds()).kind, Kind::none);
}

// A socket that fails tells nothing, and is asked a bounded number of times.
TEST(ForkWatch, AFailureMakesAnswersUnknown) {
  ForkWatch watch(test::broken_connector());
  watch.update();
  EXPECT_EQ(watch.forks_of(30, monotonic_nanoseconds()).kind, Kind::unknown);
}

// It remembers a bounded number of processes.
TEST_F(ForkWatchTest, ManyProcessesAreForgotten) {
  for (pid_t pid = 1; pid <= 6000; pid++) {
    events_.fork(pid, pid + 1, start_);
    if (pid % 60 == 0) watch_.update();
  }
  EXPECT_EQ(watch_.forks_of(1, start_).kind, Kind::unknown);
  EXPECT_EQ(watch_.forks_of(6001, monotonic_nanoseconds()).kind, Kind::none);
}

}  // namespace
}  // namespace rdtd
