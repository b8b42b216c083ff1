#include "rdtd/experiment/knee.hpp"

#include <algorithm>
#include <iterator>

namespace rdtd::experiment {

namespace {

// How many times as bad one amount is as each of the others, with itself.
using Losses = std::vector<std::optional<Ratio>>;
Losses losses_of(const AmountRuns& amount, const std::vector<AmountRuns>& curve, Better better) {
  Losses out;
  for (const AmountRuns& other : curve)
    out.push_back(better == Better::lower ? paired_ratio(amount.values, other.values)
                                          : paired_ratio(other.values, amount.values));
  return out;
}

void raise_negligible(std::vector<AmountRuns>& curve, double negligible) {
  double most = 0;
  for (const AmountRuns& runs : curve) most = std::max(most, median(runs.values));
  for (AmountRuns& runs : curve)
    for (double& value : runs.values) value = std::max(value, negligible * most);
}

}  // namespace

double loss_of(double value, double best, Better better) {
  return better == Better::lower ? value / best - 1 : 1 - value / best;
}

Knee find_knee(std::vector<AmountRuns> curve, Better better, double negligible) {
  raise_negligible(curve, negligible);
  const bool all_are_zero = std::ranges::all_of(curve, [](const AmountRuns& runs) {
    return std::ranges::all_of(runs.values, [](double value) { return value == 0; });
  });
  std::vector<Losses> losses;
  for (const AmountRuns& runs : curve) losses.push_back(losses_of(runs, curve, better));
  const auto suffices = [&](const Losses& of) {
    return !all_are_zero && std::ranges::all_of(of, [](const auto& loss) {
      return loss && loss->interval && loss->interval->high <= relevant;
    });
  };
  const auto seems_to_suffice = [](const Losses& of) {
    return std::ranges::all_of(of,
                               [](const auto& loss) { return loss && loss->estimate <= relevant; });
  };
  const auto is_not_worse = [](const Losses& of) {
    return std::ranges::none_of(of, [](const auto& loss) {
      return loss && loss->interval && loss->interval->low > relevant;
    });
  };
  // The first one from above that does not suffice ends the search, so that the chance of naming an
  // amount that is too small is the chance of an error in one comparison, not in all of them. More
  // must not be worse: an amount that happens to be good below one that is not is no candidate.
  const auto smallest = [&](const auto& is_good) {
    std::optional<unsigned> out;
    for (size_t i = curve.size(); i-- > 0 && is_good(losses[i]);) out = curve[i].amount;
    return out;
  };
  const unsigned most = curve.back().amount;
  const auto medians = [](const AmountRuns& runs) { return median(runs.values); };
  const auto [least, greatest] = std::ranges::minmax_element(curve, {}, medians);
  return {.amount = smallest(suffices),
          .perhaps = smallest(is_not_worse).value_or(most),
          .likely = smallest(seems_to_suffice).value_or(most),
          .best = (better == Better::lower ? least : greatest)->amount,
          .most_is_worse = !is_not_worse(losses.back()),
          .all_are_zero = all_are_zero};
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

std::vector<unsigned> second_amounts(const MeasuredCurve& first,
                                     std::span<const unsigned> amounts) {
  if (first.runs.size() + first.unbearable.size() == amounts.size()) return {};
  if (first.knee.most_is_worse) return {};
  std::vector<unsigned> out = amounts_near(first.knee, first.runs, amounts);
  for (const unsigned unbearable : first.unbearable)
    if (unbearable < first.runs.front().amount)
      std::erase_if(out, [=](unsigned amount) { return amount <= unbearable; });
  return out;
}

MeasuredCurve joined(MeasuredCurve first, MeasuredCurve second) {
  const auto is_of_second = [&](unsigned amount) {
    return std::ranges::find(second.runs, amount, &AmountRuns::amount) != second.runs.end() ||
           std::ranges::find(second.unbearable, amount) != second.unbearable.end();
  };
  for (AmountRuns& runs : first.runs)
    if (!is_of_second(runs.amount)) second.runs.push_back(std::move(runs));
  std::ranges::sort(second.runs, {}, &AmountRuns::amount);
  for (const unsigned amount : first.unbearable)
    if (!is_of_second(amount)) second.unbearable.push_back(amount);
  std::ranges::sort(second.unbearable);
  return second;
}

size_t rounds_near(size_t rounds, size_t all, size_t coarse, size_t near) {
  return std::clamp(rounds * (all - coarse) / near, rounds, rounds * 3 / 2);
}

}  // namespace rdtd::experiment
