// Loop: the one sd-event loop of the daemon. It brings signals, timers, the bus, cgroup changes and
// the classifier's requests to the manager, and tells systemd how things stand.
#pragma once

#include <string>
#include <vector>

#include "rdtd/base/error.hpp"

namespace rdtd {

// Where the daemon finds the system. All of it comes from the command line's end, so that no other
// code knows a path.
struct Surroundings {
  std::string policy_root;
  std::string resctrl;
  std::string proc;
  std::string state;                 // folder of the ownership record; made where it is not there
  std::vector<std::string> cgroups;  // where the unified cgroup hierarchy may be mounted
  int receive_buffer = 0;            // of the process connector, bytes
};

// Runs until it is told to stop. Returns the exit status: 0; 1 failed; 69 no resctrl; 78 bad
// policy.
[[nodiscard]] int run_daemon(const Surroundings& surroundings);

}  // namespace rdtd
