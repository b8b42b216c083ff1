// Random policies and machines for the oracle of the placement.
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "placement_oracle.hpp"
#include "rdtd/model/cbm.hpp"

namespace rdtd::oracle {

inline std::string text(const Asked& asked) {
  switch (asked.kind) {
    case Asked::Kind::ways: return std::to_string(asked.number) + " ways";
    case Asked::Kind::percent: return std::to_string(asked.number) + "%";
    case Asked::Kind::named: return "0x" + to_string(Cbm{asked.mask});
    case Asked::Kind::all: return "all";
  }
  return {};
}

inline std::string policy_text(const Case& c) {
  std::string out;
  for (const Party& partition : c.partitions)
    out += "[partition." + partition.name + "]\nl3 = \"" + text(partition.asked) + "\"\n" +
           (partition.strict ? "exclusive = \"strict\"\n" : "");
  for (const Party& group : c.groups) {
    out += "[group." + group.name + "]\nl3 = \"" + text(group.asked) + "\"\n";
    if (group.exclusive) out += group.strict ? "exclusive = \"strict\"\n" : "exclusive = true\n";
    if (group.partition >= 0)
      out += "partition = \"" + c.partitions[static_cast<size_t>(group.partition)].name + "\"\n";
  }
  return out;
}

inline std::string describe(const Case& c) {
  std::string out = std::to_string(c.ways) + " ways, min_cbm_bits " + std::to_string(c.min) +
                    (c.sparse ? ", sparse masks" : "") + ", shareable_bits " +
                    to_string(Cbm{c.shareable}) + ", foreign " + to_string(Cbm{c.obstacle}) + "\n";
  for (const Mask mask : c.others) out += "another tool's " + to_string(Cbm{mask}) + "\n";
  for (const Party& group : c.groups)
    out += group.name + " has " + to_string(Cbm{group.previous}) + "\n";
  return out + policy_text(c);
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  unsigned below(unsigned end) { return static_cast<unsigned>(engine_() % end); }
  bool one_in(unsigned n) { return below(n) == 0; }
  Mask run(unsigned ways, unsigned least, unsigned most) {
    const unsigned n = least + below(std::min(most, ways) - least + 1);
    return range(below(ways - n + 1), n);
  }

 private:
  std::mt19937 engine_;
};

inline Asked random_amount(Random& random, const Case& c, bool all_allowed) {
  switch (random.below(all_allowed ? 8 : 6)) {
    case 0:
    case 1: {
      Mask mask = random.run(c.ways, c.min, 3);
      if (c.sparse && random.one_in(3)) mask |= random.run(c.ways, 1, 1);
      return {Asked::Kind::named, 0, mask};
    }
    case 2: return {Asked::Kind::percent, 1 + random.below(60), 0};
    case 6:
    case 7: return {Asked::Kind::all, 0, 0};
    default: return {Asked::Kind::ways, c.min + random.below(random.one_in(3) ? 5 : 2), 0};
  }
}

inline Case random_case(unsigned seed) {
  Random random(seed);
  Case c;
  c.ways = 4 + random.below(5);
  c.min = 1 + (random.one_in(3) ? 1 : 0);
  c.sparse = random.one_in(4);
  if (random.one_in(5))
    c.shareable = range(0, c.ways);  // MPAM
  else if (random.one_in(3))
    c.shareable = random.run(c.ways, 1, random.one_in(4) ? 8 : 2);
  if (random.one_in(4)) c.obstacle = random.run(c.ways, c.min, 2);
  for (unsigned i = random.one_in(3) ? 1 + random.below(3) : 0; i > 0; i--)
    if (const Mask mask = random.run(c.ways, c.min, 3); (mask & c.obstacle) == 0)
      c.others.push_back(mask);
  for (unsigned i = random.one_in(3) ? 1 + random.below(2) : 0; i > 0; i--)
    c.partitions.push_back({.name = "p" + std::to_string(i),
                            .asked = random_amount(random, c, false),
                            .strict = random.one_in(4)});
  for (unsigned i = 1 + random.below(4); i > 0; i--) {
    Party group{.name = "g" + std::to_string(i)};
    if (!c.partitions.empty() && random.one_in(2))
      group.partition = static_cast<int>(random.below(static_cast<unsigned>(c.partitions.size())));
    else
      group.exclusive = random.one_in(2);
    group.strict = group.exclusive && random.one_in(4);
    group.asked = random_amount(random, c, !group.exclusive);
    if (random.one_in(2)) group.previous = random.run(c.ways, c.min, 4);
    c.groups.push_back(group);
  }
  if (random.one_in(5)) {
    Party root{.name = "default"};
    if (!c.partitions.empty() && random.one_in(2)) root.partition = 0;
    root.asked = random_amount(random, c, true);
    c.groups.push_back(root);
  }
  return c;
}

}  // namespace rdtd::oracle
