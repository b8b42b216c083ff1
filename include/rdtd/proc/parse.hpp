// The formats of /proc and of cgroup.procs, as pure functions of their text. Sources: proc(5),
// cgroups(7), Documentation/filesystems/resctrl.rst.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/proc/processes.hpp"

namespace rdtd::proc {

// The path in systemd's hierarchy from /proc/PID/cgroup: the unified hierarchy, or, on a legacy
// layout, the one named "systemd". Empty if the text has neither.
[[nodiscard]] std::string parse_cgroup(std::string_view text);

// Nothing if one of these fields is missing or malformed.
[[nodiscard]] std::optional<Status> parse_status(std::string_view text);

// All ids of /proc/PID/status.
struct Credentials {
  std::vector<uint32_t> users;   // real, effective, saved, of filesystems
  std::vector<uint32_t> groups;  // the same, and supplementary ones
};
[[nodiscard]] Credentials parse_credentials(std::string_view status);
// Whether it says that the first thread has ended.
[[nodiscard]] bool first_thread_ended(std::string_view status);

// starttime, field 22 of /proc/PID/stat, in clock ticks since boot.
[[nodiscard]] std::optional<uint64_t> parse_start_time(std::string_view stat);

// The pids of /proc/PID/task/TID/children or of cgroup.procs, in the order of the text. Ignores
// other words, and 0: a process outside this pid namespace.
[[nodiscard]] std::vector<pid_t> parse_pids(std::string_view text);

// The directory of the group from /proc/PID/cpu_resctrl_groups: "res:redis\nmon:web\n"; "" is the
// root. Nothing if resctrl is not mounted.
[[nodiscard]] std::optional<std::string> parse_resctrl_group(std::string_view text);

}  // namespace rdtd::proc
