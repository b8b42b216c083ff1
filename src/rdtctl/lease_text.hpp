// The policy of a lease as rdtctl writes it: amounts as a user gives them on the command line.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "rdtd/bus/reads.hpp"
#include "rdtd/model/resource.hpp"

namespace rdtd {

// A group that a lease defines.
struct LeaseGroup {
  std::string name;
  std::map<Resource, std::string> amounts;  // "2 ways", "20%", as in a policy file
  bool exclusive = false;
};

// "6 ways", "20%".
[[nodiscard]] std::string amount_text(Resource resource, unsigned amount);

// A table of a policy, "[group.NAME]". The daemon checks the amounts.
[[nodiscard]] std::string lease_text(const LeaseGroup& group);

// "run-812" for the process 812. A lease of this name may be there still: the command of an earlier
// process of that pid lives on. Then "run-812-2", and so on.
[[nodiscard]] std::string free_lease_name(const std::string& verb, pid_t pid,
                                          const std::vector<LeaseStatus>& leases);

}  // namespace rdtd
