// start: connects the daemon's parts to the real system and runs them.
#pragma once

#include <string>
#include <vector>

namespace rdtd {

// Where the daemon finds the system. All of it comes from the command line's end: no other code
// knows a path.
struct Paths {
  std::string policy_root;
  std::string resctrl;
  std::string proc;
  std::string possible_cpus;         // /sys/devices/system/cpu/possible
  std::string lock_devices;          // /sys/class/pseudo_lock
  std::string state;                 // directory of the records; made if it does not exist
  std::vector<std::string> cgroups;  // where the unified cgroup hierarchy may be mounted
  std::string runtimes = "/";        // root of the files of container runtimes
  int receive_buffer = 0;            // of the process connector, bytes
  bool executes = false;             // keeps execve(2), which it does not use: for tests
  bool watch = false;                // reload if something in a directory of policy files changes
};

// Runs until it is asked to stop. Returns the exit status: 0; 1 failed, worth another start; 69 no
// resctrl; 78 a policy that must be edited.
[[nodiscard]] int run_daemon(const Paths& paths);

}  // namespace rdtd
