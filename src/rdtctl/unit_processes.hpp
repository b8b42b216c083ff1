// The processes of a systemd unit, and whether there is such a unit.
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "context.hpp"
#include "rdtd/proc/proc_fs.hpp"

namespace rdtd {

// Calls `use` with each process and the units of systemd's system manager that it is in, the
// innermost last.
[[nodiscard]] Result<void> for_each_in_units(
    const proc::ProcFs& proc,
    const std::function<void(pid_t, std::span<const std::string_view>)>& use);

// Those that systemd's system manager has in this unit, or below this slice. A cgroup of that name
// elsewhere, which a user may make, is no such unit. Empty if there are none.
[[nodiscard]] Result<std::vector<pid_t>> processes_of_unit(const Context& context,
                                                           const std::string& unit);

// systemd has neither a unit of this whole name nor a file for it. Not for patterns.
[[nodiscard]] bool is_unknown_unit(const std::string& unit);
// systemd says that it has it.
[[nodiscard]] bool is_known_unit(const std::string& unit);

// Why a word that is given for a unit names none with a process.
[[nodiscard]] std::string no_process_in(const Context& context, const std::string& unit);

// "; of the group: rdtctl show NAME", if a unit that has no process is a group by its name.
[[nodiscard]] std::string group_hint(const Context& context, const std::string& name);
// The same of a word in the place of a verb, which can also be a PID, a unit or a file.
[[nodiscard]] std::string hint_of_bare_word(const Context& context, const std::string& word);

}  // namespace rdtd
