#include "rdtd/experiment/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace rdtd::experiment {

namespace {

constexpr double tail = 0.025;  // on each side
// Smaller differences are none: an emulated machine shows even those.
constexpr double nothing = 0.005;
// The logarithm of a ratio of or by 0: above all others, and the mean with its opposite is 0.
constexpr double endless = 500;

// How many of the sorted means of pairs lie outside the interval on each side: the largest k for
// which the sum of the positive ranks is below k with at most that probability, if all signs are
// equally likely. Nothing if even k = 1 is more likely.
std::optional<size_t> exactly_outside(size_t rounds) {
  const size_t most = rounds * (rounds + 1) / 2;
  std::vector<double> probability(most + 1, 0.0);  // of each sum of ranks
  probability[0] = 1;
  for (size_t rank = 1; rank <= rounds; ++rank)
    for (size_t sum = most + 1; sum-- > 0;)
      probability[sum] = (probability[sum] + (sum >= rank ? probability[sum - rank] : 0)) / 2;
  double cumulative = 0;
  size_t k = 0;
  while (k <= most && cumulative + probability[k] <= tail) cumulative += probability[k++];
  return k == 0 ? std::nullopt : std::optional(k);
}

// Of very many, the sum is as good as normal; to count all signs would take their cube.
std::optional<size_t> outside(size_t rounds) {
  constexpr size_t most_counted = 200;
  constexpr double quantile = 1.959964;  // of the tail
  if (rounds > most_counted) {
    const auto n = static_cast<double>(rounds);
    return static_cast<size_t>(n * (n + 1) / 4 -
                               quantile * std::sqrt(n * (n + 1) * (2 * n + 1) / 24));
  }
  static std::map<size_t, std::optional<size_t>> known;
  const auto [found, is_new] = known.try_emplace(rounds);
  if (is_new) found->second = exactly_outside(rounds);
  return found->second;
}

size_t bucket_of(double nanoseconds) {
  if (!(nanoseconds > 1)) return 0;
  const double at = std::floor(std::log2(nanoseconds) * Distribution::per_octave);
  return std::min(static_cast<size_t>(at), std::tuple_size_v<decltype(Distribution::counts)> - 1);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Ratio::Verdict Ratio::verdict() const {
  if (!interval) return Verdict::unclear;
  const auto [low, high] = *interval;
  if (low > 1 - nothing && high < 1 + nothing) return Verdict::same;
  if (low > 1 || high < 1) return Verdict::differs;
  return low >= 1 / relevant && high <= relevant ? Verdict::same : Verdict::unclear;
}

std::string_view to_string(Ratio::Verdict verdict) {
  constexpr std::array names = {"differs", "same", "unclear"};
  return names[static_cast<size_t>(verdict)];
}

namespace {

// Nothing of values below 0.
std::optional<double> logarithm_of(double value, double base) {
  if (!(value >= 0) || !(base >= 0)) return std::nullopt;
  if (value == base) return 0;
  if (base == 0) return endless;
  return value == 0 ? -endless : std::log(value / base);
}

// Of a mean of two such logarithms.
double ratio_of(double logarithm) {
  if (logarithm > endless / 4) return std::numeric_limits<double>::infinity();
  return logarithm < -endless / 4 ? 0 : std::exp(logarithm);
}

}  // namespace

std::optional<Ratio> paired_ratio(std::span<const double> values, std::span<const double> base) {
  std::vector<double> logarithms;
  for (size_t i = 0; i < std::min(values.size(), base.size()); ++i)
    if (const auto logarithm = logarithm_of(values[i], base[i])) logarithms.push_back(*logarithm);
  if (logarithms.empty()) return std::nullopt;
  std::vector<double> means;
  for (size_t i = 0; i < logarithms.size(); ++i)
    for (size_t j = i; j < logarithms.size(); ++j)
      means.push_back((logarithms[i] + logarithms[j]) / 2);
  const auto nth = [&](size_t index) {
    std::ranges::nth_element(means, means.begin() + static_cast<ptrdiff_t>(index));
    return means[index];
  };
  const size_t middle = means.size() / 2;
  const double above = nth(middle), below = means.size() % 2 == 1 ? above : nth(middle - 1);
  Ratio out{ratio_of((below + above) / 2), {}};
  if (const auto k = outside(logarithms.size()))
    out.interval = {ratio_of(nth(*k - 1)), ratio_of(nth(means.size() - *k))};
  return out;
}

void Distribution::add(double nanoseconds) {
  least = count == 0 ? nanoseconds : std::min(least, nanoseconds);
  most = count == 0 ? nanoseconds : std::max(most, nanoseconds);
  ++counts[bucket_of(nanoseconds)];
  ++count;
  sum += nanoseconds;
}

void Distribution::add(const Distribution& other) {
  if (other.count == 0) return;
  least = count == 0 ? other.least : std::min(least, other.least);
  most = count == 0 ? other.most : std::max(most, other.most);
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  count += other.count;
  sum += other.sum;
}

double Distribution::mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }

double Distribution::quantile(double part) const {
  if (count == 0) return 0;
  const double wanted = std::max(1.0, std::ceil(part * static_cast<double>(count)));
  if (wanted >= static_cast<double>(count)) return most;
  double below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto here = static_cast<double>(counts[i]);
    if (below + here < wanted) {
      below += here;
      continue;
    }
    // As if the times were spread evenly over the bucket: else two medians that differ by less than
    // a bucket would be equal, or differ by all of it.
    const double within = (wanted - below - 0.5) / here;
    return std::clamp(std::exp2((static_cast<double>(i) + within) / per_octave), least, most);
  }
  return most;
}

std::vector<Bucket> histogram(const Distribution& distribution) {
  constexpr unsigned drawn = 4;  // buckets an octave
  std::vector<Bucket> out;
  for (size_t i = 0; i < distribution.counts.size(); i += Distribution::per_octave / drawn) {
    Bucket bucket{std::exp2(static_cast<double>(i) / Distribution::per_octave), 0};
    for (size_t j = i; j < i + Distribution::per_octave / drawn; ++j)
      bucket.count += distribution.counts[j];
    if (bucket.count > 0 || !out.empty()) out.push_back(bucket);
  }
  while (!out.empty() && out.back().count == 0) out.pop_back();
  return out;
}

}  // namespace rdtd::experiment
