// Policies in force on the model kernels of machines whose resources are few, many or odd: what
// each group has in the end, as files of resctrl show it. Scenarios of the same policies run on
// emulated machines of these kinds, not at each run of the tests (docs/testing.md).
#include <gtest/gtest.h>

#include "machines.hpp"
#include "unit/support.hpp"
#include "world.hpp"

namespace rdtd {
namespace {

using test::amd_nodes;
using test::arm;
using test::haswell;
using test::native;
using test::only_allocation;
using test::only_monitoring;
using test::open_euler;
using test::with_io_ways;
using test::without_l3;

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

struct Controls {
  const char* name;
  fake::Machine machine;
  const char* policy;
  const char* tree;
};

const std::vector<Controls>& controls() {
  static const std::vector<Controls> all = {
      {"a hard limit, capacity, and nodes with and without CPUs", arm(),
       "[group.batch]\nl3 = \"4 ways\"\nmb = \"33%\"\n"
       "control = { MB_HLIM = true, L3_MAX = \"40%\", "
       "MB_NODE = { \"65536\" = \"5%\", \"0\" = 7 } }\n"
       "[group.other]\nexclusive = true\nl3 = \"4 ways\"\ncontrol.MB_HLIM = 0\n",
       "default shareable 0-3 L3:0-1=fff0 MB:0-1=100 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n"
       "batch shareable  L3:0-1=f0 MB:0-1=33 L3_MAX:0-1=40 MB_HLIM:0-1=1 "
       "MB_NODE:0=7;1=100;65536=5\n"
       "other shareable  L3:0-1=f MB:0-1=100 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n"},
      {"openEuler with caPbm", open_euler(),
       "[group.online]\nmb_min = \"30%\"\ncontrol = { L3PBM = \"0xf0\", L3PRI = 0 }\n",
       "default shareable 0-3 L3PBM:0-1=ffff L3PRI:0-1=3 MBMIN:0-1=0\n"
       "online shareable  L3PBM:0-1=f0 L3PRI:0-1=0 MBMIN:0-1=30\n"},
      {"native", native(), "[group.a]\nl3 = \"25%\"\nmb_min = \"20%\"\ncontrol.MB_MAX = \"50%\"\n",
       "default shareable 0-3 L3:0-1=fffff MB_MAX:0-1=100 MB_MIN:0-1=0\n"
       "a shareable  L3:0-1=1f MB_MAX:0-1=50 MB_MIN:0-1=20\n"},
      {"a limit of a node", amd_nodes(),
       "[group.a]\nmb = \"300 GB/s\"\ncontrol = { GMB = \"100 GB/s\" }\n",
       "default shareable 0-3 L3:0=ffff MB:0=8192 SMBA:0=8192 GMB:0=8192\n"
       "a shareable  L3:0=ffff MB:0=800 SMBA:0=8192 GMB:0=100\n"},
      {"limits of nodes that differ", amd_nodes(2),
       "[group.a]\nmb = \"300 GB/s\"\ncontrol.GMB = { \"0\" = \"100 GB/s\", \"1\" = \"200 GB/s\" "
       "}\n"
       "[group.b]\ncontrol.GMB = { \"0\" = \"100 GB/s\" }\n[group.c]\nmb = \"50 GB/s\"\n"
       "control.GMB = { \"0\" = \"100 GB/s\" }\n",
       "default shareable 0-3 L3:0-1=ffff MB:0-1=8192 SMBA:0-1=8192 GMB:0-1=8192\n"
       "a shareable  L3:0-1=ffff MB:0-1=800 SMBA:0-1=8192 GMB:0=100;1=200\n"
       "b shareable  L3:0-1=ffff MB:0=800;1=8192 SMBA:0-1=8192 GMB:0=100;1=8192\n"
       "c shareable  L3:0-1=ffff MB:0-1=400 SMBA:0-1=8192 GMB:0=100;1=8192\n"},
      {"in the default group", arm(), "[group.default]\ncontrol.MB_HLIM = 1\n[group.a]\n",
       "default shareable 0-3 L3:0-1=ffff MB:0-1=100 L3_MAX:0-1=100 MB_HLIM:0-1=1 "
       "MB_NODE:0-1,65536=100\n"
       "a shareable  L3:0-1=ffff MB:0-1=100 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n"},
  };
  return all;
}

TEST_F(MachinesInForce, Controls) {
  for (const Controls& c : controls()) {
    SCOPED_TRACE(c.name);
    cpus = c.machine.cpus;
    use(c.machine);
    ASSERT_EQ(reload(c.policy), "");
    EXPECT_EQ(tree(), c.tree);
    EXPECT_EQ(state(), "running");
    EXPECT_EQ(problems(), std::vector<std::string>{});
  }
}

// A control that the policy no longer sets has the value of before again, and so it is after a
// reset.
TEST_F(MachinesInForce, ControlsOfBefore) {
  use(arm());
  ASSERT_TRUE(kernel.resctrl.write("schemata", "MB_HLIM:0=1\n"));
  const auto hard_limit = [&](const char* group) {
    const std::string text = schemata(group);
    return text.substr(text.find("MB_HLIM:"), std::string_view("MB_HLIM:0=0;1=0").size());
  };
  ASSERT_EQ(reload("[group.a]\ncontrol.MB_HLIM = 1\n[group.default]\ncontrol.MB_HLIM = 0\n"), "");
  EXPECT_EQ(hard_limit("a"), "MB_HLIM:0-1=1 M");
  EXPECT_EQ(hard_limit(""), "MB_HLIM:0-1=0 M");
  ASSERT_EQ(reload("[group.a]\n[group.default]\ncontrol.MB_HLIM = { \"0\" = 0 }\n"), "");
  EXPECT_EQ(hard_limit("a"), "MB_HLIM:0=1;1=0");
  EXPECT_EQ(hard_limit(""), "MB_HLIM:0-1=0 M");
  ASSERT_EQ(wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); }), "");
  EXPECT_EQ(hard_limit(""), "MB_HLIM:0=1;1=0");
}

