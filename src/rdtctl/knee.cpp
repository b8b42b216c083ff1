#include "knee.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <ranges>

#include "rdtd/experiment/statistics.hpp"

namespace rdtd {

namespace {

constexpr double close_enough = 0.05;
// Of the difference between the best and the worst: the best may be nothing.
constexpr double negligible = 0.02;
// Of normally distributed values: their deviation by the median distance from the median, and the
// deviation of a median by that of a value (Rousseeuw and Croux, 1993; Kenney and Keeping, 1962).
constexpr double deviation_by_mad = 1.4826;
constexpr double median_by_deviation = 1.2533;
constexpr double deviations = 3.5;  // beyond which a difference of two medians is no chance

// How far the values of one amount are from their median, in proportion to it.
double scatter_of(const AmountRuns& runs) {
  const double middle = experiment::median(runs.values);
  if (middle == 0 || runs.values.size() < 2) return 0;
  std::vector<double> distances;
  for (const double value : runs.values) distances.push_back(std::abs(value - middle));
  // Of few values, the estimate is too small without this factor (Croux and Rousseeuw, 1992).
  const auto count = static_cast<double>(runs.values.size());
  const double few = count / (count - 0.8);
  return few * deviation_by_mad * experiment::median(std::move(distances)) / std::abs(middle);
}

// How much two medians may differ by chance, in proportion. Each amount has few values: the scatter
// is that of the typical amount.
double chance(const std::vector<AmountRuns>& curve) {
  std::vector<double> scatters;
  size_t fewest = SIZE_MAX;
  for (const AmountRuns& runs : curve) {
    scatters.push_back(scatter_of(runs));
    fewest = std::min(fewest, runs.values.size());
  }
  return deviations * std::sqrt(2.0) * median_by_deviation *
         experiment::median(std::move(scatters)) / std::sqrt(static_cast<double>(fewest));
}

}  // namespace

std::vector<unsigned> random_order(const std::vector<unsigned>& amounts, unsigned repeats,
                                   uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<unsigned> out, round = amounts;
  for (unsigned i = 0; i < repeats; i++) {
    std::ranges::shuffle(round, random);
    out.insert(out.end(), round.begin(), round.end());
  }
  return out;
}

Knee find_knee(const std::vector<AmountRuns>& curve, Better better) {
  std::vector<double> medians;
  for (const AmountRuns& runs : curve) medians.push_back(experiment::median(runs.values));
  const auto [least, most] = std::ranges::minmax(medians);
  const double best = better == Better::lower ? least : most;
  const double margin = 1 + close_enough + chance(curve);
  const double slack = negligible * (most - least);
  const auto suffices = [&](double value) {
    return std::abs(value - best) <= slack ||
           (better == Better::lower ? value <= best * margin : value * margin >= best);
  };
  const auto first = std::ranges::find_if(medians, suffices);
  const auto index = static_cast<size_t>(first - medians.begin());
  const bool flat = std::ranges::all_of(medians, suffices);
  return {curve[index].amount, flat, !flat && index + 1 == curve.size(), index == 0, margin};
}

}  // namespace rdtd
