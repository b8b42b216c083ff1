// Groups of other tools: left alone, or taken over if the policy says so.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class ForeignTest : public test::World {};

TEST_F(ForeignTest, AnotherToolsGroupIsNeverTouched) {
  ASSERT_EQ(reload(redis_policy), "");
  (void)kernel.resctrl.remove("redis");
  (void)kernel.resctrl.make("redis");
  (void)kernel.resctrl.write("redis/schemata", "L3:0=f0000;1=f0000\n");
  const std::string theirs = schemata("redis");
  const pid_t redis = processes.start({.name = "redis-server"});
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(schemata("redis"), theirs);
  EXPECT_EQ(group_of(redis), "default");
  EXPECT_EQ(state(), "degraded");
  std::string result;
  manager->changes().reset([&](const auto& done) { result = done ? "" : done.error().text; });
  run();
  EXPECT_EQ(schemata("redis"), theirs);
}

// rdtd was killed in a load before it had made the group: the name it recorded is no claim to a
// group that another tool makes later.
TEST_F(ForeignTest, AGroupThatOthersMakeAfterAKillIsTheirs) {
  put("groups", "default\nredis\nredis/web\n");
  start();
  policy = "";
  ASSERT_EQ(load(), "");
  const pid_t theirs = processes.start({.name = "bash"});
  ASSERT_TRUE(kernel.resctrl.make("redis"));
  ASSERT_TRUE(kernel.resctrl.write("redis/tasks", std::to_string(theirs) + "\n"));
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(theirs), "redis");
}

// The rules that a reload drops say nothing about what is in a group that is not rdtd's any more.
TEST_F(ForeignTest, ARuleThatGoesReleasesNobodyFromATakenGroup) {
  ASSERT_EQ(reload(redis_policy), "");
  (void)kernel.resctrl.remove("redis");
  (void)kernel.resctrl.make("redis");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  const pid_t theirs = processes.start({.name = "redis-server"});
  ASSERT_TRUE(kernel.resctrl.write("redis/tasks", std::to_string(theirs) + "\n"));
  ASSERT_EQ(reload(""), "");
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(theirs), "redis");
}

// A wider rule does not get them, and those in another tool's groups stay there.
TEST_F(ForeignTest, ProcessesOfAGroupThatCannotBeHadAreInTheDefaultGroup) {
  for (const char* group : {"redis", "theirs"}) (void)kernel.resctrl.make(group);
  const pid_t redis = processes.start({.name = "redis-server"});
  const pid_t placed = processes.start({.name = "redis-server"});
  const pid_t other = processes.start({.name = "bash"});
  (void)kernel.resctrl.write("theirs/tasks", std::to_string(placed) + "\n");
  policy =
      "[group.redis]\nl3 = \"4 ways\"\n[group.batch]\nl3 = \"1 way\"\n[[rule]]\ngroup = "
      "\"redis\"\nname = \"redis-*\"\nmonitor = \"probe\"\n[[rule]]\ngroup = \"batch\"\nname = "
      "\"*\"\n";
  start();
  ASSERT_EQ(load(), "");
  EXPECT_EQ(state(), "degraded");
  const auto groups = [&] {
    return group_of(redis) + " " + group_of(placed) + " " + group_of(other);
  };
  EXPECT_EQ(groups(), "default theirs batch");
  // One that is forked by a process of the wider rule, and calls exec.
  (void)kernel.resctrl.write("batch/tasks", std::to_string(redis) + "\n");
  for (const pid_t pid : {redis, placed}) place_at_exec(pid);
  EXPECT_EQ(groups(), "default theirs batch");
  const auto why = [&] { return manager->answers().explain(redis, {})->trials.at(0).reason; };
  EXPECT_EQ(why(), "its own group cannot be had now");
  (void)kernel.resctrl.remove("redis");
  manager->reconciler().reconcile();
  run(std::chrono::minutes(1));
  EXPECT_EQ(groups(), "redis/probe redis/probe batch");
  EXPECT_EQ(why(), "");
}

