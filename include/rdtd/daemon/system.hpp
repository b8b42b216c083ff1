// System: everything outside of the daemon's core, as the core sees it. `start` fills it with the
// real machine, the tests with a model of one. No other code of the core knows a path or a clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/model/machine.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/search.hpp"
#include "rdtd/proc/processes.hpp"
#include "rdtd/resctrl/filesystem.hpp"
#include "rdtd/resctrl/root_access.hpp"
#include "rdtd/rules/users.hpp"

namespace rdtd {

struct System {
  resctrl::Filesystem& resctrl;
  const proc::Processes& processes;
  std::function<std::vector<PolicyFile>()> policy_files;
  // Reads resctrl and the three facts outside of it; `owned` is left to the caller.
  std::function<Result<Machine>()> read_machine;
  UserDatabase users;
  // Why the device of a pseudo-locked region must be taken for open; nothing if it is not.
  std::function<std::optional<std::string>(const std::string& lock)> device_holder;
  std::function<Result<void>(const std::vector<PseudoLock>&)> store_device_access;
  // Sets who may read resctrl from now on.
  std::function<Result<void>(resctrl::Admit)> admit;
  // The holder of the lock of resctrl, for a message: "process 812 (pqos)".
  std::function<std::string()> lock_holder;
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<uint64_t()> realtime_usec;
};

}  // namespace rdtd
