// Assigner: from "this process may have changed" to "it is in its group". place_leader is the path
// of the real-time thread, in as few system calls as decide it: open, read, close of its comm if
// nothing matches; with a match also one write to `tasks` and a second read of comm, which proves
// that the right process was moved. Visit (visit.hpp) does everything else.
#pragma once

#include "rdtd/daemon/placement.hpp"

namespace rdtd {

// Puts the first thread of a process that has just called exec where the rules want it, unless it
// was assigned manually. Its other threads ended with the exec; those that it starts before it is
// moved are found by a Visit somewhat later.
[[nodiscard]] Assignment place_leader(const Placement& placement, pid_t pid);

}  // namespace rdtd
