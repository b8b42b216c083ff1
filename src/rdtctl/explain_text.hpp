// Where the rule that decides puts a process.
#pragma once

#include <string>

#include "rdtd/policy/policy.hpp"

namespace rdtd {

// Of a destination's label, or "leave".
inline std::string destination_text(const std::string& group) {
  return group == leave_group ? "-> stays where it is" : "-> group " + group;
}

}  // namespace rdtd
