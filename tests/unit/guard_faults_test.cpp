// The guard where the machine, other tools or other leases do not do what it expects.
#include <gtest/gtest.h>

#include <random>

#include "guard_plant.hpp"
#include "support.hpp"

namespace rdtd::observe {
namespace {

using namespace plant;

std::function<double(double)> until(double end, double value) {
  return [=](double t) { return t < end ? value : 0; };
}

DomainCounters counter_of(const std::string& group, double bytes) {
  return {group, "L3", DomainId{0}, {{"mbm_total_bytes", static_cast<uint64_t>(bytes)}}};
}

// A tool that changes the amounts each second: the guard cannot see what its own do.
TEST(GuardFaults, DriftInEachSampleDoesNotKeepACutForEver) {
  Plant plant({{"redis", until(60, 4)}, {"batch", steadily(10)}});
  plant.change = [](double t, Sample& sample) {
    if (t > 30) sample.marks = {"drift: group 'batch': MB:0=100, granted MB:0=50; restored"};
  };
  EXPECT_FALSE(plant.run(80).guard.amounts().empty());
  EXPECT_TRUE(plant.run(200).guard.amounts().empty());
}

TEST(GuardFaults, DriftOfAnotherGroupsCacheIsNoReasonToWait) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  const auto run_with = [&](const std::string& drift) {
    plant.change = [=](double, Sample& sample) { sample.marks = {drift}; };
    return plant.run(30).steps.size();
  };
  EXPECT_GE(run_with("drift: group 'other': L3:0=3, granted L3:0=f; restored"), 2U);
  EXPECT_EQ(run_with("drift: group 'other': L3:0=3 MB:0=5, granted L3:0=f MB:0=9"), 0U);
  EXPECT_EQ(run_with("drift: group 'batch': L3:0=3, granted L3:0=f; restored"), 0U);
  EXPECT_EQ(run_with("drift: the default group is too small"), 0U);
  // Any user can cause these.
  EXPECT_GE(run_with("drift: 1 thread was not in the group that the rules name; restored"), 2U);
  EXPECT_GE(run_with("drift: 1 process was not in the group of a manual assignment"), 2U);
}

// A difference that rdtd cannot, or may not, restore is reported once.
TEST(GuardFaults, DriftThatStays) {
  Plant plant({{"redis", steadily(4)}, {"batch", [](double t) { return t < 30 ? 1 : 10; }}});
  plant.change = [](double t, Sample& sample) {
    if (t >= 20 && t < 100) sample.schemata["batch"] = "MB:0-1=20";
    if (t == 20) sample.marks = {"drift: group 'batch': MB:0=20, granted MB:0=100"};
  };
  const Ran ran = plant.run(100);
  EXPECT_EQ(texts(ran.steps), std::vector<std::string>{});
  EXPECT_EQ(ran.guard.states().front().text,
            "left alone while its mb is 20: that is less than what the guard gives it");
  EXPECT_FALSE(plant.run(110).steps.empty());
}

TEST(GuardFaults, DriftOfBefore) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = [](double, Sample& sample) { sample.schemata["batch"] = "MB:0-1=20"; };
  EXPECT_EQ(texts(plant.run(100).steps), std::vector<std::string>{});
}

// Also in the sample in which a cut of another group has been judged.
TEST(GuardFaults, DriftWhileAnotherGroupIsCut) {
  GuardRules rules = rules_of();
  rules.ranges["bulk"] = rules.ranges["batch"];
  Plant plant({{"redis", steadily(8)}, {"batch", steadily(9)}, {"bulk", steadily(8)}}, rules);
  plant.change = [](double t, Sample& sample) {
    if (t >= 4) sample.schemata["bulk"] = "MB:0-1=20";
  };
  const Ran ran = plant.run(200);
  EXPECT_EQ(amounts_of(ran, "bulk"), std::vector<double>{});
  EXPECT_FALSE(amounts_of(ran, "batch").empty());
}

// Kernels with MPAM before 7.1 read less than was written.
TEST(GuardFaults, AnAmountThatTheKernelRoundsDown) {
  Plant plant({{"redis", steadily(8)}, {"batch", steadily(20)}});
  plant.header.mb = {.percent = true, .step = 3, .least = 3};
  plant.change = [](double, Sample& sample) {
    std::string& text = sample.schemata["batch"];
    const double amount = std::min(100.0, std::stod(text.substr(text.find('=') + 1)));
    text = fmt::format("MB:0-1={:.0f}", amount - 2);
  };
  EXPECT_GE(amounts_of(plant.run(60), "batch").size(), 2U);
}

