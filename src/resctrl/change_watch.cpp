#include "rdtd/resctrl/change_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "rdtd/resctrl/read.hpp"

namespace rdtd::resctrl {

namespace {

constexpr unsigned directory_events = IN_CREATE | IN_DELETE | IN_ONLYDIR;
constexpr std::array<std::pair<const char*, unsigned>, 5> watched_files = {{
    {"schemata", IN_MODIFY},
    {"mode", IN_MODIFY},
    {"cpus", IN_MODIFY},
    {"cpus_list", IN_MODIFY},
    {"mon_groups", directory_events},
}};
// Below info/, which stands for the I/O devices. Under CDP, those of code and data are the same.
constexpr std::array<std::pair<const char*, unsigned>, 6> watched_io_files = {{
    {"L3/io_alloc", IN_MODIFY},
    {"L3/io_alloc_cbm", IN_MODIFY},
    {"L3CODE/io_alloc", IN_MODIFY},
    {"L3CODE/io_alloc_cbm", IN_MODIFY},
    {"L3DATA/io_alloc", IN_MODIFY},
    {"L3DATA/io_alloc_cbm", IN_MODIFY},
}};

std::span<const std::pair<const char*, unsigned>> files_of(const std::string& group) {
  if (group == io_group) return watched_io_files;
  return watched_files;
}

}  // namespace

Result<ChangeWatch> ChangeWatch::open(std::string path) {
  UniqueFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify) return errno_error("watch", path);
  ChangeWatch out(std::move(path), std::move(inotify));
  if (auto added = out.add("", directory_events); !added) return std::unexpected(added.error());
  return out;
}

// A file that is watched already keeps its descriptor.
Result<int> ChangeWatch::add(const std::string& file, unsigned events) {
  const std::string path = file.empty() ? path_ : path_ + "/" + file;
  const int watch = ::inotify_add_watch(inotify_.get(), path.c_str(), events);
  if (watch >= 0) return watch;
  const int code = errno;
  return std::unexpected(
      Error{"watch", path, code, code == ENOSPC ? "raise fs.inotify.max_user_watches" : ""});
}

Result<void> ChangeWatch::watch(const std::set<std::string>& groups) {
  std::map<int, std::string> watched;
  Result<void> result;
  for (const std::string& group : groups)
    for (const auto& [file, events] : files_of(group)) {
      const auto added = add(file_of(group, file), events);
      if (added)
        watched[*added] = group;
      else if (added.error().code != ENOENT && added.error().code != ENODEV && result)
        result = std::unexpected(added.error());
    }
  // Also of a group that was removed and made again: the kernel says nothing of the end of its old
  // files, and keeps what they have.
  for (const auto& [descriptor, group] : groups_)
    if (!watched.contains(descriptor)) (void)::inotify_rm_watch(inotify_.get(), descriptor);
  groups_ = std::move(watched);
  return result;
}

std::set<std::string> ChangeWatch::read_changes() {
  std::set<std::string> changed;
  alignas(inotify_event) std::array<char, 16384> buffer;
  while (true) {
    const ssize_t n = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return changed;
    for (ssize_t at = 0; at < n;) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* const name = buffer.data() + at + sizeof event;
      at += static_cast<ssize_t>(sizeof event + event.len);
      const auto group = groups_.find(event.wd);
      // The watch of a group that was removed has ended; the number may be used again.
      if ((event.mask & IN_IGNORED) != 0)
        groups_.erase(event.wd);
      else if (group != groups_.end())
        changed.insert(group->second);
      else if (event.len > 0)
        changed.insert(name);
      else if ((event.mask & IN_Q_OVERFLOW) != 0)
        changed.emplace();
    }
  }
}

}  // namespace rdtd::resctrl
