// The schemata of a group as a recording has them: looked up for each row of each sample.
#include <gtest/gtest.h>

#include <string>

#include "rdtd/observe/detector.hpp"
#include "rdtd/observe/schemata_text.hpp"

namespace rdtd::observe {
namespace {

TEST(SchemataText, AsText) {
  const SchemataText text(
      "L3CODE:0-3,8=f;9=1 L3DATA:0=f0;8=x MB:0-1=100;1=50;2=40;5-4=7 L2:1=3 x=3");
  const auto id = [](uint32_t domain) { return DomainId{domain}; };
  EXPECT_EQ(text.ways("L3", id(0)), 0xffU);
  EXPECT_EQ(text.ways("L3", id(3)), 0xfU);
  EXPECT_EQ(text.ways("L3", id(8)), 0xfU);
  EXPECT_EQ(text.ways("L3", id(4)), std::nullopt);
  EXPECT_EQ(text.ways("L2", id(1)), 3U);
  EXPECT_EQ(text.ways("L2", id(0)), std::nullopt);
  EXPECT_EQ(text.value("MB", id(1)), "100");  // the first one counts
  EXPECT_EQ(text.value("MB", id(2)), "40");
  EXPECT_EQ(text.value("MB", id(4)), "");
  EXPECT_EQ(text.value("M", id(1)), "");
  EXPECT_EQ(text.value("L3CODE", id(UINT32_MAX)), "");
  EXPECT_EQ(SchemataText("").value("MB", id(0)), "");
  EXPECT_EQ(domain_list(text.domains("MB")), "0-2");
  EXPECT_EQ(domain_list(text.domains("L3CODE")), "0-3,8-9");
  EXPECT_EQ(domain_list(text.domains("L3")), "");
  EXPECT_EQ(SchemataText("MB:1-4294967295=1").domains("MB").size(), 256U);
  const std::string long_text = "L3:0-1=ff MB:0-1=100";
  const SchemataText copy = SchemataText(long_text);
  EXPECT_EQ(copy.value("MB", id(1)), "100");
}

// A long text is looked up for each of many rows: reading it each time would take minutes.
TEST(SchemataText, LongTextOfManyGroups) {
  std::string text = "L3:0=ff";
  for (int domain = 1; text.size() < 16'000; ++domain) text += ";" + std::to_string(domain) + "=ff";
  Detector detector({"host", "6.12", "0.3", 1});
  for (uint64_t second = 1; second <= 20; ++second) {
    Sample sample;
    sample.time_usec = sample.monotonic_usec = second * 1'000'000;
    for (uint32_t i = 0; i < 4000; ++i)
      sample.counters.push_back({"g" + std::to_string(i % 100),
                                 "L3",
                                 DomainId{i / 100},
                                 {{"mbm_total_bytes", second * 1000}}});
    if (second == 1)
      for (int group = 0; group < 100; ++group) sample.schemata["g" + std::to_string(group)] = text;
    EXPECT_TRUE(detector.add(sample).empty());
    EXPECT_EQ(detector.traffic().size(), 40U);
  }
}

}  // namespace
}  // namespace rdtd::observe
