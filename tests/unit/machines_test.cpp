// Machines: what rdtd reads from, and plans for, the resctrl trees of several kinds of machine in
// tests/data, whose README.md states where each number comes from. The expected text of a machine
// is tests/data/MACHINE.expected. After an intended change of a text, write all of them again with
//
//     RDTD_REGENERATE=1 build/dev/tests/rdtd-tests --gtest_filter="*Machines*"
//
// and review the difference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/kernel.hpp"
#include "rdtd/resctrl/read.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

// The same for all machines; each of them must plan or refuse each policy.
struct NamedPolicy {
  const char* name;
  const char* text;
};
constexpr NamedPolicy policies[] = {
    {"shares",
     "[group.redis]\nl3 = \"4 ways\"\nexclusive = true\n"
     "[group.batch]\nl3 = \"10%\"\nmb = \"10%\"\n"},
    {"sizes", "[group.redis]\nl3 = \"6 MiB\"\nexclusive = true\n[group.batch]\nl3 = \"25%\"\n"},
    {"masks", "[group.rt]\nl3 = \"0xf0\"\nexclusive = true\n[group.io]\nl3 = \"ways 0-3\"\n"},
    {"one way", "[group.small]\nl3 = \"0x1\"\n"},
    {"one percent", "[group.small]\nl3 = \"1%\"\n"},
    {"everything", "[group.redis]\nl3 = \"100%\"\nexclusive = true\n"},
    {"all in parts",
     "[partition.p]\nl3 = \"60%\"\n[partition.q]\nl3 = \"40%\"\n"
     "[group.a]\npartition = \"p\"\n[group.default]\npartition = \"q\"\n"},
    {"strict", "[group.redis]\nl3 = \"4 ways\"\nexclusive = \"strict\"\n"},
    {"gaps", "[group.sparse]\nl3 = \"0x35\"\n"},
    {"shared with devices", "[group.top]\nl3 = \"ways 9-10\"\nexclusive = true\n"},
    {"rate", "[group.batch]\nmb = \"4 GB/s\"\n"},
    {"unlimited", "[group.batch]\nmb = \"unlimited\"\n"},
    {"slow memory", "[group.batch]\nsmba = \"unlimited\"\n"},
    {"l2", "[group.rt]\nl2 = \"2 ways\"\nexclusive = true\n"},
    {"domain", "[group.batch]\nl3 = { \"65536\" = \"2 ways\", \"*\" = \"50%\" }\n"},
    {"floor", "[group.batch]\nmb = \"50%\"\nmb_min = \"20%\"\n"},
    {"hard limit", "[group.batch]\nmb = \"50%\"\ncontrol = { MB_HLIM = 1, L3_MAX = \"40%\" }\n"},
    {"nodes", "[group.batch]\ncontrol.MB_NODE = { \"65536\" = \"10%\", \"*\" = \"50%\" }\n"},
    {"openEuler",
     "[group.online]\ncontrol = { L3PBM = \"0xff\", L3PRI = 2, MBMAX = \"60%\", MBHDL = true }\n"},
    {"all of a node", "[group.batch]\ncontrol = { GMB = \"100 GB/s\" }\n"},
    {"skip",
     "[daemon]\nunsupported = \"skip\"\n[group.batch]\nl3 = \"2 ways\"\nl2 = \"2 ways\"\n"
     "mb = \"50%\"\nsmba = \"1 GB/s\"\nmb_min = \"20%\"\nexclusive = true\n"
     "control = { MB_HLIM = 1, GMB = \"100 GB/s\", L3_MAX = \"40%\" }\n"
     "[[rule]]\ngroup = \"batch\"\nmonitor = \"m\"\nname = \"m\"\n"},
    {"range", "[group.batch]\nl3 = \"1..4 ways\"\nmb = [\"10..60%\", \"1..4 GB/s\"]\n"},
    {"four groups", "[group.a]\n[group.b]\n[group.c]\n[group.d]\n"},
};

