// The last readings of `top`, and the curves that it and `history` draw.
#include "recent_readings.hpp"

#include <gtest/gtest.h>

#include "sparkline.hpp"

namespace rdtd {
namespace {

Usage usage(std::string directory, const char* counter, std::optional<double> amount) {
  Usage out;
  out.directory = std::move(directory);
  out.counters[counter].amount = amount;
  return out;
}

constexpr const char *traffic = traffic_counter, *occupancy = occupancy_counter;

TEST(RecentReadings, AreThoseOfTheRowWithTheNewestAtTheEnd) {
  RecentReadings recent;
  recent.add({usage("a", traffic, 1), usage("b", traffic, 10)});
  recent.add({usage("a", traffic, std::nullopt), usage("b", traffic, 20)});
  recent.add({usage("a", traffic, 3), usage("b", traffic, 30)});
  using Values = std::vector<std::optional<double>>;
  EXPECT_EQ(recent.of(usage("a", traffic, 3), 4), (Values{{}, 1, {}, 3}));
  EXPECT_EQ(recent.of(usage("b", traffic, 30), 2), (Values{20, 30}));
  EXPECT_EQ(recent.of(usage("c", traffic, 30), 2), (Values{{}, {}}));
}

TEST(RecentReadings, AreForgottenWithTheirRowAndAtMostSixty) {
  RecentReadings recent;
  for (int i = 0; i < 100; i++) recent.add({usage("a", traffic, i)});
  const auto values = recent.of(usage("a", traffic, 0), 100);
  EXPECT_EQ(values[39], std::nullopt);
  EXPECT_EQ(values[40], 40);
  EXPECT_EQ(values[99], 99);
  recent.add({usage("b", traffic, 1)});
  recent.add({usage("a", traffic, 1)});
  EXPECT_EQ(recent.of(usage("a", traffic, 0), 3)[1], std::nullopt);
}

TEST(RecentReadings, AreOfTheOccupancyIfNoTrafficIsCounted) {
  RecentReadings recent;
  recent.add({usage("a", occupancy, 5)});
  EXPECT_STREQ(recent.counter(), occupancy);
  EXPECT_EQ(recent.of(usage("a", occupancy, 5), 1).front(), 5);
  recent.add({usage("a", traffic, 7)});
  EXPECT_STREQ(recent.counter(), traffic);
  EXPECT_EQ(recent.of(usage("a", traffic, 7), 2).front(), std::nullopt);
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
