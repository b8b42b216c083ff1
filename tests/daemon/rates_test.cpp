// Bandwidth as a rate: in MiB/s (mba_MBps) on a kernel that rounds what is written, so that what a
// group starts with, written back, would be next to nothing; and on AMD's processors.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

class RatesTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    fake::Machine machine = fake::with_mbps(kernel.resctrl.machine);
    machine.release.rounds_rates = true;
    kernel.resctrl = fake::Resctrl(machine);
  }
  void TearDown() override {
    for (const auto& [domain, rates] : kernel.resctrl.values.at(Resource::MB))
      for (const uint32_t rate : rates) EXPECT_GE(rate, 500U);
    World::TearDown();
  }
};

// A group that is in the way of an exclusive one gets what the default group has until it is empty.
TEST_F(RatesTest, AGroupThatGoesLosesItsLimit) {
  ASSERT_EQ(reload("[group.a]\nl3 = \"ways 0-3\"\nmb = \"500 MiB/s\"\n"), "");
  EXPECT_EQ(reload("[group.b]\nl3 = \"ways 0-3\"\nexclusive = true\n"), "");
  EXPECT_EQ(schemata("a"), "none");
}

TEST_F(RatesTest, AFailedLoadLeavesTheDefaultGroupUnlimited) {
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "write" && call.path == "a/schemata"; },
      EIO);
  EXPECT_EQ(reload("[group.default]\nmb = \"500 MiB/s\"\n[group.a]\nl3 = \"4 ways\"\n"),
            "cannot write 'L3:0=f;1=f\nMB:0=4294967290;1=4294967290' to "
            "/sys/fs/resctrl/a/schemata: Input/output error (everything is as it was)");
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB:0-1=4294967290");
}

TEST_F(RatesTest, DriftOfAGroupWithoutALimitIsRestored) {
  ASSERT_EQ(reload("[group.a]\nl3 = \"4 ways\"\n"), "");
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB:0-1=4294967295");
  ASSERT_TRUE(kernel.resctrl.write("schemata", "MB:0=700\n"));
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB:0=4294967290;1=4294967295");
  EXPECT_EQ(drift, std::vector<std::string>{
                       "group 'default': MB:0=700, granted MB:0=4294967290; restored"});
  EXPECT_EQ(state(), "running");
}

// The processor has more bandwidth than 11 bits can say, and only groups without a limit show it.
TEST_F(RatesTest, UnlimitedIsWhatGroupsWithoutALimitHave) {
  fake::Machine machine = fake::amd();
  for (auto& [resource, control] : machine.controls) control.most_eighths = 4096;
  kernel.resctrl = fake::Resctrl(machine);
  start();
  const std::string limited = "[group.default]\nmb = \"100 GB/s\"\n";
  ASSERT_EQ(reload(limited + "[group.a]\n"), "");
  start();
  ASSERT_EQ(reload(limited + "[group.a]\n[group.b]\n"), "");
  const std::string whole = "L3:0=ffff MB:0=4096 SMBA:0=4096";
  EXPECT_EQ(schemata("b"), whole);
  // Now none shows it.
  ASSERT_EQ(reload(limited + "[group.a]\nmb = \"100 GB/s\"\nsmba = \"100 GB/s\"\n"), "");
  ASSERT_EQ(reload(limited + "[group.a]\n"), "");
  EXPECT_EQ(schemata("a"), whole);
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(schemata(""), whole);
}

}  // namespace
}  // namespace rdtd
