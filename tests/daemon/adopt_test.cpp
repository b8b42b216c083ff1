// Groups of other tools that are taken over because somebody asks, once.
#include <gtest/gtest.h>

#include "rdtd/base/text.hpp"
#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

const std::string in_the_way =
    "p.toml:1:8: error: group 'redis' exists in resctrl already and rdtd did not make it\n"
    "    1 | [group.redis]\n"
    "      |        ^~~~~ choose another name, remove that group, or take it over: once with "
    "rdtctl "
    "adopt redis, always with adopt = true\n";

class AdoptTest : public test::World {
 protected:
  // The names of what was taken over, or the text of the refusal.
  std::string adopt(const std::vector<std::string>& names) {
    std::string out = "never finished";
    manager->changes().adopt(
        names, [&](const std::expected<std::vector<std::string>, Refusal>& adopted) {
          out = adopted ? "took over: " + join(*adopted, " ") : adopted.error().text;
          if (!adopted) kind = adopted.error().kind;
        });
    run(std::chrono::seconds(5));
    return out;
  }
  void make_theirs(const std::string& group) {
    const std::lock_guard lock(kernel.mutex);
    EXPECT_TRUE(kernel.resctrl.make(group));
  }
  void make_anew(const std::string& group) {
    const std::lock_guard lock(kernel.mutex);
    EXPECT_TRUE(kernel.resctrl.remove(group));
    EXPECT_TRUE(kernel.resctrl.make(group));
  }
  std::optional<Refusal::Kind> kind;
};

// The group is rdtd's with its tasks, also for later loads and the next daemon.
TEST_F(AdoptTest, TakesOverAGroupWithItsTasks) {
  make_theirs("redis");
  const pid_t theirs = processes.start({.name = "bash"});
  const pid_t redis = processes.start({.name = "redis-server"});
  (void)kernel.resctrl.write("redis/tasks", std::to_string(theirs) + "\n");
  EXPECT_EQ(reload(redis_policy), in_the_way);
  EXPECT_EQ(adopt({"redis"}), "took over: redis");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(group_of(theirs), "redis");
  EXPECT_EQ(group_of(redis), "redis");
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(reload(redis_policy), "");
  start();
  EXPECT_EQ(load(), "");
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(reload("[group.other]\n"), "");
  EXPECT_EQ(schemata("redis"), "none");
}

// If another tool makes the group again, it is that tool's until somebody asks again.
TEST_F(AdoptTest, TakesItOverOnce) {
  make_theirs("redis");
  policy = redis_policy;
  ASSERT_EQ(adopt({"redis"}), "took over: redis");
  make_anew("redis");
  const std::string theirs = schemata("redis");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  const std::string made_again = "group 'redis' was removed and made again by another tool";
  EXPECT_EQ(drift, std::vector<std::string>{made_again});
  EXPECT_EQ(problems(), std::vector<std::string>{made_again});
  EXPECT_EQ(schemata("redis"), theirs);
  EXPECT_EQ(adopt({"redis"}), "took over: redis");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(state(), "running");
}

// With the group go the monitoring groups in it that rules name, and no others.
TEST_F(AdoptTest, TakesOverMonitoringGroups) {
  make_theirs("redis");
  for (const char* mon_group : {"front", "theirs"})
    make_theirs(std::string("redis/mon_groups/") + mon_group);
  policy = redis_policy + "monitor = \"front\"\n";
  EXPECT_EQ(adopt({"redis"}), "took over: redis redis/front");
  make_anew("redis/mon_groups/front");
  EXPECT_EQ(adopt({"redis"}), "took over: redis/front");
  const pid_t redis = processes.start({.name = "redis-server"});
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "redis/front");
  policy = "[group.other]\nadopt = true\n[group.redis]\n";
  make_theirs("other");
  EXPECT_EQ(adopt({"redis"}), "took over: other");
}

// A group that is rdtd's is no error: the policy files are loaded all the same.
TEST_F(AdoptTest, WhatIsItsOwnAlready) {
  ASSERT_EQ(reload(redis_policy), "");
  policy = "[group.redis]\nl3 = \"2 ways\"\n";
  EXPECT_EQ(adopt({"redis", "redis"}), "took over: ");
  EXPECT_EQ(schemata("redis"), "L3:0-1=3 MB:0-1=100");
  EXPECT_EQ(state(), "running");
}

