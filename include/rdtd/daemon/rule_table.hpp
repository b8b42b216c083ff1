// RuleTable: the compiled rules and the open `tasks` files that they lead to. Immutable once made;
// shared by the two threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rdtd/rules/rule_set.hpp"
#include "rdtd/proc/processes.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd {

// Threads that rdtd has put in one group since it started.
struct AssignmentCounter {
  std::atomic<uint64_t> moved = 0;
  std::atomic<uint64_t> refused = 0;  // by the kernel
};

struct RuleTable {
  RuleSet rules;
  // By index into rules.destinations(), as are the counters. Null if the group is another tool's:
  // then its rules leave processes where they are.
  std::vector<std::unique_ptr<resctrl::Tasks>> tasks;
  std::vector<AssignmentCounter*> counters;
  std::unique_ptr<resctrl::Tasks> root_tasks;
  // Of the groups that no rule leads to, for manual assignments; by directory.
  std::map<std::string, std::unique_ptr<resctrl::Tasks>> other_tasks;

  // The open `tasks` file of a group. Null if it is another tool's, or was not there.
  [[nodiscard]] const resctrl::Tasks* tasks_of(const std::string& group) const;
};

// How much may be compared with the rules, and what is remembered of it.
struct Effort {
  size_t longest_cmdline = SIZE_MAX;  // a longer one is not compared: E2BIG
  CgroupMemo* memo = nullptr;         // of the calling thread
};

// The rule that decides about a process, reading the facts that this takes. An error says that a
// fact could not be read.
[[nodiscard]] Result<Decision> decide(const RuleSet& rules, const proc::Process& process,
                                      ProcessFacts& facts, Effort effort = {});

}  // namespace rdtd
