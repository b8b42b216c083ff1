// The pure parts of suggest: the order of the measurements, the knee, the text of the lease.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "knee.hpp"
#include "stepped_group.hpp"
#include "suggest_report.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

using Curve = std::function<double(unsigned)>;

// Values that scatter around the curve by this share; one of twenty is disturbed.
std::vector<AmountRuns> measured(const Curve& curve, double scatter, unsigned from, unsigned to,
                                 unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 1);
  std::uniform_int_distribution<int> twentieth(0, 19);
  std::vector<AmountRuns> out;
  for (unsigned amount = from; amount <= to; amount++) {
    AmountRuns runs{amount, {}};
    for (int i = 0; i < 5; i++)
      runs.values.push_back(curve(amount) * (1 + scatter * noise(random)) *
                            (scatter > 0 && twentieth(random) == 0 ? 1.5 : 1));
    out.push_back(std::move(runs));
  }
  return out;
}

TEST(Knee, Curves) {
  const auto step = [](unsigned at) {
    return [at](unsigned n) { return n < at ? 1000.0 : 100.0; };
  };
  const struct {
    const char* what;
    Curve curve;
    unsigned from, to;
    Better better;
    Knee expected;
  } rows[] = {
      {"a step at 6 ways", step(6), 1, 16, Better::lower, {6, false, false}},
      {"a step at the second amount", step(2), 1, 16, Better::lower, {2, false, false}},
      {"a step at the end", step(16), 1, 16, Better::lower, {16, false, true}},
      {"a step before the range", step(6), 8, 16, Better::lower, {8, true, false}},
      {"a step behind the range", step(20), 1, 16, Better::lower, {1, true, false}},
      {"flat", [](unsigned) { return 500.0; }, 1, 16, Better::lower, {1, true, false}},
      {"nothing", [](unsigned) { return 0.0; }, 1, 16, Better::lower, {1, true, false}},
      {"nothing from 6 ways on",
       [](unsigned n) { return n < 6 ? 1000.0 : 0.0; },
       1,
       16,
       Better::lower,
       {6, false, false}},
      {"almost nothing from 6 ways on",
       [](unsigned n) { return n < 6 ? 1000.0 : n % 3; },
       1,
       16,
       Better::lower,
       {6, false, false}},
      {"one amount", step(6), 6, 6, Better::lower, {6, true, false}},
      {"a slope",
       [](unsigned n) { return 1000.0 - 50.0 * n; },
       1,
       16,
       Better::lower,
       {16, false, true}},
      {"a slope that levels off",
       [](unsigned n) { return n < 8 ? 900.0 - 100.0 * n : 100.0; },
       1,
       16,
       Better::lower,
       {8, false, false}},
      {"more is worse",
       [](unsigned n) { return 100.0 * n; },
       1,
       16,
       Better::lower,
       {1, false, false}},
      {"best in the middle",
       [](unsigned n) { return 100.0 + 20.0 * (n < 5 ? 5 - n : n - 5); },
       1,
       16,
       Better::lower,
       {5, false, false}},
      {"higher is better",
       [](unsigned n) { return n < 6 ? 10.0 : 100.0; },
       1,
       16,
       Better::higher,
       {6, false, false}},
  };
  for (const auto& row : rows) {
    const Knee knee = find_knee(measured(row.curve, 0, row.from, row.to, 1), row.better);
    EXPECT_EQ(knee.amount, row.expected.amount) << row.what;
    EXPECT_EQ(knee.flat, row.expected.flat) << row.what;
    EXPECT_EQ(knee.at_end, row.expected.at_end) << row.what;
    EXPECT_EQ(knee.at_begin, knee.amount == row.from) << row.what;
    EXPECT_GE(knee.margin, 1.05) << row.what;
  }
}

// A working set of 6 ways that random reads fill: the misses fall in proportion.
TEST(Knee, FindsAWorkingSetThroughNoise) {
  const Curve curve = [](unsigned n) { return n < 6 ? 20 + 900 * (1 - n / 6.0) : 20.0; };
  for (const double scatter : {0.01, 0.05, 0.1})
    for (unsigned seed = 0; seed < 200; seed++) {
      const Knee knee = find_knee(measured(curve, scatter, 1, 16, seed), Better::lower);
      EXPECT_GE(knee.amount, 5U) << scatter << " " << seed;
      EXPECT_LE(knee.amount, 7U) << scatter << " " << seed;
      EXPECT_FALSE(knee.flat);
    }
}

TEST(Knee, NoiseIsNoEffect) {
  for (const double scatter : {0.01, 0.05, 0.1}) {
    int flat = 0;
    for (unsigned seed = 0; seed < 200; seed++)
      flat +=
          find_knee(measured([](unsigned) { return 500.0; }, scatter, 1, 16, seed), Better::lower)
              .flat;
    EXPECT_GE(flat, 180) << scatter;
  }
}

TEST(Order, EachRoundHasEachAmount) {
  const std::vector<unsigned> amounts = {1, 2, 4, 8};
  const auto order = random_order(amounts, 50, 7);
  ASSERT_EQ(order.size(), 200U);
  std::set<std::vector<unsigned>> rounds;
  for (size_t i = 0; i < order.size(); i += 4) {
    std::vector<unsigned> round(&order[i], &order[i] + 4);
    rounds.insert(round);
    std::ranges::sort(round);
    EXPECT_EQ(round, amounts);
  }
  EXPECT_GT(rounds.size(), 10U);
  EXPECT_EQ(order, random_order(amounts, 50, 7));
}

