#include "rdtd/experiment/knee.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "noise_shapes.hpp"
#include "support.hpp"

namespace rdtd::experiment {
namespace {

using Curve = std::function<double(unsigned)>;
constexpr size_t rounds = 9;

std::vector<AmountRuns> exact(const Curve& curve, unsigned from, unsigned to) {
  std::vector<AmountRuns> out;
  for (unsigned amount = from; amount <= to; ++amount)
    out.push_back({amount, std::vector(rounds, curve(amount))});
  return out;
}

std::vector<AmountRuns> scattered(std::vector<AmountRuns> curve, const test::NoiseShape& noise,
                                  double scatter, std::mt19937_64& random) {
  for (AmountRuns& runs : curve)
    for (double& value : runs.values) value *= noise.factor(scatter, random);
  return curve;
}

TEST(Knee, OfCurvesWithoutScatter) {
  const auto step = [](unsigned at) {
    return [at](unsigned n) { return n < at ? 1000.0 : 100.0; };
  };
  const struct {
    const char* what;
    Curve curve;
    unsigned from;
    Better better;
    std::optional<unsigned> amount;
    unsigned perhaps;
  } rows[] = {
      {"a step at 6 ways", step(6), 1, Better::lower, 6, 6},
      {"a step at the second amount", step(2), 1, Better::lower, 2, 2},
      {"a step at the end", step(16), 1, Better::lower, 16, 16},
      {"a step before the range", step(6), 8, Better::lower, 8, 8},
      {"flat", [](unsigned) { return 500.0; }, 1, Better::lower, 1, 1},
      {"one amount", step(6), 16, Better::lower, 16, 16},
      {"a slope", [](unsigned n) { return 1000.0 - 50.0 * n; }, 1, Better::lower, 16, 16},
      {"a slope that levels off", [](unsigned n) { return n < 8 ? 900.0 - 100.0 * n : 100.0; }, 1,
       Better::lower, 8, 8},
      {"5% worse is close enough", [](unsigned n) { return n < 4   ? 1.3
                                                           : n < 9 ? 1.049
                                                                   : 1.0; }, 1,
       Better::lower, 4, 4},
      {"6% worse is not", [](unsigned n) { return n < 4   ? 1.3
                                                  : n < 9 ? 1.06
                                                          : 1.0; }, 1,
       Better::lower, 9, 9},
      {"more is worse: larger amounts do not suffice",
       [](unsigned n) { return 100.0 * n; },
       1,
       Better::lower,
       {},
       16},
      {"higher is better", [](unsigned n) { return n < 6 ? 10.0 : 100.0; }, 1, Better::higher, 6,
       6},
      {"almost nothing from 6 ways on", [](unsigned n) { return n < 6 ? 1000.0 : n % 3; }, 1,
       Better::lower, 6, 6},
      {"nothing at all", [](unsigned) { return 0.0; }, 1, Better::lower, {}, 1},
  };
  for (const auto& row : rows) {
    const Knee knee = find_knee(exact(row.curve, row.from, 16), row.better, 0.02);
    EXPECT_EQ(knee.amount, row.amount) << row.what;
    EXPECT_EQ(knee.perhaps, row.perhaps) << row.what;
  }
}

// 2 ways happen to be good, 3 to 5 certainly are not: that 2 may suffice would be misleading.
TEST(Knee, ADipIsNoCandidate) {
  const auto dip = [](unsigned n) { return n == 2 ? 1.0 : n < 6 ? 1.3 : 1.0; };
  const Knee knee = find_knee(exact(dip, 1, 8), Better::lower);
  EXPECT_EQ(knee.amount, 6U);
  EXPECT_EQ(knee.perhaps, 6U);
  EXPECT_EQ(find_knee(exact([](unsigned n) { return 1.0 * n; }, 1, 8), Better::higher).best, 8U);
  EXPECT_EQ(find_knee(exact([](unsigned n) { return 1.0 * n; }, 1, 8), Better::lower).best, 1U);
}

TEST(Knee, FewRoundsTellNothing) {
  auto curve = exact([](unsigned n) { return n < 6 ? 1000.0 : 100.0; }, 1, 8);
  for (AmountRuns& runs : curve) runs.values.resize(5);
  EXPECT_EQ(find_knee(curve, Better::lower).amount, std::nullopt);
  EXPECT_EQ(find_knee(curve, Better::lower).perhaps, 1U);
}

// An amount with which some runs fail altogether does not suffice, however good the others are; and
// one with which all fail keeps nobody from comparing the rest.
TEST(Knee, ZeroIsAValueLikeAnyOther) {
  std::vector<AmountRuns> curve;
  for (const unsigned amount : {2U, 3U, 4U, 5U}) curve.push_back({amount, std::vector(9, 100.0)});
  for (const size_t round : {1U, 4U, 7U}) curve[0].values[round] = 0;
  EXPECT_EQ(find_knee(curve, Better::higher).amount, 3U);
  curve[0].values.assign(9, 0);
  EXPECT_EQ(find_knee(curve, Better::higher).amount, 3U);
  EXPECT_EQ(find_knee(curve, Better::higher).perhaps, 3U);
  for (AmountRuns& runs : curve) runs.values.assign(9, runs.amount < 4 ? 100 : 0);
  EXPECT_EQ(find_knee(curve, Better::lower).amount, 4U);
}

TEST(Knee, ALossIsWhatPeopleCallOne) {
  EXPECT_DOUBLE_EQ(loss_of(2, 1, Better::lower), 1);
  EXPECT_DOUBLE_EQ(loss_of(1.5, 1, Better::lower), 0.5);
  EXPECT_DOUBLE_EQ(loss_of(50, 100, Better::higher), 0.5);
  EXPECT_DOUBLE_EQ(loss_of(0, 100, Better::higher), 1);
  EXPECT_DOUBLE_EQ(loss_of(7, 7, Better::higher), 0);
}

// What is said of a curve in many measurements.
struct Said {
  unsigned measurements = 0, right = 0, too_small = 0, nothing = 0;
};

Said said(const Curve& curve, const test::NoiseShape& noise, double scatter,
          unsigned measurements) {
  std::mt19937_64 random(20240117);
  const auto truth = exact(curve, 2, 8);
  const Knee right = find_knee(truth, Better::lower);
  Said out{.measurements = measurements};
  for (unsigned i = 0; i < measurements; ++i) {
    const Knee knee = find_knee(scattered(truth, noise, scatter, random), Better::lower);
    if (!knee.amount)
      ++out.nothing;
    else if (*knee.amount == *right.amount)
      ++out.right;
    else if (curve(*knee.amount) > relevant)
      ++out.too_small;
  }
  return out;
}

// A step, and a slope whose last steps are the effect divided by four.
TEST(Knee, NamesNoAmountThatIsWorse) {
  for (const double effect : {0.06, 0.1, 0.15, 0.2}) {
    const Curve curves[] = {
        [=](unsigned n) { return n < 6 ? 1 + effect : 1; },
        [=](unsigned n) { return n < 6 ? 1 + effect * (6 - n) / 4 : 1; },
    };
    for (const Curve& curve : curves)
      for (const double scatter : {0.005, 0.01, 0.02, 0.04, 0.08})
        for (const auto& noise : test::noise_shapes()) {
          const Said answers = said(curve, noise, scatter, test::random_cases(100));
          EXPECT_LE(answers.too_small, std::max(1U, answers.measurements / 20))
              << noise.name << ", effect " << effect << ", scatter " << scatter;
        }
  }
}

// More scatter makes it say less, not something else.
TEST(Knee, OftenTellsWhatCanBeTold) {
  const auto& normal = test::noise_shapes()[0];
  const Curve slope = [](unsigned n) { return n < 8 ? 1 + 0.06 * (8 - n) : 1.0; };
  const Curve step = [](unsigned n) { return n < 6 ? 1.2 : 1.0; };
  const unsigned cases = test::random_cases(200);
  EXPECT_GE(said(step, normal, 0.01, cases).right, cases * 95 / 100);
  EXPECT_GE(said(step, normal, 0.02, cases).right, cases * 80 / 100);
  EXPECT_EQ(said(step, normal, 0.08, cases).right, 0U);
  EXPECT_GE(said(slope, normal, 0.01, cases).right, cases * 95 / 100);
  EXPECT_LE(said(slope, normal, 0.05, cases).too_small, cases * 5 / 100);
  EXPECT_GE(said([](unsigned) { return 1.0; }, normal, 0.01, cases).right, cases * 95 / 100);
  EXPECT_GE(said(step, normal, 0.08, cases).nothing, cases * 90 / 100);
}

std::vector<unsigned> amounts_to(unsigned most) {
  std::vector<unsigned> out(most);
  std::iota(out.begin(), out.end(), 1);
  return out;
}

TEST(Knee, ManyAmountsAreMeasuredInTwoSteps) {
  using Amounts = std::vector<unsigned>;
  EXPECT_EQ(coarse_amounts(amounts_to(8), 3), amounts_to(8));
  EXPECT_EQ(coarse_amounts(amounts_to(11), 3), (Amounts{1, 3, 4, 7, 10, 11}));
  EXPECT_EQ(coarse_amounts(amounts_to(16), 99), (Amounts{1, 4, 7, 10, 13, 16}));
  const Amounts all = amounts_to(15);
  const std::vector<AmountRuns> coarse = {{1, {}}, {4, {}}, {7, {}}, {10, {}}, {13, {}}, {15, {}}};
  EXPECT_EQ(amounts_near({.perhaps = 7, .likely = 7, .best = 13}, coarse, all),
            (Amounts{4, 5, 6, 7, 10, 13, 15}));
  EXPECT_EQ(amounts_near({.perhaps = 7, .likely = 10, .best = 10}, coarse, all),
            (Amounts{4, 5, 6, 7, 8, 9, 10, 13, 15}));
  EXPECT_EQ(amounts_near({.perhaps = 1, .likely = 1, .best = 1}, coarse, all), (Amounts{1, 4, 15}));
  EXPECT_EQ(amounts_near({.perhaps = 15, .likely = 15, .best = 15}, coarse, all),
            (Amounts{13, 14, 15}));
  EXPECT_EQ(amounts_near({.perhaps = 1, .likely = 15, .best = 1}, coarse, all), all);
}

// Both steps, of 15 amounts with nine rounds.
std::optional<unsigned> in_two_steps(const Curve& curve, const test::NoiseShape& noise,
                                     double scatter, std::mt19937_64& random) {
  const std::vector<unsigned> all = amounts_to(15);
  const auto measured = [&](const std::vector<unsigned>& amounts, size_t count) {
    std::vector<AmountRuns> out;
    for (const unsigned amount : amounts)
      out.push_back({amount, std::vector(count, curve(amount))});
    return scattered(std::move(out), noise, scatter, random);
  };
  const auto curve_of = [&](const std::vector<unsigned>& amounts, size_t count) {
    experiment::MeasuredCurve out{.runs = measured(amounts, count), .unbearable = {}, .knee = {}};
    out.knee = find_knee(out.runs, Better::lower);
    return out;
  };
  const auto few = coarse_amounts(all, 0);
  experiment::MeasuredCurve first = curve_of(few, rounds);
  const auto near = second_amounts(first, all);
  if (near.empty()) return first.knee.amount;
  const size_t count = rounds_near(rounds, all.size(), few.size(), near.size());
  return joined(std::move(first), curve_of(near, count)).knee.amount;
}

// What a bound of the loss leaves out.
TEST(Knee, UnbearableAmountsOfBothSteps) {
  const std::vector<unsigned> all = amounts_to(15);
  experiment::MeasuredCurve first{.runs = {{4, {5}}, {7, {1}}, {10, {1}}, {13, {1}}, {15, {1}}},
                                  .unbearable = {1},
                                  .knee = {.amount = 7, .perhaps = 7, .likely = 7, .best = 7}};
  EXPECT_EQ(second_amounts(first, all), (std::vector<unsigned>{4, 5, 6, 7, 10, 15}));
  const experiment::MeasuredCurve both =
      joined(first, {.runs = {{6, {1}}, {7, {1}}, {10, {1}}, {15, {1}}},
                     .unbearable = {4, 5},
                     .knee = {.amount = 6}});
  EXPECT_EQ(both.unbearable, (std::vector<unsigned>{1, 4, 5}));
  EXPECT_EQ(both.runs.front().amount, 6U);
  EXPECT_EQ(both.runs.size(), 5U);
  EXPECT_EQ(both.knee.amount, 6U);
  // Nothing to look for.
  first.knee.most_is_worse = true;
  EXPECT_TRUE(second_amounts(first, all).empty());
}

struct SaidOfMany {
  unsigned right = 0, too_small = 0;
};

SaidOfMany said_of_many(const Curve& curve, unsigned right, const test::NoiseShape& noise,
                        double scatter, unsigned measurements) {
  std::mt19937_64 random(20240117);
  SaidOfMany out;
  for (unsigned i = 0; i < measurements; ++i) {
    const auto amount = in_two_steps(curve, noise, scatter, random);
    out.right += amount == right ? 1 : 0;
    out.too_small += amount && curve(*amount) > relevant ? 1 : 0;
  }
  return out;
}

TEST(Knee, OfManyAmountsToo) {
  const Curve step = [](unsigned n) { return n < 6 ? 1.2 : 1.0; };
  const Curve small_step = [](unsigned n) { return n < 6 ? 1.06 : 1.0; };
  const Curve slope = [](unsigned n) { return n < 8 ? 1 + 0.06 * (8 - n) : 1.0; };
  const Curve hump = [](unsigned n) { return n < 6 ? 1.3 : n < 11 ? 1.0 : 1.06; };
  const unsigned cases = test::random_cases(100);
  for (const auto& noise : test::noise_shapes())
    for (const double scatter : {0.01, 0.02, 0.04})
      for (const Curve& curve : {step, small_step, slope, hump})
        EXPECT_LE(said_of_many(curve, 6, noise, scatter, cases).too_small, std::max(1U, cases / 20))
            << noise.name << ", scatter " << scatter;
  const auto& normal = test::noise_shapes()[0];
  const auto right = [&](const Curve& curve, unsigned amount, double scatter) {
    return said_of_many(curve, amount, normal, scatter, cases).right;
  };
  EXPECT_GE(right(step, 6, 0.02), cases * 90 / 100);
  EXPECT_GE(right(slope, 8, 0.02), cases * 70 / 100);
  EXPECT_GE(right([](unsigned) { return 1.0; }, 1, 0.02), cases * 90 / 100);
}

}  // namespace
}  // namespace rdtd::experiment
