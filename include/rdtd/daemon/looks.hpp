// Looks: what every look of the loop thread at processes needs, and what comes of it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "rdtd/daemon/system.hpp"
#include "rdtd/daemon/visit.hpp"

namespace rdtd {

struct Looks {
  // Threads that one look takes before the next one has its turn.
  static constexpr size_t threads_per_turn = 64;
  // More than any processor has RMIDs.
  static constexpr size_t max_monitored = 4096;
  // Called for each process that was put in a group.
  using Moved = std::function<void(pid_t pid, const Assignment&, const RuleTable&)>;

  Looks(const System& outside, ManualAssignments& assignments, Moved on_moved)
      : system(outside), manual(assignments), moved(std::move(on_moved)) {}

  [[nodiscard]] Placement placement() { return {*table, system.processes, manual, &memo}; }
  // A process that was assigned manually meanwhile is where no rule has put it.
  void report(pid_t pid, const Assignment& result) const {
    if (result.moved > 0 && !result.manual && result.kind != Assignment::Kind::unmatched)
      moved(pid, result, *table);
  }

  const System& system;
  ManualAssignments& manual;
  Moved moved;
  std::shared_ptr<const RuleTable> table;
  MatchMemo memo;
  // The monitoring groups that templates want, since they were taken. A process without a group of
  // its value is found again by the next look at all.
  std::set<std::string> monitored;
  void note(const Visit& visit) {
    for (const std::string& directory : visit.monitored())
      if (monitored.size() < max_monitored) monitored.insert(directory);
  }
  bool out_of_date = false;  // a group of the table was removed since the table was made
  bool overflowed = false;   // visits were dropped, or could not be carried out
};

}  // namespace rdtd
