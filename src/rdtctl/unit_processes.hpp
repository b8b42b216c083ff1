// The processes of a systemd unit.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "context.hpp"

namespace rdtd {

// Those in a cgroup of this name, or below one. Empty if there are none.
[[nodiscard]] Result<std::vector<pid_t>> processes_of_unit(const Context& context,
                                                           const std::string& unit);

}  // namespace rdtd
