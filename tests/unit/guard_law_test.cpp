// The guard: its steps on machines that were made here, whose groups move as much as the amounts
// that it sets let them.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "guard_plant.hpp"
#include "support.hpp"

namespace rdtd::observe {
namespace {

using namespace plant;

TEST(GuardLaw, CutsUntilThereIsRoom) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  const Ran ran = plant.run(60);
  EXPECT_EQ(
      texts(ran.steps),
      (std::vector<std::string>{
          "L3 0: mb of batch from 100% to 50%: traffic 10.0 GiB/s is above 80% of the measured "
          "ceiling, 10.0 GiB/s",
          "L3 0: mb of batch from 50% to 25%: traffic 9.0 GiB/s is above 80% of the measured "
          "ceiling, 10.0 GiB/s",
          "L3 0: mb of batch from 25% to 35%: traffic 6.5 GiB/s is below 70% of the measured "
          "ceiling, 10.0 GiB/s, for 10 s"}));
}

// Between the two thresholds, and while it would be too much again, nothing changes.
TEST(GuardLaw, RestsWhenBothAreSteady) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  const Ran ran = plant.run(590);
  EXPECT_LE(steps_between(ran, 60, 590), 0U) << texts(ran.steps).back();
}

TEST(GuardLaw, GivesAllBackOnceTheNeighbourIsGone) {
  Plant plant({{"redis", steadily(4)}, {"batch", [](double t) { return t < 60 ? 10 : 0; }}});
  const Ran ran = plant.run(300);
  EXPECT_TRUE(ran.guard.amounts().empty());
  EXPECT_LE(steps_between(ran, 200, 300), 0U);
}

TEST(GuardLaw, GivesAllBackOnceNobodyNeedsProtection) {
  Plant plant({{"redis", [](double t) { return t < 60 ? 4 : 0; }}, {"batch", steadily(10)}});
  const Ran ran = plant.run(300);
  EXPECT_TRUE(ran.guard.amounts().empty());
  EXPECT_EQ(steps_between(ran, 62, 300), 1U);
}

// A protected program that fills most of the domain alone: the neighbour's limit is of no use then.
TEST(GuardLaw, GivesBackToWhoIsIdle) {
  Plant plant({{"redis", steadily(7.5)}, {"batch", [](double t) { return t < 60 ? 10 : 0; }}});
  const Ran ran = plant.run(300);
  EXPECT_TRUE(ran.guard.amounts().empty());
  EXPECT_EQ(ran.steps.back().reason, "it is idle, for 10 s");
}

// On for 30 s, off for 30 s: what is given back while it is off is no flapping.
TEST(GuardLaw, FollowsASquareWaveWithFewSteps) {
  Plant plant({{"redis", steadily(4)}, {"batch", wave(10, 60)}});
  const Ran ran = plant.run(600);
  for (double minute = 60; minute < 600; minute += 60)
    EXPECT_LE(steps_between(ran, minute, minute + 60), 4U) << minute;
  EXPECT_GE(ran.moved.at("redis"), 0.9 * 4 * 600);
  EXPECT_TRUE(std::ranges::none_of(ran.guard.states(),
                                   [](const Guard::State& state) { return !state.text.empty(); }));
}

TEST(GuardLaw, TakesBackACutThatDidNotHelp) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.limits = false;
  const Ran ran = plant.run(300);
  std::vector<double> amounts;
  for (const GuardStep& step : ran.steps) amounts.push_back(step.after);
  EXPECT_EQ(amounts, (std::vector<double>{50, 25, 12, 10, 100}));
  EXPECT_EQ(ran.steps[1].reason, "batch still moves 7.1 GiB/s");
  EXPECT_EQ(
      sentence(ran.steps.back()),
      "L3 0: mb of batch from 10% to 100%: the cut did not help: batch moved 7.1 GiB/s before "
      "and 7.1 GiB/s now, all together 10.0 GiB/s and 10.0 GiB/s; left alone for 10 min");
  EXPECT_EQ(ran.guard.states().front().text.substr(0, 14), "left alone for");
}

// What is cut is taken by a third one: the domain stays full, and redis has no more than before.
TEST(GuardLaw, LeavesAloneWhoIsNotTheCause) {
  Plant plant(
      {{"redis", steadily(1)}, {"batch", steadily(5)}, {"other", [](double) { return 1000.0; }}});
  const Ran ran = plant.run(60);
  ASSERT_FALSE(ran.steps.empty());
  EXPECT_EQ(ran.steps.back().direction, GuardStep::Direction::give_back);
  EXPECT_TRUE(ran.guard.amounts().empty());
}

