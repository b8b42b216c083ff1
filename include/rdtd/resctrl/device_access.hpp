// Access to the device of a pseudo-locked region. The kernel makes /dev/pseudo_lock/NAME for root
// alone. rdtd cannot change that: its sandbox has no devices. A rule of udev (70-rdtd.rules) does,
// with what it finds in a file of rdtd's for each region.
#pragma once

#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/plan/plan.hpp"

namespace rdtd::resctrl {

// Below the state directory: a file for each region, by its name, with lines that udev imports as
// properties: RDTD_OWNER, RDTD_GROUP and RDTD_MODE.
inline constexpr const char* device_access_directory = "pseudo_lock";

// Writes these files, and removes those of other regions.
[[nodiscard]] Result<void> store_device_access(const Directory& state,
                                               const std::vector<PseudoLock>& locks);

}  // namespace rdtd::resctrl
