#include "rdtd/experiment/knee.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace rdtd::experiment {

namespace {

// How many times as bad one amount is as the other.
std::optional<Ratio> loss(const AmountRuns& amount, const AmountRuns& other, Better better) {
  return better == Better::lower ? paired_ratio(amount.values, other.values)
                                 : paired_ratio(other.values, amount.values);
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
      const auto ratio = loss(runs, other, better);
      return ratio && ratio->interval && ratio->interval->high <= relevant;
    });
  };
  const auto seems_to_suffice = [&](const AmountRuns& runs) {
    return std::ranges::all_of(curve, [&](const AmountRuns& other) {
      const auto ratio = loss(runs, other, better);
      return ratio && ratio->estimate <= relevant;
    });
  };
  const auto is_not_worse = [&](const AmountRuns& runs) {
    return std::ranges::none_of(curve, [&](const AmountRuns& other) {
      const auto ratio = loss(runs, other, better);
      return ratio && ratio->interval && ratio->interval->low > relevant;
    });
  };
  // The first one from above that does not suffice ends the search, so that the chance of naming an
  // amount that is too small is the chance of an error in one comparison, not in all of them. More
  // must not be worse: an amount that happens to be good below one that is not is no candidate.
  const auto smallest = [&](const auto& is_good) {
    std::optional<unsigned> out;
    for (const AmountRuns& runs : curve | std::views::reverse) {
      if (!is_good(runs)) break;
      out = runs.amount;
    }
    return out;
  };
  const unsigned most = curve.back().amount;
  const auto medians = [](const AmountRuns& runs) { return median(runs.values); };
  const auto [least, greatest] = std::ranges::minmax_element(curve, {}, medians);
  return {.amount = smallest(suffices),
          .perhaps = smallest(is_not_worse).value_or(most),
          .likely = smallest(seems_to_suffice).value_or(most),
          .best = (better == Better::lower ? least : greatest)->amount,
          .most_is_worse = !is_not_worse(curve.back())};
}

std::vector<unsigned> coarse_amounts(std::span<const unsigned> amounts, unsigned present) {
  constexpr size_t step = 3, few = 8;
  std::vector<unsigned> out;
  for (size_t i = 0; i < amounts.size(); ++i)
    if (amounts.size() <= few || i % step == 0 || i + 1 == amounts.size() || amounts[i] == present)
      out.push_back(amounts[i]);
  return out;
}

std::vector<unsigned> amounts_near(const Knee& knee, std::span<const AmountRuns> coarse,
                                   std::span<const unsigned> amounts) {
  // From the largest that is certainly worse; those below it need no look. One more above what
  // seems to be enough, since that may be an error. Without the best, an amount could pass that is
  // worse than that.
  unsigned from = amounts.front(), above = amounts.back();
  for (const AmountRuns& runs : coarse) {
    if (runs.amount < knee.perhaps) from = std::max(from, runs.amount);
    if (runs.amount > knee.likely) above = std::min(above, runs.amount);
  }
  std::vector<unsigned> out;
  std::ranges::copy_if(amounts, std::back_inserter(out), [&](unsigned amount) {
    return (amount >= from && amount <= knee.likely) || amount == above || amount == knee.best ||
           amount == amounts.back();
  });
  return out;
}

size_t rounds_near(size_t rounds, size_t all, size_t coarse, size_t near) {
  return std::clamp(rounds * (all - coarse) / near, rounds, rounds * 3 / 2);
}

}  // namespace rdtd::experiment
