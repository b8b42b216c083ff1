// CgroupWatch: tells which processes may have come into a cgroup that some rule speaks of. The
// process connector does not tell of moves between cgroups; on cgroup v2 inotify does: a directory
// is made, cgroup.procs is written to. (Documentation/admin-guide/cgroup-v2.rst.)
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rdtd/base/directory.hpp"

namespace rdtd {

class CgroupWatch {
 public:
  // `root` is the unified hierarchy, as mounted.
  [[nodiscard]] static Result<CgroupWatch> open(Directory root);

  // Whether a rule can speak of a cgroup, by its path from the root.
  using Matters = std::function<bool(const std::string& path)>;
  // From now on watches the whole tree for new cgroups, and those that matter for processes.
  [[nodiscard]] Result<void> watch(Matters matters);

  struct Changes {
    std::vector<pid_t> processes;  // in cgroups that changed
    bool lost = false;             // there was more than the kernel could hold: look at all
  };
  // Never waits.
  [[nodiscard]] Changes read_changes();
  [[nodiscard]] int fd() const { return inotify_.get(); }

 private:
  CgroupWatch(Directory root, UniqueFd inotify)
      : root_(std::move(root)), inotify_(std::move(inotify)) {}
  [[nodiscard]] Result<void> add(const std::string& path, std::vector<pid_t>* found);
  void read_processes(const std::string& path, std::vector<pid_t>& out) const;

  Directory root_;
  UniqueFd inotify_;
  Matters matters_;
  std::map<int, std::string> paths_;  // by watch descriptor; "/" is the root
};

}  // namespace rdtd
