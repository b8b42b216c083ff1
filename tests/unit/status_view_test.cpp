// The tables of status, list and regions, on a machine of 16 domains: no line is wider than 120
// columns.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "files.hpp"
#include "rdtd/base/text.hpp"
#include "regions.hpp"
#include "status_view.hpp"
#include "value_text.hpp"

namespace rdtd {
namespace {

Context piped() {
  Context out;
  out.resctrl = "/nonexistent";
  return out;
}

std::string printed(const auto& print_it) {
  testing::internal::CaptureStdout();
  print_it();
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

size_t widest_line_of(const std::string& text) {
  size_t out = 0;
  for (const std::string_view line : split(text, '\n')) out = std::max(out, line.size());
  return out;
}

Capabilities rates(BandwidthUnit unit, uint32_t unlimited) {
  Capabilities out;
  BandwidthInfo& mb = out.bandwidths[Resource::MB];
  mb.unit = unit;
  for (unsigned id = 0; id < 16; id++) mb.unlimited[DomainId{id}] = unlimited;
  return out;
}

// A group with the value of `amount` for each domain.
Client::GroupRow row(const std::string& name, const auto& asked, const auto& mask,
                     const auto& bandwidth) {
  Client::GroupRow out{.name = name, .mode = "exclusive", .cpus = "0-27,56-83", .rules = 12};
  out.tasks = 12345;
  for (unsigned id = 0; id < 16; id++) {
    out.asked.push_back({"L3", id, asked(id)});
    out.granted.push_back({"L3", id, mask(id)});
    out.granted.push_back({"MB", id, bandwidth(id)});
  }
  return out;
}

TEST(StatusView, SixteenDomains) {
  const auto same = [](const char* text) { return [text](unsigned) { return std::string(text); }; };
  Status status;
  status.capabilities = rates(BandwidthUnit::eighth_gbps, 2048);
  status.groups = {row("redis", same("4 ways"), same("f"),
                       [](unsigned id) { return std::string(id < 8 ? "20" : "2048"); }),
                   row(
                       "each-domain-has-its-own",
                       [](unsigned id) { return fmt::format("ways {}-{}", id, id + 1); },
                       [](unsigned id) { return fmt::format("{:x}", 3U << id); },
                       [](unsigned id) { return std::to_string(100 + id); })};
  const std::string table = printed([&] { print_groups(piped(), status); });
  EXPECT_LE(widest_line_of(table), 120U) << table;
  EXPECT_TRUE(table.contains("L3:0-15=4 ways")) << table;
  EXPECT_TRUE(table.contains("MB:0-7=2.5 GB/s;")) << table;
  EXPECT_TRUE(table.contains("8-15=unlimited")) << table;
  EXPECT_FALSE(table.contains("ways\n")) << table;
  // Also with a heading that is not there, and on a terminal that is narrower.
  Context narrow = piped();
  narrow.legend = false;
  narrow.columns = 110;
  const std::string narrower = printed([&] { print_groups(narrow, status); });
  EXPECT_LE(widest_line_of(narrower), 110U) << narrower;
}

// The line of a group, without blanks at the ends of its lines.
std::string group_line(const Status& status, const Context& context) {
  const std::string table = printed([&] { print_groups(context, status); });
  std::string out;
  for (const std::string_view line : split(table, '\n'))
    out += fmt::format("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  return out.substr(out.find('\n') + 1);
}

// Amounts as people say them, once if all domains are alike, and at 80 columns too.
TEST(StatusView, Amounts) {
  Status status;
  status.capabilities = rates(BandwidthUnit::percent, 100);
  BandwidthInfo& mb = status.capabilities.bandwidths[Resource::MB];
  mb.unlimited = {{DomainId{0}, 100}, {DomainId{1}, 100}};
  CacheInfo& l3 = status.capabilities.caches[Resource::L3];
  l3.way_bytes = {{DomainId{0}, 1408 << 10}, {DomainId{1}, 1408 << 10}};
  status.groups = {{.name = "redis", .mode = "exclusive"}};
  status.groups[0].asked = {{"L3", 0, "4 ways"}, {"L3", 1, "4 ways"}};
  status.groups[0].granted = {
      {"L3", 0, "f"}, {"L3", 1, "f"}, {"MB", 0, "20"}, {"MB", 1, "100"}, {"NEW", 0, "x"}};
  EXPECT_EQ(group_line(status, piped()),
            "redis     0     0 exclusive -    L3:4 ways L3:4 ways 5.50 MiB MB:0=20%;1=100% NEW:0=x "
            "        -         -\n\n");
  Context narrow = piped();
  narrow.columns = 80;
  EXPECT_EQ(group_line(status, narrow),
            "redis     0     0 exclusive -    L3:4 ways L3:4 ways               -         -\n"
            "                                           5.50 MiB\n"
            "                                           MB:0=20%;1=100%\n"
            "                                           NEW:0=x\n\n");
  l3.way_bytes[DomainId{1}] = 0;
  status.groups[0].granted = {{"L3", 0, "f"}, {"L3", 1, "f"}};
  EXPECT_TRUE(group_line(status, piped()).contains(" L3:0=4 ways 5.50 MiB;1=4 ways "));
}

class StatusViewFiles : public Files {};

TEST_F(StatusViewFiles, NoPolicy) {
  Context context = piped();
  context.root = root_.string();
  Status status;
  ManagerProperties& daemon = status.daemon;
  daemon.state = "running";
  const auto policy = [&] {
    const std::string text = printed([&] { print_state(context, status); });
    const size_t begin = text.find("Policy: ") + 8;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(policy(),
            "none: there is no *.toml file in /etc/rdtd, and nothing is divided: see rdtctl init");
  put("etc/rdtd/20.toml", "");
  EXPECT_EQ(
      policy(),
      "none: the *.toml files in /etc/rdtd are empty, and nothing is divided: see rdtctl init");
  put("etc/rdtd/10.toml", "[group.a]\n");
  EXPECT_EQ(policy(), "none since the last reset; rdtctl reload puts 1 file in force");
  daemon.last_reload_error = "p.toml:1:1: error: x";
  EXPECT_EQ(policy(), "0 files, loaded never");
  daemon.config_files = {"/etc/rdtd/10.toml"};
  EXPECT_EQ(policy(), "1 file, loaded never");
}

// The reload that failed is there once, with its error.
TEST(StatusView, LastReloadFailed) {
  Status status;
  status.daemon.state = "degraded";
  status.daemon.config_files = {"/etc/rdtd/10.toml"};
  status.daemon.last_reload_error = "p.toml:1:1: error: x";
  const auto end = [&](const char* problem) {
    status.daemon.problems = {problem, "other"};
    const std::string text = printed([&] { print_state(piped(), status); });
    return text.substr(text.find("    Problem"));
  };
  EXPECT_EQ(end("the last reload failed"),
            "    Problem: other\n"
            "Last reload failed, the policy before it is in force:\n"
            "p.toml:1:1: error: x\n\n");
  EXPECT_EQ(end("the last reload failed: it is tried again, after growing pauses"),
            "    Problem: other\n"
            "Last reload failed: it is tried again, after growing pauses; the policy before it is "
            "in force:\n"
            "p.toml:1:1: error: x\n\n");
}

// As doctor warns of it.
TEST(StatusView, NoClosidIsFree) {
  Status status;
  CacheInfo& l3 = status.capabilities.caches[Resource::L3];
  l3.num_closids = 4;
  status.now.groups = {{"", {}}, {"redis", {}}, {"COS1", {}}};
  status.now.owned = {"redis"};
  const auto warning = [&] {
    const std::string text = printed([&] { print_state(piped(), status); });
    const size_t begin = text.find("    Warning: ");
    return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(warning(), "");
  status.now.groups["COS2"];
  EXPECT_EQ(warning(),
            "    Warning: no CLOSID is free: of 4 CLOSIDs, the default group uses 1, rdtd 1, "
            "others 2 (COS1, COS2); see rdtctl doctor");
  status.now.owned = {"redis", "COS1", "COS2"};
  EXPECT_EQ(warning(), "");
}

// One line, whatever there was.
TEST(StatusView, Contention) {
  Status status;
  const auto line = [&] {
    const std::string text = printed([&] { print_state(piped(), status); });
    const size_t begin = text.find(" Contention: ");
    return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
  };
  const auto add = [&](const char* taker, const char* sufferer) {
    EpisodeRow row;
    row.takers = {taker};
    row.sufferers = {sufferer, "another"};
    status.observed.episodes.push_back(row);
  };
  EXPECT_EQ(line(), "");
  status.observed.episodes.push_back({.kind = "none", .sufferers = {"redis"}});
  EXPECT_EQ(line(), "");
  add("batch", "redis");
  EXPECT_EQ(line(), " Contention: 1 episode in the last hour, batch -> redis: rdtctl blame");
  add("batch", "redis");
  add("a", "redis");
  add("b", "redis");
  add("c", "redis");
  EXPECT_EQ(line(),
            " Contention: 5 episodes in the last hour, batch -> redis, a -> redis, b -> redis, "
            "...: rdtctl blame");
}

TEST(StatusView, Guard) {
  const struct {
    const char *mode, *problem, *expected;
  } rows[] = {
      {"", "", ""},  // rdtd-observer does not run
      {"off", "", ""},
      {"on", "", "      Guard: on"},
      {"shadow", "no step now: drift: group 'batch'",
       "      Guard: shadow: no step now: drift: group 'batch'"},
      {"on", "its amounts are not in force: only root may do this",
       "      Guard: on: its amounts are not in force: only root may do this"},
  };
  for (const auto& row : rows) {
    Status status;
    status.observed.guard.mode = row.mode;
    status.observed.guard.problem = row.problem;
    const std::string text = printed([&] { print_state(piped(), status); });
    const size_t begin = text.find("      Guard: ");
    EXPECT_EQ(begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin),
              row.expected);
  }
}

// The kernel has no exclusive mode for ways that devices fill too.
TEST(StatusView, ExclusiveButForDevices) {
  const auto mode = [](const char* of_default, const char* of_redis, uint32_t shareable) {
    Status status;
    CacheInfo& l3 = status.capabilities.caches[Resource::L3];
    l3.shareable_bits = Cbm{shareable};
    l3.way_bytes[DomainId{0}] = 0;
    for (const auto& [name, mask] : {std::pair("", of_default), std::pair("redis", of_redis)}) {
      status.now.groups[name].schemata = *parse_schemata(std::string("L3:0=") + mask + "\n");
      Client::GroupRow& row = status.groups.emplace_back();
      row.name = group_label(name);
      row.mode = "shareable";
      row.granted = {{"L3", 0, mask}};
    }
    const std::string table = printed([&] { print_groups(piped(), status); });
    return split(table, '\n').size() == 4 ? table : "";
  };
  const std::string note = "exclusive (not from devices)";
  EXPECT_TRUE(mode("f", "f0", 0xc0).contains("redis       0     0 " + note))
      << mode("f", "f0", 0xc0);
  EXPECT_TRUE(mode("f", "f0", 0xff).contains("default     0     0 shareable"));
  EXPECT_FALSE(mode("f", "f0", 0xf).contains(note));
  EXPECT_FALSE(mode("1f", "f0", 0xc0).contains(note));
}

TEST(StatusView, Regions) {
  const std::vector<LockStatus> locks = {
      {"buffer", "L2", 1, "1 MiB", "3", 1 << 20, "/dev/pseudo_lock/buffer", "alice", "root", "0660",
       "locked", ""},
      {"small", "L2", 0, "", "c", 0, "/dev/pseudo_lock/small", "", "", "", "waiting", "in use"},
      {"late", "L2", 2, "2 ways", "3", 1 << 20, "/dev/pseudo_lock/late", "root", "root", "0600",
       "missing", "no memory"}};
  EXPECT_EQ(printed([&] { print_policy_regions(piped(), locks); }),
            "\n"
            "REGION CACHE DOMAIN ASKED  GRANTED              DEVICE                  STATE\n"
            "buffer L2         1 1 MiB  2 ways (3), 1.00 MiB /dev/pseudo_lock/buffer locked\n"
            "small  L2         0 -      2 ways (c)           /dev/pseudo_lock/small  waiting\n"
            "late   L2         2 2 ways -                    /dev/pseudo_lock/late   missing\n");
  EXPECT_EQ(printed([&] { print_policy_regions(piped(), {}); }), "");
  EXPECT_EQ(
      policy_regions_json({locks.begin(), locks.begin() + 1}).dump(),
      "[{\"pseudo_lock\":\"buffer\",\"resource\":\"L2\",\"domain\":1,\"asked\":\"1 MiB\","
      "\"mask\":\"3\",\"bytes\":1048576,\"device\":\"/dev/pseudo_lock/buffer\",\"owner\":"
      "\"alice\",\"group\":\"root\",\"mode\":\"0660\",\"state\":\"locked\",\"reason\":\"\"}]");
}

TEST(ValueText, Table) {
  const struct {
    Capabilities machine;
    const char* schemata;
    const char* text;
  } rows[] = {
      {rates(BandwidthUnit::percent, 100), "L3:0=f;1=f\nMB:0=20;1=100", "L3:0-1=f MB:0=20;1=100"},
      {rates(BandwidthUnit::mbps, 4294967290), "MB:0=800;1=4294967295",
       "MB:0=800 MiB/s;1=unlimited"},
      {rates(BandwidthUnit::eighth_gbps, 2048), "MB:0=16;1=1;2=2048",
       "MB:0=2 GB/s;1=0.125 GB/s;2=unlimited"},
      // What the machine says nothing of stays the kernel's number.
      {{}, "MB:0=20", "MB:0=20"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(schemata_text(row.machine, *parse_schemata(row.schemata)), row.text);
}

}  // namespace
}  // namespace rdtd
