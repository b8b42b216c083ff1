// What doctor reads about a machine.
#include <gtest/gtest.h>

#include "diagnose_support.hpp"
#include "files.hpp"
#include "group_facts.hpp"
#include "kernel_facts.hpp"
#include "rdtd/resctrl/kernel.hpp"
#include "rdtd/resctrl/read.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

using DoctorFacts = Files;

TEST_F(DoctorFacts, MixedDriversCgroup) {
  const std::string root = root_.string();
  const std::string pod = "kubepods-burstable-pod8f2c1d3e_0000_4abc_9def_0123456789ab.slice";
  const std::string name = pod + ":cri-containerd:" + std::string(64, 'a');
  EXPECT_EQ(find_mixed_drivers_cgroup(root), "");
  put("sys/fs/cgroup/system.slice/web.service/" + name + "/cgroup.procs", "");
  put("sys/fs/cgroup/system.slice/docker:x/cgroup.procs", "");
  EXPECT_EQ(find_mixed_drivers_cgroup(root), "");
  put("sys/fs/cgroup/system.slice/k3s.service/" + name + "/cgroup.procs", "");
  EXPECT_EQ(find_mixed_drivers_cgroup(root), "/system.slice/k3s.service/" + name);
  put("sys/fs/cgroup/unified/" + name + "/cgroup.procs", "");
  EXPECT_EQ(find_mixed_drivers_cgroup(root), "/" + name);
}

TEST_F(DoctorFacts, RuntimeSettings) {
  const std::string setting = "version = 3\nrdt_config_file = \"/etc/rdt.yaml\"\n";
  const std::string rancher = "var/lib/rancher/";
  put("etc/containerd/conf.d/rdt.toml", setting);
  put(rancher + "k3s/agent/etc/containerd/config.toml", setting);
  put(rancher + "k3s/agent/etc/containerd/config-v3.toml.tmpl", "# rdt_config_file = \"/x\"\n");
  put(rancher + "rke2/agent/etc/containerd/config-v3.toml.d/rdt.toml", setting);
  put("var/snap/microk8s/current/args/containerd-template.toml", setting);
  put("var/snap/microk8s/current/args/kubelet", "--root-dir=/x\n");
  std::string found;
  for (const RuntimeSetting& of : find_runtime_settings(root_.string()))
    found += of.runtime + " " + of.place.substr(root_.string().size()) + "\n";
  EXPECT_EQ(found,
            "containerd /etc/containerd/conf.d/rdt.toml:2\n"
            "k3s /var/lib/rancher/k3s/agent/etc/containerd/config.toml:2\n"
            "rke2 /var/lib/rancher/rke2/agent/etc/containerd/config-v3.toml.d/rdt.toml:2\n"
            "microk8s /var/snap/microk8s/current/args/containerd-template.toml:2\n");
}

TEST_F(DoctorFacts, OfTheKernel) {
  Context context;
  context.root = root_.string();
  context.proc = (root_ / "proc").string();
  context.resctrl = "/r";
  const auto read = [&] {
    MachineFacts facts;
    read_kernel(context, facts);
    return facts;
  };
  put("proc/sys/kernel/osrelease", "6.12.1\n");
  put("boot/config-6.12.1", "# CONFIG_X86_CPU_RESCTRL is not set\nCONFIG_X86_CPU_RESCTRL=yes\n");
  put("boot/config-6.1.0", "CONFIG_X86_CPU_RESCTRL=y\n");
  put("proc/mounts", "none /r tmpfs rw 0 0\nresctrl /mnt/r resctrl rw,cdp 0 0\n");
  EXPECT_EQ(read().kernel_config, root_.string() + "/boot/config-6.12.1");
  EXPECT_FALSE(read().built_with_resctrl);
  EXPECT_EQ(read().mount_options, std::nullopt);
  EXPECT_EQ(read().mounted_elsewhere, "/mnt/r");
  put("boot/config-6.12.1", "CONFIG_X86_CPU_RESCTRL=y\n");
  put("proc/mounts", "resctrl /r resctrl ro 0 0\nresctrl /mnt/r resctrl rw,cdp 0 0\n");
  EXPECT_EQ(read().kernel_config, root_.string() + "/boot/config-6.12.1");
  EXPECT_TRUE(read().built_with_resctrl);
  EXPECT_EQ(read().mount_options, "ro");
  EXPECT_EQ(read().mounted_elsewhere, "");
  put("boot/config-6.12.1", "CONFIG_INTEL_RDT=y\n");
  EXPECT_TRUE(read().built_with_resctrl);
  put("proc/sys/kernel/osrelease", "6.17.1\n");
  EXPECT_EQ(read().kernel_config, "");
  put("lib/modules/6.17.1/config", "CONFIG_X86_CPU_RESCTRL=y\n");
  EXPECT_EQ(read().kernel_config, root_.string() + "/lib/modules/6.17.1/config");
  EXPECT_TRUE(read().built_with_resctrl);
}

