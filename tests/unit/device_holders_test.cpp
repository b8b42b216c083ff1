// Who has a device open, on a /proc of a test's own: /dev/zero stands for the device.
#include "rdtd/proc/device_holders.hpp"

#include <gtest/gtest.h>

#include <thread>

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
      put(std::string("proc/") + pid + "/maps",
          "7f00-7f10 rw-s 00000000 08:01 12 /tmp/pseudo_lock/buffer\n");
      std::filesystem::create_directories(root_ / "proc" / pid / "fd");
    }
  }
  [[nodiscard]] std::string find() {
    proc::DeviceHolders holders((root_ / "proc").string(), (root_ / "devices").string(),
                                std::chrono::seconds(20));
    return holders.find("buffer").value_or("nobody");
  }
  void open_in_812(const char* target) {
    std::filesystem::create_symlink(target, root_ / "proc/812/fd/3");
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

// Who opened only the name of the device, which anybody may, does not use it.
TEST_F(DeviceHoldersTest, OnlyTheName) {
  open_in_812("/dev/zero");
  put("proc/812/fdinfo/3", "pos:\t0\nflags:\t010000000\nmnt_id:\t20\n");
  EXPECT_EQ(find(), "nobody");
  put("proc/812/fdinfo/3", "pos:\t0\nflags:\t0100002\nmnt_id:\t20\n");
  EXPECT_EQ(find(), "process 812 (app) has /dev/pseudo_lock/buffer open");
}

// The first thread of a process may end before the others.
TEST_F(DeviceHoldersTest, WithoutItsFirstThread) {
  put("proc/812/cmdline", "");
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
