#include "rdtd/daemon/start.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <systemd/sd-daemon.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "log.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/daemon/loop.hpp"
#include "rdtd/proc/cgroup_namespace.hpp"
#include "rdtd/proc/device_holders.hpp"
#include "rdtd/proc/no_exec.hpp"
#include "rdtd/proc/proc_fs.hpp"
#include "rdtd/proc/users.hpp"
#include "rdtd/resctrl/device_access.hpp"
#include "rdtd/resctrl/kernel.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

namespace {

constexpr int exit_no_resctrl = 69;  // EX_UNAVAILABLE
// May read resctrl: sysusers.d makes it, and the unit puts rdtd in it.
constexpr const char* readers_group = "rdtd";
// The classifier waits for a command line no longer than this; then it is the loop thread's turn.
constexpr std::chrono::milliseconds classifier_wait{2};
// Names may come from the network, and the main loop waits.
constexpr std::chrono::seconds longest_user_lookup{2};

int fail(const Error& error, int status = 1) {
  spdlog::error("{}", error.text());
  (void)sd_notify(0, fmt::format("STATUS={}\nERRNO={}", error.text(), error.code).c_str());
  return status;
}

// The unit starts the daemon under a real-time policy for the classifier's sake, which no other
// thread inherits (SCHED_RESET_ON_FORK in sched(7)). Who starts it by chrt(1) may forget that.
void leave_real_time() {
  if (const int policy = ::sched_getscheduler(0); policy != SCHED_FIFO && policy != SCHED_RR)
    return;
  const sched_param ordinary{0};
  if (::sched_setscheduler(0, SCHED_OTHER, &ordinary) < 0)
    spdlog::warn("cannot leave the real-time policy: {}, ignoring", std::strerror(errno));
}

// Every thread leaves these signals to the loop.
void block_signals() {
  sigset_t blocked;
  (void)::sigemptyset(&blocked);
  for (const int signal : {SIGHUP, SIGTERM, SIGINT}) (void)::sigaddset(&blocked, signal);
  (void)::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
}

// The process that holds a lock on a directory, from /proc/locks (proc_locks(5)):
// "1: FLOCK  ADVISORY  WRITE 812 00:15:1 0 EOF".
std::string lock_holder(const Directory& proc, const Directory& root) {
  struct stat status{};
  // Any user may have very many locks, and each read makes the kernel pass those before.
  constexpr size_t limit = 256 << 10;
  const auto file_of_locks = proc.open_file("locks", O_RDONLY);
  const auto locks = file_of_locks ? read_all(file_of_locks->get(), proc.path_of("locks"), limit)
                                   : std::unexpected(file_of_locks.error());
  if (!locks || ::fstat(root.fd(), &status) < 0) return "another process";
  const std::string file =
      fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
  for (size_t at = locks->find(file); at != std::string::npos; at = locks->find(file, at + 1)) {
    const size_t begin = locks->rfind('\n', at) + 1;
    const auto line = std::string_view(*locks).substr(begin, locks->find('\n', at) - begin);
    std::vector<std::string_view> words;
    for (const std::string_view word : split(line, ' '))
      if (!word.empty()) words.push_back(word);
    if (words.size() < 6 || words[1] != "FLOCK" || words[5] != file) continue;
    const std::string name = proc.read(std::string(words[4]) + "/comm").value_or("");
    return fmt::format("process {} ({})", words[4], printable(trim(name)));
  }
  return "another process";
}

Result<Machine> read_machine(const resctrl::Filesystem& filesystem, const Directory& proc,
                             const std::string& possible_cpus, std::optional<bool> pseudo_locking) {
  const auto mounted = resctrl::read_mount_options(proc);
  if (!mounted) return std::unexpected(mounted.error());
  CpuSet possible;
  const UniqueFd fd(::open(possible_cpus.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno != ENOENT && errno != EACCES) return errno_error("open", possible_cpus);
  if (fd) {
    const auto text = read_all(fd.get(), possible_cpus);
    if (!text) return std::unexpected(text.error());
    possible = parse_cpu_list(trim(*text)).value_or(CpuSet{});
  }
  return resctrl::read_machine(filesystem, *mounted, std::move(possible), pseudo_locking);
}

// The first directory that is a unified cgroup hierarchy. ENOENT: there is none.
Result<Directory> open_hierarchy(const std::vector<std::string>& candidates) {
  Error none{"open", "a unified cgroup hierarchy", ENOENT, {}};
  for (const std::string& candidate : candidates) {
    auto root = Directory::open(candidate);
    const auto file = root ? root->open_file("cgroup.controllers", O_RDONLY)
                           : Result<UniqueFd>(std::unexpected(root.error()));
    if (file) return root;
    if (is_transient(file.error().code)) none = file.error();
  }
  return std::unexpected(std::move(none));
}

// A source that fails for want of memory or descriptors is tried a few times: nobody opens it
// later.
template <class Open>
std::invoke_result_t<Open> open_with_retries(Open open) {
  constexpr int tries = 3;
  constexpr std::chrono::milliseconds pause{50};
  auto opened = open();
  for (int i = 1; i < tries && !opened && is_transient(opened.error().code); i++) {
    std::this_thread::sleep_for(pause);
    opened = open();
  }
  return opened;
}

std::unique_ptr<CgroupWatch> watch_cgroups(const std::vector<std::string>& candidates) {
  auto watch = open_with_retries([&] {
    auto root = open_hierarchy(candidates);
    return root ? CgroupWatch::open(std::move(*root)) : std::unexpected(root.error());
  });
  if (watch) return std::make_unique<CgroupWatch>(std::move(*watch));
  if (watch.error().code == ENOENT)
    spdlog::warn(
        "no unified cgroup hierarchy is mounted: moves between cgroups are noticed at the "
        "next reconcile only");
  else
    spdlog::warn("{}", watch.error().text());
  return nullptr;
}

// "" where /proc/PID/cgroup needs no translation.
std::string namespace_root(const Directory& proc, const std::vector<std::string>& candidates) {
  const auto hierarchy = open_hierarchy(candidates);
  if (!hierarchy) return "";
  auto root = proc::find_namespace_root(*hierarchy, proc, ::getpid());
  if (root) return std::move(*root);
  spdlog::warn(
      "{}; rules that name cgroups or units match only what this container's cgroup namespace "
      "shows",
      root.error().text());
  return "";
}

std::unique_ptr<resctrl::ChangeWatch> watch_resctrl(const std::string& path) {
  auto watch = open_with_retries([&] { return resctrl::ChangeWatch::open(path); });
  if (watch) return std::make_unique<resctrl::ChangeWatch>(std::move(*watch));
  spdlog::warn("{}; changes by other tools are found at each reconcile only", watch.error().text());
  return nullptr;
}

// Subscribed before the first look at the processes, so that none slips in between.
Result<Connector> subscribe(Connector::Events events, int receive_buffer, bool blocking) {
  return open_with_retries([&]() -> Result<Connector> {
    auto connector = Connector::open(events, receive_buffer, blocking);
    if (!connector) return connector;
    if (auto subscribed = connector->subscribe(std::chrono::seconds(2)); !subscribed)
      return std::unexpected(subscribed.error());
    return connector;
  });
}

// Everything that is open for as long as the daemon runs.
struct Opened {
  std::unique_ptr<resctrl::Kernel> resctrl;
  std::unique_ptr<Directory> proc;
  std::shared_ptr<proc::Containers> containers;  // used by those
  std::unique_ptr<proc::ProcFs> processes, classifier_processes;
  std::optional<Ownership> ownership;
  std::unique_ptr<Directory> state, state_files;
};

template <class T>
Result<void> take(Result<T> opened, auto& place) {
  if (!opened) return std::unexpected(opened.error());
  place = std::make_unique<T>(std::move(*opened));
  return {};
}

Result<std::unique_ptr<proc::Containers>> open_containers(const std::string& path) {
  auto root = Directory::open(path);
  if (!root) return std::unexpected(root.error());
  return proc::Containers::make(std::move(*root));
}

Result<Opened> open_all(const Paths& paths) {
  Opened out;
  auto kernel = resctrl::Kernel::open(paths.resctrl);
  if (!kernel) return std::unexpected(kernel.error());
  out.resctrl = std::move(*kernel);
  std::error_code made;
  std::filesystem::create_directories(paths.state, made);
  if (auto taken = take(Directory::open(paths.proc), out.proc); !taken)
    return std::unexpected(taken.error());
  auto containers = open_containers(paths.runtimes);
  if (!containers) return std::unexpected(containers.error());
  out.containers = std::move(*containers);
  const std::string cgroups = namespace_root(*out.proc, paths.cgroups);
  for (const auto& [place, wait] : {std::pair{&out.processes, proc::ProcFs::default_wait},
                                    {&out.classifier_processes, classifier_wait}}) {
    auto proc = Directory::open(paths.proc);
    if (!proc) return std::unexpected(proc.error());
    *place = std::make_unique<proc::ProcFs>(std::move(*proc), wait, cgroups, out.containers.get());
  }
  if (auto taken = take(Directory::open(paths.state), out.state); !taken)
    return std::unexpected(taken.error());
  if (auto taken = take(Directory::open(paths.state), out.state_files); !taken)
    return std::unexpected(taken.error());
  auto record = Directory::open(paths.state);
  if (!record) return std::unexpected(record.error());
  auto ownership = Ownership::load(std::move(*record));
  if (!ownership) return std::unexpected(ownership.error());
  if (auto locked = ownership->lock(); !locked) return std::unexpected(locked.error());
  out.ownership.emplace(std::move(*ownership));
  return out;
}

// Looks a group up until it is found. Not behind the names of a policy: one that the network does
// not answer for must not close resctrl to its readers.
std::function<Result<std::optional<gid_t>>()> find_once(const char* name) {
  const UserDatabase users = proc::with_deadline(proc::user_database(), longest_user_lookup);
  using std::chrono::steady_clock;
  return [users, name, found = UserAnswer(), next = steady_clock::time_point{}]() mutable {
    const auto begin = steady_clock::now();
    if ((found && *found) || begin < next) return found;
    found = std::move(users({{UserName::Kind::user_group, name}}).front());
    // A database that does not answer keeps the main loop waiting.
    const auto end = steady_clock::now();
    next = end - begin > longest_user_lookup / 2 ? end + Core::user_lookup_interval : end;
    return found;
  };
}

System system_of(const Opened& opened, const Paths& paths) {
  // Once: the kernel asks each CPU for its frequency when it writes this file.
  const auto cpuinfo = opened.proc->read("cpuinfo");
  const UserDatabase users = proc::with_deadline(proc::user_database(), longest_user_lookup);
  const auto pseudo_locking = cpuinfo ? std::optional(can_pseudo_lock(*cpuinfo)) : std::nullopt;
  return {
      .resctrl = *opened.resctrl,
      .processes = *opened.processes,
      .policy_files = [root = paths.policy_root] { return find_policy_files(root); },
      .read_machine =
          [&opened, cpus = paths.possible_cpus, pseudo_locking] {
            return read_machine(*opened.resctrl, *opened.proc, cpus, pseudo_locking);
          },
      .users = users,
      .device_holder = [holders =
                            std::make_shared<proc::DeviceHolders>(paths.proc, paths.lock_devices)](
                           const std::string& lock) { return holders->find(lock); },
      .store_device_access =
          [&opened](const std::vector<PseudoLock>& locks) {
            return resctrl::store_device_access(*opened.state_files, locks);
          },
      .admit =
          [&opened, group = find_once(readers_group)](resctrl::Admit who) {
            return resctrl::admit(who, opened.resctrl->root(), *opened.state_files,
                                  who == resctrl::Admit::group ? group() : UserAnswer());
          },
      .lock_holder = [&opened] { return lock_holder(*opened.proc, opened.resctrl->root()); },
      .now = [] { return std::chrono::steady_clock::now(); },
      .realtime_usec =
          [] {
            return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                             std::chrono::system_clock::now().time_since_epoch())
                                             .count());
          }};
}

