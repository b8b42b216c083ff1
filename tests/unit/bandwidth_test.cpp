// Amounts of memory bandwidth on machines that count in percent, and on those that count rates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace rdtd {
namespace {

using test::group_state;
using test::machine;
using test::plan_text;
using test::untouched;

TEST(Bandwidth, Amounts) {
  struct {
    BandwidthUnit unit;
    unsigned gran;
    unsigned min;
    uint32_t unlimited;
    const char* amount;
    uint32_t value;
  } const rows[] = {
      {BandwidthUnit::percent, 10, 10, 100, "50%", 50},
      {BandwidthUnit::percent, 10, 10, 100, "51%", 60},
      {BandwidthUnit::percent, 10, 10, 100, "1%", 10},
      {BandwidthUnit::percent, 10, 20, 100, "1%", 20},
      {BandwidthUnit::percent, 10, 15, 100, "1%", 20},
      {BandwidthUnit::percent, 7, 10, 100, "1%", 14},
      {BandwidthUnit::percent, 7, 7, 100, "99.5%", 100},
      {BandwidthUnit::percent, 2, 2, 100, "0.1%", 2},
      {BandwidthUnit::percent, 2, 2, 100, "9%", 10},
      {BandwidthUnit::percent, 2, 2, 100, "98%", 98},
      {BandwidthUnit::percent, 7, 6, 100, "91%", 91},
      {BandwidthUnit::percent, 7, 6, 100, "92%", 100},
      {BandwidthUnit::percent, 10, 10, 100, "unlimited", 100},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "8 GB/s", 64},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "800 MiB/s", 7},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "1 KB/s", 1},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "255.9 GB/s", 2048},
      {BandwidthUnit::eighth_gbps, 1, 0, 2048, "unlimited", 2048},
      {BandwidthUnit::mbps, 1, 10, 4294967295, "800 MiB/s", 800},
      {BandwidthUnit::mbps, 10, 10, 4294967290, "8 GB/s", 7630},
      {BandwidthUnit::mbps, 10, 50, 4294967290, "1 KB/s", 10},
      {BandwidthUnit::mbps, 10, 10, 4294967290, "999999999 GB/s", 4294967290},
      {BandwidthUnit::mbps, 10, 10, 4294967290, "unlimited", 4294967290},
  };
  for (const auto& row : rows) {
    Capabilities capabilities = machine(20, 1);
    BandwidthInfo& mb = capabilities.bandwidths.at(Resource::MB);
    mb.unit = row.unit;
    mb.bandwidth_gran = row.gran;
    mb.min_bandwidth = row.min;
    mb.unlimited = {{DomainId{0}, row.unlimited}};
    EXPECT_EQ(
        plan_text(fmt::format("[group.a]\nmb = \"{}\"\n", row.amount), capabilities,
                  untouched(capabilities)),
        fmt::format("create    a\nschemata  a  L3:0=fffff MB:0={}\n2 steps; groups: 1 to create, 0 "
                    "to change, 0 to remove.\n",
                    row.value))
        << to_string(row.unit) << " " << row.amount;
  }
}

// MPAM keeps a percentage as a fraction of few bits.
TEST(Bandwidth, PercentagesAsTheyAreRead) {
  const struct {
    unsigned bandwidth_gran;
    uint32_t written, read;
  } rows[] = {{10, 10, 10}, {5, 15, 15},  {1, 33, 33},    {2, 10, 9},   {2, 12, 13},  {2, 50, 50},
              {2, 2, 2},    {4, 4, 3},    {7, 49, 50},    {7, 98, 100}, {13, 13, 13}, {13, 26, 25},
              {25, 25, 25}, {50, 50, 50}, {50, 100, 100}, {2, 100, 100}};
  for (const auto& row : rows)
    EXPECT_EQ(percent_as_read(row.written, row.bandwidth_gran), row.read)
        << row.bandwidth_gran << " " << row.written;
}

