// Reading a machine: the mount options, what monitors, and groups that vanish or cannot be
// read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "fake/kernel.hpp"
#include "files.hpp"
#include "rdtd/resctrl/counters.hpp"
#include "rdtd/resctrl/read.hpp"
#include "fixed_texts.hpp"

namespace rdtd {
namespace {

using test::FixedTexts;
using test::group_files;

TEST(MountOptions, Table) {
  struct {
    const char* mounts;
    std::optional<MountOptions> expected;
  } const rows[] = {
      {"", std::nullopt},
      {"sysfs /sys sysfs rw,nosuid 0 0\nproc /proc proc rw 0 0\n", std::nullopt},
      {"resctrl /sys/fs/resctrl resctrl rw,relatime 0 0\n", MountOptions{}},
      {"proc /proc proc rw 0 0\nresctrl /sys/fs/resctrl resctrl rw,relatime,cdp,cdpl2 0 0\n",
       MountOptions{.cdp = true, .cdpl2 = true}},
      {"x /mnt/a\\040b resctrl mba_MBps,debug 0 0\n",
       MountOptions{.mba_MBps = true, .debug = true}},
      {"resctrl /sys/fs/resctrl resctrl rw,cdpl2x,xcdp,mba_mbps 0 0\n", MountOptions{}},
      {"resctrl /resctrl\n", std::nullopt},
  };
  for (const auto& row : rows)
    EXPECT_EQ(find_mount_options(row.mounts), row.expected) << row.mounts;
}

// A user may add lines of any length, by mounts of their own.
TEST_F(Files, MountOptionsAmongVeryManyMounts) {
  const std::string mount = "fuse /mnt" + std::string(32'000, 'x') + " fuse rw 0 0\n";
  std::string mounts;
  while (mounts.size() < 17U << 20) mounts += mount;
  put("self/mounts", mounts + "resctrl /sys/fs/resctrl resctrl rw,cdp 0 0\n");
  const auto proc = Directory::open(root_.string());
  EXPECT_EQ(resctrl::read_mount_options(*proc), MountOptions{.cdp = true});
  put("self/mounts", mounts);
  EXPECT_EQ(resctrl::read_mount_options(*proc), MountOptions{});
}

// A group takes an RMID for the counters of both.
TEST(Read, Rmids) {
  const struct {
    const char* caches;
    const char* packages;
    std::optional<unsigned> expected;
  } rows[] = {{nullptr, nullptr, std::nullopt},
              {"64\n", nullptr, 64},
              {nullptr, "48\n", 48},
              {"64\n", "48\n", 48},
              {"64\n", "512\n", 64}};
  for (const auto& row : rows) {
    auto files = group_files("", "", "0-3\n", "shareable\n");
    if (row.caches != nullptr) files["info/L3_MON/num_rmids"] = row.caches;
    if (row.packages != nullptr) files["info/PERF_PKG_MON/num_rmids"] = row.packages;
    const auto machine = resctrl::read_machine(FixedTexts(files), {}, {});
    ASSERT_TRUE(machine) << machine.error().text();
    EXPECT_EQ(machine->capabilities.num_rmids, row.expected);
  }
}

// MPAM has RMIDs for each CLOSID. Where the ways that devices fill do not show it, too few do.
TEST(Read, RmidsOfClosids) {
  const struct {
    const char* shareable_bits;
    const char* caches;
    const char* packages;
    bool expected;
    bool throttles = false;  // as Intel does
  } rows[] = {{"0", "64\n", nullptr, false},
              {"c00", "40\n", nullptr, false},
              {"fff", "64\n", nullptr, true},
              {"0", "2\n", nullptr, true},
              {"0", "64\n", "8\n", false},
              {"0", nullptr, "8\n", false},
              {"fff", nullptr, nullptr, false},
              // x86 has no RMIDs of CLOSIDs, however odd its numbers are.
              {"0", "2\n", nullptr, false, true},
              {"fff", "64\n", nullptr, false, true}};
  for (const auto& row : rows) {
    auto files = group_files("", "L3:0=fff\n", "0-3\n", "shareable\n");
    files["info/L3/cbm_mask"] = "fff\n";
    files["info/L3/min_cbm_bits"] = "1\n";
    files["info/L3/shareable_bits"] = row.shareable_bits;
    files["info/L3/num_closids"] = "40\n";
    if (row.throttles) files["info/MB/thread_throttle_mode"] = "max\n";
    if (row.caches != nullptr) files["info/L3_MON/num_rmids"] = row.caches;
    if (row.packages != nullptr) files["info/PERF_PKG_MON/num_rmids"] = row.packages;
    const auto machine = resctrl::read_machine(FixedTexts(files), {}, {});
    ASSERT_TRUE(machine) << machine.error().text();
    EXPECT_EQ(machine->capabilities.rmids_per_closid, row.expected)
        << row.shareable_bits << (row.caches == nullptr ? "" : row.caches);
  }
}

// Counters are found by what is there. A directory that does not say how many RMIDs it has limits
// nothing.
TEST(Read, MonitoringDirectories) {
  auto files = group_files("", "", "0-3\n", "shareable\n");
  files["info/L3_MON/num_rmids"] = "64\n";
  files["info/MB_MON/num_rmids"] = "32\n";
  files["info/NODE_MON/mon_features"] = "node_bytes\n";
  const FixedTexts texts(files);
  EXPECT_EQ(*resctrl::monitoring_directories(texts),
            (std::vector<std::string>{"L3_MON", "MB_MON", "NODE_MON"}));
  const auto machine = resctrl::read_machine(texts, {}, {});
  ASSERT_TRUE(machine) << machine.error().text();
  EXPECT_EQ(machine->capabilities.num_rmids, 32);
}

// Of whatever is counted, in whatever domains; a directory without a count is none.
TEST(Read, CountersOfAnyResource) {
  auto files = group_files("", "", "0-3\n", "shareable\n");
  files["mon_data/mon_MB_00/mbm_total_bytes"] = "5\n";
  files["mon_data/mon_NODE_65536/mbm_total_bytes"] = "Unassigned\n";
  files["mon_data/mon_L3_MAX_02/note"] = "nothing is counted here\n";
  const auto counters = resctrl::read_counters(FixedTexts(files));
  ASSERT_TRUE(counters) << counters.error().text();
  std::string text;
  for (const DomainCounters& domain : *counters)
    text += domain.resource + " " + to_string(domain.domain) + "\n";
  EXPECT_EQ(text, "MB 0\nNODE 65536\n");
}

// That one cannot be read is not taken for a counter that is not there.
TEST(Read, ACounterThatCannotBeRead) {
  auto files = group_files("", "", "0-3\n", "shareable\n");
  const std::string counter = "mon_data/mon_L3_00/llc_occupancy";
  files[counter] = "5\n";
  for (const auto& [code, counted] : {std::pair{EIO, true}, {EMFILE, true}, {ENOENT, false}}) {
    FixedTexts texts(files);
    texts.fail(counter, code);
    const auto counters = resctrl::read_counters(texts);
    ASSERT_TRUE(counters) << counters.error().text();
    EXPECT_EQ(!counters->empty(), counted);
    for (const DomainCounters& of : *counters)
      EXPECT_EQ(of.counters.at("llc_occupancy"), CounterValue(NoCount::error));
  }
}

TEST(Read, AssignedCountersOfAnyResource) {
  auto files = group_files("", "", "0-3\n", "shareable\n");
  files["info/L3_MON/num_rmids"] = "64\n";
  files["info/L3_MON/mbm_assign_mode"] = "mbm_event\n[default]\n";
  files["info/MB_MON/num_rmids"] = "64\n";
  files["info/MB_MON/mbm_assign_mode"] = "[mbm_event]\ndefault\n";
  files["info/MB_MON/available_mbm_cntrs"] = "0=2;1=1\n";
  files["mbm_MB_assignments"] = "mbm_total_bytes:0=e;1=_\n";
  const auto snapshot = resctrl::read_snapshot(FixedTexts(files));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(snapshot->mbm_resource, "MB");
  EXPECT_EQ(snapshot->free_mbm_counters,
            (std::map<DomainId, unsigned>{{DomainId{0}, 2}, {DomainId{1}, 1}}));
  EXPECT_EQ(mbm_assignments_line(snapshot->mbm_assignments.at("")), "mbm_total_bytes:0=e;1=_");
}

// To learn whether a group ended meanwhile takes a list of all.
TEST(Read, ListsFewTimesHoweverManyGroupsLackAFile) {
  constexpr int groups = 2000, most_lists = groups + 600;  // one in each group
  auto files = group_files("", "L3:0=f\n", "0-3\n", "shareable\n");
  files["info/L3_MON/num_rmids"] = "64\n";
  for (int i = 0; i < groups; i++)
    files.merge(group_files(fmt::format("g{}", i), "L3:0=f\n", "\n", "shareable\n"));
  const FixedTexts texts(files);
  const auto snapshot = resctrl::read_snapshot(texts);
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(snapshot->unread.size(), groups + 1U);
  EXPECT_LT(texts.lists(), most_lists);
}

TEST(Read, Devices) {
  struct {
    const char* io_alloc;  // null: no such file
    const char* cbm;
    int error;  // in reading the masks
    bool supported;
    std::string found;
  } const rows[] = {
      {nullptr, "", 0, false, ""},
      {"not supported\n", "", ENODEV, false, ""},
      {"disabled\n", "", EINVAL, true, ""},
      {"enabled\n", "0=00ff;1=f\n", 0, true, "L3:0=ff;1=f"},
      {"enabled\n", "", EINVAL, true, ""},  // disabled meanwhile
      {"enabled\n", "", EIO, true, "cannot open /resctrl/info/L3/io_alloc_cbm: Input/output error"},
      {"enabled\n", "0=zz\n", 0, true,
       "cannot understand /resctrl/info/L3/io_alloc_cbm: cannot read schemata line 'L3:0=zz'"},
  };
  for (const auto& row : rows) {
    auto files = group_files("", "L3:0=ffff;1=ffff\n", "0-3\n", "shareable\n");
    files["info/L3/cbm_mask"] = "ffff\n";
    files["info/L3/min_cbm_bits"] = "1\n";
    files["info/L3/num_closids"] = "16\n";
    if (row.io_alloc != nullptr) files["info/L3/io_alloc"] = row.io_alloc;
    files["info/L3/io_alloc_cbm"] = row.cbm;
    FixedTexts texts(files);
    if (row.error != 0) texts.fail("info/L3/io_alloc_cbm", row.error);
    const auto root = parse_schemata("L3:0=ffff;1=ffff").value();
    EXPECT_EQ(resctrl::read_capabilities(texts, root, {})->caches.at(Resource::L3).io_alloc,
              row.supported);
    const auto snapshot = resctrl::read_snapshot(texts);
    EXPECT_EQ(snapshot ? schemata_line(snapshot->io) : snapshot.error().text(), row.found);
  }
}

// As kernels of openEuler 5.10 write them.
TEST(Read, MasksWithAPrefix) {
  auto files = group_files("", "L3:0=0x7fff;1=0xff\n", "0-3\n", "shareable\n");
  files["info/L3/cbm_mask"] = "0x7fff\n";
  files["info/L3/min_cbm_bits"] = "1\n";
  files["info/L3/num_closids"] = "32\n";
  const auto machine = resctrl::read_machine(FixedTexts(files), {}, {});
  ASSERT_TRUE(machine) << machine.error().text();
  EXPECT_EQ(machine->capabilities.caches.at(Resource::L3).cbm_mask, Cbm{0x7fff});
  EXPECT_EQ(schemata_line(machine->snapshot.groups.at("").schemata), "L3:0=7fff;1=ff");
}

TEST(Read, NoMaskIsEmpty) {
  auto files = group_files("", "L3:0=ffff\n", "0-3\n", "shareable\n");
  files["info/L3/cbm_mask"] = "ffff\n";
  files["info/L3/min_cbm_bits"] = "0\n";
  files["info/L3/num_closids"] = "16\n";
  const auto machine = resctrl::read_machine(FixedTexts(files), {}, {});
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->capabilities.caches.at(Resource::L3).min_cbm_bits, 1U);
}

TEST(Read, Groups) {
  auto files = group_files("", "L3:0=fffff\n", "0-2\n", "shareable\n");
  files.merge(group_files("a", "L3:0=f\n", "3\n", "exclusive\n"));
  files["a/mon_groups/x/tasks"] = "";
  files["a/mon_groups/y/tasks"] = "";
  // The kernel shows the CPUs of the domain, which belong to other groups.
  files.merge(group_files("locked", "L3:0=f0000\n", "0-3\n", "pseudo-locked\n"));
  files.merge(group_files("setup", "L3:uninitialized\n", "\n", "pseudo-locksetup\n"));
  files.merge(group_files("hidden", "L3:0=f\n", "\n", "shareable\n"));
  files.merge(group_files("of a later kernel", "L3:0=f\n", "4\n", "coscheduled\n"));
  files.merge(group_files("odd", "L3:0=many\n", "\n", "shareable\n"));
  files["info/last_cmd_status"] = "ok\n";
  files["mon_groups/z/tasks"] = "";
  files["mon_data/mon_MB_01/mbm_total_bytes"] = "1\n";
  FixedTexts texts(files);
  texts.fail("hidden/schemata", EACCES);
  texts.fail("setup/cpus_list", EACCES);
  texts.fail("locked/cpus_list", EACCES);
  const auto snapshot = resctrl::read_snapshot(texts);
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  std::string text;
  for (const auto& [name, state] : snapshot->groups)
    text += group_label(name) + " " + std::string(to_string(state.mode)) + " [" +
            schemata_line(state.schemata) + "] [" + format_cpu_list(state.cpus) + "]\n";
  EXPECT_EQ(text,
            "default shareable [L3:0=fffff] [0-2]\n"
            "a exclusive [L3:0=f] [3]\n"
            "locked pseudo-locked [L3:0=f0000] []\n"
            "setup pseudo-locksetup [] []\n");
  EXPECT_EQ(snapshot->unreadable, (std::set<std::string>{"hidden", "odd", "of a later kernel"}));
  EXPECT_EQ(format_cpu_list(snapshot->half_read.at("of a later kernel").cpus), "4");
  EXPECT_EQ(schemata_line(snapshot->half_read.at("of a later kernel").schemata), "L3:0=f");
  EXPECT_EQ(snapshot->half_read.at("of a later kernel").mode, Mode::exclusive);
  EXPECT_EQ(snapshot->half_read.at("odd").mode, Mode::shareable);
  EXPECT_EQ(schemata_line(snapshot->half_read.at("odd").schemata), "");
  std::set<std::string> with_inode;
  for (const auto& [name, inode] : snapshot->inodes) {
    with_inode.insert(name);
    EXPECT_GE(inode, 100U);
  }
  EXPECT_EQ(with_inode,
            (std::set<std::string>{"a", "a/mon_groups/x", "a/mon_groups/y", "hidden", "locked",
                                   "mon_groups/z", "odd", "of a later kernel", "setup"}));
  EXPECT_EQ(snapshot->mon_groups,
            (std::set<std::string>{"a/mon_groups/x", "a/mon_groups/y", "mon_groups/z"}));
  EXPECT_EQ(snapshot->online_cpus(), (CpuSet{0, 1, 2, 3, 4}));
}

// The directory says whether the group is there.
TEST(Read, AFileThatSaysThatItsGroupIsGone) {
  for (const int code : {ENODEV, ENOENT})
    for (const std::string file : {"mode", "schemata", "cpus_list", "mon_groups"})
      for (const bool gone : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", file, code, gone));
        fake::Kernel kernel(fake::xeon());
        ASSERT_TRUE(kernel.resctrl.make("a") && kernel.resctrl.make("a/mon_groups/x"));
        kernel.calls.fail_if(
            [&](const fake::Call& call) {
              if (call.path != "a/" + file) return false;
              if (gone) (void)kernel.resctrl.remove("a");
              return true;
            },
            code);
        const auto snapshot = resctrl::read_snapshot(kernel);
        ASSERT_TRUE(snapshot) << snapshot.error().text();
        EXPECT_EQ(snapshot->inodes.contains("a"), !gone);
        EXPECT_EQ(snapshot->unread.contains("a"), !gone);
        EXPECT_EQ(snapshot->unreadable.contains("a"), !gone && file != "mon_groups");
        EXPECT_EQ(snapshot->mon_groups.contains("a/mon_groups/x"), !gone && file != "mon_groups");
        EXPECT_EQ(snapshot->groups.contains("a"), !gone && file == "mon_groups");
      }
}

// A CPU that changes its group during the reading is not offline.
TEST(Read, ReadsAgainWhatChangesMeanwhile) {
  struct Case {
    const char* at;
    const char* file;  // that another tool writes then; null: it removes "two"
    const char* cpus;
  };
  for (const Case& row : {Case{"read two/mode", nullptr, ""},
                          {"read two/cpus_list", "two/cpus_list", "\n"},
                          {"read two/cpus_list", "two/cpus_list", "2-3\n"},
                          {"read two/cpus_list", "one/cpus_list", "3\n"}}) {
    SCOPED_TRACE(fmt::format("{} {}", row.file != nullptr ? row.file : "", row.cpus));
    fake::Kernel kernel(fake::xeon());
    ASSERT_TRUE(kernel.resctrl.make("one") && kernel.resctrl.make("two"));
    ASSERT_TRUE(kernel.resctrl.write("two/cpus_list", "3\n"));
    bool changed = false;
    kernel.calls.hook = [&](const fake::Call& call) {
      if (call.text() != row.at || std::exchange(changed, true)) return;
      EXPECT_TRUE(row.file != nullptr ? kernel.resctrl.write(row.file, row.cpus)
                                      : kernel.resctrl.remove("two"));
    };
    const auto snapshot = resctrl::read_snapshot(kernel);
    ASSERT_TRUE(snapshot) << snapshot.error().text();
    EXPECT_TRUE(changed);
    EXPECT_EQ(format_cpu_list(snapshot->online_cpus()), "0-3");
    EXPECT_EQ(snapshot->groups.contains("two"), row.file != nullptr);
  }
}

// A tool that never rests delays nobody: the third reading is the last.
TEST(Read, ReadsAtMostThreeTimes) {
  fake::Kernel kernel(fake::xeon());
  ASSERT_TRUE(kernel.resctrl.make("one"));
  int readings = 0;
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.text() != "read one/cpus_list") return;
    (void)kernel.resctrl.write("one/cpus_list", readings % 2 == 0 ? "3\n" : "\n");
    readings++;
  };
  ASSERT_TRUE(resctrl::read_snapshot(kernel));
  EXPECT_EQ(readings, 3);
}