// Something else may be mounted over the path, while resctrl is still there.
bool is_unmounted(const Opened& opened, const std::string& path) {
  struct stat own{}, now{};
  if (::fstat(opened.resctrl->root().fd(), &own) < 0) return false;
  if (::stat(path.c_str(), &now) == 0 && now.st_dev == own.st_dev) return false;
  return !resctrl::is_mounted(*opened.proc).value_or(true);
}

// The events of processes. What is missing is reported, and made up for by each reconcile.
Loop::Sources open_sources(const Paths& paths, int requests_fd, Classifier* classifier,
                           const Opened& opened, ManualAssignments& manual) {
  Loop::Sources out{
      .requests_fd = requests_fd,
      .cgroups = watch_cgroups(paths.cgroups),
      .containers = opened.containers,
      .resctrl = watch_resctrl(paths.resctrl),
      .in_kernel = [&opened] { return opened.resctrl->in_call() || opened.processes->in_call(); },
      .unmounted = [&opened, path = paths.resctrl] { return is_unmounted(opened, path); }};
  if (paths.watch) out.policy_directories = policy_directories(paths.policy_root);
  auto exec = classifier != nullptr
                  ? subscribe(Connector::Events::exec, paths.receive_buffer, true)
                  : Result<Connector>(std::unexpected(Error{"start", "the classifier", 0, {}}));
  if (!exec) {
    spdlog::warn("process events unavailable: {}; processes are found at each reconcile only",
                 exec.error().text());
    return out;
  }
  classifier->start(std::move(*exec), *opened.classifier_processes, manual);
  out.classifier = classifier;
  auto changes = subscribe(Connector::Events::changes, paths.receive_buffer, false);
  if (changes)
    out.changes.emplace(std::move(*changes));
  else
    spdlog::warn("{}; renamed processes are found at each reconcile only", changes.error().text());
  // Without them, each process that was moved is looked at, which takes longer.
  auto forks = subscribe(Connector::Events::forks, proc::ForkWatch::receive_buffer, false);
  if (forks)
    out.forks.emplace(std::move(*forks));
  else
    spdlog::debug("{}, ignoring", forks.error().text());
  return out;
}

