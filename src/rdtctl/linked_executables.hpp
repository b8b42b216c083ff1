// Rules for executables that are links on this machine: the kernel shows the file behind a link, so
// such a rule matches nothing.
#pragma once

#include <vector>

#include "rdtd/policy/policy.hpp"

namespace rdtd {

// A warning for each such pattern without a wildcard, unless another one of its condition matches
// the file.
[[nodiscard]] std::vector<Diagnostic> linked_executables(const Policy& policy);

}  // namespace rdtd
