// Describes the machine that a real resctrl filesystem divides as a fake::Machine.
#pragma once

#include "fake/machine.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::fake {

// From a filesystem that was just mounted: only the default group exists and all CPUs are online.
// Throws std::runtime_error if the tree does not read as expected.
[[nodiscard]] Machine read_machine(const resctrl::Filesystem& filesystem);
// The kernel whose last_cmd_status texts the model knows.
[[nodiscard]] bool model_knows_status_texts();

}  // namespace rdtd::fake