// The body of the loop thread. `classifier`: null if there is none. Returns the exit status.
int run_loop(const Paths& paths, const Opened& opened, Manager& manager, int requests_fd,
             Classifier* classifier) {
  leave_real_time();
  Result<int> status = 1;
  {
    Loop loop(manager);
    const auto prepared =
        loop.prepare(open_sources(paths, requests_fd, classifier, opened, manager.core().manual));
    if (prepared)
      status = loop.run();
    else
      status = std::unexpected(prepared.error());
  }
  // After the loop, which uses it.
  if (classifier != nullptr) classifier->stop();
  if (!status) return fail(status.error());
  // systemd stops a unit that is bound to a mount that has gone, and does not log why.
  const auto kernel = resctrl::Kernel::open(paths.resctrl);
  if (*status == 0 && !kernel && resctrl::is_absent(kernel.error()))
    spdlog::warn(
        "{} was unmounted, so rdtd stops; 'systemctl start sys-fs-resctrl.mount' mounts it again "
        "and starts rdtd",
        paths.resctrl);
  manager.store();
  // If the loop failed, the next rdtd takes over.
  if (*status == 0 && manager.in_force().policy.daemon.on_stop == OnStop::remove)
    if (const auto removed = manager.remove_all(); !removed) return fail(removed.error());
  return *status;
}

}  // namespace

