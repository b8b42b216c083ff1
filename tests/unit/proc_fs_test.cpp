// ProcFs, on the processes of this test and on a tree of files that looks like /proc.
#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <thread>

#include "files.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/proc/parse.hpp"
#include "rdtd/proc/proc_fs.hpp"

namespace rdtd::proc {
namespace {

// A child that waits until it is ended, or for some minutes if this test is killed before that.
// Spawned, since a fork copies the page tables of this process: slow with AddressSanitizer.
class Child {
 public:
  Child() {
    std::string name = "sleep", time = "300";
    char* arguments[] = {name.data(), time.data(), nullptr};
    if (::posix_spawnp(&pid_, "sleep", nullptr, nullptr, arguments, environ) != 0) pid_ = 0;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  void end() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    pid_ = 0;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

// A chroot that builds a package may have no /proc.
bool proc_mounted() { return fs::exists("/proc/self"); }

// The owner of a command line is in it.
const std::string status_text =
    "Name:\tx\nTgid:\t7\nPPid:\t1\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n";
// A busy machine must not make a command line look held up.
constexpr std::chrono::minutes patience{1};

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::ranges::find(pids, pid) != pids.end();
}

TEST(ProcFs, ThisProcess) {
  if (!proc_mounted()) GTEST_SKIP() << "/proc is not mounted";
  const ProcFs proc(*Directory::open("/proc"), patience);
  const auto process = proc.open(::getpid());
  ASSERT_TRUE(process) << process.error().text();
  const Process& self = **process;
  EXPECT_EQ(self.pid(), ::getpid());
  EXPECT_EQ(self.read_name(), "rdtd-tests");
  EXPECT_EQ(self.thread_count(), 1U);
  EXPECT_EQ(self.threads(), std::vector{::getpid()});
  EXPECT_EQ(self.read_thread_name(::getpid()), "rdtd-tests");
  EXPECT_EQ(proc.process_of(::getpid()), ::getpid());
  EXPECT_EQ(self.read_status()->parent, ::getppid());
  EXPECT_EQ(self.owner(), ::geteuid());
  EXPECT_GT(self.read_start_time().value_or(0), 0U);
  EXPECT_TRUE(contains(proc.list().value(), ::getpid()));
  ProcessFacts facts;
  for (const Fact fact : all_facts) EXPECT_TRUE(self.read(fact, facts)) << static_cast<int>(fact);
  EXPECT_EQ(facts.name, "rdtd-tests");
  EXPECT_EQ(facts.exe, fs::read_symlink("/proc/self/exe").string());
  EXPECT_TRUE(facts.cmdline->find("rdtd-tests") != std::string::npos);
  EXPECT_TRUE(facts.cgroup->starts_with('/'));
  EXPECT_EQ(facts.identity->uid, ::geteuid());
  EXPECT_EQ(facts.identity->gid, ::getegid());
}

TEST(ProcFs, EveryAnswerOfAnEndedProcessIsAnError) {
  if (!proc_mounted()) GTEST_SKIP() << "/proc is not mounted";
  const ProcFs proc(*Directory::open("/proc"));
  Child child;
  const auto process = proc.open(child.pid());
  ASSERT_TRUE(process);
  const Process& ended_process = **process;
  child.end();
  const auto is_ended = [](const auto& result) { return !result && ended(result.error()); };
  EXPECT_TRUE(is_ended(ended_process.read_name()));
  EXPECT_TRUE(is_ended(ended_process.threads()));
  EXPECT_TRUE(is_ended(ended_process.read_thread_name(ended_process.pid())));
  EXPECT_TRUE(is_ended(ended_process.read_thread_group(ended_process.pid())));
  EXPECT_TRUE(is_ended(ended_process.read_status()));
  EXPECT_TRUE(is_ended(ended_process.owner()));
  EXPECT_TRUE(is_ended(ended_process.read_start_time()));
  EXPECT_TRUE(is_ended(ended_process.children(std::vector{ended_process.pid()})));
  EXPECT_EQ(ended_process.thread_count(), 0U);
  ProcessFacts facts;
  for (const Fact fact : all_facts) {
    EXPECT_TRUE(is_ended(ended_process.read(fact, facts))) << static_cast<int>(fact);
    EXPECT_FALSE(facts.has(fact));
  }
  EXPECT_TRUE(is_ended(proc.open(ended_process.pid())));
}

// The pid of a process that has ended may be that of another by the time a file is opened. Here the
// "other process" is a tree of files under the pid, while `comm` fails as that of an ended process
// does.
TEST_F(Files, ProcFsReadsNoOtherProcess) {
  put("7/status", "Tgid:\t7\nPPid:\t1\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n");
  put("7/cgroup", "0::/other\n");
  fs::create_directories(root_ / "7/task/7");
  fs::create_directory(root_ / "7/comm");  // opens, but a read fails with EISDIR
  const ProcFs proc(*Directory::open(root_.string()));
  const auto process = proc.open(7);
  ASSERT_TRUE(process);
  ProcessFacts facts;
  EXPECT_EQ((*process)->read(Fact::cgroup, facts).error().code, EISDIR);
  EXPECT_FALSE(facts.cgroup);
  EXPECT_EQ((*process)->read_status().error().code, EISDIR);
  EXPECT_EQ((*process)->threads().error().code, EISDIR);
  EXPECT_EQ((*process)->thread_count(), SIZE_MAX);
}

// Running out of descriptors is not the end of a process.
TEST(ProcFs, OtherFailuresKeepTheirErrno) {
  if (!proc_mounted()) GTEST_SKIP() << "/proc is not mounted";
  const ProcFs proc(*Directory::open("/proc"));
  const auto process = proc.open(::getpid());
  ASSERT_TRUE(process);
  // Before the descriptors run out: UBSan opens a pipe to check an object of a type that is new.
  EXPECT_GE((*process)->thread_count(), 1U);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto opened = proc.open(::getpid());
  const auto listed = proc.list();
  const auto threads = (*process)->threads();
  const auto children = (*process)->children(std::vector{::getpid()});
  const auto parent = (*process)->read_status();
  const auto group = (*process)->read_thread_group(::getpid());
  ProcessFacts facts;
  const auto fact = (*process)->read(Fact::cgroup, facts);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(opened.error().text(),
            "cannot open /proc/" + std::to_string(::getpid()) + "/comm: Too many open files");
  EXPECT_FALSE(ended(opened.error()));
  EXPECT_EQ(listed.error().code, EMFILE);
  EXPECT_EQ(threads.error().code, EMFILE);
  EXPECT_EQ(children.error().code, EMFILE);
  EXPECT_EQ(parent.error().code, EMFILE);
  EXPECT_EQ(group.error().code, EMFILE);
  EXPECT_EQ(fact.error().code, EMFILE);
  EXPECT_FALSE(facts.cgroup);
}

// A read of `children` returns at most a page of pids: about 600.
TEST(ProcFs, MoreChildrenThanAPage) {
  if (!proc_mounted()) GTEST_SKIP() << "/proc is not mounted";
  const ProcFs proc(*Directory::open("/proc"));
  std::vector<pid_t> expected;
  {
    const std::vector<Child> children(1500);
    for (const Child& child : children) expected.push_back(child.pid());
    auto found = (*proc.open(::getpid()))->children(std::vector{::getpid()});
    ASSERT_TRUE(found);
    std::ranges::sort(*found);
    std::ranges::sort(expected);
    EXPECT_EQ(*found, expected);
  }
}

TEST(ProcFs, ChildrenAndNamesOfAllThreads) {
  if (!proc_mounted()) GTEST_SKIP() << "/proc is not mounted";
  const ProcFs proc(*Directory::open("/proc"));
  pid_t tid = 0, pid = 0;
  std::latch started(1), done(1);
  std::thread thread([&] {
    ::pthread_setname_np(::pthread_self(), "other thread");
    tid = static_cast<pid_t>(::syscall(SYS_gettid));
    const Child child;
    pid = child.pid();
    started.count_down();
    done.wait();
  });
  started.wait();
  const auto process = proc.open(::getpid());
  const auto threads = (*process)->threads();
  const auto children = (*process)->children(*threads);
  const auto name = (*process)->read_thread_name(tid);
  const size_t count = (*process)->thread_count();
  const auto leader = proc.process_of(tid);
  const auto absent = (*process)->read_thread_name(1);
  done.count_down();
  thread.join();
  EXPECT_EQ(children, std::vector{pid});
  EXPECT_TRUE(contains(*threads, tid));
  EXPECT_EQ(name, "other thread");
  // Threads of tests before may not have ended yet.
  EXPECT_EQ(count, threads->size());
  EXPECT_GE(count, 2U);
  EXPECT_EQ(leader, ::getpid());
  EXPECT_TRUE(ended(absent.error()));
}

TEST_F(Files, ProcFsFacts) {
  put("7/comm", "worker\n");
  put("7/status", status_text);
  put("7/cgroup", "0::/system.slice/a.service\n");
  put("7/cmdline", std::string("/bin/worker\0-x\0\0", 16));
  put("7/task/7/cpu_resctrl_groups", "res:redis\nmon:x\n");
  put("7/task/8/cpu_resctrl_groups", "res:\nmon:\n");
  put("7/task/9/comm", "no resctrl in this kernel\n");
  fs::create_symlink("/bin/worker (deleted)", root_ / "7/exe");
  const ProcFs proc(*Directory::open(root_.string()), patience);
  const auto process = proc.open(7);
  ASSERT_TRUE(process);
  ProcessFacts facts;
  for (const Fact fact : {Fact::name, Fact::exe, Fact::cgroup, Fact::cmdline})
    EXPECT_TRUE((*process)->read(fact, facts));
  EXPECT_EQ(facts.name, "worker");
  EXPECT_EQ(facts.exe, "/bin/worker");
  EXPECT_EQ(facts.cgroup, "/system.slice/a.service");
  EXPECT_EQ(facts.cmdline, "/bin/worker -x");
  EXPECT_EQ((*process)->read_thread_group(7), "redis/mon_groups/x");
  EXPECT_EQ((*process)->read_thread_group(8).error().code, ENOTSUP);
  EXPECT_EQ((*process)->read_thread_group(9).error().code, ENOTSUP);
  EXPECT_EQ((*process)->read_thread_group(10).error().code, ENOENT);
}

// The kernel shows no program and no arguments of a thread that has ended, and the ids that it had.
TEST_F(Files, ProcFsAfterTheFirstThread) {
  put("7/comm", "hog\n");
  put("7/status", "Name:\thog\nState:\tZ (zombie)\nTgid:\t7\nPPid:\t1\nUid:\t0\t0\nGid:\t0\t0\n");
  put("7/cmdline", "");
  put("7/task/7/comm", "hog\n");
  put("7/task/9/status",
      "Name:\thog\nState:\tS (sleeping)\nTgid:\t7\nPPid:\t1\nUid:\t5\t5\nGid:\t6\t6\n");
  put("7/task/9/cmdline", std::string("/bin/hog\0-x\0", 12));
  fs::create_symlink("/bin/hog", root_ / "7/task/9/exe");
  const ProcFs proc(*Directory::open(root_.string()), patience);
  const auto process = proc.open(7);
  ProcessFacts facts;
  for (const Fact fact : {Fact::exe, Fact::cmdline, Fact::identity})
    EXPECT_TRUE((*process)->read(fact, facts));
  EXPECT_EQ(facts.exe, "/bin/hog");
  EXPECT_EQ(facts.cmdline, "/bin/hog -x");
  EXPECT_EQ(facts.identity->uid, 5U);
  EXPECT_EQ(facts.identity->gid, 6U);
  // A whole process that has ended has neither.
  fs::remove_all(root_ / "7/task");
  EXPECT_TRUE((*process)->read(Fact::exe, facts));
  EXPECT_TRUE((*process)->read(Fact::cmdline, facts));
  EXPECT_EQ(facts.exe, "");
  EXPECT_EQ(facts.cmdline, "");
}

TEST(ProcFs, AfterTheFirstThread) {
  if (!proc_mounted()) GTEST_SKIP() << "/proc is not mounted";
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::thread([] { ::pause(); }).detach();
    ::syscall(SYS_exit, 0);  // of this thread alone
  }
  ASSERT_GT(pid, 0);
  const ProcFs proc(*Directory::open("/proc"), patience);
  const auto process = proc.open(pid), self = proc.open(::getpid());
  ASSERT_TRUE(process);
  const auto until = std::chrono::steady_clock::now() + patience;
  const auto folder = Directory::open("/proc/" + std::to_string(pid));
  ASSERT_TRUE(folder);
  while (!first_thread_ended(folder->read("status").value_or("")) &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ProcessFacts facts, own;
  for (const Fact fact : {Fact::exe, Fact::cmdline, Fact::identity}) {
    EXPECT_TRUE((*process)->read(fact, facts));
    EXPECT_TRUE((*self)->read(fact, own));
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(facts.exe, own.exe);
  EXPECT_EQ(facts.cmdline, own.cmdline);
  EXPECT_EQ(facts.identity->uid, own.identity->uid);
}

// The kernel prints all of 65536 supplementary groups in `status`: it is not read for an ordinary
// user, and for root's not all the time.
TEST_F(Files, ProcFsAsksTheDirectoryForTheUser) {
  put("7/comm", "worker\n");
  put("7/cmdline", "worker");
  if (::chown((root_ / "7").c_str(), 1000, 1001) != 0) GTEST_SKIP() << "only root gives files away";
  const ProcFs proc(*Directory::open(root_.string()), patience);
  const auto process = proc.open(7);
  ProcessFacts facts;
  EXPECT_EQ((*process)->owner(), 1000U);
  EXPECT_TRUE((*process)->read(Fact::identity, facts));
  EXPECT_TRUE((*process)->read(Fact::cmdline, facts));
  EXPECT_EQ(facts.identity->uid, 1000U);
  EXPECT_EQ(facts.identity->gid, 1001U);
  EXPECT_EQ(facts.identity->responsible(), 1000U);
  ASSERT_EQ(::chown((root_ / "7").c_str(), 0, 0), 0);
  put("7/status", "Tgid:\t7\nPPid:\t1\nUid:\t1000\t0\nGid:\t1000\t0\n");
  EXPECT_EQ((*process)->owner(), 0U);
  EXPECT_TRUE((*process)->read(Fact::identity, facts));
  EXPECT_EQ(facts.identity->responsible(), 1000U);
}

TEST(ProcFs, LengthyReadsOfStatusPause) {
  using std::chrono::milliseconds;
  StatusPace pace;
  pace.took(milliseconds(3));
  EXPECT_TRUE(pace.may_read());
  pace.took(std::chrono::hours(1));
  EXPECT_FALSE(pace.may_read());
  const auto before = thread_cpu_time();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_LT(thread_cpu_time() - before, milliseconds(20));
}

TEST_F(Files, ProcFsWithoutAFact) {
  put("7/comm", "kworker\n");
  put("7/cmdline", "");
  put("7/status", "Name:\tkworker\n");
  put("7/stat", "7 (kworker) S\n");
  const ProcFs proc(*Directory::open(root_.string()), patience);
  const auto process = proc.open(7);
  ProcessFacts facts;
  EXPECT_TRUE((*process)->read(Fact::exe, facts));
  EXPECT_EQ(facts.exe, "");
  EXPECT_EQ((*process)->read(Fact::cmdline, facts).error().code, EBADMSG);
  EXPECT_EQ((*process)->read(Fact::identity, facts).error().text(),
            "cannot parse " + root_.string() + "/7/status: Bad message");
  EXPECT_EQ((*process)->read_start_time().error().text(),
            "cannot parse " + root_.string() + "/7/stat: Bad message");
  put("7/status", status_text);
  EXPECT_TRUE((*process)->read(Fact::cmdline, facts));
  EXPECT_EQ(facts.cmdline, "");
}

// Users choose the length of a path and of a command line.
TEST_F(Files, ProcFsLongFacts) {
  put("7/comm", "long\n");
  put("7/status", status_text);
  put("7/cmdline", std::string(1 << 20, 'x'));
  put("7/cgroup", "0::/" + std::string(20000, 'y') + "\n");
  const ProcFs proc(*Directory::open(root_.string()), patience);
  const auto process = proc.open(7);
  ProcessFacts facts;
  EXPECT_TRUE((*process)->read(Fact::cmdline, facts));
  EXPECT_EQ(facts.cmdline, std::string(65536, 'x'));
  EXPECT_TRUE((*process)->read(Fact::cgroup, facts));
  EXPECT_EQ(facts.cgroup, "/" + std::string(20000, 'y'));
}

}  // namespace
}  // namespace rdtd::proc
