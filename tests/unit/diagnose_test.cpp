// What doctor concludes from the facts of a machine, and of what the policy needs of it.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "diagnose_parts.hpp"
#include "diagnose_support.hpp"

namespace rdtd {
namespace {

using test::expect_findings;
using test::healthy;

// A policy that is in force is worth a line, and one that is not, or has changed, is worth a
// warning.
TEST(Diagnose, PolicyInForce) {
  using Files = std::vector<std::string>;
  const auto says = [](const Files& active, const std::optional<Files>& in_force,
                       const char* error = "", bool have_changed = false) {
    MachineFacts facts = test::healthy();
    facts.no_policy = active.empty();
    facts.active_files = active;
    facts.files_in_force = in_force;
    facts.files_have_changed = have_changed;
    facts.plan_error = error;
    std::string out;
    for (const Finding& finding : diagnose(facts))
      if (finding.what.starts_with("the policy"))
        out += fmt::format("{} {} -> {}", finding.kind == Finding::Kind::fine ? "ok" : "warning",
                           finding.what, finding.cure);
    return out;
  };
  constexpr const char* changed =
      "warning the policy files have changed since they were loaded -> rdtctl reload puts them in "
      "force";
  EXPECT_EQ(says({"a", "b"}, Files{"a", "b"}), "ok the policy is valid and in force (2 files) -> ");
  EXPECT_EQ(says({"a", "b"}, Files{"a", "b"}, "", true), changed);
  EXPECT_EQ(says({"a", "b"}, Files{"a"}), changed);
  EXPECT_EQ(says({"a"}, Files{"a", "b"}), changed);
  EXPECT_EQ(says({"a"}, Files{}),
            "warning the policy is valid, but nothing of it is in force -> rdtctl reload puts 1 "
            "file in force");
  EXPECT_EQ(says({}, Files{}), "");
  EXPECT_EQ(says({}, Files{"a"}), "");
  EXPECT_EQ(says({"a"}, std::nullopt), "");
  EXPECT_EQ(says({"a"}, Files{"a"}, "p.toml:1:1: error: x"), "");
}

TEST(Diagnose, Troubles) {
  expect_findings({
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
       "MPAM to it (ACPI table MPAM); openEuler's kernel 6.6 needs arm64.mpam on its command "
       "line\n"},
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
       "problem the kernel has no resctrl, or found nothing that resctrl can use -> use one that "
       "was built with CONFIG_X86_CPU_RESCTRL=y: zgrep X86_CPU_RESCTRL /proc/config.gz shows "
       "whether this one was; if so, see dmesg | grep -i resctrl\n"},
      {"a virtual machine",
       [](MachineFacts& facts) {
         facts.cpu_flags = {"fpu", "hypervisor"};
         facts.kernel_has_resctrl = false;
         facts.mount_options.reset();
       },
       "problem this is a virtual machine, and its host passes no RDT on to it: the flags of the "
       "processor include none of cat_l3, cat_l2, mba -> run rdtd on the host: its rules match a "
       "virtual machine by its name (vm = ...)\n"},
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
       [](MachineFacts& facts) {
         facts.tree_error = "cannot open /r/schemata: Permission denied";
         facts.tree_error_code = EACCES;
       },
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
      {"a daemon that hangs",
       [](MachineFacts& facts) {
         facts.daemon_hangs = true;
         facts.daemon_runs = false;
       },
       "problem rdtd runs, but does not answer -> journalctl -u rdtd may show why\n"},
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
       "c, d, e and 1 more) -> remove groups of others that nobody needs, for example: rmdir /r/a; "
       "pqos "
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
      {"mba_MBps, and the processor counts no bandwidth",
       [](MachineFacts& facts) {
         facts.mount_options.reset();
         facts.failed_mount_options = "mba_MBps";
       },
       "problem sys-fs-resctrl.mount has failed: it has the option mba_MBps, and the processor has "
       "neither cqm_mbm_local nor cqm_mbm_total -> systemctl edit sys-fs-resctrl.mount, remove "
       "mba_MBps from Options=, then systemctl restart sys-fs-resctrl.mount rdtd\n"},
      {"mba_MBps, and the processor limits no bandwidth",
       [](MachineFacts& facts) {
         facts.mount_options.reset();
         facts.failed_mount_options = "mba_MBps";
         facts.cpu_flags = {"cat_l3", "cqm_mbm_local"};
       },
       "problem sys-fs-resctrl.mount has failed: it has the option mba_MBps, and the processor has "
       "no mba -> systemctl edit sys-fs-resctrl.mount, remove mba_MBps from Options=, then "
       "systemctl restart sys-fs-resctrl.mount rdtd\n"},
      {"mba_MBps, and the processor counts only the whole",
       [](MachineFacts& facts) {
         facts.mount_options.reset();
         facts.failed_mount_options = "mba_MBps";
         facts.cpu_flags.insert("cqm_mbm_total");
       },
       "problem sys-fs-resctrl.mount has failed; it has the options mba_MBps -> journalctl -u "
       "sys-fs-resctrl.mount and dmesg show why; a processor may not have what an option needs, "
       "and after EBUSY, resctrl is mounted in another mount namespace: grep resctrl "
       "/proc/*/mounts shows where; mba_MBps needs a BIOS without sub-NUMA clustering (SNC), and "
       "on this processor, which has no cqm_mbm_local, Linux 6.14\n"},
      {"a mount that fails for another reason",
       [](MachineFacts& facts) {
         facts.mount_options.reset();
         facts.failed_mount_options = "debug";
       },
       "problem sys-fs-resctrl.mount has failed; it has the options debug -> journalctl -u "
       "sys-fs-resctrl.mount and dmesg show why; a processor may not have what an option needs, "
       "and after EBUSY, resctrl is mounted in another mount namespace: grep resctrl "
       "/proc/*/mounts shows where\n"},
      {"out of CLOSIDs",
       [](MachineFacts& facts) {
         facts.foreign_groups = {"COS1", "COS2", "COS3", "COS4", "COS5", "COS6", "COS7"};
         facts.own_groups.clear();
       },
       "problem no CLOSID is free: the policy has 1 group, but rdtd can create 0; of 8 CLOSIDs, "
       "the default group uses 1, rdtd 0, others 7 (COS1, COS2, COS3, COS4, COS5 and 2 more) -> "
       "remove groups of others that nobody needs, for example: rmdir /r/COS1; pqos leaves COS "
       "groups behind, which only rmdir removes\n"},
      {"out of CLOSIDs, and some groups are in use",
       [](MachineFacts& facts) {
         facts.foreign_groups = {"BE", "COS1", "COS2", "LS", "a", "b"};
         facts.used = {"BE", "COS2", "LS"};
       },
       "warning no CLOSID is free: of 8 CLOSIDs, the default group uses 1, rdtd 1, others 6 (BE, "
       "COS1, COS2, LS, a and 1 more) -> remove groups of others that nobody needs, for example: "
       "rmdir /r/COS1; pqos leaves COS groups behind, which only rmdir removes\n"},
      {"out of CLOSIDs, and all groups are in use",
       [](MachineFacts& facts) {
         facts.num_closids = 3;
         facts.foreign_groups = {"BE"};
         facts.used = {"BE"};
       },
       "warning no CLOSID is free: of 3 CLOSIDs, the default group uses 1, rdtd 1, others 1 (BE) "
       "-> each of the groups of others is in use, by tasks, CPUs or devices: ask who made them; "
       "rmdir /r/NAME removes one; pqos leaves COS groups behind, which only rmdir removes\n"},
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
      {"throttling of another processor of Intel",
       [](MachineFacts& facts) {
         facts.model = 167;
         facts.offered->erase("MB");
       },
       "warning the processor has mba, but the kernel does not offer MB: its steps are not linear "
       "on this processor, which no kernel supports -> a policy with mb is for other machines: "
       "unsupported = \"skip\" in [daemon] leaves it out here\n"},
      {"throttling of Hygon",
       [](MachineFacts& facts) {
         facts.vendor = "HygonGenuine";
         facts.family = 24;
         facts.offered->erase("MB");
       },
       "problem the processor has mba, but the kernel does not offer MB: before Linux 6.19, it "
       "knows processors of Hygon only in part -> use Linux 6.19 or newer, or an update of an "
       "older release from 2026 on\n"},
      {"L3 CAT of AMD",
       [](MachineFacts& facts) {
         facts.vendor = "AuthenticAMD";
         facts.family = 25;
         facts.offered->erase("L3");
       },
       "problem the processor has cat_l3, but the kernel does not offer L3 -> dmesg | grep -i "
       "resctrl may show why\n"},
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
      {"a name that a pseudo-locked region has",
       [](MachineFacts& facts) { facts.foreign_regions = {"redis"}; },
       "problem group 'redis' exists in resctrl as a pseudo-locked region, which rdtd did not "
       "create -> rename the group in the policy\n"},
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
      {"a guard that nobody carries out",
       [](MachineFacts& facts) { facts.guard_without_observer = true; },
       "warning rdtd-observer is not running, and without it the guard of the policy does nothing "
       "-> systemctl enable --now rdtd-observer\n"},
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
  });
}

