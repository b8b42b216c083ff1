// A pseudo-locked region as the memory of bench's probe.
#pragma once

#include <expected>
#include <string>

#include "rdtd/bus/client.hpp"
#include "rdtd/proc/device_holders.hpp"
#include "workload.hpp"

namespace rdtd::bench {

struct Region {
  std::string name, device;
  uint64_t bytes = 0;
  experiment::CacheId
      cache;  // which it is locked in: the kernel lets only the CPUs of that cache map it
};

// A region of the policy that is locked and that nobody uses. Prints why it cannot be used; the
// error is the exit code.
[[nodiscard]] std::expected<Region, int> find_region(Client& client, proc::DeviceHolders& holders,
                                                     const std::string& name);

// The probe reads as much memory as the region has, unless its text says how much. Prints why that
// is too much, and returns the exit code.
int fit_probe(Workload& workload, const Region& region);

}  // namespace rdtd::bench