// What a group starts with under mba_MBps cannot be written to every kernel.
TEST(Read, NoRateIsAboveTheHighestThatCanBeWritten) {
  for (const auto& [step, highest] :
       {std::pair{"10\n", 4294967290U}, {"1\n", 4294967295U}, {"7\n", 4294967292U}}) {
    auto files = group_files("", "MB:0=4294967295;1=800\n", "0-3\n", "shareable\n");
    files["info/MB/bandwidth_gran"] = step;
    const auto group = resctrl::read_group(FixedTexts(files), "");
    ASSERT_TRUE(group) << group.error().text();
    EXPECT_EQ(group->schemata,
              (Schemata{{Resource::MB, {{DomainId{0}, highest}, {DomainId{1}, 800}}}}));
  }
}

TEST(Read, Errors) {
  struct {
    const char* file;
    const char* text;  // null: the file cannot be read
    const char* error;
  } const rows[] = {
      {"mode", "other\n", "cannot understand /resctrl/mode: unknown mode 'other'"},
      {"mode", nullptr, "cannot open /resctrl/mode: Permission denied"},
      {"schemata", "L3:0=zz\n",
       "cannot understand /resctrl/schemata: cannot read schemata line 'L3:0=zz'"},
      {"schemata", nullptr, "cannot open /resctrl/schemata: Permission denied"},
      {"cpus_list", "x\n", "cannot understand /resctrl/cpus_list: 'x' is not a CPU list"},
      {"cpus_list", nullptr, "cannot open /resctrl/cpus_list: Permission denied"},
      {"info/L3/cbm_mask", "\n", "cannot understand /resctrl/info/L3/cbm_mask: '' is not a number"},
      {"info/L3/num_closids", nullptr,
       "cannot open /resctrl/info/L3/num_closids: Permission denied"},
      {"info/L3_MON/num_rmids", "-1\n",
       "cannot understand /resctrl/info/L3_MON/num_rmids: '-1' is not a number"},
  };
  for (const auto& row : rows) {
    auto files = group_files("", "L3:0=f\n", "0\n", "shareable\n");
    files["info/L3/cbm_mask"] = "f\n";
    files["info/L3/min_cbm_bits"] = "1\n";
    files["info/L3/num_closids"] = "4\n";
    files["info/L3_MON/num_rmids"] = "8\n";
    ASSERT_TRUE(resctrl::read_machine(FixedTexts(files), {}, {}));
    if (row.text != nullptr) files[row.file] = row.text;
    FixedTexts texts(files);
    if (row.text == nullptr) texts.fail(row.file, EACCES);
    const auto machine = resctrl::read_machine(texts, {}, {});
    ASSERT_FALSE(machine) << row.file;
    EXPECT_EQ(machine.error().text(), row.error);
  }
}

TEST(Read, AKernelWithoutModes) {
  auto files = group_files("", "L3:0=f\n", "0\n", "");
  files.erase("mode");
  const auto machine = resctrl::read_machine(FixedTexts(files), {}, {});
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().text(),
            "cannot open /resctrl/mode: No such file or directory (resctrl has this file since "
            "Linux 4.19, which rdtd needs)");
  EXPECT_EQ(machine.error().detail, resctrl::too_old);
}

}  // namespace
}  // namespace rdtd
