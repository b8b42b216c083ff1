// CgroupWatch: reports the processes that may have come into or left a cgroup that a rule names.
// The process connector does not report moves between cgroups; on cgroup v2, inotify reports writes
// to cgroup.procs and the creation and removal of directories. Source:
// Documentation/admin-guide/cgroup-v2.rst.
//
// The kernel reports a move only in the cgroup that the process moves to. So the watch sees each
// process that comes into a watched cgroup, and a cgroup that its last process leaves. It does not
// see a process that leaves for a cgroup that is not watched while others stay behind, nor that
// such a process returns, or that another one of its pid comes, before the next write: the next
// look at all processes does.
//
// Users can create cgroups. So the number of watches is limited, for each user too; a cgroup that
// cannot be watched affects no other; and each call does a limited amount of work.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/quota.hpp"

namespace rdtd {

struct CgroupLimits {
  // Each takes one or two watches: about 1 KiB of kernel memory each, out of root's
  // fs.inotify.max_user_watches. 10,000 are more than the cgroups of a large Kubernetes node.
  size_t cgroups = 10'000;
  // Of those, the cgroups that one user other than root created. A session rarely has 100.
  size_t cgroups_per_user = 1'000;
  // A cgroup with at most so many is reported whole at each write.
  size_t few_processes = 16;
  // Directories that one call of read_changes examines: some 10 ms.
  size_t visits_per_call = 256;
};

class CgroupWatch {
 public:
  // `root` is the unified hierarchy, as mounted.
  [[nodiscard]] static Result<CgroupWatch> open(Directory root, CgroupLimits limits = {});

  // Whether the rules can match, for the path of a cgroup from the root, "/".
  struct Interest {
    bool itself = false;  // the cgroup
    bool below = false;   // a cgroup below it; if none, its children are not looked at
  };
  using InterestIn = std::function<Interest(std::string_view path)>;
  // Starts a walk over the tree, which read_changes carries out. Processes in cgroups that the walk
  // finds are not reported: examine all processes after it. Required at first, if the rules have
  // changed, and after Changes::lost. It also retries the cgroups that were skipped.
  void watch(InterestIn interest);
  [[nodiscard]] bool walking() const { return walk_left_ > 0; }

  struct Changes {
    // Processes that may have come into one of the cgroups since it was read last, each once.
    std::vector<pid_t> processes;
    // The same of threaded cgroups, which tell only the threads.
    std::vector<pid_t> threads;
    // Matching cgroups that are empty now, or removed. Most often their processes have ended, but
    // they may have moved. A user with such a cgroup can cause these often: limit the rate of what
    // follows from them.
    std::vector<std::string> emptied;
    bool lost = false;  // some changes are unknown: call watch, then examine all processes
    bool more = false;  // call again soon
  };
  // Reads at most 64 KiB of events. Never waits.
  [[nodiscard]] Changes read_changes();
  [[nodiscard]] int fd() const { return inotify_.get(); }

  [[nodiscard]] size_t watched() const { return watched_.size(); }
  // Cgroups that could not be watched since the last call of watch, and why the first could not.
  [[nodiscard]] size_t skipped() const { return skipped_.count; }
  [[nodiscard]] const std::optional<Error>& first_skipped() const { return skipped_.first; }

 private:
  // A cgroup is charged to the user who could create it: the owner of the directory that it is in.
  struct Pending {
    std::string path;
    Interest interest;
    uid_t creator = 0;
    bool is_new = false;   // found by an event, not by a walk
    bool charged = false;  // counts against the limits
  };
  struct Watched {
    int watch = -1;
    int events_watch = -1;  // of cgroup.events
    Interest interest;
    uid_t creator = 0;
    uid_t owner = 0;
    uint64_t walk = 0;                // the last one that came by
    std::vector<pid_t> members = {};  // processes or threads, when it was read last; sorted
  };
  using Entry = std::map<std::string, Watched>::iterator;

  CgroupWatch(Directory root, UniqueFd inotify, CgroupLimits limits)
      : root_(std::move(root)),
        inotify_(std::move(inotify)),
        limits_(limits),
        charged_({limits.cgroups_per_user, limits.cgroups, false}) {}
  [[nodiscard]] Result<Directory> open_cgroup(const std::string& path) const;
  void enqueue(std::string path, uid_t creator, bool is_new);
  void watch_populated(const Directory& directory, Watched& cgroup);
  void visit(Pending& cgroup, Changes& changes);
  [[nodiscard]] Entry enter(const Pending& cgroup, int watch);
  void read_events(Changes& changes, std::set<std::string>& written);
  void examine(const std::string& path, Changes& changes);
  [[nodiscard]] bool read_processes(const Directory& directory, Watched& cgroup, Changes& changes);
  void keep_members(Watched& cgroup, std::vector<pid_t> kept);
  void remove(Entry entry, Changes& changes);
  void forget(Entry entry);
  void forget_unvisited();
  [[nodiscard]] bool charge(Pending& cgroup);
  void skip(Error error);

  Directory root_;
  UniqueFd inotify_;
  CgroupLimits limits_;
  InterestIn interest_in_;
  std::deque<Pending> pending_;  // in order of arrival, so that no user can hold up the others
  size_t walk_left_ = 0;         // those in pending_ that belong to the walk
  uint64_t walk_ = 0;
  std::map<std::string, Watched> watched_;      // by path
  std::map<int, const std::string*> by_watch_;  // the keys of watched_
  // The watch of the cgroup that each process or thread was seen in last.
  std::unordered_map<pid_t, int> seen_in_;
  Quota charged_;
  struct Skipped {
    size_t count = 0;
    std::optional<Error> first;
  };
  Skipped skipped_;
};

}  // namespace rdtd
