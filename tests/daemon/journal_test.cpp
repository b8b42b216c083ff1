// What the daemon writes to its log as it loads policies, with the whole text.
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <functional>
#include <sstream>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class JournalTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    logger_ = spdlog::default_logger();
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(log_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::move(sink)));
    spdlog::set_pattern("%l: %v");
    spdlog::set_level(spdlog::level::info);
  }
  void TearDown() override {
    World::TearDown();
    spdlog::set_default_logger(logger_);
  }
  // What it has logged since the last call.
  [[nodiscard]] std::string logged() {
    std::string out = log_.str();
    log_.str("");
    return out;
  }
  // A process that is in the group manually.
  [[nodiscard]] pid_t assigned(const std::string& group) {
    const pid_t pid = processes.start({.name = "bash"});
    const auto prepared = manager->changes().prepare_assign(pid, group, {});
    EXPECT_TRUE(prepared && (*prepared)->run());
    return pid;
  }

 private:
  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> logger_;
};

const std::string web = "[group.web]\nl3 = \"2 ways\"\n";

// Another tool was faster than the restart.
TEST_F(JournalTest, SaysThatAGroupIsLeftToOthersAfterAKill) {
  const pid_t theirs = processes.start({.name = "bash"});
  ASSERT_TRUE(kernel.resctrl.make("web"));
  ASSERT_TRUE(kernel.resctrl.write("web/tasks", std::to_string(theirs) + "\n"));
  put("groups", "web\n");
  start();
  ASSERT_EQ(load(), "");
  EXPECT_EQ(group_of(theirs), "web");
  EXPECT_TRUE(logged().contains(
      "warning: rdtd was killed before it had made or taken over group 'web', which is in use now: "
      "it is another tool's\n"));
}

TEST_F(JournalTest, CountsProcessesThatAreNotDecidedAbout) {
  for (int i = 0; i < 2; i++) (void)processes.start({.cmdline = "job"});
  processes.calls.fail_if([](const fake::Call& call) { return call.argument == "cmdline"; },
                          EAGAIN);
  ASSERT_EQ(reload(web + "[[rule]]\ngroup = \"web\"\ncmdline = \"job*\"\n"), "");
  EXPECT_EQ(
      logged(),
      "info: policy in force: 2 groups, 1 rule, 2 steps; no process matches, 0 threads moved, 0 "
      "released; 2 processes not decided about yet, since command lines cannot be read\n");
}

// What was in the way before a load, and is still, was said already.
TEST_F(JournalTest, SaysOnceThatTheLockIsHeld) {
  kernel.locked_by_other = true;
  const std::string held = "holds the lock of";
  for (int turn = 0; turn < 2; turn++) {
    ASSERT_EQ(reload(web), "");
    const std::string log = logged();
    EXPECT_EQ(log.contains(held), turn == 0) << log;
    EXPECT_EQ(log.find(held), log.rfind(held)) << log;
  }
}