// The policy asks for more than the machine has.
TEST(GuardFaults, AnAmountAboveAllThatThereIs) {
  GuardRules rules = rules_of();
  rules.ranges["batch"][std::nullopt] = {1e9, 1e12, false};
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}}, rules);
  plant.header.mb = {.percent = false, .step = 125e6, .least = 125e6};
  plant.change = [](double, Sample& sample) { sample.schemata["batch"] = "MB:0-1=2048"; };
  EXPECT_FALSE(plant.run(30).steps.empty());
}

TEST(GuardFaults, NobodyToProtect) {
  Plant plant({{"web", steadily(4)}, {"batch", steadily(10)}});
  const Ran ran = plant.run(60);
  EXPECT_TRUE(ran.steps.empty());
  EXPECT_EQ(ran.guard.frozen(), "no group that is protected is here");
}

// The domain stays high by what somebody without a range does.
TEST(GuardFaults, GivesBackToWhoIsIdleWhileTheDomainIsHigh) {
  Plant plant({{"redis", steadily(4)}, {"batch", until(60, 10)}, {"other", [](double t) {
                                                                    return t < 60 ? 0 : 20;
                                                                  }}});
  EXPECT_FALSE(plant.run(60).guard.amounts().empty());
  const Ran ran = plant.run(300);
  EXPECT_TRUE(ran.guard.amounts().empty());
  EXPECT_EQ(ran.steps.back().reason, "it is idle, for 10 s");
}

// Another group that is lowered and busy is no reason to keep back what an idle one had.
TEST(GuardFaults, GivesBackToWhoIsIdleBesideABusyOne) {
  GuardRules rules = rules_of();
  rules.ranges["more"][std::nullopt] = {10, 100, true};
  Plant plant({{"redis", steadily(7)}, {"batch", until(60, 10)}, {"more", steadily(9)}}, rules);
  const Ran ran = plant.run(400);
  const Guard::Amounts amounts = ran.guard.amounts();
  EXPECT_FALSE(amounts.contains("batch"));
  EXPECT_TRUE(amounts.contains("more"));
}

// Another lease has precedence, or rdtd refuses the amount.
TEST(GuardFaults, ACutThatIsNotInForceDoesNotStopTheOthers) {
  GuardRules rules = rules_of();
  rules.acts = true;
  rules.ranges["more"][std::nullopt] = {10, 100, true};
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}, {"more", steadily(8)}}, rules);
  plant.refused = {"batch"};
  std::string mb = "100";
  plant.change = [&](double, Sample& sample) { sample.schemata["batch"] = "MB:0=" + mb; };
  const Ran ran = plant.run(500);
  EXPECT_EQ(amounts_of(ran, "batch"), (std::vector<double>{50, 100}));
  ASSERT_GE(ran.steps.size(), 2U);
  EXPECT_EQ(ran.steps[1].reason,
            "the cut did not come into force: mb of batch is 100; left alone while it is, for 10 "
            "min at most");
  EXPECT_FALSE(amounts_of(ran, "more").empty());
  // One that gives it less is waited for.
  plant.change = [&](double t, Sample& sample) {
    sample.schemata["batch"] = t < 100 ? "MB:0=90" : "MB:0=100";
  };
  EXPECT_EQ(amounts_of(plant.run(100), "batch"), std::vector<double>{});
  EXPECT_EQ(amounts_of(plant.run(200), "batch"), (std::vector<double>{50, 100}));
  // In shadow nothing is ever in force.
  rules.acts = false;
  Plant shadow({{"redis", steadily(4)}, {"batch", steadily(10)}, {"more", steadily(8)}}, rules);
  shadow.obeys = false;
  EXPECT_EQ(shadow.run(500).steps.size(), 1U);
}

// At the time of the cut another lease held the group lower still.
TEST(GuardFaults, ACutIsInForceWhenAnotherLeaseHasEnded) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = [](double t, Sample& sample) {
    if (t < 4) sample.schemata["batch"] = "MB:0=25";
  };
  EXPECT_EQ(amounts_of(plant.run(60), "batch"), (std::vector<double>{50, 25, 35}));
}

