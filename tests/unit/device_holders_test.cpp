// Who has a device open, on a /proc of a test's own: /dev/zero stands for the device.
#include "rdtd/proc/device_holders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "rdtd/base/unique_fd.hpp"
#include "unit/files.hpp"

namespace rdtd {
namespace {

class DeviceHoldersTest : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    put("proc/1/mountinfo", "22 1 0:6 / /dev rw - devtmpfs udev rw\n");
    put("devices/buffer/dev", "1:5\n");
    for (const char* pid : {"1", "812"}) {
      put(std::string("proc/") + pid + "/comm", "app\n");
      put(std::string("proc/") + pid + "/status", status(2201, 2201));
      put(std::string("proc/") + pid + "/maps",
          "7f00-7f10 rw-s 00000000 08:01 12 /tmp/pseudo_lock/buffer\n");
      std::filesystem::create_directories(root_ / "proc" / pid / "fd");
    }
  }
  [[nodiscard]] std::string find(
      std::chrono::milliseconds of_user = proc::DeviceHolders::default_of_user) {
    proc::DeviceHolders holders((root_ / "proc").string(), (root_ / "devices").string(),
                                std::chrono::seconds(20), of_user);
    return holders.find("buffer").value_or("nobody");
  }
  static std::string status(uid_t user, gid_t group, const char* state = "S (sleeping)") {
    return fmt::format(
        "Name:\tapp\nState:\t{0}\nTgid:\t812\nUid:\t{1}\t{1}\t{1}\t{1}\nGid:\t9\t9\t9\t9\n"
        "Groups:\t7 {2} \n",
        state, user, group);
  }
  void open_in_812(const char* target) {
    std::filesystem::create_symlink(target, root_ / "proc/812/fd/3");
    put("proc/812/fdinfo/3", "pos:\t0\nflags:\t0100002\n");
  }
};

TEST_F(DeviceHoldersTest, Nobody) {
  open_in_812("/dev/null");
  EXPECT_EQ(find(), "nobody");
}

TEST_F(DeviceHoldersTest, ADescriptor) {
  open_in_812("/dev/zero");
  EXPECT_EQ(find(), "process 812 (app) has /dev/pseudo_lock/buffer open");
}

// A descriptor is not needed any more once the device is mapped. A file of that name elsewhere is
// no device.
TEST_F(DeviceHoldersTest, AMap) {
  put("proc/812/maps", "7f00-7f10 rw-s 00000000 00:06 731 /dev/pseudo_lock/buffer\n");
  EXPECT_EQ(find(), "process 812 (app) has /dev/pseudo_lock/buffer open");
}

// A user chooses the path of a file.
TEST_F(DeviceHoldersTest, AMapOfAFileThatIsNamedLikeTheLine) {
  put("proc/812/maps", "7f00-7f10 rw-s 00000000 08:01 12 /tmp/x 00:06 /pseudo_lock/buffer\n");
  EXPECT_EQ(find(), "nobody");
}

