// import_policy: from the control groups in resctrl to a policy that reproduces them, as far as the
// policy language and this machine allow. Pure; import.cpp prints the result.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lock_devices.hpp"
#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

struct ImportedPolicy {
  std::string text;                // TOML that parses and can be planned on this machine
  std::vector<std::string> notes;  // what it lacks, one line each; it is also in a comment there
};

// A part of a group that no policy can express, with the reason.
struct LeftOut {
  std::string what, why;
};
using LeftOutByGroup = std::map<std::string, std::vector<LeftOut>>;  // by directory

// A name that the policy language refuses, a value that it cannot express, and a region that the
// kernel does not hold become comments. The policy is planned as if rdtd owned the groups and
// regions that it has. `devices`: of the regions, as far as they are known.
[[nodiscard]] ImportedPolicy import_policy(const Capabilities& capabilities,
                                           const Snapshot& snapshot,
                                           const std::map<std::string, DeviceAccess>& devices = {},
                                           const LeftOutByGroup& left_out = {});

}  // namespace rdtd
