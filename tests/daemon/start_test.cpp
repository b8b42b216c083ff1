// run_daemon from its directories to its exit status, on a copy of a resctrl that accepts no group.
#include "rdtd/daemon/start.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "rdtd/resctrl/ownership.hpp"
#include "stderr_file.hpp"
#include "unit/files.hpp"

namespace rdtd {
namespace {

class StartTest : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    logger_ = spdlog::default_logger();
    ::unsetenv("JOURNAL_STREAM");
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path("bus")).c_str(), 1);
    ::sigemptyset(&signals_);
    for (const int signal : {SIGHUP, SIGTERM, SIGINT}) ::sigaddset(&signals_, signal);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &signals_, &signals_before_), 0);
    fs::copy(RDTD_TEST_DATA "/skylake-sp", root_ / "resctrl", fs::copy_options::recursive);
    put("proc/self/mounts", "resctrl /sys/fs/resctrl resctrl rw,relatime 0 0\n");
    put("possible", "0-3\n");
    paths_ = {.policy_root = root_.string(),
              .resctrl = path("resctrl"),
              .proc = path("proc"),
              .possible_cpus = path("possible"),
              .state = path("run/rdtd"),
              .cgroups = {},
              .receive_buffer = 65536,
              .executes = true};
  }
  void TearDown() override {
    const timespec now{};
    while (::sigtimedwait(&signals_, nullptr, &now) > 0) {}
    ::pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    spdlog::set_default_logger(logger_);
    spdlog::set_level(spdlog::level::info);
    Files::TearDown();
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (root_ / name).string(); }
  [[nodiscard]] std::string log() const {
    std::ostringstream text;
    text << std::ifstream(root_ / "log").rdbuf();
    return text.str();
  }
  [[nodiscard]] bool logged(const std::string& text) const {
    return log().find(text) != std::string::npos;
  }
  // Runs the daemon and asks it to end once it has logged `until`, after 20 s at the latest.
  // Returns its exit status.
  int run(const std::string& until, const std::function<void()>& then = [] {}) {
    const test::StderrFile file(root_ / "log");
    std::atomic<bool> over = false;
    std::thread stopper([&] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!over && !logged(until) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (over) return;
      then();
      ::kill(::getpid(), SIGTERM);
    });
    const int status = run_daemon(paths_);
    over = true;
    stopper.join();
    EXPECT_TRUE(logged(until)) << log();
    return status;
  }

  Paths paths_;
  sigset_t signals_{}, signals_before_{};
  std::shared_ptr<spdlog::logger> logger_;
};

TEST_F(StartTest, SaysThatThereIsNoPolicy) {
  EXPECT_EQ(run("rdtd: info: policy in force: none, as there is no policy file; 'rdtctl init' "
                "writes a first one\n"),
            0)
      << log();
}

TEST_F(StartTest, RunsUntilItIsAskedToEnd) {
  put("etc/rdtd/a.toml", "[daemon]\nlog_level = \"info\"\n");
  EXPECT_EQ(run("rdtd: info: policy in force: 1 group, 0 rules, 0 steps; "), 0) << log();
  EXPECT_TRUE(
      logged("rdtd: warning: no unified cgroup hierarchy is mounted: moves between cgroups "
             "are noticed at the next reconcile only\n"));
  EXPECT_TRUE(fs::exists(root_ / "run/rdtd"));
  EXPECT_FALSE(logged("unmounted"));
}

// The root of resctrl is closed to other users as long as rdtd divides it.
TEST_F(StartTest, OthersDoNotReadResctrl) {
  const auto mode = [this] { return fs::status(paths_.resctrl).permissions(); };
  fs::permissions(paths_.resctrl, fs::perms{0555});
  put("etc/rdtd/a.toml", "");
  EXPECT_EQ(run("rdtd: info: policy in force"), 0);
  EXPECT_EQ(mode(), fs::perms{0750});
  put("etc/rdtd/a.toml", "[daemon]\nreaders = \"all\"\n");
  fs::remove(root_ / "log");
  EXPECT_EQ(run("rdtd: info: policy in force"), 0);
  EXPECT_EQ(mode(), fs::perms{0755});
  put("etc/rdtd/a.toml", "[daemon]\non_stop = \"remove\"\n");
  fs::remove(root_ / "log");
  fs::perms meanwhile{};
  (void)run("rdtd: info: policy in force", [&] { meanwhile = mode(); });
  EXPECT_EQ(meanwhile, fs::perms{0750});
  EXPECT_EQ(mode(), fs::perms{0555});
  fs::permissions(paths_.resctrl, fs::perms{0755});
}