TEST_F(DoctorFacts, OfTheProcessor) {
  Context context;
  context.root = root_.string();
  context.proc = (root_ / "proc").string();
  put("proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: HygonGenuine\ncpu family\t: 24\nmodel\t\t: 4\n"
      "model name\t: Hygon C86 7490\nflags\t\t: fpu cat_l3 mba\n\n"
      "processor\t: 1\nvendor_id\t: GenuineIntel\n");
  MachineFacts facts;
  read_kernel(context, facts);
  EXPECT_EQ(facts.vendor, "HygonGenuine");
  EXPECT_EQ(facts.family, 24U);
  EXPECT_EQ(facts.model, 4U);
  EXPECT_EQ(facts.cpu_flags, (std::set<std::string>{"fpu", "cat_l3", "mba"}));
}

TEST(GroupFacts, Holders) {
  const Capabilities capabilities = test::machine(20, 1);
  Snapshot now = test::untouched(capabilities);
  for (const char* name : {"COS1", "ours", "region", "our_region", "setup"}) now.groups[name];
  now.groups.at("region").mode = now.groups.at("our_region").mode = Mode::pseudo_locked;
  now.groups.at("setup").mode = Mode::pseudo_locksetup;
  now.unreadable = {"our_half", "their_half"};
  now.owned = {"", "ours", "our_region", "our_half"};
  MachineFacts facts;
  read_groups(capabilities, now, {}, facts);
  using Names = std::vector<std::string>;
  EXPECT_EQ(facts.num_closids, 8U);
  EXPECT_EQ(facts.own_groups, (Names{"ours", "our_half"}));
  EXPECT_EQ(facts.foreign_groups, (Names{"COS1", "setup", "their_half"}));
  EXPECT_EQ(facts.foreign_regions, std::set<std::string>{"region"});
  EXPECT_EQ(facts.own_rmids, 2U);
  EXPECT_EQ(facts.foreign_rmids, (Names{"COS1", "their_half"}));
  MachineFacts of_monitoring;
  read_groups({}, {}, {}, of_monitoring);
  EXPECT_EQ(of_monitoring.num_closids, std::nullopt);
}

TEST_F(DoctorFacts, GroupsInUse) {
  put("schemata", "");  // without it, no resctrl is mounted there
  put("tasks", "1\n");
  put("empty/tasks", "");
  put("tasks_of/tasks", "12\n");
  put("devices_of/tasks", "iommu_group:5\n");
  put("cpus_of/tasks", "");
  put("mon_groups/empty/tasks", "");
  put("mon_groups/cpus_of/tasks", "");
  put("mon_groups/tasks_of/tasks", "12\n");
  const auto tree = resctrl::Kernel::open(root_.string());
  ASSERT_TRUE(tree);
  Snapshot now;
  now.groups["cpus_of"].cpus = {3};
  now.mon_cpus["mon_groups/cpus_of"] = {3};
  MachineFacts facts;
  facts.foreign_groups = {"cpus_of", "devices_of", "empty", "tasks_of", "gone"};
  facts.foreign_rmids = {"mon_groups/cpus_of", "mon_groups/empty", "mon_groups/tasks_of"};
  find_used(**tree, now, facts);
  EXPECT_EQ(facts.used, (std::set<std::string>{"cpus_of", "devices_of", "tasks_of", "gone",
                                               "mon_groups/cpus_of", "mon_groups/tasks_of"}));
}

// The CLOSID of somebody's locked memory is free, and nobody is told to remove it.
TEST(GroupFacts, ARegionOfAnotherTool) {
  const auto tree = resctrl::Kernel::open(RDTD_TEST_DATA "/apollo-lake");
  ASSERT_TRUE(tree);
  const auto machine = resctrl::read_machine(**tree, {}, {});
  ASSERT_TRUE(machine);
  MachineFacts facts = test::healthy();
  facts.own_groups.clear();
  facts.policy_groups = {"a", "b", "c"};
  read_groups(machine->capabilities, machine->snapshot, {}, facts);
  EXPECT_EQ(facts.num_closids, 4U);
  EXPECT_EQ(test::shown_findings(diagnose(facts)), "");
}

}  // namespace
}  // namespace rdtd
