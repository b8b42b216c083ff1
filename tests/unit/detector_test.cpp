// Blame: series of samples that were made here, and what the detector says of them.
#include "rdtd/observe/detector.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <functional>
#include <random>
#include <set>

#include "domain_watch.hpp"
#include "film.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/observer/memory.hpp"

namespace rdtd::observe {
namespace {

TEST(Blame, NamesTheTakerOfTwoNeighbours) {
  const Played played = Film({bystander(), victim(), taker()}).play(80);
  EXPECT_EQ(played.sentences,
            std::vector<std::string>{"L3 0: batch took 3.0 MiB from redis within 2 s, its traffic "
                                     "went from 0.1 MiB/s to 200.0 MiB/s; traffic of redis x 8.0"});
  ASSERT_EQ(played.ended.size(), 1U);
  const Episode& episode = played.ended.front();
  EXPECT_EQ(episode.kind, Contention::cache);
  EXPECT_NEAR(static_cast<double>(episode.begin_usec - 1'700'000'000'000'000), 30e6, 2e6);
  EXPECT_NEAR(static_cast<double>(episode.end_usec - 1'700'000'000'000'000), 60e6, 2e6);
  EXPECT_TRUE(played.running.empty());
}

// Two that want the same ways take them from each other for as long as both run: who came is named.
TEST(Blame, WhoGetsItBackTakesNothing) {
  const auto back_and_forth = [](double low, double high) {
    return [=](double t) {
      return t < 30 ? low : static_cast<int>(t / 4) % 2 == 0 ? high : (low + high) / 2;
    };
  };
  const Played played = Film({{"redis", "ff", back_and_forth(4, 1), between(30, 99, 5, 40)},
                              {"batch", "ff", back_and_forth(0.5, 3.5), between(30, 99, 0.1, 200)}})
                            .play(90);
  std::set<std::string> takers;
  for (const auto* episodes : {&played.ended, &played.running})
    for (const Episode& episode : *episodes) takers.insert(episode.takers.front().group);
  EXPECT_EQ(takers, std::set<std::string>{"batch"});
}

TEST(Blame, GoesOnUntilTheEnd) {
  const Played played = Film({victim(), taker()}).play(50);
  EXPECT_TRUE(played.ended.empty());
  ASSERT_EQ(played.running.size(), 1U);
  EXPECT_EQ(played.running.front().takers.front().group, "batch");
}

TEST(Blame, WithOtherIntervals) {
  for (const double interval : {0.2, 1.0, 5.0, 60.0}) {
    const auto slower = [&](Actor actor) {
      const double scale = std::max(1.0, interval);
      for (auto* figure : {&actor.occupancy, &actor.traffic})
        *figure = [scale, of = *figure](double t) { return of(t / scale); };
      return actor;
    };
    const Played played = Film({bystander(), slower(victim()), slower(taker())}, interval)
                              .play(80 * std::max(1.0, interval));
    ASSERT_EQ(played.ended.size(), 1U) << interval;
    EXPECT_EQ(played.ended.front().takers.front().group, "batch") << interval;
    EXPECT_EQ(played.ended.front().takers.size(), 1U) << interval;
  }
}

// Nothing that is seen in these is somebody's fault.
TEST(Blame, NobodyWhoCannotHaveTakenIt) {
  Actor elsewhere = taker(), disjoint = taker(), frees = victim();
  elsewhere.domain = 1;
  disjoint.ways = "f00";
  frees.traffic = between(30, 60, 5, 1);
  const struct {
    const char* what;
    std::vector<Actor> actors;
    std::vector<std::string> sentences;
  } rows[] = {
      {"the noise is on the other socket", {bystander(), victim(), elsewhere}, {}},
      {"the victim frees memory itself", {frees, taker()}, {}},
      {"the victim's traffic grows by itself",
       {{"redis", "ff", always(4), between(30, 60, 5, 40)}, taker()},
       {}},
      {"disjoint ways",
       {victim(), disjoint},
       {"L3 0: redis lost 3.0 MiB, but nobody else may fill its ways: it used less"}},
      {"it is alone",
       {victim()},
       {"L3 0: redis lost 3.0 MiB, but nobody else may fill its ways: "
        "it used less"}},
      {"who shares its ways gained nothing", {victim(), bystander(), disjoint}, {}},
  };
  for (const auto& row : rows) {
    Film film(row.actors);
    EXPECT_EQ(film.play(100).sentences, row.sentences) << row.what;
  }
}

// Devices may have taken what was lost in ways that they fill too.
TEST(Blame, DevicesAreNotNobody) {
  const Actor alone{"redis", "f0", between(30, 60, 4, 1), between(30, 60, 5, 40)};
  Film film({alone});
  EXPECT_EQ(film.play(100).sentences.size(), 1U);
  film.header().io_ways["L3"][DomainId{0}] = 0xe00;
  EXPECT_EQ(film.play(100).sentences.size(), 1U);
  film.header().io_ways["L3"][DomainId{0}] = 0xc0;
  EXPECT_EQ(film.play(100).sentences, std::vector<std::string>{});
  // They may change while it looks.
  Detector detector(Header{});
  detector.use(film.header());
  const std::vector<Sample> samples = film.shoot(100);
  film.header().io_ways.clear();
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i == 10) detector.use(film.header());
    if (i == 20) {
      film.header().io_ways["L3"][DomainId{0}] = 0xc0;
      detector.use(film.header());
    }
    EXPECT_TRUE(detector.add(samples[i]).empty());
  }
  const auto read = parse_recording(header_line(film.header()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->header.io_ways, film.header().io_ways);
}

// Who begins to work fills for a moment more than it can keep. After a gap, nothing is known of who
// had it before.
TEST(Blame, WhatWasFilledForAMomentIsNotLost) {
  const auto at_first = [](double before, double first, double later) {
    return [=](double t) { return t < 30 ? before : t < 32 ? first : later; };
  };
  Film film({{"batch", "ff", at_first(0, 5, 3.9), at_first(0, 250, 250)},
             {"redis", "ff", at_first(4, 0.5, 1.6), at_first(6, 40, 40)}});
  film.change = [](double t, Sample& sample) {
    if (t < 30) return;
    sample.monotonic_usec += 60'000'000;
    sample.time_usec += 60'000'000;
  };
  const Played played = film.play(50);
  EXPECT_EQ(played.sentences, std::vector<std::string>{});
  EXPECT_TRUE(played.running.empty());
}

// A group has no right to what is left in ways that it lost, also if their size is known only
// later.
TEST(Blame, SizesOfWaysThatAreKnownLater) {
  const auto kept = [](double t) { return t < 10 ? 4.0 : t < 30 ? 3.5 : 1.0; };
  const Actor narrow{"redis", "1", kept, between(30, 60, 5, 40)};
  Film film({narrow, taker(), bystander()});
  const std::vector<Sample> samples = film.shoot(50);
  Header unknown = film.header();
  unknown.way_bytes.clear();
  for (const bool told : {false, true}) {
    Detector detector(unknown);
    for (const Sample& sample : samples) {
      if (told && sample.monotonic_usec == samples[20].monotonic_usec) detector.use(film.header());
      (void)detector.add(sample);
    }
    EXPECT_EQ(detector.running().empty(), told);
  }
}

TEST(Blame, IsSilentOnAMachineThatIsSteady) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> scatter(0.95, 1.05);
  const auto about = [&](double value) {
    return [&, value](double) { return value * scatter(random); };
  };
  Film film({{"", "fff", about(2), about(1)},
             {"redis", "fff", about(4), about(50)},
             {"batch", "fff", about(3), about(300)},
             {"idle", "fff", about(0.1), about(0.01)}});
  const Played played = film.play(1800);
  EXPECT_EQ(played.sentences, std::vector<std::string>{});
  EXPECT_TRUE(played.running.empty());
}

// Near the most traffic that was seen, a second group has less than before.
TEST(Blame, Bandwidth) {
  Film film({{"redis", "f", always(4), between(60, 90, 400, 200)},
             {"batch", "f0", always(4), between(60, 90, 1, 700)}});
  const Played played = film.play(120);
  EXPECT_EQ(played.sentences,
            std::vector<std::string>{
                "L3 0: 900.0 MiB/s of traffic, 100% of the most seen; batch has 700.0 MiB/s of it, "
                "and redis went from 400.0 MiB/s to 200.0 MiB/s"});
}

// Where MB counts the traffic, "MB:0=100" is no mask of ways, and what is usual stays so.
TEST(Blame, AChangeOfBandwidthIsNoChangeOfMasks) {
  Film film({{"redis", "f", always(4), between(60, 90, 400, 200)},
             {"batch", "f0", always(4), between(60, 90, 1, 700)}});
  film.change = [](double t, Sample& sample) {
    count_in({"MB"}, sample);
    if (t == 0) sample.schemata["batch"] = "MB:0-1=50";
    if (t == 59) sample.schemata["batch"] = "MB:0-1=100";
  };
  EXPECT_EQ(film.play(120).sentences,
            std::vector<std::string>{
                "MB 0: 900.0 MiB/s of traffic, 100% of the most seen; batch has 700.0 MiB/s of it, "
                "and redis went from 400.0 MiB/s to 200.0 MiB/s"});
}

TEST(Blame, WhatSeveralKindsOfDomainsCountIsTheSame) {
  const struct {
    std::vector<std::string> kinds;
    const char* taken;
  } rows[] = {{{"MB", "NODE"}, "MB"},
              {{"NODE", "MB"}, "MB"},
              {{"MB", "L3", "NODE"}, "L3"},
              {{"NODE", "CLUSTER"}, "CLUSTER"},
              {{"NODE"}, "NODE"}};
  for (const auto& row : rows) {
    Film film({{"redis", "f", always(4), between(60, 90, 400, 200)},
               {"batch", "f0", always(4), between(60, 90, 1, 700)}});
    film.change = [&](double, Sample& sample) { count_in(row.kinds, sample); };
    const Played played = film.play(120);
    ASSERT_EQ(played.ended.size(), 1U) << row.taken;
    EXPECT_EQ(played.ended.front().resource, row.taken);
  }
}

// A gap is no zero: neither a counter without a number, nor a domain that is offline, nor a sleep,
// nor an RMID that another group had.
TEST(Blame, GapsAreNoLoss) {
  const struct {
    const char* what;
    std::function<void(double, Sample&)> change;
  } rows[] = {
      {"no number",
       [](double t, Sample& sample) {
         if (t < 30 || t >= 40) return;
         for (DomainCounters& row : sample.counters)
           row.counters = {{"llc_occupancy", NoCount::unavailable},
                           {"mbm_total_bytes", NoCount::unavailable}};
       }},
      {"offline",
       [](double t, Sample& sample) {
         if (t >= 30 && t < 40) sample.counters.clear();
       }},
      {"a sleep",
       [](double t, Sample& sample) {
         if (t >= 30) sample.time_usec += 3'600'000'000;
       }},
      {"a long pause",
       [](double t, Sample& sample) {
         if (t >= 30) {
           sample.time_usec += 60'000'000;
           sample.monotonic_usec += 60'000'000;
         }
       }},
  };
  const auto step = [](double before, double after) {
    return [=](double t) { return t < 35 ? before : after; };
  };
  for (const auto& row : rows) {
    Film film({{"redis", "f", step(4, 1), step(5, 40)}, {"batch", "f", step(1, 4), step(1, 90)}});
    // The change itself is inside of the gap.
    Film steady({{"redis", "f", always(4), always(5)}, {"batch", "f", always(1), always(1)}});
    steady.change = row.change;
    EXPECT_EQ(steady.play(80).sentences, std::vector<std::string>{}) << row.what;
  }
  Film reused({{"redis", "f", step(4, 0), step(5, 40)}, {"batch", "f", step(1, 4), step(1, 90)}});
  reused.change = [](double t, Sample& sample) {
    if (t >= 35) sample.counters[0].counters["mbm_total_bytes"] = static_cast<uint64_t>(t * mib);
  };
  EXPECT_EQ(reused.play(80).sentences, std::vector<std::string>{});
}

// The counter of a control group falls when a monitoring group in it is gone: what is usual is
// known all the same.
TEST(Blame, AFallenCounterIsNotAnotherGroup) {
  Film film({bystander(), victim(), taker()});
  const auto as_it_is = film.play(80).sentences;
  film.change = [](double t, Sample& sample) {
    if (t < 15) return;
    for (DomainCounters& row : sample.counters)
      std::get<uint64_t>(row.counters["mbm_total_bytes"]) -= 10 * static_cast<uint64_t>(mib);
  };
  EXPECT_FALSE(as_it_is.empty());
  EXPECT_EQ(film.play(80).sentences, as_it_is);
}

// Nor is one whose counters are missing in a sample: an episode goes on, and so does what is usual.
TEST(Blame, AGroupThatIsMissingOnceIsNotAnotherGroup) {
  for (const char* group : {"redis", "batch"})
    for (const double at : {20, 45}) {
      Film film({bystander(), victim(), taker()});
      const Played as_it_is = film.play(80);
      film.change = [=](double t, Sample& sample) {
        if (t == at + 1) sample.schemata[group] = "L3:0-1=ff MB:0-1=100";
        if (t != at) return;
        std::erase_if(sample.counters, [&](const auto& row) { return row.group == group; });
        sample.schemata[group] = "";
      };
      const Played played = film.play(80);
      EXPECT_EQ(played.sentences, as_it_is.sentences) << group << at;
      ASSERT_EQ(played.ended.size(), 1U);
      EXPECT_EQ(played.ended.front().begin_usec, as_it_is.ended.front().begin_usec);
      EXPECT_EQ(played.ended.front().end_usec, as_it_is.ended.front().end_usec);
    }
}

// What a domain has carried is not forgotten while it is idle.
TEST(Blame, AnIdleNightIsNoCeiling) {
  const auto busy = [](double before, double after) {
    return [=](double t) { return t < 100 ? before : t < 12000 ? 0.001 : after; };
  };
  const Played played = Film({{"redis", "f0", always(4), busy(6000, 1500)},
                              {"batch", "f", always(4), busy(4000, 2000)}})
                            .play(12200);
  EXPECT_EQ(played.sentences, std::vector<std::string>{});
}

// Nor is a day that was busy until an hour ago, because its first minutes were busier.
TEST(Blame, APeakDoesNotHideTheDay) {
  HighMeans means;
  constexpr uint64_t hour = 3'600'000'000;
  means.add(0, 100);
  EXPECT_EQ(means.most(), std::nullopt);
  for (uint64_t at = 0; at < 23 * hour; at += 10'000'000) means.add(at, at < hour / 20 ? 100 : 80);
  EXPECT_EQ(means.most(), 100);
  for (uint64_t at = 23 * hour; at < 26 * hour; at += 10'000'000) means.add(at, 1);
  EXPECT_EQ(means.most(), 80);
  for (uint64_t at = 26 * hour; at < 50 * hour; at += 10'000'000) means.add(at, 1);
  EXPECT_EQ(means.most(), 1);
  // One alone may be wrong.
  means.add(50 * hour, 500);
  EXPECT_EQ(means.most(), 1);
}

// One that begins anew knows nothing of before, as in a recording.
TEST(Blame, AStartOfTheObserverForgets) {
  Film film({bystander(), victim(), taker()});
  std::vector<Sample> samples = film.shoot(80);
  ASSERT_FALSE(film.play(samples).ended.empty());
  Detector detector(film.header());
  for (Sample& sample : samples) {
    sample.marks = {started_mark};
    EXPECT_TRUE(detector.add(sample).empty());
    for (const DomainTraffic& domain : detector.traffic()) EXPECT_FALSE(domain.ceiling);
  }
}

// A recording gives what was seen live.
TEST(Blame, TheSameFromARecording) {
  Film film({bystander(), victim(), taker()});
  const std::vector<Sample> samples = film.shoot(80);
  std::string text = header_line(film.header());
  for (const Sample& sample : samples) text += sample_line(sample);
  const auto recording = parse_recording(text);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->header.way_bytes, film.header().way_bytes);
  EXPECT_EQ(film.play(recording->samples).sentences, film.play(samples).sentences);
}

// Whatever the samples are, an episode names only who could have done it.
TEST(Blame, RandomSeries) {
  size_t found = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto number = [&](double most) {
      return std::uniform_real_distribution<double>(0, most)(random);
    };
    const auto steps = [&](double most) {
      std::vector<double> values(20);
      for (double& value : values) value = number(most);
      return [=](double t) { return values[static_cast<size_t>(t / 15) % values.size()]; };
    };
    std::vector<Actor> actors;
    const char* masks[] = {"f", "ff", "f0", "f00", "fff"};
    for (int i = 0; i < 5; ++i)
      actors.push_back({"g" + std::to_string(i), masks[random() % 5], steps(8), steps(500)});
    Film film(actors);
    const std::vector<Episode> ended = film.play(300).ended;
    found += ended.size();
    for (const Episode& episode : ended) {
      EXPECT_LE(episode.begin_usec, episode.end_usec);
      ASSERT_FALSE(episode.sufferers.empty());
      if (episode.kind != Contention::cache) continue;
      const auto ways = [&](const Part& part) {
        const auto& actor = actors[static_cast<size_t>(part.group[1] - '0')];
        return *parse_unsigned<unsigned>(actor.ways, 16);
      };
      for (const Part& one : episode.takers) {
        EXPECT_GT(one.occupancy_during, one.occupancy_before);
        EXPECT_NE(ways(one) & ways(episode.sufferers.front()), 0U);
        EXPECT_NE(one.group, episode.sufferers.front().group);
      }
    }
  }
  EXPECT_GT(found, 50U);
}

// Another interval is no gap, once the detector knows of it.
TEST(Blame, AfterAnotherInterval) {
  const auto later = [](Actor actor) {  // a sample every 10 s, and the taker comes at 300 s
    for (auto* figure : {&actor.occupancy, &actor.traffic})
      *figure = [of = *figure](double t) { return of(t / 10); };
    return actor;
  };
  Film slow({bystander(), later(victim()), later(taker())}, 10);
  for (const bool told : {false, true}) {
    Header fast = slow.header();
    fast.interval = 1;
    Detector detector(fast);
    if (told) detector.use(slow.header());
    size_t ended = 0;
    for (const Sample& sample : slow.shoot(800)) ended += detector.add(sample).size();
    EXPECT_EQ(ended, told ? 1U : 0U);
  }
}

// Each sufferer has its own time: who comes later is not charged for what was before.
TEST(Blame, ASecondSuffererLater) {
  Film film({victim(),
             {"web", "ff", between(45, 60, 3, 1), between(45, 60, 8, 60)},
             {"batch", "ff", [](double t) { return t < 30 || t >= 60 ? 0.5
                                                   : t < 45          ? 3.5
                                                                     : 5.5; },
              between(30, 60, 0.1, 200)}});
  const Played played = film.play(90);
  ASSERT_EQ(played.ended.size(), 2U);
  for (const Episode& episode : played.ended) {
    const double began = static_cast<double>(episode.begin_usec - 1'700'000'000'000'000) / 1e6;
    EXPECT_EQ(episode.sufferers.size(), 1U);
    EXPECT_NEAR(began, episode.sufferers.front().group == "web" ? 45 : 30, 2) << sentence(episode);
  }
}

// Bounded, counted by pair, and one message for each pair and minute.
TEST(Blame, Memory) {
  Episode episode;
  episode.resource = "L3";
  episode.takers = {{"batch"}};
  episode.sufferers = {{"redis"}, {"web"}};
  Memory memory;
  for (uint64_t i = 0; i < 1500; ++i) {
    episode.begin_usec = i * 1'000'000;
    episode.end_usec = episode.begin_usec + 500'000;
    EXPECT_EQ(memory.may_log(episode), i % 60 == 0) << i;
    memory.add(episode);
  }
  // The clock is set back.
  episode.end_usec = 500'000;
  EXPECT_TRUE(memory.may_log(episode));
  EXPECT_FALSE(memory.may_log(episode));
  episode.end_usec = 1'499'500'000;
  EXPECT_EQ(memory.since(0).size(), 1000U);
  EXPECT_EQ(memory.since(1'499'000'000).size(), 1U);
  EXPECT_EQ(memory.counts({episode})[0].episodes, 1501U);
  const auto counts = memory.counts({});
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].sufferer, "redis");
  EXPECT_EQ(counts[0].episodes, 1500U);
  EXPECT_EQ(counts[0].seconds, 750);
  for (int i = 0; i < 3000; ++i) {
    episode.takers.front().group = "g" + std::to_string(i);
    memory.add(episode);
  }
  EXPECT_EQ(memory.counts({}).size(), 1000U);
  episode.takers.clear();
  EXPECT_FALSE(memory.may_log(episode));
}

}  // namespace
}  // namespace rdtd::observe
