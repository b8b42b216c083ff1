// Assignable counters: the groups of a policy get them, as far as there are any.
#include <gtest/gtest.h>

#include <cerrno>

#include "world.hpp"

namespace rdtd {
namespace {

const std::string two_groups =
    "[group.a]\nl3 = \"4 ways\"\n[group.b]\nl3 = \"2 ways\"\n"
    "[[rule]]\ngroup = \"a\"\nname = \"web\"\nmonitor = \"web\"\n";

class MbmTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    with_counters(10, true);
  }
  void with_counters(unsigned count, bool on_mkdir) {
    kernel.resctrl.machine.num_mbm_cntrs = count;
    kernel.resctrl.machine.mbm_assign_on_mkdir = on_mkdir;
    kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  }
  std::string assigned(const std::string& group) {
    const auto text = kernel.resctrl.read(group + "/mbm_L3_assignments");
    return text ? mbm_assignments_line(parse_mbm_assignments(*text)) : "not there";
  }
  void change(const std::string& group, const std::string& text) {
    EXPECT_TRUE(kernel.resctrl.write(group + "/mbm_L3_assignments", text));
  }
  void reconcile() {
    manager->reconciler().reconcile();
    run(std::chrono::seconds(1));
  }
};

const std::string all = "mbm_local_bytes:0-1=e mbm_total_bytes:0-1=e";
const std::string none = "mbm_local_bytes:0-1=_ mbm_total_bytes:0-1=_";

TEST_F(MbmTest, AssignsWhereTheKernelIsToldNotTo) {
  with_counters(10, false);
  ASSERT_EQ(reload(two_groups), "");
  for (const char* group : {"a", "a/mon_groups/web", "b"}) EXPECT_EQ(assigned(group), all) << group;
  EXPECT_EQ(assigned("."), none);
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

TEST_F(MbmTest, RestoresWhatAnotherToolTakes) {
  ASSERT_EQ(reload(two_groups), "");
  change("b", "mbm_total_bytes:1=_\n");
  reconcile();
  EXPECT_EQ(assigned("b"), all);
  EXPECT_EQ(drift,
            std::vector<std::string>{"group 'b': no counter at mbm_total_bytes:1=e; restored"});
}

TEST_F(MbmTest, OnlyReportsIfThePolicySaysSo) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + two_groups), "");
  change("b", "mbm_total_bytes:1=_\n");
  reconcile();
  EXPECT_EQ(assigned("b"), "mbm_local_bytes:0-1=e mbm_total_bytes:0=e;1=_");
  EXPECT_EQ(drift, std::vector<std::string>{"group 'b': no counter at mbm_total_bytes:1=e"});
}

// In the order of the policy; what becomes free goes to those that lack it, whatever `drift` says.
TEST_F(MbmTest, SaysWhoHasTheCounters) {
  for (const std::string mode : {"restore", "report"}) {
    SCOPED_TRACE(mode);
    with_counters(5, false);
    start();
    ASSERT_TRUE(kernel.resctrl.make("other"));
    change("other", "mbm_total_bytes:*=e\n");
    ASSERT_EQ(reload("[daemon]\ndrift = \"" + mode + "\"\n" + two_groups), "");
    EXPECT_EQ(assigned("a"), all);
    EXPECT_EQ(assigned("a/mon_groups/web"), all);
    EXPECT_EQ(assigned("b"), none);
    EXPECT_EQ(problems(),
              std::vector<std::string>{
                  "group 'b' has no counter for mbm_local_bytes and mbm_total_bytes in domains "
                  "0-1: none is free there (assigned to a, a/web, other)"});
    change("other", "mbm_total_bytes:0=_\n");
    change("a", "mbm_local_bytes:0=_\n");
    change("a", "mbm_local_bytes:0=e\n");
    reconcile();
    EXPECT_EQ(assigned("b"), "mbm_local_bytes:0-1=_ mbm_total_bytes:0=e;1=_");
    EXPECT_EQ(problems(), std::vector<std::string>{
                              "group 'b' has no counter for mbm_local_bytes and mbm_total_bytes "
                              "in domains 0-1: none is free there (assigned to a, a/web, b, "
                              "other)"});
    change("other", "mbm_total_bytes:*=_\n");
    ASSERT_TRUE(kernel.resctrl.remove("a/mon_groups/web"));
    kernel.resctrl.machine.num_mbm_cntrs = 8;
    reconcile();
    reconcile();
    EXPECT_EQ(assigned("b"), all);
    EXPECT_EQ(assigned("a/mon_groups/web"), mode == "restore" ? all : "not there");
    for (const std::string& problem : problems())
      EXPECT_EQ(problem, "monitoring group 'a/web' is not there");
  }
}

TEST_F(MbmTest, NamesTheFirstOfMany) {
  with_counters(20, true);
  start();
  for (char name = 'm'; name <= 'v'; name++)
    ASSERT_TRUE(kernel.resctrl.make("mon_groups/" + std::string(1, name)));
  ASSERT_EQ(reload("[group.a]\nl3 = \"4 ways\"\n"), "");
  EXPECT_EQ(problems(),
            std::vector<std::string>{
                "group 'a' has no counter for mbm_local_bytes and mbm_total_bytes in "
                "domains 0-1: none is free there (assigned to default/m, default/n, "
                "default/o, default/p, default/q, default/r, default/s, default/t and 2 more)"});
}

