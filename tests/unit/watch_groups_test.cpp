// The monitoring groups of `rdtctl watch` and `init`: where threads are put, and where they are
// afterwards.
#include "watch_groups.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fmt/format.h>

#include <memory>

#include "fake/kernel.hpp"
#include "fake/machine.hpp"
#include "fake/processes.hpp"

namespace rdtd {
namespace {

class WatchGroupsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kernel.resctrl.make("redis"));
    pid = processes.start({.exe = "/usr/bin/redis-server"});
    tid = processes.clone(pid);
    move(tid, "redis");
  }
  void move(pid_t thread, const std::string& group) {
    ASSERT_TRUE(kernel.resctrl.write(group + "/tasks", std::to_string(thread)));
  }
  [[nodiscard]] std::string group_of(pid_t thread) const {
    return kernel.resctrl.group_of(thread).value_or("none");
  }
  [[nodiscard]] bool exists(const std::string& group) {
    return kernel.resctrl.read(group + "/tasks").has_value();
  }
  fake::Kernel kernel{fake::xeon()};
  fake::Processes processes{kernel};
  pid_t pid = 0, tid = 0;
  const std::string in_default = fmt::format("mon_groups/rdtctl-watch-{}", ::getpid());
  const std::string in_redis = "redis/" + in_default;
};

TEST_F(WatchGroupsTest, OneBelowEachControlGroup) {
  {
    WatchGroups groups(kernel, processes);
    ASSERT_TRUE(groups.put({pid}));
    EXPECT_EQ(groups.directories(), (std::set<std::string>{in_default, in_redis}));
    EXPECT_EQ(group_of(pid), in_default);
    EXPECT_EQ(group_of(tid), in_redis);
    EXPECT_FALSE(kernel.locked());
  }
  EXPECT_EQ(group_of(pid), "");
  EXPECT_EQ(group_of(tid), "redis");
  EXPECT_FALSE(exists(in_default));
  EXPECT_FALSE(exists(in_redis));
}

// Also a thread that began meanwhile, which has its parent's group.
TEST_F(WatchGroupsTest, ThreadsGoBackToTheirMonitoringGroup) {
  ASSERT_TRUE(kernel.resctrl.make("redis/mon_groups/web"));
  move(tid, "redis/mon_groups/web");
  auto groups = std::make_unique<WatchGroups>(kernel, processes);
  ASSERT_TRUE(groups->put({pid}));
  EXPECT_EQ(group_of(tid), in_redis);
  groups.reset();
  EXPECT_EQ(group_of(tid), "redis/mon_groups/web");
  EXPECT_EQ(group_of(pid), "");
}

// The next call makes it again.
TEST_F(WatchGroupsTest, SomebodyElseRemovesTheGroup) {
  WatchGroups groups(kernel, processes);
  ASSERT_TRUE(groups.put({pid}));
  ASSERT_TRUE(kernel.resctrl.remove(in_redis));
  EXPECT_EQ(group_of(tid), "redis");
  ASSERT_TRUE(groups.put({pid}));
  ASSERT_TRUE(groups.put({pid}));
  EXPECT_EQ(group_of(tid), in_redis);
}

// A group that is gone already is no failure, and the others go all the same.
TEST_F(WatchGroupsTest, SomebodyElseRemovedItFirst) {
  auto groups = std::make_unique<WatchGroups>(kernel, processes);
  ASSERT_TRUE(groups->put({pid}));
  ASSERT_TRUE(kernel.resctrl.remove(in_default));
  testing::internal::CaptureStderr();
  groups.reset();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(exists(in_redis));
}

TEST_F(WatchGroupsTest, ErrorsSayWhatIsMissing) {
  const struct {
    int code;
    const char* text;
  } rows[] = {
      {ENOSPC, "no RMID is free: rdtctl info shows who holds them"},
      {EBUSY, "the free RMIDs are in limbo, until their lines leave the cache"},
  };
  for (const auto& row : rows) {
    kernel.calls.reset();
    kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "make"; }, row.code);
    WatchGroups groups(kernel, processes);
    const auto put = groups.put({pid});
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, row.code);
    EXPECT_EQ(put.error().detail, row.text);
    EXPECT_EQ(groups.directories(), std::set<std::string>{});
  }
}

TEST_F(WatchGroupsTest, ThoseOfEndedRunsGo) {
  const pid_t running = processes.start({.exe = "/usr/bin/rdtctl"});
  const pid_t other = processes.start({.exe = "/usr/bin/bash"});
  const std::string ended = "redis/mon_groups/rdtctl-watch-77";
  const std::string second = "mon_groups/rdtctl-watch-77-2";
  const std::string taken = fmt::format("mon_groups/rdtctl-watch-{}", other);
  const std::string kept[] = {fmt::format("mon_groups/rdtctl-watch-{}", running),
                              fmt::format("mon_groups/rdtctl-watch-{}-1", running),
                              "mon_groups/rdtctl-watch-x", "redis/mon_groups/web"};
  for (const std::string& group : {ended, second, taken, kept[0], kept[1], kept[2], kept[3]})
    ASSERT_TRUE(kernel.resctrl.make(group)) << group;
  WatchGroups::remove_left_behind(kernel, processes);
  for (const std::string& group : {ended, second, taken}) EXPECT_FALSE(exists(group)) << group;
  for (const std::string& group : kept) EXPECT_TRUE(exists(group)) << group;
}

// That a process cannot be examined does not say that it has ended.
TEST_F(WatchGroupsTest, WhatCannotBeExaminedStays) {
  const pid_t running = processes.start({.exe = "/usr/bin/rdtctl"});
  const std::string group = fmt::format("mon_groups/rdtctl-watch-{}", running);
  ASSERT_TRUE(kernel.resctrl.make(group));
  processes.calls.fail_if([](const fake::Call&) { return true; }, EMFILE);
  WatchGroups::remove_left_behind(kernel, processes);
  EXPECT_TRUE(exists(group));
}

}  // namespace
}  // namespace rdtd