// A program that moves far less than its rate allows: half of that rate would change nothing.
TEST(GuardLaw, BeginsAtTheRateThatIsUsed) {
  GuardRules rules = rules_of();
  rules.ranges["batch"][std::nullopt] = {1 * gib, 400 * gib, false};
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(6)}}, rules);
  plant.limit = [](double amount) { return amount / gib; };
  const Ran ran = plant.run(30);
  ASSERT_FALSE(ran.steps.empty());
  EXPECT_NEAR(ran.steps.front().after / gib, 3, 0.1);
}

// What a processor cannot tell apart is no step.
TEST(GuardLaw, StepsThatTheProcessorCanTellApart) {
  Plant plant({{"redis", steadily(9)}, {"batch", steadily(10)}}, rules_of(5, 100));
  plant.header.mb = {true, 10, 10};
  plant.limit = [](double amount) { return std::max(10.0, std::ceil(amount / 10) * 10) / 10; };
  const Ran ran = plant.run(100);
  std::vector<double> amounts;
  for (const GuardStep& step : ran.steps) amounts.push_back(step.after);
  // 12 is written as 20 there, 6 as 10, and so is 5.
  EXPECT_EQ(amounts, (std::vector<double>{50, 25, 12, 6}));
  EXPECT_EQ(ran.guard.states().front().text, "");
  // Both ends are the same there.
  Plant none({{"redis", steadily(9)}, {"batch", steadily(10)}}, rules_of(91, 100));
  none.header.mb = {true, 10, 10};
  EXPECT_TRUE(none.run(100).steps.empty());
}

// What was too much is not given again soon, however the kernel rounds.
TEST(GuardLaw, RemembersWhatWasTooMuchAsItIsWritten) {
  const auto redis = [](double t) { return t > 60 && t < 120 ? 0.5 : 3.5; };
  Plant plant({{"redis", redis}, {"batch", steadily(6.9)}});
  plant.header.mb = {true, 10, 10};
  double written = 100, too_much = 101;
  for (const GuardStep& step : plant.run(400).steps) {
    if (step.direction == GuardStep::Direction::cut) too_much = written;
    const double before = std::exchange(written, std::ceil(step.after / 10) * 10);
    EXPECT_LT(written, too_much) << sentence(step);
    EXPECT_NE(written, before) << sentence(step);
  }
  EXPECT_LT(too_much, 101);
}

// Nobody looked while the machine was suspended: what holds before and after does not hold since.
TEST(GuardLaw, ASuspendIsNoEvidence) {
  const auto after_gap = [](double at) {
    return [at](double t, Sample& sample) {
      if (t < at) return;
      sample.monotonic_usec += 30'000'000;
      sample.time_usec += 30'000'000;
    };
  };
  // One sample near the ceiling on each side.
  Plant high({{"redis", [](double t) { return t < 10 ? 1 : 4; }}, {"batch", steadily(6)}});
  high.change = after_gap(11);
  for (const GuardStep& step : high.run(13).steps) ADD_FAILURE() << sentence(step);
  // Nobody is protected for a few seconds.
  Plant idle({{"redis", [](double t) { return t < 60 ? 4 : 0; }}, {"batch", steadily(10)}});
  const size_t before = idle.run(60).steps.size();
  idle.change = after_gap(63);
  EXPECT_EQ(idle.run(66).steps.size(), before);
  EXPECT_EQ(idle.run(80).guard.amounts().size(), 0U);
}

TEST(GuardLaw, InShadowTakesOneStepAndWaits) {
  Plant plant({{"redis", steadily(4)}, {"batch", [](double t) { return t < 60 ? 10 : 0; }}});
  plant.obeys = false;
  const Ran ran = plant.run(300);
  ASSERT_EQ(ran.steps.size(), 6U);
  EXPECT_EQ(ran.steps[0].after, 50);
  for (size_t i = 1; i < ran.steps.size(); ++i)
    EXPECT_EQ(ran.steps[i].direction, GuardStep::Direction::give_back);
  EXPECT_TRUE(ran.guard.amounts().empty());
}

// A cut that comes into force late is judged from then on; meanwhile nobody else is cut.
TEST(GuardLaw, JudgesFromWhenACutIsInForce) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.obeys = false;
  plant.change = [&](double t, Sample&) { plant.obeys = t >= 30; };
  const Ran late = plant.run(60);
  ASSERT_EQ(late.steps.size(), 1U);
  EXPECT_EQ(late.guard.states().front().text,
            "its last cut is not in force: what more would do is not known");
}

