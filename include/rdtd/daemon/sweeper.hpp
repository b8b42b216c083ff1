// Sweeper: looks at processes for the loop thread, in slices of bounded time: all of them after a
// reload, at a reconcile and after lost events; single ones when they were renamed, changed their
// user or cgroup, or were moved a moment ago and may have had a thread or child in the making.
//
// No process can take more than its share: each process is looked at at most once per min_interval
// however many events it causes, less often the longer a look takes, and visits take turns.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rdtd/daemon/assigner.hpp"
#include "rdtd/daemon/in_force.hpp"
#include "rdtd/daemon/release.hpp"
#include "rdtd/daemon/second_looks.hpp"
#include "rdtd/daemon/system.hpp"

namespace rdtd {

// What a sweep over all processes found.
struct SweepResult {
  std::map<std::string, size_t> matched;  // processes, by the label of their group
  std::map<size_t, size_t> by_rule;       // processes, by index into RuleSet::rules()
  size_t moved = 0;                       // threads
  size_t reported = 0;                    // threads that somebody moved and that stay there
  size_t released = 0;                    // threads let go to the default group
  size_t refused = 0;                     // processes that the kernel would not move
  size_t unknown = 0;                     // processes that could not be examined
  size_t unreleased = 0;                  // processes that a removed rule may still hold
  size_t undecided = 0;                   // processes that keep from being read what decides
  int error = 0;                          // errno of the last refused or unknown one
};

class Sweeper {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds min_interval{20};
  // The kernel may hold a clone(2) that has copied its parent's group and is not in /proc yet.
  static constexpr std::chrono::milliseconds second_look_delay = SecondLooks::delay;
  // Until the next look at a process that keeps its command line from being read.
  static constexpr std::chrono::seconds held_up_delay{1};
  // A load waits for such processes so long at most, and looks at them so often.
  static constexpr std::chrono::seconds max_patience{3};
  static constexpr std::chrono::milliseconds patient_delay{100};

  // `moved` is called for each process that was put in a group.
  using Moved = std::function<void(pid_t pid, const Assignment&, const RuleTable&)>;
  Sweeper(System& system, ManualAssignments& manual, Moved moved)
      : system_(system), manual_(manual), moved_(std::move(moved)) {}

  // From now on, visits use this table. Visits under way are begun again with it.
  void use(std::shared_ptr<const RuleTable> table);

  struct All {
    // Processes that these rules put in a group and no new rule matches are let go; may be null.
    std::shared_ptr<const RuleTable> previous;
    // What somebody else moved stays where it is and is only reported.
    bool only_report_moved = false;
    // How long processes that keep from being read what decides are looked at again.
    std::chrono::milliseconds patience{};
    std::function<void(const Result<SweepResult>&)> done = {};  // may be empty
  };
  // Looks at all processes, again until a pass finds nothing to move. A request that comes while
  // one is under way begins after it; like requests that wait are served together.
  void sweep(All all);
  struct One {
    pid_t pid = 0;
    pid_t only_thread = 0;  // 0: all threads
    // Its children too: those that it forked before it was moved inherited the old group.
    bool children = false;
  };
  void visit(One one, std::chrono::milliseconds delay = {});
  // The process of this thread.
  void visit_thread(pid_t tid);

  // A visit to each of these processes, and its children, that has not remained alone. Another
  // thread put them in their groups a moment ago.
  void look_for_more(std::span<const pid_t> pids);

  // Whether visits were dropped, or could not be carried out, since the last call: all processes
  // must be looked at.
  [[nodiscard]] bool take_overflow() { return std::exchange(overflowed_, false); }

  // Works until the deadline. True if more work is due at once.
  bool slice(Time deadline);
  // When slice has something to do; Time::max() if nothing waits.
  [[nodiscard]] Time next_due() const;
  // A group of the table was removed since the table was made.
  [[nodiscard]] bool table_out_of_date() const { return out_of_date_; }

 private:
  using Key = std::pair<pid_t, pid_t>;  // process, single thread or 0
  struct Waiting {
    Time due;
    bool children = false;
  };
  struct Running {
    Key key;
    bool with_children = false;
    std::unique_ptr<Visit> visit;  // null once the process itself is finished
    std::vector<pid_t> children;
    size_t next_child = 0;
    std::unique_ptr<Visit> child;
    std::chrono::nanoseconds cost{};
  };
  struct Request {
    All all;
    std::vector<std::function<void(const Result<SweepResult>&)>> done;
  };
  // One sweep over all processes.
  struct Pass {
    Request request;
    std::vector<pid_t> processes;
    size_t next = 0;
    TasksByGroup in_place, held;
    TasksByGroup only_report;
    std::map<std::string, std::vector<pid_t>> reported;  // threads, by group
    std::unique_ptr<Visit> visit;
    std::unique_ptr<Release> release;  // after the visit of a process
    SweepResult total, now;
    int number = 0;
    Assignment::Kind kind{};  // of the last visit
    std::set<pid_t> undecided, unreleased;
    bool again = false;               // a pass over those that were undecided
    Time begin = Time::min(), end{};  // of passes over these
  };
  void schedule(Key key, Waiting waiting);
  [[nodiscard]] bool work_on_visits(Time deadline);
  [[nodiscard]] bool turn(Running& running);
  [[nodiscard]] bool turn_of_children(Running& running);
  [[nodiscard]] bool look_for_more(Time deadline);
  void finish_visit(const Visit& visit, bool second_look);
  void report_moved(pid_t pid, const Assignment& result);
  [[nodiscard]] bool work_on_sweep(Time deadline);
  [[nodiscard]] Result<void> begin_pass();
  void work_on_process();
  void note_release(pid_t pid, const std::optional<Error>& error);
  void finish_process();
  void add_up();
  [[nodiscard]] bool finish_pass();
  void end_sweep(const Result<SweepResult>& result);
  [[nodiscard]] bool many_threads_wait(pid_t pid) const;
  [[nodiscard]] Result<std::vector<pid_t>> tasks_of(const std::string& directory) const;
  [[nodiscard]] Result<TasksByGroup> tasks_held(const RuleTable& table) const;
  [[nodiscard]] Result<TasksByGroup> tasks_in_place(const RuleTable& table) const;
  [[nodiscard]] Placement placement() { return {*table_, system_.processes, manual_, &memo_}; }

  System& system_;
  ManualAssignments& manual_;
  Moved moved_;
  std::shared_ptr<const RuleTable> table_;
  std::deque<pid_t> second_looks_;  // at processes that may be alone
  std::multimap<Time, Key> due_;
  std::map<Key, Waiting> waiting_;  // the same by key
  std::map<Key, Waiting> again_;    // to be scheduled when the visit before it is over
  std::map<Key, Time> not_before_;  // of visits that ended a moment ago
  std::list<Running> running_;
  std::set<Key> under_way_;  // those of running_
  std::unique_ptr<Pass> pass_;
  std::deque<Request> requested_;
  // By directory: the threads that were in place at the end of the last sweep.
  std::map<std::string, std::vector<pid_t>> last_in_place_;
  CgroupMemo memo_;
  bool out_of_date_ = false;
  bool overflowed_ = false;
};

}  // namespace rdtd
