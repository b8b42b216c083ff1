#include "watch_groups.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "context.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/counters.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

namespace {

constexpr std::string_view name_prefix =
    "rdtctl-watch-";                         // the pid of rdtctl follows, and a number
constexpr std::chrono::seconds patience{5};  // with who holds the lock of resctrl
constexpr int max_passes = 16;               // over threads that keep appearing

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

// Whether the rdtctl that made a group still runs. Another program may have its pid by now.
bool runs(const proc::Processes& processes, pid_t pid) {
  const auto process = processes.open(pid);
  const auto name = process ? (*process)->read_name() : std::unexpected(process.error());
  return name ? *name == "rdtctl" : !proc::ended(name.error());
}

}  // namespace

WatchGroups::WatchGroups(resctrl::Filesystem& filesystem, const proc::Processes& processes,
                         unsigned number)
    : filesystem_(filesystem),
      processes_(processes),
      name_(fmt::format("{}{}{}", name_prefix, ::getpid(),
                        number == 0 ? "" : fmt::format("-{}", number))) {}

WatchGroups::~WatchGroups() { remove(); }

Result<void> WatchGroups::put(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids)
    if (auto done = put_process(pid); !done) return done;
  return {};
}

std::set<std::string> WatchGroups::directories() const {
  std::set<std::string> out;
  for (const auto& [directory, tasks] : tasks_) out.insert(directory);
  return out;
}

Result<void> WatchGroups::put_process(pid_t pid) {
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

Result<bool> WatchGroups::put_thread(const proc::Process& process, pid_t tid) {
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

Result<const resctrl::Tasks*> WatchGroups::tasks_of(const std::string& directory) {
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
void WatchGroups::remove() {
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
std::optional<std::string> WatchGroups::origin_of(pid_t tid) const {
  if (const auto own = origins_.find(tid); own != origins_.end()) return own->second;
  const auto process = processes_.process_of(tid);
  const auto first = process ? origins_.find(*process) : origins_.end();
  return first == origins_.end() ? std::nullopt : std::optional(first->second);
}

void WatchGroups::remove_left_behind(resctrl::Filesystem& filesystem,
                                     const proc::Processes& processes) {
  const auto snapshot = resctrl::read_snapshot(filesystem);
  if (!snapshot) return;
  for (const std::string& directory : snapshot->mon_groups) {
    const std::string_view name = std::string_view(directory).substr(directory.rfind('/') + 1);
    const auto pid =
        name.starts_with(name_prefix)
            ? parse_unsigned<uint32_t>(split(name.substr(name_prefix.size()), '-').front())
            : std::nullopt;
    if (pid && !runs(processes, static_cast<pid_t>(*pid))) (void)filesystem.remove(directory);
  }
}

}  // namespace rdtd
