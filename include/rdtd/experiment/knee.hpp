// From measurements at several amounts to the smallest amount that suffices. Pure.
// docs/decisions/ratio-interval.md explains the bounds.
#pragma once

#include <optional>
#include <vector>

#include "rdtd/experiment/statistics.hpp"

namespace rdtd::experiment {

enum class Better { lower, higher };

struct AmountRuns {
  unsigned amount = 0;
  std::vector<double> values;  // one of each round
};

struct Knee {
  // The smallest amount that is certainly close enough to the best, as are all larger ones: their
  // upper bounds against each other amount are at most `relevant`. Nothing if the largest
  // amount already is not certain.
  std::optional<unsigned> amount;
  // The smallest amount that is not certainly worse than that. Between it and `amount`, the
  // measurements cannot tell.
  unsigned perhaps = 0;
  bool most_is_worse = false;  // the largest amount certainly is worse than another one
};

// The curve is sorted by amount and not empty; values[i] of all amounts are of the same round.
// Values below the share `negligible` of the largest median count as equal: traffic may be nothing,
// and the ratio of two remainders means nothing. Where all values are 0, no amount suffices.
[[nodiscard]] Knee find_knee(std::vector<AmountRuns> curve, Better better, double negligible = 0);

}  // namespace rdtd::experiment
