// The names of processes and threads, as the kernel shows them in /proc/PID/comm.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rdtd {

// TASK_COMM_LEN of the kernel is 16, with the NUL at the end.
inline constexpr size_t longest_comm = 15;
// The kernel shows the names of its own threads up to here.
inline constexpr size_t longest_kernel_thread = 63;

// Whether the text begins as the longer ones among the names of the kernel's threads do:
// "kworker/", "rcu_".
[[nodiscard]] bool is_kernel_thread(std::string_view name);

// Whether such a name may begin with `prefix`.
[[nodiscard]] bool can_begin_kernel_thread(std::string_view prefix);

// Whether the kernel shows the whole name.
[[nodiscard]] bool can_be_comm(std::string_view name);

// A pattern of what the kernel leaves of a name: its first 15 bytes, or a '*' in place of the part
// of a character at their end.
[[nodiscard]] std::string comm_of(std::string_view name);

}  // namespace rdtd
