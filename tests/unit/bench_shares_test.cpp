// Where the groups of bench differ, and who has the ways that the default group has not.
#include "bench_shares.hpp"

#include <gtest/gtest.h>

namespace rdtd::bench {
namespace {

constexpr DomainId first{0}, second{1};

DomainValues both(uint32_t value) { return {{first, value}, {second, value}}; }

// The default group has all 16 ways.
Snapshot snapshot(const std::map<std::string, Schemata>& groups) {
  Snapshot out;
  out.groups[""].schemata = {{Resource::L3, both(0xffff)}, {Resource::MB, both(100)}};
  for (const auto& [name, schemata] : groups) out.groups[name].schemata = schemata;
  return out;
}

TEST(BenchShares, WhereTheThirdConditionDiffers) {
  Snapshot machine = snapshot({
      {"same", {{Resource::L3, both(0xffff)}, {Resource::MB, both(100)}}},
      {"all", {{Resource::L3, both(0xf)}, {Resource::MB, {{first, 50}, {second, 100}}}}},
      {"one", {{Resource::L3, {{first, 0xffff}, {second, 0xf}}}, {Resource::MB, both(50)}}},
      {"limited", {{Resource::L3, both(0xffff)}, {Resource::MB, both(50)}}},
      {"limited-0", {{Resource::L3, both(0xffff)}, {Resource::MB, {{first, 9}, {second, 100}}}}},
  });
  machine.groups[""].schemata[Resource::L2] = both(0xff);
  machine.groups["small"].schemata[Resource::L2] = {{first, 0xff}, {second, 0xf}};
  const struct {
    std::set<std::string> groups;
    std::optional<Divided> divided;
  } rows[] = {
      {{"same"}, std::nullopt},           {{"all"}, Divided{3, {}}},
      {{"one"}, Divided{3, {1}}},         {{"same", "one"}, Divided{3, {1}}},
      {{"same/web"}, std::nullopt},       {{"limited"}, Divided{}},
      {{"limited-0"}, Divided{3, {0}}},   {{"small"}, Divided{2, {1}}},
      {{"small", "all"}, Divided{3, {}}}, {{"missing"}, Divided{}},
  };
  for (const auto& row : rows)
    EXPECT_EQ(divided_by(machine, row.groups), row.divided) << *row.groups.begin();
}

// An exclusive group keeps ways from the default group, and so do other things.
TEST(BenchShares, WhoHasTheOtherWays) {
  Capabilities capabilities;
  capabilities.caches[Resource::L3].cbm_mask = Cbm{0xffff};
  const auto text = [&](uint32_t own, const std::map<std::string, Schemata>& groups,
                        const std::string& group) {
    Snapshot machine = snapshot(groups);
    machine.groups[""].schemata[Resource::L3] = {{first, 0xffff}, {second, own}};
    return missing_ways(capabilities, machine, {3, 1}, group).value_or("none");
  };
  const auto has = [](uint32_t mask) {
    return Schemata{{Resource::L3, {{first, 0xffff}, {second, mask}}}};
  };
  // Of code and data, what a probe reads counts.
  Snapshot divided = snapshot({});
  divided.groups[""].schemata = {{Resource::L3CODE, both(0xf)}, {Resource::L3DATA, both(0xffff)}};
  EXPECT_EQ(missing_ways(capabilities, divided, {3, 1}, ""), std::nullopt);
  const std::string some = "Alone, the command has 9 of 16 ways of L3: ";
  EXPECT_EQ(text(0xffff, {{"a", has(0x7f)}}, "a"), "none");
  EXPECT_EQ(text(0, {}, ""), "none");
  EXPECT_EQ(text(0xff80, {{"a", has(0x7f)}, {"wide", has(0xffff)}}, ""),
            some + "'a' has the others.");
  EXPECT_EQ(text(0xff80, {{"a", has(0x7f)}}, "a"),
            some +
                "'a' has the others. With an amount such as --l3 instead of --group, that group is "
                "there in its own runs only.");
  EXPECT_EQ(text(0xff80, {{"a", has(0x0f)}, {"b", has(0x70)}}, "c"),
            some + "'a', 'b' have the others.");
  EXPECT_EQ(text(0xff80, {}, ""), some + "the default group may not fill the others.");
  EXPECT_EQ(text(0xff80, {{"a", has(0x0f)}}, "a"),
            some + "the default group may not fill the others.");
}

// A reload during the runs, or another tool.
TEST(BenchShares, WhatChangedMeanwhileIsSaid) {
  const auto has = [](uint32_t mask) { return Schemata{{Resource::L3, {{first, mask}}}}; };
  const std::map<std::string, Schemata> before = {{"default", has(0xff)}, {"redis", has(0xf)}};
  EXPECT_EQ(changed_groups(before, before), std::vector<std::string>{});
  EXPECT_EQ(changed_groups(before, {{"default", has(0xff)}, {"redis", has(0x3)}}),
            std::vector<std::string>{"The schemata of 'redis' changed during the runs."});
  EXPECT_EQ(changed_groups(before, {{"default", has(0xff)}, {"redis", {}}}),
            std::vector<std::string>{"The schemata of 'redis' changed during the runs."});
}

}  // namespace
}  // namespace rdtd::bench
