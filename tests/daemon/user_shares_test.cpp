// Users share the time of the classifier.
#include "rdtd/proc/user_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "rdtd/daemon/assigner.hpp"
#include "rdtd/daemon/deferred.hpp"
#include "world.hpp"

namespace rdtd::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr UserShares::Time now{hours(1)};

TEST(UserShares, AQuarterOfTheTimeComesBack) {
  UserShares shares;
  EXPECT_FALSE(shares.exhausted(2201, now));
  shares.charge(2201, milliseconds(10), now);
  EXPECT_FALSE(shares.exhausted(2201, now));
  shares.charge(2201, milliseconds(5), now);
  EXPECT_TRUE(shares.exhausted(2201, now));
  EXPECT_FALSE(shares.exhausted(2202, now));
  EXPECT_TRUE(shares.exhausted(2201, now + milliseconds(19)));
  EXPECT_FALSE(shares.exhausted(2201, now + milliseconds(20)));
  // What has come back is at most all.
  shares.charge(2201, milliseconds(10), now + seconds(10));
  EXPECT_FALSE(shares.exhausted(2201, now + seconds(10)));
}

TEST(UserShares, Debtors) {
  UserShares shares;
  EXPECT_EQ(shares.debtors(now), 0U);
  shares.charge(2201, milliseconds(1), now);
  shares.charge(2202, milliseconds(2), now);
  shares.charge(2202, milliseconds(1), now);
  EXPECT_EQ(shares.debtors(now), 2U);
  EXPECT_EQ(shares.debtors(now + milliseconds(4)), 1U);
  EXPECT_EQ(shares.debtors(now + milliseconds(12)), 0U);
}