int run_daemon(const Paths& paths) {
  // Before any thread begins: it holds for those that begin later.
  const Result<void> forbidden = paths.executes ? Result<void>() : proc::forbid_exec();
  open_log();
  block_signals();
  if (!forbidden) spdlog::warn("{}, ignoring", forbidden.error().text());
  // The loop thread's memory is not that of the first one: malloc_trim(3) does not return the free
  // end of it, so free(3) has to.
  (void)::mallopt(M_TRIM_THRESHOLD, 128 * 1024);
  const UniqueFd requests(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  auto classifier = open_with_retries([&] { return Classifier::make(requests.get()); });
  if (!classifier) spdlog::warn("{}", classifier.error().text());
  auto opened = open_all(paths);
  if (!opened) {
    const Error& error = opened.error();
    const bool no_resctrl =
        error.path == paths.resctrl && (error.code == ENODEV || error.code == ENOENT);
    return fail(error, no_resctrl ? exit_no_resctrl : 1);
  }
  Manager manager(system_of(*opened, paths), std::move(*opened->ownership),
                  std::move(*opened->state));
  Classifier* const made = classifier ? classifier->get() : nullptr;
  int status = 1;
  std::thread loop;
  try {
    loop = std::thread([&] {
      (void)::prctl(PR_SET_NAME, "rdtd-loop");
      status = run_loop(paths, *opened, manager, requests.get(), made);
    });
  } catch (const std::system_error& error) {
    return fail({"start", "the loop thread", error.code().value(), {}});
  }
  // This thread is the one that the unit gives a real-time policy.
  if (made != nullptr) made->run();
  loop.join();
  return status;
}

}  // namespace rdtd
