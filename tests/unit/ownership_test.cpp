#include "rdtd/resctrl/ownership.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "fake/kernel.hpp"
#include "files.hpp"

namespace rdtd {
namespace {

class OwnershipTest : public Files {
 protected:
  [[nodiscard]] Ownership load() const {
    return std::move(*Ownership::load(*Directory::open(root_.string())));
  }
  [[nodiscard]] std::string record() const {
    return Directory::open(root_.string())->read("groups").value_or("none");
  }
};

Snapshot with_inodes(std::map<std::string, uint64_t> inodes) {
  Snapshot out;
  out.inodes = std::move(inodes);
  return out;
}

TEST_F(OwnershipTest, RecordsNamesBeforeAndInodesAfterTheyAreMade) {
  Ownership ownership = load();
  EXPECT_EQ(record(), "none");
  ASSERT_TRUE(ownership.expect(std::vector<std::string>{"redis", "batch", ""}));
  EXPECT_EQ(record(), "default\nbatch\nredis\n");
  ownership.made("redis", 17);
  EXPECT_EQ(record(), "default\nbatch\nredis\n");
  ASSERT_TRUE(ownership.store());
  EXPECT_EQ(record(), "default\nbatch\nredis 17\n");
  ownership.forget("batch");
  ASSERT_TRUE(ownership.store());
  EXPECT_EQ(load().names(), (std::set<std::string>{"", "redis"}));
}

// A matching name proves nothing: another tool may have removed the group and made its own.
TEST_F(OwnershipTest, OwnsOnlyTheVeryGroup) {
  const struct {
    const char* name;
    const char* record;
    std::map<std::string, uint64_t> inodes;
    std::set<std::string> owned;
  } rows[] = {
      {"nothing recorded", "", {{"redis", 17}}, {}},
      {"the same group", "redis 17\n", {{"redis", 17}}, {"redis"}},
      {"made again by somebody else", "redis 17\n", {{"redis", 18}}, {}},
      {"gone", "redis 17\n", {}, {}},
      {"killed before the inode was recorded", "redis\n", {{"redis", 18}}, {"redis"}},
      {"the default group", "default\n", {}, {""}},
      {"a monitoring group",
       "redis/web 17\n",
       {{"redis/mon_groups/web", 17}},
       {"redis/mon_groups/web"}},
      {"one in the default group",
       "default/web 17\n",
       {{"mon_groups/web", 17}},
       {"mon_groups/web"}},
      {"lines that make no sense",
       "redis x\na b c\n\n 5\np/z/ 6\np/q/r 7\n/ 8\n",
       {{"redis", 5},
        {"a", 1},
        {"p/mon_groups/z/", 6},
        {"p/mon_groups/q/r", 7},
        {"mon_groups/", 8}},
       {}},
  };
  for (const auto& row : rows) {
    put("groups", row.record);
    EXPECT_EQ(load().owned(with_inodes(row.inodes)), row.owned) << row.name;
  }
}

// io_alloc has no inode: rdtd owns it from enabling it until it is found disabled.
TEST_F(OwnershipTest, OwnsWhatItEnabled) {
  put("groups", "info\n");
  Snapshot enabled;
  enabled.io = {{Resource::L3, {{DomainId{0}, 3}}}};
  EXPECT_EQ(load().owned(enabled), std::set{std::string(io_group)});
  Ownership ownership = load();
  EXPECT_EQ(ownership.owned(Snapshot{}), std::set<std::string>{});
  EXPECT_EQ(ownership.owned(enabled), std::set<std::string>{});
  ownership.own_io();
  EXPECT_EQ(ownership.owned(enabled), std::set{std::string(io_group)});
  ASSERT_TRUE(ownership.store());
  EXPECT_EQ(record(), "info\n");
}

// The monitoring group 'O' in the group 'I' has the label of the I/O devices.
TEST_F(OwnershipTest, TellsDevicesFromAMonitoringGroup) {
  Ownership ownership = load();
  ownership.made("I/mon_groups/O", 8);
  ASSERT_TRUE(ownership.store());
  EXPECT_EQ(record(), "I/O 8\n");
  Snapshot now = with_inodes({{"I/mon_groups/O", 8}});
  now.io = {{Resource::L3, {{DomainId{0}, 3}}}};
  EXPECT_EQ(load().owned(now), std::set<std::string>{"I/mon_groups/O"});
}

TEST_F(OwnershipTest, TakesTheInodeOfAnInterruptedStart) {
  put("groups", "redis\n");
  Ownership ownership = load();
  (void)ownership.owned(with_inodes({{"redis", 18}}));
  ASSERT_TRUE(ownership.store());
  EXPECT_EQ(record(), "redis 18\n");
}

// What rdtd was about to make when it was killed is its own only if nobody can have made it since.
TEST_F(OwnershipTest, SettlesOnceWhatAKillHasLeft) {
  put("groups",
      "default\nnever\nmade\ntaken\ngone 3\nagain 4\nredis "
      "17\nredis/web\nredis/unreadable\nredis/cpus\n");
  fake::Kernel kernel(fake::xeon());
  kernel.resctrl.add_task(70);
  std::map<std::string, uint64_t> inodes;
  for (const char* group : {"made", "taken", "redis", "redis/mon_groups/web",
                            "redis/mon_groups/cpus", "redis/mon_groups/unreadable"})
    ASSERT_TRUE(kernel.resctrl.make(group));
  for (const char* group : {"made", "taken", "redis"})
    inodes[group] = kernel.resctrl.find(group)->inode;
  ASSERT_TRUE(kernel.resctrl.write("taken/tasks", "70\n"));
  for (const auto& group : kernel.resctrl.find("redis")->mon_groups)
    inodes["redis/mon_groups/" + group.name] = group.inode;
  inodes["again"] = 5;
  inodes["redis"] = 17;
  Ownership ownership = load();
  ASSERT_TRUE(kernel.resctrl.write("redis/cpus_list", "0\n") &&
              kernel.resctrl.write("redis/mon_groups/cpus/cpus_list", "0\n"));
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.path == "redis/mon_groups/unreadable/tasks"; },
      ENOMEM);
  EXPECT_EQ(
      ownership.settle(with_inodes(inodes), kernel),
      (std::vector<std::string>{"redis/mon_groups/cpus", "redis/mon_groups/unreadable", "taken"}));
  EXPECT_EQ(record(), fmt::format("this mount 1000\ndefault\nmade {}\nredis 17\nredis/web {}\n",
                                  inodes["made"], inodes["redis/mon_groups/web"]));
  EXPECT_EQ(ownership.settle(with_inodes(inodes), kernel), std::vector<std::string>{});
}

