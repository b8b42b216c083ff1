// Patterns of the names of processes and threads.
#pragma once

#include <string_view>

#include "pattern_finding.hpp"

namespace rdtd {

// The problem with a pattern of `name`, or of `thread` with `of_thread`, if there is one.
[[nodiscard]] pattern::Check check_comm(std::string_view text, bool of_thread);

}  // namespace rdtd