std::string describe(const Capabilities& capabilities) {
  std::string out;
  for (const auto& [resource, cache] : capabilities.caches) {
    out += fmt::format(
        "{}: num_closids {}, cbm_mask {}, min_cbm_bits {}, shareable_bits {}, sparse_masks {}\n",
        to_string(resource), cache.num_closids, to_string(cache.cbm_mask), cache.min_cbm_bits,
        to_string(cache.shareable_bits), cache.sparse_masks ? 1 : 0);
    for (const auto& [domain, bytes] : cache.way_bytes)
      out += fmt::format("  domain {}: ways of {} bytes\n", to_string(domain), bytes);
  }
  for (const auto& [resource, bandwidth] : capabilities.bandwidths) {
    out += fmt::format("{}: num_closids {}, unit {}, bandwidth_gran {}, min_bandwidth {}\n",
                       to_string(resource), bandwidth.num_closids, to_string(bandwidth.unit),
                       bandwidth.bandwidth_gran, bandwidth.min_bandwidth);
    for (const auto& [domain, unlimited] : bandwidth.unlimited)
      out += fmt::format("  domain {}: unlimited {}\n", to_string(domain), unlimited);
  }
  for (const auto& [resource, control] : capabilities.controls) {
    std::vector<std::string> domains;
    for (const DomainId domain : control.domains) domains.push_back(to_string(domain));
    out += fmt::format("{}: {}; {}domains {}\n", resource.name(), describe(resource, control),
                       control.scope.empty() ? "" : control.scope + " ", join(domains, ", "));
  }
  out += fmt::format("groups at most: {}\n", capabilities.num_closids());
  return out + (capabilities.num_rmids
                    ? fmt::format("num_rmids: {}{}\n", *capabilities.num_rmids,
                                  capabilities.rmids_per_closid ? ", of each CLOSID its own" : "")
                    : std::string("no monitoring\n"));
}

std::string describe(const Snapshot& snapshot) {
  std::string out;
  for (const auto& [name, state] : snapshot.groups)
    out += fmt::format("group {}: {}, CPUs {}, {}\n", group_label(name), to_string(state.mode),
                       cpus_text(state.cpus), schemata_line(state.schemata));
  return out;
}

Machine read(const std::string& name) {
  const auto filesystem = resctrl::Kernel::open(RDTD_TEST_DATA "/" + name);
  EXPECT_TRUE(filesystem) << filesystem.error().text();
  auto machine = resctrl::read_machine(**filesystem,
                                       resctrl::read_copied_mount_options(**filesystem), CpuSet{});
  EXPECT_TRUE(machine) << machine.error().text();
  return machine ? *std::move(machine) : Machine{};
}

class Machines : public testing::TestWithParam<const char*> {};

TEST_P(Machines, CapabilitiesAndPlans) {
  const std::string name = GetParam();
  const Machine machine = read(name);
  std::string text = describe(machine.capabilities) + describe(machine.snapshot);
  for (const NamedPolicy& policy : policies)
    text += fmt::format("\n--- {}\n{}", policy.name,
                        test::plan_text(policy.text, machine.capabilities, machine.snapshot));

  const std::string expected = RDTD_TEST_DATA "/" + name + ".expected";
  if (std::getenv("RDTD_REGENERATE") != nullptr) std::ofstream(expected) << text;
  std::stringstream stored;
  stored << std::ifstream(expected).rdbuf();
  EXPECT_EQ(stored.str(), text) << expected;
}

INSTANTIATE_TEST_SUITE_P(Data, Machines,
                         testing::Values("apollo-lake", "arm-mpam", "arm-mpam-old", "cascade-lake",
                                         "epyc-genoa", "epyc-gmb", "epyc-rome", "generic-native",
                                         "grace", "haswell-ep", "icelake-sp", "kunpeng",
                                         "kunpeng-caPbm", "riscv-cbqri", "sapphire-rapids",
                                         "skylake-sp", "skylake-sp-mbps", "vera"));

// Whether traffic shows what an amount of bandwidth does.
TEST(GuardOfMachines, WhereItDoesNothing) {
  const struct {
    const char *machine, *why;  // "": it does something
  } rows[] = {
      {"grace", ""},
      {"arm-mpam", ""},
      {"kunpeng", ""},
      {"vera", "traffic is counted in MB 0, and mb is set in domain 2"},
      {"kunpeng-caPbm", "bandwidth is set by MBMAX here, which the guard does not change"},
      {"generic-native", "bandwidth is set by MB_MAX here, which the guard does not change"},
  };
  for (const auto& row : rows) {
    const Machine machine = read(row.machine);
    const std::string text = test::plan_text(
        "[guard]\nmode = \"on\"\n[group.a]\nprotected = true\n[group.b]\nmb = \"10%..100%\"\n",
        machine.capabilities, machine.snapshot);
    const std::string why = row.why;
    EXPECT_TRUE(text.starts_with(
        why.empty() ? "create    a\n"
                    : "p.toml:2:8: warning: the guard does nothing here: " + why + "\n"))
        << row.machine << ": " << text;
  }
}

}  // namespace
}  // namespace rdtd
