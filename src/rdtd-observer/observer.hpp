// Observer: samples what the groups use, keeps it on disk, says who took whose cache, and asks the
// daemon for other amounts where the policy has a guard. It reads resctrl and the policy files, and
// changes nothing but its own directory.
#pragma once

#include <string>

namespace rdtd {

struct ObserverPaths {
  std::string policy_root;  // policy files are found below it
  std::string resctrl;
  std::string proc;      // proc(5)
  std::string history;   // the ring of recordings; "": none
  std::string ceilings;  // the directory of what was measured
  std::string boot;      // id of the boot; "": not known
};

// Until SIGTERM or SIGINT. Returns the exit status.
[[nodiscard]] int run_observer(const ObserverPaths& paths);

}  // namespace rdtd
