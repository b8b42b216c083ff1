// assign: the path from "this process may have changed" to "it is in its group", in as few system
// calls as decide it: open, read, close of its comm where nothing matches; with a match also one
// write to `tasks`, a second read of comm that proves that the right process was moved, and a look
// at its number of threads, at once or somewhat later.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "rdtd/base/unique_fd.hpp"
#include "rdtd/daemon/hand_assignments.hpp"
#include "rdtd/proc/process.hpp"
#include "rdtd/resctrl/tree.hpp"
#include "rdtd/rules/rule_set.hpp"

namespace rdtd {

// Threads that rules have put in one group since the daemon started.
struct AssignmentCounter {
  std::atomic<uint64_t> moved = 0, refused = 0;
};

// The compiled rules and the open `tasks` files that they lead to. Immutable once made; shared by
// the threads.
struct RuleTable {
  RuleSet rules;
  std::vector<UniqueFd> tasks;  // by index into rules.destinations(), as are the counters
  std::vector<AssignmentCounter*> counters;
  UniqueFd root_tasks;
  HandAssignments* by_hand = nullptr;
};

// Which threads are in which group already, by index into RuleSet::destinations(); each list sorted.
using Placed = std::vector<std::vector<pid_t>>;

struct Assignment {
  enum class Kind {
    unmatched,  // no rule speaks of it: it stays where it is
    in_group,
    gone,     // ended meanwhile
    refused,  // the kernel would not move it
  };
  Kind kind = Kind::unmatched;
  size_t rule = 0;   // in_group: index into RuleSet::rules()
  size_t moved = 0;  // threads written to `tasks`
  int error = 0;     // refused: errno
};

// When the other threads of a process are looked at. Later: by second_look, which the caller owes
// it.
enum class OtherThreads { now, later };

enum class AssignMode { move, report };  // report: counts what would be moved

// Puts a process where the rules want it, every thread of it, unless it was put somewhere by hand.
// With `placed`, those that are in their group are not written again.
[[nodiscard]] Assignment assign(const RuleTable& table, const ProcFs& proc, pid_t pid,
                                OtherThreads others, const Placed* placed, AssignMode mode);

// Puts a single thread where the rules want it, where some rule is about single threads.
[[nodiscard]] Assignment assign_thread(const RuleTable& table, const ProcFs& proc, pid_t pid,
                                       pid_t tid);

// What was born before a process was moved, or was being born meanwhile, begins in the old group:
// its threads, and children by fork, of which no event tells. To be called some milliseconds after
// a process was moved; puts them right.
struct SecondLook {
  size_t moved = 0;             // threads
  std::vector<pid_t> children;  // that were moved, and are owed a second look of their own
};
[[nodiscard]] SecondLook second_look(const RuleTable& table, const ProcFs& proc, pid_t pid);

// Every thread of a process into the group whose `tasks` this is. Returns 0 or errno.
[[nodiscard]] int assign_all_threads(const Process& process, int tasks_fd);

// What the rules say of a process, reading the facts they need.
[[nodiscard]] Decision decide(const RuleSet& rules, const Process& process, ProcessFacts& facts);

}  // namespace rdtd
