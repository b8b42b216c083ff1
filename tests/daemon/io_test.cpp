// The ways of I/O devices under a policy in force: enabled, kept, and disabled by whom they were
// enabled by.
#include <gtest/gtest.h>

#include "unit/support.hpp"
#include "world.hpp"

namespace rdtd {
namespace {

const std::string io = "[io]\nl3 = \"2 ways\"\n";

class IoTest : public test::World {
 protected:
  void SetUp() override { use(fake::with_io_alloc(fake::amd())); }
  [[nodiscard]] std::string file(const std::string& name) const {
    const auto text = kernel.resctrl.read(name);
    return text ? *text : "none\n";
  }
  [[nodiscard]] std::string masks() const { return file("info/L3/io_alloc_cbm"); }
  [[nodiscard]] std::string usage() const { return file("info/L3/bit_usage"); }
  void reconcile() {
    manager->reconciler().reconcile();
    run(std::chrono::seconds(1));
  }
  [[nodiscard]] std::string reset() {
    return wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); });
  }
};

TEST_F(IoTest, EnablesAndDisables) {
  ASSERT_EQ(reload(io), "");
  EXPECT_EQ(file("info/L3/io_alloc"), "enabled\n");
  EXPECT_EQ(masks(), "0=0003\n");
  EXPECT_EQ(usage(), "0=SSSSSSSSSSSSSSXX\n");
  ASSERT_EQ(reload(io + "[group.db]\nl3 = \"ways 0-3\"\nexclusive = true\n"), "");
  EXPECT_EQ(masks(), "0=0030\n");
  EXPECT_EQ(usage(), "0=SSSSSSSSSSXXEEEE\n");
  EXPECT_EQ(file("db/mode"), "exclusive\n");

  // A restart changes nothing, and rdtd still knows that it enabled this.
  start();
  ASSERT_EQ(load(), "");
  reconcile();
  EXPECT_TRUE(drift.empty());
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(file("info/L3/io_alloc"), "disabled\n");
  EXPECT_EQ(masks(), "none\n");
}

// The kernel refuses as long as a group of another tool has the highest CLOSID. Limits do not wait.
TEST_F(IoTest, LimitsAreRestoredWithoutIt) {
  ASSERT_EQ(reload(io + "[group.db]\nl3 = \"ways 0-3\"\n"), "");
  ASSERT_TRUE(kernel.resctrl.write("info/L3/io_alloc", "0\n"));
  for (int n = 0; n < 14; n++) ASSERT_TRUE(kernel.resctrl.make("x" + std::to_string(n)));
  ASSERT_TRUE(kernel.resctrl.write("db/schemata", "L3:0=ff00\n"));
  for (int turn = 0; turn < 2; turn++) {
    reconcile();
    EXPECT_EQ(schemata("db"), "L3:0=f MB:0=2048 SMBA:0=2048");
    const std::vector<std::string> expected = {
        "cannot write '1' to /sys/fs/resctrl/info/L3/io_alloc: No space left on device (a "
        "group holds the CLOSID that I/O devices need; 'rdtctl reset' and 'rdtctl reload' "
        "give the groups other ones (last_cmd_status: CLOSID (ctrl_hw_id) 15 for io_alloc "
        "is used by x13 group); everything is as it was)",
        "I/O devices: io_alloc is disabled"};
    EXPECT_EQ(problems(), expected);
  }
  ASSERT_TRUE(kernel.resctrl.remove("x13"));
  reconcile();
  EXPECT_EQ(masks(), "0=0030\n");
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

TEST_F(IoTest, ResetDisables) {
  ASSERT_EQ(reload(io), "");
  ASSERT_EQ(reset(), "");
  EXPECT_EQ(file("info/L3/io_alloc"), "disabled\n");
  EXPECT_TRUE(kernel.resctrl.free_closids.contains(15));
}

// Another tool enabled it: rdtd sets the masks and leaves the rest.
TEST_F(IoTest, LeavesWhatOthersEnabled) {
  ASSERT_TRUE(kernel.resctrl.write("info/L3/io_alloc", "1\n"));
  ASSERT_EQ(reload(io), "");
  EXPECT_EQ(masks(), "0=0003\n");
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(masks(), "0=0003\n");
  ASSERT_EQ(reload(io), "");
  ASSERT_EQ(reset(), "");
  EXPECT_EQ(masks(), "0=0003\n");
}

TEST_F(IoTest, Drift) {
  ASSERT_EQ(reload(io), "");
  ASSERT_TRUE(kernel.resctrl.write("info/L3/io_alloc_cbm", "0=ff\n"));
  reconcile();
  ASSERT_TRUE(kernel.resctrl.write("info/L3/io_alloc", "0\n"));
  reconcile();
  EXPECT_EQ(drift, (std::vector<std::string>{"I/O devices: L3:0=ff, granted L3:0=3; restored",
                                             "I/O devices: io_alloc is disabled; restored"}));
  EXPECT_EQ(masks(), "0=0003\n");
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(file("info/L3/io_alloc"), "disabled\n");

  drift.clear();
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + io), "");
  ASSERT_TRUE(kernel.resctrl.write("info/L3/io_alloc", "0\n"));
  reconcile();
  EXPECT_EQ(drift, std::vector<std::string>{"I/O devices: io_alloc is disabled"});
  EXPECT_EQ(file("info/L3/io_alloc"), "disabled\n");
  // Who enables it now is not rdtd.
  ASSERT_TRUE(kernel.resctrl.write("info/L3/io_alloc", "1\n"));
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(file("info/L3/io_alloc"), "enabled\n");
}

