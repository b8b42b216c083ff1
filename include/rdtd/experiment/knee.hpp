// From measurements at several amounts to the smallest amount that suffices. Pure.
// docs/decisions/ratio-interval.md explains the bounds.
#pragma once

#include <optional>
#include <vector>

namespace rdtd::experiment {

enum class Better { lower, higher };

struct AmountRuns {
  unsigned amount = 0;
  std::vector<double> values;  // one of each round
};

// By how much an amount may be worse than the best.
inline constexpr double close_enough = 1.05;

struct Knee {
  // The smallest amount that is certainly close enough to the best, as are all larger ones: their
  // upper bounds against each other amount are at most `close_enough`. Nothing if the largest
  // amount already is not certain.
  std::optional<unsigned> amount;
  // The smallest amount that is not certainly worse than that. Between it and `amount`, the
  // measurements cannot tell.
  unsigned perhaps = 0;
  bool most_is_worse = false;  // the largest amount certainly is worse than another one
};

// The curve is sorted by amount and not empty; values[i] of all amounts are of the same round.
// Values below the share `negligible` of the largest median count as equal: traffic may be nothing,
// and the ratio of two remainders means nothing.
[[nodiscard]] Knee find_knee(std::vector<AmountRuns> curve, Better better, double negligible = 0);

}  // namespace rdtd::experiment
