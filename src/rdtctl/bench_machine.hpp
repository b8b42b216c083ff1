// Where bench runs: one CPU for the command, and the others that share its cache for the noise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/model/cpu_list.hpp"

namespace rdtd::bench {

struct Place {
  unsigned command = 0;
  CpuSet noise;
  unsigned level = 3;           // of the cache that they share
  uint64_t bytes = 0;           // its size
  bool core_is_shared = false;  // the noise has other threads of the command's core
};

// A cache, by the number that sysfs and resctrl give it among those of its level.
struct CacheId {
  unsigned level = 0, id = 0;
};

// `cpus` is /sys/devices/system/cpu. The command gets the first allowed CPU; the cache is its L3,
// or its L2 if it has no L3. Other threads of its core are left out if that leaves a CPU for the
// noise. Fails if no other allowed CPU shares the cache.
[[nodiscard]] Result<Place> find_place(const std::string& cpus, const CpuSet& allowed);
// The same with this cache.
[[nodiscard]] Result<Place> find_place(const std::string& cpus, const CpuSet& allowed,
                                       CacheId cache);

// Each cache of that level that an allowed CPU uses: one such CPU, and its size.
struct CacheOfCpu {
  unsigned cpu = 0;
  uint64_t bytes = 0;
};
[[nodiscard]] std::vector<CacheOfCpu> caches_of(const std::string& cpus, const CpuSet& allowed,
                                                unsigned level);

// Those that the scheduler may run this process on.
[[nodiscard]] CpuSet allowed_cpus();

}  // namespace rdtd::bench
