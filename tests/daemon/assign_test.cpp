// Manual assignment: what it outlives, and what is refused.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class AssignTest : public test::World {};

TEST_F(AssignTest, AManualAssignmentOutlivesReloadAndRestart) {
  const pid_t pid = processes.start({.name = "redis-server"});
  const std::string two = redis_policy + "[group.b]\nl3 = \"2 ways\"\n";
  ASSERT_EQ(reload(two), "");
  const auto prepared = manager->prepare_assign(pid, "b", {.uid = 0, .pid = 1});
  ASSERT_TRUE(prepared);
  EXPECT_EQ((*prepared)->details().at("pid"), std::to_string(pid));
  ASSERT_TRUE((*prepared)->run());
  EXPECT_EQ(group_of(pid), "b");
  manager->reconcile();
  run();
  EXPECT_EQ(group_of(pid), "b");
  manager->store();
  start();
  ASSERT_EQ(load(), "");
  EXPECT_EQ(group_of(pid), "b");
  // Its group is made again: it is back.
  (void)kernel.resctrl.remove("b");
  manager->reconcile();
  run();
  EXPECT_EQ(group_of(pid), "b");
  // Its group leaves the policy: the rules decide.
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(group_of(pid), "redis");
}

TEST_F(AssignTest, RefusesManualAssignments) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t pid = processes.start({.name = "bash"});
  const pid_t thread = processes.clone(pid);
  const struct {
    pid_t pid;
    const char* group;
    std::string refusal;
  } rows[] = {
      {pid, "rediss", "there is no group 'rediss' in the policy in force; did you mean 'redis'?"},
      {0, "redis", "there is no process 0"},
      {99999, "redis", "there is no process 99999"},
      {thread, "redis",
       std::to_string(thread) + " is a thread of process " + std::to_string(pid) +
           ", and only a whole process can be assigned"},
  };
  for (const auto& row : rows) {
    const auto prepared = manager->prepare_assign(row.pid, row.group, {.uid = 0, .pid = 1});
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().text, row.refusal);
  }
}

}  // namespace
}  // namespace rdtd
