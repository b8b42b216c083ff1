// import_policy: from the control groups in resctrl to a policy that reproduces them, as far as the
// policy language and this machine allow. Pure; import.cpp prints the result.
#pragma once

#include <string>
#include <vector>

#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

struct ImportedPolicy {
  std::string text;                // TOML that parses and can be planned on this machine
  std::vector<std::string> notes;  // what it lacks, one line each; it is also in a comment there
};

// A pseudo-locked group, a name that the policy language refuses, and a value that it cannot
// express become comments. The policy is planned as if rdtd owned the groups that it has.
[[nodiscard]] ImportedPolicy import_policy(const Capabilities& capabilities,
                                           const Snapshot& snapshot);

}  // namespace rdtd
