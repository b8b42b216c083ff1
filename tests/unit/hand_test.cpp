// The record of what was assigned by hand, read back beside a folder that looks like /proc.
#include <gtest/gtest.h>

#include "files.hpp"
#include "rdtd/daemon/hand_assignments.hpp"

namespace rdtd {
namespace {

using HandAssignmentsTest = Files;

TEST_F(HandAssignmentsTest, TakesUpTheRecord) {
  // Process 7 is "worker", and its name in `stat` has what separates the fields; 8 is the program
  // that "rdtctl" became.
  put("proc/7/comm", "worker\n");
  put("proc/7/stat",
      "7 (wor) ker) S 1 7 7 0 -1 4194560 109 0 0 0 0 0 0 0 20 0 1 0 5000 2000 300\n");
  put("proc/8/comm", "tar\n");
  put("proc/8/stat", "8 (tar) S 1 8 8 0 -1 4194560 109 0 0 0 0 0 0 0 20 0 1 0 6000 2000 300\n");
  const struct {
    const char* name;
    const char* record;
    const char* of_7;  // group; "": left to the rules
    const char* of_8;
    bool after_exec;  // whether 8 stays where it is when it calls exec once more
  } rows[] = {
      {"none", "", "", "", false},
      {"the same program", "7 5000 this batch worker\n", "batch", "", false},
      {"another program by now", "7 5000 this batch shell\n", "", "", false},
      {"another process of that pid", "7 4999 this batch worker\n", "", "", false},
      {"ended", "9 5000 this batch worker\n", "", "", false},
      {"the program that it was for has begun", "8 6000 next batch rdtctl\n", "", "batch", false},
      {"it has still to begin", "8 6000 next batch tar\n", "", "batch", true},
      {"both", "7 5000 this a worker\n8 6000 this b tar\n", "a", "b", false},
      {"cut short", "7 5000 this batch\n8 6000", "", "", false},
      {"no numbers", "x 5000 this batch worker\n7 y this batch worker\n", "", "", false},
  };
  for (const auto& row : rows) {
    put("run/by_hand", row.record);
    const ProcFs proc(*Directory::open((root_ / "proc").string()));
    HandAssignments hand(*Directory::open((root_ / "run").string()));
    ASSERT_TRUE(hand.load(proc)) << row.name;
    EXPECT_EQ(hand.group_of(7).value_or(""), row.of_7) << row.name;
    EXPECT_EQ(hand.group_of(8).value_or(""), row.of_8) << row.name;
    EXPECT_EQ(hand.hold(7), *row.of_7 != '\0') << row.name;
    EXPECT_EQ(hand.exec(8), row.after_exec) << row.name;
  }
}

// A program that renames itself is known again by its new name; while an exec is awaited the name
// tells whether it has come.
TEST_F(HandAssignmentsTest, Renamed) {
  put("proc/7/comm", "node\n");
  put("proc/7/stat", "7 (node) S 1 7 7 0 -1 4194560 109 0 0 0 0 0 0 0 20 0 1 0 5000 2000 300\n");
  put("run/groups", "");
  const ProcFs proc(*Directory::open((root_ / "proc").string()));
  const struct {
    bool for_next_program;
    const char* record;
  } rows[] = {{false, "7 5000 this batch MainThread\n"}, {true, "7 5000 next batch node\n"}};
  for (const auto& row : rows) {
    put("proc/7/comm", "node\n");
    HandAssignments hand(*Directory::open((root_ / "run").string()));
    ASSERT_TRUE(hand.add(*proc.open(7), "batch", row.for_next_program));
    put("proc/7/comm", "MainThread\n");
    hand.rename(7);
    ASSERT_TRUE(hand.store());
    EXPECT_EQ(Directory::open((root_ / "run").string())->read("by_hand").value_or(""), row.record);
  }
}

TEST_F(HandAssignmentsTest, WritesWhatItReads) {
  put("proc/7/comm", "a b\n");
  put("proc/7/stat", "7 (a b) S 1 7 7 0 -1 4194560 109 0 0 0 0 0 0 0 20 0 1 0 5000 2000 300\n");
  put("run/groups", "");
  const ProcFs proc(*Directory::open((root_ / "proc").string()));
  HandAssignments hand(*Directory::open((root_ / "run").string()));
  ASSERT_TRUE(hand.load(proc));  // there is no record yet
  ASSERT_TRUE(hand.add(*proc.open(7), "batch", false));
  ASSERT_TRUE(hand.store());
  EXPECT_EQ(Directory::open((root_ / "run").string())->read("by_hand").value_or(""),
            "7 5000 this batch a b\n");
  hand.clear();
  ASSERT_TRUE(hand.store());
  EXPECT_EQ(Directory::open((root_ / "run").string())->read("by_hand").value_or("x"), "");
}

}  // namespace
}  // namespace rdtd
