// Code and data of one cache (CDP) against brute force: a policy is granted if and only if masks
// exist with which no footprint of an exclusive group or partition touches another one; the masks
// that are granted obey that; planning again changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "../unit/support.hpp"
#include "placement_oracle.hpp"

namespace rdtd {
namespace {

using oracle::contiguous;
using oracle::count;
using oracle::longest;
using oracle::Mask;
using oracle::range;
using oracle::within;

// What is asked of one half, or of both at once.
struct Half {
  unsigned ways = 0;  // 0 without a mask: nothing is said
  Mask mask = 0;
  [[nodiscard]] bool given() const { return ways != 0; }
  [[nodiscard]] std::string text() const {
    return mask != 0 ? "0x" + to_string(Cbm{mask}) : std::to_string(ways) + " ways";
  }
};

struct Party {
  std::string name;
  std::array<Half, 2> halves;  // of code and data; for both, `both` is set and they are the same
  bool both = false;
  bool exclusive = false;
  bool member = false;  // of the partition
};

struct Case {
  unsigned ways = 6;
  bool sparse = false;
  bool partition = false;
  Party region;
  std::vector<Party> groups;
};

std::string amounts(const Party& party) {
  if (party.both) return "l3 = \"" + party.halves[0].text() + "\"\n";
  std::string out;
  if (party.halves[0].given()) out += "l3code = \"" + party.halves[0].text() + "\"\n";
  if (party.halves[1].given()) out += "l3data = \"" + party.halves[1].text() + "\"\n";
  return out;
}

std::string policy_text(const Case& c) {
  std::string out;
  if (c.partition) out += "[partition.p]\n" + amounts(c.region);
  for (const Party& group : c.groups) {
    out += "[group." + group.name + "]\n" + amounts(group);
    if (group.exclusive) out += "exclusive = true\n";
    if (group.member) out += "partition = \"p\"\n";
  }
  return out;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  unsigned below(unsigned end) { return static_cast<unsigned>(engine_() % end); }
  bool one_in(unsigned n) { return below(n) == 0; }
  Half half(unsigned ways) {
    const unsigned n = 1 + below(3);
    return {n, one_in(3) ? range(below(ways - n + 1), n) : 0};
  }
  Party party(const std::string& name, unsigned ways) {
    Party out{.name = name};
    out.both = one_in(3);
    out.halves = {half(ways), half(ways)};
    if (out.both) out.halves[1] = out.halves[0];
    if (!out.both && one_in(4)) out.halves.at(below(2)) = {};
    return out;
  }

 private:
  std::mt19937 engine_;
};

Case random_case(unsigned seed) {
  Random random(seed);
  Case c;
  c.sparse = random.one_in(4);
  c.ways = 4 + random.below(c.sparse ? 3 : 4);
  c.partition = random.one_in(3);
  c.region = random.party("p", c.ways);
  for (unsigned i = 1 + random.below(3); i > 0; i--) {
    Party group = random.party("g" + std::to_string(i), c.ways);
    group.member = c.partition && random.one_in(2);
    group.exclusive = !group.member && !random.one_in(3);
    c.groups.push_back(group);
  }
  return c;
}

class Oracle {
 public:
  explicit Oracle(const Case& c) : c_(c) {
    if (c.partition) regions_.push_back(&c.region);
    for (const Party& group : c.groups)
      if (group.exclusive) regions_.push_back(&group);
    place(0, 0);
  }
  bool found = false;

