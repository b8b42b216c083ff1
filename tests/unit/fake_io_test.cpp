// The model kernel's io_alloc.
#include <gtest/gtest.h>

#include <cerrno>

#include "fake/resctrl.hpp"

namespace rdtd {
namespace {

// The rules of the kernel, which hold for the devices as for a group that shares.
TEST(FakeIo, Rules) {
  fake::Resctrl resctrl(fake::with_io_alloc(fake::amd()));
  const auto code = [](const fake::Answer<void>& answer) {
    return answer ? 0 : answer.error().code;
  };
  const auto status = [&] { return resctrl.read("info/last_cmd_status").value_or("?"); };
  EXPECT_EQ(resctrl.read("info/L3/io_alloc").value_or("?"), "disabled\n");
  EXPECT_EQ(resctrl.read("info/L3/io_alloc_cbm").error().code, EINVAL);
  EXPECT_EQ(status(), "io_alloc is not enabled on L3\n");
  EXPECT_EQ(code(resctrl.write("info/L3/io_alloc_cbm", "0=f\n")), EINVAL);
  EXPECT_EQ(code(resctrl.write("info/L3/io_alloc", "maybe\n")), EINVAL);
  EXPECT_EQ(status(), "io_alloc: Invalid input\n");

  ASSERT_TRUE(resctrl.make("db"));
  ASSERT_TRUE(resctrl.write("schemata", "L3:0=fff0\n"));
  ASSERT_TRUE(resctrl.write("db/schemata", "L3:0=f\n"));
  ASSERT_TRUE(resctrl.write("db/mode", "exclusive\n"));
  ASSERT_TRUE(resctrl.write("info/L3/io_alloc", "1\n"));
  EXPECT_EQ(resctrl.read("info/L3/io_alloc_cbm").value_or("?"), "0=fff0\n");
  EXPECT_EQ(code(resctrl.write("info/L3/io_alloc_cbm", "0=f\n")), EINVAL);
  EXPECT_EQ(status(), "Overlaps with exclusive group\n");
  EXPECT_EQ(code(resctrl.write("info/L3/io_alloc_cbm", "7=f\n")), EINVAL);
  ASSERT_TRUE(resctrl.write("info/L3/io_alloc_cbm", "0=f000\n"));
  EXPECT_EQ(resctrl.read("info/L3/bit_usage").value_or("?"), "0=XXXXSSSSSSSSEEEE\n");
  ASSERT_TRUE(resctrl.write("schemata", "L3:0=ff0\n"));
  EXPECT_EQ(resctrl.read("info/L3/bit_usage").value_or("?"), "0=HHHHSSSSSSSSEEEE\n");

  ASSERT_TRUE(resctrl.make("rt"));
  ASSERT_TRUE(resctrl.write("rt/schemata", "L3:0=f000\n"));
  EXPECT_EQ(code(resctrl.write("rt/mode", "exclusive\n")), EINVAL);
  EXPECT_EQ(status(), "Schemata overlaps\n");
  ASSERT_TRUE(resctrl.write("info/L3/io_alloc", "0\n"));
  ASSERT_TRUE(resctrl.write("rt/mode", "exclusive\n"));

  // Nobody has the files where the processor cannot.
  EXPECT_EQ(fake::Resctrl(fake::amd()).read("info/L3/io_alloc").error().code, ENOENT);
}

}  // namespace
}  // namespace rdtd
