// Manual assignments beside the rules: what a reload, a reconcile and the kernel make of them.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class ManualAndRulesTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    ASSERT_EQ(reload(redis_policy + web_group), "");
    bash_ = processes.start({.name = "bash"});
    thread_ = processes.clone(bash_, "worker");
  }
  // The refusal's text, or "".
  std::string assign(pid_t pid, const std::string& group) {
    const auto prepared = manager->changes().prepare_assign(pid, group, {});
    if (!prepared) return prepared.error().text;
    const auto assigned = (*prepared)->run();
    return assigned ? "" : assigned.error().text;
  }
  static constexpr const char* web_group = "[group.web]\nl3 = \"2 ways\"\n";
  pid_t bash_ = 0, thread_ = 0;
};

TEST_F(ManualAndRulesTest, AGroupThatIsMadeAgainGetsItsProcessesBack) {
  ASSERT_EQ(assign(bash_, "web"), "");
  EXPECT_EQ(group_of(bash_) + " " + group_of(thread_), "web web");
  ASSERT_TRUE(kernel.resctrl.remove("web"));
  EXPECT_EQ(group_of(bash_), "default");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(bash_) + " " + group_of(thread_), "web web");
  EXPECT_EQ(manager->core().manual.group_of(bash_), "web");
}

TEST_F(ManualAndRulesTest, APolicyWithoutTheGroupEndsThem) {
  const pid_t redis = processes.start({.name = "redis-server"});
  for (const pid_t pid : {bash_, redis}) ASSERT_EQ(assign(pid, "web"), "");
  ASSERT_EQ(reload(redis_policy + web_group), "");
  EXPECT_EQ(group_of(redis), "web");
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(group_of(bash_), "default");
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_TRUE(manager->core().manual.all().empty());
}

// The rules decide again at once.
TEST_F(ManualAndRulesTest, ARefusedOneIsForgotten) {
  const pid_t redis = processes.start({.name = "redis-server"});
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "add" && call.path == "web/tasks"; },
      EINVAL);
  EXPECT_EQ(assign(redis, "web"),
            "cannot put process " + std::to_string(redis) + " in group 'web': Invalid argument");
  run();
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_TRUE(manager->core().manual.all().empty());
}

TEST_F(ManualAndRulesTest, ARefusedOneLeavesTheEarlierOneInForce) {
  const pid_t redis = processes.start({.name = "redis-server"});
  ASSERT_EQ(assign(redis, "default"), "");
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "add" && call.path == "web/tasks"; },
      EINVAL);
  EXPECT_NE(assign(redis, "web"), "");
  run();
  EXPECT_EQ(group_of(redis), "default");
  EXPECT_EQ(manager->core().manual.group_of(redis), "default");
}

// Between the request and its authorization.
TEST_F(ManualAndRulesTest, AGroupOrProcessThatGoesMeanwhileRefusesIt) {
  const auto to_web = manager->changes().prepare_assign(bash_, "web", {});
  const auto to_redis = manager->changes().prepare_assign(bash_, "redis", {});
  ASSERT_TRUE(to_web && to_redis);
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ((*to_web)->run().error().text, "group 'web' is no longer in force");
  processes.exit(bash_);
  EXPECT_EQ((*to_redis)->run().error().text, "there is no process " + std::to_string(bash_));
  EXPECT_TRUE(manager->core().manual.all().empty());
}

// At a start, a process that cannot be seen now may be there.
TEST_F(ManualAndRulesTest, AFailureOfProcIsReportedAtTheStart) {
  ASSERT_EQ(assign(bash_, "web"), "");
  manager->store();
  ManualAssignments again(*Directory::open(root_.string()));
  processes.calls.fail_if([](const fake::Call& call) { return call.operation == "open"; }, EMFILE);
  const auto loaded = again.load(processes);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().text(),
            "cannot open /proc/" + std::to_string(bash_) + ": Too many open files");
}

}  // namespace
}  // namespace rdtd