// The same for a group that another tool takes while rdtd runs.
TEST_F(ForeignTest, ProcessesOfATakenGroupAreInTheDefaultGroup) {
  ASSERT_EQ(
      reload("[group.redis]\nl3 = \"4 ways\"\n[group.batch]\nl3 = \"1 way\"\n[[rule]]\ngroup = "
             "\"redis\"\nname = \"redis-*\"\nmonitor = \"probe\"\n[[rule]]\ngroup = \"batch\"\n"
             "name = \"*\"\n"),
      "");
  (void)kernel.resctrl.remove("redis");
  (void)kernel.resctrl.make("redis");
  const pid_t theirs = processes.start({.name = "redis-server"});
  ASSERT_TRUE(kernel.resctrl.write("redis/tasks", std::to_string(theirs) + "\n"));
  const pid_t redis = processes.start({.name = "redis-server"});
  (void)kernel.resctrl.write("batch/tasks", std::to_string(redis) + "\n");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(theirs) + " " + group_of(redis), "redis default");
  EXPECT_EQ(manager->answers().explain(redis, {})->trials.at(0).group, "default");
  (void)kernel.resctrl.write("batch/tasks", std::to_string(redis) + "\n");
  for (const pid_t pid : {theirs, redis}) place_at_exec(pid);
  EXPECT_EQ(group_of(theirs) + " " + group_of(redis), "redis default");
  (void)kernel.resctrl.remove("redis");
  manager->reconciler().reconcile();
  run(std::chrono::minutes(1));
  EXPECT_EQ(group_of(theirs) + " " + group_of(redis), "redis/probe redis/probe");
}

// With `adopt`, a group that rdtd did not make is taken over at the load, and again if another tool
// makes it anew. So is one of its own, if the record was lost.
TEST_F(ForeignTest, AdoptsAGroup) {
  (void)kernel.resctrl.make("redis");
  const pid_t theirs = processes.start({.name = "bash"});
  const pid_t redis = processes.start({.name = "redis-server"});
  (void)kernel.resctrl.write("redis/tasks", std::to_string(theirs) + "\n");
  const std::string adopting =
      "[group.redis]\nl3 = \"4 ways\"\nexclusive = true\nadopt = true\n[[rule]]\ngroup = "
      "\"redis\"\nname = \"redis-*\"\n";
  ASSERT_EQ(reload(adopting), "");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(group_of(theirs), "redis");
  EXPECT_EQ(group_of(redis), "redis");
  (void)kernel.resctrl.remove("redis");
  (void)kernel.resctrl.make("redis");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(drift, std::vector<std::string>{
                       "group 'redis' was removed and made again by another tool; restored"});
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(group_of(redis), "redis");
  std::filesystem::remove(root_ / "groups");
  start();
  EXPECT_EQ(load(), "");
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(reload(""), "");
  EXPECT_EQ(schemata("redis"), "none");
  EXPECT_EQ(schemata(""), "L3:0-1=fffff MB:0-1=100");
}

// A group whose load fails is as foreign as before.
TEST_F(ForeignTest, AFailedLoadAdoptsNothing) {
  (void)kernel.resctrl.make("redis");
  const std::string before = schemata("redis");
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "redis/schemata";
      },
      EIO);
  EXPECT_NE(reload("[group.redis]\nl3 = \"4 ways\"\nadopt = true\n"), "");
  EXPECT_EQ(schemata("redis"), before);
  kernel.calls.reset();
  EXPECT_EQ(reload("[group.other]\n"), "");
  EXPECT_EQ(schemata("redis"), before);
}

TEST_F(ForeignTest, AGroupThatAnotherToolMadeMeanwhileIsNotRemoved) {
  ASSERT_EQ(reload(redis_policy), "");
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation != "list") return;  // the look at all processes, before the removals
    processes.calls.hook = nullptr;
    (void)kernel.resctrl.remove("redis");
    (void)kernel.resctrl.make("redis");
  };
  EXPECT_EQ(reload("[group.b]\n[[rule]]\ngroup = \"b\"\nname = \"x\"\n"), "");
  EXPECT_NE(schemata("redis"), "none");
}

// A group is taken over only if that can be recorded.
TEST_F(ForeignTest, AnAdoptionThatCannotBeRecordedIsAProblem) {
  ASSERT_EQ(reload("[group.redis]\nl3 = \"4 ways\"\nadopt = true\n"), "");
  (void)kernel.resctrl.remove("redis");
  (void)kernel.resctrl.make("redis");
  const std::string theirs = schemata("redis");
  std::filesystem::remove(root_ / "groups");
  put("groups/in the way", "");
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(schemata("redis"), theirs);
  const std::string cannot = "cannot replace " + (root_ / "groups").string() + ": Is a directory";
  EXPECT_EQ(problems(),
            (std::vector<std::string>{cannot + " (nothing was changed)",
                                      cannot + ": a restart will not know what rdtd has made",
                                      "group 'redis' was removed and made again by another tool"}));
  std::filesystem::remove_all(root_ / "groups");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(state(), "running");
}

}  // namespace
}  // namespace rdtd
