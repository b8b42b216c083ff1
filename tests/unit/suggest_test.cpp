// The pure parts of suggest: what it says of a curve, and the text of the lease.
#include <gtest/gtest.h>

#include <functional>

#include "suggest_report.hpp"
#include "suggest_steps.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

using Curve = std::function<double(unsigned)>;

// All settings but the amount that is stepped are those of the policy.
TEST(SteppedGroup, AmendsTheGroup) {
  EXPECT_EQ(stepped_group_text("a", Resource::L3, "5 ways"),
            "[group.a]\namend = true\nl3 = \"5 ways\"\n");
  EXPECT_EQ(stepped_group_text("a.b", Resource::MB, "20%"),
            "[group.\"a.b\"]\namend = true\nmb = \"20%\"\n");
}

TEST(SuggestAmounts, OfWhatTheMachineHas) {
  Capabilities machine;
  const auto text = [&](Resource resource) {
    const auto amounts = amounts_of(machine, resource);
    if (!amounts) return amounts.error();
    std::string out;
    for (const unsigned amount : *amounts) out += std::to_string(amount) + " ";
    return out;
  };
  EXPECT_EQ(text(Resource::L3), "this machine does not divide L3, or divides code and data of L3");
  EXPECT_EQ(text(Resource::MB), "this machine does not limit memory bandwidth");
  machine.caches[Resource::L3] = {.cbm_mask = Cbm{0xf}, .min_cbm_bits = 2};
  machine.bandwidths[Resource::MB] = {.bandwidth_gran = 20, .min_bandwidth = 10};
  EXPECT_EQ(text(Resource::L3), "2 3 4 ");
  EXPECT_EQ(text(Resource::MB), "20 40 60 80 100 ");
  const std::string rates = "suggest --mb tries percentages, and this machine limits bandwidth in ",
                    cure = ": compare single limits, as in 'rdtctl bench --mb \"8 GB/s\" COMMAND'";
  machine.bandwidths[Resource::MB].unit = BandwidthUnit::eighth_gbps;
  EXPECT_EQ(text(Resource::MB), rates + "GB/s" + cure);
  machine.bandwidths[Resource::MB].unit = BandwidthUnit::mbps;
  EXPECT_EQ(text(Resource::MB), rates + "MiB/s (mba_MBps)" + cure);
}

// Without scatter: each amount has its value six times.
SuggestResult suggested(const Curve& curve) {
  SuggestResult out{.group = "redis",
                    .measure = {"the traffic", "MiB/s", 1 << 20, Better::lower},
                    .policy = "[group.redis]\nl3 = \"6 ways\"\n",
                    .place = "/etc/rdtd/a.toml:3",
                    .others = {{"default", 16}, {"batch", 4}},
                    .then = {{"default", 14}, {"batch", 4}}};
  for (unsigned ways = 1; ways <= 8; ++ways)
    out.curve.push_back({ways, std::vector(6, curve(ways))});
  out.knee = experiment::find_knee(out.curve, out.measure.better);
  return out;
}

double cliff(unsigned ways) { return ways < 6 ? 8 << 20 : 1 << 20; }
double flat(unsigned) { return 8 << 20; }

TEST(SuggestReport, Verdicts) {
  EXPECT_EQ(verdict(suggested(cliff)),
            "The smallest amount that is certainly within 5% of the best: 6 ways.");
  SuggestResult none = suggested(flat);
  EXPECT_EQ(verdict(none),
            "More than 1 way do not improve the traffic of 'redis' by more than 5%: ways do not "
            "help.");
  EXPECT_FALSE(none.conclusive());
  none.curve.erase(none.curve.begin(), none.curve.begin() + 2);
  none.knee.amount = 3;
  EXPECT_EQ(verdict(none),
            "More than 3 ways do not improve the traffic of 'redis' by more than 5%: fewer were "
            "not measured.");
  SuggestResult limit = suggested(flat);
  limit.resource = Resource::MB;
  EXPECT_EQ(verdict(limit),
            "No limit that was measured changes the traffic of 'redis' by more than 5%.");
  EXPECT_EQ(verdict(suggested([](unsigned ways) { return 100.0 / ways; })),
            "The smallest amount that is certainly within 5% of the best: 8 ways. It is the "
            "largest that was measured: more may be better.");
  EXPECT_EQ(verdict(suggested([](unsigned ways) { return 100.0 * ways; })),
            "More is worse: the traffic of 'redis' is best below 8 ways.");
}