// The amount of an earlier lease is higher again: that is no cut.
TEST(GuardLaw, AHigherAmountIsNoCut) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.obeys = false;
  plant.change = [](double t, Sample& sample) {
    sample.schemata["batch"] = t < 3 ? "MB:0=30" : "MB:0=100";
  };
  EXPECT_EQ(plant.run(60).steps.size(), 1U);
}

// Without a measured ceiling, much traffic alone is no reason: the most that was seen may be
// little.
TEST(GuardLaw, ActsWithoutACeilingOnlyIfAProtectedGroupSuffers) {
  Plant calm({{"redis", steadily(1)}, {"batch", steadily(3)}});
  calm.forget_ceiling();
  EXPECT_TRUE(calm.run(300).steps.empty());
  Plant busy({{"redis", steadily(6)}, {"batch", [](double t) { return t < 100 ? 1 : 10; }}});
  busy.forget_ceiling();
  const Ran ran = busy.run(200);
  ASSERT_FALSE(ran.steps.empty());
  EXPECT_EQ(ran.steps.front().group, "batch");
}

// More was seen than was measured: that is the ceiling then, and is called what it is.
TEST(GuardLaw, ACeilingThatWasPassedIsTheMostThatWasSeen) {
  for (const auto& [measured, text] : std::map<double, std::string>{
           {5, "the most that was seen, 10.0 GiB/s"}, {10, "the measured ceiling, 10.0 GiB/s"}}) {
    Plant plant({{"redis", [](double t) { return t < 100 ? 0 : 6; }}, {"batch", steadily(10)}});
    plant.header.ceilings["L3"][DomainId{0}] = measured * gib;
    const Ran ran = plant.run(160);
    ASSERT_FALSE(ran.steps.empty());
    EXPECT_EQ(ran.steps.front().reason, "traffic 10.0 GiB/s is above 80% of " + text);
  }
}

TEST(GuardLaw, FlappingEndsAtTheLowerEnd) {
  // It asks for little until it is given more.
  Plant plant({{"redis", steadily(4)},
               {"batch", [&](double t) { return std::fmod(t, 25) < 12 ? 10 : 0.3; }}});
  const Ran ran = plant.run(1200);
  const auto states = ran.guard.states();
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states.front().amount, 10);
  EXPECT_TRUE(states.front().flapping);
  EXPECT_EQ(states.front().text,
            "it went up and down too often, and stays at its lower end until it or all protected "
            "groups were idle for 60 s");
}

struct Disturbance {
  const char* name;
  std::function<void(double, Sample&)> change;
};
// None of them may be taken for a reason to act.
TEST(GuardLaw, TakesNoStepWhile) {
  const std::vector<Disturbance> all = {
      {"drift", [](double, Sample& sample) { sample.marks = {"drift: schemata of batch"}; }},
      {"a counter has no number",
       [](double, Sample& sample) {
         sample.counters[1].counters["mbm_total_bytes"] = NoCount::unavailable;
       }},
      {"a sleep between all samples",
       [](double t, Sample& sample) { sample.time_usec += static_cast<uint64_t>(t * 1e7); }},
      {"gaps", [](double t, Sample& sample) { sample.monotonic_usec += uint64_t(t * 1e7); }},
      {"another file", [](double, Sample& sample) { sample.first = true; }},
      {"the domain is gone every other second", [](double t, Sample& sample) {
         if (std::fmod(t, 2) < 1) sample.counters.clear();
       }}};
  for (const Disturbance& disturbance : all) {
    Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
    plant.change = disturbance.change;
    EXPECT_TRUE(plant.run(60).steps.empty()) << disturbance.name;
  }
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  const Ran ran = plant.run(10);
  Guard guard(rules_of());
  Header header;
  header.mba_mbps = true;
  guard.use(header);
  header.interval = 1;
  header.ceilings["L3"][DomainId{0}] = 10 * gib;
  Detector detector(header);
  for (const Sample& sample : ran.samples) {
    (void)detector.add(sample);
    EXPECT_TRUE(guard.add(sample, detector.traffic()).empty());
    EXPECT_EQ(guard.frozen(),
              "resctrl is mounted with mba_MBps: the kernel changes the bandwidth by itself");
  }
}

