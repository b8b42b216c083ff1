#include "rdtd/experiment/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "noise_shapes.hpp"
#include "rdtd/experiment/order.hpp"
#include "support.hpp"

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
  EXPECT_EQ(ratio->verdict(), Ratio::Verdict::differs);
  EXPECT_EQ(paired_ratio(base, base)->verdict(), Ratio::Verdict::same);
}

TEST(Statistics, FiveRoundsHaveNoInterval) {
  const std::vector<double> base(5, 2.0), twice(5, 4.0);
  EXPECT_FALSE(paired_ratio(twice, base)->interval);
  EXPECT_FALSE(paired_ratio(std::vector<double>{-1.0}, std::vector<double>{1.0}));
}

// A run that does nothing at all is worse than any other, and no reason to leave its round out.
TEST(Statistics, ZeroIsInfinitelyManyTimesLess) {
  constexpr double endless = std::numeric_limits<double>::infinity();
  const std::vector<double> none(9, 0.0), base(9, 2.0);
  const auto more = paired_ratio(base, none), less = paired_ratio(none, base);
  EXPECT_EQ(more->estimate, endless);
  EXPECT_EQ(more->interval, (Ratio::Interval{endless, endless}));
  EXPECT_EQ(more->verdict(), Ratio::Verdict::differs);
  EXPECT_EQ(less->interval, (Ratio::Interval{0, 0}));
  EXPECT_EQ(paired_ratio(none, none)->verdict(), Ratio::Verdict::same);
  std::vector<double> fails = base;
  for (const size_t round : {0U, 4U, 8U}) fails[round] = 0;
  const auto sometimes = paired_ratio(fails, base);
  EXPECT_EQ(sometimes->interval, (Ratio::Interval{0, 1}));
  EXPECT_EQ(sometimes->verdict(), Ratio::Verdict::unclear);
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

// Of very many rounds, the interval is that of the normal distribution: it goes on from there.
TEST(Statistics, IntervalOfVeryManyRounds) {
  std::vector<double> values;
  for (int i = 0; i < 202; ++i) values.push_back(std::exp(i));
  const std::vector<double> base(values.size(), 1.0);
  const auto low_of = [&](size_t rounds) {
    const auto ratio = paired_ratio(std::span(values).first(rounds), base);
    return std::log(ratio->interval->low);
  };
  EXPECT_NEAR(low_of(201), low_of(200) + (low_of(200) - low_of(199)), 0.51);
  EXPECT_GE(low_of(202), low_of(201));
  std::vector<double> many(1500), ones(1500, 1.0);
  for (size_t i = 0; i < many.size(); ++i) many[i] = 1 + 0.01 * static_cast<double>(i % 7);
  const auto ratio = paired_ratio(many, ones);
  EXPECT_GT(ratio->interval->low, 1.028);
  EXPECT_LT(ratio->interval->high, 1.032);
}

// How often the interval covers the ratio of one condition that takes `factor` times as long.
double covered(const test::NoiseShape& noise, size_t rounds, double factor) {
  constexpr double scatter = 0.05;
  const unsigned measurements = test::random_cases(2000);
  std::mt19937_64 random(1);
  unsigned found = 0;
  for (unsigned i = 0; i < measurements; ++i) {
    std::vector<double> values, base;
    for (size_t round = 0; round < rounds; ++round) {
      values.push_back(factor * noise.factor(scatter, random));
      base.push_back(noise.factor(scatter, random));
    }
    const auto interval = paired_ratio(values, base)->interval;
    found += interval->low <= factor && factor <= interval->high ? 1 : 0;
  }
  return static_cast<double>(found) / measurements;
}

// A tenth of the measurements scatters by three times as much.
TEST(Statistics, IntervalsCoverTheTruth) {
  const double chance = test::random_cases(2000) < 2000 ? 0.03 : 0;
  for (const auto& noise : test::noise_shapes())
    for (const size_t rounds : {size_t{7}, default_rounds, size_t{20}})
      for (const double factor : {1.0, 1.2}) {
        const double share = covered(noise, rounds, factor);
        EXPECT_GE(share, 0.93 - chance) << noise.name << " " << rounds << " " << factor;
        EXPECT_LE(share, 0.97 + chance) << noise.name << " " << rounds << " " << factor;
      }
}

// "The same" must not be said of what may be 9% worse, although the interval is narrow.
TEST(Statistics, AnIntervalThatAllowsADifferenceTellsNothing) {
  using enum Ratio::Verdict;
  const struct {
    double low, high;
    Ratio::Verdict verdict;
  } cases[] = {{0.97, 1.05, same},    {0.96, 1.04, same},    {1.0, 1.09, unclear},
               {0.9, 1.0, unclear},   {0.5, 2.0, unclear},   {1.01, 1.03, differs},
               {0.5, 0.9, differs},   {1.0015, 1.003, same}, {1.002, 1.006, differs},
               {0.9951, 1.0049, same}};
  for (const auto& [low, high, verdict] : cases)
    EXPECT_EQ((Ratio{1, Ratio::Interval{low, high}}).verdict(), verdict) << low << " " << high;
  EXPECT_EQ(Ratio{}.verdict(), unclear);
  EXPECT_EQ(to_string(unclear), "unclear");
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
  EXPECT_NEAR(twice.quantile(0.5), distribution.quantile(0.5), 1);
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

TEST(Order, EachRoundHasEachConditionInAnOrderOfItsOwn) {
  const auto order = order_of_runs(3, 200, 7);
  ASSERT_EQ(order.size(), 603U);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(order[i], (experiment::Run{i, true}));
  std::map<std::vector<size_t>, int> rounds;
  for (size_t i = 3; i < order.size(); i += 3)
    ++rounds[{order[i].condition, order[i + 1].condition, order[i + 2].condition}];
  EXPECT_EQ(rounds.size(), 6U);
  for (const auto& [conditions, count] : rounds) {
    EXPECT_EQ(std::set(conditions.begin(), conditions.end()).size(), 3U);
    EXPECT_GE(count, 15) << "of 33 on average";
  }
  EXPECT_EQ(order, order_of_runs(3, 200, 7));
  EXPECT_TRUE(order_of_runs(0, 0, 0).empty());
}

}  // namespace
}  // namespace rdtd::experiment
