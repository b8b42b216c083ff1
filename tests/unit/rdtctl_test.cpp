// What rdtctl decides in values: doctor's findings and the rates of top.
#include <gtest/gtest.h>

#include <functional>

#include "diagnose.hpp"
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
  facts.num_closids = 8;
  facts.own_groups = {"redis"};
  facts.policy_groups = 1;
  facts.l3_wanted = "a.toml:2";
  facts.daemon_runs = true;
  facts.daemon_state = "running";
  return facts;
}

std::string told(const std::vector<Finding>& findings) {
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
    const char* told;
  } rows[] = {
      {"healthy", [](MachineFacts&) {}, ""},
      {"no RDT",
       [](MachineFacts& facts) {
         facts.cpu_flags = {"fpu"};
         facts.kernel_has_resctrl = false;
         facts.mount_options.reset();
       },
       "problem the processor has no RDT: none of cat_l3, cat_l2, mba is among its flags -> use a "
       "machine with Intel RDT or AMD QoS; a virtual machine "
       "has it only where its host passes it on\n"},
      {"a processor of another kind whose kernel offers resctrl",
       [](MachineFacts& facts) { facts.cpu_flags.clear(); }, ""},
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
       "problem the kernel command line turns l3cat off: rdt=cmt,!l3cat,!mba -> take !l3cat out of "
       "the boot loader's configuration and boot again\n"
       "problem the kernel command line turns mba off: rdt=cmt,!l3cat,!mba -> take !mba out of the "
       "boot loader's configuration and boot again\n"},
      {"a part turned off, and mounted",
       [](MachineFacts& facts) { facts.command_line = "rdt=!mbmlocal"; },
       "warning the kernel command line turns mbmlocal off: rdt=!mbmlocal -> take !mbmlocal out of "
       "the boot loader's configuration and boot again\n"},
      {"a part turned off, and not mounted",
       [](MachineFacts& facts) {
         facts.command_line = "rdt=!mbmlocal";
         facts.mount_options.reset();
       },
       "problem the kernel command line turns mbmlocal off: rdt=!mbmlocal -> take !mbmlocal out of "
       "the boot loader's configuration and boot again\n"
       "problem resctrl is not mounted on /r -> systemctl start sys-fs-resctrl.mount; rdtd.service "
       "does so by itself\n"},
      {"one of two turned off, and not mounted",
       [](MachineFacts& facts) {
         facts.command_line = "rdt=!mba";
         facts.mount_options.reset();
       },
       "problem the kernel command line turns mba off: rdt=!mba -> take !mba out of the boot "
       "loader's configuration and boot again\n"
       "problem resctrl is not mounted on /r -> systemctl start sys-fs-resctrl.mount; rdtd.service "
       "does so by itself\n"},
      {"a tree that cannot be read",
       [](MachineFacts& facts) { facts.tree_error = "cannot open /r/schemata: Permission denied"; },
       "problem cannot open /r/schemata: Permission denied -> try it as root\n"},
      {"a bad policy kept rdtd from starting",
       [](MachineFacts& facts) {
         facts.policy_error = "a.toml:1:1: error: x\n";
         facts.daemon_runs = false;
       },
       "problem the policy is bad: a.toml:1:1: error: x -> rdtctl check shows where\n"
       "problem rdtd does not run, and cannot start with a bad policy -> mend the policy, try it "
       "with rdtctl check, and systemctl start rdtd\n"},
      {"not mounted",
       [](MachineFacts& facts) {
         facts.mount_options.reset();
         facts.daemon_runs = false;
       },
       "problem resctrl is not mounted on /r -> systemctl start sys-fs-resctrl.mount; rdtd.service "
       "does so by itself\n"
       "problem rdtd does not run -> systemctl start rdtd; journalctl -u rdtd tells why it may "
       "have stopped\n"},
      {"in a container",
       [](MachineFacts& facts) {
         facts.container = "podman";
         facts.mount_options.reset();
       },
       "problem this is a container (podman), and resctrl is not mounted in it -> run rdtd on the "
       "host: its rules find the processes of containers by "
       "their cgroups\n"},
      {"a container with resctrl", [](MachineFacts& facts) { facts.container = "podman"; }, ""},
      {"cdp wanted", [](MachineFacts& facts) { facts.code_and_data_wanted = "a.toml:3"; },
       "problem the policy divides code and data (a.toml:3), and resctrl is mounted without cdp -> "
       "systemctl edit sys-fs-resctrl.mount, with the lines "
       "\"[Mount]\" and \"Options=cdp\", and boot again; this version of rdtd itself still refuses "
       "such a policy\n"},
      {"cdp not wanted", [](MachineFacts& facts) { facts.mount_options = "rw,cdp"; },
       "problem resctrl is mounted with cdp, and this version of rdtd divides only caches that are "
       "whole (a.toml:2) -> take cdp out of Options= in the "
       "drop-in of sys-fs-resctrl.mount, and boot again\n"},
      {"the last CLOSID",
       [](MachineFacts& facts) { facts.foreign_groups = {"a", "b", "c", "d", "e", "f"}; }, ""},
      {"out of CLOSIDs",
       [](MachineFacts& facts) {
         facts.foreign_groups = {"COS1", "COS2", "COS3", "COS4", "COS5", "COS6", "COS7"};
         facts.own_groups.clear();
       },
       "problem the policy has 1 group and 0 can be made; 8 CLOSIDs: 1 is the default group's, 0 "
       "are rdtd's, 7 taken by others (COS1, COS2, COS3, COS4, "
       "COS5, COS6, COS7) -> remove the groups of others that nobody needs: rmdir /r/COS1; pqos -R "
       "removes those of pqos\n"},
      {"too many groups", [](MachineFacts& facts) { facts.policy_groups = 8; },
       "problem the policy has 8 groups and 7 can be made; 8 CLOSIDs: 1 is the default group's, 1 "
       "is rdtd's, 0 taken by others -> use fewer groups\n"},
      {"containerd",
       [](MachineFacts& facts) {
         facts.runtimes = {{"containerd", "/etc/containerd/config.toml:4"}};
       },
       "warning containerd manages RDT itself (/etc/containerd/config.toml:4): it deletes every "
       "group that it does not know -> take rdt_config_file out "
       "there and restart containerd; containers can name rdtd's groups as their closID\n"},
      {"a bad policy",
       [](MachineFacts& facts) { facts.last_reload_error = "a.toml:1:1: error: x\n  1 | x"; },
       "problem the last reload failed: a.toml:1:1: error: x -> mend the policy, try it with "
       "rdtctl check, and systemctl reload rdtd\n"},
      {"degraded", [](MachineFacts& facts) { facts.daemon_state = "degraded"; },
       "problem rdtd is degraded -> journalctl -u rdtd tells why\n"},
  };
  for (const auto& row : rows) {
    MachineFacts facts = healthy();
    row.change(facts);
    EXPECT_EQ(told(diagnose(facts)), row.told) << row.name;
  }
}