// What is asked for is rounded up to what the processor can do.
TEST(GuardFaults, ACutIsInForceAsItIsWritten) {
  Plant plant({{"redis", steadily(9)}, {"batch", steadily(10)}}, rules_of(10, 100));
  plant.header.mb = {true, 30, 30};
  plant.change = [](double, Sample& sample) {
    if (sample.schemata["batch"] == "MB:0-1=50") sample.schemata["batch"] = "MB:0-1=60";
  };
  EXPECT_GE(amounts_of(plant.run(60), "batch").size(), 2U);
}

TEST(GuardFaults, NoCutOfAGroupWhoseAmountIsNotKnown) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = [](double t, Sample& sample) {
    if (t >= 1 && t < 20) sample.schemata["batch"] = "";
  };
  EXPECT_TRUE(plant.run(20).steps.empty());
  EXPECT_EQ(amounts_of(plant.run(80), "batch"), (std::vector<double>{50, 25, 35}));
}

// Takes the row of a group out of the samples of a time.
std::function<void(double, Sample&)> missing(std::string group, double from, double to) {
  return [=](double t, Sample& sample) {
    if (t < from || t >= to) return;
    std::erase_if(sample.counters, [&](const DomainCounters& row) { return row.group == group; });
    sample.schemata[group] = "";
  };
}

// It was removed and made again, or could not be read once: nothing was given back meanwhile.
TEST(GuardFaults, AGroupThatIsMissingOnceKeepsItsCut) {
  for (const char* group : {"batch", "redis"})
    for (const double samples : {1, 2, 5}) {
      Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
      const std::vector<std::string> before = texts(plant.run(100).steps);
      plant.change = missing(group, 30, 30 + samples);
      const Ran ran = plant.run(100);
      EXPECT_EQ(texts(ran.steps), before) << group << samples;
      EXPECT_EQ(plant.run(30 + samples).guard.amounts(), plant.run(30).guard.amounts());
    }
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = missing("redis", 30, 31);
  EXPECT_EQ(plant.run(31).guard.frozen(), "L3 0: redis has no counters");
}

// Also while the effect of a cut is waited for.
TEST(GuardFaults, AGroupThatIsMissingOnceHidesNoCutThatDoesNotHelp) {
  for (const char* group : {"batch", "redis"}) {
    Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
    plant.limits = false;
    const std::vector<double> before = amounts_of(plant.run(60), "batch");
    ASSERT_GE(before.size(), 2U);
    plant.change = missing(group, 6, 7);
    EXPECT_EQ(amounts_of(plant.run(60), "batch"), before) << group;
  }
}

// What is given back is a step, and what was learned stays for ten minutes.
TEST(GuardFaults, AGroupThatIsGoneGivesItsCutBackInAStep) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = missing("batch", 60, 90);
  const Ran ran = plant.run(70);
  EXPECT_TRUE(ran.guard.amounts().empty());
  EXPECT_TRUE(ran.guard.states().empty());
  EXPECT_EQ(sentence(ran.steps.back()), "L3 0: mb of batch from 35% to 100%: the group is gone");
  EXPECT_EQ(ran.guard.frozen(), "");
  const Ran again = plant.run(100);
  ASSERT_GT(again.steps.size(), ran.steps.size());
  EXPECT_EQ(sentence(again.steps[ran.steps.size()]).substr(0, 34),
            "L3 0: mb of batch from 100% to 50%");
  ASSERT_EQ(again.guard.states().size(), 1U);
  EXPECT_EQ(again.guard.states().front().seen.count(25), 1U);
}

TEST(GuardFaults, WhoComesBackIsStillLeftAlone) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.limits = false;
  const std::vector<double> before = amounts_of(plant.run(60), "batch");
  for (const double samples : {1, 8, 90}) {
    plant.change = missing("batch", 60, 60 + samples);
    EXPECT_EQ(amounts_of(plant.run(500), "batch"), before) << samples;
    // The domain was offline, or the counter had no number for more than a minute.
    plant.change = [=](double t, Sample& sample) {
      if (t >= 60 && t < 60 + samples) sample.counters.clear();
    };
    EXPECT_EQ(amounts_of(plant.run(500), "batch"), before) << samples;
    plant.change = [=](double t, Sample& sample) {
      if (t >= 60 && t < 60 + samples)
        sample.counters[1].counters["mbm_total_bytes"] = NoCount::unavailable;
    };
    EXPECT_EQ(amounts_of(plant.run(500), "batch"), before) << samples;
  }
}

