// diagnose: from facts about a machine to the reasons why RDT does not work on it, and the fix of
// each. Pure; doctor.cpp collects the facts.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtimes.hpp"

namespace rdtd {

struct MachineFacts {
  enum class Architecture { x86, arm64, riscv64 };
  Architecture architecture = Architecture::x86;
  std::set<std::string> cpu_flags;  // of /proc/cpuinfo; none on the other architectures
  std::string vendor;               // as /proc/cpuinfo has it: "GenuineIntel"; x86 only
  unsigned family = 0, model = 0;
  std::string command_line;         // of the kernel
  bool kernel_has_resctrl = false;  // /proc/filesystems
  // The configuration that this kernel was built with, and whether CONFIG_X86_CPU_RESCTRL=y is in
  // it. Empty: no file has it.
  std::string kernel_config;
  bool built_with_resctrl = false;
  std::string container;  // the kind of container; empty: none
  std::string mount_point;
  std::optional<std::string> mount_options;  // absent: nothing is mounted there
  std::string mounted_elsewhere;             // where, if only there; empty: nowhere

  // Of systemd's unit that mounts it, if the last attempt failed: its Options=.
  std::optional<std::string> failed_mount_options;

  // Of the mounted tree.
  std::string tree_error;  // why it cannot be read; empty: it can
  int tree_error_code = 0;
  bool kernel_too_old = false;                   // this is the reason
  std::vector<std::string> caches_without_ways;  // whose cbm_mask is 0: "L3"
  // The features that info/ of this machine offers: controls ("L3", "MB") and events of
  // mon_features. Absent for a copy of another machine's tree.
  std::optional<std::set<std::string>> offered;
  std::optional<unsigned> num_closids;                  // absent: resctrl divides nothing
  bool io_holds_closid = false;                         // now, or under the policy
  std::vector<std::string> own_groups, foreign_groups;  // that hold a CLOSID
  std::set<std::string> foreign_regions;                // pseudo-locked: they hold none
  // RMIDs, where all groups share them. Those of others by the directories of the groups.
  std::optional<unsigned> num_rmids;
  size_t own_rmids = 0;
  size_t rmids_needed = 0;  // by the policy, without the default group
  std::vector<std::string> foreign_rmids;
  // Of these groups and monitoring groups of others, those that have tasks, CPUs or devices.
  std::set<std::string> used;
  // The traffic that mbm_total_bytes counts, where AMD's processors let somebody choose it and
  // reads are left out: entries of info/L3_MON/mbm_total_bytes_config ("0=0x30").
  std::vector<std::string> partly_counted;
  // The same with assignable counters: the reads that event_filter lacks ("remote_reads").
  std::vector<std::string> filtered_reads;

  // Of the policy files.
  bool no_policy = false;
  std::vector<std::string> active_files;
  std::string policy_error, policy_hint;   // the first, with its place; empty: none
  std::string plan_error;                  // the same, if only this machine forbids the policy
  std::vector<std::string> policy_groups;  // without the default one
  // FILE:LINE of the first l3code or l3data, and of the first l2code or l2data; empty: none.
  std::string l3_halves_requested, l2_halves_requested;
  bool skips_unsupported = false;

  // Units that rules name and systemd does not have under this name.
  struct UnitName {
    std::string name, place;  // FILE:LINE
    std::string alias_of;     // empty: systemd does not know the unit at all
  };
  std::vector<UnitName> wrong_units;

  std::vector<RuntimeSetting> runtimes;
  std::string mixed_drivers_cgroup;  // see find_mixed_drivers_cgroup

  bool guard_without_observer = false;  // the policy turns it on, and nobody carries it out
  std::string guard_problem;            // as rdtd-observer reports it
  bool daemon_runs = false;
  bool daemon_hangs = false;  // it is there and does not answer
  std::string daemon_state;
  // Paths, without the leases; absent: not of these policy files.
  std::optional<std::vector<std::string>> files_in_force;
  bool files_have_changed = false;  // those in force, after the load
  std::string last_reload_error;
  std::vector<std::string> problems;  // as the daemon reports them
};

// The entries of mbm_total_bytes_config (Documentation/filesystems/resctrl.rst) without all reads.
[[nodiscard]] std::vector<std::string> partly_counted(std::string_view config);
// The kinds of reads that event_configs/mbm_total_bytes/event_filter (the same) does not have.
[[nodiscard]] std::vector<std::string> filtered_reads(std::string_view filter);

inline constexpr std::string_view guard_without_observer =
    "rdtd-observer is not running, and without it the guard of the policy does nothing";

struct Finding {
  enum class Kind { fine, warning, problem };
  Kind kind = Kind::fine;
  std::string what;
  std::string cure;  // empty if there is nothing to do
  bool operator==(const Finding&) const = default;
};

// In the order in which to fix them.
[[nodiscard]] std::vector<Finding> diagnose(const MachineFacts& facts);

}  // namespace rdtd
