#include "rdtd/daemon/policy_watch.hpp"

#include <spdlog/spdlog.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "rdtd/base/error.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

PolicyWatch::~PolicyWatch() {
  for (const Watched& directory : directories_) sd_event_source_disable_unref(directory.source);
}

int PolicyWatch::attach(sd_event* event, const std::vector<std::string>& directories,
                        std::function<void()> changed) {
  if (directories.empty()) return 0;
  event_ = event;
  for (const std::string& path : directories) directories_.push_back({.path = path});
  // The watch of a directory that was replaced has ended.
  const int r = changed_.attach(event, [this, changed = std::move(changed)] {
    (void)follow_all();
    changed();
  });
  if (r < 0) return r;
  (void)follow_all();
  tell_what_is_watched();
  return 0;
}

void PolicyWatch::tell_what_is_watched() const {
  std::vector<std::string> watched;
  for (const Watched& directory : directories_)
    if (directory.source != nullptr) watched.push_back(directory.path);
  if (watched.empty())
    spdlog::warn("there is no directory of policy files to watch");
  else
    spdlog::info("reloading the policy when a file changes in {}", join(watched, ", "));
}

void PolicyWatch::follow() {
  if (!follow_all()) return;
  tell_what_is_watched();
  if (!changed_.is_set()) changed_.set(delay);
}

bool PolicyWatch::follow_all() {
  return std::ranges::count_if(directories_, [this](Watched& one) { return follow(one); }) > 0;
}

// Whether the path is another directory now, or none any more.
bool PolicyWatch::follow(Watched& directory) {
  struct stat now{};
  const bool exists = ::stat(directory.path.c_str(), &now) == 0 && S_ISDIR(now.st_mode);
  const bool watched = directory.source != nullptr;
  if (!exists && !watched) return false;
  if (exists && watched && now.st_dev == directory.device && now.st_ino == directory.inode)
    return false;
  directory.source = sd_event_source_disable_unref(directory.source);
  if (!exists) return true;
  const int r = sd_event_add_inotify(event_, &directory.source, directory.path.c_str(),
                                     IN_ONLYDIR | IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM |
                                         IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF,
                                     on_change, this);
  if (r < 0 && r != -ENOENT && !std::exchange(directory.failed, true))
    spdlog::warn("{}", Error{"watch", directory.path, -r, {}}.text());
  if (r < 0) return watched;
  directory.failed = false;
  directory.device = now.st_dev;
  directory.inode = now.st_ino;
  return true;
}

// Files of ConfigMaps are links over ..data, which is replaced (AtomicWriter in pkg/volume/util of
// Kubernetes). /run/rdtd has files that rdtd itself writes.
int PolicyWatch::on_change(sd_event_source* source, const inotify_event* event, void* self) {
  auto& watch = *static_cast<PolicyWatch*>(self);
  const std::string_view name(event->name, ::strnlen(event->name, event->len));
  constexpr uint32_t gone = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;
  // The one that is made next can have the same inode.
  if (const auto ended = std::ranges::find(watch.directories_, source, &Watched::source);
      (event->mask & gone) != 0 && ended != watch.directories_.end())
    ended->device = ended->inode = 0;
  const bool all = (event->mask & (gone | IN_Q_OVERFLOW)) != 0;
  if (!all && !name.ends_with(".toml") && name != "..data") return 0;
  Timer& changed = watch.changed_;
  // One that waits already is not put off: a file that changes all the time is read nevertheless.
  if (!changed.is_set()) changed.set(delay);
  return 0;
}

}  // namespace rdtd