// systemd starts it again after a status of 1; not after 69, before resctrl is mounted.
TEST_F(StartTest, WhatItCannotOpenDecidesAboutTheStatus) {
  const struct {
    const char* description;
    std::function<void()> arrange;
    int status;
    std::string message;
  } rows[] = {
      {"no resctrl in the kernel", [&] { paths_.resctrl = path("none"); }, 69,
       "cannot open " + path("none") + ": No such file or directory"},
      {"resctrl is not mounted", [&] { paths_.resctrl = path("proc"); }, 69,
       "cannot use " + path("proc") +
           ": No such device (no resctrl is mounted here: systemctl start sys-fs-resctrl.mount)"},
      {"no /proc", [&] { paths_.proc = path("none"); }, 1,
       "cannot open " + path("none") + ": No such file or directory"},
      {"a file in place of the state", [&] { paths_.state = path("possible"); }, 1,
       "cannot open " + path("possible") + ": Not a directory"},
  };
  const Paths good = paths_;
  for (const auto& row : rows) {
    paths_ = good;
    row.arrange();
    EXPECT_EQ(run("rdtd: error: " + row.message + "\n"), row.status) << row.description;
    fs::remove(root_ / "log");
  }
}

TEST_F(StartTest, OnlyOneRuns) {
  fs::create_directories(paths_.state);
  auto other = Ownership::load(*Directory::open(paths_.state));
  ASSERT_TRUE(other->lock());
  EXPECT_EQ(run("rdtd: error: cannot lock " + paths_.state +
                "/lock: Resource temporarily unavailable (another rdtd is running)\n"),
            1);
}

TEST_F(StartTest, AnInvalidPolicyMustBeEdited) {
  put("etc/rdtd/a.toml", "[daemon]\nlog_level = \"loud\"\n");
  const std::string file = path("etc/rdtd/a.toml");
  EXPECT_EQ(run("rdtd: error: the policy was not applied:\n" + file +
                ":2:13: error: 'log_level' in [daemon] must be one of debug, info, warning, error, "
                "not 'loud'\n    2 | log_level = \"loud\"\n      |             ^~~~~~\n"),
            78);
}

// systemd stops a unit that is bound to a mount that has gone, and does not log why.
TEST_F(StartTest, SaysThatResctrlWasUnmounted) {
  EXPECT_EQ(run("policy in force", [this] { fs::remove(root_ / "resctrl/schemata"); }), 0);
  EXPECT_TRUE(logged("rdtd: warning: " + paths_.resctrl +
                     " was unmounted, so rdtd stops; 'systemctl start "
                     "sys-fs-resctrl.mount' mounts it again and starts rdtd\n"));
}

TEST_F(StartTest, NamesTheHolderOfTheLock) {
  const UniqueFd held(::open(paths_.resctrl.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX | LOCK_NB), 0);
  struct stat status{};
  ASSERT_EQ(::fstat(held.get(), &status), 0);
  const std::string device =
      fmt::format("{:02x}:{:02x}", major(status.st_dev), minor(status.st_dev));
  put("proc/locks", fmt::format("1: POSIX  ADVISORY  WRITE 810 {0}:{1} 0 EOF\n"
                                "2: FLOCK  ADVISORY  WRITE 811 {0}:{2} 0 EOF\n"
                                "3: FLOCK  ADVISORY  WRITE 812 {0}:{1} 0 EOF\n",
                                device, status.st_ino, status.st_ino + 1));
  for (const char* pid : {"810", "811"}) put(fmt::format("proc/{}/comm", pid), "other\n");
  put("proc/812/comm", "pq\x1bos\n");
  EXPECT_EQ(run("process 812 (pq?os) holds the lock of " + paths_.resctrl +
                " for 2 s: it is changed without it"),
            0)
      << log();
}

TEST_F(StartTest, WatchesTheFirstUnifiedHierarchy) {
  // A watch is set through /proc/self/fd. A chroot that builds a package may have no /proc.
  if (!fs::exists("/proc/self")) GTEST_SKIP() << "/proc is not mounted";
  fs::create_directories(root_ / "hybrid");
  put("unified/cgroup.controllers", "cpu memory\n");
  const std::string none_mounted = "no unified cgroup hierarchy is mounted";
  paths_.cgroups = {path("none"), path("hybrid")};
  EXPECT_EQ(run("policy in force"), 0);
  EXPECT_TRUE(logged(none_mounted));
  fs::remove(root_ / "log");
  paths_.cgroups.push_back(path("unified"));
  EXPECT_EQ(run("policy in force"), 0);
  EXPECT_FALSE(logged(none_mounted));
}

}  // namespace
}  // namespace rdtd