// The kernel reads MB as no more than the limit of its node: the plan grants what will be read, and
// a later policy gets it back.
TEST_F(MachinesInForce, ALimitOfANodeBoundsThoseOfItsDomains) {
  use(amd_nodes());
  const auto bandwidth = [&](const std::string& group) {
    const std::string text = schemata(group);
    return text.substr(text.find("MB:"));
  };
  const auto settles = [&] {
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(drift, std::vector<std::string>{});
    EXPECT_EQ(problems(), std::vector<std::string>{});
  };
  ASSERT_EQ(reload("[group.a]\ncontrol.GMB = \"100 GB/s\"\n[group.b]\nmb = \"50 GB/s\"\n"), "");
  EXPECT_EQ(bandwidth("a"), "MB:0=800 SMBA:0=8192 GMB:0=100");
  EXPECT_EQ(bandwidth("b"), "MB:0=400 SMBA:0=8192 GMB:0=8192");
  settles();
  ASSERT_EQ(reload("[group.a]\ncontrol.GMB = \"200 GB/s\"\n[group.b]\ncontrol.GMB = 1\n"), "");
  EXPECT_EQ(bandwidth("a"), "MB:0=1600 SMBA:0=8192 GMB:0=200");
  EXPECT_EQ(bandwidth("b"), "MB:0=8 SMBA:0=8192 GMB:0=1");
  settles();
  ASSERT_EQ(reload("[group.a]\n[group.b]\nmb = \"50 GB/s\"\n"), "");
  EXPECT_EQ(bandwidth("a"), "MB:0=8192 SMBA:0=8192 GMB:0=8192");
  EXPECT_EQ(bandwidth("b"), "MB:0=400 SMBA:0=8192 GMB:0=8192");
  settles();
}

