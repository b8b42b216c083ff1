#include "rdtd/proc/cgroup_watch.hpp"

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "rdtd/base/inotify.hpp"
#include "rdtd/proc/parse.hpp"

namespace rdtd {

namespace {

std::string child_of(const std::string& path, std::string_view name) {
  std::string child = path == "/" ? path : path + "/";
  return child.append(name);
}

// ENODEV: the directory is still open, but the cgroup was removed.
bool gone(const Error& error) { return error.code == ENOENT || error.code == ENODEV; }

}  // namespace

Result<CgroupWatch> CgroupWatch::open(Directory root, CgroupLimits limits) {
  UniqueFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify) return errno_error("watch", root.path());
  return CgroupWatch(std::move(root), std::move(inotify), limits);
}

void CgroupWatch::watch(InterestIn interest) {
  interest_in_ = std::move(interest);
  for (const Pending& cgroup : pending_)
    if (cgroup.charged) charged_.give_back(cgroup.creator);
  pending_.clear();
  walk_left_ = 0;
  walk_++;
  skipped_ = {};
  enqueue("/", 0, false);
  if (pending_.empty()) forget_unvisited();
}

// No rule can match a process in a cgroup whose path does not fit into PATH_MAX: the kernel does
// not show it in /proc/PID/cgroup. So one open from the root reaches every cgroup that matters.
Result<Directory> CgroupWatch::open_cgroup(const std::string& path) const {
  return root_.open_directory(path == "/" ? "." : path.substr(1));
}

void CgroupWatch::enqueue(std::string path, uid_t creator, bool is_new) {
  const Interest interest = interest_in_(path);
  if (!interest.itself && !interest.below) return;
  Pending cgroup{std::move(path), interest, creator, is_new};
  if (cgroup.path.size() >= PATH_MAX)
    return skip({"watch", root_.path() + cgroup.path, ENAMETOOLONG, {}});
  if (!watched_.contains(cgroup.path) && !charge(cgroup)) return;
  if (!is_new) walk_left_++;
  pending_.push_back(std::move(cgroup));
}

// Counts a cgroup against the limits, if they allow it.
bool CgroupWatch::charge(Pending& cgroup) {
  if (charged_.full(cgroup.creator)) {
    const bool full = charged_.all_full();
    const size_t limit = full ? limits_.cgroups : limits_.cgroups_per_user;
    skip({"watch", root_.path() + cgroup.path, 0,
          "rdtd watches at most " + std::to_string(limit) + " cgroups" +
              (full ? "" : " that user " + std::to_string(cgroup.creator) + " created")});
    return false;
  }
  charged_.take(cgroup.creator);
  cgroup.charged = true;
  return true;
}

void CgroupWatch::skip(Error error) {
  if (skipped_.count++ == 0) skipped_.first = std::move(error);
}

// The kernel reports a change of cgroup.events in the directory's watch, but only while it has an
// inode for that file. A watch on the file keeps the inode; it needs no events of its own.
void CgroupWatch::watch_populated(const Directory& directory, Watched& cgroup) {
  if (!cgroup.interest.itself) return;
  const auto watch = add_watch(inotify_, directory, "cgroup.events", IN_DELETE_SELF);
  if (watch) cgroup.events_watch = *watch;
  if (!watch && !gone(watch.error())) skip(watch.error());
}

// Watches a cgroup and enqueues its children.
void CgroupWatch::visit(Pending& cgroup, Changes& changes) {
  // Its watch may be gone since it was enqueued.
  if (!cgroup.charged && !watched_.contains(cgroup.path) && !charge(cgroup)) return;
  const auto directory = open_cgroup(cgroup.path);
  const auto watch =
      directory
          ? add_watch(inotify_, *directory, "",
                      IN_ONLYDIR | IN_MODIFY | (cgroup.interest.below ? IN_CREATE | IN_DELETE : 0U))
          : std::unexpected(directory.error());
  if (!watch) {
    if (!gone(watch.error())) skip(watch.error());
    if (cgroup.charged) charged_.give_back(cgroup.creator);
    return;
  }
  const Entry entry = enter(cgroup, *watch);
  if (std::exchange(entry->second.walk, walk_) == walk_) return;
  watch_populated(*directory, entry->second);
  struct stat status{};
  entry->second.owner = ::fstat(directory->fd(), &status) == 0 ? status.st_uid : cgroup.creator;
  // The watch is in place, so nothing that comes after these reads is missed.
  if (cgroup.is_new) (void)read_processes(*directory, entry->second, changes);
  if (!cgroup.interest.below) return;
  const auto children = directory->list();
  if (!children && !gone(children.error())) skip(children.error());
  if (!children) return;
  for (const Directory::Entry& child : *children)
    if (child.is_directory)
      enqueue(child_of(cgroup.path, child.name), entry->second.owner, cgroup.is_new);
}

// Records a watch. The charge of the pending cgroup passes to the entry.
CgroupWatch::Entry CgroupWatch::enter(const Pending& cgroup, int watch) {
  const auto old = watched_.find(cgroup.path);
  if (old != watched_.end() && old->second.watch == watch) {
    old->second.interest = cgroup.interest;
    if (cgroup.charged) charged_.give_back(cgroup.creator);
    return old;
  }
  // A removed directory had this path before.
  if (old != watched_.end()) forget(old);
  if (!cgroup.charged) charged_.take(cgroup.creator);
  const Entry entry =
      watched_.emplace(cgroup.path, Watched{watch, -1, cgroup.interest, cgroup.creator}).first;
  by_watch_[watch] = &entry->first;
  return entry;
}

