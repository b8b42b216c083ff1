// Placement: what the classifier and the loop thread share to put threads where the rules or a
// manual assignment want them, and Assignment: what came of it.
#pragma once

#include <optional>
#include <string>

#include "rdtd/daemon/manual_assignments.hpp"
#include "rdtd/daemon/rule_table.hpp"
#include "rdtd/proc/processes.hpp"
#include "rdtd/proc/user_shares.hpp"

namespace rdtd {

struct Assignment {
  enum class Kind {
    unmatched,  // no rule matches: it stays where it is
    left,       // a rule leaves it where it is
    in_group,
    gone,      // it ended meanwhile
    refused,   // by the kernel
    unknown,   // /proc could not be read
    held_up,   // its command line or status cannot be read now: to be tried again
    no_group,  // the group was removed: the table is out of date
    deferred,  // its user has taken too much time
  };
  Kind kind = Kind::unmatched;
  size_t rule = 0;                 // in_group, left: index into RuleSet::rules()
  size_t moved = 0;                // threads written to `tasks`
  size_t unseen = 0;               // of these: the kernel did not say where they were
  int error = 0;                   // refused, unknown: errno
  std::optional<uid_t> user = {};  // who pays for the time, if there are shares
  bool manual = false;             // threads were moved for a manual assignment, and by no rule
  bool hidden = false;             // it looks like root's, and is another user's
  bool deep = false;  // its cgroup is nested so deeply that to read its path takes long
};

// The data that both threads need to place a process.
struct Placement {
  const RuleTable& table;
  const proc::Processes& processes;
  ManualAssignments& manual;
  MatchMemo* memo = nullptr;  // of the calling thread
  // Of place_leader: a user without a share left, or who must rest, is deferred. Null: nobody
  // waits, and nobody rests.
  const UserShares* shares = nullptr;
  UserShares::Time now = {};
  bool examine_root = true;  // whether processes that look like root's are
};

// The user responsible for the process: its effective user, or the one who started a set-uid
// program. Nothing once it has ended.
[[nodiscard]] std::optional<uid_t> responsible_user(const proc::Process& process);

// A process that keeps renaming itself is left to the events that its renames send.
inline constexpr int max_renames = 3;

// The assignment that an error of /proc results in.
[[nodiscard]] Assignment cannot_place(const Error& error);
// The kind of assignment that an errno of `tasks` results in.
[[nodiscard]] Assignment::Kind kind_of_failure(int error);

// Writes one thread to a group and counts it. Returns 0 or errno.
[[nodiscard]] int add_counted(const Place& place, pid_t tid);

// A thread ended while its id was written to `tasks`, and another may have got that id: that one
// goes where the rules or, if none matches, its parent's group put it; of another process that has
// more threads, the first one's. What is known of the first one, unless the other cannot be
// examined now.
Assignment correct_placement(const Placement& placement, pid_t tid);
// The same if the thread, of this process, has ended.
void correct_thread(const Placement& placement, const proc::Process& process, pid_t tid);

// Where a manual assignment to this group puts a process. If the monitoring group is not there, its
// control group limits the process all the same.
[[nodiscard]] Place assigned_place(const RuleTable& table, const std::string& label);
// Whether a thread in the group `now` is where a manual assignment to `directory` wants it. Others
// may make monitoring groups there.
[[nodiscard]] bool is_in_group(const std::string& now, const std::string& directory);

}  // namespace rdtd
