// The model kernel, pinned in tables. The scenario model-kernel compares it with the real one.
#include <gtest/gtest.h>

#include <cerrno>

#include "fake/kernel.hpp"
#include "fake/kernel_text.hpp"
#include "fake/processes.hpp"

namespace rdtd {
namespace {

using fake::Kernel;

// Writes to a file of a machine where group "g" has the ways 0-3 and "x" has the ways 8-11 for
// itself, and the root the others.
struct WriteCase {
  const char* description;
  const char* file;
  const char* text;
  int code;
  const char* status;  // info/last_cmd_status afterwards
};

Kernel machine_with_groups(fake::Machine machine = fake::xeon()) {
  return Kernel(std::move(machine));
}

void prepare_groups(Kernel& kernel) {
  ASSERT_TRUE(kernel.resctrl.make("g"));
  ASSERT_TRUE(kernel.resctrl.make("x"));
  ASSERT_TRUE(kernel.resctrl.write("schemata", "L3:0=ff000;1=ff000\n"));
  ASSERT_TRUE(kernel.resctrl.write("g/schemata", "L3:0=f;1=f\n"));
  ASSERT_TRUE(kernel.resctrl.write("x/schemata", "L3:0=f00;1=f00\n"));
  ASSERT_TRUE(kernel.resctrl.write("x/mode", "exclusive\n"));
  kernel.resctrl.add_task(70);
}

TEST(FakeKernel, AnswersWritesWithTheKernelsErrorsAndTexts) {
  const WriteCase cases[] = {
      {"two resources", "g/schemata", "L3:0=3\nMB:1=20\n", 0, "ok\n"},
      {"spaces", "g/schemata", "  L3 :0= 3 ;1=0x3\n", 0, "ok\n"},
      {"no line break", "g/schemata", "L3:0=3", EINVAL, "ok\n"},
      {"no colon", "g/schemata", "\n", EINVAL, "Missing ':'\n"},
      {"no value", "g/schemata", "L3:\n", EINVAL, "Missing 'L3' value\n"},
      {"resource", "g/schemata", "L2:0=3\n", EINVAL,
       "Unknown or unsupported resource name 'L2'\n"},
      {"no =", "g/schemata", "L3:0\n", EINVAL, "Missing '=' or non-numeric domain\n"},
      {"space before a domain", "g/schemata", "L3: 0=3\n", EINVAL,
       "Missing '=' or non-numeric domain\n"},
      {"unknown domain", "g/schemata", "L3:7=3\n", EINVAL, "ok\n"},
      {"domain twice", "g/schemata", "L3:0=3;0=3\n", EINVAL, "Duplicate domain 0\n"},
      {"no mask", "g/schemata", "L3:0=x\n", EINVAL, "Non-hex character in the mask x\n"},
      {"empty mask", "g/schemata", "L3:0=0\n", EINVAL, "Mask out of range\n"},
      {"too many ways", "g/schemata", "L3:0=100000\n", EINVAL, "Mask out of range\n"},
      {"gap", "g/schemata", "L3:0=5\n", EINVAL, "The mask 5 has non-consecutive 1-bits\n"},
      {"overlap with an exclusive group", "g/schemata", "L3:0=1f0\n", EINVAL,
       "Overlaps with exclusive group\n"},
      {"exclusive group overlaps", "x/schemata", "L3:1=f000\n", EINVAL,
       "Overlaps with other group\n"},
      {"low bandwidth", "g/schemata", "MB:0=5\n", EINVAL, "MB value 5 out of range [10,100]\n"},
      {"high bandwidth", "g/schemata", "MB:0=101\n", EINVAL,
       "MB value 101 out of range [10,100]\n"},
      {"no bandwidth", "g/schemata", "MB:0=a\n", EINVAL, "Invalid MB value a\n"},
      {"exclusive", "g/mode", "exclusive\n", 0, "ok\n"},
      {"unknown mode", "g/mode", "pseudo-locked\n", EINVAL, "Unknown or unsupported mode\n"},
      {"mode without line break", "g/mode", "exclusive", EINVAL, "ok\n"},
      {"pseudo-locking", "g/mode", "pseudo-locksetup\n", EINVAL, "Pseudo-locking not supported\n"},
      {"pseudo-locking the root", "mode", "pseudo-locksetup\n", EINVAL,
       "Cannot pseudo-lock default group\n"},
      {"CPUs", "g/cpus_list", "0-1\n", 0, "ok\n"},
      {"CPU mask", "g/cpus", "3\n", 0, "ok\n"},
      {"no CPUs", "g/cpus_list", "x\n", EINVAL, "Bad CPU list/mask\n"},
      {"CPU beyond the last", "g/cpus_list", "4\n", ERANGE, "Bad CPU list/mask\n"},
      {"drop from the root", "cpus_list", "0\n", EINVAL, "Can't drop CPUs from default group\n"},
      {"task", "g/tasks", "70\n", 0, "ok\n"},
      {"no task", "g/tasks", "70,71\n", ESRCH, "No task 71\nError while processing task 71\n"},
      {"no id", "g/tasks", "x\n", EINVAL, "Task list parsing error pid x\n"},
      {"negative id", "g/tasks", "-1\n", EINVAL, "Invalid pid -1\n"},
      {"size", "g/size", "1\n", EACCES, "ok\n"},
      {"info", "info/last_cmd_status", "1\n", EACCES, "ok\n"},
      {"long", "g/schemata", std::string(4097, '1').c_str(), E2BIG, "ok\n"},
  };
  for (const WriteCase& row : cases) {
    SCOPED_TRACE(row.description);
    Kernel kernel = machine_with_groups();
    prepare_groups(kernel);
    const auto written = kernel.resctrl.write(row.file, row.text);
    EXPECT_EQ(written ? 0 : written.error().code, row.code);
    EXPECT_EQ(*kernel.read("info/last_cmd_status"), row.status);
  }
}

}  // namespace
}  // namespace rdtd
