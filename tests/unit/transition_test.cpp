// The order of steps: what the groups of others allow.
#include "rdtd/plan/transition.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace rdtd {
namespace {

// The kernel gives a new group the lowest ways that are free, and has none for it here. Only rdtd's
// own group leaves the exclusive mode meanwhile.
TEST(Transition, LeavesTheModesOfOthersAlone) {
  Capabilities capabilities = test::machine(12, 1);
  capabilities.caches.at(Resource::L3).min_cbm_bits = 2;
  const auto l3 = [](const char* mask, Mode mode = Mode::shareable) {
    return test::group_state(std::string("L3:0=") + mask + "\n", mode);
  };
  Snapshot now;
  now.groups = {{"", l3("38")},
                {"lock", l3("6", Mode::pseudo_locked)},
                {"theirs", l3("c0", Mode::exclusive)},
                {"ours", l3("300", Mode::exclusive)}};
  now.owned = {"", "lock", "ours"};
  std::string modes;
  for (const Step& step : transition(capabilities, now, {{"new", l3("38")}}, {}, {}).steps)
    if (kind_of(step) == "mode") modes += format_step(step) + "\n";
  EXPECT_EQ(modes, "mode      ours  shareable\nmode      ours  exclusive\n");
}

}  // namespace
}  // namespace rdtd
