// The facts that doctor reads about the groups of resctrl: who holds the CLOSIDs and RMIDs.
#pragma once

#include "diagnose.hpp"
#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd {

// A group that the policy adopts is as good as rdtd's own.
void read_groups(const Capabilities& capabilities, const Snapshot& now, const Policy& policy,
                 MachineFacts& facts);

// Which of the groups of others are in use. What cannot be read is taken for used.
void find_used(const resctrl::Filesystem& filesystem, const Snapshot& now, MachineFacts& facts);

}  // namespace rdtd
