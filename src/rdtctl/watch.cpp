// watch: counts what a process or a unit uses, whatever group it is in: in a monitoring group of
// its own below that group, which ends with the view.
#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <thread>

#include "interruption.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/proc/proc_fs.hpp"
#include "rdtd/resctrl/counters.hpp"
#include "unit_processes.hpp"
#include "usage_view.hpp"

namespace rdtd {

namespace {

constexpr std::string_view name_prefix = "rdtctl-watch-";  // the pid of rdtctl follows
constexpr std::chrono::seconds patience{5};                // with who holds the lock of resctrl
constexpr int max_passes = 16;                             // over threads that keep appearing

using Locked = Result<std::unique_ptr<resctrl::Lock>>;

Locked lock(resctrl::Filesystem& filesystem) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    auto locked = filesystem.lock();
    if (locked || locked.error().code != EWOULDBLOCK ||
        std::chrono::steady_clock::now() >= deadline)
      return locked;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

// The monitoring groups of this run: one below each control group that a watched thread is in.
class WatchGroups {
 public:
  WatchGroups(resctrl::Filesystem& filesystem, const proc::Processes& processes)
      : filesystem_(filesystem),
        processes_(processes),
        name_(fmt::format("{}{}", name_prefix, ::getpid())) {}
  WatchGroups(const WatchGroups&) = delete;
  WatchGroups& operator=(const WatchGroups&) = delete;
  ~WatchGroups() { remove(); }

  // Puts all threads of the processes in, also those that were moved out since the last call.
  [[nodiscard]] Result<void> put(const std::vector<pid_t>& pids) {
    for (const pid_t pid : pids)
      if (auto done = put(pid); !done) return done;
    return {};
  }
  [[nodiscard]] std::set<std::string> directories() const {
    std::set<std::string> out;
    for (const auto& [directory, tasks] : tasks_) out.insert(directory);
    return out;
  }

 private:
  [[nodiscard]] Result<void> put(pid_t pid) {
    const auto process = processes_.open(pid);
    if (!process) return {};
    bool moved = true;
    for (int pass = 0; pass < max_passes && moved; pass++) {
      moved = false;
      const auto threads = (*process)->threads();
      if (!threads) return {};
      for (const pid_t tid : *threads) {
        const auto done = put_thread(**process, tid);
        if (!done) return std::unexpected(done.error());
        moved = moved || *done;
      }
    }
    return {};
  }

  // True if it was moved.
  [[nodiscard]] Result<bool> put_thread(const proc::Process& process, pid_t tid) {
    const auto group = process.read_thread_group(tid);
    if (!group && proc::ended(group.error())) return false;
    if (!group) return std::unexpected(group.error());
    const std::string directory = mon_group_directory(control_group_of(*group), name_);
    if (*group == directory) return false;
    const auto tasks = tasks_of(directory);
    if (!tasks) return std::unexpected(tasks.error());
    const int error = (*tasks)->add(tid);
    // Somebody removed the group, or its control group: the next call makes it again.
    if (error == ENODEV || error == ENOENT) tasks_.erase(directory);
    // EINVAL: it has just come into another control group; the next call finds it there.
    if (error == ESRCH || error == EINVAL || error == ENODEV || error == ENOENT) return false;
    if (error != 0)
      return std::unexpected(Error{
          fmt::format("put thread {} in", tid), fmt::format("group '{}'", directory), error, {}});
    if (is_mon_group(*group) && !group->contains(name_prefix))
      origins_[tid] = *group;
    else
      origins_.erase(tid);
    return true;
  }

  [[nodiscard]] Result<const resctrl::Tasks*> tasks_of(const std::string& directory) {
    const auto known = tasks_.find(directory);
    if (known != tasks_.end()) return known->second.get();
    const auto locked = lock(filesystem_);
    if (!locked) return std::unexpected(locked.error());
    if (auto made = filesystem_.make(directory); !made) {
      if (made.error().code == ENOSPC)
        made.error().detail = "no RMID is free: rdtctl info shows who holds them";
      if (made.error().code == EBUSY)
        made.error().detail = "the free RMIDs are in limbo, until their lines leave the cache";
      return std::unexpected(made.error());
    }
    auto tasks = filesystem_.open_tasks(directory);
    if (!tasks) (void)filesystem_.remove(directory);
    if (!tasks) return std::unexpected(tasks.error());
    return (tasks_[directory] = std::move(*tasks)).get();
  }

