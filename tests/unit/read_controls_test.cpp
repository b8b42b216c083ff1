// Reading what a machine controls: bandwidths, their units and highest rates, and CLOSIDs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "daemon/machines.hpp"
#include "fake/kernel.hpp"
#include "rdtd/resctrl/read.hpp"
#include "fixed_texts.hpp"

namespace rdtd {
namespace {

using test::FixedTexts;
using test::group_files;

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
    const auto machine = resctrl::read_machine(FixedTexts(described), {}, {});
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
  const auto machine = resctrl::read_machine(FixedTexts(files), {}, {});
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
  const auto machine = resctrl::read_machine(FixedTexts(files), {}, {});
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

// A control without its unit or range would make the policy invalid, and amounts that are read
// otherwise than they were written would look like another tool's.
TEST(Read, AFailedReadingOfInfoIsAnError) {
  fake::Machine rounding = test::arm();
  rounding.controls.at(Resource::MB).fraction_bits = 6;
  rounding.controls.at(Resource::MB).bandwidth_gran = 2;
  for (const fake::Machine& machine : {rounding, test::open_euler(), test::native(),
                                       test::amd_nodes(), fake::with_mbps(fake::xeon())}) {
    fake::Kernel kernel(machine);
    ASSERT_TRUE(kernel.resctrl.make("a"));
    (void)kernel.resctrl.write("a/schemata", "MB:0=10\n");
    const Machine whole = *resctrl::read_machine(kernel, {}, {});
    const std::vector<fake::Call> calls = kernel.calls.log();
    for (const fake::Call& call : calls) {
      if (!call.path.starts_with("info") || call.path.ends_with("/mon_features")) continue;
      kernel.calls.reset();
      kernel.calls.fail(call.number, EMFILE);
      const auto read = resctrl::read_machine(kernel, {}, {});
      if (!read) continue;
      EXPECT_TRUE(read->capabilities == whole.capabilities) << call.text();
      EXPECT_TRUE(read->snapshot.groups == whole.snapshot.groups ||
                  read->snapshot.unreadable.contains("a"))
          << call.text();
    }
  }
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
    const auto machine = resctrl::read_machine(FixedTexts(files), {}, {});
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
    const char* bandwidth_gran = "1\n";
  } const rows[] = {
      // No such machine is known, and no AMD processor is one.
      {"MB", "0\n", "100", false, BandwidthUnit::percent, 100, "10\n"},
      {"MB", "1\n", "100", false, BandwidthUnit::percent, 100, "10\n"},
      {"MB", nullptr, "10", false, BandwidthUnit::percent, 100, "10\n"},
      // The default group was set to a value that could be a percentage.
      {"MB", "1\n", "80", true, BandwidthUnit::mbps, 4294967290, "10\n"},
      {"MB", "1\n", "4294967295", true, BandwidthUnit::mbps, 4294967290, "10\n"},
      // A copy that lacks its mount options.
      {"MB", "1\n", "4294967295", false, BandwidthUnit::mbps, 4294967290, "10\n"},
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
    files[info + "bandwidth_gran"] = row.bandwidth_gran;
    files[info + "min_bandwidth"] = "10\n";
    files[info + "num_closids"] = "8\n";
    if (row.delay_linear != nullptr) files[info + "delay_linear"] = row.delay_linear;
    const auto machine =
        resctrl::read_machine(FixedTexts(files), MountOptions{.mba_MBps = row.mba_MBps}, {});
    ASSERT_TRUE(machine) << machine.error().text();
    const BandwidthInfo& bandwidth = machine->capabilities.bandwidths.at(*parse_resource(resource));
    EXPECT_EQ(bandwidth.unit, row.unit) << resource << " " << row.root;
    EXPECT_EQ(bandwidth.unlimited, (std::map<DomainId, uint32_t>{{DomainId{65536}, row.unlimited}}))
        << resource << " " << row.root;
  }
}

}  // namespace
}  // namespace rdtd