TEST(Diagnose, OnlyMonitoring) {
  MachineFacts facts = healthy();
  facts.num_closids.reset();
  EXPECT_EQ(count_closids(facts),
            (Finding{Finding::Kind::fine,
                     "there is only the default group: resctrl divides nothing here that rdtd "
                     "knows",
                     ""}));
}

TEST(Diagnose, Rmids) {
  const auto taken_by_others = [](MachineFacts& facts, unsigned others) {
    facts.num_rmids = 32;
    facts.own_rmids = 1;
    for (unsigned i = 1; i <= others; i++)
      facts.foreign_rmids.push_back(fmt::format("mon_groups/pqos-51-{}", i));
  };
  expect_findings({
      {"some are free", [&](MachineFacts& facts) { taken_by_others(facts, 4); }, ""},
      {"all are taken",
       [&](MachineFacts& facts) {
         taken_by_others(facts, 30);
         facts.rmids_needed = 1;
       },
       "warning no RMID is free: of 32 RMIDs, the default group uses 1, rdtd 1, others 30 "
       "(mon_groups/pqos-51-1, mon_groups/pqos-51-2, mon_groups/pqos-51-3, mon_groups/pqos-51-4, "
       "mon_groups/pqos-51-5 and 25 more) -> remove monitoring groups of others that nobody needs, "
       "for example: rmdir /r/mon_groups/pqos-51-1\n"},
      {"the policy needs more",
       [&](MachineFacts& facts) {
         taken_by_others(facts, 30);
         facts.rmids_needed = 2;
         facts.plan_error = "a.toml:2:6: error: 2 groups asked for";
       },
       "problem no RMID is free: the policy needs 2, but rdtd can have 1; of 32 RMIDs, the default "
       "group uses 1, rdtd 1, others 30 (mon_groups/pqos-51-1, mon_groups/pqos-51-2, "
       "mon_groups/pqos-51-3, mon_groups/pqos-51-4, mon_groups/pqos-51-5 and 25 more) -> remove "
       "monitoring groups of others that nobody needs, for example: rmdir "
       "/r/mon_groups/pqos-51-1\n"},
      {"a monitoring group is in use",
       [&](MachineFacts& facts) {
         taken_by_others(facts, 2);
         facts.num_rmids = 4;
         facts.used = {"mon_groups/pqos-51-1"};
       },
       "warning no RMID is free: of 4 RMIDs, the default group uses 1, rdtd 1, others 2 "
       "(mon_groups/pqos-51-1, mon_groups/pqos-51-2) -> remove monitoring groups of others that "
       "nobody needs, for example: rmdir /r/mon_groups/pqos-51-2\n"},
      {"all monitoring groups are in use, and a control group is not",
       [&](MachineFacts& facts) {
         taken_by_others(facts, 1);
         facts.num_rmids = 4;
         facts.foreign_rmids.emplace_back("COS1");
         facts.used = {"mon_groups/pqos-51-1"};
       },
       "warning no RMID is free: of 4 RMIDs, the default group uses 1, rdtd 1, others 2 "
       "(mon_groups/pqos-51-1, COS1) -> remove groups of others that nobody needs, for example: "
       "rmdir /r/COS1\n"},
      {"control groups of others alone",
       [&](MachineFacts& facts) {
         taken_by_others(facts, 0);
         facts.num_rmids = 3;
         facts.foreign_rmids = {"COS1"};
       },
       "warning no RMID is free: of 3 RMIDs, the default group uses 1, rdtd 1, others 1 (COS1) -> "
       "remove groups of others that nobody needs, for example: rmdir /r/COS1\n"},
      {"the policy needs more than there are",
       [&](MachineFacts& facts) {
         taken_by_others(facts, 0);
         facts.rmids_needed = 32;
       },
       "problem no RMID is free: the policy needs 32, but rdtd can have 31; of 32 RMIDs, the "
       "default group uses 1, rdtd 1, others 0 -> use fewer groups and monitoring groups\n"},
  });
}