TEST(GuardFaults, FlappingStaysWhereTheGroupIsMissingOnce) {
  Plant plant({{"redis", wave(4, 30)}, {"batch", steadily(10)}});
  EXPECT_EQ(steps_between(plant.run(1800), 300, 1800), 0U);
  for (const char* group : {"batch", "redis"}) {
    plant.change = missing(group, 400, 401);
    EXPECT_EQ(steps_between(plant.run(1800), 300, 1800), 0U) << group;
  }
}

// What was removed on purpose holds nobody up, nor does another one that comes and goes.
TEST(GuardFaults, GroupsOfOthersThatGoAreNoReasonToWait) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  const size_t before = plant.run(30).steps.size();
  plant.change = [](double t, Sample& sample) {
    sample.counters.push_back(counter_of("job" + std::to_string(static_cast<int>(t)), 5));
  };
  const Ran ran = plant.run(30);
  EXPECT_EQ(ran.steps.size(), before);
  EXPECT_EQ(ran.guard.frozen(), "");
}

// The kernel has reset its amounts meanwhile.
TEST(GuardFaults, ADomainThatComesBackHasThePolicysAmounts) {
  for (const double end : {62.0, 560.0}) {
    Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
    plant.change = [=](double t, Sample& sample) {
      if (t >= 60 && t < end) sample.counters.clear();
    };
    EXPECT_FALSE(plant.run(60).guard.amounts().empty());
    const Ran ran = plant.run(end + 2);
    EXPECT_TRUE(ran.guard.amounts().empty()) << end;
    ASSERT_EQ(ran.steps.size(), plant.run(60).steps.size() + 1) << end;
    EXPECT_TRUE(sentence(ran.steps.back()).ends_with(" to 100%: the domain is offline"));
  }
}

// Also where it is given back because nobody is protected at the moment.
TEST(GuardFaults, FlappingEndsWhereTheProtectedGroupComesAndGoes) {
  const auto redis = [](double t) { return t < 1800 && std::fmod(t, 30) < 15 ? 4 : 0; };
  Plant plant({{"redis", redis}, {"batch", steadily(10)}});
  EXPECT_EQ(steps_between(plant.run(1800), 300, 1800), 0U);
  EXPECT_FALSE(plant.run(1830).guard.amounts().empty());
  // It is not for ever.
  EXPECT_TRUE(plant.run(1900).guard.amounts().empty());
}

// Each time that it begins again, it takes longer until it is believed that it has ended.
TEST(GuardFaults, FlappingThatBeginsAgainWaitsLonger) {
  const auto redis = [](double t) { return std::fmod(t, 400) < 300 && std::fmod(t, 30) < 15; };
  Plant plant({{"redis", [=](double t) { return redis(t) ? 4 : 0; }}, {"batch", steadily(10)}});
  const Ran ran = plant.run(4000);
  EXPECT_LT(steps_between(ran, 1200, 4000), steps_between(ran, 0, 1200));
  EXPECT_LE(steps_between(ran, 1200, 4000), 10U) << texts(ran.steps).back();
}

