// CgroupWatch, on a tree of ordinary directories: inotify reports changes in it as it does for
// cgroups.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

#include "files.hpp"
#include "rdtd/proc/cgroup_watch.hpp"

namespace rdtd {
namespace {

using Interest = CgroupWatch::Interest;
using Pids = std::vector<pid_t>;
using Paths = std::vector<std::string>;

Interest everything(std::string_view) { return {true, true}; }

class Cgroups : public Files {
 protected:
  // A watch is set through /proc/self/fd. A chroot that builds a package may have no /proc.
  void SetUp() override {
    Files::SetUp();
    if (!fs::exists("/proc/self")) GTEST_SKIP() << "/proc is not mounted";
  }
  [[nodiscard]] CgroupWatch open(CgroupLimits limits = {}) const {
    auto watch = CgroupWatch::open(*Directory::open(root_.string()), limits);
    EXPECT_TRUE(watch) << watch.error().text();
    return std::move(*watch);
  }
  static void walk(CgroupWatch& watch, CgroupWatch::InterestIn interest) {
    watch.watch(std::move(interest));
    while (watch.walking()) EXPECT_TRUE(watch.read_changes().processes.empty());
  }
  void make(const std::string& path) const { fs::create_directories(root_ / path); }
  // Makes `depth` directories of this name, one in the other, below `path`.
  void nest(const std::string& path, const std::string& name, int depth) const {
    UniqueFd fd(::open((root_ / path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int i = 0; i < depth; i++) {
      ASSERT_EQ(::mkdirat(fd.get(), name.c_str(), 0755), 0);
      fd = UniqueFd(::openat(fd.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      ASSERT_TRUE(fd);
    }
  }
  void give_to_user(const std::string& path) const {
    if (::geteuid() != 0) return;
    ASSERT_EQ(::chown((root_ / path).c_str(), 1000, 1000), 0);
  }
  [[nodiscard]] static uid_t user() { return ::geteuid() == 0 ? 1000 : ::geteuid(); }
};

TEST_F(Cgroups, ReportsProcessesOfWrittenCgroups) {
  put("a.slice/a.service/cgroup.procs", "1\n2\n");
  put("b.slice/cgroup.procs", "3\n");
  CgroupWatch watch = open();
  walk(watch, everything);
  EXPECT_EQ(watch.watched(), 4U);
  EXPECT_EQ(watch.skipped(), 0U);
  auto changes = watch.read_changes();
  EXPECT_EQ(changes.processes, Pids{});
  EXPECT_FALSE(changes.more);
  put("a.slice/a.service/cgroup.procs", "5\n2\n5\n");
  put("a.slice/a.service/cgroup.procs", "5\n2\n5\n");
  put("a.slice/cgroup.events", "populated 1\n");
  put("a.slice/cgroup.procs", "2\n");
  put("b.slice/memory.max", "max\n");
  changes = watch.read_changes();
  EXPECT_EQ(changes.processes, (Pids{2, 5}));
  EXPECT_EQ(changes.emptied, Paths{});
  EXPECT_FALSE(changes.lost);
  EXPECT_FALSE(changes.more);
}

// One write to a cgroup of many processes costs no look at all of them.
TEST_F(Cgroups, ReportsTheDifferenceToTheLastRead) {
  put("a/cgroup.procs", "1\n2\n3\n");
  put("b/cgroup.procs", "4\n");
  CgroupWatch watch = open({.few_processes = 0});
  walk(watch, everything);
  put("a/cgroup.procs", "1\n2\n3\n5\n");
  EXPECT_EQ(watch.read_changes().processes, (Pids{1, 2, 3, 5}));  // read for the first time
  put("a/cgroup.procs", "1\n2\n3\n5\n6\n");
  EXPECT_EQ(watch.read_changes().processes, Pids{6});
  // One that goes to another cgroup and returns is new again, although it is known here.
  put("b/cgroup.procs", "2\n4\n");
  EXPECT_EQ(watch.read_changes().processes, (Pids{2, 4}));
  put("a/cgroup.procs", "1\n2\n3\n5\n6\n");
  EXPECT_EQ(watch.read_changes().processes, Pids{2});
  // So is one that was not there meanwhile.
  put("a/cgroup.procs", "1\n2\n");
  EXPECT_EQ(watch.read_changes().processes, Pids{});
  put("a/cgroup.procs", "1\n2\n3\n");
  EXPECT_EQ(watch.read_changes().processes, Pids{3});
}

// Who leaves for a cgroup that is not watched, and comes back, was known here all the time.
TEST_F(Cgroups, ReportsFewWhole) {
  CgroupWatch watch = open({.few_processes = 3});
  put("a/cgroup.procs", "1\n2\n3\n");
  walk(watch, everything);
  put("a/cgroup.procs", "1\n2\n");
  (void)watch.read_changes();
  put("a/cgroup.procs", "1\n2\n3\n");
  EXPECT_EQ(watch.read_changes().processes, (Pids{1, 2, 3}));
  put("a/cgroup.procs", "1\n2\n3\n4\n");
  EXPECT_EQ(watch.read_changes().processes, Pids{4});
}

TEST_F(Cgroups, ReportsNewCgroups) {
  CgroupWatch watch = open();
  walk(watch, everything);
  put("a/b/c/cgroup.procs", "7\n");
  put("a/cgroup.procs", "8\n");
  EXPECT_EQ(watch.read_changes().processes, (Pids{7, 8}));
  EXPECT_EQ(watch.watched(), 4U);
  put("a/b/c/cgroup.procs", "9\n");
  EXPECT_EQ(watch.read_changes().processes, Pids{9});
}

TEST_F(Cgroups, ReportsEmptiedAndRemovedCgroups) {
  put("a/cgroup.procs", "7\n");
  put("b/cgroup.procs", "8\n");
  put("other/cgroup.procs", "9\n");
  CgroupWatch watch = open();
  walk(watch, [](std::string_view path) { return Interest{path != "/other", path == "/"}; });
  put("a/cgroup.procs", "");
  put("other/cgroup.procs", "");
  make("new");
  auto changes = watch.read_changes();
  EXPECT_EQ(changes.emptied, Paths{"/a"});
  EXPECT_EQ(changes.processes, Pids{});
  fs::remove_all(root_ / "b");
  EXPECT_EQ(watch.read_changes().emptied, Paths{"/b"});
  EXPECT_EQ(watch.watched(), 3U);
  EXPECT_FALSE(watch.read_changes().more);
  // Made again, it is another directory.
  put("b/cgroup.procs", "10\n");
  EXPECT_EQ(watch.read_changes().processes, Pids{10});
}

TEST_F(Cgroups, WatchesOnlyWhatRulesCanMatch) {
  make("system.slice/redis.service/sub");
  make("system.slice/other.service/sub");
  make("user.slice/user-1000.slice");
  CgroupWatch watch = open();
  const auto interest = [](std::string_view path) {
    return Interest{path == "/system.slice/redis.service", path == "/" || path == "/system.slice"};
  };
  walk(watch, interest);
  EXPECT_EQ(watch.watched(), 3U);
  make("user.slice/user-1001.slice");
  make("system.slice/new.service");
  make("system.slice/redis.service/new");
  (void)watch.read_changes();
  EXPECT_EQ(watch.watched(), 3U);
  // With other rules, other cgroups.
  walk(watch, [](std::string_view path) {
    return Interest{path.starts_with("/user.slice"), path == "/" || path == "/user.slice"};
  });
  EXPECT_EQ(watch.watched(), 4U);
  walk(watch, [](std::string_view) { return Interest{}; });
  EXPECT_EQ(watch.watched(), 0U);
}

// The kernel reports that a cgroup became empty only while something keeps the inode of its
// cgroup.events: a watch, for the cgroups that rules match.
TEST_F(Cgroups, KeepsTheInodeOfCgroupEvents) {
  put("a/cgroup.events", "populated 1\n");
  put("b/cgroup.events", "populated 1\n");
  CgroupWatch watch = open();
  const auto count_watches = [&watch] {
    std::ifstream file("/proc/self/fdinfo/" + std::to_string(watch.fd()));
    size_t count = 0;
    for (std::string line; std::getline(file, line);) count += line.starts_with("inotify ");
    return count;
  };
  walk(watch, [](std::string_view path) { return Interest{path == "/a", path == "/"}; });
  EXPECT_EQ(watch.watched(), 2U);
  EXPECT_EQ(count_watches(), 3U);
  walk(watch, [](std::string_view path) { return Interest{false, path == "/"}; });
  EXPECT_EQ(count_watches(), 1U);
}

// A process that moves from a cgroup that a rule names to one of its ancestors is seen there.
TEST_F(Cgroups, ReportsMovesToAncestors) {
  put("system.slice/redis.service/cgroup.procs", "7\n8\n");
  CgroupWatch watch = open();
  walk(watch, [](std::string_view path) {
    return Interest{path == "/system.slice/redis.service", path == "/" || path == "/system.slice"};
  });
  put("cgroup.procs", "1\n8\n");
  const auto changes = watch.read_changes();
  EXPECT_EQ(changes.processes, (Pids{1, 8}));
  EXPECT_EQ(changes.emptied, Paths{});
}

// The walk holds one descriptor, however deep the tree is.
TEST_F(Cgroups, DeepTree) {
  make("a");
  nest("a", "b", 1000);
  put("z/cgroup.procs", "1\n");
  CgroupWatch watch = open({.cgroups = 2000, .cgroups_per_user = 2000});
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit few{32, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  walk(watch, everything);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(watch.watched(), 1003U);
  EXPECT_EQ(watch.skipped(), 0U);
  std::string path = "a";
  for (int i = 0; i < 1000; i++) path += "/b";
  put(path + "/cgroup.procs", "7\n");
  EXPECT_EQ(watch.read_changes().processes, Pids{7});
}

// Only the cgroups beyond PATH_MAX are skipped, and a later mkdir does not start another walk.
TEST_F(Cgroups, LongPaths) {
  make("a");
  nest("a", std::string(250, 'x'), 17);
  make("z");
  CgroupWatch watch = open();
  walk(watch, everything);
  EXPECT_EQ(watch.watched(), 3U + 16U);
  EXPECT_EQ(watch.skipped(), 1U);
  std::string longest = root_.string() + "/a";
  for (int i = 0; i < 17; i++) longest += "/" + std::string(250, 'x');
  EXPECT_EQ(watch.first_skipped()->text(), "cannot watch " + longest + ": File name too long");
  put("z/new/cgroup.procs", "7\n");
  const auto changes = watch.read_changes();
  EXPECT_EQ(changes.processes, Pids{7});
  EXPECT_FALSE(changes.lost);
  EXPECT_EQ(watch.skipped(), 1U);
}

TEST_F(Cgroups, OutOfDescriptors) {
  put("a/cgroup.procs", "1\n");
  CgroupWatch watch = open();
  walk(watch, everything);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  make("b");
  put("c/cgroup.procs", "3\n");
  put("a/cgroup.procs", "2\n");
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  auto changes = watch.read_changes();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  // The processes of `a` are unknown; `b` and `c` are skipped, each for itself.
  EXPECT_TRUE(changes.lost);
  EXPECT_EQ(changes.processes, Pids{});
  EXPECT_EQ(changes.emptied, Paths{});
  EXPECT_EQ(watch.skipped(), 2U);
  EXPECT_EQ(watch.first_skipped()->text(),
            "cannot open " + root_.string() + "/b: Too many open files");
  // The next walk retries them.
  walk(watch, everything);
  EXPECT_EQ(watch.skipped(), 0U);
  EXPECT_EQ(watch.watched(), 4U);
}

TEST_F(Cgroups, Limit) {
  for (int i = 0; i < 10; i++) make("a" + std::to_string(i));
  CgroupWatch watch = open({.cgroups = 6, .cgroups_per_user = 6});
  walk(watch, everything);
  EXPECT_EQ(watch.watched(), 6U);
  EXPECT_EQ(watch.skipped(), 5U);
  EXPECT_EQ(watch.first_skipped()->text(),
            "cannot watch " + root_.string() + "/a5: rdtd watches at most 6 cgroups");
  // The known cgroups keep their watches in each walk.
  walk(watch, everything);
  EXPECT_EQ(watch.watched(), 6U);
  EXPECT_EQ(watch.skipped(), 5U);
  // A removed cgroup makes room.
  fs::remove(root_ / "a0");
  make("b");
  EXPECT_EQ(watch.read_changes().emptied, Paths{"/a0"});
  EXPECT_EQ(watch.watched(), 6U);
  EXPECT_EQ(watch.skipped(), 5U);
}

// A user who creates many cgroups takes no watches from others.
TEST_F(Cgroups, LimitPerUser) {
  make("user");
  for (int i = 0; i < 10; i++) make("user/a" + std::to_string(i));
  give_to_user("user");
  // The test's own directory may belong to a user as well: it is charged for `user` and `z`.
  const size_t of_root = ::geteuid() == 0 ? 0 : 2;
  make("z");
  CgroupWatch watch = open({.cgroups = 100, .cgroups_per_user = 5 + of_root});
  walk(watch, everything);
  EXPECT_EQ(watch.watched(), 3U + 5U);
  EXPECT_EQ(watch.skipped(), 5U);
  EXPECT_EQ(watch.first_skipped()->text(), "cannot watch " + root_.string() +
                                               "/user/a5: rdtd watches at most " +
                                               std::to_string(5 + of_root) + " cgroups that user " +
                                               std::to_string(user()) + " created");
}

TEST_F(Cgroups, EachCallDoesLimitedWork) {
  for (int i = 0; i < 20; i++) make("a" + std::to_string(i));
  CgroupWatch watch = open({.visits_per_call = 5});
  watch.watch(everything);
  size_t calls = 0;
  for (; watch.walking(); calls++) {
    const bool more = watch.read_changes().more;
    EXPECT_EQ(more, watch.watched() < 21);
  }
  EXPECT_EQ(calls, 5U);
  // 5,000 events are more than 64 KiB.
  put("a0/cgroup.procs", "7\n");
  put("a1/cgroup.procs", "8\n");
  while (watch.read_changes().more) {}
  for (int i = 0; i < 2500; i++) {
    std::ofstream(root_ / "a0/cgroup.procs", std::ios::app) << "17\n";
    std::ofstream(root_ / "a1/cgroup.procs", std::ios::app) << "18\n";
  }
  auto changes = watch.read_changes();
  EXPECT_TRUE(changes.more);
  EXPECT_EQ(changes.processes, (Pids{17, 18}));
  for (calls = 1; changes.more; calls++) changes = watch.read_changes();
  EXPECT_LT(calls, 10U);
}

// If the kernel drops events, the next walk finds what was created and what was removed.
TEST_F(Cgroups, LostEvents) {
  put("a/cgroup.procs", "1\n");
  put("b/cgroup.procs", "1\n");
  make("old");
  CgroupWatch watch = open();
  walk(watch, everything);
  size_t queue = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> queue;
  const UniqueFd a(::open((root_ / "a/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  const UniqueFd b(::open((root_ / "b/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  for (size_t i = 0; i < queue / 2 + 1; i++) {
    ASSERT_EQ(::write(a.get(), "7\n", 2), 2);
    ASSERT_EQ(::write(b.get(), "8\n", 2), 2);
  }
  make("new");
  bool lost = false, more = true;
  while (more) {
    const auto changes = watch.read_changes();
    lost = lost || changes.lost;
    more = changes.more;
  }
  EXPECT_TRUE(lost);
  EXPECT_EQ(watch.watched(), 4U);
  walk(watch, everything);
  EXPECT_EQ(watch.watched(), 5U);
  put("new/cgroup.procs", "9\n");
  EXPECT_EQ(watch.read_changes().processes, Pids{9});
}

}  // namespace
}  // namespace rdtd
