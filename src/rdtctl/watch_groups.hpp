// WatchGroups: monitoring groups for as long as rdtctl looks at some processes, for `watch` and
// `init`: one below each control group that a watched thread is in. They end with this object, and
// those of a run that was killed with the next run.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rdtd/proc/processes.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd {

class WatchGroups {
 public:
  // `number`: of several at the same time.
  WatchGroups(resctrl::Filesystem& filesystem, const proc::Processes& processes,
              unsigned number = 0);
  WatchGroups(const WatchGroups&) = delete;
  WatchGroups& operator=(const WatchGroups&) = delete;
  ~WatchGroups();

  // Puts all threads of the processes in, also those that were moved out since the last call.
  [[nodiscard]] Result<void> put(const std::vector<pid_t>& pids);
  [[nodiscard]] std::set<std::string> directories() const;
  // Of runs that were killed.
  static void remove_left_behind(resctrl::Filesystem& filesystem, const proc::Processes& processes);

 private:
  [[nodiscard]] Result<void> put_process(pid_t pid);
  // True if it was moved.
  [[nodiscard]] Result<bool> put_thread(const proc::Process& process, pid_t tid);
  [[nodiscard]] Result<const resctrl::Tasks*> tasks_of(const std::string& directory);
  void remove();
  [[nodiscard]] std::optional<std::string> origin_of(pid_t tid) const;

  resctrl::Filesystem& filesystem_;
  const proc::Processes& processes_;
  std::string name_;
  std::map<std::string, std::unique_ptr<resctrl::Tasks>> tasks_;
  std::map<pid_t, std::string> origins_;  // the monitoring groups that threads were in
};

}  // namespace rdtd
