// Who has a device open, on a /proc of a test's own: /dev/zero stands for the device.
#include "rdtd/proc/device_holders.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

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

// A process that does not let its memory map be read keeps the search going, and the caller free.
TEST_F(DeviceHoldersTest, HeldUp) {
  std::filesystem::remove(root_ / "proc/812/maps");
  ASSERT_EQ(::mkfifo((root_ / "proc/812/maps").c_str(), 0600), 0);
  proc::DeviceHolders holders((root_ / "proc").string(), (root_ / "devices").string(),
                              std::chrono::milliseconds(50));
  const std::string held_up =
      "process 812 keeps rdtd from seeing who has /dev/pseudo_lock/buffer open";
  EXPECT_EQ(holders.find("buffer"), held_up);
  EXPECT_EQ(holders.find("buffer"), held_up);  // without a second thread
  put("proc/812/maps", "");                    // a reader gets its end of file
}

}  // namespace
}  // namespace rdtd