// Marks of others, every few seconds, are no reason to keep back what it has taken.
TEST(GuardLaw, GoesOnBetweenMarks) {
  Plant plant({{"redis", steadily(4)}, {"batch", [](double t) { return t < 60 ? 10 : 0; }}});
  plant.change = [](double t, Sample& sample) {
    if (std::fmod(t, 5) < 1) sample.marks = {"drift: schemata of other"};
    if (std::fmod(t, 3) < 1) sample.marks.emplace_back("lease bench-7 ended: it was closed");
  };
  const Ran ran = plant.run(400);
  EXPECT_EQ(ran.steps.front().after, 50);
  EXPECT_TRUE(ran.guard.amounts().empty());
}

// A sample without all numbers is a pause: what is missing now and then neither keeps back what was
// taken, nor hides that a cut does not help.
TEST(GuardLaw, GoesOnBetweenSamplesWithoutNumbers) {
  const auto flickers = [](int every, NoCount why) {
    return [=](double t, Sample& sample) {
      sample.counters.push_back(
          {"other", "L3", DomainId{0}, {{"mbm_total_bytes", static_cast<uint64_t>(t)}}});
      if (static_cast<int>(t) % every == 0)
        sample.counters.back().counters["mbm_total_bytes"] = why;
    };
  };
  Plant gone({{"redis", [](double t) { return t < 60 ? 4 : 0; }}, {"batch", steadily(10)}});
  gone.change = flickers(9, NoCount::unavailable);
  const Ran back = gone.run(100);
  EXPECT_LT(back.steps.front().after, 100);
  EXPECT_TRUE(back.guard.amounts().empty());
  for (const int every : {4, 6}) {
    Plant useless({{"redis", steadily(4)}, {"batch", steadily(10)}});
    useless.limits = false;
    useless.change = flickers(every, NoCount::unassigned);
    const Ran ran = useless.run(200);
    ASSERT_FALSE(ran.steps.empty());
    EXPECT_EQ(ran.steps.back().after, 100) << every;
    EXPECT_TRUE(ran.guard.amounts().empty()) << every;
  }
}

// The counter of a control group is a sum over its monitoring groups: it falls when one is gone.
// That is no traffic of zero.
TEST(GuardLaw, GoesOnWhenACounterFalls) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.limits = false;
  plant.change = [less = 0.0](double t, Sample& sample) mutable {
    auto& bytes = std::get<uint64_t>(sample.counters[0].counters["mbm_total_bytes"]);
    if (std::fmod(t, 7) < 1) less = static_cast<double>(bytes);
    bytes -= static_cast<uint64_t>(less / 2);
  };
  const Ran ran = plant.run(200);
  ASSERT_FALSE(ran.steps.empty());
  EXPECT_EQ(ran.steps.back().after, 100);
  EXPECT_EQ(ran.steps.back().reason.substr(0, 20), "the cut did not help");
}

// Between samples that are a minute apart, one is no minute without numbers.
TEST(GuardLaw, IsBlindAfterAMinuteAndAfterThreeIntervals) {
  EXPECT_EQ(blind_seconds(1), 60);
  EXPECT_EQ(blind_seconds(60), 180);
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.header.interval = 30;
  plant.change = [](double t, Sample& sample) {
    if (t > 20) sample.counters[0].counters["mbm_total_bytes"] = NoCount::unassigned;
  };
  EXPECT_FALSE(plant.run(100).guard.amounts().empty());
  EXPECT_TRUE(plant.run(130).guard.amounts().empty());
}

// Who has lost what nobody else may have gains nothing by a cut.
TEST(GuardLaw, CutsNobodyWhereNobodyIsToBlame) {
  Plant plant({{"redis", [](double t) { return t < 100 ? 3 : 6; }}, {"batch", steadily(2)}});
  plant.forget_ceiling();
  plant.change = [](double t, Sample& sample) {
    const double lost = t < 100 ? 8 : 2;
    sample.counters[0].counters["llc_occupancy"] = static_cast<uint64_t>(lost * (1 << 20));
    sample.counters[1].counters["llc_occupancy"] = uint64_t{1 << 20};
    sample.schemata["redis"] += " L3:0=ff0";
    sample.schemata["batch"] += " L3:0=f";
  };
  EXPECT_TRUE(plant.run(150).steps.empty());
}

// Another group that comes every few seconds has no rate at first: that is no gap.
TEST(GuardLaw, GoesOnWhenGroupsCome) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = [](double t, Sample& sample) {
    if (std::fmod(t, 4) < 2)
      sample.counters.push_back({"job" + std::to_string(static_cast<int>(t / 4)),
                                 "L3",
                                 DomainId{0},
                                 {{"mbm_total_bytes", uint64_t{5}}}});
  };
  EXPECT_GE(plant.run(30).steps.size(), 2U);
}

