// RuleTable: the compiled rules and the open `tasks` files that they lead to. Immutable once made;
// shared by the two threads.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/policy/monitor_template.hpp"
#include "rdtd/rules/rule_set.hpp"
#include "rdtd/proc/processes.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd {

// Of one control group: what both threads need, whatever table is in force. The threads that rdtd
// has put there since it started.
struct AssignmentCounter {
  std::atomic<uint64_t> moved = 0;
  std::atomic<uint64_t> refused = 0;  // by the kernel
  // Other tools have monitoring groups in it. A write to its `tasks` takes a thread out of them.
  std::atomic<bool> others_monitor = false;
};

// Where a destination of the rules is now. A monitoring group that is another tool's, or is not
// there, is left out: its control group limits the threads all the same.
struct Place {
  std::string directory;  // of the group
  // Null if the control group is not there: then its rules leave processes where they are.
  const resctrl::Tasks* control_group = nullptr;
  const resctrl::Tasks* mon_group = nullptr;   // null: none
  std::shared_ptr<AssignmentCounter> counter;  // the control group's
  // The monitoring group depends on the process: a Visit finds it.
  std::optional<MonitorTemplate> monitor = {};
  bool own_only = false;  // threads in a group of another tool stay there

  [[nodiscard]] bool exists() const { return control_group != nullptr; }
  // Moves one thread there. Returns 0 or errno, as resctrl::Tasks does.
  [[nodiscard]] int add(pid_t tid) const;
};

struct RuleTable {
  explicit RuleTable(std::shared_ptr<const RuleSet> compiled = std::make_shared<const RuleSet>())
      : rule_set(std::move(compiled)), rules(*rule_set) {}

  // Of one policy, shared by the tables that are made for it one after the other.
  std::shared_ptr<const RuleSet> rule_set;
  const RuleSet& rules;
  std::vector<Place> places;  // by index into rules.destinations()
  // Of the policy's groups, its monitoring groups and the root, by directory. A null one is another
  // tool's, or was not there.
  std::map<std::string, std::unique_ptr<resctrl::Tasks>> tasks;
  std::set<std::string> mon_groups;  // directories of the policy's monitoring groups that are there
  // Control groups of places with a template. If there are any, each process that is moved needs a
  // look of the loop thread.
  std::set<std::string, std::less<>> counted_by_value;

  // The open `tasks` file of a control group, or null.
  [[nodiscard]] const resctrl::Tasks* tasks_of(const std::string& group) const;
  // Whether a thread in the group of this directory is where a destination wants it, or lets it be.
  // Monitoring groups that the policy does not have do not count: others may make them.
  [[nodiscard]] bool is_at(size_t destination, const std::string& directory) const;
};

// How much may be compared with the rules, and what is remembered of it.
struct Effort {
  size_t longest_cmdline = SIZE_MAX;  // a longer one is not compared: E2BIG
  MatchMemo* memo = nullptr;          // of the calling thread
};

// The rule that decides about a process, reading the facts that this takes. An error says that a
// fact could not be read.
[[nodiscard]] Result<Decision> decide(const RuleSet& rules, const proc::Process& process,
                                      ProcessFacts& facts, Effort effort = {});

}  // namespace rdtd
