#include "measured_process.hpp"

#include <fmt/format.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <new>

#include "context.hpp"
#include "print.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/bus/client.hpp"
#include "rdtd/proc/perf_events.hpp"

namespace rdtd {

namespace {

constexpr int exit_not_executed = 126;  // as of env(1)

double seconds_of(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

[[noreturn]] void leave(const std::string& text) {
  note("rdtctl: {}\n", text);
  ::_exit(exit_not_executed);
}

}  // namespace

void Process::Unmap::operator()(Shared* shared) const { (void)::munmap(shared, sizeof *shared); }

Result<Process> Process::start(const Program& program) {
  Process out;
  out.output_ = UniqueFd(::memfd_create("rdtctl-bench", MFD_CLOEXEC));
  if (!out.output_) return errno_error("create", "a file for the command's output");
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno_error("allocate", "memory");
  out.shared_.reset(new (memory) Shared);
  int sockets[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sockets) < 0)
    return errno_error("create", "a socket");
  out.counters_ = UniqueFd(sockets[0]);
  out.counters_of_child_ = UniqueFd(sockets[1]);
  const pid_t parent = ::getpid();
  ArgumentVector command(program.command);
  out.pid_ = ::fork();
  if (out.pid_ < 0) return errno_error("start", "a process");
  if (out.pid_ == 0) out.begin(program, command, parent);
  out.pidfd_ =
      UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, out.pid_, 0)));  // always with O_CLOEXEC
  if (!out.pidfd_) return errno_error("watch", fmt::format("process {}", out.pid_));
  return out;
}

void Process::begin(const Program& program, ArgumentVector& command, pid_t parent) {
  // A session of its own has no terminal, which would stop a program that reads from it.
  (void)::setsid();
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(exit_not_executed);  // it ended before the line above
  // A run must not take the input of the next one.
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  (void)::dup2(nothing.get(), STDIN_FILENO);
  (void)::dup2(program.keeps_output ? output_.get() : nothing.get(), STDOUT_FILENO);
  (void)::dup2(output_.get(), STDERR_FILENO);
  sigset_t none;
  (void)::sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
  // One that went offline: without an error it would run anywhere.
  if (const auto pinned = experiment::pin(program.cpus); !pinned) leave(pinned.error().text());
  {
    auto client = Client::connect();
    const auto assigned =
        client ? client->assign(::getpid(), program.group) : std::unexpected(client.error());
    if (!assigned) leave(assigned.error().text);
  }
  if (program.counted)
    PerfEvents::send(counters_of_child_.get(), PerfEvents::open(hardware_events()));
  rusage usage{};
  (void)::getrusage(RUSAGE_SELF, &usage);
  shared_->cpu_before = static_cast<uint64_t>(seconds_of(usage) * 1e9);
  shared_->started = monotonic_nanoseconds();
  if (program.command.empty()) {
    const Error error = program.built_in(*shared_);
    if (!error.operation.empty()) leave(error.text());
    ::_exit(0);
  }
  const int error = command.execute();
  leave(command.failure(error));
}