// MPAM with few bits reads another percentage than was written.
TEST_F(MachinesInForce, PercentagesThatMpamRounds) {
  fake::Machine machine = arm();
  fake::Control& mb = machine.controls.at(Resource::MB);
  mb.fraction_bits = 6;
  mb.bandwidth_gran = mb.min_bandwidth = 2;
  use(machine);
  for (unsigned percent = 1; percent <= 100; percent += test::stride(9)) {
    SCOPED_TRACE(percent);
    ASSERT_EQ(reload(fmt::format("[group.a]\nmb = \"{}%\"\n", percent)), "");
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(drift, std::vector<std::string>{});
  }
  ASSERT_EQ(reload("[group.a]\nmb = \"10%\"\n"), "");
  const std::string text = *kernel.resctrl.read("a/schemata");
  EXPECT_TRUE(text.contains("    MB:0=   9;1=   9\n")) << text;
}

// Vendors' kernels read less than was written: 97 for 100. What another tool writes is noticed.
TEST_F(MachinesInForce, PercentagesThatAKernelCuts) {
  for (const auto& [bits, step] : {std::pair{6U, 1U}, {7U, 1U}, {5U, 3U}, {4U, 6U}, {3U, 12U}}) {
    fake::Machine machine = arm();
    fake::Control& mb = machine.controls.at(Resource::MB);
    mb.fraction_bits = bits;
    mb.cuts_percentages = true;
    mb.bandwidth_gran = mb.min_bandwidth = step;
    use(machine);
    for (unsigned percent = 1; percent <= 100; percent += test::stride(9)) {
      SCOPED_TRACE(fmt::format("{} bits, {}%", bits, percent));
      ASSERT_EQ(reload(fmt::format("[group.a]\nmb = \"{}%\"\n", percent)), "");
      kernel.calls.reset();
      manager->reconciler().reconcile();
      run();
      EXPECT_EQ(drift, std::vector<std::string>{});
      EXPECT_EQ(kernel.calls.changes(), std::vector<std::string>{});
    }
    ASSERT_EQ(reload("[group.a]\nmb = \"48%\"\n[group.b]\n"), "");
    const std::string whole = bits >= 6 ? "97" : bits == 5 ? "96" : bits == 4 ? "93" : "87";
    EXPECT_TRUE(kernel.resctrl.read("b/schemata")->contains("1=  " + whole + "\n"));
    ASSERT_TRUE(kernel.resctrl.write("a/schemata", "MB:0=96\n"));
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(drift.size(), 1U);
    drift.clear();
  }
}

// Where 'mb' is a control, bandwidth is unlimited without it, as it is where it is none: also if
// the cap was left by a policy that this daemon has not seen, and in the default group as with MB.
TEST_F(MachinesInForce, ACapOfBeforeIsLifted) {
  use(native());
  ASSERT_EQ(reload("[group.a]\n"), "");
  ASSERT_TRUE(kernel.resctrl.write("a/schemata", "MB_MAX:0=20;1=20\n"));
  ASSERT_EQ(reload("[group.a]\nmb = { \"0\" = \"50%\" }\n"), "");
  EXPECT_EQ(schemata("a"), "L3:0-1=fffff MB_MAX:0=50;1=100 MB_MIN:0-1=0");
  ASSERT_TRUE(kernel.resctrl.write("schemata", "MB_MAX:0=20;1=20\n"));
  ASSERT_EQ(reload("[group.a]\n"), "");
  EXPECT_EQ(schemata("a"), "L3:0-1=fffff MB_MAX:0-1=100 MB_MIN:0-1=0");
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB_MAX:0-1=100 MB_MIN:0-1=0");
  ASSERT_TRUE(kernel.resctrl.write("schemata", "MB_MAX:0=20;1=20\n"));
  ASSERT_EQ(reload("[group.a]\n[group.default]\nl3 = \"all\"\n"), "");
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB_MAX:0-1=100 MB_MIN:0-1=0");
}

