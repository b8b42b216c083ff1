// Users share the time of the classifier.
#include "rdtd/proc/user_shares.hpp"

#include <gtest/gtest.h>

#include "rdtd/daemon/assigner.hpp"
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

TEST(UserShares, ManyUsersTakeLittleMemory) {
  UserShares shares;
  shares.charge(1, milliseconds(20), now);
  for (uid_t user = 2; user < 100'000; user++) shares.charge(user, nanoseconds(0), now);
  EXPECT_TRUE(shares.exhausted(1, now));
  // If all of them take time, they are forgotten together.
  for (uid_t user = 2; user < 100'000; user++) shares.charge(user, nanoseconds(8), now);
  EXPECT_FALSE(shares.exhausted(1, now));
}

class SharesTest : public World {
 protected:
  void SetUp() override {
    World::SetUp();
    ASSERT_EQ(reload(redis_policy), "");
  }
  pid_t start(uid_t user, bool traceable = true) {
    return processes.start(
        {.name = "redis-server", .identity = {user, user}, .traceable = traceable});
  }
  Assignment place(pid_t pid) {
    return place_leader(
        {*manager->in_force().table, processes, manager->manual(), nullptr, &shares_, now}, pid);
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

// A process that cannot be traced looks like root's, but only as long as root has a share left.
TEST_F(SharesTest, NobodyHidesBehindRoot) {
  shares_.charge(2201, milliseconds(20), now);
  const pid_t hidden = start(2201, false), daemon = start(0);
  EXPECT_EQ(place(hidden).user, 0U);
  shares_.charge(0, milliseconds(20), now);
  EXPECT_EQ(place(hidden).kind, Assignment::Kind::deferred);
  EXPECT_EQ(place(hidden).user, 2201U);
  EXPECT_TRUE(place(hidden).hidden);
  EXPECT_FALSE(place(daemon).hidden);
  EXPECT_EQ(place(daemon).kind, Assignment::Kind::in_group);
}

}  // namespace
}  // namespace rdtd::test
