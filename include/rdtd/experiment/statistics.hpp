// Statistics of repeated measurements: medians, the ratio of two conditions with its interval, and
// distributions of many short times. Values in, values out. docs/decisions/ratio-interval.md
// explains the choice of the interval.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rdtd::experiment {

// The mean of the two middle values of an even number; 0 without values.
[[nodiscard]] double median(std::vector<double> values);

// One condition compared with another.
struct Ratio {
  double estimate = 1;
  // 95%. Absent below six rounds: no interval of so few has that confidence.
  struct Interval {
    double low = 1, high = 1;
    bool operator==(const Interval&) const = default;
  };
  std::optional<Interval> interval;
  // Differs: the interval excludes 1. The same: it excludes all that is relevant, or what it allows
  // is next to nothing. If it includes 1 and more than that, a difference may hide in it.
  enum class Verdict { differs, same, unclear };
  [[nodiscard]] Verdict verdict() const;
};
[[nodiscard]] std::string_view to_string(Ratio::Verdict verdict);

// Fewer have no interval.
inline constexpr size_t fewest_rounds = 6;

// By how much a condition may be worse than another one, and still be as good.
inline constexpr double relevant = 1.05;

// values[i] and base[i] are of the same round. The estimate is the median of the means of all pairs
// of rounds, and the interval is that of Wilcoxon's signed-rank test, both of the logarithms of the
// ratios. 0 is infinitely many times less than any other value, and as much as 0. Rounds with a
// value below 0 are left out; nothing if none remains.
[[nodiscard]] std::optional<Ratio> paired_ratio(std::span<const double> values,
                                                std::span<const double> base);

// Times in nanoseconds, counted in buckets that are 2.2% wide: of constant size, so that recording
// does not itself fill the cache that is measured. Can be copied as bytes between processes.
struct Distribution {
  static constexpr unsigned per_octave = 32, octaves = 40;
  std::array<uint64_t, size_t{per_octave} * octaves> counts{};
  uint64_t count = 0;
  double sum = 0, least = 0, most = 0;

  void add(double nanoseconds);
  void add(const Distribution& other);
  [[nodiscard]] double mean() const;
  // `part` is from 0 to 1. Within a bucket; 0 without values.
  [[nodiscard]] double quantile(double part) const;
};

// For a picture: four buckets an octave, from the first that is not empty to the last.
struct Bucket {
  double from = 0;  // nanoseconds
  uint64_t count = 0;
  bool operator==(const Bucket&) const = default;
};
[[nodiscard]] std::vector<Bucket> histogram(const Distribution& distribution);

}  // namespace rdtd::experiment