// The counters of others are theirs, and so are the files of a kernel that has none.
TEST_F(MbmTest, LeavesOthersAlone) {
  ASSERT_TRUE(kernel.resctrl.make("other"));
  change("other", "mbm_total_bytes:*=_\n");
  ASSERT_EQ(reload(two_groups), "");
  change("other", "mbm_local_bytes:*=_\n");
  reconcile();
  EXPECT_EQ(assigned("other"), none);
  EXPECT_EQ(drift, std::vector<std::string>{});
}

// A counter that cannot be assigned undoes nothing else.
TEST_F(MbmTest, AFailureLeavesWhatWasRestored) {
  ASSERT_EQ(reload(two_groups), "");
  const std::string granted = schemata("b");
  change("b", "mbm_total_bytes:1=_\n");
  ASSERT_TRUE(kernel.resctrl.write("b/schemata", "L3:0=ff00;1=ff00\n"));
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "b/mbm_L3_assignments";
      },
      EIO);
  reconcile();
  EXPECT_EQ(schemata("b"), granted);
}

// What is missing is still missing, and known.
TEST_F(MbmTest, AFailedReadingOfFreeCountersForgetsNothing) {
  with_counters(3, false);
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + two_groups), "");
  const auto before = problems();
  ASSERT_FALSE(before.empty());
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.path == "info/L3_MON/available_mbm_cntrs"; }, EIO);
  reconcile();
  kernel.calls.reset();
  reconcile();
  EXPECT_EQ(problems(), before);
  EXPECT_EQ(drift, std::vector<std::string>{});
}

TEST_F(MbmTest, AnUnreadableModeOfAssignmentForgetsNothing) {
  with_counters(3, false);
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + two_groups), "");
  const auto before = problems();
  ASSERT_FALSE(before.empty());
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.path == "info/L3_MON/mbm_assign_mode"; }, EIO);
  reconcile();
  auto meanwhile = before;
  meanwhile.emplace_back(
      "cannot read /sys/fs/resctrl/info/L3_MON/mbm_assign_mode: Input/output error");
  EXPECT_EQ(problems(), meanwhile);
  kernel.calls.reset();
  reconcile();
  EXPECT_EQ(problems(), before);
  EXPECT_EQ(drift, std::vector<std::string>{});
}

// No other tool took what rdtd has not assigned: it does so later, also under drift = "report".
TEST_F(MbmTest, AssignsLaterIfItCannotReadWhatTheStepsLeft) {
  with_counters(10, false);
  bool made = false;
  kernel.calls.fail_if(
      [&](const fake::Call& call) {
        made = made || call.text() == "make a/mon_groups/web";
        return made && call.path == "info/L3_MON/available_mbm_cntrs";
      },
      EIO);
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + two_groups), "");
  const std::string why =
      "cannot read /sys/fs/resctrl/info/L3_MON/available_mbm_cntrs: Input/output error";
  EXPECT_EQ(problems(),
            (std::vector<std::string>{"group 'a' may lack counters: " + why,
                                      "monitoring group 'a/web' may lack counters: " + why,
                                      "group 'b' may lack counters: " + why, why}));
  kernel.calls.reset();
  reconcile();
  for (const char* group : {"a", "a/mon_groups/web", "b"}) EXPECT_EQ(assigned(group), all) << group;
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(drift, std::vector<std::string>{});
}

// Monitoring groups and counters are not part of the transaction.
TEST_F(MbmTest, AFailedLoadTakesThemBack) {
  with_counters(10, false);
  ASSERT_EQ(reload("[group.b]\nl3 = \"2 ways\"\n"), "");
  change("b", "mbm_total_bytes:*=_\n");
  kernel.calls.fail_if([](const fake::Call& call) { return call.text() == "open_tasks a/tasks"; },
                       EMFILE);
  EXPECT_EQ(reload(two_groups + "[[rule]]\ngroup = \"b\"\nname = \"db\"\nmonitor = \"db\"\n"),
            "cannot open /sys/fs/resctrl/a/tasks: Too many open files (everything is as it was)");
  EXPECT_EQ(assigned("b"), "mbm_local_bytes:0-1=e mbm_total_bytes:0-1=_");
  EXPECT_EQ(assigned("b/mon_groups/db"), "not there");
  EXPECT_EQ(assigned("a"), "not there");
}

TEST_F(MbmTest, SaysWhyTheKernelRefuses) {
  with_counters(10, false);
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "b/mbm_L3_assignments";
      },
      EIO);
  ASSERT_EQ(reload(two_groups), "");
  EXPECT_EQ(problems(), std::vector<std::string>{
                            "cannot write 'mbm_local_bytes:0=e;1=e' to "
                            "/sys/fs/resctrl/b/mbm_L3_assignments: Input/output error (everything "
                            "is as it was)"});
}

}  // namespace
}  // namespace rdtd
