// Policy files that are links to where rdtd's unit shows it nothing: rdtctl reads them, and the
// daemon does not.
#pragma once

#include <string>
#include <vector>

#include "rdtd/policy/diagnostic.hpp"
#include "rdtd/policy/search.hpp"

namespace rdtd {

// A warning for each such file of those that find_policy_files(root) has found: a drop-in for the
// unit may show them.
[[nodiscard]] std::vector<Diagnostic> hidden_policies(const std::string& root,
                                                      const std::vector<PolicyFile>& files);

}  // namespace rdtd
