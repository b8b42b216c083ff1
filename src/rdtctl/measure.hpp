// The kernel's own measurement of a pseudo-locked region, through debugfs and tracefs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/model/resource.hpp"

namespace rdtd {

struct MeasurePaths {
  std::string debugfs, tracing;  // where they are mounted
};

struct Measurement {
  std::vector<uint64_t> cycles;          // of each read, sorted
  std::optional<uint64_t> hits, misses;  // in the cache; nothing if the kernel could not count
};

// ENOENT: there is no debugfs, or the kernel was built without the interface. EACCES: not root.
[[nodiscard]] Result<Measurement> measure_region(const MeasurePaths& paths, const std::string& name,
                                                 Resource resource);

}  // namespace rdtd
