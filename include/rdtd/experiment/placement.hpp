// Where a measurement runs: the CPUs of what is measured, the others of the same cache for the
// noise, and what of sysfs decides whether a probe can show a difference.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/model/cpu_list.hpp"

namespace rdtd::experiment {

// A cache, by the number that sysfs and resctrl give it among those of its level.
struct CacheId {
  unsigned level = 0, id = 0;
};

struct Place {
  CpuSet command;
  // The other allowed CPUs of the cache, without threads of those cores and without those that
  // share the next smaller cache.
  CpuSet noise;
  CacheId cache;             // that is divided
  uint64_t bytes = 0;        // of it
  CpuSet shared;             // the CPUs that use the cache or a core of the command
  uint64_t inner_bytes = 0;  // of the next smaller cache, whose hits never reach this one; 0: none
  // Where no other CPU remains: the noise has CPUs of that smaller cache, or even other threads of
  // the command's cores.
  bool inner_is_shared = false, core_is_shared = false;
};

struct PlaceRequest {
  CpuSet allowed;  // as of allowed_cpus()
  CpuSet command;  // empty: the first thread of the last core of the cache that most CPUs use
  std::optional<unsigned> level;  // of the cache that is divided; nothing: L3, or L2 without an L3
  std::set<unsigned> domains;     // one of these caches of that level; empty: any
  // Fails if no other allowed CPU shares the cache, or if the command has CPUs of several ones.
  bool beside_noise = true;
};

// `cpus` is /sys/devices/system/cpu. The last core, since interrupts and most other programs prefer
// the first ones.
[[nodiscard]] Result<Place> find_place(const std::string& cpus, const PlaceRequest& request);

// A sentence if the noise takes more from the command than the cache that is divided.
[[nodiscard]] std::optional<std::string> nearness_of_noise(const Place& place);

// Each cache of that level that an allowed CPU uses: one such CPU, and its size.
struct CacheOfCpu {
  unsigned cpu = 0;
  uint64_t bytes = 0;
};
[[nodiscard]] std::vector<CacheOfCpu> caches_of(const std::string& cpus, const CpuSet& allowed,
                                                unsigned level);

// How much memory a probe reads so that the cache decides how fast: three quarters of the share
// that its group has of the cache. Nothing if that is not twice the next smaller cache.
[[nodiscard]] std::optional<uint64_t> probe_size(const Place& place, uint64_t share);

// Those that the scheduler may run this process on.
[[nodiscard]] CpuSet allowed_cpus();
// The calling process, on these alone. Fails if none of them is online and allowed.
[[nodiscard]] Result<void> pin(const CpuSet& cpus);

// "CPU 7", "CPUs 4-7".
[[nodiscard]] std::string cpu_words(const CpuSet& cpus);

}  // namespace rdtd::experiment