TEST(Diagnose, TrafficThatIsCountedInPart) {
  using Entries = std::vector<std::string>;
  EXPECT_EQ(partly_counted(""), Entries{});
  EXPECT_EQ(partly_counted("0=0x7f;2=0x7f\n"), Entries{});
  EXPECT_EQ(partly_counted("0=0x30;2=0x33;4=0x15\n"), (Entries{"0=0x30", "4=0x15"}));
  expect_findings({
      {"one domain", [](MachineFacts& facts) { facts.partly_counted = {"2=0x30"}; },
       "warning mbm_total_bytes does not count all reads of L3 domain 2=0x30: somebody has written "
       "to mbm_total_bytes_config -> echo '2=0x7f' >/r/info/L3_MON/mbm_total_bytes_config, or what "
       "the kernel says is its maximum, makes it count all traffic, as top, blame and the guard "
       "expect\n"},
      {"two domains", [](MachineFacts& facts) { facts.partly_counted = {"0=0x30", "2=0x15"}; },
       "warning mbm_total_bytes does not count all reads of L3 domains 0=0x30, 2=0x15: somebody "
       "has "
       "written to mbm_total_bytes_config -> echo '0=0x7f;2=0x7f' "
       ">/r/info/L3_MON/mbm_total_bytes_config, or what the kernel says is its maximum, makes it "
       "count all traffic, as top, blame and the guard expect\n"},
  });
}

