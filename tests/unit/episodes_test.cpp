// When an episode begins and ends, and whom it names: what could be taken for contention, and is
// none.
#include <gtest/gtest.h>

#include <algorithm>

#include "domain_watch.hpp"
#include "film.hpp"
#include "rdtd/observer/memory.hpp"

namespace rdtd::observe {
namespace {

constexpr uint64_t film_began = 1'700'000'000'000'000;

// In seconds since the film began.
double at(uint64_t usec) { return (static_cast<double>(usec) - film_began) / 1e6; }

std::vector<std::string> groups(const std::vector<Part>& parts) {
  std::vector<std::string> out;
  for (const Part& part : parts) out.push_back(part.group);
  return out;
}

// `first` until the second, `then` after it.
std::function<double(double)> from(double second, double first, double then) {
  return [=](double t) { return t < second ? first : then; };
}

// The sentences of all episodes, whether they ended or not.
std::vector<std::string> said(const Played& played) {
  std::vector<std::string> out = played.sentences;
  for (const Episode& episode : played.running) out.push_back(sentence(episode));
  return out;
}

// Changes what a group may use at a second, as a load does.
std::function<void(double, Sample&)> load(double second,
                                          std::map<std::string, std::string> schemata) {
  return [=](double t, Sample& sample) {
    if (t == second) sample.schemata = schemata;
  };
}

const std::vector<std::string> nobody;

// Who goes on working and gets less suffers; who has ended its work does not.
TEST(Episodes, WhoEndedItsWorkDoesNotSuffer) {
  const Actor batch{"batch", "f0", always(4), from(60, 1, 700)};
  const auto redis = [](double then) {
    return Actor{"redis", "f", always(4), from(60, 200, then)};
  };
  EXPECT_EQ(said(Film({redis(0), batch}).play(200)), nobody);
  EXPECT_EQ(said(Film({redis(10), batch}).play(200)), nobody);
  EXPECT_EQ(said(Film({redis(100), batch}).play(200)).size(), 1U);
}

// Whose own amount was lowered has less because of that.
TEST(Episodes, ALowerAmountIsNobodysFault) {
  Film film({{"redis", "f", always(4), from(60, 400, 200)},
             {"batch", "f0", always(4), from(60, 1, 700)}});
  film.change = load(60, {{"redis", "L3:0-1=f MB:0-1=50"}});
  EXPECT_EQ(said(film.play(200)), nobody);
  // The episode that runs when it is lowered is over: what it would have is not known.
  film.change = load(80, {{"redis", "L3:0-1=f MB:0-1=50"}});
  const Played lowered = film.play(200);
  ASSERT_EQ(lowered.ended.size(), 1U);
  EXPECT_NEAR(at(lowered.ended[0].end_usec), 80, 1);
  EXPECT_TRUE(lowered.running.empty());
  // Also if its amounts could not be read just before.
  film.change = [](double t, Sample& sample) {
    if (t == 59) sample.schemata["redis"] = "";
    if (t == 60) sample.schemata["redis"] = "L3:0-1=f MB:0-1=50";
  };
  EXPECT_EQ(said(film.play(200)), nobody);
  // Another's amount, or more of it, excuses nobody.
  film.change = load(60, {{"batch", "L3:0-1=f0 MB:0-1=90"}, {"redis", "L3:0-1=f MB:0-1=100"}});
  EXPECT_EQ(said(film.play(200)).size(), 1U);
}

// What a change of masks moves is not taken, nor used less.
TEST(Episodes, AChangeOfMasksIsNoTaking) {
  const Actor redis{"redis", "ff", from(30, 8, 3.5), from(30, 5, 40)};
  Film alone({redis});
  alone.change = load(30, {{"redis", "L3:0-1=f MB:0-1=100"}});
  EXPECT_EQ(said(alone.play(100)), nobody);

  for (const char* theirs : {"f0", "fff0"}) {
    const Actor batch{"batch", "ff00", from(30, 4, 8.5), from(30, 5, 200)};
    Film given({redis, batch});
    given.change = load(30, {{"redis", "L3:0-1=f MB:0-1=100"},
                             {"batch", "L3:0-1=" + std::string(theirs) + " MB:0-1=100"}});
    EXPECT_EQ(said(given.play(100)), nobody) << theirs;
  }
  // It fills them slowly: what is left of redis there is not redis's any more.
  const auto slowly = [](double first, double then) {
    return [=](double t) { return first + (then - first) * std::clamp((t - 30) / 50, 0., 1.); };
  };
  Film slow({{"redis", "ff", slowly(8, 4), slowly(5, 40)},
             {"batch", "ff00", slowly(4, 8), slowly(5, 200)}});
  slow.change = load(30, {{"redis", "L3:0-1=f MB:0-1=100"}, {"batch", "L3:0-1=fff0 MB:0-1=100"}});
  EXPECT_EQ(said(slow.play(120)), nobody);
}

// A taker that comes some time after such a change is named.
TEST(Episodes, AfterAChangeOfMasks) {
  Film film({bystander(), victim(), taker()});
  film.change = load(10, {{"batch", "L3:0-1=7f MB:0-1=100"}});
  EXPECT_EQ(film.play(80).sentences.size(), 1U);
}

// Nobody needs more than there is once the sufferer is idle, or the domain far from its ceiling.
TEST(Episodes, BandwidthIsNoLongerShort) {
  const Actor batch{"batch", "f0", always(4), from(60, 1, 700)};
  const Played idle =
      Film({{"redis", "f", always(4), [](double t) { return t < 60    ? 400
                                                            : t < 100 ? 200
                                                                      : 0; }},
            batch})
          .play(400);
  ASSERT_EQ(idle.ended.size(), 1U);
  EXPECT_NEAR(at(idle.ended[0].end_usec), 100, 2);
  EXPECT_TRUE(idle.running.empty());
  const Played less =
      Film({{"redis", "f", always(4), from(60, 400, 150)},
            {"batch", "f0", always(4), [](double t) { return t < 60    ? 1
                                                             : t < 100 ? 700
                                                                       : 400; }}})
          .play(400);
  ASSERT_EQ(less.ended.size(), 1U);
  EXPECT_NEAR(at(less.ended[0].end_usec), 100, 2);
  EXPECT_TRUE(less.running.empty());
}

TEST(Episodes, BandwidthLastsWhileItIsShort) {
  const Played played = Film({{"redis", "f", always(4), from(60, 400, 200)},
                              {"batch", "f0", always(4), from(60, 1, 700)}})
                            .play(4000);
  EXPECT_TRUE(played.ended.empty());
  EXPECT_EQ(played.running.size(), 1U);
}

// Its lines may stay for ever, but who does nothing takes nothing.
TEST(Episodes, AnIdleTakerTakesNothing) {
  const Played played = Film({{"redis", "ff", from(30, 4, 1), from(30, 5, 40)},
                              {"batch", "ff", from(30, 0.5, 3.5), between(30, 60, 0.1, 200)}})
                            .play(3000);
  ASSERT_EQ(played.ended.size(), 1U);
  EXPECT_NEAR(at(played.ended[0].end_usec), 60, 2);
  EXPECT_TRUE(played.running.empty());
}

TEST(Episodes, WhoNoLongerSharesWaysTakesNothing) {
  Film film({victim(), taker()});
  film.change = load(45, {{"batch", "L3:0-1=f00 MB:0-1=100"}});
  const Played played = film.play(100);
  ASSERT_EQ(played.ended.size(), 1U);
  EXPECT_NEAR(at(played.ended[0].end_usec), 45, 2);
}

// What has been so for ten minutes is usual. Who gets it back later takes nothing all the same.
TEST(Episodes, AfterTenMinutesItIsUsual) {
  const auto wobbles = [](double low, double high) {
    return [=](double t) {
      return t < 30 ? low : static_cast<int>(t / 40) % 2 == 0 ? high : (low + high) / 2 + 0.1;
    };
  };
  const Played played = Film({{"redis", "ff", wobbles(4, 1), from(30, 5, 40)},
                              {"batch", "ff", wobbles(0.5, 3.5), from(30, 0.1, 200)}})
                            .play(3000);
  ASSERT_FALSE(played.ended.empty());
  EXPECT_LE(at(played.ended[0].end_usec), 700);
  for (const Episode& episode : played.ended)
    EXPECT_EQ(groups(episode.takers), std::vector<std::string>{"batch"}) << sentence(episode);
  EXPECT_TRUE(played.running.empty());
}

// Nobody was seen to suffer while the machine slept, and no time passed when the clock was set.
TEST(Episodes, EndBeforeAGap) {
  constexpr int64_t hours = 8 * 3'600'000'000;
  const struct {
    const char* what;
    int64_t monotonic, clock;
  } rows[] = {
      {"a sleep", hours, hours},
      {"the clock is set forth", 0, hours},
      {"the clock is set back", 0, -hours},
  };
  const std::vector<Actor> kinds[] = {
      {victim(), taker()},
      {{"redis", "f", always(4), from(30, 400, 200)}, {"batch", "f0", always(4), from(30, 1, 700)}},
  };
  for (const auto& row : rows)
    for (const auto& actors : kinds) {
      Film film(actors);
      film.change = [&](double t, Sample& sample) {
        if (t < 45) return;
        sample.monotonic_usec += static_cast<uint64_t>(row.monotonic);
        sample.time_usec += static_cast<uint64_t>(row.clock);
      };
      const Played played = film.play(47);
      ASSERT_EQ(played.ended.size(), 1U) << row.what;
      EXPECT_NEAR(at(played.ended[0].begin_usec), 31, 3) << row.what;
      EXPECT_NEAR(at(played.ended[0].end_usec), 44, 1) << row.what;
      // What goes on after it is another one, not what is usual now.
      Film again(actors);
      again.change = film.change;
      const Played longer = again.play(55);
      ASSERT_EQ(longer.running.size(), 1U) << row.what;
      EXPECT_EQ(groups(longer.running[0].takers), std::vector<std::string>{"batch"}) << row.what;
      EXPECT_EQ(longer.ended.size(), 1U) << row.what;
    }
}

// A clock that is slewed changes when it was, not how long.
TEST(Episodes, LastAsLongAsTimePassed) {
  Film film({victim(), taker()});
  film.change = [](double t, Sample& sample) {
    sample.time_usec -= static_cast<uint64_t>(t * 0.9e6);
  };
  const Played played = film.play(100);
  ASSERT_EQ(played.ended.size(), 1U);
  EXPECT_NEAR(at(played.ended[0].end_usec) - at(played.ended[0].begin_usec), 30, 3);
}

// Who came is named, not who always had much; and all who came.
TEST(Episodes, TakersAreThoseThatGrew) {
  const auto takers = [](const std::vector<Actor>& actors) {
    const Played played = Film(actors).play(90);
    EXPECT_EQ(played.running.size(), 1U);
    return played.running.empty() ? nobody : groups(played.running[0].takers);
  };
  const Actor redis{"redis", "f", always(4), from(60, 300, 150)};
  const Actor steady{"steady", "f0", always(4), always(600)};
  EXPECT_EQ(takers({redis, steady, {"new", "f00", always(1), from(60, 5, 240)}}),
            std::vector<std::string>{"new"});
  EXPECT_EQ(takers({redis,
                    {"one", "f0", always(4), from(60, 1, 380)},
                    {"two", "f00", always(1), from(60, 1, 390)},
                    {"little", "f00", always(1), from(60, 1, 20)}}),
            (std::vector<std::string>{"two", "one"}));
  // They explain less than half of what is missing.
  const Played other = Film({{"redis", "f", always(4), from(60, 300, 100)},
                             steady,
                             {"new", "f00", always(1), from(60, 5, 60)}})
                           .play(90);
  EXPECT_EQ(said(other), nobody);
}

// With all figures of two.
TEST(Episodes, TwoTakersAreTwo) {
  Film film({{"redis", "ff", from(30, 4, 1), from(30, 5, 40)},
             {"a", "ff", from(30, 0.5, 2), from(30, 2, 20)},
             {"b", "ff", from(30, 0.5, 2), from(30, 3, 40)}});
  EXPECT_EQ(said(film.play(50)),
            std::vector<std::string>{"L3 0: a, b took 3.0 MiB from redis within 2 s, their traffic "
                                     "went from 5.0 MiB/s to 60.0 MiB/s; traffic of redis x 8.0"});
  Film bandwidth({{"redis", "f", always(4), from(60, 300, 150)},
                  {"one", "f0", always(4), from(60, 1, 380)},
                  {"two", "f00", always(1), from(60, 1, 390)}});
  EXPECT_EQ(said(bandwidth.play(90)),
            std::vector<std::string>{"L3 0: 920.0 MiB/s of traffic, 100% of the most seen; two, "
                                     "one have 770.0 MiB/s of it, and redis went from 300.0 MiB/s "
                                     "to 150.0 MiB/s"});
}

// A counter that jumps says nothing of what a domain can carry.
TEST(Episodes, AJumpIsNoCeiling) {
  constexpr double jumps = 100.0 * (1 << 20);  // MiB: 100 TiB
  const auto traffic = [](double often) {
    return [=](double t) {
      const bool jump = t > 100 && static_cast<int>(t) % 20 == 0 && t < 105 + 20 * often;
      return jump ? jumps : 200.0;
    };
  };
  const auto shown = [](Film film, double measured) {
    if (measured > 0) film.header().ceilings["L3"] = {{DomainId{0}, measured * mib}};
    Detector detector(film.header());
    for (const Sample& sample : film.shoot(400)) (void)detector.add(sample);
    return *detector.traffic().at(0).ceiling / mib;
  };
  EXPECT_NEAR(shown(Film({{"redis", "f", always(4), traffic(2)}}), 0), 200, 1);
  // Below what no machine carries, but far above what was measured.
  const auto ten_times = [](double t) { return static_cast<int>(t) % 20 == 0 ? 5000.0 : 200.0; };
  EXPECT_NEAR(shown(Film({{"redis", "f", always(4), ten_times}}), 500), 500, 1);
}

// A few that are wrong in a day do not count, once there are many.
TEST(Episodes, AFewMeansAreNoCeiling) {
  HighMeans means;
  constexpr uint64_t hour = 3'600'000'000;
  for (uint64_t when = 0; when < hour; when += 10'000'000) means.add(when, 80);
  for (uint64_t i = 0; i < 3; ++i) means.add(hour + i * 1'000'000'000, 500);
  EXPECT_EQ(means.most(), 80);
}

// What was seen was carried.
TEST(Episodes, MoreThanWasMeasured) {
  Film film({{"redis", "f", always(4), between(60, 90, 400, 200)},
             {"batch", "f0", always(4), between(60, 90, 1, 700)}});
  film.header().ceilings["L3"] = {{DomainId{0}, 800 * mib}};
  EXPECT_EQ(film.play(120).sentences,
            std::vector<std::string>{
                "L3 0: 900.0 MiB/s of traffic, 100% of the most seen; batch has 700.0 MiB/s of it, "
                "and redis went from 400.0 MiB/s to 200.0 MiB/s"});
  Detector detector(film.header());
  for (const Sample& sample : film.shoot(200)) {
    (void)detector.add(sample);
    ASSERT_GE(*detector.traffic().at(0).ceiling, 800 * mib);
  }
  EXPECT_NEAR(*detector.traffic().at(0).ceiling, 900 * mib, mib);
}

// Where there is no room for more pairs, the one that had no episode for longest makes room.
TEST(Episodes, TheOldestPairIsForgotten) {
  Memory memory;
  const auto of = [](size_t number) {
    Episode episode{Contention::cache, "L3", DomainId{0}, 1'000'000, 2'000'000};
    episode.takers = {{"t" + std::to_string(number)}};
    episode.sufferers = {{"redis"}};
    return episode;
  };
  for (size_t i = 0; i < 1000; ++i) memory.add(of(i));
  memory.add(of(0));
  memory.add(of(1000));
  const auto counted = [&](size_t number) {
    return std::ranges::count(memory.counts({}), "t" + std::to_string(number),
                              &ContentionCount::taker);
  };
  EXPECT_EQ(memory.counts({}).size(), 1000U);
  EXPECT_EQ(counted(1000), 1);
  EXPECT_EQ(counted(0), 1);
  EXPECT_EQ(counted(1), 0);
  // One that runs is counted too.
  const auto running = memory.counts({of(2000)});
  EXPECT_EQ(running.size(), 1000U);
  EXPECT_EQ(std::ranges::count(running, "t2000", &ContentionCount::taker), 1);
}

}  // namespace
}  // namespace rdtd::observe
