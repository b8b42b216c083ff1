// The pure parts of rdtctl: doctor's findings, the rates of top, devices and metrics.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "diagnose.hpp"
#include "lock_devices.hpp"
#include "metrics_text.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"
#include "usage.hpp"

namespace rdtd {
namespace {

MachineFacts healthy() {
  MachineFacts facts;
  facts.cpu_flags = {"fpu", "cat_l3", "mba", "cqm_llc"};
  facts.command_line = "quiet root=/dev/sda1";
  facts.kernel_has_resctrl = true;
  facts.mount_point = "/r";
  facts.mount_options = "rw,relatime";
  facts.offered = std::set<std::string>{"L3", "MB", "llc_occupancy"};
  facts.num_closids = 8;
  facts.own_groups = {"redis"};
  facts.policy_groups = {"redis"};
  facts.daemon_runs = true;
  facts.daemon_state = "running";
  return facts;
}

std::string shown_findings(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings)
    if (finding.kind != Finding::Kind::fine)
      out += (finding.kind == Finding::Kind::warning ? "warning " : "problem ") + finding.what +
             " -> " + finding.cure + "\n";
  return out;
}

TEST(Diagnose, Troubles) {
  const struct {
    const char* name;
    std::function<void(MachineFacts&)> change;
    const char* shown;
  } rows[] = {
      {"healthy", [](MachineFacts&) {}, ""},
      {"no RDT",
       [](MachineFacts& facts) {
         facts.cpu_flags = {"fpu"};
         facts.kernel_has_resctrl = false;
         facts.mount_options.reset();
       },
       "problem the processor has no RDT: its flags include none of cat_l3, cat_l2, mba -> use a "
       "machine with Intel RDT or AMD QoS; a virtual machine has it only if its host passes it "
       "through\n"},
      {"an Arm server whose kernel is too old",
       [](MachineFacts& facts) {
         facts.architecture = MachineFacts::Architecture::arm64;
         facts.cpu_flags.clear();
         facts.kernel_has_resctrl = false;
         facts.mount_options.reset();
       },
       "problem the kernel offers no resctrl: it has no driver of MPAM, or the processor has none "
       "-> use a kernel from 7.1 on, built with CONFIG_ARM64_MPAM=y, and firmware that describes "
       "MPAM to it (ACPI table MPAM)\n"},
      {"a RISC-V machine without resctrl",
       [](MachineFacts& facts) {
         facts.architecture = MachineFacts::Architecture::riscv64;
         facts.cpu_flags.clear();
         facts.kernel_has_resctrl = false;
         facts.mount_options.reset();
       },
       "problem the kernel offers no resctrl: it has no driver of CBQRI (Ssqosid), or the "
       "processor has none -> use a kernel with resctrl for RISC-V\n"},
      {"an Arm server with MPAM",
       [](MachineFacts& facts) {
         facts.architecture = MachineFacts::Architecture::arm64;
         facts.cpu_flags.clear();
       },
       ""},
      {"a processor of another kind whose kernel offers resctrl",
       [](MachineFacts& facts) { facts.cpu_flags.clear(); }, ""},
      {"a Haswell server, whose flags do not show its L3 CAT, and not mounted",
       [](MachineFacts& facts) {
         facts.cpu_flags = {"fpu", "cqm_llc"};
         facts.mount_options.reset();
       },
       "problem resctrl is not mounted on /r -> systemctl start sys-fs-resctrl.mount; rdtd.service "
       "also starts it\n"},
      {"no kernel support",
       [](MachineFacts& facts) {
         facts.kernel_has_resctrl = false;
         facts.mount_options.reset();
       },
       "problem the kernel has no resctrl -> use one that was built with "
       "CONFIG_X86_CPU_RESCTRL=y\n"},
      {"turned off",
       [](MachineFacts& facts) {
         facts.command_line = "quiet rdt=cmt,!l3cat,!mba x=y";
         facts.kernel_has_resctrl = false;
         facts.mount_options.reset();
       },
       "problem the kernel command line turns l3cat off: rdt=cmt,!l3cat,!mba -> remove !l3cat from "
       "the boot loader's configuration and reboot\nproblem the kernel command line turns mba off: "
       "rdt=cmt,!l3cat,!mba -> remove !mba from the boot loader's configuration and reboot\n"},
      {"a part turned off, and mounted",
       [](MachineFacts& facts) { facts.command_line = "rdt=!mbmlocal"; },
       "warning the kernel command line turns mbmlocal off: rdt=!mbmlocal -> remove !mbmlocal from "
       "the boot loader's configuration and reboot\n"},
      {"a part turned off, and not mounted",
       [](MachineFacts& facts) {
         facts.command_line = "rdt=!mbmlocal";
         facts.mount_options.reset();
       },
       "problem the kernel command line turns mbmlocal off: rdt=!mbmlocal -> remove !mbmlocal from "
       "the boot loader's configuration and reboot\nproblem resctrl is not mounted on /r -> "
       "systemctl start sys-fs-resctrl.mount; rdtd.service also starts it\n"},
      {"one of two turned off, and not mounted",
       [](MachineFacts& facts) {
         facts.command_line = "rdt=!mba";
         facts.mount_options.reset();
       },
       "problem the kernel command line turns mba off: rdt=!mba -> remove !mba from the boot "
       "loader's configuration and reboot\nproblem resctrl is not mounted on /r -> systemctl start "
       "sys-fs-resctrl.mount; rdtd.service also starts it\n"},
      {"a tree that cannot be read",
       [](MachineFacts& facts) { facts.tree_error = "cannot open /r/schemata: Permission denied"; },
       "problem cannot open /r/schemata: Permission denied -> try again as root, or as a member of "
       "the user group 'rdtd'\n"},
      {"a bad policy kept rdtd from starting",
       [](MachineFacts& facts) {
         facts.policy_error = "a.toml:1:1: error: x";
         facts.daemon_runs = false;
       },
       "problem the policy is invalid: a.toml:1:1: error: x -> rdtctl check shows all "
       "errors\nproblem rdtd is not running, and cannot start with an invalid policy -> fix the "
       "policy, verify it with rdtctl check, then systemctl start rdtd\n"},
      {"not mounted",
       [](MachineFacts& facts) {
         facts.mount_options.reset();
         facts.daemon_runs = false;
       },
       "problem resctrl is not mounted on /r -> systemctl start sys-fs-resctrl.mount; rdtd.service "
       "also starts it\nproblem rdtd is not running -> systemctl start rdtd; if it has failed, "
       "journalctl -u rdtd shows why\n"},
      {"in a container",
       [](MachineFacts& facts) {
         facts.container = "podman";
         facts.mount_options.reset();
       },
       "problem this is a container (podman), and resctrl is not mounted in it -> run rdtd on the "
       "host: its rules find the processes of containers by their cgroups\n"},
      {"a container with resctrl", [](MachineFacts& facts) { facts.container = "podman"; }, ""},
      {"cdp wanted",
       [](MachineFacts& facts) {
         facts.l3_halves_requested = "a.toml:3";
         facts.cpu_flags.insert("cdp_l3");
       },
       "problem the policy divides code and data (a.toml:3), but resctrl is mounted without cdp -> "
       "systemctl edit sys-fs-resctrl.mount, add the lines \"[Mount]\" and \"Options=cdp\", and "
       "reboot\n"},
      {"cdpl2 wanted too",
       [](MachineFacts& facts) {
         facts.mount_options = "rw,cdp,mba_MBps";
         facts.l3_halves_requested = "a.toml:3";
         facts.l2_halves_requested = "a.toml:4";
         facts.cpu_flags.insert("cdp_l2");
       },
       "problem the policy divides code and data (a.toml:4), but resctrl is mounted without cdpl2 "
       "-> systemctl edit sys-fs-resctrl.mount, add the lines \"[Mount]\" and "
       "\"Options=cdp,cdpl2,mba_MBps\", and reboot\n"},
      {"a processor without cdp",
       [](MachineFacts& facts) { facts.l3_halves_requested = "a.toml:3"; },
       "problem the policy divides code and data (a.toml:3), but the processor has no cdp_l3 -> "
       "remove these amounts, or set unsupported = \"skip\" in [daemon]\n"},
      {"cdp left out",
       [](MachineFacts& facts) {
         facts.l3_halves_requested = "a.toml:3";
         facts.skips_unsupported = true;
       },
       ""},
      {"the last CLOSID",
       [](MachineFacts& facts) { facts.foreign_groups = {"a", "b", "c", "d", "e", "f"}; },
       "warning no CLOSID is free: of 8 CLOSIDs, the default group uses 1, rdtd 1, others 6 (a, b, "
       "c, d, e, f) -> remove groups of others that nobody needs, for example: rmdir /r/a; pqos "
       "leaves COS groups behind, which only rmdir removes\n"},
      {"the last CLOSID, and all are ours",
       [](MachineFacts& facts) {
         facts.own_groups.assign(7, "g");
         facts.policy_groups.assign(7, "g");
       },
       ""},
      {"no policy", [](MachineFacts& facts) { facts.no_policy = true; }, ""},
      {"a mount option that the processor does not have",
       [](MachineFacts& facts) {
         facts.mount_options.reset();
         facts.failed_mount_options = "rw,mba_MBps,cdp";
         facts.cpu_flags.insert("cqm_mbm_local");
       },
       "problem sys-fs-resctrl.mount has failed: it has the option cdp, and the processor has no "
       "cdp_l3 -> systemctl edit sys-fs-resctrl.mount, remove cdp from Options=, then systemctl "
       "restart sys-fs-resctrl.mount rdtd\n"},
      {"a mount that fails for another reason",
       [](MachineFacts& facts) {
         facts.mount_options.reset();
         facts.failed_mount_options = "debug";
       },
       "problem sys-fs-resctrl.mount has failed; it has the options debug -> journalctl -u "
       "sys-fs-resctrl.mount and dmesg show why; a processor may not have what an option needs\n"},
      {"out of CLOSIDs",
       [](MachineFacts& facts) {
         facts.foreign_groups = {"COS1", "COS2", "COS3", "COS4", "COS5", "COS6", "COS7"};
         facts.own_groups.clear();
       },
       "problem no CLOSID is free: the policy has 1 group, but rdtd can create 0; of 8 CLOSIDs, "
       "the default group uses 1, rdtd 0, others 7 (COS1, COS2, COS3, COS4, COS5, COS6, COS7) -> "
       "remove groups of others that nobody needs, for example: rmdir /r/COS1; pqos leaves COS "
       "groups behind, which only rmdir removes\n"},
      {"too many groups", [](MachineFacts& facts) { facts.policy_groups.assign(8, "g"); },
       "problem no CLOSID is free: the policy has 8 groups, but rdtd can create 7; of 8 CLOSIDs, "
       "the default group uses 1, rdtd 1, others 0 -> use fewer groups\n"},
      {"a CLOSID of I/O devices",
       [](MachineFacts& facts) {
         facts.io_holds_closid = true;
         facts.policy_groups.assign(7, "g");
       },
       "problem no CLOSID is free: the policy has 7 groups, but rdtd can create 6; of 8 CLOSIDs, "
       "the default group uses 1, I/O devices (io_alloc) 1, rdtd 1, others 0 -> use fewer "
       "groups\n"},
      {"containerd",
       [](MachineFacts& facts) {
         facts.runtimes = {{"containerd", "/etc/containerd/config.toml:4"}};
       },
       "warning containerd manages RDT itself (/etc/containerd/config.toml:4): it deletes every "
       "group that it does not know -> remove rdt_config_file there and restart containerd; a "
       "container can still name a group of rdtd as its closID\n"},
      {"L3 CAT that the kernel does not use because of an erratum",
       [](MachineFacts& facts) { facts.offered->erase("L3"); },
       "problem the processor has cat_l3, but the kernel does not offer L3: it turns this off by "
       "itself on processors with an erratum (Skylake-SP, Cascade Lake) -> to use it nevertheless, "
       "add rdt=l3cat to the kernel command line and reboot\n"},
      {"the same of counters",
       [](MachineFacts& facts) {
         facts.cpu_flags.insert({"cqm_mbm_total", "cqm_mbm_local"});
         facts.command_line = "rdt=!mbmlocal";
       },
       "warning the kernel command line turns mbmlocal off: rdt=!mbmlocal -> remove !mbmlocal from "
       "the boot loader's configuration and reboot\nwarning the processor has cqm_mbm_total, but "
       "the kernel does not offer mbm_total_bytes: it turns this off by itself on processors with "
       "an erratum (Skylake-SP, Cascade Lake) -> to use it nevertheless, add rdt=mbmtotal to the "
       "kernel command line and reboot\n"},
      {"L3 CAT, mounted with cdp",
       [](MachineFacts& facts) {
         facts.offered->erase("L3");
         facts.offered->insert({"L3CODE", "L3DATA"});
       },
       ""},
      {"a hint belongs to the error",
       [](MachineFacts& facts) {
         facts.policy_error = facts.last_reload_error = "a.toml:1:1: error: x";
         facts.policy_hint = "did you mean 'mb'?";
       },
       "problem the policy is invalid: a.toml:1:1: error: x -> did you mean 'mb'?; rdtctl check "
       "shows all errors\nproblem the last reload failed for one of these reasons -> fix the "
       "policy, verify "
       "it with rdtctl check, then systemctl reload rdtd\n"},
      {"a policy that this machine cannot have",
       [](MachineFacts& facts) {
         facts.plan_error = "a.toml:2:6: error: 'l2': resctrl offers no L2 here; it offers L3";
       },
       "problem this machine cannot have the policy: a.toml:2:6: error: 'l2': resctrl offers no L2 "
       "here; it offers L3 -> rdtctl check shows all errors\n"},
      {"a bad policy",
       [](MachineFacts& facts) { facts.last_reload_error = "a.toml:1:1: error: x\n  1 | x"; },
       "problem the last reload failed: a.toml:1:1: error: x -> fix the policy, verify it with "
       "rdtctl check, then systemctl reload rdtd\n"},
      {"a name that somebody else has taken",
       [](MachineFacts& facts) {
         facts.own_groups.clear();
         facts.foreign_groups = {"redis", "x"};
       },
       "problem group 'redis' exists in resctrl, but rdtd did not create it -> if nobody needs it: "
       "rmdir /r/redis; otherwise rename the group in the policy, or take it over: once with "
       "rdtctl adopt redis, always with adopt = true\n"},
      {"units under wrong names",
       [](MachineFacts& facts) {
         facts.wrong_units = {{"mysql.service", "a.toml:4", "mariadb.service"},
                              {"rediss.service", "a.toml:7", ""}};
       },
       "warning 'mysql.service' (a.toml:4) is an alias of 'mariadb.service', and no rule matches "
       "an "
       "alias -> write \"mariadb.service\"\nwarning systemd knows no unit 'rediss.service' "
       "(a.toml:7) -> systemctl list-unit-files and list-units show the names; a unit that a "
       "program creates is known from then on\n"},
      {"degraded for known reasons",
       [](MachineFacts& facts) {
         facts.daemon_state = "degraded";
         facts.problems = {"CPU 3 is offline", "group 'redis' is missing"};
       },
       "problem rdtd is degraded: CPU 3 is offline; group 'redis' is missing -> fix the cause; "
       "rdtd retries by itself, and journalctl -u rdtd shows more\n"},
      {"degraded", [](MachineFacts& facts) { facts.daemon_state = "degraded"; },
       "problem rdtd is degraded -> fix the cause; rdtd retries by itself, and journalctl -u rdtd "
       "shows more\n"},
  };
  for (const auto& row : rows) {
    MachineFacts facts = healthy();
    row.change(facts);
    EXPECT_EQ(shown_findings(diagnose(facts)), row.shown) << row.name;
  }
}

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
            "a all | llc_occupancy 3.00 MiB | mbm_total_bytes 4.0 MiB/s\n"
            "a/m all | llc_occupancy 256 KiB | mbm_total_bytes -\n");
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
  EXPECT_TRUE(renew_device_access(directory));
  std::ifstream in(directory + "/buffer/uevent");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "change\n");
  std::filesystem::remove(directory + "/buffer/uevent");
  EXPECT_TRUE(renew_device_access(directory));  // the region has just gone
  std::filesystem::remove_all(directory);
  EXPECT_TRUE(renew_device_access(directory));  // the kernel cannot lock
}

// What a group uses can be compared with what it may have; no limit is no sample.
TEST(Metrics, WhatIsGranted) {
  MetricsSource source;
  source.capabilities.caches[Resource::L3] = {
      .cbm_mask = Cbm{0xfffff}, .num_closids = 16, .way_bytes = {{DomainId{0}, 1 << 20}}};
  source.capabilities.bandwidths[Resource::MB] = {
      .num_closids = 8, .unit = BandwidthUnit::eighth_gbps, .unlimited = {{DomainId{0}, 2048}}};
  source.groups["batch"].schemata = {{Resource::L3, {{DomainId{0}, 0xf0}}},
                                     {Resource::MB, {{DomainId{0}, 16}}}};
  source.groups[""].schemata = {{Resource::L3, {{DomainId{0}, 0xf}}},
                                {Resource::MB, {{DomainId{0}, 2048}}}};
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
            "# HELP rdtd_control_groups Control groups that there are.\n"
            "# TYPE rdtd_control_groups gauge\n"
            "rdtd_control_groups 2\n");
}

TEST(Metrics, Regions) {
  const MetricsSource source{
      .counters = {},
      .capabilities = {},
      .groups = {},
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
