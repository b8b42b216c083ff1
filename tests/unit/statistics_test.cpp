#include "rdtd/experiment/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "rdtd/experiment/schedule.hpp"

namespace rdtd::experiment {
namespace {

constexpr size_t default_rounds = 9;

TEST(Statistics, Median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Statistics, RatioOfConstantRounds) {
  const std::vector<double> base(6, 2.0), twice(6, 4.0);
  const auto ratio = paired_ratio(twice, base);
  ASSERT_TRUE(ratio && ratio->interval);
  EXPECT_DOUBLE_EQ(ratio->estimate, 2);
  EXPECT_DOUBLE_EQ(ratio->interval->low, 2);
  EXPECT_DOUBLE_EQ(ratio->interval->high, 2);
  EXPECT_TRUE(ratio->differs());
  EXPECT_FALSE(paired_ratio(base, base)->differs());
}

TEST(Statistics, FiveRoundsHaveNoInterval) {
  const std::vector<double> base(5, 2.0), twice(5, 4.0);
  EXPECT_FALSE(paired_ratio(twice, base)->interval);
  EXPECT_FALSE(paired_ratio(std::vector<double>{0.0}, std::vector<double>{1.0}));
}

// With n = 6 the interval is from the least to the greatest; with n = 9, the published critical
// value of the test is 5, so that the sixth mean from each end bounds it.
TEST(Statistics, IntervalIsThatOfTheSignedRankTest) {
  const std::vector<double> base(9, 1.0);
  std::vector<double> values;
  for (int i = 1; i <= 9; ++i) values.push_back(std::exp(i));
  const auto nine = paired_ratio(values, base);
  EXPECT_NEAR(std::log(nine->interval->low), 2.5, 1e-9);
  EXPECT_NEAR(std::log(nine->interval->high), 7.5, 1e-9);
  values.resize(6);
  const auto six = paired_ratio(values, std::span(base).first(6));
  EXPECT_NEAR(std::log(six->interval->low), 1, 1e-9);
  EXPECT_NEAR(std::log(six->interval->high), 6, 1e-9);
}

// How often the interval excludes 1 if one condition takes `factor` times as long.
double detected(const std::function<double(std::mt19937_64&)>& noise, double factor) {
  constexpr int experiments = 4000;
  std::mt19937_64 random(20240117);
  int found = 0;
  for (int i = 0; i < experiments; ++i) {
    std::vector<double> values, base;
    for (size_t round = 0; round < default_rounds; ++round) {
      values.push_back(factor * noise(random));
      base.push_back(noise(random));
    }
    found += paired_ratio(values, base)->differs() ? 1 : 0;
  }
  return static_cast<double>(found) / experiments;
}

TEST(Statistics, FalsePositivesAndRealDifferences) {
  const struct {
    const char* name;
    std::function<double(std::mt19937_64&)> noise;
  } rows[] = {
      {"normal", [](auto& random) { return std::normal_distribution(1.0, 0.02)(random); }},
      {"skewed", [](auto& random) { return std::lognormal_distribution(0.0, 0.05)(random); }},
      {"heavy tail",
       [](auto& random) {
         return 1 + 0.01 * std::min(1e6, std::abs(std::cauchy_distribution(0.0, 1.0)(random)));
       }},
      {"two modes",
       [](auto& random) {
         return (std::bernoulli_distribution(0.2)(random) ? 1.3 : 1.0) +
                std::normal_distribution(0.0, 0.01)(random);
       }},
  };
  for (const auto& row : rows) {
    EXPECT_LE(detected(row.noise, 1.0), 0.05) << row.name;
    EXPECT_GE(detected(row.noise, 1.5), 0.9) << row.name;
  }
}

TEST(Distribution, QuantilesAndHistogram) {
  Distribution distribution;
  EXPECT_EQ(distribution.quantile(0.5), 0);
  EXPECT_TRUE(histogram(distribution).empty());
  for (int i = 1; i <= 1000; ++i) distribution.add(i);
  EXPECT_NEAR(distribution.quantile(0.5), 500, 500 * 0.022);
  EXPECT_NEAR(distribution.quantile(0.99), 990, 990 * 0.022);
  EXPECT_EQ(distribution.quantile(1), 1000);
  EXPECT_EQ(distribution.least, 1);
  EXPECT_EQ(distribution.mean(), 500.5);
  Distribution twice = distribution;
  twice.add(distribution);
  EXPECT_EQ(twice.count, 2000U);
  EXPECT_EQ(twice.quantile(0.5), distribution.quantile(0.5));
}

TEST(Distribution, MeanOfTwo) {
  Distribution both, other;
  both.add(1);
  other.add(2);
  other.add(6);
  both.add(other);
  EXPECT_EQ(both.mean(), 3);
}

TEST(Distribution, BucketsOfThePicture) {
  Distribution distribution;
  for (const double value : {0.0, 4.0, 4.1, 8.0}) distribution.add(value);
  const auto buckets = histogram(distribution);
  ASSERT_EQ(buckets.size(), 13U);
  EXPECT_EQ(buckets.front(), (Bucket{1, 1}));
  EXPECT_EQ(buckets[8], (Bucket{4, 2}));
  EXPECT_EQ(buckets.back(), (Bucket{8, 1}));
}

TEST(Schedule, Rotates) {
  EXPECT_EQ(schedule(3, 3, 1), (std::vector<experiment::Run>{{0, 0, true},
                                                             {0, 1, true},
                                                             {0, 2, true},
                                                             {0, 1},
                                                             {0, 2},
                                                             {0, 0},
                                                             {1, 2},
                                                             {1, 0},
                                                             {1, 1},
                                                             {2, 0},
                                                             {2, 1},
                                                             {2, 2}}));
  EXPECT_TRUE(schedule(3, 0, 0).empty());
}

}  // namespace
}  // namespace rdtd::experiment
