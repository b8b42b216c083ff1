#include "rdtd/resctrl/change_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "rdtd/base/inotify.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd::resctrl {

namespace {

// Anybody may rename a monitoring group into another control group.
constexpr unsigned directory_events =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR;
constexpr std::array<std::pair<const char*, unsigned>, 5> watched_files = {{
    {"schemata", IN_MODIFY},
    {"mode", IN_MODIFY},
    {"cpus", IN_MODIFY},
    {"cpus_list", IN_MODIFY},
    {"mon_groups", directory_events},
}};
// Which ways another tool's group may fill, and whether alone; and the CPUs that it takes: the
// files of the group that loses them say nothing.
constexpr std::array<std::pair<const char*, unsigned>, 4> watched_files_of_others = {{
    {"schemata", IN_MODIFY},
    {"mode", IN_MODIFY},
    {"cpus", IN_MODIFY},
    {"cpus_list", IN_MODIFY},
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

Result<ChangeWatch> ChangeWatch::open(const std::string& path) {
  auto root = Directory::open(path);
  if (!root) return std::unexpected(Error{"watch", path, root.error().code, {}});
  UniqueFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify) return errno_error("watch", path);
  ChangeWatch out(std::move(*root), std::move(inotify));
  if (auto added = add_watch(out.inotify_, out.root_, "", directory_events); !added)
    return std::unexpected(added.error());
  return out;
}

// The control groups that are there beside these.
Result<std::set<std::string>> ChangeWatch::others(const std::set<std::string>& groups) const {
  const auto entries = root_.list();
  if (!entries) return std::unexpected(entries.error());
  std::set<std::string> out;
  for (const auto& [name, is_directory] : *entries)
    if (is_group({name, is_directory, 0}) && !groups.contains(name)) out.insert(name);
  return out;
}

Result<bool> ChangeWatch::watch(const std::set<std::string>& groups) {
  std::map<int, std::optional<std::string>> watched;
  Result<bool> result = false;
  const auto watch_files = [&](const std::string& group, const auto& files,
                               const std::optional<std::string>& name) {
    for (const auto& [file, events] : files) {
      const auto added = add_watch(inotify_, root_, file_of(group, file), events);
      if (added)
        watched[*added] = name;
      else if (added.error().code != ENOENT && added.error().code != ENODEV && result)
        result = std::unexpected(added.error());
    }
  };
  for (const std::string& group : groups) watch_files(group, files_of(group), group);
  if (const auto there = others(groups)) {
    for (const std::string& group : *there)
      watch_files(group, watched_files_of_others, std::nullopt);
  } else {
    result = std::unexpected(there.error());
    for (const auto& [descriptor, group] : groups_)
      if (!group) watched.emplace(descriptor, group);
  }
  if (result)
    result = std::ranges::any_of(
        watched, [&](const auto& one) { return !one.second && !groups_.contains(one.first); });
  // Also of a group that was removed and made again: the kernel says nothing of the end of its old
  // files, and keeps what they have.
  for (const auto& [descriptor, group] : groups_)
    if (!watched.contains(descriptor)) (void)::inotify_rm_watch(inotify_.get(), descriptor);
  groups_ = std::move(watched);
  return result;
}

ChangeWatch::Changes ChangeWatch::read_changes() {
  Changes changed;
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
      else if (group != groups_.end() && !group->second)
        changed.others = true;
      else if (group != groups_.end())
        changed.groups.insert(*group->second);
      else if (event.len > 0)
        changed.groups.insert(name);
      else if ((event.mask & IN_Q_OVERFLOW) != 0)
        changed.groups.emplace();
    }
  }
}

}  // namespace rdtd::resctrl
