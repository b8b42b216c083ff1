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
std::string ask(CommandLines& lines, uid_t user) {
  for (int attempt = 0; attempt < 2000; attempt++) {
    const auto read = lines.read(user, path, answer("redis-server"));
    if (read) return *read;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return "never";
}

// A read that found no time to begin is not held up yet.
Result<std::string> hold_up(CommandLines& lines, uid_t user, const Trap& trap) {
  const auto begun = std::make_shared<std::atomic<bool>>(false);
  Result<std::string> out;
  for (int attempt = 0; attempt < 2000 && !*begun; attempt++) {
    out = lines.read(user, path, [begun, read = trap.read()]() mutable {
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
  EXPECT_EQ(lines.read(1000, path, answer("redis-server")), "redis-server");
  const Error gone{"read", path, ESRCH, {}};
  const auto read = lines.read(1000, path, [&gone] { return std::unexpected(gone); });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), gone);
}

TEST(CommandLines, AReadThatIsHeldUpKeepsNobodyElseWaiting) {
  CommandLines lines{milliseconds(2)};
  auto trap = std::make_unique<Trap>();
  const auto held = hold_up(lines, 2201, *trap);
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().text(),
            "cannot read /proc/812/cmdline: Resource temporarily unavailable (the process holds it "
            "up)");
  EXPECT_EQ(ask(lines, 1000), "redis-server");
  // While it lasts, nothing else of this user is read.
  std::atomic<bool> begun = false;
  const auto refused = lines.read(2201, path, [&begun]() -> Result<std::string> {
    begun = true;
    return "";
  });
  EXPECT_FALSE(refused);
  EXPECT_FALSE(begun);
  trap.reset();
  EXPECT_EQ(ask(lines, 2201), "redis-server");
}

TEST(CommandLines, HeldUpReadsAreFew) {
  CommandLines lines{milliseconds(1)};
  std::vector<std::unique_ptr<Trap>> traps;
  for (uid_t user = 1; user <= CommandLines::max_held_up; user++) {
    traps.push_back(std::make_unique<Trap>());
    EXPECT_FALSE(hold_up(lines, user, *traps.back()));
  }
  std::atomic<bool> begun = false;
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(lines.read(1000, path, [&begun]() -> Result<std::string> {
    begun = true;
    return "";
  }));
  EXPECT_FALSE(begun);
  traps.pop_back();
  EXPECT_EQ(ask(lines, 1000), "redis-server");
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
                 .read(1000, path,
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
  EXPECT_FALSE(hold_up(lines, 1000, trap));
}

}  // namespace
}  // namespace rdtd::proc
