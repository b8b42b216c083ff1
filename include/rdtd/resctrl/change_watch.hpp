// ChangeWatch: reports that something in resctrl may have been changed, by anybody, at once. The
// kernel reports by inotify each successful write to `schemata`, `mode`, `cpus` and `cpus_list`,
// and each group or monitoring group that is made or removed; not what it changes itself when CPUs
// go or come (Documentation/filesystems/resctrl.rst says nothing of this; seen on Linux 6.12
// and 6.18). `tasks` is not watched: rdtd writes it all the time.
#pragma once

#include <map>
#include <set>
#include <string>

#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd::resctrl {

class ChangeWatch {
 public:
  // `path`: where resctrl is mounted.
  [[nodiscard]] static Result<ChangeWatch> open(std::string path);

  // Watches the files of these groups, by directory, "" the default group, and no others. A group
  // that was removed and made again must be given again. One that does not exist is left out.
  [[nodiscard]] Result<void> watch(const std::set<std::string>& groups);
  // Readable if something was changed.
  [[nodiscard]] int fd() const { return inotify_.get(); }
  // Takes the reports. The groups that were changed, made or removed, each once.
  [[nodiscard]] std::set<std::string> read_changes();

 private:
  ChangeWatch(std::string path, UniqueFd inotify)
      : path_(std::move(path)), inotify_(std::move(inotify)) {}
  [[nodiscard]] Result<int> add(const std::string& file, unsigned events);

  std::string path_;
  UniqueFd inotify_;
  std::map<int, std::string> groups_;  // by watch descriptor
};

}  // namespace rdtd::resctrl
