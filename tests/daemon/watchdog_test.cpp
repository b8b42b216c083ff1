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
  watchdog.beat();
  EXPECT_EQ(said, 0);
  watchdog.come_round();
  EXPECT_EQ(said, 1);
  in_kernel = true;
  watchdog.beat();
  EXPECT_EQ(said, 2);
  in_kernel = false;
  watchdog.beat();
  EXPECT_EQ(said, 2);
}

// Also if it waits for less than the heartbeat takes.
TEST_F(LoopTest, TheWatchdogHearsOfALoopThatComesRound) {
  for (const bool is_short : {true, false}) {
    SCOPED_TRACE(is_short);
    ::setenv("WATCHDOG_USEC", is_short ? "30000" : "600000000", 1);
    heartbeat_interval = std::chrono::milliseconds(is_short ? 10'000 : 10);
    notifications_.clear();
    const auto heard = [&] { return std::ranges::count(notifications_, "WATCHDOG=1") >= 6; };
    EXPECT_EQ(run_loop({}, {{ready()}, {heard}}), 0);
  }
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