// One name that is refused is enough. That is no reload: the state is as before.
TEST_F(AdoptTest, RefusesNames) {
  make_theirs("redis");
  make_theirs("alien");
  ASSERT_EQ(reload("[group.own]\n"), "");
  policy = "[group.own]\n[group.redis]\n[group.web]\n[group.default]\nl3 = \"8 ways\"\n";
  const struct {
    std::vector<std::string> names;
    const char* text;
  } rows[] = {
      {{"alien"},
       "the policy has no group 'alien'; add [group.alien], as 'rdtctl import' prints it for a "
       "group that exists"},
      {{"rediss"}, "the policy has no group 'rediss'; did you mean 'redis'?"},
      {{"redis", "rediss"}, "the policy has no group 'rediss'; did you mean 'redis'?"},
      {{"web"}, "resctrl has no group 'web' to take over; 'rdtctl reload' creates it"},
      {{"default"}, "the default group is always there, it cannot be taken over"},
      {{""}, "'' cannot be the name of a group: a name has at least one character"},
      {{"root"}, "'root' cannot be the name of a group; the resctrl root is [group.default]"},
      {{"info"}, "'info' cannot be the name of a group: resctrl uses that name itself"},
      {{"redis/front"},
       "'redis/front' cannot be the name of a group: a name consists of letters, digits, '.', "
       "'_' and '-'"},
      {{"\033[2J\n"},
       "'?[2J?' cannot be the name of a group: a name consists of letters, digits, '.', '_' and "
       "'-'"},
      {{std::string(65, 'a')},
       "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' cannot be the name "
       "of a group: a name has at most 64 characters"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(adopt(row.names), row.text);
    EXPECT_EQ(kind, Refusal::Kind::no_such_group) << row.text;
    EXPECT_EQ(state(), "running") << row.text;
  }
  EXPECT_EQ(manager->in_force().policy.groups.size(), 1U);
  EXPECT_EQ(adopt({"redis"}), "took over: redis");
}

TEST_F(AdoptTest, APseudoLockedRegionIsNotTakenOver) {
  kernel.resctrl.machine.pseudo_locking = true;
  kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  make_theirs("redis");
  ASSERT_TRUE(kernel.resctrl.write("redis/mode", "pseudo-locksetup\n"));
  policy = redis_policy;
  EXPECT_EQ(adopt({"redis"}),
            "p.toml:1:8: error: group 'redis' is pseudo-locked: rdtd does not take it over\n"
            "    1 | [group.redis]\n"
            "      |        ^~~~~ choose another name, or remove that group\n");
  EXPECT_EQ(*kernel.resctrl.read("redis/mode"), "pseudo-locksetup\n");
}

// The other refusals are those of a reload, and count as such.
TEST_F(AdoptTest, RefusesWhatAReloadRefuses) {
  make_theirs("redis");
  make_theirs("web");
  policy = "[group.redis]\nl3 = \"x\"\n";
  EXPECT_EQ(adopt({"nowhere"}), reload(policy));
  EXPECT_EQ(kind, Refusal::Kind::invalid_policy);
  EXPECT_EQ(problems(), std::vector<std::string>{"the last reload failed"});
  policy = redis_policy + "[group.web]\n";
  const std::string before = schemata("redis");
  EXPECT_EQ(adopt({"web"}), in_the_way);
  EXPECT_EQ(kind, Refusal::Kind::busy);
  EXPECT_EQ(schemata("redis"), before);
  EXPECT_EQ(adopt({"redis", "web"}), "took over: redis web");
  EXPECT_EQ(state(), "running");
}

// A group whose load fails is as foreign as before.
TEST_F(AdoptTest, AFailedLoadAdoptsNothing) {
  make_theirs("redis");
  const std::string before = schemata("redis");
  policy = "[group.redis]\nl3 = \"4 ways\"\n";
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "redis/schemata";
      },
      EIO);
  EXPECT_EQ(adopt({"redis"}),
            "cannot write 'L3:0=f;1=f' to /sys/fs/resctrl/redis/schemata: Input/output error "
            "(everything is as it "
            "was)");
  EXPECT_EQ(schemata("redis"), before);
  kernel.calls.reset();
  EXPECT_EQ(reload("[group.other]\n"), "");
  EXPECT_EQ(schemata("redis"), before);
}

TEST_F(AdoptTest, WhatCannotBeReadOrRecordedIsNotTakenOver) {
  make_theirs("redis");
  policy = redis_policy;
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "list"; }, EIO);
  EXPECT_EQ(adopt({"redis"}), "cannot list /sys/fs/resctrl: Input/output error");
  kernel.calls.reset();
  put("groups/in the way", "");
  EXPECT_EQ(adopt({"redis"}), "cannot replace " + (root_ / "groups").string() +
                                  ": Is a directory (nothing was changed)");
}

// A reload that was asked for after an adoption finds what that made of the groups.
TEST_F(AdoptTest, RequestsAreServedInTheirOrder) {
  make_theirs("redis");
  policy = redis_policy;
  std::vector<std::string> served;
  const auto reload_later = [&] {
    manager->changes().reload(
        [&](const auto& loaded) { served.push_back(loaded ? "reloaded" : loaded.error().text); });
  };
  manager->reconciler().sweep("the test keeps the daemon busy", [] {});
  manager->reconciler().reconcile();
  reload_later();
  manager->changes().adopt({"redis"}, [&](const auto& adopted) {
    served.push_back(adopted ? "adopted" : adopted.error().text);
  });
  reload_later();
  run(std::chrono::seconds(5));
  EXPECT_EQ(served, (std::vector<std::string>{in_the_way, "adopted", "reloaded"}));
}

}  // namespace
}  // namespace rdtd
