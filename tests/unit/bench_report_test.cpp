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

TEST(BenchReport, Sentence) {
  EXPECT_EQ(sentence(measured(1)),
            "With the noise, compared with alone: the command takes 2.00 times as long (95%: 2.00 "
            "to 2.00); in 'redis': no difference beyond the scatter. In 'redis', compared with the "
            "noise without it: the command takes 0.50 times as long (95%: 0.50 to 0.50); the noise "
            "keeps 31% of its rate.");
  BenchResult metric = measured(2);
  metric.time = false;
  EXPECT_EQ(sentence(metric),
            "With the noise, compared with alone: the number is 2.00 times as much (95%: 2.00 to "
            "2.00); in 'redis': the number is 2.00 times as much (95%: 2.00 to 2.00). In 'redis', "
            "compared with the noise without it: no difference beyond the scatter; the noise keeps "
            "31% of its rate.");
}

TEST(BenchReport, Json) {
  const JsonValue json = bench_json(measured(1));
  EXPECT_EQ(json["conditions"][1]["runs"][0].dump(),
            R"({"value":2.0,"cpu_seconds":0.5,"noise_bytes_per_second":1000.0})");
  EXPECT_EQ(json["ratios"][0].dump(),
            R"({"condition":"with noise","base":"alone","differs":true,"ratio":2.0,"low":2.0,)"
            R"("high":2.0})");
}

TEST(BenchReport, HtmlEscapesTextAndRefersToNothing) {
  const std::string html = bench_html(measured(1));
  EXPECT_NE(html.find("<h1>a &lt;b&gt; &amp; &quot;c&quot;</h1>"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
  size_t circles = 0;
  for (size_t at = 0; (at = html.find("<circle", at)) != std::string::npos; ++at) ++circles;
  EXPECT_EQ(circles, 18U);
}

}  // namespace
}  // namespace rdtd::bench
