// The pure parts of rdtctl: the rates of top, devices and metrics.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "context.hpp"
#include "lock_devices.hpp"
#include "metrics_text.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"
#include "usage.hpp"

namespace rdtd {
namespace {

// One group in one domain.
DomainCounters counted(const std::string& group, const std::string& resource, unsigned domain,
                       std::map<std::string, CounterValue> counters) {
  return {group, resource, DomainId{domain}, std::move(counters)};
}

std::string shown(const std::vector<Usage>& usage) {
  std::string out;
  for (const Usage& of : usage) {
    out += of.group + " " + domain_text(of);
    for (const auto& [counter, used] : of.counters)
      out += " | " + counter + " " + used_text(counter, used);
    out += "\n";
  }
  return out;
}

// Whoever has rdtd's name, or rdtd-observer's, on the bus chose the text.
TEST(Report, AnAnswerOfTheBusDrivesNoTerminal) {
  testing::internal::CaptureStderr();
  (void)report(Client::Failure{Client::Failure::Kind::timed_out, "\x1b]0;owned\a\x1b[2Jhello"});
  (void)report(Client::Failure{Client::Failure::Kind::refused, "p.toml:1: \x1b[2J\n  1 | x\n"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "rdtctl: ?]0;owned??[2Jhello\np.toml:1: ?[2J\n  1 | x\n");
}

// What several kinds of domains count is the same traffic, whatever the order of their names.
TEST(Usage, OneKindOfDomainIsSummed) {
  using std::chrono::seconds;
  const uint64_t mib = 1 << 20;
  const auto reading = [&](int at, uint64_t clusters, uint64_t channels) {
    const std::string t = "mbm_total_bytes";
    return Reading{
        std::chrono::steady_clock::time_point{} + seconds(at),
        {counted("a", "CLUSTER", 0, {{t, clusters}}), counted("a", "MB", 0, {{t, channels}}),
         counted("a", "MB", 1, {{t, channels}}), counted("a", "NODE", 0, {{t, clusters}})}};
  };
  EXPECT_EQ(shown(usage_between(reading(0, 0, 0), reading(1, 8 * mib, mib), Domains::summed)),
            "a all | mbm_total_bytes 2.0 MiB/s\n");
}

TEST(Usage, Rates) {
  using std::chrono::seconds;
  const uint64_t mib = 1 << 20;
  const std::string o = "llc_occupancy", t = "mbm_total_bytes";
  const std::chrono::steady_clock::time_point start{};
  const Reading before{
      start,
      {counted("", "L3", 0, {{o, mib}, {t, mib}}), counted("a", "L3", 0, {{o, mib}, {t, 5 * mib}}),
       counted("a", "L3", 1, {{o, mib}, {t, NoCount::unavailable}}),
       counted("a", "L3", 2, {{t, mib}})}};
  const Reading now{start + seconds(2),
                    {counted("", "L3", 0, {{o, 2 * mib}, {t, 3 * mib}}),
                     counted("a", "L3", 0, {{o, 3 * mib}, {t, 4 * mib}}),
                     counted("a", "L3", 1, {{o, NoCount::error}, {t, 7 * mib}}),
                     counted("a", "L3", 2, {{t, 9 * mib}}),
                     counted("a/mon_groups/m", "L3", 0, {{o, mib / 4}, {t, mib}})}};
  // A counter that has gone back, that could not be read or was not there before has no rate.
  EXPECT_EQ(shown(usage_between(before, now, Domains::apart)),
            "default 0 | llc_occupancy 2.00 MiB | mbm_total_bytes 1.0 MiB/s\n"
            "a 0 | llc_occupancy 3.00 MiB | mbm_total_bytes -\n"
            "a 1 | llc_occupancy Error | mbm_total_bytes -\n"
            "a 2 | mbm_total_bytes 4.0 MiB/s\n"
            "a/m 0 | llc_occupancy 256 KiB | mbm_total_bytes -\n");
  EXPECT_EQ(shown(usage_between(before, now, Domains::summed)),
            "default all | llc_occupancy 2.00 MiB | mbm_total_bytes 1.0 MiB/s\n"
            "a all | llc_occupancy 3.00 MiB+ | mbm_total_bytes 4.0 MiB/s+\n"
            "a/m all | llc_occupancy 256 KiB | mbm_total_bytes -\n");
}

// The sum of a control group jumps when a monitoring group comes to it: nobody moved these bytes.
TEST(Usage, AJumpIsNoRate) {
  const std::chrono::steady_clock::time_point start{};
  constexpr uint64_t tib = uint64_t{1} << 40;
  const auto reading = [&](int second, uint64_t bytes) {
    return Reading{start + std::chrono::seconds(second),
                   {counted("a", "L3", 0, {{"mbm_total_bytes", bytes}, {"uops_retired", bytes}})}};
  };
  EXPECT_EQ(shown(usage_between(reading(1, 0), reading(2, 20 * tib), Domains::summed)),
            "a all | mbm_total_bytes - | uops_retired 21990232555520/s\n");
  EXPECT_EQ(shown(usage_between(reading(1, 0), reading(21, 20 * tib), Domains::summed)),
            "a all | mbm_total_bytes 1048576.0 MiB/s | uops_retired 1099511627776/s\n");
}

// What the kernel does not count is told in its words, and nothing is counted twice.
TEST(Usage, EveryKindOfCounter) {
  const std::chrono::steady_clock::time_point start{};
  const auto reading = [&](int second) {
    const auto n = static_cast<uint64_t>(second);
    return Reading{start + std::chrono::seconds(second),
                   {counted("", "L3", 0, {{"mbm_total_bytes", n << 20}}),
                    counted("", "sub_L3", 0, {{"mbm_total_bytes", n << 19}}),
                    counted("", "sub_L3", 1, {{"mbm_total_bytes", n << 19}}),
                    counted("", "NODE", 0, {{"mbm_total_bytes", n << 20}}),
                    counted("", "PERF_PKG", 0,
                            {{"core_energy", 2.5 * second},
                             {"activity", 0.5 * second},
                             {"uops_retired", n * 1000}}),
                    counted("a", "L3", 0,
                            {{"llc_occupancy", NoCount::unavailable},
                             {"mbm_local_bytes", NoCount::unassigned},
                             {"mbm_total_bytes", NoCount::error}})}};
  };
  EXPECT_EQ(shown(usage_between(reading(1), reading(2), Domains::summed)),
            "default all | activity 0.500 F/s | core_energy 2.5 W | mbm_total_bytes 1.0 MiB/s | "
            "uops_retired 1000/s\n"
            "a all | llc_occupancy Unavailable | mbm_local_bytes Unassigned | mbm_total_bytes "
            "Error\n");
  EXPECT_EQ(shown(usage_between(reading(1), reading(2), Domains::apart)),
            "default 0 | mbm_total_bytes 1.0 MiB/s\n"
            "default sub_L3 0 | mbm_total_bytes 0.5 MiB/s\n"
            "default sub_L3 1 | mbm_total_bytes 0.5 MiB/s\n"
            "default NODE 0 | mbm_total_bytes 1.0 MiB/s\n"
            "default PERF_PKG 0 | activity 0.500 F/s | core_energy 2.5 W | uops_retired 1000/s\n"
            "a 0 | llc_occupancy Unavailable | mbm_local_bytes Unassigned | mbm_total_bytes "
            "Error\n");
}

TEST(LockDevices, UdevIsAskedAgain) {
  std::string directory = "/tmp/rdtd-devices-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  std::filesystem::create_directory(directory + "/buffer");
  std::ofstream(directory + "/buffer/uevent") << "";
  const auto renew = [&] { return renew_device_access(directory, "a-uuid").value_or(99); };
  EXPECT_EQ(renew(), 1U);
  std::ifstream in(directory + "/buffer/uevent");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "change a-uuid\n");
  std::filesystem::remove(directory + "/buffer/uevent");
  EXPECT_EQ(renew(), 0U);  // the region has just gone
  std::filesystem::remove_all(directory);
  EXPECT_EQ(renew(), 0U);  // the kernel cannot lock
}

// What a group uses can be compared with what it may have; no limit is no sample.
TEST(Metrics, WhatIsGranted) {
  MetricsSource source;
  source.capabilities.caches[Resource::L3] = {
      .cbm_mask = Cbm{0xfffff}, .num_closids = 16, .way_bytes = {{DomainId{0}, 1 << 20}}};
  source.capabilities.bandwidths[Resource::MB] = {
      .num_closids = 8, .unit = BandwidthUnit::eighth_gbps, .unlimited = {{DomainId{0}, 2048}}};
  source.snapshot.groups["batch"].schemata = {{Resource::L3, {{DomainId{0}, 0xf0}}},
                                              {Resource::MB, {{DomainId{0}, 16}}}};
  source.snapshot.groups[""].schemata = {{Resource::L3, {{DomainId{0}, 0xf}}},
                                         {Resource::MB, {{DomainId{0}, 2048}}}};
  source.snapshot.groups["region"].mode = Mode::pseudo_locked;  // which holds no CLOSID
  source.snapshot.unreadable = {"theirs"};
  const std::string text = metrics_text(source);
  EXPECT_EQ(text.substr(text.find("# HELP rdtd_granted")),
            "# HELP rdtd_granted_ways Ways of the cache that the group may fill.\n"
            "# TYPE rdtd_granted_ways gauge\n"
            "rdtd_granted_ways{group=\"default\",domain=\"0\"} 4\n"
            "rdtd_granted_ways{group=\"batch\",domain=\"0\"} 4\n"
            "# HELP rdtd_granted_cache_bytes How much the cache has in them.\n"
            "# TYPE rdtd_granted_cache_bytes gauge\n"
            "rdtd_granted_cache_bytes{group=\"default\",domain=\"0\"} 4194304\n"
            "rdtd_granted_cache_bytes{group=\"batch\",domain=\"0\"} 4194304\n"
            "# HELP rdtd_granted_bandwidth_bytes_per_second The group's limit of bandwidth.\n"
            "# TYPE rdtd_granted_bandwidth_bytes_per_second gauge\n"
            "rdtd_granted_bandwidth_bytes_per_second{group=\"batch\",domain=\"0\"} 2000000000\n"
            "# HELP rdtd_closids Control groups that the machine can have, the default one too.\n"
            "# TYPE rdtd_closids gauge\n"
            "rdtd_closids 8\n"
            "# HELP rdtd_control_groups Control groups that hold a CLOSID, the default one too.\n"
            "# TYPE rdtd_control_groups gauge\n"
            "rdtd_control_groups 3\n");
  source.capabilities = {};
  source.snapshot.groups = {{"", {}}};
  source.snapshot.unreadable.clear();
  EXPECT_TRUE(metrics_text(source).contains("\nrdtd_closids 1\n"));
}

TEST(Metrics, Regions) {
  const MetricsSource source{
      .counters = {},
      .capabilities = {},
      .snapshot = {},
      .daemon = {},
      .locks = {
          {.name = "buffer", .resource = "L2", .domain = 1, .bytes = 1 << 20, .state = "locked"},
          {.name = "late", .resource = "L2", .bytes = 512, .state = "missing"}}};
  const std::string text = metrics_text(source);
  EXPECT_EQ(text.substr(text.find("# HELP rdtd_pseudo")),
            "# HELP rdtd_pseudo_lock_bytes Bytes that the region holds in the cache.\n"
            "# TYPE rdtd_pseudo_lock_bytes gauge\n"
            "rdtd_pseudo_lock_bytes{pseudo_lock=\"buffer\",resource=\"L2\",domain=\"1\"} 1048576\n"
            "rdtd_pseudo_lock_bytes{pseudo_lock=\"late\",resource=\"L2\",domain=\"0\"} 0\n"
            "# HELP rdtd_pseudo_lock_state 1 for the state that the region is in.\n"
            "# TYPE rdtd_pseudo_lock_state gauge\n"
            "rdtd_pseudo_lock_state{pseudo_lock=\"buffer\",state=\"locked\"} 1\n"
            "rdtd_pseudo_lock_state{pseudo_lock=\"buffer\",state=\"waiting\"} 0\n"
            "rdtd_pseudo_lock_state{pseudo_lock=\"buffer\",state=\"missing\"} 0\n"
            "rdtd_pseudo_lock_state{pseudo_lock=\"late\",state=\"locked\"} 0\n"
            "rdtd_pseudo_lock_state{pseudo_lock=\"late\",state=\"waiting\"} 0\n"
            "rdtd_pseudo_lock_state{pseudo_lock=\"late\",state=\"missing\"} 1\n");
  // Machines without regions have none of it.
  EXPECT_FALSE(metrics_text({}).contains("pseudo_lock"));
}

}  // namespace
}  // namespace rdtd
