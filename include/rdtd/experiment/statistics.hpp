// Statistics of repeated measurements: medians, the ratio of two conditions with its interval, and
// distributions of many short times. Values in, values out. docs/decisions/ratio-interval.md
// explains the choice of the interval.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
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
  // Whether the interval excludes 1.
  [[nodiscard]] bool differs() const;
  // Whether there is an interval that is at most 10% wide. If it is not, "no difference" would mean
  // nothing: one of 10% could hide in it.
  [[nodiscard]] bool precise() const;
};

// values[i] and base[i] are of the same round. The estimate is the median of the means of all pairs
// of rounds, and the interval is that of Wilcoxon's signed-rank test, both of the logarithms of the
// ratios. Rounds with a value that is not above 0 are left out; nothing if none remains.
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