// What --max-loss left out was measured once, and is worse.
TEST(SuggestReport, WhatWasUnbearableCounts) {
  SuggestResult some = suggested(flat);
  some.curve.erase(some.curve.begin(), some.curve.begin() + 4);
  some.unbearable = {1, 2, 3, 4};
  some.knee = experiment::find_knee(some.curve, some.measure.better);
  EXPECT_EQ(verdict(some),
            "The smallest amount that is certainly within 5% of the best: 5 ways. Less was left "
            "out by --max-loss.");
  EXPECT_TRUE(some.conclusive());
  EXPECT_EQ(suggest_json(some)["flat"], false);
  EXPECT_EQ(suggest_json(some)["place"], "/etc/rdtd/a.toml:3");
  // Only more.
  some.unbearable = {9};
  EXPECT_FALSE(some.conclusive());
  some.curve.erase(some.curve.begin(), some.curve.end() - 1);
  some.unbearable = {1, 2, 3, 4, 5, 6, 7};
  some.knee = experiment::find_knee(some.curve, some.measure.better);
  EXPECT_EQ(verdict(some),
            "Only 8 ways were measured: there is nothing to compare. Less was left out by "
            "--max-loss.");
  EXPECT_FALSE(some.conclusive());
  const JsonValue json = suggest_json(some);
  EXPECT_EQ(json["knee"], JsonValue());
  for (const char* key : {"flat", "at_begin", "at_end"}) EXPECT_EQ(json[key], false) << key;
}

TEST(SuggestReport, DoubtIsSaid) {
  SuggestResult some = suggested(cliff);
  some.knee.perhaps = 4;
  EXPECT_EQ(verdict(some),
            "The smallest amount that is certainly within 5% of the best: 6 ways. From 4 ways on "
            "it may be so too: more --repeats would tell.");
  EXPECT_TRUE(some.conclusive());
  some.knee = {.perhaps = 3};
  EXPECT_EQ(verdict(some),
            "Cannot tell between 3 and 8 ways: measure with more --repeats or a longer --for.");
  EXPECT_FALSE(some.conclusive());
  some.command = true;
  EXPECT_EQ(verdict(some), "Cannot tell between 3 and 8 ways: measure with more --repeats.");
  some.knee = {.perhaps = 8};
  EXPECT_EQ(verdict(some),
            "Whether the largest amount suffices, 8 ways, is not certain: measure with more "
            "--repeats.");
  EXPECT_EQ(verdict(suggested([](unsigned) { return 0.0; })), "All numbers were 0.");
}

// What the first of two steps found is no result of all amounts.
TEST(SuggestReport, AFirstStepAlone) {
  const std::optional<std::string> sentence =
      "Only some of the amounts were measured: there was no second step.";
  EXPECT_EQ(lacks_second_step({.exit = 130}, 5, 12), sentence);
  EXPECT_EQ(lacks_second_step({.exit = Exit::failed}, 5, 12), sentence);
  EXPECT_EQ(lacks_second_step({.exit = 130}, 5, 5), std::nullopt);
  EXPECT_EQ(lacks_second_step({}, 5, 12), std::nullopt);
}

TEST(SuggestReport, Costs) {
  EXPECT_EQ(cost_lines(suggested(cliff)),
            (std::vector<std::string>{"batch: 4 ways", "default: 14 ways (now 16)"}));
}

TEST(SuggestReport, TheJsonTellsWhetherAllWasMeasured) {
  SuggestResult result = suggested(cliff);
  EXPECT_EQ(suggest_json(result)["complete"], true);
  result.complete = false;
  result.rounds_wanted = 9;
  EXPECT_EQ(suggest_json(result)["complete"], false);
  EXPECT_EQ(suggest_json(result)["rounds_wanted"], 9);
}

TEST(SuggestReport, OnlyAConclusionHasAPolicy) {
  EXPECT_EQ(suggest_json(suggested(cliff))["policy"], "[group.redis]\nl3 = \"6 ways\"\n");
  EXPECT_EQ(suggest_json(suggested(flat))["policy"], JsonValue());
  EXPECT_NE(suggest_html(suggested(cliff)).find("<pre>[group.redis]"), std::string::npos);
  EXPECT_EQ(suggest_html(suggested(flat)).find("<pre>"), std::string::npos);
}

TEST(SuggestReport, TheCurveFitsTheTerminal) {
  const auto lines = [](unsigned columns) {
    testing::internal::CaptureStdout();
    print_suggestion(Context{.utf8 = false, .columns = columns}, suggested(cliff));
    return testing::internal::GetCapturedStdout();
  };
  const std::string amounts = "1 way 8.00 MiB/s 8.00 MiB/s 8.00 MiB/s ";
  EXPECT_NE(lines(0).find(amounts + std::string(40, '#') + "\n"), std::string::npos);
  EXPECT_NE(lines(50).find(amounts + std::string(10, '#') + "\n"), std::string::npos) << lines(50);
  EXPECT_NE(
      lines(50).find("The smallest amount that is certainly within 5%\n  of the best: 6 ways."),
      std::string::npos)
      << lines(50);
}

TEST(SuggestReport, HtmlHasADotForEachMeasurement) {
  const std::string html = suggest_html(suggested(cliff));
  size_t circles = 0;
  for (size_t at = 0; (at = html.find("<circle", at)) != std::string::npos; ++at) ++circles;
  EXPECT_EQ(circles, 48U);
  EXPECT_NE(html.find("<td>6 ways</td><td>1.00 MiB/s</td>"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
  EXPECT_NE(html.find("class=\"mark\""), std::string::npos);
  EXPECT_EQ(suggest_html(suggested(flat)).find("class=\"mark\""), std::string::npos);
}

}  // namespace
}  // namespace rdtd
