// The comparison of `status --verify`: everything that the daemon granted, with the state of the
// kernel; and of the policy files with those that are in force.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "rdtd/plan/plan.hpp"

namespace rdtd {

// The policy files in force, without the leases.
[[nodiscard]] std::vector<std::string> files_in_force(const ManagerProperties& daemon);
// Whether one of them was changed or removed after the load.
[[nodiscard]] bool files_have_changed(const ManagerProperties& daemon);

// The policy in force as a plan for the machine as it is now, for what is not on D-Bus: the
// monitoring groups, and the ways of I/O devices. Nothing if the files have changed since they were
// loaded, or cannot be planned now.
[[nodiscard]] std::optional<Plan> plan_in_force(const Context& context, const TreeMachine& machine,
                                                const ManagerProperties& daemon);

// A line for each difference. Regions that the daemon itself reports as missing or waiting are
// none.
[[nodiscard]] std::vector<std::string> differences_from(const Capabilities& capabilities,
                                                        Snapshot now,
                                                        const std::vector<Client::GroupRow>& groups,
                                                        const std::vector<LockStatus>& locks,
                                                        const std::optional<Plan>& in_force);

}  // namespace rdtd
