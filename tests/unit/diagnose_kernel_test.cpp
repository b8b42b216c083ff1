// What doctor concludes from the kernel and from how resctrl is mounted.
#include <cerrno>

#include "diagnose_support.hpp"

namespace rdtd::diagnose_kernel {
namespace {

using test::expect_findings;

void make_arm(MachineFacts& facts) {
  facts.architecture = MachineFacts::Architecture::arm64;
  facts.cpu_flags.clear();
}

TEST(DiagnoseKernel, Kernel) {
  const auto without_resctrl = [](MachineFacts& facts) {
    facts.kernel_has_resctrl = false;
    facts.mount_options.reset();
  };
  expect_findings({
      {"built with resctrl",
       [&](MachineFacts& facts) {
         without_resctrl(facts);
         facts.kernel_config = "/boot/config-6.12.1";
         facts.built_with_resctrl = true;
       },
       "problem the kernel was built with resctrl (/boot/config-6.12.1), but found nothing that "
       "resctrl can use -> see dmesg | grep -i resctrl\n"},
      {"built with resctrl, and virtual",
       [&](MachineFacts& facts) {
         without_resctrl(facts);
         facts.cpu_flags.insert("hypervisor");
         facts.kernel_config = "/lib/modules/6.12.1/config";
         facts.built_with_resctrl = true;
       },
       "problem the kernel was built with resctrl (/lib/modules/6.12.1/config), but found nothing "
       "that resctrl can use -> this is a virtual machine, and its host passes on only a flag: run "
       "rdtd on the host\n"},
      {"built without resctrl",
       [&](MachineFacts& facts) {
         without_resctrl(facts);
         facts.kernel_config = "/boot/config-6.12.1";
       },
       "problem the kernel was built without resctrl (/boot/config-6.12.1) -> use one that was "
       "built with CONFIG_X86_CPU_RESCTRL=y\n"},
      {"MPAM turned off",
       [&](MachineFacts& facts) {
         make_arm(facts);
         without_resctrl(facts);
         facts.command_line = "quiet arm64.nompam";
       },
       "problem the kernel command line turns MPAM off: arm64.nompam -> remove arm64.nompam from "
       "the boot loader's configuration and reboot\n"},
      {"the same with a value",
       [&](MachineFacts& facts) {
         make_arm(facts);
         without_resctrl(facts);
         facts.command_line = "arm64.nompam=1 quiet";
       },
       "problem the kernel command line turns MPAM off: arm64.nompam=1 -> remove arm64.nompam=1 "
       "from the boot loader's configuration and reboot\n"},
      {"the same, on a kernel that does not know it",
       [&](MachineFacts& facts) {
         make_arm(facts);
         facts.command_line = "arm64.nompam";
       },
       ""},
  });
}

TEST(DiagnoseKernel, Mount) {
  expect_findings({
      {"cdp wanted on Arm",
       [](MachineFacts& facts) {
         make_arm(facts);
         facts.l3_halves_requested = "a.toml:3";
       },
       "problem the policy divides code and data (a.toml:3), but resctrl is mounted without cdp -> "
       "if the kernel was built with CONFIG_EXPERT=y: "
       "systemctl edit sys-fs-resctrl.mount, add the lines \"[Mount]\" and \"Options=cdp\", and "
       "reboot\n"},
      {"a failed mount with cdp on Arm",
       [](MachineFacts& facts) {
         make_arm(facts);
         facts.mount_options.reset();
         facts.failed_mount_options = "cdp";
       },
       "problem sys-fs-resctrl.mount has failed: it has the option cdp, and kernels for Arm may "
       "lack it -> if dmesg says \"CDP not supported\", this one was built without "
       "CONFIG_EXPERT=y: systemctl edit sys-fs-resctrl.mount, remove cdp from Options=, then "
       "systemctl restart sys-fs-resctrl.mount rdtd\n"},
      {"a failed mount with mba_MBps on AMD",
       [](MachineFacts& facts) {
         facts.vendor = "AuthenticAMD";
         facts.cpu_flags.insert("cqm_mbm_local");
         facts.mount_options.reset();
         facts.failed_mount_options = "rw,mba_MBps";
       },
       "problem sys-fs-resctrl.mount has failed: it has the option mba_MBps, which kernels have "
       "only for processors of Intel -> systemctl edit sys-fs-resctrl.mount, remove mba_MBps from "
       "Options=, then systemctl restart sys-fs-resctrl.mount rdtd\n"},
      {"read-only", [](MachineFacts& facts) { facts.mount_options = "ro,relatime"; },
       "problem resctrl is mounted read-only on /r (ro,relatime) -> mount -o remount,rw /r\n"},
      {"read-only in a container",
       [](MachineFacts& facts) {
         facts.container = "kubernetes";
         facts.mount_options = "rw,ro";
       },
       "problem resctrl is mounted read-only on /r (rw,ro) -> mount it writable into the container "
       "(in a pod: readOnly: false)\n"},
      {"mounted elsewhere",
       [](MachineFacts& facts) {
         facts.mount_options.reset();
         facts.mounted_elsewhere = "/mnt/resctrl";
         facts.failed_mount_options = "";
       },
       "problem resctrl is mounted on /mnt/resctrl, and can be mounted only once -> umount "
       "/mnt/resctrl, then systemctl start sys-fs-resctrl.mount\n"},
      {"a tree that is no tree",
       [](MachineFacts& facts) {
         facts.tree_error = "cannot parse /r/info/L3/cbm_mask: it is no number";
         facts.tree_error_code = EBADMSG;
       },
       "problem cannot parse /r/info/L3/cbm_mask: it is no number -> umount and mount resctrl "
       "again; if it stays, report it with rdtctl snapshot\n"},
      {"a kernel whose groups have no mode",
       [](MachineFacts& facts) {
         facts.tree_error = "cannot open /r/mode: No such file or directory";
         facts.tree_error_code = ENOENT;
         facts.kernel_too_old = true;
       },
       "problem cannot open /r/mode: No such file or directory -> use Linux 4.19 or newer\n"},
      {"a cache without ways",
       [](MachineFacts& facts) {
         facts.caches_without_ways = {"L3"};
         facts.plan_error = "a.toml:2:6: error: the kernel reports no ways of L3 (cbm_mask is 0)";
       },
       "problem the kernel reports no ways of L3 (cbm_mask is 0) -> this is a fault of the "
       "kernel's driver: report it to its maintainers\n"},
  });
}

}  // namespace
}  // namespace rdtd::diagnose_kernel
