#include "rdtd/experiment/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace rdtd::experiment {

namespace {

constexpr double tail = 0.025;  // on each side
constexpr double precise_width = 1.1;

// How many of the sorted means of pairs lie outside the interval on each side: the largest k for
// which the sum of the positive ranks is below k with at most that probability, if all signs are
// equally likely. Nothing if even k = 1 is more likely.
std::optional<size_t> outside(size_t rounds) {
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

bool Ratio::differs() const { return interval && (interval->low > 1 || interval->high < 1); }

bool Ratio::precise() const { return interval && interval->high <= interval->low * precise_width; }

std::optional<Ratio> paired_ratio(std::span<const double> values, std::span<const double> base) {
  std::vector<double> logarithms;
  for (size_t i = 0; i < std::min(values.size(), base.size()); ++i)
    if (values[i] > 0 && base[i] > 0) logarithms.push_back(std::log(values[i] / base[i]));
  if (logarithms.empty()) return std::nullopt;
  std::vector<double> means;
  for (size_t i = 0; i < logarithms.size(); ++i)
    for (size_t j = i; j < logarithms.size(); ++j)
      means.push_back((logarithms[i] + logarithms[j]) / 2);
  std::ranges::sort(means);
  Ratio out{std::exp(median(means)), {}};
  if (const auto k = outside(logarithms.size()))
    out.interval = {std::exp(means[*k - 1]), std::exp(means[means.size() - *k])};
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