TEST(UserShares, ManyUsersTakeLittleMemory) {
  UserShares shares;
  shares.charge(1, milliseconds(20), now);
  for (uid_t user = 2; user < 100'000; user++) shares.charge(user, nanoseconds(0), now);
  EXPECT_TRUE(shares.exhausted(1, now));
  // If all of them take time, they are forgotten together.
  for (uid_t user = 2; user < 100'000; user++) shares.charge(user, nanoseconds(8), now);
  EXPECT_FALSE(shares.exhausted(1, now));
}

TEST(UserShares, AUserRests) {
  UserShares shares;
  EXPECT_FALSE(shares.anybody_rests(now));
  shares.charge(2201, milliseconds(1), now);
  shares.rest(2201, now + seconds(2));
  EXPECT_TRUE(shares.anybody_rests(now + milliseconds(1999)));
  EXPECT_FALSE(shares.anybody_rests(now + seconds(2)));
  EXPECT_EQ(shares.resting_until(2201), now + seconds(2));
  EXPECT_EQ(shares.resting_until(2202), UserShares::Time{});
  // One who rests is not forgotten for others who take nothing.
  for (uid_t user = 3000; user < 10'000; user++) shares.charge(user, nanoseconds(0), now);
  EXPECT_EQ(shares.resting_until(2201), now + seconds(2));
}

TEST(Deferred, EachOnceInTheOrderOfTime) {
  Deferred deferred;
  EXPECT_FALSE(deferred.next_due());
  EXPECT_TRUE(deferred.push({7, 1}, now + seconds(2)));
  EXPECT_TRUE(deferred.push({8, 1}, now));
  EXPECT_TRUE(deferred.push({9, 1}, now));
  EXPECT_TRUE(deferred.push({8, 1}, now + seconds(3)));
  EXPECT_EQ(deferred.next_due(), now);
  EXPECT_EQ(deferred.pop(now)->pid, 8);
  EXPECT_EQ(deferred.pop(now)->pid, 9);
  EXPECT_FALSE(deferred.pop(now));
  EXPECT_EQ(deferred.pop(now + seconds(2))->pid, 7);
  // There is room for some users.
  for (size_t i = 0; i < Deferred::max_size; i++)
    EXPECT_TRUE(
        deferred.push({static_cast<pid_t>(i), static_cast<uid_t>(i / Deferred::max_of_user)}, now));
  EXPECT_FALSE(deferred.push({pid_t{1} << 20, 9}, now));
  (void)deferred.pop(now);
  EXPECT_FALSE(deferred.push({pid_t{1} << 20, 1}, now));
  EXPECT_TRUE(deferred.push({pid_t{1} << 20, 9}, now));
}

TEST(Deferred, AnotherUsersProcessOfThatPidHasItsOwnTime) {
  Deferred deferred;
  EXPECT_TRUE(deferred.push({7, 1}, now + seconds(9)));
  EXPECT_TRUE(deferred.push({7, 2}, now));
  EXPECT_EQ(deferred.pop(now)->user, 2U);
  EXPECT_FALSE(deferred.next_due());
  // Its place is free again.
  for (size_t i = 0; i < Deferred::max_of_user; i++)
    EXPECT_TRUE(deferred.push({static_cast<pid_t>(i), 1}, now));
}

class SharesTest : public World {
 protected:
  void SetUp() override {
    World::SetUp();
    // A rule that asks for the cgroup of every process, before the one for redis.
    ASSERT_EQ(reload(redis_policy + "[[rule]]\ngroup = \"redis\"\ncgroup = \"/nowhere\"\n"), "");
  }
  pid_t start(uid_t user) {
    return processes.start({.name = "redis-server", .identity = {user, user}});
  }
  pid_t start_set_uid(uid_t user) {
    return processes.start({.name = "redis-server", .identity = {0, 0, user}});
  }
  Assignment place(pid_t pid) {
    return place_leader(
        {*manager->in_force().table, processes, manager->core().manual, nullptr, &shares_, now},
        pid);
  }
  UserShares shares_;
};

TEST_F(SharesTest, AUserWithoutAShareIsDeferred) {
  shares_.charge(2201, milliseconds(20), now);
  const pid_t greedy = start(2201), other = start(2202);
  EXPECT_EQ(place(greedy).kind, Assignment::Kind::deferred);
  EXPECT_EQ(group_of(greedy), "default");
  EXPECT_EQ(place(other).kind, Assignment::Kind::in_group);
  EXPECT_EQ(place(other).user, 2202U);
}

// A program that is set-uid root looks like root's, but only as long as root has a share left.
TEST_F(SharesTest, NobodyHidesBehindRoot) {
  shares_.charge(2201, milliseconds(20), now);
  const pid_t hidden = start_set_uid(2201), daemon = start(0);
  EXPECT_EQ(place(hidden).user, 0U);
  shares_.charge(0, milliseconds(20), now);
  EXPECT_EQ(place(hidden).kind, Assignment::Kind::deferred);
  EXPECT_EQ(place(hidden).user, 2201U);
  EXPECT_TRUE(place(hidden).hidden);
  EXPECT_FALSE(place(daemon).hidden);
  EXPECT_EQ(place(daemon).kind, Assignment::Kind::in_group);
}

// Of what looks like root's, it may not be known now whose it is.
TEST_F(SharesTest, WhoCannotBeKnownIsLookedAtLater) {
  shares_.rest(2201, now + seconds(1));
  const pid_t hidden = start_set_uid(2201);
  processes.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "read" && call.argument == "identity";
      },
      EBUSY);
  EXPECT_EQ(place(hidden).kind, Assignment::Kind::held_up);
  EXPECT_EQ(place(start(2202)).kind, Assignment::Kind::in_group);
}

// In a deeply nested cgroup, each look takes long: its user is named even if nobody waits.
TEST_F(SharesTest, ADeepCgroupIsNoticed) {
  std::string deep;
  for (int i = 0; i < 200; i++) deep += "/a";
  const auto begin = [&](const std::string& cgroup) {
    return processes.start({.name = "bash", .cgroup = cgroup, .identity = {2201, 2201}});
  };
  const auto place_alone = [&](pid_t pid) {
    return place_leader({*manager->in_force().table, processes, manager->core().manual}, pid);
  };
  EXPECT_TRUE(place_alone(begin(deep)).deep);
  EXPECT_EQ(place_alone(begin(deep)).user, 2201U);
  EXPECT_FALSE(place_alone(begin("/a/a")).deep);
  EXPECT_FALSE(place_alone(begin("/a/a")).user);
  // Few levels with long names, behind which the kernel has cut the path.
  EXPECT_TRUE(place_alone(begin("/" + std::string(4090, 'a'))).deep);
  // A program that is set-uid root is its user's.
  const pid_t su = processes.start({.name = "su", .cgroup = deep, .identity = {0, 0, 2201}});
  EXPECT_EQ(place_alone(su).user, 2201U);
}

// While somebody rests, nobody hides behind root, and others are placed.
TEST_F(SharesTest, AUserWhoRestsIsDeferred) {
  shares_.charge(2201, milliseconds(1), now);
  shares_.rest(2201, now + seconds(1));
  EXPECT_EQ(place(start(2201)).kind, Assignment::Kind::deferred);
  EXPECT_EQ(place(start_set_uid(2201)).kind, Assignment::Kind::deferred);
  EXPECT_EQ(place(start(2202)).kind, Assignment::Kind::in_group);
  EXPECT_EQ(place(start(0)).kind, Assignment::Kind::in_group);
}

// The loop thread's looks at single processes: a user with many that rename themselves all the time
// takes a quarter of its time, and not more the more they are.
class VisitShares : public World {
 protected:
  // How many looks of 0.2 ms 300 processes cause in a second, each of which changes every 30 ms.
  // Their users are this one and those after it.
  size_t looks_in_a_second(uid_t user, size_t how_many) {
    policy = redis_policy;
    EXPECT_EQ(load(), "");
    std::vector<pid_t> pids;
    for (size_t i = 0; i < 300; i++)
      pids.push_back(processes.start(
          {.name = "bash", .identity = {.uid = static_cast<uid_t>(user + i % how_many)}}));
    size_t looks = 0;
    processes.calls.hook = [&](const fake::Call& call) {
      if (call.operation != "read_name") return;
      looks++;
      clock += std::chrono::microseconds(200);
    };
    const auto end = clock + seconds(1);
    while (clock < end) {
      for (const pid_t pid : pids) manager->core().sweeper.visit({.pid = pid});
      run(milliseconds(30));
    }
    processes.calls.hook = nullptr;
    return looks;
  }
};

TEST_F(VisitShares, OneUserTakesAQuarter) {
  const size_t of_one = looks_in_a_second(2201, 1);
  use(kernel.resctrl.machine);
  const size_t of_all = looks_in_a_second(2201, 300);
  EXPECT_LT(of_one * 2, of_all);
  use(kernel.resctrl.machine);
  EXPECT_GT(looks_in_a_second(0, 1), of_one * 2);  // root is not kept waiting
}

}  // namespace
}  // namespace rdtd::test
