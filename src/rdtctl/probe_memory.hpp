// The memory of a probe: how much, and whether reading it can show what a share of a cache is
// worth; or a pseudo-locked region.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "rdtd/bus/client.hpp"
#include "rdtd/proc/device_holders.hpp"
#include "workload.hpp"

namespace rdtd::bench {

struct Region {
  std::string name, device;
  uint64_t bytes = 0;
  // That it is locked in: the kernel lets only the CPUs of that cache map it.
  experiment::CacheId cache;
};

// A region of the policy that is locked and that nobody uses. Prints why it cannot be used; the
// error is the exit code.
[[nodiscard]] std::expected<Region, int> find_region(Client& client, proc::DeviceHolders& holders,
                                                     const std::string& name);

// The probe reads as much memory as the region has, unless its text says how much. Prints why that
// is too much, and returns the exit code.
int fit_probe(Workload& workload, const Region& region);

// The ways that the probe's group has of the cache that is divided; 0 ways of all: not known.
struct ProbeShare {
  std::string group;
  unsigned ways = 0, all_ways = 0;
};

// Chooses how much the probe reads, if its text does not say it. Returns a sentence for each reason
// why what it reads cannot show a difference; the error is the exit code, after a note.
[[nodiscard]] std::expected<std::vector<std::string>, int> size_probe(
    Workload& workload, const experiment::Place& place, const ProbeShare& share);

}  // namespace rdtd::bench
