// The model kernel, pinned in tables. The scenario model-kernel compares it with the real one.
#include <gtest/gtest.h>

#include <cerrno>

#include "fake/kernel.hpp"
#include "fake/kernel_text.hpp"
#include "fake/processes.hpp"

namespace rdtd {
namespace {

using fake::Calls;
using fake::Kernel;
using fake::Resctrl;
using Strings = std::vector<std::string>;

int code_of(const fake::Answer<void>& answer) { return answer ? 0 : answer.error().code; }

// Group "g" has the ways 0-3, "x" has the ways 8-11 for itself, the root has the ways 12-19.
void divide(Resctrl& resctrl) {
  EXPECT_TRUE(resctrl.make("g"));
  EXPECT_TRUE(resctrl.make("x"));
  EXPECT_TRUE(resctrl.write("schemata", "L3:0=ff000;1=ff000\n"));
  EXPECT_TRUE(resctrl.write("g/schemata", "L3:0=f;1=f\n"));
  EXPECT_TRUE(resctrl.write("x/schemata", "L3:0=f00;1=f00\n"));
  EXPECT_TRUE(resctrl.write("x/mode", "exclusive\n"));
  resctrl.add_task(70);
}

struct WriteCase {
  const char* description;
  const char* file;
  std::string text;
  int code;
  const char* status;  // info/last_cmd_status afterwards
};

void check_writes(std::initializer_list<WriteCase> cases) {
  for (const WriteCase& row : cases) {
    SCOPED_TRACE(row.description);
    Resctrl resctrl(fake::xeon());
    divide(resctrl);
    EXPECT_EQ(code_of(resctrl.write(row.file, row.text)), row.code);
    EXPECT_EQ(*resctrl.read("info/last_cmd_status"), row.status);
  }
}
TEST(FakeResctrl, ParsesSchemataAsTheKernel) {
  check_writes({
      {"two resources", "g/schemata", "L3:0=3\nMB:1=20\n", 0, "ok\n"},
      {"spaces", "g/schemata", "  L3 :0= 3 ;1=0x3\n", 0, "ok\n"},
      {"no line break", "g/schemata", "L3:0=3", EINVAL, "ok\n"},
      {"no colon", "g/schemata", "\n", EINVAL, "Missing ':'\n"},
      {"no value", "g/schemata", "L3:\n", EINVAL, "Missing 'L3' value\n"},
      {"resource", "g/schemata", "L2:0=3\n", EINVAL, "Unknown or unsupported resource name 'L2'\n"},
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
      {"an exclusive group overlaps", "x/schemata", "L3:1=f000\n", EINVAL,
       "Overlaps with other group\n"},
      {"low bandwidth", "g/schemata", "MB:0=5\n", EINVAL, "MB value 5 out of range [10,100]\n"},
      {"high bandwidth", "g/schemata", "MB:0=101\n", EINVAL,
       "MB value 101 out of range [10,100]\n"},
      {"no bandwidth", "g/schemata", "MB:0=a\n", EINVAL, "Invalid MB value a\n"},
      {"more than a page", "g/schemata", std::string(4097, '1'), E2BIG, "ok\n"},
  });
}

TEST(FakeResctrl, AnswersOtherWritesAsTheKernel) {
  check_writes({
      {"exclusive", "g/mode", "exclusive\n", 0, "ok\n"},
      {"unknown mode", "g/mode", "pseudo-locked\n", EINVAL, "Unknown or unsupported mode\n"},
      {"mode without line break", "g/mode", "exclusive", EINVAL, "ok\n"},
      {"pseudo-locking", "g/mode", "pseudo-locksetup\n", EINVAL, "Pseudo-locking not supported\n"},
      {"pseudo-locking the root", "mode", "pseudo-locksetup\n", EINVAL,
       "Cannot pseudo-lock default group\n"},
      {"CPUs", "g/cpus_list", "0-1\n", 0, "ok\n"},
      {"CPU mask", "g/cpus", "3\n", 0, "ok\n"},
      {"no CPU list", "g/cpus_list", "x\n", EINVAL, "Bad CPU list/mask\n"},
      {"CPU beyond the last", "g/cpus_list", "4\n", ERANGE, "Bad CPU list/mask\n"},
      {"drop from the root", "cpus_list", "0\n", EINVAL, "Can't drop CPUs from default group\n"},
      {"task", "g/tasks", "70\n", 0, "ok\n"},
      {"no task", "g/tasks", "70,71\n", ESRCH, "No task 71\nError while processing task 71\n"},
      {"no id", "g/tasks", "x\n", EINVAL, "Task list parsing error pid x\n"},
      {"negative id", "g/tasks", "-1\n", EINVAL, "Invalid pid -1\n"},
      {"size", "g/size", "1\n", EACCES, "ok\n"},
      {"info", "info/last_cmd_status", "1\n", EACCES, "ok\n"},
      {"directory", "g", "1\n", EISDIR, "ok\n"},
      {"no group", "none/schemata", "L3:0=1\n", ENOENT, "ok\n"},
  });
}

TEST(FakeResctrl, AppliesNothingOfARefusedWriteExceptMbps) {
  Resctrl percent(fake::xeon());
  EXPECT_EQ(code_of(percent.write("schemata", "MB:0=50\nL3:0=x\n")), EINVAL);
  EXPECT_EQ(*percent.read("schemata"), "    MB:0=  100;1=  100\n    L3:0=fffff;1=fffff\n");
  Resctrl mbps(fake::with_mbps(fake::xeon()));
  EXPECT_EQ(code_of(mbps.write("schemata", "MB:0=50\nL3:0=x\n")), EINVAL);
  EXPECT_EQ(*mbps.read("schemata"), "    MB:0=   50;1=4294967295\n    L3:0=fffff;1=fffff\n");
}

TEST(FakeResctrl, RoundsRatesAsOlderKernelsDo) {
  for (const bool rounds : {false, true}) {
    fake::Machine machine = fake::with_mbps(fake::xeon());
    machine.release.rounds_rates = rounds;
    Resctrl resctrl(machine);
    ASSERT_TRUE(resctrl.write("schemata", "MB:0=4294967295;1=51\n"));
    EXPECT_EQ(resctrl.read("schemata")->substr(0, resctrl.read("schemata")->find('\n')),
              rounds ? "    MB:0=    4;1=   60" : "    MB:0=4294967295;1=   51");
  }
}

TEST(FakeResctrl, FormatsSchemataAndSizes) {
  Resctrl resctrl(fake::xeon());
  divide(resctrl);
  ASSERT_TRUE(resctrl.write("g/schemata", "MB:1=15\n"));
  EXPECT_EQ(*resctrl.read("g/schemata"), "    MB:0=  100;1=   20\n    L3:0=0000f;1=0000f\n");
  EXPECT_EQ(*resctrl.read("g/size"), "    MB:0=100;1=20\n    L3:0=262144;1=262144\n");
  EXPECT_EQ(*resctrl.read("info/L3/bit_usage"), "0=SSSSSSSSEEEE0000SSSS;1=SSSSSSSSEEEE0000SSSS\n");
  resctrl.machine.release.pads_values = false;
  EXPECT_EQ(*resctrl.read("g/schemata"), "    MB:0=100;1=20\n    L3:0=f;1=f\n");
}

TEST(FakeResctrl, RefusesDirectoriesAsTheKernel) {
  const struct {
    const char* path;
    int make, remove;
  } cases[] = {
      {"new", 0, ENOENT},
      {"g", EEXIST, 0},
      {"g/mon_groups/m", EEXIST, 0},
      {"info", EEXIST, EPERM},
      {"mon_groups", EEXIST, EPERM},
      {"mon_data", EEXIST, EPERM},
      {"schemata", EEXIST, ENOTDIR},
      {"schemata/x", ENOTDIR, ENOTDIR},
      {"none/x", ENOENT, ENOENT},
      {"g/x", EPERM, ENOENT},
      {"info/x", EPERM, ENOENT},
      {"g/mon_groups/mon_groups", EPERM, ENOENT},
      {"g/mon_groups/m/x", EPERM, ENOENT},
      {"a\nb", EINVAL, ENOENT},
      {"", ENOENT, ENOENT},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.path);
    Resctrl resctrl(fake::xeon());
    divide(resctrl);
    ASSERT_TRUE(resctrl.make("g/mon_groups/m"));
    Resctrl other = resctrl;
    EXPECT_EQ(code_of(resctrl.make(row.path)), row.make);
    EXPECT_EQ(code_of(other.remove(row.path)), row.remove);
  }
}

TEST(FakeResctrl, RunsOutOfClosidsRmidsAndWays) {
  fake::Machine machine = fake::xeon();
  machine.num_rmids = 3;
  Resctrl resctrl(machine);
  EXPECT_TRUE(resctrl.make("a"));
  EXPECT_TRUE(resctrl.make("a/mon_groups/m"));
  EXPECT_EQ(code_of(resctrl.make("b")), ENOSPC);
  EXPECT_EQ(*resctrl.read("info/last_cmd_status"), "Out of RMIDs\n");
  EXPECT_TRUE(resctrl.remove("a"));
  EXPECT_EQ(code_of(resctrl.make("b")), EBUSY);
  resctrl.end_limbo();
  EXPECT_TRUE(resctrl.make("b"));
  EXPECT_EQ(resctrl.find("b")->closid, 1U);

  Resctrl small(fake::atom());
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(small.make(name));
  EXPECT_EQ(code_of(small.make("d")), ENOSPC);
  EXPECT_EQ(*small.read("info/last_cmd_status"), "Out of CLOSIDs\n");

  Resctrl full(fake::xeon(1));
  EXPECT_TRUE(full.make("a"));
  EXPECT_TRUE(full.write("schemata", "L3:0=1\n"));
  EXPECT_TRUE(full.write("a/schemata", "L3:0=ffffe\n"));
  EXPECT_TRUE(full.write("a/mode", "exclusive\n"));
  EXPECT_TRUE(full.write("mode", "exclusive\n"));
  EXPECT_EQ(code_of(full.make("b")), ENOSPC);
  EXPECT_EQ(*full.read("info/last_cmd_status"), "No space on L3:0\n");
}

TEST(FakeResctrl, AppendsToTheStatusAsUntil612) {
  Resctrl resctrl(fake::xeon());
  (void)resctrl.write("cpus_list", "x\n");
  (void)resctrl.write("cpus_list", "0\n");
  EXPECT_EQ(*resctrl.read("info/last_cmd_status"),
            "Bad CPU list/mask\nCan't drop CPUs from default group\n");
  resctrl.machine.release.every_command_clears_status = true;
  (void)resctrl.write("cpus_list", "x\n");
  EXPECT_EQ(*resctrl.read("info/last_cmd_status"), "Bad CPU list/mask\n");
}

TEST(FakeResctrl, GivesNewGroupsSharedAndUnusedWays) {
  Resctrl resctrl(fake::xeon());
  divide(resctrl);
  EXPECT_TRUE(resctrl.make("new"));
  // Ways 0-7 and 12-19; of a mask with a gap the kernel takes the first part.
  EXPECT_EQ(*resctrl.read("new/schemata"), "    MB:0=  100;1=  100\n    L3:0=000ff;1=000ff\n");
}

TEST(FakeResctrl, RefusesExclusiveGroupsThatOverlap) {
  fake::Machine with_io = fake::xeon();
  with_io.controls.at(Resource::L3).shareable_bits = Cbm{0x1};
  Resctrl resctrl(with_io);
  EXPECT_EQ(code_of(resctrl.write("mode", "exclusive\n")), EINVAL);
  EXPECT_EQ(*resctrl.read("info/last_cmd_status"), "Schemata overlaps\n");
  fake::Machine without_cache = fake::xeon();
  without_cache.controls.erase(Resource::L3);
  Resctrl bandwidth(without_cache);
  EXPECT_EQ(code_of(bandwidth.write("mode", "exclusive\n")), EINVAL);
  EXPECT_EQ(*bandwidth.read("info/last_cmd_status"), "Cannot be exclusive without CAT/CDP\n");
  Resctrl cdp(fake::with_cdp(fake::xeon()));
  EXPECT_TRUE(cdp.make("g"));
  EXPECT_TRUE(cdp.write("schemata", "L3CODE:0=ff000;1=ff000\nL3DATA:0=ff0;1=ff0\n"));
  EXPECT_TRUE(cdp.write("g/schemata", "L3CODE:0=f0;1=f0\nL3DATA:0=f;1=f\n"));
  EXPECT_EQ(code_of(cdp.write("g/mode", "exclusive\n")), EINVAL);  // with the root's data
}

TEST(FakeResctrl, LocksACacheRegion) {
  Resctrl resctrl(fake::atom());
  EXPECT_TRUE(resctrl.make("lock"));
  EXPECT_TRUE(resctrl.write("lock/mode", "pseudo-locksetup\n"));
  EXPECT_EQ(*resctrl.read("lock/schemata"), "L2:uninitialized\n");
  EXPECT_EQ(resctrl.read("lock/tasks").error(), (fake::Refusal{EACCES, true}));
  EXPECT_EQ(code_of(resctrl.write("lock/schemata", "L2:0=f\n")), EINVAL);
  EXPECT_EQ(*resctrl.read("info/last_cmd_status"), "Overlaps with other group\n");
  EXPECT_TRUE(resctrl.write("schemata", "L2:0=f0\n"));
  EXPECT_TRUE(resctrl.write("lock/schemata", "L2:0=f\n"));
  EXPECT_EQ(*resctrl.read("lock/mode"), "pseudo-locked\n");
  EXPECT_EQ(*resctrl.read("lock/schemata"), "L2:0=f\n");
  EXPECT_EQ(*resctrl.read("lock/cpus_list"), "0-1\n");
  EXPECT_EQ(*resctrl.read("info/L2/bit_usage"), "0=SSSSPPPP;1=SSSSSSSS\n");
  EXPECT_EQ(code_of(resctrl.write("schemata", "L2:0=ff\n")), EINVAL);
  EXPECT_EQ(*resctrl.read("info/last_cmd_status"), "CBM overlaps with pseudo-locked region\n");
  EXPECT_EQ(code_of(resctrl.write("lock/mode", "shareable\n")), EINVAL);
  EXPECT_EQ(*resctrl.read("info/last_cmd_status"), "Cannot change pseudo-locked group\n");
  EXPECT_TRUE(resctrl.make("next"));
  EXPECT_EQ(resctrl.find("next")->closid, 1U);  // the locked group has given it back
  resctrl.take_offline(0);
  resctrl.take_offline(1);
  EXPECT_EQ(resctrl.read("lock/schemata").error().code, ENODEV);
  EXPECT_EQ(*resctrl.read("info/last_cmd_status"), "Cache domain offline\n");
  EXPECT_TRUE(resctrl.remove("lock"));
}

TEST(FakeResctrl, ResetsADomainThatComesBack) {
  Resctrl resctrl(fake::xeon());
  divide(resctrl);
  EXPECT_TRUE(resctrl.write("g/cpus_list", "1-2\n"));
  resctrl.take_offline(2);
  resctrl.take_offline(3);
  EXPECT_EQ(*resctrl.read("g/schemata"), "    MB:0=  100\n    L3:0=0000f\n");
  EXPECT_EQ(*resctrl.read("g/cpus_list"), "1\n");
  EXPECT_EQ(resctrl.list("mon_data")->size(), 1U);
  EXPECT_EQ(code_of(resctrl.write("g/cpus_list", "1-2\n")), EINVAL);
  EXPECT_EQ(*resctrl.read("info/last_cmd_status"), "Can only assign online CPUs\n");
  resctrl.bring_online(2);
  EXPECT_EQ(*resctrl.read("g/schemata"), "    MB:0=  100;1=  100\n    L3:0=0000f;1=fffff\n");
  EXPECT_EQ(*resctrl.read("x/schemata"), "    MB:0=  100;1=  100\n    L3:0=00f00;1=fffff\n");
  EXPECT_EQ(*resctrl.read("cpus_list"), "0,2\n");
}

TEST(FakeResctrl, GivesTasksAndCpusOfARemovedGroupBack) {
  Resctrl resctrl(fake::xeon());
  divide(resctrl);
  EXPECT_TRUE(resctrl.make("g/mon_groups/m"));
  EXPECT_TRUE(resctrl.write("g/cpus_list", "0-1\n"));
  EXPECT_TRUE(resctrl.write("g/mon_groups/m/cpus_list", "1\n"));
  EXPECT_EQ(code_of(resctrl.write("g/mon_groups/m/cpus_list", "2\n")), EINVAL);
  EXPECT_EQ(code_of(resctrl.write("g/mon_groups/m/tasks", "70\n")), EINVAL);
  EXPECT_TRUE(resctrl.write("g/tasks", "70\n"));
  EXPECT_TRUE(resctrl.write("g/mon_groups/m/tasks", "70\n"));
  EXPECT_EQ(*resctrl.read("g/tasks"), "70\n");
  EXPECT_TRUE(resctrl.remove("g/mon_groups/m"));
  EXPECT_EQ(*resctrl.read("g/tasks"), "70\n");
  EXPECT_TRUE(resctrl.remove("g"));
  EXPECT_EQ(*resctrl.read("tasks"), "70\n");
  EXPECT_EQ(*resctrl.read("cpus"), "f\n");
}

TEST(FakeResctrl, ReadsNumbersAndCpusAsTheKernel) {
  EXPECT_EQ(fake::parse_cpulist("0-3:1/2,5\n", 8), CpuSet({0, 2, 5}));
  EXPECT_EQ(fake::parse_cpulist("all", 3), CpuSet({0, 1, 2}));
  EXPECT_EQ(fake::parse_cpulist("1-0", 4), std::unexpected(EINVAL));
  EXPECT_EQ(fake::parse_cpulist("4", 4), std::unexpected(ERANGE));
  EXPECT_EQ(fake::parse_cpumask("1,00000003\n", 64), CpuSet({0, 1, 32}));
  EXPECT_EQ(fake::parse_cpumask("10", 4), std::unexpected(EOVERFLOW));
  EXPECT_EQ(fake::format_cpumask({0, 1, 32}, 36), "1,00000003");
  EXPECT_EQ(fake::parse_number("0x1f\n", 16), 31U);
  EXPECT_EQ(fake::parse_number("-1", 10), std::nullopt);
  EXPECT_EQ(fake::parse_int("-0x10"), -16);
}

}  // namespace
}  // namespace rdtd
