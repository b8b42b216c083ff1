// Policies in force on the model kernels of machines whose resources are few, many or odd: what
// each group has in the end, as files of resctrl show it. Scenarios of the same policies run on
// emulated machines of these kinds, not at each run of the tests (docs/testing.md).
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

fake::Machine with_l3(fake::Machine machine, auto change) {
  change(machine.controls.at(Resource::L3));
  return machine;
}

// Masks of at least two ways, 4 CLOSIDs, two ways that devices fill too, no bandwidths.
fake::Machine haswell() {
  fake::Machine machine = with_l3(fake::xeon(), [](fake::Control& l3) {
    l3.min_cbm_bits = 2;
    l3.num_closids = 4;
    l3.shareable_bits = Cbm::range(18, 2);
  });
  machine.controls.erase(Resource::MB);
  machine.mon_features = {"llc_occupancy"};
  return machine;
}

fake::Machine with_io_ways() {
  return with_l3(fake::xeon(2, 11),
                 [](fake::Control& l3) { l3.shareable_bits = Cbm::range(9, 2); });
}

fake::Machine only_monitoring() {
  fake::Machine machine = fake::xeon();
  machine.controls.clear();
  machine.more_info.erase("MB/thread_throttle_mode");
  return machine;
}

fake::Machine only_allocation() {
  fake::Machine machine = fake::xeon();
  machine.num_rmids = 0;
  machine.mon_features.clear();
  machine.mon_domains.clear();
  machine.more_info.erase("L3_MON/max_threshold_occupancy");
  return machine;
}

struct Case {
  const char* name;
  fake::Machine machine;
  const char* policy;
  const char* tree;  // a line for each group: its name, mode, CPUs and schemata
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"rates in eighths of a GB/s, and a mask with gaps", fake::amd(),
       "[group.gaps]\nl3 = \"0xf0f\"\nmb = \"8 GB/s\"\nsmba = { \"0\" = \"1 GB/s\" }\n"
       "[group.own]\nl3 = \"4 ways\"\nexclusive = true\nmb = \"130 MB/s\"\n"
       "[group.much]\nmb = \"300 GB/s\"\n",
       "default shareable 0-3 L3:0=ff0f MB:0=2048 SMBA:0=2048\n"
       "gaps shareable  L3:0=f0f MB:0=64 SMBA:0=8\n"
       "much shareable  L3:0=ff0f MB:0=2048 SMBA:0=2048\n"
       "own exclusive  L3:0=f0 MB:0=2 SMBA:0=2048\n"},
      {"at least two ways", haswell(),
       "[group.one]\nl3 = \"1%\"\nexclusive = true\n[group.two]\nl3 = \"12%\"\n"
       "[group.three]\nl3 = \"64 KiB\"\n",
       "default shareable 0-3 L3:0-1=ffffc\n"
       "one exclusive  L3:0-1=3\n"
       "three shareable  L3:0-1=30\n"
       "two shareable  L3:0-1=c\n"},
      {"all ways but those of devices", haswell(),
       "[group.one]\nl3 = \"16 ways\"\nexclusive = true\n"
       "[group.two]\nl3 = \"2 ways\"\nexclusive = true\n",
       "default shareable 0-3 L3:0-1=c0000\n"
       "one exclusive  L3:0-1=ffff\n"
       "two exclusive  L3:0-1=30000\n"},
      {"beside the ways of devices", with_io_ways(),
       "[group.redis]\nl3 = \"4 ways\"\nexclusive = true\n[group.batch]\nl3 = \"1 way\"\n",
       "default shareable 0-3 L3:0-1=7f0 MB:0-1=100\n"
       "batch shareable  L3:0-1=10 MB:0-1=100\n"
       "redis exclusive  L3:0-1=f MB:0-1=100\n"},
      {"no counters", only_allocation(),
       "[group.one]\nl3 = \"4 ways\"\nmb = \"50%\"\nexclusive = true\n",
       "default shareable 0-3 L3:0-1=ffff0 MB:0-1=100\n"
       "one exclusive  L3:0-1=f MB:0-1=50\n"},
      {"an amount for each of many domains", fake::xeon(16),
       "[group.redis]\n"
       "l3 = { \"0-3\" = \"4 ways\", \"4\" = \"50%\", \"5,7,9\" = \"ways 2-3\", "
       "\"*\" = \"2 ways\" }\n"
       "mb = { \"0\" = \"10%\", \"15\" = \"50%\", \"*\" = \"90%\" }\nexclusive = true\n"
       "[group.batch]\n"
       "l3 = { \"1\" = \"1 way\", \"3\" = \"2 ways\", \"5\" = \"3 ways\", \"7\" = \"4 ways\", "
       "\"9\" = \"5 ways\", \"11\" = \"6 ways\" }\ncpus = \"0,2,4,6,8,10,12,14\"\n",
       "default shareable 1,3,5,7,9,11,13,15-31 L3:0-3,5,7,9=ffff0;4=ffc00;6,8,10-15=ffffc "
       "MB:0-15=100\n"
       "batch shareable 0,2,4,6,8,10,12,14 L3:0,2=ffff0;1=10;3=30;4=ffc00;5=70;"
       "6,8,10,12-15=ffffc;7=f0;9=1f0;11=fc MB:0-15=100\n"
       "redis exclusive  L3:0-3=f;4=3ff;5,7,9=c;6,8,10-15=3 MB:0=10;1-14=90;15=50\n"},
  };
  return all;
}

class MachinesInForce : public test::World {
 protected:
  [[nodiscard]] std::string read(const std::string& group, const char* name) const {
    const auto text = kernel.resctrl.read(resctrl::file_of(group, name));
    return text ? text->substr(0, text->find('\n')) : "none";
  }
  [[nodiscard]] std::string tree() const {
    const auto machine = resctrl::read_machine(kernel, {}, cpus, true);
    std::string out;
    for (const auto& [directory, group] : machine->snapshot.groups)
      out += fmt::format("{} {} {} {}\n", group_label(directory), read(directory, "mode"),
                         read(directory, "cpus_list"), schemata(directory));
    return out;
  }
};

TEST_F(MachinesInForce, Groups) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    cpus = c.machine.cpus;
    use(c.machine);
    ASSERT_EQ(reload(c.policy), "");
    EXPECT_EQ(tree(), c.tree);
    EXPECT_EQ(state(), "running");
    // Nothing of it remains.
    ASSERT_EQ(wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); }), "");
    EXPECT_EQ(tree().find('\n'), tree().size() - 1) << tree();
  }
}

TEST_F(MachinesInForce, OnlyMonitoring) {
  use(only_monitoring());
  const pid_t pid = processes.start({.name = "web"});
  ASSERT_EQ(reload("[[rule]]\ngroup = \"default\"\nmonitor = \"web\"\nname = \"web\"\n"), "");
  EXPECT_EQ(group_of(pid), "default/web");
  EXPECT_EQ(reload("[group.a]\nl3 = \"1 way\"\n"),
            "p.toml:1:8: error: group 'a': resctrl divides nothing here, so that there is only "
            "the default group\n    1 | [group.a]\n      |        ^\n"
            "p.toml:2:6: error: 'l3': resctrl offers no L3 here; it offers nothing\n"
            "    2 | l3 = \"1 way\"\n      |      ^~~~~~~\n");
  EXPECT_EQ(group_of(pid), "default/web");
}

}  // namespace
}  // namespace rdtd
