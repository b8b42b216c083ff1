#include "bench_report.hpp"

#include <gtest/gtest.h>

namespace rdtd::bench {
namespace {

BenchResult measured(double group) {
  BenchResult out{.command = "a <b> & \"c\"", .group = "redis", .unit = "s"};
  out.noise_has_rate = true;
  for (int i = 0; i < 6; ++i) {
    out.samples[alone].push_back({1, 0.5, 0});
    out.samples[with_noise].push_back({2, 0.5, 1000});
    out.samples[in_group].push_back({group, 0.5, 310});
  }
  return out;
}

using Lines = std::vector<Comparison>;

TEST(BenchReport, Comparisons) {
  EXPECT_EQ(comparisons(measured(1)),
            (Lines{{"with noise / alone", "2.00 times as long (95%: 2.00 to 2.00)"},
                   {"in 'redis' / alone", "no difference (95%: 1.00 to 1.00)"},
                   {"in 'redis' / with noise", "0.50 times as long (95%: 0.50 to 0.50)"},
                   {"rate of the noise, in 'redis' / with noise", "31%"}}));
  BenchResult metric = measured(2);
  metric.time = false;
  metric.noise_has_rate = false;
  EXPECT_EQ(sentence(metric),
            "with noise / alone: 2.00 times as much (95%: 2.00 to 2.00); in 'redis' / alone: 2.00 "
            "times as much (95%: 2.00 to 2.00); in 'redis' / with noise: no difference (95%: 1.00 "
            "to 1.00)");
}

// A wide interval may hide a difference: its bounds say how large a one.
TEST(BenchReport, ScatterIsNotTheAbsenceOfADifference) {
  BenchResult scattered = measured(1);
  scattered.noise_has_rate = false;
  for (size_t i = 0; i < 6; ++i) {
    scattered.samples[with_noise][i].value = i % 2 == 0 ? 1.2 : 0.9;
    scattered.samples[in_group][i].value = i % 2 == 0 ? 1.03 : 0.98;
  }
  EXPECT_EQ(comparisons(scattered)[0].verdict, "too few rounds to tell (95%: 0.90 to 1.20)");
  EXPECT_EQ(comparisons(scattered)[1].verdict, "no difference (95%: 0.98 to 1.03)");
  for (Sample& sample : scattered.samples[in_group]) sample.value = 1.002;
  EXPECT_EQ(comparisons(scattered)[1].verdict, "no difference (95%: 1.00 to 1.00)");
  EXPECT_EQ(bench_json(scattered)["ratios"][0]["verdict"], "unclear");
  EXPECT_EQ(bench_json(scattered)["ratios"][1]["verdict"], "same");
  for (Sample& sample : scattered.samples[in_group]) sample.value = 1.008;
  EXPECT_EQ(comparisons(scattered)[1].verdict, "1.008 times as long (95%: 1.008 to 1.008)");
  // Nor must one of its bounds.
  for (size_t i = 0; i < 6; ++i) scattered.samples[in_group][i].value = i == 0 ? 1.004 : 1.05;
  EXPECT_EQ(comparisons(scattered)[1].verdict, "1.050 times as long (95%: 1.004 to 1.050)");
}

TEST(BenchReport, VerySmallAndVeryLargeRatios) {
  BenchResult result = measured(1);
  for (Sample& sample : result.samples[with_noise]) sample.value = 0.00123;
  EXPECT_EQ(comparisons(result)[0].verdict, "0.0012 times as long (95%: 0.0012 to 0.0012)");
  for (Sample& sample : result.samples[with_noise]) sample.value = 0.09;
  EXPECT_EQ(comparisons(result)[0].verdict, "0.09 times as long (95%: 0.09 to 0.09)");
  for (Sample& sample : result.samples[alone]) sample.value = 0;
  EXPECT_EQ(comparisons(result)[0].verdict,
            "infinitely many times as long (95%: infinity to infinity)");
}

// JSON has no number for what is infinitely many times as much.
TEST(BenchReport, ARatioToNothing) {
  BenchResult result = measured(1);
  for (Sample& sample : result.samples[alone]) sample.value = 0;
  const auto json = bench_json(result)["ratios"][0];
  EXPECT_EQ(json["verdict"], "differs");
  for (const char* key : {"ratio", "low", "high"}) EXPECT_FALSE(json.contains(key)) << key;
}

TEST(BenchReport, ThirdCondition) {
  const struct {
    BenchResult result;
    const char* name;
  } rows[] = {
      {{.group = "redis"}, "in 'redis'"},
      {{.pseudo_lock = "buffer"}, "in pseudo_lock 'buffer'"},
      {{.noise_group = "batch"}, "with noise in 'batch'"},
      {{.group = "redis", .noise_group = "batch"}, "in 'redis', with noise in 'batch'"},
  };
  for (const auto& row : rows) EXPECT_EQ(condition_name(row.result, in_group), row.name);
  BenchResult limited = measured(1);
  limited.group = "";
  limited.noise_group = "batch";
  EXPECT_EQ(comparisons(limited)[1].what, "with noise in 'batch' / alone");
}

// After an interruption there may be too few rounds to say anything about the scatter.
TEST(BenchReport, FewRounds) {
  BenchResult few = measured(1);
  for (auto& samples : few.samples) samples.resize(3);
  EXPECT_EQ(comparisons(few)[0].verdict, "2.00 times as long (too few rounds for an interval)");
  EXPECT_EQ(bench_json(few)["ratios"][0].dump(),
            R"({"condition":"with noise","base":"alone","ratio":2.0})");
}

TEST(BenchReport, Json) {
  BenchResult interrupted = measured(1);
  EXPECT_EQ(bench_json(interrupted)["complete"], true);
  interrupted.complete = false;
  interrupted.rounds_wanted = 9;
  const JsonValue json = bench_json(interrupted);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["rounds_wanted"], 9);
  EXPECT_EQ(json["conditions"][1]["runs"][0].dump(),
            R"({"value":2.0,"cpu_seconds":0.5,"noise_bytes_per_second":1000.0})");
  EXPECT_EQ(json["ratios"][0].dump(),
            R"({"condition":"with noise","base":"alone","ratio":2.0,)"
            R"("verdict":"differs","differs":true,"low":2.0,"high":2.0})");
}

BenchResult counted() {
  BenchResult out = measured(1);
  for (auto& samples : out.samples)
    for (Sample& sample : samples) {
      sample.events = {4e9, 2e9, 1e6};
      sample.occupancy = 3 << 20;
    }
  for (Sample& sample : out.samples[in_group]) sample.traffic = 5 << 20;
  out.samples[alone].front().events.clear();  // of one run: not known
  return out;
}

TEST(BenchReport, WhatWasCounted) {
  EXPECT_TRUE(counted_table(measured(1)).heads.empty());
  const ResultTable table = counted_table(counted());
  EXPECT_EQ(table.heads,
            (std::vector<std::string>{"CONDITION", "INSTRUCTIONS", "IPC", "CACHE MISSES",
                                      "OCCUPANCY (MiB)", "TRAFFIC (MiB/s)"}));
  using Row = std::vector<std::string>;
  EXPECT_EQ(table.rows,
            (std::vector<Row>{{"alone", "-", "-", "-", "3.00", "-"},
                              {"with noise", "4.00 G", "2.00", "1.00 M", "3.00", "-"},
                              {"in 'redis'", "4.00 G", "2.00", "1.00 M", "3.00", "5.00"}}));
  EXPECT_EQ(bench_json(counted())["conditions"][2]["runs"][0].dump(),
            R"({"value":1.0,"cpu_seconds":0.5,"noise_bytes_per_second":310.0,)"
            R"("instructions":4000000000.0,"cycles":2000000000.0,"cache_misses":1000000.0,)"
            R"("occupancy_bytes":3145728.0,"traffic_bytes_per_second":5242880.0})");
}

TEST(BenchReport, DisturbancesAreInTheHtml) {
  BenchResult result = counted();
  result.disturbances = {"Turbo is on."};
  const std::string html = bench_html(result);
  EXPECT_NE(
      html.find("<h2>What may have disturbed the measurement</h2>\n<ul>\n<li>Turbo is on.</li>"),
      std::string::npos);
  EXPECT_NE(html.find("<td>5.00</td>"), std::string::npos);
  EXPECT_EQ(bench_html(measured(1)).find("disturbed"), std::string::npos);
}

TEST(BenchReport, HtmlEscapesTextAndRefersToNothing) {
  const std::string html = bench_html(measured(1));
  EXPECT_NE(html.find("<h1>rdtctl bench: a &lt;b&gt; &amp; &quot;c&quot;</h1>"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
  size_t circles = 0;
  for (size_t at = 0; (at = html.find("<circle", at)) != std::string::npos; ++at) ++circles;
  EXPECT_EQ(circles, 18U);
  EXPECT_NE(html.find("<td>with noise</td><td>6</td><td>2.00 s</td>"), std::string::npos);
}

// Of a timer: how long its cycles take, how late they begin, and both.
TEST(BenchReport, ATimerHasLatenessAndResponse) {
  BenchResult result = measured(1);
  result.probe = true;
  for (auto& times : result.times) {
    times.time.add(1000);
    times.lateness.add(2000);
    times.response.add(3000);
  }
  const ResultTable table = times_table(result);
  ASSERT_EQ(table.rows.size(), 9U);
  using Row = std::vector<std::string>;
  EXPECT_EQ(table.rows[1], (Row{"alone, lateness", "2.00 us", "2.00 us", "2.00 us", "2.00 us",
                                "2.00 us", "2.00 us"}));
  EXPECT_EQ(table.rows[2], (Row{"alone, response", "3.00 us", "3.00 us", "3.00 us", "3.00 us",
                                "3.00 us", "3.00 us"}));
  EXPECT_EQ(bench_json(result)["conditions"][0]["response"]["max"], 3000.0);
  EXPECT_NE(bench_html(result).find("<h2>Response</h2>"), std::string::npos);
}

// The intervals are what the table is for; sentences are broken, and a policy in them is not.
TEST(BenchReport, ANarrowTerminalHasTheWholeResult) {
  BenchResult result = measured(1);
  result.facts = {"The command ran on CPU 6, the noise on CPUs 0-3; they share an L3 cache of 8 M.",
                  "Group 'bench' was a lease:\n[group.bench]\nl3 = \"2 ways\"\n"};
  testing::internal::CaptureStdout();
  print_bench(Context{.utf8 = false, .columns = 60}, result);
  const std::string text = testing::internal::GetCapturedStdout();
  for (const char* part :
       {"rate of th~with noise 31%\n",
        "in 'redis'~with noise 0.50 times as long (95%: 0.50 to 0.50)\n",
        "The command ran on CPU 6, the noise on CPUs 0-3; they share\n  an L3 cache of 8 M.\n",
        "was a lease:\n[group.bench]\nl3 = \"2 ways\"\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

// One axis for all conditions: which has the longer tail is to be seen.
TEST(BenchReport, PercentilesShareTheirAxis) {
  BenchResult result = measured(1);
  result.probe = true;
  result.origin = "rdtctl bench true\nhost, Linux 6.12";
  for (size_t i = 0; i < conditions; ++i)
    for (int k = 1; k <= 1000; ++k) result.times[i].time.add(100 * (i == with_noise ? 10 : 1) + k);
  const std::string html = bench_html(result);
  EXPECT_NE(html.find("<h2>Times</h2>"), std::string::npos);
  EXPECT_EQ(html.find("<h2>Lateness</h2>"), std::string::npos);
  for (const char* tick : {">99.9%<", ">500 ns<", ">1.00 us<"})
    EXPECT_NE(html.find(tick), std::string::npos) << tick;
  size_t curves = 0;
  for (size_t at = html.find("<h2>Times"); (at = html.find("<polyline", at)) != std::string::npos;)
    ++curves, ++at;
  EXPECT_EQ(curves, 3U);
  EXPECT_NE(html.find("<footer>rdtctl bench true\nhost, Linux 6.12</footer>"), std::string::npos);
  EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
}

}  // namespace
}  // namespace rdtd::bench
