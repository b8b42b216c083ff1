// The record of manual assignments, and what ends one, over processes made of plain values.
#include <gtest/gtest.h>

#include "fake/processes.hpp"
#include "files.hpp"
#include "rdtd/daemon/manual_assignments.hpp"

namespace rdtd {
namespace {

class ManualAssignmentsTest : public Files {
 protected:
  [[nodiscard]] ManualAssignments manual() const {
    return ManualAssignments(*Directory::open(root_.string()));
  }
  [[nodiscard]] std::string record() const {
    return Directory::open(root_.string())->read("by_hand").value_or("");
  }
  ManualAssignments::Held held(pid_t pid, std::string group, bool through_execs = false,
                               uid_t user = 0) {
    return {.process = std::move(*processes_.open(pid)),
            .group = std::move(group),
            .user = user,
            .through_execs = through_execs,
            .since = 100};
  }
  fake::Kernel kernel_{fake::xeon()};
  fake::Processes processes_{kernel_};
};

TEST_F(ManualAssignmentsTest, TakesUpTheRecord) {
  processes_.next_pid = 7;
  processes_.now = 5000;
  processes_.start({.name = "worker"});
  processes_.now = 6000;
  processes_.start({.name = "tar"});
  const struct {
    const char* name;
    const char* record;
    const char* of_7;  // group; "": left to the rules
    const char* of_8;
    bool after_exec;  // whether 8 stays where it is when it calls exec once more
  } rows[] = {
      {"none", "", "", "", false},
      {"the same program", "7 5000 this batch 0 worker\n", "batch", "", false},
      {"another program by now", "7 5000 this batch 0 shell\n", "", "", false},
      {"another process of that pid", "7 4999 this batch 0 worker\n", "", "", false},
      {"ended", "9 5000 this batch 0 worker\n", "", "", false},
      {"another program of the same process", "8 6000 all batch 0 rdtctl\n", "", "batch", true},
      {"as version 0.2 wrote it", "8 6000 next batch 0 tar\n", "", "batch", true},
      {"both", "7 5000 this a 0 worker\n8 6000 this b 0 tar\n", "a", "b", false},
      {"cut short", "7 5000 this batch 0\n8 6000", "", "", false},
      {"no numbers", "x 5000 this batch 0 worker\n7 y this batch 0 worker\n", "", "", false},
  };
  for (const auto& row : rows) {
    put("by_hand", row.record);
    ManualAssignments manual = this->manual();
    ASSERT_TRUE(manual.load(processes_)) << row.name;
    EXPECT_EQ(manual.group_of(7).value_or(""), row.of_7) << row.name;
    EXPECT_EQ(manual.group_of(8).value_or(""), row.of_8) << row.name;
    EXPECT_EQ(manual.exec(8, UINT64_MAX), row.after_exec) << row.name;
  }
}

TEST_F(ManualAssignmentsTest, EndsWithExec) {
  const struct {
    const char* name;
    bool through_execs;
    uint64_t timestamp;  // of the exec; the assignment was made at 100
    bool held_after, held_after_another;
  } rows[] = {{"its next exec", false, 101, false, false},
              {"an exec before the assignment, reported late", false, 99, true, false},
              {"of rdtctl run: a wrapper, then the command", true, 101, true, true},
              {"an exec before that, reported late", true, 99, true, true}};
  for (const auto& row : rows) {
    const pid_t pid = processes_.start({.name = "tar"});
    ManualAssignments manual = this->manual();
    ASSERT_FALSE(manual.add(held(pid, "batch", row.through_execs))) << row.name;
    EXPECT_EQ(manual.exec(pid, row.timestamp), row.held_after) << row.name;
    EXPECT_EQ(manual.group_of(pid).has_value(), row.held_after) << row.name;
    if (row.held_after) {
      EXPECT_EQ(manual.exec(pid, 200), row.held_after_another) << row.name;
    }
  }
}

// A program that renames itself is recognized by its new name, unless any program is meant.
TEST_F(ManualAssignmentsTest, Renamed) {
  for (const bool all : {false, true}) {
    processes_.next_pid = 7;
    processes_.now = 5000;
    const pid_t pid = processes_.start({.name = "node"});
    ManualAssignments manual = this->manual();
    ASSERT_FALSE(manual.add(held(pid, "batch", all)));
    processes_.rename(pid, "MainThread");
    manual.rename(pid);
    ASSERT_TRUE(manual.store());
    EXPECT_EQ(record(), all ? "7 5000 all batch 0 node\n" : "7 5000 this batch 0 MainThread\n");
    processes_.exit(pid);
  }
}

TEST_F(ManualAssignmentsTest, EndsWithItsProcess) {
  processes_.next_pid = 7;
  const pid_t pid = processes_.start({.name = "tar"});
  ManualAssignments manual = this->manual();
  ASSERT_FALSE(manual.add(held(pid, "batch")));
  processes_.exit(pid);
  processes_.next_pid = 7;
  processes_.start({.name = "tar"});
  EXPECT_EQ(manual.group_of(7), std::nullopt);
  EXPECT_TRUE(manual.all().empty());
}

// What could not be written is written by the next store.
TEST_F(ManualAssignmentsTest, ARecordThatCannotBeWrittenIsWrittenLater) {
  processes_.next_pid = 7;
  processes_.now = 5000;
  ManualAssignments manual = this->manual();
  ASSERT_FALSE(manual.add(held(processes_.start({.name = "tar"}), "batch")));
  put("by_hand/in the way", "");
  EXPECT_EQ(manual.store().error().code, EISDIR);
  fs::remove_all(root_ / "by_hand");
  EXPECT_TRUE(manual.store());
  EXPECT_EQ(record(), "7 5000 this batch 0 tar\n");
  // Who assigned what is not for everybody.
  EXPECT_EQ(fs::status(root_ / "by_hand").permissions(), fs::perms(0600));
}

// What one user holds does not keep others from their share.
TEST_F(ManualAssignmentsTest, IsLimitedPerUser) {
  ManualAssignments manual = this->manual();
  const auto add = [&](uid_t user) {
    return manual.add(held(processes_.start({.name = "tar"}), "batch", false, user));
  };
  for (size_t i = 0; i < ManualAssignments::max_per_user; i++) ASSERT_FALSE(add(1000)) << i;
  EXPECT_EQ(add(1000), "this user");
  EXPECT_EQ(add(1001), std::nullopt);
  EXPECT_EQ(add(0), std::nullopt);
  // Those that have ended make room.
  for (const auto& one : manual.all())
    if (one.user == 1000) processes_.exit(one.process->pid());
  EXPECT_EQ(add(1000), std::nullopt);
}

}  // namespace
}  // namespace rdtd
