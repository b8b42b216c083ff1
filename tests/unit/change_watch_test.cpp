// ChangeWatch, on a tree of files: inotify reports writes to them as it does those of resctrl.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "files.hpp"
#include "rdtd/resctrl/change_watch.hpp"

namespace rdtd::resctrl {
namespace {

using Groups = std::set<std::string>;

class ChangeWatchTest : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    // A watch is set through /proc/self/fd. A chroot that builds a package may have no /proc.
    if (!fs::exists("/proc/self")) GTEST_SKIP() << "/proc is not mounted";
    for (const char* group : {"", "redis/", "batch/"}) make(group);
  }
  void make(const std::string& group) {
    for (const char* file : {"schemata", "mode", "cpus", "cpus_list", "tasks"})
      put(group + file, "");
    fs::create_directory(root_ / (group + "mon_groups"));
  }
  // Writes to a file that exists.
  void change(const std::string& file) { std::ofstream(root_ / file) << "x" << std::flush; }
  ChangeWatch watch(const Groups& groups) {
    auto out = ChangeWatch::open(root_.string());
    EXPECT_TRUE(out && out->watch(groups));
    return std::move(*out);
  }
};

TEST_F(ChangeWatchTest, NamesTheGroupsThatWereChanged) {
  ChangeWatch changes = watch({"", "redis"});
  EXPECT_EQ(changes.read_changes().groups, Groups{});
  change("redis/schemata");
  change("redis/mode");
  EXPECT_EQ(changes.read_changes().groups, Groups{"redis"});
  change("cpus");
  change("redis/cpus_list");
  EXPECT_EQ(changes.read_changes().groups, (Groups{"", "redis"}));
  // These say nothing of what was granted.
  change("redis/tasks");
  change("batch/tasks");
  const ChangeWatch::Changes none = changes.read_changes();
  EXPECT_EQ(none.groups, Groups{});
  EXPECT_FALSE(none.others);
}

TEST_F(ChangeWatchTest, TellsThatGroupsOfOthersWereChanged) {
  ChangeWatch changes = watch({"", "redis"});
  for (const char* const file : {"batch/schemata", "batch/mode", "batch/cpus", "batch/cpus_list"}) {
    change(file);
    const ChangeWatch::Changes found = changes.read_changes();
    EXPECT_EQ(found.groups, Groups{});
    EXPECT_TRUE(found.others) << file;
  }
  // One that comes is named, and watched from the next call on.
  make("pqos/");
  EXPECT_EQ(changes.read_changes().groups, Groups{"pqos"});
  // It may have changed in between.
  EXPECT_EQ(changes.watch({"", "redis"}).value_or(false), true);
  EXPECT_EQ(changes.watch({"", "redis"}).value_or(true), false);
  change("pqos/schemata");
  EXPECT_TRUE(changes.read_changes().others);
  EXPECT_FALSE(changes.read_changes().others);
}

TEST_F(ChangeWatchTest, NamesTheDevices) {
  fs::create_directories(root_ / "info/L3");
  put("info/L3/io_alloc", "");
  put("info/L3/io_alloc_cbm", "");
  ChangeWatch changes = watch({"", "info"});
  change("info/L3/io_alloc");
  change("info/L3/io_alloc_cbm");
  EXPECT_EQ(changes.read_changes().groups, Groups{"info"});
}

TEST_F(ChangeWatchTest, NamesGroupsThatComeAndGo) {
  ChangeWatch changes = watch({"", "redis"});
  fs::create_directory(root_ / "pqos");
  EXPECT_EQ(changes.read_changes().groups, Groups{"pqos"});
  fs::remove_all(root_ / "redis");
  EXPECT_EQ(changes.read_changes().groups, Groups{"redis"});
  make("redis/");
  EXPECT_EQ(changes.read_changes().groups, Groups{"redis"});
  // Another group of that name is watched once it is given again.
  change("redis/schemata");
  EXPECT_EQ(changes.read_changes().groups, Groups{});
  ASSERT_TRUE(changes.watch({"", "redis"}));
  change("redis/schemata");
  EXPECT_EQ(changes.read_changes().groups, Groups{"redis"});
}

TEST_F(ChangeWatchTest, NamesTheControlGroupOfAMonitoringGroup) {
  ChangeWatch changes = watch({"", "redis"});
  fs::create_directory(root_ / "redis/mon_groups/web");
  EXPECT_EQ(changes.read_changes().groups, Groups{"redis"});
  fs::remove(root_ / "redis/mon_groups/web");
  EXPECT_EQ(changes.read_changes().groups, Groups{"redis"});
  fs::create_directory(root_ / "mon_groups/web");
  EXPECT_EQ(changes.read_changes().groups, Groups{""});
  fs::create_directory(root_ / "batch/mon_groups/web");
  EXPECT_EQ(changes.read_changes().groups, Groups{});
  fs::rename(root_ / "batch/mon_groups/web", root_ / "redis/mon_groups/web");
  EXPECT_EQ(changes.read_changes().groups, Groups{"redis"});
  fs::rename(root_ / "redis/mon_groups/web", root_ / "batch/mon_groups/web");
  EXPECT_EQ(changes.read_changes().groups, Groups{"redis"});
}

// What is mounted over resctrl, or moved to its path, is something else.
TEST_F(ChangeWatchTest, StaysWithItsDirectory) {
  ChangeWatch changes = watch({""});
  const fs::path before = root_.string() + "-before";
  fs::rename(root_, before);
  make("");
  ASSERT_TRUE(changes.watch({"", "redis"}));
  std::ofstream(before / "redis/schemata") << "x" << std::flush;
  EXPECT_EQ(changes.read_changes().groups, Groups{"redis"});
  fs::remove_all(before);
}

TEST_F(ChangeWatchTest, WatchesTheGroupsThatAreGiven) {
  ChangeWatch changes = watch({"", "redis"});
  ASSERT_TRUE(changes.watch({"batch", "no-such-group"}));
  (void)changes.read_changes();
  change("redis/schemata");
  change("schemata");
  change("batch/schemata");
  EXPECT_EQ(changes.read_changes().groups, Groups{"batch"});
}

TEST(ChangeWatch, NeedsTheDirectory) {
  const auto watch = ChangeWatch::open("/nonexistent/resctrl");
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().text(), "cannot watch /nonexistent/resctrl: No such file or directory");
}

}  // namespace
}  // namespace rdtd::resctrl
