// Sweep: looks at all processes, again until a pass finds nothing to move: after a load that
// changes rules, at a reconcile and after lost events.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/daemon/looks.hpp"
#include "rdtd/daemon/release.hpp"
#include "rdtd/daemon/visits.hpp"

namespace rdtd {

// The result of a sweep over all processes.
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
  // Why it is not known what a group of before holds: removed rules may still hold that.
  std::optional<Error> unread = {};
};

class Sweep {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // A load waits for processes that keep their command line from being read so long at most, and
  // looks at them so often.
  static constexpr std::chrono::seconds max_patience{3};
  static constexpr std::chrono::milliseconds patient_delay{100};

  Sweep(Looks& looks, Visits& visits) : looks_(looks), visits_(visits) {}

  struct All {
    // Processes that these rules put in a group and no new rule matches are let go; may be null.
    std::shared_ptr<const RuleTable> previous;
    // Of the groups of `previous`, those that are still rdtd's: another tool can have made one of
    // the same name meanwhile.
    std::set<std::string> owned = {};
    // Threads that somebody else moved stay where they are and are only reported.
    bool only_report_moved = false;
    // How long processes that keep from being read what decides are looked at again.
    std::chrono::milliseconds patience{};
    std::function<void(const Result<SweepResult>&)> done = {};  // may be empty
  };
  // A request that comes while one is under way begins after it; like requests that wait are served
  // together.
  void add(All all);
  // The one under way is begun again, with another table.
  void begin_again();
  void work(Time deadline);
  // When there is something to do; Time::max() if nothing waits.
  [[nodiscard]] Time next_due() const;

 private:
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
  [[nodiscard]] Result<void> begin_pass();
  void work_on_process();
  void note_release(pid_t pid, const std::optional<Error>& error);
  void finish_process();
  void add_up();
  [[nodiscard]] bool finish_pass();
  void end_sweep(const Result<SweepResult>& result);

  Looks& looks_;
  Visits& visits_;
  std::unique_ptr<Pass> pass_;
  std::deque<Request> requested_;
  // By directory: the threads that were in place at the end of the last sweep.
  std::map<std::string, std::vector<pid_t>> last_in_place_;
};

}  // namespace rdtd
