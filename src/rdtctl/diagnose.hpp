// diagnose: from what is known of a machine to why RDT does or does not work on it, and what to do.
// Pure; doctor.cpp finds the facts.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtimes.hpp"

namespace rdtd {

struct MachineFacts {
  std::set<std::string> cpu_flags;  // of /proc/cpuinfo
  std::string command_line;         // of the kernel
  bool kernel_has_resctrl = false;  // /proc/filesystems
  std::string container;            // what kind of container this is; empty: none
  std::string mount_point;
  std::optional<std::string> mount_options;  // absent: nothing is mounted there

  // Of the mounted tree.
  std::string tree_error;  // why it cannot be read; empty: it can
  unsigned num_closids = 0;
  std::vector<std::string> own_groups, foreign_groups;

  // Of the policy files.
  std::string policy_error;    // the first, with its place; empty: none
  unsigned policy_groups = 0;  // besides the default one
  std::string
      code_and_data_wanted;  // FILE:LINE of the first l3code, l3data, ...; empty: not wanted
  std::string l3_wanted;     // FILE:LINE of the first l3 or l2

  std::vector<RuntimeSetting> runtimes;

  bool daemon_runs = false;
  std::string daemon_state;
  std::string last_reload_error;
};

struct Finding {
  enum class Kind { fine, warning, problem };
  Kind kind = Kind::fine;
  std::string what;
  std::string cure;  // empty where nothing is to be done
  bool operator==(const Finding&) const = default;
};

// In the order in which they have to be cured.
[[nodiscard]] std::vector<Finding> diagnose(const MachineFacts& facts);

}  // namespace rdtd