// Only steps that no other kernel has are of those that read otherwise than was written.
TEST(Bandwidth, PercentagesThatMayReadOtherwise) {
  for (const auto& [step, slack] : {std::pair{1U, 3U},
                                    {3U, 5U},
                                    {6U, 8U},
                                    {12U, 14U},
                                    {2U, 0U},
                                    {4U, 0U},
                                    {5U, 0U},
                                    {7U, 0U},
                                    {10U, 0U},
                                    {13U, 0U},
                                    {25U, 0U},
                                    {50U, 0U}})
    EXPECT_EQ(percent_slack(step), slack) << step;
  Capabilities capabilities;
  BandwidthInfo& mb = capabilities.bandwidths[Resource::MB];
  EXPECT_EQ(capabilities.slack_of(Resource::MB), 3U);
  EXPECT_EQ(capabilities.slack_of(Resource::L3), 0U);
  mb.unit = BandwidthUnit::eighth_gbps;
  EXPECT_EQ(capabilities.slack_of(Resource::MB), 0U);
  const Resource floor("MBMIN", false);
  capabilities.controls[floor];
  EXPECT_EQ(capabilities.slack_of(floor), 0U);
  capabilities.controls[floor].unit = "percent";
  EXPECT_EQ(capabilities.slack_of(floor), 3U);
  capabilities.controls[floor].resource = "MB";
  EXPECT_EQ(capabilities.slack_of(floor), 0U);
}

// The most that eighths of a GB/s count up to.
TEST(Bandwidth, RatesThatLimitNothing) {
  Capabilities capabilities;
  BandwidthInfo& mb = capabilities.bandwidths[Resource::MB];
  mb.num_closids = 16;
  mb.unit = BandwidthUnit::eighth_gbps;
  mb.unlimited = {{DomainId{0}, 2048}, {DomainId{1}, 2048}};
  Snapshot snapshot;
  snapshot.groups[""].schemata[Resource::MB] = mb.unlimited;
  const auto warnings = [&](const std::string& amount) {
    const auto plan =
        make_plan(test::parse("[group.a]\nmb = " + amount + "\n").policy, capabilities, snapshot);
    std::string text;
    for (const Diagnostic& warning : plan->warnings) text += warning.message + "; ";
    return text;
  };
  EXPECT_EQ(warnings("\"256 GB/s\"") + warnings("\"unlimited\""), "");
  EXPECT_EQ(
      warnings("\"257 GB/s\""),
      "'257 GB/s' is taken as no limit: by what groups have, MB counts up to 256 GB/s here; ");
  EXPECT_EQ(warnings("\"999999999 GB/s\""),
            "'999999999 GB/s' is taken as no limit: by what groups have, MB counts up to 256 GB/s "
            "here; ");
  EXPECT_EQ(
      warnings("[\"50%\", \"300 GB/s\"]"),
      "'300 GB/s' is taken as no limit: by what groups have, MB counts up to 256 GB/s here; ");
}

TEST(Bandwidth, PercentIsRefusedOnMachinesWithRates) {
  Capabilities capabilities = machine(20, 1);
  for (const BandwidthUnit unit : {BandwidthUnit::mbps, BandwidthUnit::eighth_gbps}) {
    capabilities.bandwidths.at(Resource::MB).unit = unit;
    EXPECT_EQ(plan_text("[group.a]\nmb = \"50%\"\n", capabilities, untouched(capabilities)),
              "p.toml:2:6: error: '50%' is a percentage, and MB counts rates here\n    2 | mb = "
              "\"50%\"\n      |      ^~~~~ write a rate, such as \"8 GB/s\"; for machines of both "
              "kinds, write mb = [\"50%\", \"8 GB/s\"]\n");
  }
}

TEST(Bandwidth, TheFormThatTheControlTakes) {
  Capabilities capabilities = machine(20, 1);
  const std::string policy =
      "[group.a]\nmb = [\"60%\", \"8 GB/s\"]\n[group.b]\nmb = { \"0\" = [\"4 GB/s\", "
      "\"unlimited\"] }\n";
  EXPECT_EQ(plan_text(policy, capabilities, untouched(capabilities)),
            "create    a\nschemata  a  L3:0=fffff MB:0=60\ncreate    b\nschemata  b  L3:0=fffff "
            "MB:0=100\n4 steps; groups: 2 to create, 0 to change, 0 to remove.\n");
  BandwidthInfo& mb = capabilities.bandwidths.at(Resource::MB);
  mb.unit = BandwidthUnit::eighth_gbps;
  mb.unlimited = {{DomainId{0}, 2048}};
  mb.bandwidth_gran = mb.min_bandwidth = 1;
  EXPECT_EQ(plan_text(policy, capabilities, untouched(capabilities)),
            "create    a\nschemata  a  L3:0=fffff MB:0=64\ncreate    b\nschemata  b  L3:0=fffff "
            "MB:0=32\n4 steps; groups: 2 to create, 0 to change, 0 to remove.\n");
}

