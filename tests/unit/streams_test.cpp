// Groups to which more cache is of no use.
#include <gtest/gtest.h>

#include <cmath>

#include "film.hpp"
#include "rdtd/observe/detector.hpp"

namespace rdtd::observe {
namespace {

TEST(Streams, AreThoseThatGainNothing) {
  const auto grows = [](double t) {
    return 0.5 * static_cast<double>(1 << (static_cast<int>(t / 10) % 4));
  };
  const Played played = Film({{"batch", "ff", grows, always(300)},
                              {"redis", "ff", grows, [&](double t) { return 300 / grows(t); }},
                              {"idle", "ff", grows, always(0)}})
                            .play(60);
  ASSERT_EQ(played.streams.size(), 1U);
  EXPECT_EQ(played.streams.front().group, "batch");
  EXPECT_EQ(played.streams.front().least, 0.5 * mib);
  EXPECT_EQ(played.streams.front().most, 4 * mib);
}

// The traffic of single samples scatters more than the tenth that makes a difference.
TEST(Streams, Scatter) {
  const auto halves = [](double t) { return static_cast<int>(t / 10) % 2 == 0 ? 4.0 : 1.0; };
  const auto scatters = [](double t) { return 300 + 36 * std::sin(t * t); };
  const auto needs_it = [&](double t) { return scatters(t) * (halves(t) > 2 ? 1 : 1.3); };
  const Played played =
      Film({{"batch", "ff", halves, scatters}, {"redis", "ff", halves, needs_it}}).play(60);
  ASSERT_EQ(played.streams.size(), 1U);
  EXPECT_EQ(played.streams.front().group, "batch");
}

// Its traffic is as much as it may be, or as the domain carries, whatever cache it has.
TEST(Streams, AreNotSeenWhereTrafficIsLimited) {
  const auto halves = [](double t) { return static_cast<int>(t / 10) % 2 == 0 ? 4.0 : 1.0; };
  const auto play = [&](double ceiling, const std::string& mb, const std::string& of_other,
                        double step = 10) {
    Film film({{"batch", "ff", halves, always(300)}, {"web", "ff", always(1), always(20)}});
    film.header().ceilings["L3"][DomainId{0}] = ceiling * mib;
    film.header().mb = {.percent = mb.find('B') == std::string::npos, .step = step, .least = step};
    film.change = [&](double t, Sample& sample) {
      if (t != 0) return;
      sample.schemata["batch"] = "L3:0-1=ff MB:0-1=" + mb.substr(0, mb.find('B'));
      sample.schemata["web"] = "L3:0-1=ff MB:0-1=" + of_other;
    };
    return film.play(60).streams.size();
  };
  EXPECT_EQ(play(1000, "100", "100"), 1U);
  EXPECT_EQ(play(330, "100", "100"), 0U);
  EXPECT_EQ(play(1000, "50", "50"), 0U);
  EXPECT_EQ(play(1000, "100", "100", 3), 1U);
  EXPECT_EQ(play(1000, "97", "97", 3), 1U);  // what a kernel makes of 100
  EXPECT_EQ(play(1000, "48", "100", 3), 0U);
  // Rates, of which no number says that there is no limit.
  EXPECT_EQ(play(1000, "64B", "2048"), 0U);
  EXPECT_EQ(play(1000, "2048B", "2048"), 1U);
}

}  // namespace
}  // namespace rdtd::observe
