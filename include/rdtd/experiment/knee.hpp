// From measurements at several amounts to the smallest amount that suffices. Pure.
// docs/decisions/ratio-interval.md explains the bounds.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rdtd/experiment/statistics.hpp"

namespace rdtd::experiment {

enum class Better { lower, higher };

// The share of the best that a value is worse than it, as people say it: a time that is twice as
// long is 1 worse, and a rate of half is 0.5 less.
[[nodiscard]] double loss_of(double value, double best, Better better);

struct AmountRuns {
  unsigned amount = 0;
  std::vector<double> values;  // one of each round
};

struct Knee {
  // The smallest amount that is certainly close enough to the best, as are all larger ones: their
  // upper bounds against each other amount are at most `relevant`. Nothing if the largest
  // amount already is not certain.
  std::optional<unsigned> amount;
  // The smallest amount that is not certainly worse than that, as are all larger ones. Between it
  // and `amount`, the measurements cannot tell.
  unsigned perhaps = 0;
  // The smallest amount that is close enough by the estimates, as are all larger ones.
  unsigned likely = 0;
  unsigned best = 0;           // the amount with the best median
  bool most_is_worse = false;  // the largest amount certainly is worse than another one
  bool all_are_zero = false;   // all values: then no amount suffices
};

// The curve is sorted by amount and not empty; values[i] of all amounts are of the same round.
// Values below the share `negligible` of the largest median count as equal: traffic may be nothing,
// and the ratio of two remainders means nothing.
[[nodiscard]] Knee find_knee(std::vector<AmountRuns> curve, Better better, double negligible = 0);

// Many amounts are measured in two steps: first these few, with the present one if it is one of
// them, ...
[[nodiscard]] std::vector<unsigned> coarse_amounts(std::span<const unsigned> amounts,
                                                   unsigned present);
// ... then, by what was found of these, those that may well be the smallest one that suffices, one
// above them, the best and the largest of all. (If the largest certainly is worse than another one,
// there is nothing to look for.) Only the second measurement decides, so that the first one's
// scatter cannot make it name an amount that is too small.
[[nodiscard]] std::vector<unsigned> amounts_near(const Knee& knee,
                                                 std::span<const AmountRuns> coarse,
                                                 std::span<const unsigned> amounts);
// The measurements of one step, or of both.
struct MeasuredCurve {
  std::vector<AmountRuns> runs;      // by amount
  std::vector<unsigned> unbearable;  // that were so bad that they were left out
  Knee knee;                         // of the last step
};
// The amounts of the second step; none: there is none.
[[nodiscard]] std::vector<unsigned> second_amounts(const MeasuredCurve& first,
                                                   std::span<const unsigned> amounts);
// The second step decides. What only the first one had is a part of the curve.
[[nodiscard]] MeasuredCurve joined(MeasuredCurve first, MeasuredCurve second);
// The rounds of the second measurement: as many runs as one of `all` amounts would have left,
// within bounds. With very many rounds the interval is too narrow if the scatter is to one side.
[[nodiscard]] size_t rounds_near(size_t rounds, size_t all, size_t coarse, size_t near);

}  // namespace rdtd::experiment
