// The oracle judges the planner. For each random policy, machine and previous state:
// - the policy is granted if and only if the oracle finds a placement;
// - the masks that are granted obey the rules;
// - as few exclusive groups as possible have ways that devices fill, if there is no room elsewhere,
//   and they meet as few groups of other tools as possible, as do the groups beside them;
// - as many groups as possible keep their places, and none overlaps others without need;
// - planning again from the granted state changes nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include <algorithm>
#include <string>
#include <vector>

#include "../unit/support.hpp"
#include "random_case.hpp"

namespace rdtd {
namespace {

using namespace oracle;

std::string broken_rule(const Case& c, const Oracle& oracle,
                        const std::map<std::string, Mask>& granted) {
  const auto owner = [](const Party& group) {
    return group.exclusive ? group.name : "partition " + std::to_string(group.partition);
  };
  std::vector<Party> groups = c.groups;
  if (std::ranges::find(groups, "default", &Party::name) == groups.end())
    groups.push_back({.name = "default"});
  for (const Party& group : groups) {
    const Mask mask = granted.at(group.name);
    unsigned total = c.ways;
    if (group.partition >= 0)
      total = ways_asked(c, c.partitions[static_cast<size_t>(group.partition)].asked, c.ways);
    const unsigned ways = ways_asked(c, group.asked, total);
    if (count(mask) < c.min) return group.name + " has too few ways";
    if (!within(mask, c.all())) return group.name + " has ways that do not exist";
    if (!c.sparse && !contiguous(mask)) return group.name + " has gaps";
    if (ways != 0 && count(mask) != ways) return group.name + " has another number of ways";
    if (group.asked.kind == Asked::Kind::named && mask != group.asked.mask)
      return group.name + " has other ways than it named";
    if ((mask & c.obstacle) != 0) return group.name + " overlaps the foreign group";
    const bool alone = group.exclusive || group.partition >= 0;
    const bool strict = group.partition >= 0
                            ? c.partitions[static_cast<size_t>(group.partition)].strict
                            : group.strict;
    if (alone && (strict || oracle.outside_of_devices()) && (mask & c.shareable) != 0)
      return group.name + " has ways of I/O devices";
    for (const Party& other : groups)
      if (alone && &other != &group && (mask & granted.at(other.name)) != 0 &&
          owner(other) != owner(group))
        return group.name + " and " + other.name + " overlap";
  }
  return {};
}

// The group whose mask has gaps although all masks could be contiguous: none, but in the ways that
// somebody named, or in a remainder.
std::string needless_gap(const Case& c, const std::map<std::string, Mask>& granted) {
  for (const Party& group : c.groups) {
    const bool counted =
        group.asked.kind == Asked::Kind::ways || group.asked.kind == Asked::Kind::percent;
    const bool in_named =
        group.partition >= 0 && c.partitions[static_cast<size_t>(group.partition)].asked.mask != 0;
    if (counted && !in_named && !contiguous(granted.at(group.name))) return group.name;
  }
  return {};
}

Capabilities machine_of(const Case& c) {
  Capabilities out = test::machine(c.ways, 1);
  CacheInfo& l3 = out.caches.at(Resource::L3);
  l3.min_cbm_bits = c.min;
  l3.sparse_masks = c.sparse;
  l3.shareable_bits = Cbm{c.shareable};
  out.bandwidths.at(Resource::MB).num_closids = 16;
  return out;
}

Snapshot state_of(const Case& c, const Capabilities& capabilities) {
  Snapshot out = test::untouched(capabilities);
  out.owned.insert(std::string(root_group));
  const auto add = [&](const std::string& name, Mask mask, Mode mode) {
    out.groups[name] = test::group_state("L3:0=" + to_string(Cbm{mask}) + "\nMB:0=100\n", mode);
  };
  if (c.obstacle != 0) add("foreign", c.obstacle, Mode::exclusive);
  for (size_t i = 0; i < c.others.size(); i++)
    add("other" + std::to_string(i), c.others[i], Mode::shareable);
  for (const Party& group : c.groups)
    if (group.previous != 0) {
      add(group.name, group.previous, Mode::shareable);
      out.owned.insert(group.name);
    }
  return out;
}

void judge(const Case& c) {
  const Capabilities capabilities = machine_of(c);
  const Snapshot before = state_of(c, capabilities);
  const ParsedPolicy parsed = test::parse(policy_text(c));
  ASSERT_FALSE(has_errors(parsed.diagnostics))
      << format_diagnostics(parsed.diagnostics, parsed.policy.sources);
  const auto plan = make_plan(parsed.policy, capabilities, before);
  const Oracle oracle(c);
  ASSERT_EQ(plan.has_value(), oracle.found)
      << (plan ? format_plan(*plan) : format_diagnostics(plan.error(), parsed.policy.sources));
  if (!plan) return;

  std::map<std::string, Mask> granted;
  for (const GroupTarget& target : plan->groups)
    granted[group_label(target.directory)] = target.state.schemata.at(Resource::L3).at(DomainId{0});
  ASSERT_EQ(broken_rule(c, oracle, granted), "") << format_plan(*plan);
  if (oracle.contiguous_found) {
    ASSERT_EQ(needless_gap(c, granted), "") << format_plan(*plan);
  }
  if (oracle.contiguous_found) {
    ASSERT_GE(oracle.kept_by(granted), -oracle.best.lost) << format_plan(*plan);
    if (c.partitions.empty()) {
      ASSERT_TRUE(oracle.score_of(granted) == oracle.best) << format_plan(*plan);
      if (const SideBySide shared(c, granted); shared.possible) {
        ASSERT_TRUE(shared.here == shared.best) << format_plan(*plan);
      }
    }
  }
  ASSERT_EQ(needless_overlap(c, granted), "") << format_plan(*plan);
  const Snapshot after = test::after(policy_text(c), capabilities, before);
  const auto again = make_plan(parsed.policy, capabilities, after);
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->changes_nothing()) << format_plan(*plan) << "then\n" << format_plan(*again);
}

// Which processors have such masks.
std::string kind_of(const Case& c) {
  const unsigned all = (1U << c.ways) - 1;
  return c.shareable == all ? "MPAM" : c.sparse ? "AMD" : c.min > 1 ? "Haswell" : "Intel";
}

TEST(PlacementProperty, AgreesWithBruteForce) {
  constexpr unsigned cases = test::random_cases(20000);
  unsigned granted = 0, judged = 0;
  std::map<std::string, std::pair<unsigned, unsigned>> kinds;  // of them: granted, judged
  for (unsigned seed = 1; seed <= cases; seed++) {
    const Case c = random_case(seed);
    if (asks_for_exactly_all(c)) continue;
    const bool found = Oracle(c).found;
    judged++;
    granted += found ? 1 : 0;
    auto& [granted_of_kind, judged_of_kind] = kinds[kind_of(c)];
    judged_of_kind++;
    granted_of_kind += found ? 1 : 0;
    judge(c);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ": " << describe(c);
  }
  for (const auto& [kind, counts] : kinds) {
    RecordProperty(kind, fmt::format("{} of {}", counts.first, counts.second));
    EXPECT_GT(counts.first, cases / 100) << kind;
  }
  EXPECT_EQ(kinds.size(), 4U);
  // The cases are not mostly of one sort.
  EXPECT_GT(granted, judged / 4);
  EXPECT_LT(granted, judged * 3 / 4);
}

// Percentages that add up to 100, the default group in the first partition.
TEST(PlacementProperty, ExactlyAllWays) {
  for (unsigned seed = 1; seed <= 2000; seed++) {
    Random random(seed);
    const unsigned ways = 4 + random.below(17);
    const unsigned parties = 1 + random.below(6);
    const unsigned min = 1 + random.below(2);
    std::string policy;
    unsigned left = 100;
    for (unsigned i = 0; i < parties; i++) {
      const unsigned share = i + 1 == parties ? left : 1 + random.below(left - (parties - i) + 1);
      left -= share;
      const std::string name = std::to_string(i);
      policy += "[partition.p" + name + "]\nl3 = \"" + std::to_string(share) + "%\"\n[group." +
                (i == 0 ? "default" : "g" + name) + "]\npartition = \"p" + name + "\"\n";
    }
    Capabilities capabilities = test::machine(ways, 1);
    capabilities.caches.at(Resource::L3).min_cbm_bits = min;
    const ParsedPolicy parsed = test::parse(policy);
    const auto plan = make_plan(parsed.policy, capabilities, test::untouched(capabilities));
    ASSERT_EQ(plan.has_value(), parties * min <= ways) << "seed " << seed << "\n" << policy;
    if (!plan) continue;
    Mask all = 0;
    unsigned sum = 0;
    for (const GroupTarget& target : plan->groups) {
      const Mask mask = target.state.schemata.at(Resource::L3).at(DomainId{0});
      ASSERT_GE(count(mask), min) << "seed " << seed << "\n" << policy;
      all |= mask;
      sum += count(mask);
    }
    ASSERT_EQ(all, range(0, ways)) << "seed " << seed << "\n" << policy;
    ASSERT_EQ(sum, ways) << "seed " << seed << "\n" << policy;
  }
}

}  // namespace
}  // namespace rdtd
