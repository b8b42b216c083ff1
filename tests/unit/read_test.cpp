// Reading a machine: the mount options, the unit of bandwidth, and groups that vanish or cannot be
// read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "fake/kernel.hpp"
#include "rdtd/resctrl/counters.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {
namespace {

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

// A filesystem of fixed texts. Every directory on the way to a file exists.
class Texts final : public resctrl::Filesystem {
 public:
  explicit Texts(std::map<std::string, std::string> files) : files_(std::move(files)) {}

  void fail(const std::string& file, int code) { errors_[file] = code; }

  [[nodiscard]] Result<void> make(const std::string& directory) override { return no(directory); }
  [[nodiscard]] Result<void> remove(const std::string& directory) override { return no(directory); }
  [[nodiscard]] Result<void> write(const std::string& file, std::string_view) override {
    return no(file);
  }
  [[nodiscard]] Result<std::unique_ptr<resctrl::Lock>> lock() override { return no(""); }
  [[nodiscard]] Result<std::unique_ptr<resctrl::Tasks>> open_tasks(const std::string& g) override {
    return no(g);
  }
  [[nodiscard]] Result<uint64_t> info_time() const override { return 1000; }
  [[nodiscard]] Result<void> set_info_time(uint64_t) override { return {}; }
  [[nodiscard]] const std::string& path() const override { return path_; }

  [[nodiscard]] Result<std::string> read(const std::string& file) const override {
    if (const auto error = errors_.find(file); error != errors_.end())
      return std::unexpected(Error{"open", path_ + "/" + file, error->second, {}});
    const auto found = files_.find(file);
    if (found == files_.end())
      return std::unexpected(Error{"open", path_ + "/" + file, ENOENT, {}});
    return found->second;
  }
  [[nodiscard]] Result<std::vector<Entry>> list(const std::string& directory) const override {
    const std::string prefix = directory.empty() ? "" : directory + "/";
    std::map<std::string, bool> names;
    for (const auto& [file, text] : files_)
      if (file.starts_with(prefix)) {
        const std::string rest = file.substr(prefix.size());
        names[rest.substr(0, rest.find('/'))] = rest.contains('/');
      }
    if (names.empty()) return std::unexpected(Error{"open", path_ + "/" + directory, ENOENT, {}});
    std::vector<Entry> out;
    for (const auto& [name, is_directory] : names)
      out.push_back({name, is_directory, 100 + out.size()});
    return out;
  }