// Another tool may make one of that name before the groups beside it can be listed again.
TEST_F(OwnershipTest, ANameWithoutAnInodeIsNotKeptForLater) {
  put("groups", "this mount 1000\nredis 17\nredis/kept 18\nredis/web\n");
  fake::Kernel kernel(fake::xeon());
  Snapshot now = with_inodes({{"redis", 17}});
  now.unread["redis"].names = {"mon_groups"};
  Ownership ownership = load();
  EXPECT_EQ(ownership.settle(now, kernel), std::vector<std::string>{});
  EXPECT_EQ(record(), "this mount 1000\nredis 17\nredis/kept 18\n");
  const Snapshot later =
      with_inodes({{"redis", 17}, {"redis/mon_groups/kept", 18}, {"redis/mon_groups/web", 19}});
  EXPECT_EQ(ownership.owned(later), (std::set<std::string>{"redis", "redis/mon_groups/kept"}));
}

// Inodes of resctrl begin at the same number in each mount, and a name has none at all.
TEST_F(OwnershipTest, ForgetsARecordOfAnotherMount) {
  put("groups", "this mount 900\ndefault\nredis 17\nmade\n");
  fake::Kernel kernel(fake::xeon());
  const Snapshot now = with_inodes({{"redis", 17}});
  Ownership ownership = load();
  EXPECT_FALSE(ownership.is_of(kernel));
  EXPECT_EQ(ownership.settle(now, kernel), std::vector<std::string>{});
  EXPECT_TRUE(ownership.is_of(kernel));
  EXPECT_EQ(ownership.owned(now), std::set<std::string>{});
  EXPECT_EQ(record(), "this mount 1000\n");
  EXPECT_TRUE(kernel.time_is_kept);
  ownership.made("redis", 17);
  ASSERT_TRUE(ownership.store());
  EXPECT_EQ(record(), "this mount 1000\nredis 17\n");
  EXPECT_TRUE(load().is_of(kernel));
  kernel.modified = 1001;
  EXPECT_FALSE(load().is_of(kernel));
}

// A record of an earlier version says nothing about the mount, and a kernel may refuse to keep the
// time: then names and inodes have to do.
TEST_F(OwnershipTest, KeepsARecordThatNamesNoMount) {
  for (const char* failing : {"", "info_time", "set_info_time"}) {
    put("groups", "redis 17\n");
    fake::Kernel kernel(fake::xeon());
    kernel.calls.fail_if([&](const fake::Call& call) { return call.operation == failing; }, EPERM);
    Ownership ownership = load();
    (void)ownership.settle(with_inodes({{"redis", 17}}), kernel);
    EXPECT_EQ(record(), std::string(*failing == 0 ? "this mount 1000\n" : "") + "redis 17\n")
        << failing;
    EXPECT_EQ(ownership.owned(with_inodes({{"redis", 17}})), std::set<std::string>{"redis"});
  }
}

