// A pseudo-locked region as the memory of bench's probe.
#pragma once

#include <expected>
#include <string>

#include "bench_machine.hpp"
#include "rdtd/bus/client.hpp"
#include "rdtd/proc/device_holders.hpp"
#include "workload.hpp"

namespace rdtd::bench {

struct Region {
  std::string name, device;
  uint64_t bytes = 0;
  CacheId cache;  // which it is locked in: the kernel lets only the CPUs of that cache map it
};

// A region of the policy that is locked and that nobody uses. Prints why it cannot be used; the
// error is the exit code.
[[nodiscard]] std::expected<Region, int> find_region(Client& client, proc::DeviceHolders& holders,
                                                     const std::string& name);

// latency reads as much memory as the region has, unless its text says how much; timer what it
// always reads, or the whole region if that is less. Prints why it is too much, and returns the
// exit code.
int fit_probe(Workload& workload, const Region& region);

}  // namespace rdtd::bench
