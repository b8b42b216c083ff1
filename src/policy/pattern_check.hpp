// The patterns of a rule's conditions: which of them nothing can match, and how they are written.
#pragma once

#include <string>

#include "file_reader.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// Reports a pattern that cannot match, and completes one that can: the type of a unit, the end of a
// path.
void check_pattern(const FileReader& in, ConditionKind kind, Located<std::string>& pattern);

}  // namespace rdtd