double part_lowered(const Ran& ran, double seconds) {
  double out = 0, since = 0;
  for (const GuardStep& step : ran.steps) {
    const double at = static_cast<double>(step.time_usec - 1'700'000'000'000'000) / 1e6;
    if (step.before < 100) out += at - since;
    since = at;
  }
  return (ran.guard.amounts().empty() ? out : out + seconds - since) / seconds;
}

// Limits without any effect, and traffic that scatters by 5%.
TEST(GuardFaults, ScatterIsNoHelp) {
  double lowered = 0;
  constexpr unsigned step = test::stride(4);
  for (unsigned seed = 0; seed < 20; seed += step) {
    std::mt19937 random(seed);
    const auto scatters = [&](double value) {
      return [&random, value](double) {
        return std::normal_distribution<double>(value, value / 20)(random);
      };
    };
    Plant plant({{"redis", scatters(3)}, {"batch", scatters(5.5)}});
    plant.limits = false;
    lowered += part_lowered(plant.run(1200), 1200) * step / 20;
  }
  EXPECT_LT(lowered, 0.25);
}

// And where they have one, it shows all the same.
TEST(GuardFaults, HelpShowsThroughScatter) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const auto scatters = [&](double value) {
      return [&random, value](double) {
        return std::normal_distribution<double>(value, value / 20)(random);
      };
    };
    Plant plant({{"redis", scatters(4)}, {"batch", scatters(10)}});
    const Ran ran = plant.run(300);
    EXPECT_TRUE(std::ranges::none_of(ran.steps, [](const GuardStep& step) {
      return step.reason.starts_with("the cut did not help");
    })) << seed;
    EXPECT_FALSE(ran.guard.amounts().empty()) << seed;
  }
}

// A counter of a group that the guard does not look at.
TEST(GuardFaults, ACounterOfOthersDoesNotStopIt) {
  const auto fails = [](int every) {
    return [=](double t, Sample& sample) {
      sample.counters.push_back(counter_of("other", t));
      if (static_cast<int>(t) % every == 0)
        sample.counters.back().counters["mbm_total_bytes"] = NoCount::unassigned;
    };
  };
  for (const int every : {1, 2, 3, 4}) {
    Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
    plant.change = fails(every);
    EXPECT_GE(plant.run(90).steps.size(), 2U) << every;
  }
}

// The sum of the others is less than the traffic: that is no room.
TEST(GuardFaults, ACounterThatIsLostIsNoRoom) {
  Plant plant({{"redis", steadily(2)}, {"batch", steadily(10)}, {"other", steadily(3)}});
  const Ran before = plant.run(60);
  EXPECT_FALSE(before.guard.amounts().empty());
  plant.change = [](double t, Sample& sample) {
    if (t >= 60) sample.counters[2].counters["mbm_total_bytes"] = NoCount::unassigned;
  };
  EXPECT_EQ(texts(plant.run(650).steps), texts(before.steps));
  // It may never have one again: then the group counts like one that never had any.
  EXPECT_GT(plant.run(700).steps.size(), before.steps.size());
  // The others may still need less.
  Plant idle({{"redis", until(90, 2)}, {"batch", steadily(10)}, {"other", steadily(3)}});
  idle.change = plant.change;
  EXPECT_FALSE(idle.run(90).guard.amounts().empty());
  EXPECT_TRUE(idle.run(120).guard.amounts().empty());
}

TEST(GuardFaults, ACounterOfItsOwnThatFailsNowAndThenDoesNotStopIt) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = [](double t, Sample& sample) {
    if (static_cast<int>(t) % 3 == 0)
      sample.counters[0].counters["mbm_total_bytes"] = NoCount::unavailable;
  };
  EXPECT_GE(plant.run(60).steps.size(), 2U);
}

TEST(GuardFaults, SaysWhoseCounterHasNoNumber) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = [](double, Sample& sample) {
    sample.counters[0].counters["mbm_total_bytes"] = NoCount::unassigned;
  };
  EXPECT_EQ(plant.run(10).guard.frozen(), "L3 0: the counter of redis has no number");
}

// The traffic is known where the occupancy is not.
TEST(GuardFaults, ACacheThatCannotBeReadHidesNoTraffic) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  const std::vector<std::string> before = texts(plant.run(60).steps);
  plant.change = [](double, Sample& sample) {
    for (DomainCounters& row : sample.counters)
      row.counters["llc_occupancy"] = NoCount::unavailable;
  };
  EXPECT_EQ(texts(plant.run(60).steps), before);
  EXPECT_GE(before.size(), 2U);
}

// A ceiling that was measured on few CPUs: a counter jumps once, not in each sample.
TEST(GuardFaults, ACeilingMeasuredTooLowIsNotBelieved) {
  Plant plant({{"redis", steadily(1)}, {"batch", steadily(9)}});
  plant.header.ceilings["L3"][DomainId{0}] = 2 * gib;
  const Ran ran = plant.run(60);
  EXPECT_EQ(ran.guard.frozen(), "");
  EXPECT_GE(ran.steps.size(), 1U);
}

}  // namespace
}  // namespace rdtd::observe
