// The patterns of a rule's conditions: which of them nothing can match, and how they are written.
#pragma once

#include <string>

#include "file_reader.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// Reports patterns that cannot match, or that probably do not match what was meant. Completes those
// that can: the type of a unit, the end of a path. `in_array` says how the value is written.
void check_patterns(const FileReader& in, Condition& condition, bool in_array);

}  // namespace rdtd
