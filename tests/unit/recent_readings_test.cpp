// The last readings of `top`, and the curves that it and `history` draw.
#include "recent_readings.hpp"

#include <gtest/gtest.h>

#include "sparkline.hpp"

namespace rdtd {
namespace {

Usage usage_with(std::string directory, const char* counter, std::optional<double> amount) {
  Usage out;
  out.directory = std::move(directory);
  out.counters[counter].amount = amount;
  return out;
}

TEST(RecentReadings, AreThoseOfTheRowWithTheNewestAtTheEnd) {
  RecentReadings recent;
  recent.add({usage_with("a", traffic_counter, 1), usage_with("b", traffic_counter, 10)});
  recent.add(
      {usage_with("a", traffic_counter, std::nullopt), usage_with("b", traffic_counter, 20)});
  recent.add({usage_with("a", traffic_counter, 3), usage_with("b", traffic_counter, 30)});
  using Values = std::vector<std::optional<double>>;
  EXPECT_EQ(recent.of(usage_with("a", traffic_counter, 3), 4), (Values{{}, 1, {}, 3}));
  EXPECT_EQ(recent.of(usage_with("b", traffic_counter, 30), 2), (Values{20, 30}));
  EXPECT_EQ(recent.of(usage_with("c", traffic_counter, 30), 2), (Values{{}, {}}));
}

TEST(RecentReadings, AreForgottenWithTheirRowAndAtMostSixty) {
  RecentReadings recent;
  for (int i = 0; i < 100; i++) recent.add({usage_with("a", traffic_counter, i)});
  const auto values = recent.of(usage_with("a", traffic_counter, 0), 100);
  EXPECT_EQ(values[39], std::nullopt);
  EXPECT_EQ(values[40], 40);
  EXPECT_EQ(values[99], 99);
  recent.add({usage_with("b", traffic_counter, 1)});
  recent.add({usage_with("a", traffic_counter, 1)});
  EXPECT_EQ(recent.of(usage_with("a", traffic_counter, 0), 3)[1], std::nullopt);
}

TEST(RecentReadings, AreOfTheOccupancyIfNoTrafficIsCounted) {
  RecentReadings recent;
  recent.add({usage_with("a", occupancy_counter, 5)});
  EXPECT_STREQ(recent.counter(), occupancy_counter);
  EXPECT_EQ(recent.of(usage_with("a", occupancy_counter, 5), 1).front(), 5);
  recent.add({usage_with("a", traffic_counter, 7)});
  EXPECT_STREQ(recent.counter(), traffic_counter);
  EXPECT_EQ(recent.of(usage_with("a", traffic_counter, 7), 2).front(), std::nullopt);
}

TEST(Sparkline, HasAColumnForEachValueAndABlankForAGap) {
  const std::vector<std::optional<double>> values = {0, 1, 2, std::nullopt, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(values, 7, true), "▁▂▃ ▄▅▆▇█");
  EXPECT_EQ(sparkline(values, 7, false), "_., -=+*#");
  EXPECT_EQ(sparkline(values, 0, false), "___ _____");
  EXPECT_EQ(sparkline({}, 7, true), "");
}

}  // namespace
}  // namespace rdtd
