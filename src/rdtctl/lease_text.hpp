// The policy of a lease as rdtctl writes it: amounts as a user gives them on the command line.
#pragma once

#include <map>
#include <string>

#include "rdtd/model/resource.hpp"

namespace rdtd {

// A group that a lease defines.
struct LeaseGroup {
  std::string name;
  std::map<Resource, std::string> amounts;  // "2 ways", "20%", as in a policy file
  bool exclusive = false;
};

// A table of a policy, "[group.NAME]". The daemon checks the amounts.
[[nodiscard]] std::string lease_text(const LeaseGroup& group);

}  // namespace rdtd
