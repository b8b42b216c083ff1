// Warnings about a guard that can do nothing.
#pragma once

#include <vector>

#include "rdtd/policy/diagnostic.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

void warn_of_idle_guard(const Policy& policy, std::vector<Diagnostic>& diagnostics);

}  // namespace rdtd
