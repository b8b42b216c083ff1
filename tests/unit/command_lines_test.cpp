// CommandLines, with reads that wait for a pipe.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "rdtd/base/unique_fd.hpp"
#include "rdtd/proc/command_lines.hpp"

namespace rdtd::proc {
namespace {

using std::chrono::milliseconds;

constexpr const char* path = "/proc/812/cmdline";

CommandLines::Read answer(std::string text) {
  return [text = std::move(text)]() -> Result<std::string> { return text; };
}

// A read that ends when the Trap does.
class Trap {
 public:
  Trap() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw std::system_error(errno, std::system_category());
    read_end_ = std::make_shared<UniqueFd>(ends[0]);
    write_end_ = UniqueFd(ends[1]);
  }
  [[nodiscard]] CommandLines::Read read() const {
    return [end = read_end_]() -> Result<std::string> {
      char byte = 0;
      (void)!::read(end->get(), &byte, 1);
      return "freed";
    };
  }

 private:
  std::shared_ptr<UniqueFd> read_end_;
  UniqueFd write_end_;
};

// Asks again, as the daemon does, until there is an answer.
std::string ask(CommandLines& lines, uid_t user, pid_t process) {
  for (int attempt = 0; attempt < 2000; attempt++) {
    const auto read = lines.read(user, process, path, answer("redis-server"));
    if (read) return *read;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return "never";
}

// A read that found no time to begin is not held up yet.
Result<std::string> hold_up(CommandLines& lines, uid_t user, pid_t process, const Trap& trap) {
  const auto begun = std::make_shared<std::atomic<bool>>(false);
  Result<std::string> out;
  for (int attempt = 0; attempt < 2000 && !*begun; attempt++) {
    out = lines.read(user, process, path, [begun, read = trap.read()]() mutable {
      *begun = true;
      return read();
    });
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(*begun);
  return out;
}

TEST(CommandLines, AnswersAndFailuresAreThoseOfTheRead) {
  CommandLines lines{milliseconds(60'000)};
  EXPECT_EQ(lines.read(1000, 812, path, answer("redis-server")), "redis-server");
  const Error gone{"read", path, ESRCH, {}};
  const auto read = lines.read(1000, 812, path, [&gone] { return std::unexpected(gone); });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), gone);
}

// Why a read that must not begin is refused.
Error refusal(CommandLines& lines, uid_t user, pid_t process) {
  bool begun = false;
  const auto read = lines.read(user, process, path, [&begun]() -> Result<std::string> {
    begun = true;
    return "";
  });
  EXPECT_FALSE(read);
  EXPECT_FALSE(begun);
  return read ? Error{} : read.error();
}

// The user waits too, if other processes of that user hold up reads, but only for a moment.
TEST(CommandLines, AProcessThatHoldsUpReadsKeepsNoOtherWaiting) {
  for (const uid_t user : {uid_t{0}, uid_t{2201}}) {
    CommandLines lines{milliseconds(2)};
    auto trap = std::make_unique<Trap>();
    const auto held = hold_up(lines, user, 812, *trap);
    ASSERT_FALSE(held);
    const std::string text =
        "cannot read /proc/812/cmdline: Resource temporarily unavailable (the process holds it up)";
    EXPECT_EQ(held.error().text(), text);
    EXPECT_FALSE(CommandLines::machine_was_busy(held.error()));
    EXPECT_EQ(ask(lines, 1000, 813), "redis-server");
    EXPECT_EQ(ask(lines, user, 814), "redis-server");
    EXPECT_EQ(refusal(lines, user, 812).text(), text);
    trap.reset();
    EXPECT_EQ(ask(lines, user, 812), "redis-server");
  }
}

// Somebody's slow command lines are read for a part of the time, those of others always.
TEST(CommandLines, SlowReadsOfOneUserKeepNoOtherWaiting) {
  CommandLines lines{milliseconds(60'000)};
  int refused = 0;
  for (int round = 0; round < 50; round++) {
    const auto slow = lines.read(2201, 812, path, []() -> Result<std::string> {
      std::this_thread::sleep_for(milliseconds(6));
      return "slow";
    });
    if (!slow && slow.error().detail == "such reads were held up") {
      EXPECT_FALSE(CommandLines::machine_was_busy(slow.error()));
      refused++;
    }
    const auto quick = lines.read(1000, 813, path, answer("redis-server"));
    EXPECT_TRUE(quick || CommandLines::machine_was_busy(quick.error()));
  }
  EXPECT_GT(refused, 0);
}

TEST(CommandLines, HeldUpReadsAreFew) {
  CommandLines lines{milliseconds(1)};
  std::vector<std::unique_ptr<Trap>> traps;
  const auto trap = [&](uid_t user) {
    traps.push_back(std::make_unique<Trap>());
    EXPECT_FALSE(hold_up(lines, user, static_cast<pid_t>(traps.size()), *traps.back()));
  };
  const std::string text =
      "cannot read /proc/812/cmdline: Device or resource busy (such reads were held up)";
  // What a user has taken comes back meanwhile.
  const auto expect_refused = [&](uid_t user) {
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_EQ(refusal(lines, user, 812).text(), text);
  };
  uid_t user = 1000;
  for (; traps.size() < CommandLines::max_held_up / 2; user++) {
    for (size_t i = 0; i < CommandLines::max_of_user; i++) trap(user);
    expect_refused(user);
  }
  for (; traps.size() < CommandLines::max_held_up; user++) {
    trap(user);
    expect_refused(user);
  }
  expect_refused(user);
  // System users have places of their own, of which none can take all.
  for (size_t i = 0; i < CommandLines::max_of_user; i++) trap(100);
  expect_refused(100);
  trap(101);
  expect_refused(101);
  for (uid_t system = 102; system < 105; system++) trap(system);
  expect_refused(105);
  // So has root.
  for (size_t i = 0; i < CommandLines::max_of_root; i++) trap(0);
  expect_refused(0);
  traps.clear();
  EXPECT_EQ(ask(lines, user, 812), "redis-server");
}

// proc_pid_stat(5): 20 for an ordinary thread, -2 for SCHED_FIFO 1.
std::string own_priority() {
  std::ifstream stat("/proc/thread-self/stat");
  const std::string text(std::istreambuf_iterator<char>(stat), {});
  std::string field;
  if (text.empty()) return field;
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  for (int number = 3; number <= 18; number++) fields >> field;
  return field;
}

// As the unit starts it: without this, programs that keep all CPUs busy would hold it up.
TEST(CommandLines, ReadsAtThePriorityOfWhoWaits) {
  bool permitted = false;
  std::string reader, waits;
  std::thread([&] {
    const sched_param priority{1};
    permitted = ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) == 0;
    if (!permitted) return;
    CommandLines lines{milliseconds(60'000)};
    reader = lines
                 .read(1000, 812, path,
                       []() -> Result<std::string> {
                         std::this_thread::sleep_for(milliseconds(50));
                         return own_priority();
                       })
                 .value_or("no answer");
    waits = own_priority();
  }).join();
  if (!permitted) GTEST_SKIP() << "this user may not take a real-time policy";
  if (waits.empty()) GTEST_SKIP() << "no /proc/thread-self here";
  EXPECT_EQ(waits, "-2");
  EXPECT_EQ(reader, "-2");
}

TEST(CommandLines, EndsWhileAReadIsHeldUp) {
  const Trap trap;
  CommandLines lines{milliseconds(1)};
  EXPECT_FALSE(hold_up(lines, 1000, 812, trap));
}

}  // namespace
}  // namespace rdtd::proc
