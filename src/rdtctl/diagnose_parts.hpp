// The parts of diagnose: what it finds about one subject.
#pragma once

#include <string_view>
#include <vector>

#include "diagnose.hpp"

namespace rdtd {

// Flags of the processor are known on x86 only; elsewhere nothing is ruled out by them.
[[nodiscard]] inline bool may_have(const MachineFacts& facts, std::string_view flag) {
  return facts.architecture != MachineFacts::Architecture::x86 ||
         facts.cpu_flags.contains(std::string(flag));
}

// Where and how resctrl is mounted, or why it is not.
[[nodiscard]] Finding find_mount(const MachineFacts& facts);
// Amounts of code and data without the mount option that they need.
void check_cdp(const MachineFacts& facts, std::vector<Finding>& out);

// Groups of the policy whose names somebody else has taken.
void check_names(const MachineFacts& facts, std::vector<Finding>& out);
[[nodiscard]] Finding count_closids(const MachineFacts& facts);
// Nothing where the groups do not share them.
void count_rmids(const MachineFacts& facts, std::vector<Finding>& out);
// Domains whose traffic is counted only in part.
void check_counted_traffic(const MachineFacts& facts, std::vector<Finding>& out);

}  // namespace rdtd
