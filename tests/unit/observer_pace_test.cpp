// When the observer takes a sample, and what it remembers until then.
#include "rdtd/observer/pace.hpp"

#include <gtest/gtest.h>

#include "rdtd/observe/recording.hpp"

namespace rdtd {
namespace {

TEST(ObserverPace, NoSampleFollowsAtOnceAfterAStall) {
  const struct {
    const char* name;
    uint64_t due, begin, end, next;
  } rows[] = {
      {"in time", 5000, 5001, 5020, 6000},
      {"not more often than it takes", 5000, 5001, 5600, 7000},
      {"a little late", 5000, 5400, 5420, 6000},
      {"late by more than half", 5000, 5600, 5620, 7000},
      {"a stall of the machine", 5000, 8990, 9000, 10'000},
      {"it began just in time, and stood still", 5000, 5001, 8990, 13'000},
      {"too early", 5000, 4999, 4999, 6000},
  };
  for (const auto& row : rows) {
    const uint64_t next = next_sample_usec(row.due, row.begin, row.end, 1000);
    EXPECT_EQ(next, row.next) << row.name;
    EXPECT_GE(next, row.begin + 500) << row.name;
  }
}

TEST(ObserverPace, MarksThatResetTheGuardAreNeverLeftOut) {
  Marks marks;
  marks.add(observe::started_mark);
  for (int i = 0; i < 150; ++i) marks.add("lease bench-" + std::to_string(i) + " ended");
  for (int i = 0; i < 150; ++i) marks.add(observe::guard_ended_mark);
  marks.add(observe::loaded_mark);
  const std::vector<std::string> taken = marks.take();
  ASSERT_EQ(taken.size(), 103U);
  EXPECT_EQ(taken[0], observe::started_mark);
  EXPECT_EQ(taken[100], observe::guard_ended_mark);
  EXPECT_EQ(taken[101], observe::loaded_mark);
  EXPECT_EQ(taken[102], "and 51 more");
  EXPECT_TRUE(marks.take().empty());
}

// The guard waits for drift.
TEST(ObserverPace, ThatThereWasDriftIsNotLeftOut) {
  Marks marks;
  for (int i = 0; i < 150; ++i) marks.add("lease bench-" + std::to_string(i) + " ended");
  for (const char* group : {"web", "batch"})
    marks.add(std::string("drift: group '") + group + "': MB:0=50, granted MB:0=100; restored");
  const std::vector<std::string> taken = marks.take();
  ASSERT_EQ(taken.size(), 102U);
  EXPECT_EQ(taken[100], "drift: more than is listed");
  EXPECT_EQ(taken[101], "and 52 more");
  // It does not wait for that of processes, which any user can cause.
  for (int i = 0; i < 150; ++i) marks.add("lease bench-" + std::to_string(i) + " ended");
  marks.add("drift: 1 thread was not in the group that the rules name; restored");
  EXPECT_EQ(marks.take().back(), "and 51 more");
}

}  // namespace
}  // namespace rdtd