// A group that had a limit must lose it, and a new one must not depend on the state that the kernel
// gives it.
TEST(Bandwidth, NoLimitIsWrittenOnMachinesWithRates) {
  Capabilities capabilities = machine(20, 1);
  BandwidthInfo& mb = capabilities.bandwidths.at(Resource::MB);
  mb.unit = BandwidthUnit::mbps;
  mb.unlimited = {{DomainId{0}, 4294967290}};
  Snapshot snapshot = untouched(capabilities);
  snapshot.groups.at("").schemata[Resource::MB] = {{DomainId{0}, 4294967295}};
  snapshot.groups["old"] = group_state("L3:0=fffff\nMB:0=500\n");
  snapshot.owned = {"old"};
  EXPECT_EQ(plan_text("[group.old]\nmb = \"unlimited\"\n[group.new]\n", capabilities, snapshot),
            "schemata  old  MB:0=4294967290 (was 0=500)\ncreate    new\nschemata  new  L3:0=fffff "
            "MB:0=4294967290\n3 steps; groups: 1 to create, 1 to change, 0 to remove.\n");
  mb.unit = BandwidthUnit::eighth_gbps;
  mb.unlimited = {{DomainId{0}, 2048}};
  snapshot.groups.at("").schemata[Resource::MB] = {{DomainId{0}, 2048}};
  EXPECT_EQ(plan_text("[group.old]\n", capabilities, snapshot),
            "schemata  old  MB:0=2048 (was 0=500)\n1 step; groups: 0 to create, 1 to change, 0 to "
            "remove.\n");
}

// Each with what the machine lacks, or what the kernel does itself.
TEST(Bandwidth, WhereTheGuardDoesNothing) {
  Capabilities capabilities = machine(20, 1);
  capabilities.num_rmids.reset();
  const std::string protects = "[guard]\nmode = \"on\"\n[group.a]\nprotected = true\n";
  CountedTraffic traffic;
  const auto warning_of = [&] {
    Snapshot snapshot = untouched(capabilities);
    snapshot.traffic = traffic;
    const std::string text =
        plan_text(protects + "[group.b]\nmb = \"10%..100%\"\n[daemon]\nunsupported = \"skip\"\n",
                  capabilities, snapshot);
    return text.substr(0, text.find('\n'));
  };
  const std::string idle = "p.toml:2:8: warning: the guard does nothing here: ";
  EXPECT_EQ(warning_of(), idle + "this machine does not count the traffic of groups");
  capabilities.bandwidths.clear();
  EXPECT_EQ(warning_of(), idle + "this machine does not divide bandwidth");
  for (const char* name : {"MB_MAX", "MBMAX"}) {
    Control cap;
    cap.unit = "percent";
    cap.domains = {DomainId{0}};
    capabilities.controls = {{Resource(name, false), cap}};
    EXPECT_EQ(warning_of(), fmt::format("{}bandwidth is set by {} here, which the guard does not "
                                        "change",
                                        idle, name));
  }
  capabilities = machine(20, 2);
  traffic = {"MB", {DomainId{2}, DomainId{3}}};
  EXPECT_EQ(warning_of(), idle + "traffic is counted in MB 2-3, and mb is set in domains 0-1");
  for (const CountedTraffic& counted : {CountedTraffic{"L3", {DomainId{0}, DomainId{1}}},
                                        CountedTraffic{"MB", {DomainId{1}}}, CountedTraffic{}}) {
    traffic = counted;
    EXPECT_EQ(warning_of(), "create    a");
  }
  capabilities = machine(20, 1);
  BandwidthInfo& mb = capabilities.bandwidths.at(Resource::MB);
  mb.unit = BandwidthUnit::mbps;
  mb.unlimited = {{DomainId{0}, 4294967290}};
  const std::string policy =
      "[guard]\nmode = \"on\"\n[group.a]\nprotected = true\n[group.b]\nmb = \"1..8 GB/s\"\n";
  const std::string text = plan_text(policy, capabilities, untouched(capabilities));
  EXPECT_TRUE(text.starts_with(
      "p.toml:2:8: warning: the guard does nothing here: resctrl is mounted with mba_MBps, and the "
      "kernel changes the bandwidth by itself\n    2 | mode = \"on\"\n      |        ^~~~\n"
      "create    a\n"))
      << text;
}

}  // namespace
}  // namespace rdtd