// Linux 6.18 does not end the watch of a removed cgroup by itself.
void CgroupWatch::forget(Entry entry) {
  (void)::inotify_rm_watch(inotify_.get(), entry->second.watch);
  if (entry->second.events_watch >= 0)
    (void)::inotify_rm_watch(inotify_.get(), entry->second.events_watch);
  by_watch_.erase(entry->second.watch);
  keep_members(entry->second, {});
  charged_.give_back(entry->second.creator);
  watched_.erase(entry);
}

void CgroupWatch::remove(Entry entry, Changes& changes) {
  if (entry->second.interest.itself) changes.emptied.push_back(entry->first);
  forget(entry);
}

// At the end of a walk: cgroups that it did not find, or that no rule can match any more.
void CgroupWatch::forget_unvisited() {
  for (auto entry = watched_.begin(); entry != watched_.end();) {
    const auto next = std::next(entry);
    if (entry->second.walk != walk_) forget(entry);
    entry = next;
  }
}

// Forgets the members of a cgroup that are not among these, which are sorted.
void CgroupWatch::keep_members(Watched& cgroup, std::vector<pid_t> kept) {
  for (const pid_t id : cgroup.members) {
    if (std::ranges::binary_search(kept, id)) continue;
    const auto seen = seen_in_.find(id);
    if (seen != seen_in_.end() && seen->second == cgroup.watch) seen_in_.erase(seen);
  }
  cgroup.members = std::move(kept);
}

// Adds to the changes the processes that were seen elsewhere, or nowhere, before; false if the
// cgroup has none. One write to a cgroup with many processes must not cost a look at all of them.
// A small cgroup is reported whole: a process may have been in a cgroup that is not watched, and
// have come back.
bool CgroupWatch::read_processes(const Directory& directory, Watched& cgroup, Changes& changes) {
  auto text = directory.read("cgroup.procs");
  // In a threaded cgroup, only the threads can be read.
  const bool threaded = !text && text.error().code == EOPNOTSUPP;
  if (threaded) text = directory.read("cgroup.threads");
  if (!text) {
    if (!gone(text.error())) changes.lost = true;
    return false;
  }
  std::vector<pid_t> ids = proc::parse_pids(*text);
  auto& found = threaded ? changes.threads : changes.processes;
  const bool few = ids.size() <= limits_.few_processes;
  for (const pid_t id : ids)
    if (std::exchange(seen_in_[id], cgroup.watch) != cgroup.watch || few) found.push_back(id);
  std::ranges::sort(ids);
  keep_members(cgroup, std::move(ids));
  return !cgroup.members.empty();
}

// Examines a cgroup that was written to.
void CgroupWatch::examine(const std::string& path, Changes& changes) {
  const auto entry = watched_.find(path);
  if (entry == watched_.end()) return;  // removed since then, and reported
  const auto directory = open_cgroup(path);
  if (!directory && !gone(directory.error())) changes.lost = true;
  if (!directory || read_processes(*directory, entry->second, changes) || changes.lost) return;
  if (entry->second.interest.itself) changes.emptied.push_back(path);
}

CgroupWatch::Changes CgroupWatch::read_changes() {
  Changes changes;
  std::set<std::string> written;
  read_events(changes, written);
  for (const std::string& path : written) examine(path, changes);
  for (size_t visits = 0; visits < limits_.visits_per_call && !pending_.empty(); visits++) {
    Pending cgroup = std::move(pending_.front());
    pending_.pop_front();
    visit(cgroup, changes);
    if (!cgroup.is_new && --walk_left_ == 0) forget_unvisited();
  }
  for (auto* list : {&changes.processes, &changes.threads}) {
    std::ranges::sort(*list);
    const auto repeated = std::ranges::unique(*list);
    list->erase(repeated.begin(), repeated.end());
  }
  int waiting = 0;
  (void)::ioctl(inotify_.get(), FIONREAD, &waiting);
  changes.more = waiting > 0 || !pending_.empty();
  return changes;
}

// Adds the cgroups whose processes have changed to `written`.
void CgroupWatch::read_events(Changes& changes, std::set<std::string>& written) {
  alignas(inotify_event) std::array<char, 65536> buffer;
  const ssize_t n = ::read(inotify_.get(), buffer.data(), buffer.size());
  for (size_t at = 0; n > 0 && at + sizeof(inotify_event) <= static_cast<size_t>(n);) {
    inotify_event event;
    std::memcpy(&event, buffer.data() + at, sizeof event);
    const char* text = buffer.data() + at + sizeof event;
    const std::string_view name(text, ::strnlen(text, event.len));
    at += sizeof event + event.len;
    if ((event.mask & IN_Q_OVERFLOW) != 0) changes.lost = true;
    const auto known = by_watch_.find(event.wd);
    if (known == by_watch_.end()) continue;
    const Entry cgroup = watched_.find(*known->second);
    if ((event.mask & IN_IGNORED) != 0) {
      remove(cgroup, changes);
    } else if ((event.mask & IN_ISDIR) != 0 && (event.mask & IN_CREATE) != 0) {
      enqueue(child_of(cgroup->first, name), cgroup->second.owner, true);
    } else if ((event.mask & IN_ISDIR) != 0 && (event.mask & IN_DELETE) != 0) {
      const Entry child = watched_.find(child_of(cgroup->first, name));
      if (child != watched_.end()) remove(child, changes);
    } else if (name == "cgroup.procs" || name == "cgroup.threads" || name == "cgroup.events") {
      written.insert(cgroup->first);
    }
  }
}

}  // namespace rdtd