Process::~Process() {
  if (pid_ <= 0 || !pidfd_) return;
  (void)::kill(-pid_, SIGKILL);
  (void)::kill(pid_, SIGKILL);  // it may have no session of its own yet
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

double Process::cpu_seconds_now() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Process::End Process::wait() {
  End end;
  rusage usage{};
  // Its children that have not ended are no part of the measurement. Until it is waited for, no
  // other process group has its number.
  pollfd ended{pidfd_.get(), POLLIN, 0};
  while (::poll(&ended, 1, -1) < 0 && errno == EINTR) {}
  (void)::kill(-pid_, SIGKILL);
  while (::wait4(pid_, &end.status, 0, &usage) < 0 && errno == EINTR) {}
  pid_ = -1;
  end.cpu_seconds_before = static_cast<double>(shared_->cpu_before) * 1e-9;
  end.cpu_seconds = seconds_of(usage) - end.cpu_seconds_before;
  return end;
}

Result<std::vector<double>> Process::counts() const {
  const auto events = PerfEvents::receive(counters_.get());
  return events ? events->read() : std::unexpected(events.error());
}

std::string Process::output() const {
  std::string out;
  char buffer[4096];
  for (off_t at = 0;;) {
    const ssize_t length = ::pread(output_.get(), buffer, sizeof buffer, at);
    if (length <= 0) return out;
    out.append(buffer, static_cast<size_t>(length));
    at += length;
  }
}

std::set<pid_t> children_of_this(const std::string& proc) {
  // proc_pid_task_tid_children(5)
  std::ifstream file(fmt::format("{}/self/task/{}/children", proc, ::getpid()));
  return {std::istream_iterator<pid_t>(file), {}};
}

// One of them that is killed leaves its own children to this process.
void end_children(const std::string& proc, const std::set<pid_t>& of_others) {
  constexpr int most_generations = 1000;
  for (int i = 0; i < most_generations; i++) {
    std::set<pid_t> children = children_of_this(proc);
    std::erase_if(children, [&](pid_t pid) { return of_others.contains(pid); });
    if (children.empty()) return;
    for (const pid_t pid : children) (void)::kill(pid, SIGKILL);
    for (const pid_t pid : children)
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {}
  }
}

WatchedRun::WatchedRun() {
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t set;
  (void)::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) {
    struct sigaction before{};
    (void)::sigaction(number, nullptr, &before);
    // Blocked signals reach the descriptor even if they are ignored, as SIGHUP under nohup.
    if (before.sa_handler != SIG_IGN) (void)::sigaddset(&set, number);
  }
  (void)::sigprocmask(SIG_BLOCK, &set, &before_);
  signals_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// An impatient second interruption must not end rdtctl before it prints what there is.
WatchedRun::~WatchedRun() {
  signalfd_siginfo received{};
  while (::read(signals_.get(), &received, sizeof received) > 0) {}
  (void)::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

Ended WatchedRun::wait(const Process* process, const UniqueFd& lease, int timeout_ms) {
  using namespace std::chrono;
  const auto end = steady_clock::now() + milliseconds(timeout_ms);
  pollfd watched[] = {{process == nullptr ? -1 : process->descriptor(), POLLIN, 0},
                      {signals_.get(), POLLIN, 0},
                      {lease ? lease.get() : -1, 0, 0}};
  for (;;) {
    const auto left = duration_cast<milliseconds>(end - steady_clock::now()).count();
    const int wait_ms = timeout_ms < 0 ? -1 : static_cast<int>(std::max<int64_t>(left, 0));
    if (::poll(watched, std::size(watched), wait_ms) <= 0) return Ended::timeout;
    if (watched[1].revents == 0) return watched[2].revents != 0 ? Ended::lease : Ended::process;
    signalfd_siginfo received{};
    (void)::read(signals_.get(), &received, sizeof received);
    if (received.ssi_signo == SIGTSTP) continue;
    signal_ = received.ssi_signo;
    return Ended::interrupted;
  }
}

Ended WatchedRun::wait_for_memory(const Process& process, uint64_t bytes, const UniqueFd& lease) {
  constexpr int poll_ms = 10;
  const Shared& shared = process.shared();
  while (shared.started == 0 || shared.bytes < bytes)
    if (const Ended ended = wait(&process, lease, poll_ms); ended != Ended::timeout) return ended;
  return Ended::timeout;
}

std::expected<void, int> WatchedRun::pause(double seconds, const UniqueFd& lease) {
  const Ended ended = wait(nullptr, lease, static_cast<int>(seconds * 1000));
  if (ended == Ended::timeout) return {};
  return std::unexpected(stopped(ended));
}

int WatchedRun::stopped(Ended ended) const {
  if (ended == Ended::interrupted) return 128 + static_cast<int>(signal_);
  note("rdtctl: the daemon has ended the lease: 'journalctl -u rdtd' shows why\n");
  return Exit::failed;
}

}  // namespace rdtd