// Who keeps a map from being read has the device open only if its ids permit it.
TEST_F(DeviceHoldersTest, AMapThatIsHeldUp) {
  put("proc/1/root/dev/pseudo_lock/buffer", "");
  const std::string device = root_.string() + "/proc/1/root/dev/pseudo_lock/buffer";
  const std::string map = root_.string() + "/proc/812/maps";
  // As a read that takes too long, an open in the way of a lease gets EAGAIN.
  const UniqueFd lease(::open(map.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_NE(std::signal(SIGIO, SIG_IGN), SIG_ERR);
  if (::fcntl(lease.get(), F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << "no leases here";
  const std::string held_up =
      "process 812 (app) keeps its memory map from being read, and may have "
      "/dev/pseudo_lock/buffer open: end it, or remove the region's directory with rmdir(1)";
  const struct {
    uid_t user;
    gid_t group;
    mode_t mode;
    std::string found;
  } rows[] = {
      {2201, 2201, 0600, "nobody"}, {2201, ::getgid(), 0600, "nobody"},
      {0, 2201, 0600, held_up},     {::getuid(), 2201, 0600, held_up},
      {2201, 2201, 0660, "nobody"}, {2201, ::getgid(), 0660, held_up},
      {2201, 2201, 0666, held_up},
  };
  for (const auto& row : rows) {
    put("proc/812/status", status(row.user, row.group));
    ASSERT_EQ(::chmod(device.c_str(), row.mode), 0);
    EXPECT_EQ(find(), row.found) << row.user << ' ' << row.group << ' ' << row.mode;
  }
  // Whose the device is cannot be seen.
  std::filesystem::remove(device);
  put("proc/812/status", status(2201, 2201));
  EXPECT_EQ(find(), held_up);
}

// It may have got the device from another process, as a service does from systemd.
TEST_F(DeviceHoldersTest, AMapOfAProcessThatCouldNotOpenTheDevice) {
  put("proc/1/root/dev/pseudo_lock/buffer", "");
  std::filesystem::permissions(root_ / "proc/1/root/dev/pseudo_lock/buffer",
                               std::filesystem::perms::owner_read);
  put("proc/812/maps", "7f00-7f10 rw-s 00000000 00:06 731 /dev/pseudo_lock/buffer\n");
  EXPECT_EQ(find(), "process 812 (app) has /dev/pseudo_lock/buffer open");
}

// A user can have so many descriptors open that looking at them takes minutes, and can start a
// set-uid program with them.
TEST_F(DeviceHoldersTest, ProcessesThatCouldNotOpenTheDeviceHaveLimitedTime) {
  put("proc/1/root/dev/pseudo_lock/buffer", "");
  std::filesystem::permissions(root_ / "proc/1/root/dev/pseudo_lock/buffer",
                               std::filesystem::perms::owner_read);
  open_in_812("/dev/zero");
  const std::string holder = "process 812 (app) has /dev/pseudo_lock/buffer open";
  const auto owner = std::to_string(::getuid());
  const struct {
    std::string users;  // real, effective, saved, of filesystems
    int milliseconds;
    std::string found;
  } rows[] = {
      {"2201\t2201\t2201\t2201", 200, holder},
      {"2201\t2201\t2201\t2201", 0, "nobody"},
      {"2201\t0\t0\t0", 200, holder},
      {"2201\t0\t0\t0", 0, "nobody"},
      {owner + "\t2201\t2201\t2201", 0, holder},
      {"0\t0\t0\t0", 0, holder},
  };
  for (const auto& row : rows) {
    put("proc/812/status", "Name:\tapp\nState:\tS (sleeping)\nUid:\t" + row.users +
                               "\nGid:\t9\t9\t9\t9\nGroups:\t \n");
    EXPECT_EQ(find(std::chrono::milliseconds(row.milliseconds)), row.found) << row.users;
  }
}

// A user can be in so many groups that each read of `status` takes long. The maps have a time of
// their own.
TEST_F(DeviceHoldersTest, LongReadsOfStatusCountAsTimeOfTheUser) {
  put("proc/1/root/dev/pseudo_lock/buffer", "");
  std::filesystem::permissions(root_ / "proc/1/root/dev/pseudo_lock/buffer",
                               std::filesystem::perms::owner_read);
  open_in_812("/dev/zero");
  std::string groups;
  for (int i = 0; i < 2'000'000; i++) groups += " 65536";
  const std::string holder = "process 812 (app) has /dev/pseudo_lock/buffer open";
  const std::chrono::milliseconds of_user(30);
  EXPECT_EQ(find(of_user), holder);
  for (const char* pid : {"1", "812"})
    put(std::string("proc/") + pid + "/status",
        "Name:\tapp\nState:\tS (sleeping)\nUid:\t2201\t2201\t2201\t2201\n"
        "Gid:\t9\t9\t9\t9\nGroups:\t" +
            groups + " \n");
  EXPECT_EQ(find(of_user), "nobody");
  EXPECT_EQ(find(std::chrono::seconds(100)), holder);
  put("proc/812/maps", "7f00-7f10 rw-s 00000000 00:06 731 /dev/pseudo_lock/buffer\n");
  EXPECT_EQ(find(of_user), holder);
}

TEST_F(DeviceHoldersTest, ANumberThatCannotBeRead) {
  put("devices/buffer/dev", "1\n");
  EXPECT_EQ(find(), "it cannot be seen who has /dev/pseudo_lock/buffer open: cannot parse " +
                        root_.string() + "/devices/buffer/dev: Bad message");
}

// A full table of files is no reason to believe that nobody has the device open.
TEST_F(DeviceHoldersTest, NoMoreFiles) {
  open_in_812("/dev/zero");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  for (rlim_t most = 3; most < 100; most++) {
    const rlimit full{most, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &full), 0);
    EXPECT_NE(find(), "nobody") << most;
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(DeviceHoldersTest, NoDevice) {
  open_in_812("/dev/zero");
  std::filesystem::remove_all(root_ / "devices/buffer");
  EXPECT_EQ(find(), "nobody");
}

// A search that takes longer than the caller waits serves a later question.
TEST_F(DeviceHoldersTest, LongSearch) {
  open_in_812("/dev/zero");
  proc::DeviceHolders holders((root_ / "proc").string(), (root_ / "devices").string(),
                              std::chrono::milliseconds(0));
  std::string answer;
  for (int i = 0; i < 2000 && !answer.starts_with("process"); i++) {
    answer = holders.find("buffer").value_or("nobody");
    EXPECT_TRUE(answer.starts_with("process") ||
                answer.starts_with("it is not known yet who has /dev/pseudo_lock/buffer open; "))
        << answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(answer, "process 812 (app) has /dev/pseudo_lock/buffer open");
}

// A load may ask about several devices in turn, each search longer than it waits: each answer stays
// known while the others are found.
TEST_F(DeviceHoldersTest, LongSearchesOfTwoDevices) {
  open_in_812("/dev/zero");
  put("devices/spare/dev", "1:9\n");
  for (int pid = 1000; pid < 1400; pid++) {
    const std::string process = "proc/" + std::to_string(pid);
    put(process + "/status", status(2201, 2201));
    put(process + "/maps", "");
    std::filesystem::create_directories(root_ / process / "fd");
  }
  proc::DeviceHolders holders((root_ / "proc").string(), (root_ / "devices").string(),
                              std::chrono::milliseconds(0));
  const auto not_yet = [&](const std::string& name) {
    const std::string answer = holders.find(name).value_or("nobody");
    return answer.starts_with("it is not known yet who has /dev/pseudo_lock/" + name + " open; ");
  };
  EXPECT_TRUE(not_yet("buffer"));
  EXPECT_TRUE(not_yet("spare"));  // while the other search goes on
  bool both = false;
  for (int i = 0; i < 400 && !both; i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const bool first = !not_yet("buffer"), second = !not_yet("spare");
    both = first && second;
  }
  EXPECT_TRUE(both);
  EXPECT_EQ(holders.find("buffer"), "process 812 (app) has /dev/pseudo_lock/buffer open");
  EXPECT_EQ(holders.find("spare"), std::nullopt);
}

// Who opened only the name of the device, which anybody may, does not use it.
TEST_F(DeviceHoldersTest, OnlyTheName) {
  open_in_812("/dev/zero");
  put("proc/812/fdinfo/3", "pos:\t0\nflags:\t010000000\n");
  EXPECT_EQ(find(), "nobody");
}

// A program may exchange the name of the device, which anybody may open, for another file between
// two looks.
TEST_F(DeviceHoldersTest, AnotherFileMeanwhile) {
  open_in_812("/dev/zero");
  struct statx device{};
  ASSERT_EQ(::statx(AT_FDCWD, "/dev/zero", 0, STATX_INO | STATX_MNT_ID, &device), 0);
  const auto info = [](uint64_t mount, uint64_t inode) {
    return fmt::format("pos:\t0\nflags:\t0100002\nmnt_id:\t{}\nino:\t{}\n", mount, inode);
  };
  const struct {
    uint64_t mount, inode;
    const char* found;
  } rows[] = {
      {device.stx_mnt_id, device.stx_ino, "process 812 (app) has /dev/pseudo_lock/buffer open"},
      {device.stx_mnt_id, device.stx_ino + 1, "nobody"},
      {device.stx_mnt_id + 1, device.stx_ino, "nobody"},
  };
  for (const auto& row : rows) {
    put("proc/812/fdinfo/3", info(row.mount, row.inode));
    EXPECT_EQ(find(), row.found);
  }
  std::filesystem::remove(root_ / "proc/812/fdinfo/3");
  EXPECT_EQ(find(), "nobody");
}

// The first thread of a process may end before the others.
TEST_F(DeviceHoldersTest, WithoutItsFirstThread) {
  put("proc/812/status", status(2201, 2201, "Z (zombie)"));
  put("proc/812/maps", "");
  put("proc/812/task/813/maps", "7f00-7f10 rw-s 00000000 00:06 731 /dev/pseudo_lock/buffer\n");
  EXPECT_EQ(find(), "process 812 (app) has /dev/pseudo_lock/buffer open");
}

// What cannot be read is not taken for unused.
TEST_F(DeviceHoldersTest, Unreadable) {
  std::filesystem::remove(root_ / "proc/812/maps");
  std::filesystem::create_directory(root_ / "proc/812/maps");
  EXPECT_EQ(find(),
            "process 812 (app) cannot be examined: it may have /dev/pseudo_lock/buffer open");
}

}  // namespace
}  // namespace rdtd
