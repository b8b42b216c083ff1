// The groups in resctrl, of rdtd and of other tools.
#pragma once

#include <string>
#include <vector>

#include "output.hpp"
#include "usage.hpp"

namespace rdtd {

// The CPUs of the monitoring groups of a control group, by their names.
[[nodiscard]] JsonValue monitor_cpus_json(const std::map<std::string, CpuSet>& mon_cpus,
                                          const std::string& group);
[[nodiscard]] JsonValue group_json(const TreeMachine& machine, const std::string& group);
[[nodiscard]] std::string made_by(const TreeMachine& machine,
                                  const std::string& group);  // "kernel", "rdtd" or "other"

// Whether this is a copy of another machine's resctrl without its policy: the policy files are
// those of this machine, and say nothing of it.
[[nodiscard]] bool lacks_policy(const Context& context);
// Directories of the groups of the policy files, in their order, without the default one. None if
// lacks_policy().
[[nodiscard]] std::vector<std::string> policy_groups(const Context& context);
// Directories of the groups in resctrl as status has them: those of the policy in its order, the
// others by name, and the default one.
[[nodiscard]] std::vector<std::string> ordered_groups(const TreeMachine& machine,
                                                      const std::vector<std::string>& of_policy);

// On a mount with mba_MBps, the counter that the kernel holds to the group's limit (its file
// mba_MBps_event, since Linux 6.14): "mbm_local_bytes". Else "".
[[nodiscard]] std::string limited_counter(const TreeMachine& machine, const std::string& group);

// Rows of the default group's schemata that are not made of numbers.
[[nodiscard]] std::vector<std::string> unknown_rows(const TreeMachine& machine);

// Groups that cannot be read, or say what this program does not know.
[[nodiscard]] std::vector<std::string> unreadable_groups(const TreeMachine& machine);
void print_unreadable_groups(const TreeMachine& machine);

// The ways of I/O devices while io_alloc is enabled; null, and no line, while it is not.
[[nodiscard]] JsonValue io_json(const TreeMachine& machine);
void print_io(const TreeMachine& machine);

// The usage of each group, with bandwidth measured for 0.2 seconds; a copy of resctrl has no
// bandwidth. Empty if resctrl does not monitor or cannot be read.
[[nodiscard]] std::vector<Usage> measure_usage(const Context& context);
// Bytes and bytes a second, where they are known.
void add_usage(JsonValue& group, const std::vector<Usage>& usage);
// Of a group by its label; empty where nothing is known of it.
[[nodiscard]] Usage usage_of(const std::vector<Usage>& usage, const std::string& label);

// Whether resctrl has a control group of this name, for hints: false if that cannot be read.
[[nodiscard]] bool is_group(const Context& context, const std::string& name);

}  // namespace rdtd
