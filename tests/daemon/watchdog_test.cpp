// What systemd's watchdog hears of a loop that answers, that hangs, and that the kernel holds up.
#include "rdtd/daemon/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "loop_world.hpp"

namespace rdtd {
namespace {

using test::LoopTest;

TEST(WatchdogTest, ALoopThatHangsByItselfIsNotAlive) {
  bool in_kernel = false;
  int said = 0;
  Watchdog watchdog([&] { return in_kernel; }, [&] { said++; });
  watchdog.beat();
  EXPECT_EQ(said, 1);  // the loop has only begun
  watchdog.come_round();
  watchdog.beat();
  EXPECT_EQ(said, 2);
  watchdog.beat();
  watchdog.beat();
  EXPECT_EQ(said, 2);
  in_kernel = true;
  watchdog.beat();
  EXPECT_EQ(said, 3);
  in_kernel = false;
  watchdog.come_round();
  watchdog.beat();
  EXPECT_EQ(said, 4);
}

// It waits for less than the heartbeat usually takes.
TEST_F(LoopTest, TheWatchdogHearsOfALoopThatComesRound) {
  ::setenv("WATCHDOG_USEC", "30000", 1);
  const auto heard = [&] { return std::ranges::count(notifications_, "WATCHDOG=1") >= 6; };
  EXPECT_EQ(run_loop({}, {{ready()}, {heard}}), 0);
  ::unsetenv("WATCHDOG_USEC");
}

Task<> never_goes_on(Jobs& jobs) {
  std::function<void(std::function<void(int)>)> begin = [](const auto&) {};
  auto result = jobs.result<int>(Stage::classifier, std::move(begin));
  (void)co_await result;
}

// It would end all changes for ever.
TEST_F(LoopTest, TheWatchdogHearsNoMoreBesideAChangeThatStands) {
  using Clock = std::chrono::steady_clock;
  ::setenv("WATCHDOG_USEC", "30000", 1);
  std::ptrdiff_t heard = 0;
  Clock::time_point since{};
  const auto hears = [&] { return std::ranges::count(notifications_, "WATCHDOG=1"); };
  const auto stand = [&] {
    Jobs& jobs = manager->core().jobs;
    jobs.add("a", [&jobs] { return never_goes_on(jobs); });
    skew = std::chrono::minutes(1);
  };
  const auto begin = [&] { heard = hears(), since = Clock::now(); };
  const auto stands = [&] { return manager->stuck(); };
  const auto later = [&] { return Clock::now() > since + std::chrono::milliseconds(300); };
  EXPECT_EQ(
      run_loop({}, {{ready()}, {[&] { return hears() > 3; }, stand}, {stands, begin}, {later}}), 0);
  ::unsetenv("WATCHDOG_USEC");
  EXPECT_LE(hears(), heard + 1);
}

// Others may read resctrl in a loop: then a call takes as long as it takes.
TEST_F(LoopTest, TheWatchdogHearsOfALoopThatTheKernelHoldsUp) {
  ::setenv("WATCHDOG_USEC", "30000", 1);
  std::atomic<int> asked = 0;
  Loop::Sources sources;
  sources.in_kernel = [&] {
    asked++;
    return true;
  };
  const auto hold_up = [&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (asked < 3 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  EXPECT_EQ(run_loop(std::move(sources), {{ready(), hold_up}}), 0);
  ::unsetenv("WATCHDOG_USEC");
  EXPECT_GE(asked, 3);
  EXPECT_GE(std::ranges::count(notifications_, "WATCHDOG=1"), 3);
}

}  // namespace
}  // namespace rdtd
