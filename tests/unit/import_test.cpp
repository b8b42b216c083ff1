// import: from the groups in resctrl to a policy.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "import_policy.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {
namespace {

// A machine of two L3 domains with eight ways.
Capabilities two_domains() {
  Capabilities out;
  CacheInfo& cache = out.caches[Resource::L3];
  cache.cbm_mask = Cbm{0xff};
  cache.num_closids = 8;
  cache.way_bytes = {{DomainId{0}, 0}, {DomainId{1}, 0}};
  BandwidthInfo& bandwidth = out.bandwidths[Resource::MB];
  bandwidth = {.bandwidth_gran = 10, .min_bandwidth = 10, .num_closids = 8};
  bandwidth.unlimited = {{DomainId{0}, 100}, {DomainId{1}, 100}};
  return out;
}

GroupState group_state(const char* schemata, Mode mode = Mode::shareable) {
  return {mode, parse_schemata(schemata).value(), {}};
}

TEST(Import, Groups) {
  const GroupState plain = group_state("L3:0=f;1=f\nMB:0=100;1=100");
  const struct {
    const char* name;
    const char* group;
    GroupState state;
    const char* text;
  } rows[] = {
      {"one amount", "a", plain, "\n[group.a]\nadopt = true\nl3 = \"0xf\"\n"},
      {"a table", "a", group_state("L3:0=f;1=f0\nMB:0=20;1=100"),
       "\n[group.a]\nadopt = true\nl3 = { \"0\" = \"0xf\", \"1\" = \"0xf0\" }\n"
       "mb = { \"0\" = \"20%\", \"1\" = \"100%\" }\n"},
      {"a name that is no bare key", "a.b", plain,
       "\n[group.\"a.b\"]\nadopt = true\nl3 = \"0xf\"\n"},
      {"a reserved name", "size", plain,
       "\n# [group.size] is not imported: 'size' cannot be the name of a group: resctrl uses that "
       "name itself\n"},
      {"the name of the root", "default", plain,
       "\n# [group.default] is not imported: a policy uses this name for the resctrl root\n"},
      {"a name that is not UTF-8", "a\xff", plain,
       "\n# [group.\"a?\"] is not imported: its name is not UTF-8\n"},
      {"a region", "a", group_state("L3:0=f", Mode::pseudo_locked),
       "\n# rdtd does not take over a region. Before it loads this, close /dev/pseudo_lock/a and "
       "rmdir /sys/fs/resctrl/a.\n[pseudo_lock.a]\nl3 = { \"0\" = \"0xf\" }\n"},
      {"a region that is being made", "a", group_state("", Mode::pseudo_locksetup),
       "\n# [pseudo_lock.a] is not imported: its region is not chosen yet\n"},
      {"a region whose domain was offline", "a", group_state("", Mode::pseudo_locked),
       "\n# [pseudo_lock.a] is not imported: it has lost its region\n"},
      {"a region with a reserved name", "size", group_state("L3:0=f", Mode::pseudo_locked),
       "\n# [pseudo_lock.size] is not imported: 'size' cannot be the name of a pseudo_lock: "
       "resctrl "
       "uses that name itself\n"},
  };
  for (const auto& row : rows) {
    Snapshot snapshot;
    snapshot.groups[""] = group_state("L3:0=ff;1=ff\nMB:0=100;1=100");
    snapshot.groups[row.group] = row.state;
    EXPECT_EQ(import_policy(two_domains(), snapshot).text, row.text) << row.name;
  }
}

TEST(Import, OwnRegionsWithTheirDevices) {
  Snapshot snapshot;
  snapshot.groups[""] = group_state("L3:0=ff;1=f0\nMB:0=100;1=100");
  snapshot.groups["a"] = group_state("L3:1=f", Mode::pseudo_locked);
  snapshot.owned = {"", "a"};
  const std::string text =
      "\n[group.default]\nl3 = { \"0\" = \"0xff\", \"1\" = \"0xf0\" }\n"
      "\n[pseudo_lock.a]\nl3 = { \"1\" = \"0xf\" }\n";
  EXPECT_EQ(import_policy(two_domains(), snapshot, {{"a", {"root", "root", 0600}}}).text, text);
  const ImportedPolicy imported =
      import_policy(two_domains(), snapshot, {{"a", {"alice", "1000", 0660}}});
  EXPECT_EQ(imported.text, text + "owner = \"alice\"\ngroup = \"1000\"\nmode = \"0660\"\n");
  EXPECT_TRUE(imported.notes.empty());
}

TEST(Import, Rates) {
  Capabilities capabilities = two_domains();
  BandwidthInfo& mb = capabilities.bandwidths.at(Resource::MB);
  mb.unit = BandwidthUnit::eighth_gbps;
  mb.unlimited = {{DomainId{0}, 2048}, {DomainId{1}, 2048}};
  Snapshot snapshot;
  snapshot.groups[""] = group_state("L3:0=ff;1=ff\nMB:0=2048;1=2048");
  snapshot.groups["a"] = group_state("L3:0=f;1=f\nMB:0=20;1=2048");
  EXPECT_EQ(import_policy(capabilities, snapshot).text,
            "\n[group.a]\nadopt = true\nl3 = \"0xf\"\n"
            "mb = { \"0\" = \"2.5 GB/s\", \"1\" = \"unlimited\" }\n");
}

// Without one of its limits, a group that is taken over would lose that limit.
TEST(Import, AGroupThatIsNotWholeIsNotAdopted) {
  Capabilities capabilities = two_domains();
  capabilities.caches[Resource::L3CODE] = capabilities.caches.at(Resource::L3);
  capabilities.caches[Resource::L3DATA] = capabilities.caches.at(Resource::L3);
  capabilities.caches.erase(Resource::L3);
  Snapshot snapshot;
  snapshot.groups[""] = group_state("L3CODE:0=ff;1=ff\nL3DATA:0=ff;1=ff\nMB:0=100;1=100");
  snapshot.groups["a"] = group_state("L3CODE:0=3;1=3\nL3DATA:0=5;1=5\nMB:0=50;1=50\nL2:0=1;1=1");
  EXPECT_EQ(
      import_policy(capabilities, snapshot).text,
      "\n# [group.a] is not imported: not all of it can be in a policy\n# l3data = \"0x5\" is not "
      "imported: a: '0x5' has gaps; masks of L3 domains 0-1 must be contiguous\n");
  snapshot.owned = {"a"};
  EXPECT_EQ(import_policy(capabilities, snapshot).text,
            "\n[group.a]\nl3code = \"0x3\"\n# l3data = \"0x5\" is not imported: a: '0x5' has gaps; "
            "masks of L3 domains 0-1 must be contiguous\nmb = \"50%\"\n");
}

// The values of the default group that are no ends of what the kernel takes.
TEST(Import, ControlsOfTheDefaultGroup) {
  Capabilities capabilities = two_domains();
  const Resource share("L3_MAX", false), limit("MB_HLIM", false);
  for (const auto& [resource, most] : {std::pair(share, 100U), std::pair(limit, 1U)}) {
    Control& control = capabilities.controls[resource];
    control.minimum = 0;
    control.maximum = most;
    control.domains = {DomainId{0}, DomainId{1}};
  }
  Snapshot snapshot;
  GroupState& root = snapshot.groups[""];
  root = group_state("L3:0=ff;1=ff\nMB:0=100;1=100");
  root.schemata[share] = {{DomainId{0}, 100}, {DomainId{1}, 100}};
  root.schemata[limit] = {{DomainId{0}, 0}, {DomainId{1}, 1}};
  EXPECT_EQ(import_policy(capabilities, snapshot).text, "");
  root.schemata[share][DomainId{1}] = 40;
  snapshot.owned = {"a"};
  snapshot.groups["a"] = root;
  EXPECT_EQ(import_policy(capabilities, snapshot).text,
            "\n[group.default]\nl3 = \"0xff\"\ncontrol.L3_MAX = { \"0\" = 100, \"1\" = 40 }\n"
            "\n[group.a]\nl3 = \"0xff\"\ncontrol.L3_MAX = { \"0\" = 100, \"1\" = 40 }\n");
}

TEST(Import, WithoutALimitThereIsNoLine) {
  Capabilities capabilities = two_domains();
  capabilities.bandwidths.at(Resource::MB).unit = BandwidthUnit::mbps;
  Snapshot snapshot;
  snapshot.groups[""] = group_state("L3:0=ff;1=ff\nMB:0=4294967295;1=100");
  EXPECT_EQ(import_policy(capabilities, snapshot).text, "");
}

TEST(Import, OwnGroupsAreNotAdopted) {
  Snapshot snapshot;
  snapshot.groups[""] = group_state("L3:0=ff;1=ff\nMB:0=100;1=100");
  snapshot.groups["a"] = group_state("L3:0=f;1=f\nMB:0=100;1=100");
  snapshot.owned = {"a"};
  EXPECT_EQ(import_policy(two_domains(), snapshot).text, "\n[group.a]\nl3 = \"0xf\"\n");
}

// A monitoring group of another tool in the default group cannot be taken over.
TEST(Import, MonitoringGroupsThatCountByCpu) {
  Capabilities capabilities = two_domains();
  capabilities.num_rmids = 16;
  Snapshot snapshot;
  snapshot.groups[""] = group_state("L3:0=ff;1=ff\nMB:0=100;1=100");
  snapshot.groups[""].cpus = {0, 1};
  snapshot.groups["a"] = group_state("L3:0=f;1=f\nMB:0=100;1=100");
  snapshot.groups["a"].cpus = {2, 3};
  snapshot.mon_groups = {"a/mon_groups/x.y", "mon_groups/m", "mon_groups/without"};
  snapshot.mon_cpus = {{"a/mon_groups/x.y", {3}}, {"mon_groups/m", {0}}};
  snapshot.owned = {"mon_groups/m"};
  const std::string a =
      "\n[group.a]\nadopt = true\nl3 = \"0xf\"\ncpus = \"2-3\"\n"
      "monitor_cpus = { \"x.y\" = \"3\" }\n";
  EXPECT_EQ(import_policy(capabilities, snapshot).text,
            "\n[group.default]\nl3 = \"0xff\"\nmonitor_cpus = { m = \"0\" }\n" + a);
  snapshot.owned.clear();
  EXPECT_EQ(import_policy(capabilities, snapshot).text,
            "\n[group.default]\nl3 = \"0xff\"\n# monitor_cpus = { m = \"0\" } is not imported: "
            "monitoring group 'default/m' exists in resctrl already and rdtd did not make it\n" +
                a);
}

// What another tool has made in a group of rdtd's stays the tool's.
TEST(Import, MonitoringGroupsOfOthersInOwnGroups) {
  Capabilities capabilities = two_domains();
  capabilities.num_rmids = 16;
  Snapshot snapshot;
  snapshot.groups[""] = group_state("L3:0=ff;1=ff\nMB:0=100;1=100");
  snapshot.groups["a"] = group_state("L3:0=f;1=f\nMB:0=100;1=100");
  snapshot.groups["a"].cpus = {2, 3};
  snapshot.mon_groups = {"a/mon_groups/th"};
  snapshot.mon_cpus = {{"a/mon_groups/th", {2}}};
  snapshot.owned = {"a"};
  EXPECT_EQ(
      import_policy(capabilities, snapshot).text,
      "\n[group.a]\nl3 = \"0xf\"\ncpus = \"2-3\"\n# monitor_cpus = { th = \"2\" } is not "
      "imported: monitoring group 'a/th' exists in resctrl already and rdtd did not make it\n");
}

// The devices' masks, if the machine can have them set.
TEST(Import, Devices) {
  Capabilities capabilities = two_domains();
  Snapshot snapshot;
  snapshot.groups[""] = group_state("L3:0=ff;1=ff\nMB:0=100;1=100");
  snapshot.io = parse_schemata("L3:0=3;1=f0").value();
  EXPECT_EQ(import_policy(capabilities, snapshot).text,
            "\n# [io] is not imported: [io]: the ways that I/O devices fill cannot be set here "
            "(io_alloc)\n");
  capabilities.caches.at(Resource::L3).io_alloc = true;
  EXPECT_EQ(import_policy(capabilities, snapshot).text,
            "\n[io]\nl3 = { \"0\" = \"0x3\", \"1\" = \"0xf0\" }\n");
}

// Each takes minutes if anything in its way is quadratic.
TEST(Import, ThousandsOfGroups) {
  Capabilities capabilities = two_domains();
  Snapshot snapshot;
  snapshot.groups[""] = group_state("L3:0=ff;1=ff\nMB:0=100;1=100");
  const GroupState group = group_state("L3:0=3;1=3\nMB:0=50;1=50");
  for (int i = 0; i < 5'000; i++)
    snapshot.groups[fmt::format("a b{}", i)] = snapshot.groups[fmt::format("g{}", i)] = group;
  const ImportedPolicy too_many = import_policy(capabilities, snapshot);
  EXPECT_EQ(too_many.notes.size(), 10'000U);
  EXPECT_EQ(too_many.notes.back(),
            "group 'g999' is not imported: resctrl has more groups than the machine has CLOSIDs or "
            "RMIDs");
  capabilities.caches.at(Resource::L3).num_closids = 20'000;
  capabilities.bandwidths.at(Resource::MB).num_closids = 20'000;
  capabilities.num_rmids.reset();
  const ImportedPolicy imported = import_policy(capabilities, snapshot);
  EXPECT_EQ(imported.notes.size(), 5'000U);
  EXPECT_TRUE(
      imported.text.ends_with("\n[group.g999]\nadopt = true\nl3 = \"0x3\"\nmb = \"50%\"\n"));
}

// Whatever the names are, the result parses, and a name that it has is the one in resctrl.
TEST(Import, OddNames) {
  for (const char* name : {"a b", "a\"b", "a\\b", "a\tb", "a\x1b[31m", "a\xc2\x9b", "\xc3\xa4", "'",
                           "[", "a]", "a#b", ".a", "info", "default", "root", "\xed\xa0\x80"}) {
    Snapshot snapshot;
    snapshot.groups[""] = group_state("L3:0=ff;1=ff\nMB:0=100;1=100");
    snapshot.groups[name] = group_state("L3:0=f;1=f\nMB:0=100;1=100");
    const ImportedPolicy imported = import_policy(two_domains(), snapshot);
    const PolicyFile file{.path = "imported", .text = imported.text, .problem = {}};
    const ParsedPolicy parsed = parse_policy({&file, 1});
    EXPECT_FALSE(has_errors(parsed.diagnostics)) << imported.text;
    EXPECT_EQ(parsed.policy.groups.size(), imported.notes.empty() ? 1 : 0) << imported.text;
    for (const Group& group : parsed.policy.groups) EXPECT_EQ(group.name.value, name);
    for (const std::string& note : imported.notes) EXPECT_EQ(note, printable(note));
  }
}

}  // namespace
}  // namespace rdtd