// Who cannot see does not hold others back for ever.
TEST(GuardLaw, LetsGoAfterAMinuteWithoutNumbers) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = [](double t, Sample& sample) {
    if (t > 20) sample.counters[0].counters["mbm_total_bytes"] = NoCount::unassigned;
  };
  EXPECT_FALSE(plant.run(70).guard.amounts().empty());
  const Ran ran = plant.run(100);
  EXPECT_TRUE(ran.guard.amounts().empty());
  EXPECT_EQ(sentence(ran.steps.back()),
            "L3 0: mb of batch from 35% to 100%: there was no usable sample for long");
}

// A domain that goes offline is no matter of the others.
TEST(GuardLaw, GoesOnWhereAnotherDomainIsOffline) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = [](double t, Sample& sample) {
    if (t < 1)
      sample.counters.push_back({"batch", "L2", DomainId{0}, {{"mbm_total_bytes", uint64_t{5}}}});
  };
  const Ran ran = plant.run(30);
  EXPECT_GE(ran.steps.size(), 2U);
  EXPECT_EQ(ran.guard.frozen(), "");
}

TEST(GuardLaw, LeavesAloneWhoHasNoRangeOrIsProtected) {
  Plant plant({{"redis", steadily(4)}, {"other", steadily(10)}});
  EXPECT_TRUE(plant.run(60).steps.empty());
  GuardRules rules = rules_of();
  rules.protected_groups.insert("batch");
  Plant both({{"redis", steadily(4)}, {"batch", steadily(10)}}, rules);
  EXPECT_TRUE(both.run(60).steps.empty());
}

// Whatever the groups do: amounts within the range, steps with a reason and not often, and the same
// samples give the same steps.
TEST(GuardLaw, RandomSeries) {
  for (unsigned seed = 0; seed < 60; seed += test::stride(4)) {
    std::mt19937 random(seed);
    const auto next = [&](double most) {
      return std::uniform_real_distribution<double>(0, most)(random);
    };
    const double least = 1 + std::floor(next(40)), most = least + 1 + std::floor(next(59));
    std::vector<Program> programs;
    for (const char* group : {"redis", "batch", "other", "more"}) {
      const double high = next(12), low = next(high), period = 2 + next(100);
      programs.push_back({group, wave(high, period, low)});
    }
    GuardRules rules = rules_of(least, most);
    rules.ranges["more"][DomainId{0}] = {20, 100, true};
    rules.acts = seed % 2 == 0;
    Plant plant(std::move(programs), rules);
    plant.obeys = seed % 3 != 0;
    std::set<uint64_t> frozen;
    const auto is_drift = [](const std::string& mark) { return mark.starts_with("drift"); };
    if (seed % 5 == 0)
      plant.change = [&](double, Sample& sample) {
        if (next(20) < 1) sample.marks = {"the policy was loaded"};
        if (next(20) < 1) sample.counters.pop_back();
        if (next(20) < 1) sample.marks.emplace_back("drift: schemata of other");
        if (next(20) < 1)
          sample.counters.front().counters["mbm_total_bytes"] = NoCount::unavailable;
        if (next(20) < 1) sample.first = true;
        const bool may_act =
            !sample.first && std::ranges::none_of(sample.marks, is_drift) &&
            !std::holds_alternative<NoCount>(sample.counters.front().counters["mbm_total_bytes"]);
        if (!may_act) frozen.insert(sample.time_usec);
      };
    const Ran ran = plant.run(400);
    uint64_t last_usec = 0;
    std::map<std::string, double> amounts;
    for (const GuardStep& step : ran.steps) {
      ASSERT_GE(step.after, step.range.least) << seed;
      ASSERT_LE(step.after, step.range.most) << seed;
      ASSERT_NE(step.after, step.before) << seed;
      ASSERT_FALSE(step.reason.empty()) << seed;
      ASSERT_TRUE(rules.ranges.contains(step.group)) << seed;
      ASSERT_FALSE(frozen.contains(step.time_usec)) << seed;
      ASSERT_GE(step.time_usec - last_usec, 2'000'000U) << seed;
      last_usec = step.time_usec;
    }
    ASSERT_EQ(texts(plant.replay(ran.samples)), texts(ran.steps)) << seed;
  }
}

}  // namespace
}  // namespace rdtd::observe
