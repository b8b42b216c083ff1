// Visit: one look at all threads of a process, for the loop thread, in parts of bounded length.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rdtd/daemon/placement.hpp"

namespace rdtd {

// The threads that are where each destination wants them, by index into RuleSet::destinations();
// each list sorted.
using TasksByGroup = std::vector<std::vector<pid_t>>;

// One visit to one process: every thread of it is put where the rules want it. A thread that is
// born from another one that is not moved yet begins in the old group, so a visit ends with a pass
// that finds no new thread.
class Visit {
 public:
  struct Options {
    pid_t only_thread = 0;                   // 0: all threads
    const TasksByGroup* in_place = nullptr;  // threads known to be in their groups
    // Threads that were in their groups at the last look, so that somebody moved them: only
    // reported. By group, as in_place; null: none.
    const TasksByGroup* only_report = nullptr;
    // Also a process that was assigned manually: its threads are put in that group.
    bool manual_too = false;
  };
  Visit(Placement placement, pid_t pid, Options options)
      : placement_(placement), pid_(pid), options_(options) {}

  // Looks at some threads, at most `limit`; a list of many threads counts too, and may take all of
  // it. True once the visit is finished.
  [[nodiscard]] bool step(size_t limit);
  [[nodiscard]] const Assignment& result() const { return result_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Threads that `only_report` kept where they are, with the destination that the rules name.
  [[nodiscard]] const std::vector<std::pair<size_t, pid_t>>& reported() const { return reported_; }
  // Once finished: its threads now, and children of some of these, which may have been forked
  // before it was moved.
  [[nodiscard]] Result<std::vector<pid_t>> threads() const;
  [[nodiscard]] Result<std::vector<pid_t>> children(std::span<const pid_t> threads) const;
  // The monitoring groups that templates want it in, by directory, whether they are there or not.
  [[nodiscard]] const std::set<std::string>& monitored() const { return monitored_; }
  // The user responsible for the process; nothing if it could not be opened.
  [[nodiscard]] std::optional<uid_t> user() const {
    return process_ ? responsible_user(*process_) : std::nullopt;
  }

 private:
  [[nodiscard]] bool begin();
  [[nodiscard]] bool list_threads();
  [[nodiscard]] bool settle();
  [[nodiscard]] std::optional<size_t> rule_of(pid_t tid);
  void look_at(pid_t tid);
  void put_assigned(pid_t tid);
  [[nodiscard]] bool put(pid_t tid, size_t rule);
  [[nodiscard]] bool finish(Assignment::Kind kind, int error = 0);
  [[nodiscard]] bool finish(const Assignment& result);
  // `uncounted`: in its control group, where rdtd itself makes the monitoring group that it lacks
  // or is to leave.
  enum class Where { in_group, uncounted, elsewhere, unknown };
  [[nodiscard]] Where where(pid_t tid, size_t destination, const Place& place) const;
  [[nodiscard]] Result<void> read_value(const Place& place);
  [[nodiscard]] const Place& place_of(size_t destination);

  Placement placement_;
  pid_t pid_;
  Options options_;
  Assignment result_;
  std::vector<std::pair<size_t, pid_t>> reported_;
  std::unique_ptr<proc::Process> process_;
  ProcessFacts facts_;
  std::map<size_t, Place> by_template_;  // by destination: where this process belongs
  std::set<std::string> monitored_;
  size_t rule_ = 0;  // of the whole process, if no rule is about single threads
  struct Assigned {
    std::string group;  // its label
    Place place;
  };
  std::optional<Assigned> assigned_;  // manually
  struct Threads {
    std::vector<pid_t> listed;  // in this pass
    size_t next = 0;            // of these
    std::unordered_set<pid_t> seen;
    bool found_new = false;  // in this pass
    int passes = 0;
    size_t all_listed = 0;  // in all passes
    int attempts = 0;       // begun again, since the process was renamed
  };
  Threads threads_;
};

}  // namespace rdtd