TEST(Diagnose, ReadsThatTheFilterOfAssignableCountersLacks) {
  using Kinds = std::vector<std::string>;
  EXPECT_EQ(filtered_reads("local_reads,remote_reads,dirty_victim_writes_all\n"), Kinds{});
  EXPECT_EQ(filtered_reads("local_reads,remote_reads_slow_memory\n"), Kinds{"remote_reads"});
  EXPECT_EQ(filtered_reads("\n"), (Kinds{"local_reads", "remote_reads"}));
  expect_findings({
      {"one kind", [](MachineFacts& facts) { facts.filtered_reads = {"remote_reads"}; },
       "warning mbm_total_bytes does not count all reads: somebody has taken remote_reads out of "
       "its event_filter -> write them, after what is there and with a comma between, to "
       "/r/info/L3_MON/event_configs/mbm_total_bytes/event_filter: top, blame and the guard expect "
       "that it counts all traffic\n"},
  });
}

TEST(Diagnose, MixedCgroupDrivers) {
  expect_findings({
      {"containerd",
       [](MachineFacts& facts) { facts.mixed_drivers_cgroup = "/kubepods-pod1.slice:x:2"; },
       "warning the kubelet and containerd use different cgroup drivers "
       "(/kubepods-pod1.slice:x:2): rules by unit and cgroup do not find these pods -> set "
       "SystemdCgroup = true in containerd's configuration\n"},
  });
}

// A warning about CLOSIDs does not say why the machine cannot have the policy.
TEST(Diagnose, WarningsExplainNoError) {
  MachineFacts facts = healthy();
  facts.foreign_groups = {"a", "b", "c", "d", "e", "f"};
  facts.plan_error = "a.toml:2:6: error: x";
  const auto found = diagnose(facts);
  EXPECT_TRUE(std::ranges::any_of(found, [](const Finding& finding) {
    return finding.what == "this machine cannot have the policy: a.toml:2:6: error: x";
  }));
}

}  // namespace
}  // namespace rdtd
