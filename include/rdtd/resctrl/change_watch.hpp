// ChangeWatch: reports that something in resctrl may have been changed, by anybody, at once. The
// kernel reports by inotify each successful write to `schemata`, `mode`, `cpus` and `cpus_list`,
// and each group or monitoring group that is made, removed or renamed; not what it changes itself
// when CPUs go or come (Documentation/filesystems/resctrl.rst says nothing of this; seen on
// Linux 6.12 and 6.18). `tasks` is not watched: rdtd writes it all the time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd::resctrl {

class ChangeWatch {
 public:
  // `path`: where resctrl is mounted.
  [[nodiscard]] static Result<ChangeWatch> open(const std::string& path);

  // Watches the files of these groups, by directory, "" the default group, and the ways of all
  // other control groups that are there now. A group that was removed and made again must be given
  // again. One that does not exist is left out.
  // True if some of the others were not watched before: they may have changed meanwhile.
  [[nodiscard]] Result<bool> watch(const std::set<std::string>& groups);
  // Readable if something was changed.
  [[nodiscard]] int fd() const { return inotify_.get(); }
  struct Changes {
    // Given groups that were changed, also by a monitoring group, and groups that were made or
    // removed.
    std::set<std::string> groups;
    bool others = false;  // one that was not given has other ways, or another mode
  };
  // Takes the reports.
  [[nodiscard]] Changes read_changes();

 private:
  ChangeWatch(Directory root, UniqueFd inotify)
      : root_(std::move(root)), inotify_(std::move(inotify)) {}
  [[nodiscard]] Result<std::set<std::string>> others(const std::set<std::string>& groups) const;

  Directory root_;
  UniqueFd inotify_;
  // By watch descriptor. Nothing: another tool's.
  std::map<int, std::optional<std::string>> groups_;
};

}  // namespace rdtd::resctrl