// A failure to read is no other mount.
TEST_F(OwnershipTest, KeepsARecordOfAMountThatCannotBeRead) {
  put("groups", "this mount 900\nredis 17\n");
  fake::Kernel kernel(fake::xeon());
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "info_time"; }, EIO);
  EXPECT_TRUE(load().is_of(kernel));
}

// A record that cannot be written is an error before anything is made, and leaves no name behind.
TEST_F(OwnershipTest, WithoutARecordNothingIsExpected) {
  Ownership ownership = load();
  fs::create_directories(root_ / ".groups.new" / "occupied");
  EXPECT_FALSE(ownership.expect(std::vector<std::string>{"redis"}));
  EXPECT_TRUE(ownership.names().empty());
  fs::remove_all(root_ / ".groups.new");
  EXPECT_TRUE(ownership.expect(std::vector<std::string>{"redis"}));
}

// Else the next start takes the groups for those of another tool.
TEST_F(OwnershipTest, WritesAgainWhatSomebodyRemoved) {
  Ownership ownership = load();
  ASSERT_TRUE(ownership.store());
  EXPECT_EQ(record(), "none");
  ownership.made("redis", 17);
  ASSERT_TRUE(ownership.store());
  fs::remove(root_ / "groups");
  ASSERT_TRUE(ownership.store());
  EXPECT_EQ(record(), "redis 17\n");
  put("groups", "");
  ASSERT_TRUE(ownership.store());
  EXPECT_EQ(record(), "redis 17\n");
}

TEST_F(OwnershipTest, FollowsADirectoryThatWasMadeAgain) {
  Ownership ownership = load();
  ASSERT_TRUE(ownership.lock());
  ownership.made("redis", 17);
  ASSERT_TRUE(ownership.store());
  fs::remove_all(root_);
  EXPECT_FALSE(ownership.store());
  fs::create_directories(root_);
  ASSERT_TRUE(ownership.store());
  EXPECT_EQ(record(), "redis 17\n");
  EXPECT_EQ(load().lock().error().code, EWOULDBLOCK);
  ASSERT_TRUE(ownership.expect(std::vector<std::string>{"batch"}));
  EXPECT_EQ(record(), "batch\nredis 17\n");
}

// As root, rdtctl records the groups of a copy in a directory that another user may exchange.
TEST_F(OwnershipTest, WithoutTheLockItStaysInTheDirectoryThatWasOpened) {
  const fs::path copy = root_ / "copy", moved = root_ / "moved", of_root = root_ / "of-root";
  fs::create_directories(copy);
  fs::create_directories(of_root);
  Ownership ownership = *Ownership::load(*Directory::open(copy.string()));
  fs::rename(copy, moved);
  fs::create_directory_symlink(of_root, copy);
  ASSERT_TRUE(ownership.expect(std::vector<std::string>{"redis"}));
  EXPECT_TRUE(fs::is_empty(of_root));
  EXPECT_EQ(Directory::open(moved.string())->read("groups").value_or("none"), "redis\n");
}

// As under its unit, where only the directory itself is writable, and not the one above it.
TEST_F(OwnershipTest, SaysThatALockCannotBeMade) {
  const std::string directory = (root_ / "read-only").string();
  fs::create_directories(directory);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, "") != 0 ||
        ::mount("tmpfs", directory.c_str(), "tmpfs", MS_RDONLY, "") != 0)
      ::_exit(2);
    const auto locked = Ownership::load(*Directory::open(directory))->lock();
    ::_exit(!locked && locked.error().text() ==
                           "cannot open " + directory + "/lock: Read-only file system"
                ? 0
                : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no mounts here";
  EXPECT_EQ(status, 0);
}

// Another one that runs beside it has the groups now.
TEST_F(OwnershipTest, LeavesADirectoryToWhoHasLockedIt) {
  Ownership ownership = load();
  ASSERT_TRUE(ownership.lock());
  ownership.made("redis", 17);
  ASSERT_TRUE(ownership.store());
  fs::remove_all(root_);
  fs::create_directories(root_);
  Ownership other = load();
  ASSERT_TRUE(other.lock());
  for (int attempt = 0; attempt < 2; attempt++) {
    const auto stored = ownership.store();
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().code, EWOULDBLOCK);
  }
  EXPECT_EQ(record(), "none");
}

}  // namespace
}  // namespace rdtd
