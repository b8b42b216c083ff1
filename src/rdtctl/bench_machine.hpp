// Where bench runs: one CPU for the command, and the others that share its cache for the noise.
#pragma once

#include <cstdint>
#include <string>

#include "rdtd/base/error.hpp"
#include "rdtd/model/cpu_list.hpp"

namespace rdtd::bench {

struct Place {
  unsigned command = 0;
  CpuSet noise;
  unsigned level = 3;  // of the cache that they share
  uint64_t bytes = 0;  // its size
};

// `cpus` is /sys/devices/system/cpu. The command gets the first allowed CPU; the cache is its L3,
// or its L2 if it has no L3. Fails if no other allowed CPU shares it.
[[nodiscard]] Result<Place> find_place(const std::string& cpus, const CpuSet& allowed);

}  // namespace rdtd::bench