// Groups keep their CLOSIDs, so that the highest may be taken although another one is free.
TEST_F(IoTest, TheHighestClosidIsTaken) {
  std::string groups;
  for (int i = 1; i < 16; i++) groups += "[group.g" + std::to_string(i) + "]\n";
  ASSERT_EQ(reload(groups), "");
  ASSERT_EQ(kernel.resctrl.find("g15")->closid, 15U);
  EXPECT_EQ(
      reload(io + "[group.g15]\n"),
      "cannot write '1' to /sys/fs/resctrl/info/L3/io_alloc: No space left on device (a group "
      "holds the CLOSID that I/O devices need; 'rdtctl reset' and 'rdtctl reload' give the "
      "groups other ones (last_cmd_status: CLOSID (ctrl_hw_id) 15 for io_alloc is used by g15 "
      "group); everything is as it was)");
  EXPECT_EQ(file("g1/mode"), "shareable\n");
  ASSERT_EQ(reset(), "");
  ASSERT_EQ(reload(io + "[group.g15]\n"), "");
  EXPECT_EQ(masks(), "0=0003\n");
  ASSERT_EQ(reload(""), "");

  // A group that goes makes room.
  ASSERT_EQ(reload(groups), "");
  ASSERT_EQ(reload(io + "[group.g1]\n"), "");
  EXPECT_EQ(masks(), "0=0003\n");
}

TEST_F(IoTest, CodeAndData) {
  use(fake::with_cdp(fake::with_io_alloc(fake::amd())));
  // Then L3 has fewer CLOSIDs than MB, and all can be used.
  ASSERT_EQ(reload(io + "[group.a]\nl3code = \"1 way\"\nl3data = \"1 way\"\n"), "");
  EXPECT_EQ(file("info/L3CODE/io_alloc_cbm"), file("info/L3DATA/io_alloc_cbm"));
  EXPECT_EQ(file("info/L3CODE/io_alloc_cbm"), "0=000c\n");
  ASSERT_TRUE(kernel.resctrl.write("info/L3DATA/io_alloc_cbm", "0=ff\n"));
  reconcile();
  EXPECT_EQ(drift,
            std::vector<std::string>{"I/O devices: L3CODE:0=ff, granted L3CODE:0=c; restored"});
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(file("info/L3CODE/io_alloc"), "disabled\n");
}

// Whatever fails, the state is that before, or that after.
TEST_F(IoTest, Failures) {
  const std::string before = io + "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n";
  const std::string moved = "[io]\nl3 = \"5 ways\"\n[group.b]\nl3 = \"3 ways\"\nexclusive = true\n";
  for (const auto& [from, to] : {std::pair{before, std::string()}, std::pair{std::string(), before},
                                 std::pair{before, moved}})
    for (int n = 1; n < 200; n += test::stride(5)) {
      ASSERT_EQ(reload(from), "");
      const std::string as_it_was = masks();
      kernel.calls.reset();
      kernel.calls.fail(static_cast<size_t>(n), EIO);
      const std::string error = reload(to);
      const bool reached = kernel.calls.count() >= static_cast<size_t>(n);
      kernel.calls.reset();
      if (!error.empty()) {
        EXPECT_EQ(masks(), as_it_was) << n << ": " << error;
      }
      ASSERT_EQ(reload(to), "");
      ASSERT_EQ(reload(""), "");
      EXPECT_EQ(file("info/L3/io_alloc"), "disabled\n") << n;
      if (!reached) break;
    }
}

}  // namespace
}  // namespace rdtd