// A row that cannot be written at a reset keeps no group there.
TEST_F(MachinesInForce, AResetRemovesGroupsWhateverTheControls) {
  use(arm());
  ASSERT_EQ(reload("[group.a]\n[group.default]\ncontrol.MB_HLIM = 1\n"), "");
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "schemata" &&
               call.argument.contains("MB_HLIM");
      },
      EIO);
  const std::string error =
      wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); });
  EXPECT_TRUE(error.contains("Input/output error")) << error;
  EXPECT_EQ(schemata("a"), "none");
}

// Another tool's value is restored, as any other limit; rows that nobody set are left alone.
TEST_F(MachinesInForce, DriftOfControls) {
  use(arm());
  ASSERT_EQ(reload("[group.a]\ncontrol.MB_HLIM = 1\n"), "");
  ASSERT_TRUE(kernel.resctrl.write("a/schemata", "MB_HLIM:0=0\nL3_MAX:0=30;1=30\n"));
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata("a"),
            "L3:0-1=ffff MB:0-1=100 L3_MAX:0-1=30 MB_HLIM:0-1=1 MB_NODE:0-1,65536=100");
  EXPECT_EQ(drift,
            (std::vector<std::string>{"group 'a': MB_HLIM:0=0, granted MB_HLIM:0=1; restored"}));
}

// One policy for all machines. What a machine lacks is left out, and all else is in force.
constexpr const char* for_all_machines =
    "[daemon]\nunsupported = \"skip\"\n"
    "[group.batch]\nl3 = { \"0\" = \"2 ways\", \"77\" = \"3 ways\" }\nl2 = \"2 ways\"\n"
    "mb = \"50%\"\nsmba = \"1 GB/s\"\nmb_min = \"20%\"\nexclusive = true\ncpus = \"1,99\"\n"
    "control = { MB_HLIM = 1, GMB = \"100 GB/s\", L3_MAX = \"40%\", L3PBM = \"0xf\" }\n"
    "[group.data]\nl3code = \"3 ways\"\nmb = \"8 GB/s\"\n"
    "[io]\nl3 = \"2 ways\"\n"
    "[pseudo_lock.buffer]\nl2 = { \"1\" = \"512 KiB\" }\n"
    "[[rule]]\ngroup = \"batch\"\nmonitor = \"web\"\nname = \"web\"\n";

struct Skipped {
  const char* name;
  fake::Machine machine;
  const char* place;  // of the process that the rule matches
  const char* tree;
};

