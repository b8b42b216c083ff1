// From measurements at several amounts to the smallest amount that suffices. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace rdtd {

enum class Better { lower, higher };

struct AmountRuns {
  unsigned amount = 0;
  std::vector<double> values;  // one for each run; at least one
};

// Each amount `repeats` times: round after round, each in an order of its own, so that a drift of
// the machine does not look like an effect of the amount.
[[nodiscard]] std::vector<unsigned> random_order(const std::vector<unsigned>& amounts,
                                                 unsigned repeats, uint64_t seed);

struct Knee {
  unsigned amount = 0;    // the smallest one that differs from the best by no more than the margin
  bool flat = false;      // so does every amount: it makes no difference
  bool at_end = false;    // it is the largest amount that was measured: more may be better still
  bool at_begin = false;  // it is the smallest one: more is not better
  double margin = 1;      // a ratio: 5%, and what the scatter of the values may hide
};

// The curve is sorted by amount and not empty.
[[nodiscard]] Knee find_knee(const std::vector<AmountRuns>& curve, Better better);

}  // namespace rdtd
