// A reload that nobody waits for, and that only the machine refuses, is tried again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;
using Texts = std::vector<std::string>;

const std::string changed = "[group.redis]\nl3 = \"6 ways\"\n";
const std::string granted = "L3:0-1=3f MB:0-1=100";

class ReloadAgainTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    ASSERT_EQ(reload(redis_policy), "");
    kernel.calls.reset();
    before_ = schemata("redis");
  }
  void change(const std::string& text) {
    policy = text;
    manager->reload_changed();
    run();
  }
  void refuse_writes() {
    kernel.calls.fail_if(
        [](const fake::Call& call) { return call.text().starts_with("write redis/schemata"); },
        EBUSY);
  }
  [[nodiscard]] size_t attempts() const {
    return static_cast<size_t>(std::ranges::count_if(kernel.calls.log(), [](const auto& call) {
      return call.text().starts_with("write redis/schemata");
    }));
  }
  std::string before_;
};

TEST_F(ReloadAgainTest, UntilTheKernelTakesIt) {
  refuse_writes();
  change(changed);
  EXPECT_EQ(schemata("redis"), before_);
  EXPECT_EQ(problems(), Texts{"the last reload failed: it is tried again, after growing pauses"});
  EXPECT_EQ(manager->answers().status_line(),
            "2 groups, 1 rule, 0 threads assigned; last reload failed, it is tried again: cannot "
            "write 'L3:0=3f;1=3f' to /sys/fs/resctrl/redis/schemata: Device or resource busy "
            "(everything is as it was)");
  run(std::chrono::hours(1));
  EXPECT_GT(attempts(), 12U);
  EXPECT_LT(attempts(), 40U);
  EXPECT_EQ(schemata("redis"), before_);
  kernel.calls.reset();
  run(std::chrono::minutes(5));
  EXPECT_EQ(schemata("redis"), granted);
  EXPECT_EQ(problems(), Texts{});
  const size_t calls = attempts();
  run(std::chrono::hours(1));
  EXPECT_EQ(attempts(), calls);
}

// What the plan can see takes no attempt, and is not logged again.
TEST_F(ReloadAgainTest, UntilThereIsRoom) {
  std::string all;
  for (int n = 0; n < 6; n++) all += fmt::format("[group.g{}]\n", n);
  int others = 0;
  while (kernel.resctrl.make(fmt::format("x{}", others))) others++;
  change(all);
  run(std::chrono::minutes(20));
  EXPECT_EQ(kernel.calls.changes(), Texts{});
  EXPECT_EQ(state(), "degraded");
  while (others-- > 0) ASSERT_TRUE(kernel.resctrl.remove(fmt::format("x{}", others)));
  run(std::chrono::minutes(5));
  EXPECT_NE(schemata("g5"), "none");
  EXPECT_EQ(state(), "running");
}

TEST_F(ReloadAgainTest, NotWhatIsNoPolicy) {
  change("[group.redis]\nl3 = 3\n");
  kernel.calls.reset();
  policy = changed;  // nobody has heard of it
  run(std::chrono::hours(1));
  EXPECT_EQ(schemata("redis"), before_);
  EXPECT_EQ(problems(), Texts{"the last reload failed"});
}

// The answer is with who asked.
TEST_F(ReloadAgainTest, NotWhatSomebodyAskedFor) {
  const struct {
    const char* name;
    std::function<void()> ask;
  } rows[] = {
      {"reload", [this] { (void)reload(changed); }},
      {"change", [this] { change("[group.redis]\nl3 = 3\n"); }},
      {"reset",
       [this] {
         (void)wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); });
       }},
      {"adopt", [this] { manager->changes().adopt({"redis"}, [](const auto&) {}); }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    kernel.calls.reset();
    ASSERT_EQ(reload(redis_policy), "");
    refuse_writes();
    change(changed);
    row.ask();
    run();
    kernel.calls.reset();
    run(std::chrono::hours(1));
    EXPECT_EQ(attempts(), 0U);
    EXPECT_NE(schemata("redis"), granted);
  }
}

// A process that cannot be examined is no reason to load again what is in force.
TEST_F(ReloadAgainTest, NotWhatIsInForce) {
  processes.calls.fail_if([](const fake::Call& call) { return call.operation == "list"; }, EMFILE);
  change(changed);
  EXPECT_EQ(schemata("redis"), granted);
  kernel.calls.reset();
  run(std::chrono::minutes(2));
  EXPECT_EQ(attempts(), 0U);
}

// A lease that comes meanwhile is put in force with the files of before, which are not what waits.
TEST_F(ReloadAgainTest, ALeaseIsNotWhatItWaitsFor) {
  refuse_writes();
  change(changed);
  ASSERT_EQ(lease("amount", "[group.x]\nmb = \"50%\"\n"), "");
  EXPECT_EQ(schemata("redis"), before_);
  kernel.calls.reset();
  run(std::chrono::minutes(5));
  EXPECT_EQ(schemata("redis"), granted);
  EXPECT_NE(schemata("x"), "none");
}

}  // namespace
}  // namespace rdtd
