// The guard where traffic is counted elsewhere than bandwidth is divided, or more than once.
#include <gtest/gtest.h>

#include "guard_plant.hpp"

namespace rdtd::observe {
namespace {

using namespace plant;

TEST(GuardDomains, SaysThatNothingIsCounted) {
  Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
  plant.change = [](double, Sample& sample) {
    for (DomainCounters& row : sample.counters) row.counters = {{"llc_occupancy", uint64_t{1}}};
  };
  EXPECT_EQ(plant.run(3).guard.frozen(), "L3 0: there are no rates yet");
  EXPECT_EQ(plant.run(10).guard.frozen(),
            "L3 0: there are no rates: no group has a number of mbm_total_bytes");
}

// An L3 that counts occupancy only has ids of its own, and one of them may be that of an MB.
TEST(GuardDomains, ADomainThatCountsNoTrafficHidesNone) {
  const std::vector<Program> programs = {{"redis", steadily(4)}, {"batch", steadily(10)}};
  Plant plant(programs);
  plant.header.ceilings = {{"MB", {{DomainId{0}, 10 * gib}}}};
  plant.change = [](double, Sample& sample) {
    for (size_t i = 0; i < 2; ++i) {
      sample.counters[i].resource = "MB";
      for (const uint32_t id : {0U, 122U})
        sample.counters.push_back(
            {sample.counters[i].group, "L3", DomainId{id}, {{"llc_occupancy", uint64_t{1}}}});
    }
  };
  const std::vector<double> steps = amounts_of(Plant(programs).run(60), "batch");
  EXPECT_GE(steps.size(), 2U);
  EXPECT_EQ(amounts_of(plant.run(60), "batch"), steps);
}

TEST(GuardDomains, SaysWhereTheAmountsAre) {
  const struct {
    const char *schemata, *frozen;
  } rows[] = {
      {"MB:2=100", "traffic is counted in L3 0, and mb is set in domain 2"},
      {"L3:0=f MB:2-3=100;9=50", "traffic is counted in L3 0, and mb is set in domains 2-3,9"},
      {"L3:0=f MBMAX:0=100", "bandwidth is not set by MB here, and the guard changes only that"},
      {"MB:0=100;2=100", ""},
      {"", ""},  // it could not be read
  };
  for (const auto& row : rows) {
    Plant plant({{"redis", steadily(4)}, {"batch", steadily(10)}});
    plant.change = [&](double, Sample& sample) {
      for (auto& [group, schemata] : sample.schemata) schemata = row.schemata;
    };
    EXPECT_EQ(plant.run(5).guard.frozen(), row.frozen) << row.schemata;
  }
}

// A domain has one amount, whatever is counted there.
TEST(GuardDomains, TwoResourcesOfADomainAreGuardedOnce) {
  Plant one({{"redis", steadily(4)}, {"batch", steadily(10)}});
  for (const char* resource : {"L2", "NODE"}) {
    Plant two({{"redis", steadily(4)}, {"batch", steadily(10)}});
    two.header.ceilings[resource][DomainId{0}] = 10 * gib;
    two.change = [=](double, Sample& sample) {
      for (size_t i = 0; i < 2; ++i) {
        DomainCounters again = sample.counters[i];
        again.resource = resource;
        sample.counters.push_back(again);
      }
    };
    EXPECT_EQ(texts(two.run(60).steps), texts(one.run(60).steps)) << resource;
  }
}

}  // namespace
}  // namespace rdtd::observe
