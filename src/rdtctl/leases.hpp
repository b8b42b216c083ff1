// The leases of the running daemon, for people, programs and plans.
#pragma once

#include <vector>

#include "context.hpp"
#include "output.hpp"

namespace rdtd {

// A table with a row for each; nothing if there are none.
void print_leases(const Context& context, const std::vector<LeaseStatus>& leases);
[[nodiscard]] JsonValue leases_json(const std::vector<LeaseStatus>& leases);

// Those that the caller may read, as the parser reads them; none without a daemon, or where another
// machine is meant.
[[nodiscard]] std::vector<PolicyFile> lease_files(const Context& context);

}  // namespace rdtd
