// The jobs of rdtd-bench. Each returns the exit status.
#pragma once

#include <span>

namespace rdtd::bench {

using Arguments = std::span<char*>;

// listener.cpp: the bare floor.
int listen(Arguments arguments);
// load.cpp: programs that are started, and threads that rename themselves.
int start(Arguments arguments);
int wait_as_child(Arguments arguments);
int measure(Arguments arguments);
int look_as_child(Arguments arguments);
int rename(Arguments arguments);
// supervise.cpp: what a service manager sees of a daemon.
int supervise(Arguments arguments);
// scan.cpp: one look at all processes.
int scan(Arguments arguments);

}  // namespace rdtd::bench
