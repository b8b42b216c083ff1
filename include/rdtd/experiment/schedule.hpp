// The order of runs: conditions that are to be compared take turns, so that whatever changes slowly
// (temperature, frequency, other load) is the same for all of them.
#pragma once

#include <cstddef>
#include <vector>

namespace rdtd::experiment {

struct Run {
  size_t round = 0;      // 0 is the first one that counts
  size_t condition = 0;  // 0 to conditions - 1
  bool warm_up = false;  // not counted; its round has no meaning
  bool operator==(const Run&) const = default;
};

// Each round has each condition once and begins one condition later than the one before, so that in
// as many rounds as there are conditions each one has each position once.
[[nodiscard]] std::vector<Run> schedule(size_t conditions, size_t rounds, size_t warm_ups);

}  // namespace rdtd::experiment