 private:
  [[nodiscard]] std::unexpected<Error> no(const std::string& name) const {
    return std::unexpected(Error{"change", path_ + "/" + name, EROFS, {}});
  }
  std::string path_ = "/resctrl";
  std::map<std::string, std::string> files_;
  std::map<std::string, int> errors_;
};

std::map<std::string, std::string> group_files(const std::string& name, const std::string& schemata,
                                               const std::string& cpus, const std::string& mode) {
  const std::string prefix = name.empty() ? "" : name + "/";
  return {{prefix + "schemata", schemata}, {prefix + "cpus_list", cpus}, {prefix + "mode", mode}};
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
    const auto machine = resctrl::read_machine(Texts(files), {}, {});
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
  } rows[] = {{"0", "64\n", nullptr, false},   {"c00", "40\n", nullptr, false},
              {"fff", "64\n", nullptr, true},  {"0", "2\n", nullptr, true},
              {"0", "64\n", "8\n", false},     {"0", nullptr, "8\n", false},
              {"fff", nullptr, nullptr, false}};
  for (const auto& row : rows) {
    auto files = group_files("", "L3:0=fff\n", "0-3\n", "shareable\n");
    files["info/L3/cbm_mask"] = "fff\n";
    files["info/L3/min_cbm_bits"] = "1\n";
    files["info/L3/shareable_bits"] = row.shareable_bits;
    files["info/L3/num_closids"] = "40\n";
    if (row.caches != nullptr) files["info/L3_MON/num_rmids"] = row.caches;
    if (row.packages != nullptr) files["info/PERF_PKG_MON/num_rmids"] = row.packages;
    const auto machine = resctrl::read_machine(Texts(files), {}, {});
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
  const Texts texts(files);
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
  const auto counters = resctrl::read_counters(Texts(files));
  ASSERT_TRUE(counters) << counters.error().text();
  std::string text;
  for (const DomainCounters& domain : *counters)
    text += domain.resource + " " + to_string(domain.domain) + "\n";
  EXPECT_EQ(text, "MB 0\nNODE 65536\n");
}

TEST(Read, AssignedCountersOfAnyResource) {
  auto files = group_files("", "", "0-3\n", "shareable\n");
  files["info/L3_MON/num_rmids"] = "64\n";
  files["info/L3_MON/mbm_assign_mode"] = "mbm_event\n[default]\n";
  files["info/MB_MON/num_rmids"] = "64\n";
  files["info/MB_MON/mbm_assign_mode"] = "[mbm_event]\ndefault\n";
  files["info/MB_MON/available_mbm_cntrs"] = "0=2;1=1\n";
  files["mbm_MB_assignments"] = "mbm_total_bytes:0=e;1=_\n";
  const auto snapshot = resctrl::read_snapshot(Texts(files));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(snapshot->mbm_resource, "MB");
  EXPECT_EQ(snapshot->free_mbm_counters,
            (std::map<DomainId, unsigned>{{DomainId{0}, 2}, {DomainId{1}, 1}}));
  EXPECT_EQ(mbm_assignments_line(snapshot->mbm_assignments.at("")), "mbm_total_bytes:0=e;1=_");
}

// What info/ says of rows that have no constant, in each of its forms.
TEST(Read, Controls) {
  auto files = group_files("",
                           "L3:0=f\nMB_HLIM:0=0\nMB_NODE:0=100;65536=50\nL3PBM:0=ff\nMBMIN:0=10\n"
                           "TEXT:0=on\nBAD NAME:0=1\n",
                           "0\n", "shareable\n");
  files["info/L3/cbm_mask"] = "f\n";
  files["info/L3/min_cbm_bits"] = "1\n";
  files["info/L3/num_closids"] = "16\n";
  files["info/MB_HLIM/num_closids"] = "8\n";
  files["info/L3PBM/cbm_mask"] = "ff\n";
  files["info/MBMIN/bandwidth_gran"] = "5\n";
  files["info/MBMIN/min_bandwidth"] = "0\n";
  for (const char* directory : {"resource_schemata", "schemata"}) {
    auto described = files;
    const std::string node = std::string("info/MB/") + directory + "/MB_NODE/";
    described[node + "type"] = "scalar linear\n";
    described[node + "min"] = "1\n";
    described[node + "max"] = "100\n";
    described[node + "resolution"] = "100\n";
    described[node + "scale"] = "1\n";
    described[node + "unit"] = "all\n";
    described[node + "scope"] = "NODE\n";
    described[std::string("info/MB/") + directory + "/MB_LEVELS/type"] = "bitmap sparse\n";
    const auto machine = resctrl::read_machine(Texts(described), {}, {});
    ASSERT_TRUE(machine) << machine.error().text();
    std::string text;
    for (const auto& [resource, control] : machine->capabilities.controls)
      text += std::string(resource.name()) + ": " + describe(resource, control) + "\n";
    EXPECT_EQ(text,
              "L3PBM: a bit mask without gaps, of ff\n"
              "MBMIN: percent, in steps of 5\n"
              "MB_HLIM: a number\n"
              "MB_NODE: 1/100 of all, from 1 to 100\n");
    EXPECT_EQ(machine->capabilities.num_closids(), 8);
    EXPECT_EQ(schemata_line(machine->snapshot.groups.at("").schemata),
              "L3:0=f L3PBM:0=ff MBMIN:0=10 MB_HLIM:0=0 MB_NODE:0=100;65536=50");
  }
}

// In native mode without L3, the resource says how many CLOSIDs there are.
TEST(Read, ClosidsOfAControl) {
  auto files = group_files("", "MB_MAX:0=100\n", "0\n", "shareable\n");
  files["info/MB/num_closids"] = "32\n";
  files["info/MB/resource_schemata/MB_MAX/type"] = "scalar linear\n";
  const auto machine = resctrl::read_machine(Texts(files), {}, {});
  ASSERT_TRUE(machine) << machine.error().text();
  EXPECT_EQ(machine->capabilities.num_closids(), 32);
  EXPECT_FALSE(machine->capabilities.divides_nothing());
}

// The limits of a node on AMD, in GB/s, and openEuler's priorities, as kernels without the generic
// description show them.
TEST(Read, PlainControls) {
  auto files = group_files("", "GMB:0=2048\nGSMBA:0=2048\nMBPRI:0=7\nMBHDL:0=1\nL3PBM:0=ff\n",
                           "0\n", "shareable\n");
  for (const char* name : {"GMB", "GSMBA", "MBPRI", "MBHDL"}) {
    const std::string directory = std::string("info/") + name + "/";
    files[directory + "bandwidth_gran"] = "1\n";
    files[directory + "min_bandwidth"] = "1\n";
  }
  files["info/GMB/delay_linear"] = files["info/GSMBA/delay_linear"] = "0\n";
  files["info/L3PBM/cbm_mask"] = "ff\n";
  files["info/L3PBM/min_cbm_bits"] = "2\n";
  const auto machine = resctrl::read_machine(Texts(files), {}, {});
  ASSERT_TRUE(machine) << machine.error().text();
  std::string text;
  for (const auto& [resource, control] : machine->capabilities.controls)
    text += fmt::format("{}: {}, of '{}', {} bits\n", resource.name(), describe(resource, control),
                        control.resource, control.min_bits);
  EXPECT_EQ(text,
            "GMB: GBps, of 'MB', 0 bits\n"
            "GSMBA: GBps, of 'SMBA', 0 bits\n"
            "L3PBM: a bit mask without gaps, of ff, of '', 2 bits\n"
            "MBHDL: a number, of '', 0 bits\n"
            "MBPRI: a number, of '', 0 bits\n");
}

// The most that AMD's rates count up to: as described, or else as groups have it.
TEST(Read, HighestRate) {
  const struct {
    const char* value;
    const char* maximum;
    uint32_t unlimited;
  } rows[] = {{"100", nullptr, 2048},
              {"3000", nullptr, 4096},
              {"8192", nullptr, 8192},
              {"100", "8191\n", 8191},
              {"8191", "8191\n", 8191}};
  for (const auto& row : rows) {
    auto files = group_files("", fmt::format("MB:0={}\n", row.value), "0\n", "shareable\n");
    files["info/MB/bandwidth_gran"] = "1\n";
    files["info/MB/min_bandwidth"] = "1\n";
    files["info/MB/num_closids"] = "16\n";
    files["info/MB/delay_linear"] = "0\n";
    if (row.maximum != nullptr) files["info/MB/resource_schemata/MB/max"] = row.maximum;
    const auto machine = resctrl::read_machine(Texts(files), {}, {});
    ASSERT_TRUE(machine) << machine.error().text();
    EXPECT_EQ(machine->capabilities.bandwidths.at(Resource::MB).unlimited,
              (std::map<DomainId, uint32_t>{{DomainId{0}, row.unlimited}}));
  }
}

TEST(Read, BandwidthUnit) {
  struct {
    const char* resource;
    const char* delay_linear;  // null: no such file
    const char* root;
    bool mba_MBps;
    BandwidthUnit unit;
    uint32_t unlimited;
  } const rows[] = {
      {"MB", "1\n", "100", false, BandwidthUnit::percent, 100},
      {"MB", nullptr, "10", false, BandwidthUnit::percent, 100},
      // The default group was set to a value that could be a percentage.
      {"MB", "1\n", "80", true, BandwidthUnit::mbps, 4294967290},
      {"MB", "1\n", "4294967295", true, BandwidthUnit::mbps, 4294967290},
      // A copy that lacks its mount options.
      {"MB", "1\n", "4294967295", false, BandwidthUnit::mbps, 4294967290},
      {"MB", "0\n", "2048", false, BandwidthUnit::eighth_gbps, 2048},
      {"MB", "0\n", "80", false, BandwidthUnit::eighth_gbps, 2048},
      {"MB", "0\n", "4096", false, BandwidthUnit::eighth_gbps, 4096},
      {"MB", "0\n", "2500", false, BandwidthUnit::eighth_gbps, 4096},
      {"MB", "0\n", "4294967295", false, BandwidthUnit::eighth_gbps, 1U << 31},
      {"SMBA", "0\n", "2048", true, BandwidthUnit::eighth_gbps, 2048},
  };
  for (const auto& row : rows) {
    const std::string resource = row.resource;
    const std::string info = "info/" + resource + "/";
    auto files = group_files("", resource + ":65536=" + row.root + "\n", "0-3\n", "shareable\n");
    files[info + "bandwidth_gran"] = "10\n";
    files[info + "min_bandwidth"] = "10\n";
    files[info + "num_closids"] = "8\n";
    if (row.delay_linear != nullptr) files[info + "delay_linear"] = row.delay_linear;
    const auto machine =
        resctrl::read_machine(Texts(files), MountOptions{.mba_MBps = row.mba_MBps}, {});
    ASSERT_TRUE(machine) << machine.error().text();
    const BandwidthInfo& bandwidth = machine->capabilities.bandwidths.at(*parse_resource(resource));
    EXPECT_EQ(bandwidth.unit, row.unit) << resource << " " << row.root;
    EXPECT_EQ(bandwidth.unlimited, (std::map<DomainId, uint32_t>{{DomainId{65536}, row.unlimited}}))
        << resource << " " << row.root;
  }
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
    Texts texts(files);
    if (row.error != 0) texts.fail("info/L3/io_alloc_cbm", row.error);
    const auto root = parse_schemata("L3:0=ffff;1=ffff").value();
    EXPECT_EQ(resctrl::read_capabilities(texts, root, {})->caches.at(Resource::L3).io_alloc,
              row.supported);
    const auto snapshot = resctrl::read_snapshot(texts);
    EXPECT_EQ(snapshot ? schemata_line(snapshot->io) : snapshot.error().text(), row.found);
  }
}