TEST_F(JournalTest, Loads) {
  const std::string error =
      "p.toml:1:1: error: unknown key 'colour' in a policy\n    1 | colour = 1\n      | ^~~~~~ the "
      "keys are version, daemon, observer, guard, group, "
      "partition, pseudo_lock, io, rule\n";
  const struct {
    const char* label;
    std::function<void()> arrange;
    std::string policy;
    std::string log;
  } rows[] = {
      {"the first is invalid", [] {}, "colour = 1\n",
       "error: the policy was not applied:\n" + error},
      {"an edit", [] {}, redis_policy,
       "info: policy in force: 2 groups, 1 rule, 4 steps; no process matches, 0 threads moved, 0 "
       "released\n"},
      {"processes match",
       [this] {
         for (int i = 0; i < 2; i++) (void)processes.start({.name = "redis-server"});
       },
       redis_policy, "info: policy in force: 2 groups, 1 rule, 0 steps; no rule has changed\n"},
      {"the rule is another", [] {}, redis_policy + "exe = \"/usr/bin/true\"\n",
       "info: policy in force: 2 groups, 1 rule, 0 steps; processes: redis 2, 0 threads moved, 0 "
       "released\n"},
      {"an invalid one, later", [] {}, "colour = 1\n",
       "error: the policy was not applied, the previous one stays in force:\n" + error},
      {"the groups of others",
       [this] {
         for (const char* name : {"a", "b"}) EXPECT_TRUE(kernel.resctrl.make(name));
       },
       "[group.a]\nadopt = true\n[group.b]\nadopt = true\n",
       "info: removed group 'redis'\ninfo: took over groups that rdtd did not make: a, b\ninfo: "
       "policy in force: 3 groups, 0 rules, 7 steps; no process matches, 0 threads moved, 2 "
       "released\n"},
  };
  for (const auto& row : rows) {
    row.arrange();
    const std::string refused = reload(row.policy);
    EXPECT_EQ(logged(), row.log) << row.label << refused;
  }
  EXPECT_EQ(wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); }), "");
  EXPECT_EQ(logged(),
            "info: all groups that rdtd made were removed; no policy is in force until the next "
            "reload\n");
}

// On kernels that put devices into groups, a removal puts them into the default group.
TEST_F(JournalTest, ARemovedGroupWithDevices) {
  ASSERT_EQ(reload(redis_policy + web), "");
  kernel.resctrl.find("redis")->iommu_groups = {5, 7};
  kernel.resctrl.find("web")->iommu_groups = {6};
  (void)logged();
  ASSERT_EQ(reload(web), "");
  EXPECT_TRUE(logged().starts_with("warning: removed group 'redis', which had IOMMU groups 5,7\n"));
  EXPECT_EQ(wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); }), "");
  EXPECT_EQ(logged(),
            "warning: removed group 'web', which had IOMMU group 6\n"
            "info: all groups that rdtd made were removed; no policy is in force until the next "
            "reload\n");
  EXPECT_EQ(kernel.resctrl.find("")->iommu_groups, (std::set<unsigned>{5, 6, 7}));
}

TEST_F(JournalTest, TheEndOfAManualAssignment) {
  ASSERT_EQ(reload(redis_policy + web), "");
  const pid_t pid = assigned("web");
  (void)logged();
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(logged(),
            "info: process " + std::to_string(pid) +
                " was assigned to group 'web' manually; the policy has no such group any more, "
                "and the rules decide\ninfo: removed group 'web'\ninfo: policy in force: 2 groups, "
                "1 rule, 1 step; no "
                "process matches, 0 threads moved, 0 released\n");
}

TEST_F(JournalTest, AManualAssignmentThatTheKernelRefusesLater) {
  ASSERT_EQ(reload(web), "");
  const pid_t pid = assigned("web");
  ASSERT_TRUE(kernel.resctrl.remove("web"));
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "add" && call.path == "web/tasks"; },
      EINVAL);
  (void)logged();
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_TRUE(logged().contains("warning: cannot put process " + std::to_string(pid) +
                                " in group 'web' again: Invalid argument\n"));
}

TEST_F(JournalTest, ARecordOfManualAssignmentsThatCannotBeRead) {
  fs::create_directory(root_ / manual_record);
  start();
  EXPECT_EQ(logged(), "warning: cannot read " + (root_ / manual_record).string() +
                          ": Is a directory; manual assignments are left to the rules\n");
}

TEST_F(JournalTest, AClassifierThatIsHeldUp) {
  manager->connect({}, [](const std::shared_ptr<const RuleTable>&) { return 7; });
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(logged(),
            "warning: the classifier does not use the new rules yet, after 2 s\ninfo: policy in "
            "force: 2 groups, 1 rule, 4 steps; no process matches, 0 threads moved, 0 released\n");
}

}  // namespace
}  // namespace rdtd