const std::vector<Skipped>& skipped() {
  static const std::vector<Skipped> all = {
      {"L3 and MB", fake::xeon(), "batch/web",
       "default shareable 0,2-3 L3:0=ffffc;1=fffff MB:0-1=100\n"
       "batch shareable 1 L3:0=3;1=fffff MB:0-1=50\n"
       "data shareable  L3:0=ffffc;1=fffff MB:0-1=100\n"},
      {"L3 as code and data", fake::with_cdp(fake::xeon()), "batch/web",
       "default shareable 0,2-3 L3CODE:0=ffffc;1=fffff L3DATA:0=ffffc;1=fffff MB:0-1=100\n"
       "batch shareable 1 L3CODE:0=3;1=fffff L3DATA:0=3;1=fffff MB:0-1=50\n"
       "data shareable  L3CODE:0=1c;1=7 L3DATA:0=ffffc;1=fffff MB:0-1=100\n"},
      {"rates in MiB/s", fake::with_mbps(fake::xeon()), "batch/web",
       "default shareable 0,2-3 L3:0=ffffc;1=fffff MB:0-1=4294967295\n"
       "batch shareable 1 L3:0=3;1=fffff MB:0-1=4294967290\n"
       "data shareable  L3:0=ffffc;1=fffff MB:0-1=7630\n"},
      {"io_alloc", fake::with_io_alloc(fake::amd()), "batch/web",
       "default shareable 0,2-3 L3:0=fffc MB:0=2048 SMBA:0=2048\n"
       "batch exclusive 1 L3:0=3 MB:0=2048 SMBA:0=8\n"
       "data shareable  L3:0=fffc MB:0=64 SMBA:0=2048\n"},
      {"L2 and pseudo-locking", fake::atom(), "batch",
       "default shareable 0,2-3 L2:0=fc;1=f8\n"
       "batch exclusive 1 L2:0=3;1=6\n"
       "buffer pseudo-locked 2-3 L2:1=1\n"
       "data shareable  L2:0=fc;1=f8\n"},
      {"AMD", fake::amd(), "batch/web",
       "default shareable 0,2-3 L3:0=fffc MB:0=2048 SMBA:0=2048\n"
       "batch exclusive 1 L3:0=3 MB:0=2048 SMBA:0=8\n"
       "data shareable  L3:0=fffc MB:0=64 SMBA:0=2048\n"},
      {"AMD with a limit of a node", amd_nodes(), "batch/web",
       "default shareable 0,2-3 L3:0=fffc MB:0=8192 SMBA:0=8192 GMB:0=8192\n"
       "batch exclusive 1 L3:0=3 MB:0=800 SMBA:0=8 GMB:0=100\n"
       "data shareable  L3:0=fffc MB:0=64 SMBA:0=8192 GMB:0=8192\n"},
      {"no bandwidth", haswell(), "batch/web",
       "default shareable 0,2-3 L3:0=ffffc;1=fffff\n"
       "batch shareable 1 L3:0=3;1=fffff\n"
       "data shareable  L3:0=ffffc;1=fffff\n"},
      {"no cache", without_l3(), "batch/web",
       "default shareable 0,2-3 MB:0-1=100\n"
       "batch shareable 1 MB:0-1=50\n"
       "data shareable  MB:0-1=100\n"},
      {"no counters", only_allocation(), "batch",
       "default shareable 0,2-3 L3:0=ffffc;1=fffff MB:0-1=100\n"
       "batch shareable 1 L3:0=3;1=fffff MB:0-1=50\n"
       "data shareable  L3:0=ffffc;1=fffff MB:0-1=100\n"},
      {"counters only", only_monitoring(), "default/web", "default shareable 0-3 \n"},
      {"MPAM", arm(), "batch/web",
       "default shareable 0,2-3 L3:0=fffc;1=ffff MB:0-1=100 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n"
       "batch shareable 1 L3:0=3;1=ffff MB:0-1=50 L3_MAX:0-1=40 MB_HLIM:0-1=1 "
       "MB_NODE:0-1,65536=100\n"
       "data shareable  L3:0=fffc;1=ffff MB:0-1=100 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n"},
      {"openEuler", open_euler(), "batch/web",
       "default shareable 0,2-3 L3PBM:0-1=ffff L3PRI:0-1=3 MBMIN:0-1=0\n"
       "batch shareable 1 L3PBM:0-1=f L3PRI:0-1=3 MBMIN:0-1=20\n"
       "data shareable  L3PBM:0-1=ffff L3PRI:0-1=3 MBMIN:0-1=0\n"},
      {"native", native(), "batch/web",
       "default shareable 0,2-3 L3:0=ffffc;1=fffff MB_MAX:0-1=100 MB_MIN:0-1=0\n"
       "batch shareable 1 L3:0=3;1=fffff MB_MAX:0-1=50 MB_MIN:0-1=20\n"
       "data shareable  L3:0=ffffc;1=fffff MB_MAX:0-1=100 MB_MIN:0-1=0\n"},
  };
  return all;
}

TEST_F(MachinesInForce, TheRestIsInForce) {
  for (const Skipped& c : skipped()) {
    SCOPED_TRACE(c.name);
    cpus = c.machine.cpus;
    use(c.machine);
    const pid_t pid = processes.start({.name = "web"});
    ASSERT_EQ(reload(for_all_machines), "");
    EXPECT_EQ(group_of(pid), c.place);
    EXPECT_EQ(tree(), c.tree);
    EXPECT_EQ(state(), "running");
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
            "    2 | l3 = \"1 way\"\n      |      ^~~~~~~ remove it; for machines of several kinds "
            "write unsupported = \"skip\" in [daemon]\n");
  EXPECT_EQ(group_of(pid), "default/web");
}

}  // namespace
}  // namespace rdtd
