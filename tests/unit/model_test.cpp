#include <gtest/gtest.h>

#include "rdtd/base/text.hpp"
#include "rdtd/model/cbm.hpp"
#include "rdtd/model/counters.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/model/container.hpp"
#include "rdtd/model/machine.hpp"
#include "rdtd/model/schemata.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/model/virtual_machine.hpp"

namespace rdtd {
namespace {

TEST(Cbm, ParseAfterFormat) {
  for (const uint32_t bits : {1U, 0xfU, 0xf0U, 0x80000000U, 0xffffffffU})
    EXPECT_EQ(parse_cbm(to_string(Cbm{bits})), Cbm{bits});
  for (const char* bad : {"", "0x", "g", "100000000", "-1"}) EXPECT_FALSE(parse_cbm(bad)) << bad;
}

TEST(Cbm, Ways) {
  EXPECT_EQ(Cbm::range(4, 4).bits, 0xf0U);
  EXPECT_EQ(Cbm::range(0, 32).bits, 0xffffffffU);
  EXPECT_TRUE(Cbm{0xf0}.contiguous());
  EXPECT_FALSE(Cbm{0x5}.contiguous());
  EXPECT_FALSE(Cbm{}.contiguous());
  EXPECT_EQ(longest_run(Cbm{0b1101'1101}), Cbm{0b0001'1100});
  EXPECT_EQ(way_list(Cbm{0b1101'1101}), "0,2-4,6-7");
}

TEST(CpuList, ParseAfterFormat) {
  const struct {
    const char* text;
    const char* formatted;
  } rows[] = {{"", ""}, {"0", "0"}, {"0-3,8", "0-3,8"}, {"3,1,2", "1-3"}, {" 1 , 4-5 \n", "1,4-5"}};
  for (const auto& row : rows)
    EXPECT_EQ(format_cpu_list(parse_cpu_list(row.text).value()), row.formatted) << row.text;
  for (const char* bad : {"a", "1-", "-1", "3-1", "1,,2", "70000", "1 2"})
    EXPECT_FALSE(parse_cpu_list(bad)) << bad;
  const struct {
    const char* text;
    size_t most;
    bool listed;
  } limits[] = {{"0-3", 4, true},         {"0-3", 3, false},
                {"0,2,4", 2, false},      {"0-1,0-1", 2, true},
                {"0-65535", 1024, false}, {"0-65535", 65536, true},
                {"0-1,2-3", 3, false},    {"", 0, true}};
  for (const auto& row : limits)
    EXPECT_EQ(parse_cpu_list(row.text, row.most).has_value(), row.listed) << row.text;
  EXPECT_TRUE(parse_cpu_list_with_exceptions("0-3,^2", 4));
  EXPECT_FALSE(parse_cpu_list_with_exceptions("0-4,^2", 4));
}

TEST(CpuList, Masks) {
  const struct {
    const char* list;
    const char* mask;
  } rows[] = {{"", "0"},
              {"0", "1"},
              {"0-3,31", "8000000f"},
              {"32", "1,00000000"},
              {"1,64-67", "f,00000000,00000002"}};
  for (const auto& row : rows)
    EXPECT_EQ(format_cpu_mask(parse_cpu_list(row.list).value()), row.mask) << row.list;
}

TEST(Schemata, ReadsWhatEveryKernelWrites) {
  const struct {
    const char* text;
    const char* formatted;
  } rows[] = {
      {"    L3:0=0000f;1=fffff\n    MB:0=  100;1=   20\n", "L3:0=f;1=fffff\nMB:0=100;1=20\n"},
      {"MB:0=10\nL3:0=f\n", "L3:0=f\nMB:0=10\n"},
      {"L3CODE:0=f\nL3DATA:0=f0\n", "L3CODE:0=f\nL3DATA:0=f0\n"},
      {"NEW:0=1\nL2:3=3\n", "L2:3=3\n"},
      {"    MB:\n    L3:0=f\n", "L3:0=f\n"},
      {"L3:0=0x7fff;1=0x3\nMB:0=100;1=100\n", "L3:0=7fff;1=3\nMB:0=100;1=100\n"},
      {"", ""}};
  for (const auto& row : rows) {
    const auto parsed = parse_schemata(row.text);
    ASSERT_TRUE(parsed) << row.text;
    EXPECT_EQ(format_schemata(*parsed), row.formatted) << row.text;
    EXPECT_EQ(parse_schemata(format_schemata(*parsed)), parsed) << row.text;
  }
  for (const char* bad : {"L3", "L3:0", "L3:0=g", "L3:x=f", "L3:0=0x", "MB:0=f", "MB:0=0x1"})
    EXPECT_FALSE(parse_schemata(bad)) << bad;
}

TEST(Schemata, MergesDomainsForPeople) {
  const struct {
    const char* text;
    const char* merged;
  } rows[] = {
      {"L3:0=f;1=f;2=f;3=f", "L3:0-3=f"},
      {"L3:0=f;1=ff0;2=f;3=ff0", "L3:0,2=f;1,3=ff0"},
      {"L3:4=1;0=ff;7=1", "L3:0=ff;4,7=1"},
      {"MB:0=100;1=20\nL3:0=f;1=f", "L3:0-1=f MB:0=100;1=20"},
      {"L3:0=fff0;1=fff0;2=fff0;3=fff0;4=fff0;5=fff0;6=fff0;7=fff0;8=f;9=f;10=f;11=f;12=f;13=f;"
       "14=f;15=f",
       "L3:0-7=fff0;8-15=f"},
      {"L3:70000=f;70001=f", "L3:70000-70001=f"},
      {"", ""}};
  for (const auto& row : rows)
    EXPECT_EQ(schemata_line(parse_schemata(row.text).value()), row.merged) << row.text;
}

TEST(Schemata, PartsOfALimitedLength) {
  const struct {
    size_t longest;
    const char* text;
    std::vector<std::string> parts;
  } rows[] = {
      {100, "", {}},
      {100, "L3:0=f;1=f\nMB:0=100\n", {"L3:0=f;1=f\nMB:0=100\n"}},
      {20, "L3:0=f;1=f\nMB:0=100\n", {"L3:0=f;1=f\nMB:0=100\n"}},
      {19, "L3:0=f;1=f\nMB:0=100\n", {"L3:0=f;1=f\n", "MB:0=100\n"}},
      {11, "L3:0=f;1=f;10=f\n", {"L3:0=f\n", "L3:1=f\n", "L3:10=f\n"}},
      {14, "L3:0=f;1=f;2=f\nMB:0=10\n", {"L3:0=f;1=f\n", "L3:2=f\n", "MB:0=10\n"}},
  };
  for (const auto& row : rows) {
    std::vector<std::string> parts;
    for (const Schemata& part : split_schemata(parse_schemata(row.text).value(), row.longest)) {
      parts.push_back(format_schemata(part));
      EXPECT_LE(parts.back().size(), row.longest);
    }
    EXPECT_EQ(parts, row.parts) << row.text << row.longest;
  }
}

TEST(MountOptions, ParseAfterFormat) {
  const MountOptions rows[] = {
      {}, {.cdp = true}, {.cdpl2 = true}, {.mba_MBps = true}, {true, true, true, true}};
  for (const MountOptions& options : rows) {
    const std::string text = format_mount_options(options);
    EXPECT_EQ(parse_mount_options(text), options) << text;
    const std::string mounts = "proc /proc proc rw 0 0\nresctrl /sys/fs/resctrl resctrl ";
    EXPECT_EQ(find_mount_options(mounts + text + " 0 0\n"), options) << text;
  }
  EXPECT_EQ(format_mount_options({.cdp = true, .debug = true}), "rw,cdp,debug");
  EXPECT_EQ(find_mount_options("proc /proc proc rw 0 0\n"), std::nullopt);
}

TEST(Snapshot, Labels) {
  const struct {
    std::string directory;
    std::string label;
    std::string control_group;
  } rows[] = {
      {"", "default", ""},
      {"redis", "redis", "redis"},
      {"redis/mon_groups/web", "redis/web", "redis"},
      {"mon_groups/web", "default/web", ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(group_label(row.directory), row.label);
    EXPECT_EQ(group_directory(row.label), row.directory);
    EXPECT_EQ(control_group_of(row.directory), row.control_group);
    EXPECT_EQ(is_mon_group(row.directory), row.label.contains('/'));
  }
}

TEST(Mode, ParseAfterFormat) {
  for (const Mode mode :
       {Mode::shareable, Mode::exclusive, Mode::pseudo_locksetup, Mode::pseudo_locked})
    EXPECT_EQ(parse_mode(to_string(mode)), mode);
  EXPECT_EQ(parse_mode("exclusive\n"), Mode::exclusive);
  EXPECT_FALSE(parse_mode("other"));
}

// Rows as in systemd's own tests of cg_path_get_unit and cg_path_get_user_unit, and what users try.
TEST(Counter, Values) {
  const struct {
    std::string text;
    std::optional<CounterValue> value;
  } rows[] = {
      {"4096\n", uint64_t{4096}},
      {"18446744073709551615\n", UINT64_MAX},
      {"12.625\n", 12.625},
      {"Unavailable\n", NoCount::unavailable},
      {"Unassigned\n", NoCount::unassigned},
      {"Error\n", NoCount::error},
      {"", std::nullopt},
      {"-1\n", std::nullopt},
      {"1e5\n", std::nullopt},
      {"inf\n", std::nullopt},
      {"nan\n", std::nullopt},
      {"7 of 9\n", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(parse_counter(row.text), row.value) << row.text;
}

TEST(VirtualMachine, OfCgroup) {
  const struct {
    const char* path;
    std::optional<std::string> name;
  } rows[] = {
      {"", {}},
      {"/", {}},
      {"/machine.slice", {}},
      {R"(/machine.slice/machine-qemu\x2d1\x2dweb.scope)", "web"},
      {R"(/machine.slice/machine-qemu\x2d12\x2dweb\x2dfront.scope/libvirt/vcpu0)", "web-front"},
      {R"(/machine.slice/machine-qemu\x2d3\x2da.b_c.scope)", "a.b_c"},
      {R"(/machine.slice/machine-qemu\x2d1\x2d\xc3\xa4.scope)", "\xc3\xa4"},
      {R"(/machine.slice/machine-qemu\x2dweb.scope)", {}},
      {R"(/machine.slice/machine-qemu\x2d1\x2d.scope)", {}},
      {R"(/machine.slice/machine-lxc\x2d1\x2dweb.scope)", {}},
      {R"(/machine.slice/machine-gold.slice/machine-qemu\x2d1\x2dweb.scope/libvirt)", "web"},
      {R"(/gold.slice/machine-qemu\x2d1\x2dweb.scope)", "web"},
      {R"(/machine.slice/web.service/machine-qemu\x2d1\x2dweb.scope)", {}},
      {R"(/user.slice/user-1.slice/user@1.service/a.slice/machine-qemu\x2d1\x2dweb.scope)", {}},
      {R"(/.slice/machine-qemu\x2d1\x2dweb.scope)", {}},
      {R"(/machine-qemu\x2d1\x2dweb.scope)", {}},
      {R"(/a/machine.slice/machine-qemu\x2d1\x2dweb.scope)", {}},
      {"/machine/qemu-7-web-1.libvirt-qemu", "web-1"},
      {"/machine/qemu-web.libvirt-qemu", {}},
      {"/machine/gold.partition/qemu-7-web.libvirt-qemu/emulator", "web"},
      {"/machine/gold.partition/a.partition/qemu-7-web.libvirt-qemu", "web"},
      {"/gold.partition/qemu-7-web.libvirt-qemu", "web"},
      {"/gold.partition/machine/qemu-7-web.libvirt-qemu", {}},
      {"/machine/gold/qemu-7-web.libvirt-qemu", {}},
      {"/qemu-7-web.libvirt-qemu", {}},
      {"/qemu.slice/qemu-a.slice/100.scope", {}},
      {"/qemu.slice/100.scope", "100"},
      {"/qemu.slice/.scope", {}},
      {"/qemu.slice", {}},
  };
  for (const auto& row : rows) EXPECT_EQ(vm_of_cgroup(row.path), row.name) << row.path;
}

// Of older libvirt, and of newer one if it differs.
TEST(VirtualMachine, ShortenedNamesInItsScope) {
  using Names = std::vector<std::string>;
  const std::initializer_list<std::pair<const char*, Names>> rows = {
      {"web-1", {}},
      {"a.b", {}},
      {"web_1", {"web1"}},
      {"a--b", {"a-b"}},
      {"a.-b", {"a.b"}},
      {"-a-", {"a"}},
      {"a_-b", {"a-b"}},
      {"a-_-b", {"a--b", "a-b"}},
      {"\xc3\xa4 x", {"x"}},
      {"\xc3\xa4-web", {"-web", "web"}},
      {"web-\xe6\xb5\x8b-01", {"web--01", "web-01"}},
      {"_", {}}};
  for (const auto& [name, in_scope] : rows) EXPECT_EQ(vm_names_in_scope(name), in_scope) << name;
}

TEST(VirtualMachine, NamesInItsScope) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(vm_names_in_scope("web-1"), Names());
  EXPECT_EQ(vm_names_in_scope("web_1"), Names({"web1"}));
  EXPECT_EQ(vm_names_in_scope("_"), Names());
  EXPECT_EQ(vm_names_in_scope(std::string(48, 'a')), Names());
  EXPECT_EQ(vm_names_in_scope(std::string(49, 'a')), Names({std::string(48, 'a')}));
  // "qemu-1-" and 57 characters are 64, and a '-' at the end goes too.
  const std::string name = std::string(55, 'a') + "-.bcd_e";
  const Names found = vm_names_in_scope(name);
  ASSERT_EQ(found.size(), 10);
  EXPECT_EQ(found[0], std::string(55, 'a') + "-bcde");
  EXPECT_EQ(found[1], std::string(55, 'a') + "-b");
  EXPECT_EQ(found[2], std::string(55, 'a'));
  EXPECT_EQ(found[9], std::string(48, 'a'));
}

TEST(Container, OfCgroup) {
  const std::string id(64, 'a');
  const std::string uid = "8f2c1d3e-0000-4abc-9def-0123456789ab";
  const std::string slice = "pod8f2c1d3e_0000_4abc_9def_0123456789ab.slice";
  const std::string mixed = ":cri-containerd:" + id;
  const std::string burstable = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-";
  const struct {
    std::string path, pod, container;
  } rows[] = {
      {"/system.slice/docker-" + id + ".scope", "", id},
      {"/docker/" + id, "", id},
      {"/docker/" + id + "/docker/" + std::string(64, 'b'), "", id},
      {"/machine.slice/libpod-" + id + ".scope/container", "", id},
      {"/machine.slice/machine-libpod_pod_1.slice/libpod-" + id + ".scope", "", id},
      {"/libpod_parent/libpod-" + id, "", id},
      {"/libpod_parent/" + std::string(64, 'a') + "/libpod-" + id + "/container", "", id},
      {"/libpod_parent/" + id, "", ""},
      {burstable + slice + "/cri-containerd-" + id + ".scope", uid, id},
      {burstable + slice + "/crio-" + id + ".scope/container", uid, id},
      {burstable + slice + "/crio-conmon-" + id + ".scope", uid, ""},
      {"/kubepods.slice/kubepods-" + slice + "/cri-containerd-" + id + ".scope", uid, id},
      {"/kubepods/burstable/pod" + uid + "/" + id, uid, id},
      {"/kubepods/pod" + uid + "/" + id + "/pod" + std::string(32, 'b'), uid, id},
      {"/kubepods/besteffort/pod" + std::string(32, 'c') + "/" + id, std::string(32, 'c'), id},
      {"/kubepods/burstable/pod" + uid, uid, ""},
      // Of containerd with the driver "cgroupfs", under a kubelet with "systemd".
      {"/kubepods-burstable-" + slice + mixed, uid, id},
      {"/kubepods-" + slice + mixed + "/a/docker-" + std::string(64, 'b') + ".scope", uid, id},
      {"/system.slice/kubepods-burstable-" + slice + mixed, uid, id},
      {"/system.slice/containerd.service/kubepods-besteffort-" + slice + mixed, uid, id},
      {"/system.slice/k3s.service/kubepods-" + slice + mixed, uid, id},
      {"/system.slice/k3s-agent.service/kubepods-" + slice + mixed, uid, id},
      {"/system.slice/rke2-server.service/kubepods-" + slice + mixed, uid, id},
      {"/system.slice/rke2-agent.service/kubepods-" + slice + mixed, uid, id},
      {"/system.slice/web.service/kubepods-" + slice + mixed, "", ""},
      {"/system.slice/containerd.service/a/kubepods-" + slice + mixed, "", ""},
      {"/user.slice/kubepods-" + slice + mixed, "", ""},
      {"/x-" + slice + mixed, "", ""},
      {"/kubepods-" + slice + mixed + "a", "", ""},
      {"/kubepods-" + slice + ":crio:" + id, "", ""},
      // What a user made, or what runs in a container.
      {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id + ".scope", "", ""},
      {"/user.slice/user-1000.slice/user@1000.service/kubepods/pod" + uid + "/" + id, "", ""},
      {"/system.slice/docker-x.scope/kubelet.slice/kubepods.slice/kubepods-" + slice, "", ""},
      {"/system.slice/web.service/docker/" + id, "", ""},
      {"/other/" + id, "", ""},
      // No number of a container.
      {"/system.slice/docker-" + id + "a.scope", "", ""},
      {"/system.slice/docker-" + std::string(64, 'A') + ".scope", "", ""},
      {"/system.slice/docker-abc.scope", "", ""},
      {"/kubepods/podshort", "", ""},
      {"/system.slice/pod" + uid, "", ""},
      {"/system.slice", "", ""},
      {"/", "", ""},
      {"", "", ""},
      {"docker/" + id, "", ""},
  };
  for (const auto& row : rows)
    EXPECT_EQ(container_of_cgroup(row.path), (ContainerIds{row.pod, row.container})) << row.path;
}

TEST(SystemdUnit, OfCgroup) {
  const struct {
    const char* path;
    const char* system;
    const char* user;
  } rows[] = {
      {"", "", ""},
      {"/", "", ""},
      {"x.service", "", ""},
      {"/init.scope", "init.scope", ""},
      {"/foobar.service/aa", "foobar.service", ""},
      {"/system.slice", "system.slice", ""},
      {"/system.slice/foobar.service/sdfdsaf", "system.slice foobar.service", ""},
      {"/system.slice/getty@tty1.service", "system.slice getty@tty1.service", ""},
      {"/system.slice/getty@.service", "system.slice", ""},
      {"/system.slice/.service", "system.slice", ""},
      {"/system.slice/@x.service", "system.slice", ""},
      {"/system.slice/a b.service", "system.slice", ""},
      {"/system.slice/a@b.slice/x.service", "system.slice", ""},
      {"/system.slice/_cpu.service", "system.slice cpu.service", ""},
      {"/_a.slice/x.scope", "a.slice x.scope", ""},
      {"/system.slice//x.service", "system.slice", ""},
      {"/getty@tty3.service/x.service", "getty@tty3.service", ""},
      {"/kubepods.slice/kubepods-burstable.slice/cri-1.scope/system.slice/x.service",
       "kubepods.slice kubepods-burstable.slice cri-1.scope", ""},
      {"/kubepods/x.service", "", ""},
      {"/user.slice/user-1.slice/session-2.scope/x.service",
       "user.slice user-1.slice session-2.scope", ""},
      {"/user.slice/user-1.slice/user@1.service", "user.slice user-1.slice user@1.service", ""},
      {"/user.slice/user-1.slice/user@1.service/app.slice/a.slice/b.service/c.service",
       "user.slice user-1.slice user@1.service", "app.slice a.slice b.service"},
      {"/user@0.service/foo/x.service", "user@0.service", ""},
      {"/user@x.service/foo.service", "user@x.service", ""},
      {"/x.service/user@1.service/foo.service", "x.service", ""},
  };
  const auto text = [](const std::vector<std::string_view>& units) {
    return join(std::vector<std::string>(units.begin(), units.end()), " ");
  };
  for (const auto& row : rows) {
    const CgroupUnits units = units_of_cgroup(row.path);
    EXPECT_EQ(text(units.system), row.system) << row.path;
    EXPECT_EQ(text(units.user), row.user) << row.path;
  }
  EXPECT_TRUE(units_of_cgroup("/" + std::string(248, 'a') + ".service").system.empty());
  EXPECT_EQ(units_of_cgroup("/" + std::string(247, 'a') + ".service").system.size(), 1U);
}

TEST(Labels, NoTwoDirectoriesHaveTheSame) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "default"},
      {"redis", "redis"},
      {"mon_groups/m", "default/m"},
      {"redis/mon_groups/m", "redis/m"},
      {"default", "./default"},
      {"default/mon_groups/m", "./default/m"},
  };
  for (const auto& [directory, label] : rows) {
    EXPECT_EQ(group_label(directory), label);
    EXPECT_EQ(group_directory(label), directory);
  }
  EXPECT_EQ(group_directory("./redis"), "redis");
}

}  // namespace
}  // namespace rdtd
