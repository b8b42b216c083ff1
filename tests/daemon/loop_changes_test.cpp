// The loop: changes of processes and of cgroups lead to visits, lost changes to sweeps.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "loop_world.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/resctrl/ownership.hpp"

namespace rdtd {
namespace {

using std::chrono::seconds;
using test::LoopTest;
using test::redis_policy;

// Only a reload, a sweep or a visit moves a process: no timer does.
const std::string never = "[daemon]\nreconcile_interval = \"0\"\n";

class LoopChangesTest : public LoopTest {
 protected:
  [[nodiscard]] Loop::Sources changes() { return with_changes(changes_.connector(false)); }
  void hold_manually(pid_t pid) {
    ASSERT_EQ(manager->core().manual.add({.process = *processes.open(pid), .group = "default"}),
              std::nullopt);
  }
  test::EventSocket changes_, forks_;
};

// A child of a process that was moved began in its old group, and its parent may have ended since.
// Fork events name it, and show that another process has none, so nobody looks at that one again.
TEST_F(LoopChangesTest, ForkEventsNameWhomToLookAtAgain) {
  policy = redis_policy + never;
  pid_t alone = 0, parent = 0, child = 0, threads = 0, thread = 0;
  Loop::Sources sources = with_classifier();
  sources.forks.emplace(forks_.connector(false));
  const auto exec = [&] {
    for (pid_t* const pid : {&alone, &parent, &threads})
      *pid = processes.start({.name = "redis-server"});
    child = processes.fork(parent);
    thread = processes.clone(threads);
    processes.calls.reset();
    const uint64_t now = monotonic_nanoseconds();
    forks_.fork(parent, child, now);
    forks_.clone(threads, thread, now);
    for (const pid_t pid : {alone, parent, threads}) events_.exec(pid, now);
  };
  // Before the second look.
  const auto exit_parent = [&] { processes.exit(parent); };
  EXPECT_EQ(run_loop(std::move(sources), {{ready(), exec},
                                          {in_group(threads, "redis"), exit_parent},
                                          {in_group(child, "redis")},
                                          {in_group(thread, "redis")}}),
            0);
  EXPECT_EQ(group_of(alone), "redis");
  EXPECT_EQ(count_calls("open", alone), 1U);
  for (const pid_t pid : {alone, parent, threads}) EXPECT_EQ(count_calls("is_alone", pid), 0U);
}

// A process that forks a child which forks another one and ends, as daemon(3) does, before its own
// parent was moved; and one that has ended itself before it was looked at.
TEST_F(LoopChangesTest, ForkEventsLeadToTheChildrenOfThoseThatHaveEnded) {
  policy = redis_policy + never;
  pid_t parent = 0, child = 0, grandchild = 0, gone = 0, orphan = 0;
  Loop::Sources sources = with_classifier();
  sources.forks.emplace(forks_.connector(false));
  const auto exec = [&] {
    for (pid_t* const pid : {&parent, &gone}) *pid = processes.start({.name = "redis-server"});
    child = processes.fork(parent);
    grandchild = processes.fork(child);
    orphan = processes.fork(gone);
    const uint64_t now = monotonic_nanoseconds();
    forks_.fork(parent, child, now);
    forks_.fork(child, grandchild, now + 1000);
    forks_.fork(gone, orphan, now);
    for (const pid_t pid : {child, gone}) processes.exit(pid);
    for (const pid_t pid : {gone, parent}) events_.exec(pid, now);
  };
  EXPECT_EQ(run_loop(std::move(sources), {{ready(), exec},
                                          {in_group(parent, "redis")},
                                          {in_group(grandchild, "redis")},
                                          {in_group(orphan, "redis")}}),
            0);
}

// Nobody reads fork events while nothing is moved, so the first second look may find the buffer
// full. It is emptied for the next ones, although that helps this one nothing.
TEST_F(LoopChangesTest, AFullBufferOfForkEventsIsEmptied) {
  policy = redis_policy + never;
  pid_t redis = 0;
  uint32_t left = 1;
  Loop::Sources sources = with_classifier();
  test::OverrunSocket overrun;
  sources.forks.emplace(overrun.connector(false));
  const auto exec = [&] {
    overrun.overrun();
    redis = processes.start({.name = "redis-server"});
    events_.exec(redis, monotonic_nanoseconds());
  };
  const auto looked_at = [&] { return count_calls("is_alone", redis) > 0; };
  EXPECT_EQ(run_loop(std::move(sources),
                     {{ready(), exec}, {looked_at, [&] { left = overrun.waiting(); }}}),
            0);
  EXPECT_EQ(left, 0U);
}

// Without them, each process that was moved is looked at.
TEST_F(LoopChangesTest, WithoutForkEventsEachIsLookedAtAgain) {
  policy = redis_policy + never;
  pid_t parent = 0, child = 0;
  const auto exec = [&] {
    parent = processes.start({.name = "redis-server"});
    child = processes.fork(parent);
    processes.calls.reset();
    events_.exec(parent, monotonic_nanoseconds());
  };
  EXPECT_EQ(run_loop(with_classifier(), {{ready(), exec}, {in_group(child, "redis")}}), 0);
  EXPECT_EQ(count_calls("is_alone", parent), 1U);
}

TEST_F(LoopChangesTest, ARenamedProcessIsVisited) {
  policy = redis_policy + never;
  const pid_t other = processes.start({.name = "bash"});
  const pid_t thread = processes.clone(other, "bash");
  const pid_t redis = processes.start({.name = "bash"});
  const auto rename = [&] {
    processes.calls.reset();
    processes.rename(thread, "redis-thread");
    changes_.comm(thread, other);  // no rule is about threads
    processes.rename(redis, "redis-server");
    changes_.comm(redis, redis);
  };
  EXPECT_EQ(run_loop(changes(), {{ready(), rename}, {in_group(redis, "redis")}}), 0);
  EXPECT_EQ(count_calls("open", other), 0U);
  EXPECT_EQ(group_of(thread), "default");
}

TEST_F(LoopChangesTest, ARenamedThreadIsVisitedIfARuleIsAboutThreads) {
  policy = "[group.io]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"io\"\nthread = \"io-*\"\n" + never;
  const pid_t bash = processes.start({.name = "bash"});
  const pid_t thread = processes.clone(bash, "bash");
  const pid_t silent = processes.clone(bash, "bash");
  const auto rename = [&] {
    processes.rename(silent, "io-2");
    processes.rename(thread, "io-1");
    changes_.comm(thread, bash);
  };
  EXPECT_EQ(run_loop(changes(), {{ready(), rename}, {in_group(thread, "io")}}), 0);
  EXPECT_EQ(group_of(silent), "default");
  EXPECT_EQ(group_of(bash), "default");
}

TEST_F(LoopChangesTest, AProcessThatChangesItsUserIsVisited) {
  users["redis"] = 7;
  policy =
      "[group.redis]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"redis\"\nuser = \"redis\"\n" + never;
  const pid_t redis = processes.start();
  const auto change = [&] {
    processes.find(redis)->program.identity.uid = 7;
    changes_.uid(redis);
  };
  EXPECT_EQ(run_loop(changes(), {{ready(), change}, {in_group(redis, "redis")}}), 0);
}

// It stays where it was put, and the record follows its name.
TEST_F(LoopChangesTest, ARenameDoesNotEndAManualAssignment) {
  policy = redis_policy + never;
  const pid_t held = processes.start({.name = "bash"});
  const pid_t redis = processes.start({.name = "bash"});
  const auto rename = [&] {
    hold_manually(held);
    for (const pid_t pid : {held, redis}) {
      processes.rename(pid, "redis-server");
      changes_.comm(pid, pid);
    }
  };
  EXPECT_EQ(run_loop(changes(), {{ready(), rename}, {in_group(redis, "redis")}}), 0);
  EXPECT_EQ(group_of(held), "default");
  manager->store();
  EXPECT_TRUE(Directory::open(root_.string())->read(manual_record)->ends_with(" redis-server\n"));
}

TEST_F(LoopChangesTest, WithoutRulesNobodyIsVisited) {
  policy = never;
  const pid_t bash = processes.start({.name = "bash"});
  const pid_t held = processes.start({.name = "bash"});
  const pid_t last = processes.start({.name = "bash"});
  const auto change = [&] {
    hold_manually(held);
    processes.calls.reset();
    changes_.uid(bash);
    changes_.comm(bash, bash);
    changes_.comm(held, held);
  };
  // Once the last event was read, and the visits so far were made.
  const auto renamed = [&] { return count_calls("read_name", held) > 1; };
  EXPECT_EQ(run_loop(changes(), {{ready(), change},
                                 {renamed, [&] { manager->core().sweeper.visit({.pid = last}); }},
                                 {[&] { return count_calls("open", last) > 0; }}}),
            0);
  EXPECT_EQ(count_calls("open", bash), 0U);
}

// A storm of lost changes costs one look at all processes a second at most, and one line of the log
// a minute.
TEST_F(LoopChangesTest, LostChangesLeadToFewSweeps) {
  policy = redis_policy + never;
  std::vector<std::chrono::steady_clock::time_point> sweeps;
  test::OverrunSocket overrun;
  pid_t redis = 0;
  const auto lose = [&] {
    processes.calls.hook = [&](const fake::Call& call) {
      if (call.operation == "list") sweeps.push_back(std::chrono::steady_clock::now());
    };
    // The pass that moves nobody is the only one of its sweep.
    overrun.overrun();
  };
  const auto lose_again = [&] {
    redis = processes.start({.name = "redis-server"});
    overrun.overrun();
  };
  EXPECT_EQ(run_loop(with_changes(overrun.connector(false)),
                     {{ready(), lose}, {[&] { return !sweeps.empty(); }, lose_again}, {[&] {
                        overrun.overrun();
                        return group_of(redis) == "redis";
                      }}}),
            0);
  processes.calls.hook = nullptr;
  ASSERT_GE(sweeps.size(), 2U);
  EXPECT_GE(sweeps[1] - sweeps[0], seconds(1));
  const std::string log = log_.str();
  const size_t first = log.find("warning: the kernel dropped ");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(log.find("warning: the kernel dropped ", first + 1), std::string::npos);
}

TEST_F(LoopChangesTest, AFailingSocketOfChangesLeadsToASweep) {
  policy = redis_policy + never;
  pid_t redis = 0;
  // The socket fails from the beginning: this comes after its first sweep.
  const auto start_redis = [&] { redis = processes.start({.name = "redis-server"}); };
  EXPECT_EQ(run_loop(with_changes(test::broken_connector()),
                     {{ready(), start_redis}, {in_group(redis, "redis")}}),
            0);
}

TEST_F(LoopChangesTest, TooManyVisitsLeadToASweep) {
  policy = redis_policy + never;
  pid_t redis = 0;
  const auto overflow = [&] {
    manager->core().sweeper.visit({.pid = 99'999});
    for (pid_t pid = 100'000; pid < 100'000 + 65'535; pid++)
      manager->core().sweeper.visit({.pid = pid}, std::chrono::hours(1));
    redis = processes.start({.name = "redis-server"});
    manager->core().sweeper.visit({.pid = redis});
  };
  EXPECT_EQ(run_loop({}, {{ready(), overflow}, {in_group(redis, "redis")}}), 0);
}

// The runtime writes the name of a container when the process has been looked at already.
class LoopContainersTest : public LoopTest {
 protected:
  void SetUp() override {
    LoopTest::SetUp();
    containers = *proc::Containers::make(*Directory::open(root_.string()));
    policy =
        "[group.one]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"one\"\ncontainer = \"web\"\n" + never;
  }
  [[nodiscard]] Loop::Sources sources() const {
    Loop::Sources out;
    out.containers = containers;
    return out;
  }
  void name(pid_t pid, const std::string& file) {
    processes.find(pid)->program.container = {.pod = "", .container = "web"};
    put("var/lib/docker/containers/" + id + "/config.v2.json", file);
  }

  const std::string id = std::string(64, 'a');
  const std::string cgroup = "/system.slice/docker-" + id + ".scope";
  std::shared_ptr<proc::Containers> containers;
};

TEST_F(LoopContainersTest, ANameThatComesLateLeadsToASweep) {
  const pid_t pid = processes.start({.cgroup = cgroup});
  // A file that cannot be read tells when the first search has ended.
  const auto ask = [&] {
    put("var/lib/docker/containers/" + std::string(64, 'b') + "/config.v2.json", "{");
    (void)containers->names_of(cgroup);
  };
  const auto not_found = [&] { return !problems().empty(); };
  EXPECT_EQ(run_loop(sources(), {{ready(), ask},
                                 {not_found, [&] { name(pid, R"({"Name":"/web"})"); }},
                                 {in_group(pid, "one")}}),
            0);
}

TEST_F(LoopContainersTest, FilesThatCannotBeReadAreAProblem) {
  const pid_t pid = processes.start({.cgroup = cgroup});
  const auto ask = [&] {
    name(pid, R"({"Name":"/we)");
    (void)containers->names_of(cgroup);
  };
  const std::string text = "names of containers cannot be read: cannot parse " + root_.string() +
                           "/var/lib/docker/containers/" + id +
                           "/config.v2.json: Bad message (it is not JSON)";
  const auto reported = [&] { return std::ranges::count(problems(), text) > 0; };
  EXPECT_EQ(run_loop(sources(), {{ready(), ask},
                                 {reported, [&] { name(pid, R"({"Name":"/web"})"); }},
                                 {in_group(pid, "one")},
                                 {[&] { return !reported(); }}}),
            0);
}

// The loop does not wait for a slow disk, and takes what the reader has found when it has.
TEST_F(LoopContainersTest, AReaderThatIsLate) {
  const pid_t pid = processes.start({.cgroup = cgroup});
  const fs::path file = root_ / "var/lib/docker/containers" / id / "config.v2.json";
  fs::create_directories(file.parent_path());
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  const auto ask = [&] { (void)containers->names_of(cgroup); };
  // Its open fails until the reader has opened the other end, and waits.
  UniqueFd end;
  const auto waits = [&] {
    end = UniqueFd(::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    return static_cast<bool>(end);
  };
  const auto visit = [&] { manager->core().sweeper.visit({.pid = pid}); };
  const auto answer = [&] {
    const std::string text = R"({"Name":"/web"})";
    processes.find(pid)->program.container = {.pod = "", .container = "web"};
    fs::remove(file);  // the next time, it is an ordinary one
    name(pid, text);
    EXPECT_EQ(::write(end.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    end = {};
  };
  const auto visited = [&] { return count_calls("open", pid) > 1; };
  EXPECT_EQ(run_loop(sources(),
                     {{ready(), ask}, {waits, visit}, {visited, answer}, {in_group(pid, "one")}}),
            0);
}

// Storage may not answer at all.
TEST_F(LoopContainersTest, AReaderThatWaitsForLongIsAProblem) {
  const pid_t pid = processes.start({.cgroup = cgroup});
  const fs::path file = root_ / "var/lib/docker/containers" / id / "config.v2.json";
  fs::create_directories(file.parent_path());
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  const auto ask = [&] { (void)containers->names_of(cgroup); };
  const auto reported = [&] {
    return std::ranges::count(problems(),
                              "names of containers cannot be read: their files do not answer") > 0;
  };
  const auto answer = [&] {
    const UniqueFd end(::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(end);
    fs::remove(file);
    name(pid, R"({"Name":"/web"})");
  };
  EXPECT_EQ(run_loop(sources(), {{ready(), ask}, {reported, answer}, {in_group(pid, "one")}, {[&] {
                                   return !reported();
                                 }}}),
            0);
}

// On a tree of ordinary directories: inotify reports changes in it as it does for cgroups.
class LoopCgroupsTest : public LoopTest {
 protected:
  void SetUp() override {
    LoopTest::SetUp();
    // A watch is set through /proc/self/fd. A chroot that builds a package may have no /proc.
    if (!fs::exists("/proc/self")) GTEST_SKIP() << "/proc is not mounted";
    for (const char* cgroup : {"a", "b", "c"})
      put(std::string("cgroup/") + cgroup + "/cgroup.procs", "");
    policy = policy_for("a", "b");
  }
  [[nodiscard]] Loop::Sources cgroups(CgroupLimits limits = {}) const {
    auto watch = CgroupWatch::open(*Directory::open((root_ / "cgroup").string()), limits);
    EXPECT_TRUE(watch) << watch.error().text();
    Loop::Sources out;
    out.cgroups = std::make_unique<CgroupWatch>(std::move(*watch));
    return out;
  }
  static std::string policy_for(const std::string& first, const std::string& second) {
    return "[group.one]\nl3 = \"4 ways\"\n[group.two]\nl3 = \"2 ways\"\n"
           "[[rule]]\ngroup = \"one\"\ncgroup = \"/" +
           first + "\"\n[[rule]]\ngroup = \"two\"\ncgroup = \"/" + second + "\"\n" + never;
  }
  // The kernel writes nothing to cgroup.procs of the old one unless it is empty then.
  void move_silently(pid_t pid, const std::string& cgroup) {
    processes.find(pid)->program.cgroup = "/" + cgroup;
  }
  void move(pid_t pid, const std::string& cgroup) {
    move_silently(pid, cgroup);
    put("cgroup/" + cgroup + "/cgroup.procs", std::to_string(pid) + "\n");
  }
};

TEST_F(LoopCgroupsTest, AProcessThatMovesIsVisited) {
  const pid_t moving = processes.start();
  const pid_t other = processes.start();
  const auto move_to_a = [&] {
    move_silently(other, "a");
    move(moving, "a");
  };
  EXPECT_EQ(run_loop(cgroups(), {{ready(), move_to_a},
                                 {in_group(moving, "one"), [&] { move(moving, "b"); }},
                                 {in_group(moving, "two")}}),
            0);
  EXPECT_EQ(group_of(other), "default");
}

// A unit may divide its cgroup, and all below it is the unit's.
TEST_F(LoopCgroupsTest, AMoveBelowAUnitIsNoticed) {
  put("cgroup/system.slice/a.service/worker/cgroup.procs", "");
  for (const char* above : {"system.slice/", "system.slice/a.service/"})
    put(std::string("cgroup/") + above + "cgroup.procs", "");
  policy =
      "[group.one]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"one\"\nunit = \"a.service\"\n" + never;
  const pid_t moving = processes.start();
  EXPECT_EQ(run_loop(cgroups(), {{ready(), [&] { move(moving, "system.slice/a.service/worker"); }},
                                 {in_group(moving, "one")}}),
            0);
}

// Any user can cause it, so it is no problem of the daemon's.
TEST_F(LoopCgroupsTest, ACgroupThatIsNotWatchedIsLoggedOnce) {
  const std::string text = "warning: cannot watch " + (root_ / "cgroup").string() +
                           "/b: rdtd watches at most 2 cgroups; moves into such cgroups are "
                           "noticed at the next reconcile\n";
  const auto reload_rules = [&] {
    notifications_.clear();
    ::raise(SIGHUP);
  };
  const pid_t moving = processes.start();
  EXPECT_EQ(run_loop(cgroups({.cgroups = 2}), {{logged(text)},
                                               {ready(), reload_rules},
                                               {ready(), [&] { move(moving, "a"); }},
                                               {in_group(moving, "one")}}),
            0);
  EXPECT_EQ(log_.str().find(text), log_.str().rfind(text));
  EXPECT_EQ(problems(), std::vector<std::string>{"the kernel sends no process events"});
}

TEST_F(LoopCgroupsTest, AReloadWatchesTheCgroupsOfTheNewRules) {
  const pid_t moving = processes.start();
  const auto reload_rules = [&] {
    policy = policy_for("b", "c");
    notifications_.clear();
    ::raise(SIGHUP);
  };
  EXPECT_EQ(run_loop(cgroups(), {{ready(), reload_rules},
                                 {ready(), [&] { move(moving, "c"); }},
                                 {in_group(moving, "two")}}),
            0);
}

// Its last process may have moved to another one.
TEST_F(LoopCgroupsTest, ACgroupThatBecomesEmptyLeadsToASweep) {
  const pid_t moving = processes.start({.cgroup = "/a"});
  const auto leave = [&] {
    move_silently(moving, "b");
    put("cgroup/a/cgroup.procs", "");
  };
  EXPECT_EQ(
      run_loop(cgroups(), {{ready()}, {in_group(moving, "one"), leave}, {in_group(moving, "two")}}),
      0);
}

// A cgroup whose creation was not reported is found by the walk.
TEST_F(LoopCgroupsTest, LostChangesOfCgroupsLeadToASweepAndAnotherWalk) {
  size_t queue = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> queue;
  fs::remove_all(root_ / "cgroup/b");
  put("cgroup/cgroup.procs", "");
  const pid_t silent = processes.start();
  const pid_t moving = processes.start();
  const auto lose = [&] {
    // The same event twice in a row counts as one.
    const UniqueFd a(::open((root_ / "cgroup/a/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    const UniqueFd root(::open((root_ / "cgroup/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    for (size_t i = 0; i < queue / 2 + 1; i++)
      for (const UniqueFd* file : {&a, &root}) ASSERT_EQ(::write(file->get(), "7\n", 2), 2);
    fs::create_directories(root_ / "cgroup/b");
    move_silently(silent, "a");
  };
  EXPECT_EQ(run_loop(cgroups(), {{ready(), lose},
                                 {in_group(silent, "one"), [&] { move(moving, "b"); }},
                                 {in_group(moving, "two")}}),
            0);
}

}  // namespace
}  // namespace rdtd