 private:
  [[nodiscard]] std::vector<Mask> places(const Half& half) const {
    if (half.mask != 0) return {half.mask};
    std::vector<Mask> out;
    for (Mask mask = 1; mask <= range(0, c_.ways); mask++)
      if (count(mask) == half.ways && (c_.sparse || contiguous(mask))) out.push_back(mask);
    return out;
  }
  // What is said of one half only holds for both.
  static Half half(const Party& party, size_t index) {
    return party.halves.at(index).given() ? party.halves.at(index) : party.halves.at(1 - index);
  }
  [[nodiscard]] bool members_fit(const Party& region, Mask code, Mask data) const {
    if (&region != &c_.region) return true;
    return std::ranges::all_of(c_.groups, [&](const Party& group) {
      if (!group.member) return true;
      const std::array masks{code, data};
      for (size_t i = 0; i < 2; i++) {
        const Half& wanted = group.halves.at(i);
        if (wanted.mask != 0 ? !within(wanted.mask, masks.at(i)) : wanted.ways > count(masks.at(i)))
          return false;
      }
      return true;
    });
  }
  void place(size_t index, Mask taken) {
    if (found) return;
    if (index == regions_.size()) return judge(taken);
    const Party& region = *regions_[index];
    const bool one = region.both || !region.halves[0].given() || !region.halves[1].given();
    for (const Mask code : places(half(region, 0)))
      for (const Mask data : places(half(region, 1))) {
        if ((one && code != data) || ((code | data) & taken) != 0) continue;
        if (members_fit(region, code, data)) place(index + 1, taken | code | data);
      }
  }
  void judge(Mask taken) {
    const Mask left = range(0, c_.ways) & ~taken;
    if (left == 0) return;
    for (const Party& group : c_.groups)
      if (!group.exclusive && !group.member)
        for (const Half& half : group.halves)
          if (half.mask != 0 ? !within(half.mask, left)
                             : half.ways > (c_.sparse ? count(left) : longest(left)))
            return;
    found = true;
  }

  const Case& c_;
  std::vector<const Party*> regions_;
};

using Granted = std::map<std::string, std::array<Mask, 2>>;

std::string broken_rule(const Case& c, const Granted& granted) {
  const auto is_alone = [](const Party& group) { return group.exclusive || group.member; };
  for (const Party& group : c.groups) {
    const auto& masks = granted.at(group.name);
    for (size_t i = 0; i < 2; i++) {
      const Half& half = group.halves.at(i);
      if (masks.at(i) == 0 || (!c.sparse && !contiguous(masks.at(i))) ||
          !within(masks.at(i), range(0, c.ways)))
        return group.name + " has no mask";
      if (half.given() &&
          (half.mask != 0 ? masks.at(i) != half.mask : count(masks.at(i)) != half.ways))
        return group.name + " has another amount";
    }
    if (group.both && !group.member && masks[0] != masks[1]) return group.name + " has two masks";
    for (const auto& [name, other] : granted) {
      const auto found = std::ranges::find(c.groups, name, &Party::name);
      const bool together = found != c.groups.end() && found->member && group.member;
      if (name != group.name && is_alone(group) && !together &&
          ((masks[0] | masks[1]) & (other[0] | other[1])) != 0)
        return group.name + " and " + name + " overlap";
    }
  }
  return {};
}

TEST(HalvesProperty, AgreesWithBruteForce) {
  constexpr unsigned cases = test::random_cases(5000);
  unsigned all_granted = 0;
  for (unsigned seed = 1; seed <= cases; seed++) {
    const Case c = random_case(seed);
    const std::string policy = policy_text(c);
    Capabilities capabilities = test::machine(c.ways, 1);
    CacheInfo cache = capabilities.caches.at(Resource::L3);
    cache.sparse_masks = c.sparse;
    capabilities.caches = {{Resource::L3CODE, cache}, {Resource::L3DATA, cache}};
    const Snapshot before = test::untouched(capabilities);
    const ParsedPolicy parsed = test::parse(policy);
    ASSERT_FALSE(has_errors(parsed.diagnostics)) << policy;
    const auto plan = make_plan(parsed.policy, capabilities, before);
    ASSERT_EQ(plan.has_value(), Oracle(c).found)
        << "seed " << seed << ", " << c.ways << (c.sparse ? " ways, sparse\n" : " ways\n") << policy
        << (plan ? format_plan(*plan) : format_diagnostics(plan.error(), parsed.policy.sources));
    if (!plan) continue;
    all_granted++;
    Granted granted;
    for (const GroupTarget& target : plan->groups)
      granted[group_label(target.directory)] = {
          target.state.schemata.at(Resource::L3CODE).at(DomainId{0}),
          target.state.schemata.at(Resource::L3DATA).at(DomainId{0})};
    ASSERT_EQ(broken_rule(c, granted), "") << "seed " << seed << "\n"
                                           << policy << format_plan(*plan);
    const Snapshot after = test::after(policy, capabilities, before);
    const auto again = make_plan(parsed.policy, capabilities, after);
    ASSERT_TRUE(again && again->changes_nothing())
        << "seed " << seed << "\n"
        << policy << format_plan(*plan) << (again ? format_plan(*again) : "refused");
  }
  EXPECT_GT(all_granted, cases / 4);
  EXPECT_LT(all_granted, cases * 3 / 4);
}

}  // namespace
}  // namespace rdtd
