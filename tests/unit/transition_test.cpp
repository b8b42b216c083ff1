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

// Groups wait for each other, and a part of what one of them waits for is free: nobody is parked,
// and no two share a way that they share neither before nor after.
TEST(Transition, MovesToTheFreePartOfAGoal) {
  const auto l3 = [](const char* mask, Mode mode = Mode::shareable) {
    return test::group_state(std::string("L3:0=") + mask + "\n", mode);
  };
  const auto steps = [](const Snapshot& now, const std::vector<WantedGroup>& wanted,
                        const std::set<std::string>& leaving) {
    std::string out;
    for (const Step& step : transition(test::machine(12, 1), now, wanted, {}, leaving).steps)
      if (std::holds_alternative<WriteSchemata>(step)) out += format_step(step) + "\n";
    return out;
  };
  Snapshot now;
  now.groups = {{"", l3("fe0")}, {"a", l3("18", Mode::exclusive)}, {"c", l3("7", Mode::exclusive)}};
  now.owned = {"", "a", "c"};
  EXPECT_EQ(steps(now, {{"", l3("ff8")}, {"a", l3("7", Mode::exclusive)}}, {"c"}),
            "schemata  c  L3:0=fe0 (was 0=7)\n"
            "schemata  a  L3:0=7 (was 0=18)\n"
            "schemata  c  L3:0=ff8 (was 0=fe0)\n"
            "schemata  default  L3:0=ff8 (was 0=fe0)\n");
  now.groups = {{"", l3("fc0")}, {"a", l3("10")}, {"b", l3("e", Mode::exclusive)}};
  now.owned = {"", "a", "b"};
  EXPECT_EQ(steps(now, {{"", l3("fc0")}, {"a", l3("e", Mode::exclusive)}, {"b", l3("30")}}, {}),
            "schemata  b  L3:0=20 (was 0=e)\n"
            "schemata  a  L3:0=e (was 0=10)\n"
            "schemata  b  L3:0=30 (was 0=20)\n");
}

// Two that change places: one of them waits where nobody else wants to go, and it is not the
// default group.
TEST(Transition, ParksWhereNobodyWaits) {
  const auto l3 = [](const char* mask) {
    return test::group_state(std::string("L3:0=") + mask + "\n");
  };
  Snapshot now;
  now.groups = {{"", l3("3")}, {"a", l3("c")}};
  now.owned = {"", "a"};
  std::string out;
  for (const Step& step :
       transition(test::machine(12, 1), now, {{"", l3("c")}, {"a", l3("3")}}, {}, {}).steps)
    out += format_step(step) + "\n";
  EXPECT_EQ(out,
            "schemata  a  L3:0=10 (was 0=c)\n"
            "schemata  default  L3:0=c (was 0=3)\n"
            "schemata  a  L3:0=3 (was 0=10)\n");
}

// A new group needs two ways, and the second one is the devices': another group fills it meanwhile.
TEST(Transition, LendsWaysOfDevices) {
  Capabilities capabilities = test::machine(8, 1);
  capabilities.caches.at(Resource::L3).min_cbm_bits = 2;
  const auto l3 = [](const char* mask) {
    return test::group_state(std::string("L3:0=") + mask + "\n");
  };
  const auto steps = [&](const char* root, const char* devices) {
    Snapshot now;
    now.groups = {{"", l3(root)}};
    now.owned = {""};
    now.io[Resource::L3][DomainId{0}] = parse_cbm(devices)->bits;
    std::string out;
    for (const Step& step :
         transition(capabilities, now, {{"a", l3("30")}, {"", l3("f0")}}, {}, {}).steps)
      out += format_step(step) + "\n";
    return out;
  };
  EXPECT_EQ(steps("f0", "e"),
            "schemata  default  L3:0=ff (was 0=f0)\n"
            "create    a\n"
            "schemata  a  L3:0=30\n"
            "schemata  default  L3:0=f0 (was 0=ff)\n");
  EXPECT_EQ(steps("f0", "c"), "create    a\nschemata  a  L3:0=30\n");
}

std::string written(const Snapshot& now, const std::vector<WantedGroup>& wanted,
                    const std::set<std::string>& leaving) {
  std::string out;
  const Steps steps = transition(test::machine(12, 1), now, wanted, {}, leaving);
  for (const Step& step : steps.steps)
    if (std::holds_alternative<WriteSchemata>(step)) out += format_step(step) + "\n";
  return out;
}

// No group has fewer ways on its way than before and after, if another one can move first.
TEST(Transition, GivesUpNoWaysTooEarly) {
  const auto l3 = [](const char* mask) {
    return test::group_state(std::string("L3:0=") + mask + "\n");
  };
  Snapshot now;
  now.groups = {{"", l3("f00")}, {"db", l3("f0")}, {"web", l3("f")}};
  now.owned = {"", "db", "web"};
  EXPECT_EQ(written(now, {{"", l3("e0")}, {"db", l3("1f")}, {"web", l3("f00")}}, {}),
            "schemata  db  L3:0=10 (was 0=f0)\n"
            "schemata  default  L3:0=e0 (was 0=f00)\n"
            "schemata  web  L3:0=f00 (was 0=f)\n"
            "schemata  db  L3:0=1f (was 0=10)\n");
  now.groups = {{"", l3("f00")}, {"db", l3("f0")}, {"web", l3("f")}};
  EXPECT_EQ(written(now, {{"", l3("c00")}, {"db", l3("1f")}, {"web", l3("300")}}, {}),
            "schemata  default  L3:0=c00 (was 0=f00)\n"
            "schemata  web  L3:0=300 (was 0=f)\n"
            "schemata  db  L3:0=1f (was 0=f0)\n");
}

// Its processes are in it until they have been looked at: they leave the ways of an exclusive
// group, whose mode the kernel may not know, and keep their bandwidth.
TEST(Transition, AGroupThatLeavesKeepsItsBandwidth) {
  const auto state = [](const char* mask, const char* percent) {
    return test::group_state(std::string("L3:0=") + mask + "\nMB:0=" + percent + "\n");
  };
  Snapshot now;
  now.groups = {{"", state("f00", "100")}, {"db", state("f", "100")}, {"noisy", state("f0", "10")}};
  now.owned = {"", "db", "noisy"};
  const GroupState db = state("ff", "100");
  EXPECT_EQ(
      written(now, {{"", state("f00", "100")}, {.group = "db", .state = db, .exclusive = true}},
              {"noisy"}),
      "schemata  noisy  L3:0=f00 (was 0=f0)\n"
      "schemata  db  L3:0=ff (was 0=f)\n");
}

}  // namespace
}  // namespace rdtd
