// Patterns of the names of processes and threads.
#pragma once

#include <string_view>

#include "pattern_finding.hpp"

namespace rdtd {

// What is wrong with a pattern of `name`, or with `of_thread` of `thread`, if anything is.
[[nodiscard]] pattern::Check check_comm(std::string_view text, bool of_thread);

}  // namespace rdtd