TEST(Usage, Rates) {
  using std::chrono::seconds;
  const std::chrono::steady_clock::time_point start{};
  const Reading before{start,
                       {{"", "", DomainId{0}, 100, 1000, 500},
                        {"a", "", DomainId{0}, 10, 5000, 0},
                        {"a", "", DomainId{1}, 20, {}, 0}}};
  const Reading now{start + seconds(2),
                    {{"", "", DomainId{0}, 100, 3000, 500},
                     {"a", "", DomainId{0}, 30, 4000, 8},
                     {"a", "", DomainId{1}, {}, 7, 4},
                     {"a", "m", DomainId{0}, 1, 1, 1}}};
  const auto text = [&](Domains domains) {
    std::string out;
    for (const Usage& usage : usage_between(before, now, domains))
      out += usage.group + " " + (usage.domain ? to_string(*usage.domain) : "all") + " " +
             (usage.occupancy ? std::to_string(*usage.occupancy) : "-") + " " +
             (usage.total ? std::to_string(static_cast<int>(*usage.total)) : "-") + " " +
             (usage.local ? std::to_string(static_cast<int>(*usage.local)) : "-") + "\n";
    return out;
  };
  // A counter that has gone back, that could not be read or was not there before has no rate.
  EXPECT_EQ(text(Domains::apart), "default 0 100 1000 0\na 0 30 - 4\na 1 - - 2\na/m 0 1 - -\n");
  EXPECT_EQ(text(Domains::summed), "default all 100 1000 0\na all 30 - 6\na/m all 1 - -\n");
}

}  // namespace
}  // namespace rdtd
