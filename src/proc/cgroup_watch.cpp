#include "rdtd/proc/cgroup_watch.hpp"

#include <sys/inotify.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

std::string child_of(const std::string& path, const std::string& name) {
  return path == "/" ? "/" + name : path + "/" + name;
}

}  // namespace

Result<CgroupWatch> CgroupWatch::open(Directory root) {
  UniqueFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify) return errno_error("watch", root.path());
  return CgroupWatch(std::move(root), std::move(inotify));
}

Result<void> CgroupWatch::watch(Matters matters) {
  matters_ = std::move(matters);
  return add("/", nullptr);
}

// Watches a cgroup and all below it; adds the processes of those that matter to `found`.
Result<void> CgroupWatch::add(const std::string& path, std::vector<pid_t>* found) {
  const bool matters = matters_(path);
  const uint32_t events = IN_CREATE | IN_ONLYDIR | (matters ? IN_MODIFY : 0U);
  const std::string full = root_.path() + (path == "/" ? "" : path);
  const int watch = ::inotify_add_watch(inotify_.get(), full.c_str(), events);
  if (watch < 0 && errno == ENOENT) return {};  // gone already
  if (watch < 0) return errno_error("watch", full);
  paths_[watch] = path;
  // Only now, so that nothing comes in between unseen.
  if (matters && found != nullptr) read_processes(path, *found);
  const auto directory =
      path == "/" ? root_.open_directory(".") : root_.open_directory(path.substr(1));
  const auto entries = directory ? directory->list() : std::unexpected(Error{});
  if (!entries) return {};
  for (const Directory::Entry& entry : *entries)
    if (entry.is_directory)
      if (auto added = add(child_of(path, entry.name), found); !added) return added;
  return {};
}

void CgroupWatch::read_processes(const std::string& path, std::vector<pid_t>& out) const {
  const auto text = root_.read(path.substr(1) + "/cgroup.procs");
  if (!text) return;
  for (const std::string_view line : split(*text, '\n'))
    if (const auto pid = parse_unsigned<uint32_t>(line); pid && *pid != 0)
      out.push_back(static_cast<pid_t>(*pid));
}

CgroupWatch::Changes CgroupWatch::read_changes() {
  Changes changes;
  std::set<std::string> written;
  alignas(inotify_event) std::array<char, 65536> buffer;
  while (true) {
    const ssize_t n = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (n <= 0) break;
    for (size_t at = 0; at + sizeof(inotify_event) <= static_cast<size_t>(n);) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const std::string name(buffer.data() + at + sizeof event,
                             ::strnlen(buffer.data() + at + sizeof event, event.len));
      at += sizeof event + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) changes.lost = true;
      if ((event.mask & IN_IGNORED) != 0) paths_.erase(event.wd);
      const auto path = paths_.find(event.wd);
      if (path == paths_.end()) continue;
      const std::string parent = path->second;
      if ((event.mask & IN_CREATE) != 0 && (event.mask & IN_ISDIR) != 0)
        changes.lost = !add(child_of(parent, name), &changes.processes) || changes.lost;
      if ((event.mask & IN_MODIFY) != 0 && (name == "cgroup.procs" || name == "cgroup.events"))
        written.insert(parent);
    }
  }
  if (changes.lost) (void)add("/", nullptr);  // new cgroups may be among what was lost
  for (const std::string& path : written) read_processes(path, changes.processes);
  return changes;
}

}  // namespace rdtd