TEST(Read, NoMaskIsEmpty) {
  auto files = group_files("", "L3:0=ffff\n", "0-3\n", "shareable\n");
  files["info/L3/cbm_mask"] = "ffff\n";
  files["info/L3/min_cbm_bits"] = "0\n";
  files["info/L3/num_closids"] = "16\n";
  const auto machine = resctrl::read_machine(Texts(files), {}, {});
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
  files.merge(group_files("gone", "L3:0=f\n", "\n", "shareable\n"));
  files.merge(group_files("going", "L3:0=f\n", "\n", "shareable\n"));
  files.merge(group_files("of a later kernel", "L3:0=f\n", "4\n", "coscheduled\n"));
  files.merge(group_files("odd", "L3:0=many\n", "\n", "shareable\n"));
  files["info/last_cmd_status"] = "ok\n";
  files["mon_groups/z/tasks"] = "";
  files["mon_data/mon_MB_01/mbm_total_bytes"] = "1\n";
  Texts texts(files);
  texts.fail("hidden/schemata", EACCES);
  texts.fail("gone/mode", ENOENT);
  texts.fail("going/cpus_list", ENODEV);
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
    const auto group = resctrl::read_group(Texts(files), "");
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
    ASSERT_TRUE(resctrl::read_machine(Texts(files), {}, {}));
    if (row.text != nullptr) files[row.file] = row.text;
    Texts texts(files);
    if (row.text == nullptr) texts.fail(row.file, EACCES);
    const auto machine = resctrl::read_machine(texts, {}, {});
    ASSERT_FALSE(machine) << row.file;
    EXPECT_EQ(machine.error().text(), row.error);
  }
}

}  // namespace
}  // namespace rdtd
