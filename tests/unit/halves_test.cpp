// Code and data of a cache: which masks they get on a mount with cdp.
#include <gtest/gtest.h>

#include "placement_support.hpp"

namespace rdtd {
namespace {

using test::exclusive;
using test::group;
using test::machine;
using test::member;
using test::partition;

Capabilities with_cdp(unsigned ways) {
  Capabilities out = machine(ways, 1);
  const CacheInfo cache = test::l3(out);
  out.caches = {{Resource::L3CODE, cache}, {Resource::L3DATA, cache}};
  return out;
}

// "a 0-3/4-5, default 6-7": the ways of code and of data, or both at once, or the errors.
std::string halves_of(const std::string& policy, const Capabilities& capabilities,
                      const Snapshot& now) {
  const ParsedPolicy parsed = test::parse(policy);
  const auto plan = make_plan(parsed.policy, capabilities, now);
  if (!plan) return format_diagnostics(plan.error(), parsed.policy.sources);
  std::string out;
  for (const GroupTarget& target : plan->groups) {
    const auto ways = [&](Resource half) {
      return way_list(Cbm{target.state.schemata.at(half).at(DomainId{0})});
    };
    const std::string code = ways(Resource::L3CODE), data = ways(Resource::L3DATA);
    out += (out.empty() ? "" : ", ") + group_label(target.directory) + " " + code +
           (code == data ? "" : "/" + data);
  }
  return out;
}

std::string halves_of(const std::string& policy, const Capabilities& capabilities) {
  return halves_of(policy, capabilities, test::untouched(capabilities));
}

std::string halves(const std::string& name, const std::string& code, const std::string& data,
                   const std::string& more = "") {
  return group(name, "",
               (code.empty() ? "" : "l3code = \"" + code + "\"\n") +
                   (data.empty() ? "" : "l3data = \"" + data + "\"\n") + more);
}

TEST(Halves, Layouts) {
  const Capabilities capabilities = with_cdp(8);
  const std::string alone = "exclusive = true\n";
  const test::PolicyAndLayout rows[] = {
      // One amount is for both.
      {group("a", "3 ways"), "a 0-2, default 0-7"},
      {exclusive("a", "3 ways"), "a 0-2, default 3-7"},
      // Beside each other while there is room, then overlapping.
      {halves("a", "2 ways", "3 ways"), "a 0-1/2-4, default 0-7"},
      {halves("a", "2 ways", "3 ways", alone), "a 0-1/2-4, default 5-7"},
      {halves("a", "3 ways", "5 ways", alone), "a 0-2/0-4, default 5-7"},
      {halves("a", "2 ways", "3 ways", alone) + exclusive("b", "4 ways"),
       "a 0-1/0-2, b 3-6, default 7"},
      {halves("a", "1 way", "2 ways", alone) + halves("b", "2 ways", "3 ways", alone),
       "a 0/1-2, b 3-4/3-5, default 6-7"},
      // What is said of one half: an exclusive group has the same ways for both, another one all.
      {halves("a", "2 ways", "", alone), "a 0-1, default 2-7"},
      {halves("a", "", "2 ways"), "a 0-7/0-1, default 0-7"},
      {group("a", "4 ways", "l3code = \"1 way\"\n"), "a 0/1-4, default 0-7"},
      // Named ways are used as they are, and may overlap within the group.
      {halves("a", "ways 0-2", "ways 2-4", alone), "a 0-2/2-4, default 5-7"},
      {halves("a", "ways 0-1", "ways 4-5", alone) + exclusive("b", "2 ways"),
       "a 0-1/4-5, b 2-3, default 6-7"},
      {halves("a", "ways 1-2", "4 ways", alone) + exclusive("b", "3 ways"),
       "a 1-2/0-3, b 4-6, default 7"},
      // A partition, and groups in it.
      {partition("p", "4 ways") + halves("a", "1 way", "2 ways", "partition = \"p\"\n") +
           member("b", "p"),
       "a 0/1-2, b 0-3, default 4-7"},
      {"[partition.p]\nl3code = \"2 ways\"\nl3data = \"4 ways\"\n" + member("a", "p", "50%") +
           member("b", "p"),
       "a 0/2-3, b 0-1/2-5, default 6-7"},
      // Percentages of exactly all.
      {"[partition.p]\nl3code = \"50%\"\nl3data = \"25%\"\n"
       "[partition.q]\nl3code = \"50%\"\nl3data = \"75%\"\n" +
           member("a", "p") + member("default", "q"),
       "p.toml:5:10: error: 10 ways asked for exclusively (p 4, q 6), but L3 domain 0 has 8 ways\n"
       "    5 | l3code = \"50%\"\n      |          ^~~~~\n"},
      {halves("a", "5 ways", "2 ways", alone) + halves("b", "1 way", "3 ways", alone),
       "p.toml:6:10: error: 8 ways asked for exclusively (a 5, b 3), but L3 domain 0 has 8 ways, "
       "and 1 must be left to default\n    6 | l3code = \"1 way\"\n      |          ^~~~~~~ "
       "write less, or partitions, one of which [group.default] is in\n"},
      // The code of a can contain its data.
      {halves("a", "4 ways", "ways 5-6", alone) + exclusive("b", "4 ways"),
       "p.toml:6:6: error: 8 ways asked for exclusively (a 4, b 4), but L3 domain 0 has 8 ways, "
       "and 1 must be left to default\n    6 | l3 = \"4 ways\"\n      |      ^~~~~~~~ write less, "
       "or partitions, one of which [group.default] is in\n"},
      {halves("a", "ways 0-1", "ways 2-3", alone) + halves("b", "ways 3-4", "1 way", alone),
       "p.toml:6:10: error: b: 'ways 3-4' overlaps way 3 of L3 domain 0, exclusive to a "
       "(p.toml:2)\n    6 | l3code = \"ways 3-4\"\n      |          ^~~~~~~~~~\n"},
      {halves("a", "2 ways", "ways 2", alone) + halves("b", "3 ways", "ways 0-1", alone) +
           group("c", "2 ways"),
       "p.toml:10:6: error: c: '2 ways' does not fit in L3 domain 0: 1 way is left beside a (2 "
       "ways), b (5 ways)\n   10 | l3 = \"2 ways\"\n      |      ^~~~~~~~ write \"1 way\"\n"},
      {halves("a", "3 ways", "ways 2", alone) + halves("b", "ways 3", "2 ways", alone) +
           group("c", "ways 4-7"),
       "p.toml:7:10: error: the code and data of a, b cannot be placed around the ways that are "
       "named in L3 domain 0\n    7 | l3data = \"2 ways\"\n      |          ^~~~~~~~\n"},
      // Exactly all of the data, and of code and data of which one party speaks at once.
      {"[partition.p]\nl3code = \"2 ways\"\nl3data = \"50%\"\n"
       "[partition.q]\nl3code = \"2 ways\"\nl3data = \"50%\"\n" +
           member("a", "p") + member("default", "q"),
       "a 0-1/0-3, default 4-5/4-7"},
      {partition("p", "30%") + "[partition.q]\nl3code = \"70%\"\nl3data = \"70%\"\n" +
           member("a", "p") + member("default", "q"),
       "a 0-1, default 2-7"},
  };
  for (const test::PolicyAndLayout& row : rows)
    EXPECT_EQ(halves_of(row.policy, capabilities), row.layout) << row.policy;
}

// With masks that may have gaps, halves are placed without gaps if that is possible.
TEST(Halves, GapsAreALastResort) {
  Capabilities capabilities = with_cdp(8);
  for (auto& [half, info] : capabilities.caches) info.sparse_masks = true;
  const std::string alone = "exclusive = true\n";
  const test::PolicyAndLayout rows[] = {
      {exclusive("b", "ways 2") + halves("a", "3 ways", "3 ways", alone),
       "b 2, a 3-5, default 0-1,6-7"},
      {exclusive("b", "ways 3") + halves("a", "ways 0-1", "5 ways", alone),
       "b 3, a 0-1/0-2,4-5, default 6-7"},
      {exclusive("b", "ways 2") + exclusive("c", "ways 5") + halves("a", "2 ways", "4 ways", alone),
       "b 2, c 5, a 0-1/0-1,3-4, default 6-7"},
  };
  for (const test::PolicyAndLayout& row : rows)
    EXPECT_EQ(halves_of(row.policy, capabilities), row.layout) << row.policy;
}

// More halves than fit cost no more than their number.
TEST(Halves, ManyThatDoNotFit) {
  std::string policy;
  for (int i = 0; i < 3000; i++)
    policy += "[partition.p" + std::to_string(i) + "]\nl3code = \"1 way\"\nl3data = \"2 ways\"\n";
  EXPECT_NE(halves_of(policy, with_cdp(8)).find("6000 ways asked for exclusively"),
            std::string::npos);
}

// Five groups that name one half: only one combination of masks fits.
TEST(Halves, ManyCombinations) {
  const std::string alone = "exclusive = true\n";
  EXPECT_EQ(
      halves_of(halves("a", "ways 0", "3 ways", alone) + halves("b", "ways 3", "3 ways", alone) +
                    halves("d", "ways 12", "3 ways", alone) +
                    halves("e", "ways 17", "4 ways", alone) +
                    halves("c", "ways 19", "5 ways", alone),
                with_cdp(20)),
      "a 0/0-2, b 3/3-5, d 12/11-13, e 17/14-17, c 19/6-10, default 18");
}

// A group that asks for a number of ways keeps its place beside halves that name theirs.
TEST(Halves, OthersKeepTheirPlaces) {
  const std::string alone = "exclusive = true\n";
  const Capabilities capabilities = with_cdp(8);
  Snapshot before = test::untouched(capabilities);
  before.groups["b"] = test::group_state("L3CODE:0=c\nL3DATA:0=c\nMB:0=100\n");
  before.owned = {"b", ""};
  const std::string policy =
      halves("a", "ways 4", "3 ways", alone) + exclusive("b", "2 ways") + exclusive("c", "2 ways");
  const auto plan = make_plan(test::parse(policy).policy, capabilities, before);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->groups[1].state.schemata.at(Resource::L3CODE).at(DomainId{0}), 0xcU)
      << format_plan(*plan);
}

// A group that names its ways has no place to keep: it holds neither half where it was once.
TEST(Halves, NamedWaysAreNoPlace) {
  const Capabilities capabilities = with_cdp(8);
  const std::string policy =
      "[partition.p]\nl3code = \"3 ways\"\nl3data = \"1 way\"\n" + member("a", "p", "ways 4");
  Snapshot now = test::after(group("a", "ways 3-5"), capabilities, test::untouched(capabilities));
  now = test::after(policy, capabilities, now);
  EXPECT_TRUE(test::plan_text(policy, capabilities, now).ends_with("Nothing to change.\n"));
  EXPECT_EQ(halves_of(policy, capabilities, now), halves_of(policy, capabilities));
}

}  // namespace
}  // namespace rdtd
