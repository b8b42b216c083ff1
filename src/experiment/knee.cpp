#include "rdtd/experiment/knee.hpp"

#include <algorithm>
#include <ranges>

namespace rdtd::experiment {

namespace {

// How many times as bad one amount is as the other; nothing below six rounds.
std::optional<Ratio::Interval> loss(const AmountRuns& amount, const AmountRuns& other,
                                    Better better) {
  const auto ratio = better == Better::lower ? paired_ratio(amount.values, other.values)
                                             : paired_ratio(other.values, amount.values);
  return ratio ? ratio->interval : std::nullopt;
}

void raise_negligible(std::vector<AmountRuns>& curve, double negligible) {
  double most = 0;
  for (const AmountRuns& runs : curve) most = std::max(most, median(runs.values));
  for (AmountRuns& runs : curve)
    for (double& value : runs.values) value = std::max(value, negligible * most);
}

}  // namespace

Knee find_knee(std::vector<AmountRuns> curve, Better better, double negligible) {
  raise_negligible(curve, negligible);
  const bool nothing = std::ranges::all_of(curve, [](const AmountRuns& runs) {
    return std::ranges::all_of(runs.values, [](double value) { return value == 0; });
  });
  const auto suffices = [&](const AmountRuns& runs) {
    return !nothing && std::ranges::all_of(curve, [&](const AmountRuns& other) {
      const auto bounds = loss(runs, other, better);
      return bounds && bounds->high <= relevant;
    });
  };
  const auto is_worse = [&](const AmountRuns& runs) {
    return std::ranges::any_of(curve, [&](const AmountRuns& other) {
      const auto bounds = loss(runs, other, better);
      return bounds && bounds->low > relevant;
    });
  };
  Knee out;
  // The first one from above that does not suffice ends the search, so that the chance of naming an
  // amount that is too small is the chance of an error in one comparison, not in all of them.
  for (const AmountRuns& runs : curve | std::views::reverse) {
    if (!suffices(runs)) break;
    out.amount = runs.amount;
  }
  const auto first = std::ranges::find_if_not(curve, is_worse);
  out.perhaps = first == curve.end() ? curve.back().amount : first->amount;
  out.most_is_worse = is_worse(curve.back());
  if (out.amount) out.perhaps = std::min(out.perhaps, *out.amount);
  return out;
}

}  // namespace rdtd::experiment