TEST(Verdict, SaysWhatWasMeasured) {
  SuggestResult result{.group = "a", .knee = {.amount = 8, .at_begin = true, .margin = 1.05}};
  EXPECT_EQ(verdict(result),
            "More than 8 ways do not improve the traffic of 'a': fewer were not measured.");
  EXPECT_FALSE(result.conclusive());
  result.least_ways = 8;
  EXPECT_EQ(verdict(result),
            "More than 8 ways do not improve the traffic of 'a': ways do not help.");
  result.knee = {.amount = 3, .margin = 1.6};
  EXPECT_EQ(verdict(result),
            "The values scatter by 60%, which hides what matters: measure longer or more often.");
  EXPECT_FALSE(result.conclusive());
  result.command = true;
  EXPECT_EQ(verdict(result),
            "The values scatter by 60%, which hides what matters: measure more often.");
  result.knee.margin = 1.4;
  EXPECT_EQ(verdict(result), "The smallest amount within 40% of the best: 3 ways.");
  EXPECT_TRUE(result.conclusive());
}

// All settings but the amount that is stepped are those of the policy.
TEST(SteppedGroup, KeepsOtherSettings) {
  const ParsedPolicy before = test::parse(
      "[group.a]\nl3 = \"2 ways\"\nmb = { \"0-1\" = \"20%\", \"*\" = \"50%\" }\nexclusive = true\n"
      "cpus = \"1-2\"\ndescription = \"say \\\"a\\\"\"\n");
  ASSERT_FALSE(has_errors(before.diagnostics));
  const std::string text = stepped_group_text(before.policy.groups.at(0), Resource::L3, "5 ways");
  EXPECT_EQ(text,
            "[group.a]\noverride = true\nl3 = \"5 ways\"\n"
            "mb = { \"0-1\" = \"20%\", \"*\" = \"50%\" }\nexclusive = true\ncpus = \"1-2\"\n"
            "description = \"say \\\"a\\\"\"\n");
  const ParsedPolicy again = test::parse(text);
  EXPECT_FALSE(has_errors(again.diagnostics))
      << format_diagnostics(again.diagnostics, again.policy.sources);
}

SuggestResult suggested(const Curve& curve) {
  SuggestResult out{.group = "redis",
                    .measure = {"the traffic", "MiB/s", 1 << 20, Better::lower},
                    .curve = measured(curve, 0, 1, 8, 1),
                    .policy = "[group.redis]\nl3 = \"6 ways\"\n",
                    .others = {{"default", 16}, {"batch", 4}},
                    .then = {{"default", 14}, {"batch", 4}}};
  out.knee = find_knee(out.curve, out.measure.better);
  return out;
}

double cliff(unsigned ways) { return ways < 6 ? 8 << 20 : 1 << 20; }
double flat(unsigned) { return 8 << 20; }

TEST(SuggestReport, Verdicts) {
  EXPECT_EQ(verdict(suggested(cliff)), "The smallest amount within 5% of the best: 6 ways.");
  EXPECT_EQ(verdict(suggested(flat)),
            "More than 1 way do not improve the traffic of 'redis': ways do not help.");
  SuggestResult limit = suggested(flat);
  limit.resource = Resource::MB;
  EXPECT_EQ(verdict(limit), "No limit that was measured changes the traffic of 'redis'.");
  SuggestResult last = suggested([](unsigned ways) { return 100.0 / ways; });
  EXPECT_EQ(verdict(last),
            "The smallest amount within 5% of the best: 8 ways. It is the largest that was "
            "measured: more may be better.");
  SuggestResult scattered = suggested(flat);
  scattered.knee.margin = 1.5;
  EXPECT_EQ(verdict(scattered),
            "The values scatter by 50%, which hides what matters: measure longer or more often.");
}

TEST(SuggestReport, Costs) {
  EXPECT_EQ(cost_lines(suggested(cliff)),
            (std::vector<std::string>{"batch: 4 ways", "default: 14 ways (now 16)"}));
}

TEST(SuggestReport, OnlyAConclusionHasAPolicy) {
  EXPECT_EQ(suggest_json(suggested(cliff))["policy"], "[group.redis]\nl3 = \"6 ways\"\n");
  EXPECT_EQ(suggest_json(suggested(flat))["policy"], JsonValue());
  EXPECT_NE(suggest_html(suggested(cliff)).find("<pre>[group.redis]"), std::string::npos);
  EXPECT_EQ(suggest_html(suggested(flat)).find("<pre>"), std::string::npos);
}

TEST(SuggestReport, HtmlHasADotForEachMeasurement) {
  const std::string html = suggest_html(suggested(cliff));
  size_t circles = 0;
  for (size_t at = 0; (at = html.find("<circle", at)) != std::string::npos; ++at) ++circles;
  EXPECT_EQ(circles, 40U);
  EXPECT_NE(html.find("<td>6 ways</td><td>1</td>"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
}

}  // namespace
}  // namespace rdtd
