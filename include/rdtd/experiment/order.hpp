// The order of runs: conditions that are to be compared take turns, so that whatever changes slowly
// (temperature, frequency, other load) is the same for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rdtd::experiment {

struct Run {
  size_t condition = 0;  // 0 to conditions - 1
  bool warm_up = false;  // not counted
  bool operator==(const Run&) const = default;
};

// First a round that is not counted, in the order of the conditions. Then `rounds` that have each
// condition once, in a random order of their own: what a run leaves behind, in the caches or as
// heat, has no favorite, and without a difference the runs of a round can be exchanged, which the
// signed-rank test requires.
[[nodiscard]] std::vector<Run> order_of_runs(size_t conditions, size_t rounds, uint64_t seed);

}  // namespace rdtd::experiment