  // The kernel puts the threads in the control group; those that came from a monitoring group go
  // back there, and so do threads that these have started.
  void remove() {
    std::map<pid_t, std::string> going_back;
    for (const auto& [directory, tasks] : tasks_)
      for (const pid_t tid :
           resctrl::read_tasks(filesystem_, directory).value_or(std::vector<pid_t>{}))
        if (const auto origin = origin_of(tid)) going_back[tid] = *origin;
    if (!tasks_.empty()) {
      const auto locked = lock(filesystem_);
      for (const auto& [directory, tasks] : tasks_)
        if (const auto removed = filesystem_.remove(directory);
            !removed && removed.error().code != ENOENT)
          (void)report(removed.error());
    }
    for (const auto& [tid, directory] : going_back)
      if (const auto tasks = filesystem_.open_tasks(directory)) (void)(*tasks)->add(tid);
  }

  // Of the thread, or of the first thread of its process.
  [[nodiscard]] std::optional<std::string> origin_of(pid_t tid) const {
    if (const auto own = origins_.find(tid); own != origins_.end()) return own->second;
    const auto thread = processes_.open(tid);
    const auto pid = thread ? (*thread)->read_process() : std::unexpected(thread.error());
    const auto first = pid ? origins_.find(*pid) : origins_.end();
    return first == origins_.end() ? std::nullopt : std::optional(first->second);
  }

  resctrl::Filesystem& filesystem_;
  const proc::Processes& processes_;
  std::string name_;
  std::map<std::string, std::unique_ptr<resctrl::Tasks>> tasks_;
  std::map<pid_t, std::string> origins_;  // the monitoring groups that threads were in
};

// Removes what a run left behind that was killed.
void remove_left_behind(const Tree& tree, const proc::Processes& processes) {
  const auto snapshot = tree.read_snapshot({});
  if (!snapshot) return;
  for (const std::string& directory : snapshot->mon_groups) {
    const std::string_view name = std::string_view(directory).substr(directory.rfind('/') + 1);
    const auto pid = name.starts_with(name_prefix)
                         ? parse_unsigned<uint32_t>(name.substr(name_prefix.size()))
                         : std::nullopt;
    if (pid && !processes.open(static_cast<pid_t>(*pid))) (void)tree.filesystem().remove(directory);
  }
}

}  // namespace

int verbs::watch(const Context& context, std::optional<pid_t> pid, const std::string& unit,
                 const TopOptions& options) {
  auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  if (!monitors(context, *tree)) return Exit::no_resctrl;
  auto directory = Directory::open(context.proc);
  if (!directory) return report(directory.error());
  const proc::ProcFs processes(std::move(*directory));
  // It stays open, so that no other process can take its place.
  const auto one = pid ? processes.open(*pid) : Result<std::unique_ptr<proc::Process>>();
  const auto watched = [&]() -> Result<std::vector<pid_t>> {
    if (!pid) return processes_of_unit(context, complete_unit_name(unit));
    return one && (*one)->read_name() ? std::vector{*pid} : std::vector<pid_t>{};
  };
  const auto first = watched();
  if (!first) return report(first.error());
  if (first->empty()) {
    note("rdtctl: {}\n", pid ? fmt::format("there is no process {}", *pid)
                             : fmt::format("no process is in unit '{}'", unit));
    return Exit::failed;
  }
  note_interruptions();
  (void)::signal(SIGPIPE, SIG_IGN);  // who reads the table may go before the groups are removed
  remove_left_behind(*tree, processes);
  auto own = Tree::open(context.resctrl);
  if (!own) return report(own.error());
  WatchGroups groups(own->filesystem(), processes);
  bool ended = false;
  UsageView::Subject subject;
  subject.verb = "watch";
  subject.over = [&] { return ended || interrupted(); };
  subject.groups = [&]() -> Result<std::optional<std::set<std::string>>> {
    const auto pids = watched();
    if (!pids) return std::unexpected(pids.error());
    ended = pids->empty();
    if (auto put = groups.put(*pids); !put) return std::unexpected(put.error());
    return groups.directories();
  };
  const int exit = UsageView(context, std::move(*tree), options, std::move(subject)).show();
  if (ended) note("rdtctl: no process is left to watch\n");
  return exit;
}

}  // namespace rdtd
