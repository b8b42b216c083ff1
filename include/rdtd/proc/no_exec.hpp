// A process that executes no program: the sandbox of the unit has to let it map the libraries of
// the system, and among them lie programs.
#pragma once

#include "rdtd/base/error.hpp"

namespace rdtd::proc {

// From now on, execve(2) and execveat(2) fail with EPERM in this thread and in all that it starts.
// Only calls of the machine's own ABI are seen: the unit forbids the others.
[[nodiscard]] Result<void> forbid_exec();

}  // namespace rdtd::proc
