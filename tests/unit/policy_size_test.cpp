// Policies that are large, by mistake or by intent, and plans of many groups. Each takes minutes if
// anything in its way is quadratic, and a moment otherwise; the time limit of the test tells them
// apart.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "rdtd/plan/prepare.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

std::string repeated(size_t times, const auto& line) {
  std::string out;
  for (size_t i = 0; i < times; i++) out += line(i);
  return out;
}

// The printed errors' last line.
std::string last_line(const std::string& policy) {
  const ParsedPolicy parsed = test::parse(policy);
  std::string text = format_diagnostics(parsed.diagnostics, parsed.policy.sources);
  if (!text.empty()) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

TEST(PolicySize, RulesOfAnUnknownGroup) {
  const std::string rules =
      repeated(25'000, [](size_t) { return "[[rule]]\ngroup=\"redsi\"\nname=\"x\"\n"; });
  EXPECT_EQ(last_line("[group.redis]\n" + rules), "and 24,900 more errors");
}

TEST(PolicySize, ManyGroupsAndBadRules) {
  const std::string groups =
      repeated(20'000, [](size_t i) { return fmt::format("[group.group{}]\n", i); });
  const std::string rules = repeated(
      15'000, [](size_t i) { return fmt::format("[[rule]]\ngroup=\"grou{}\"\nuser=1\n", i); });
  EXPECT_EQ(last_line(groups + rules), "and 14,900 more errors");
}

TEST(PolicySize, Groups) {
  EXPECT_EQ(last_line(repeated(60'000, [](size_t i) { return fmt::format("[group.g{}]\n", i); })),
            "");
}

TEST(PolicySize, PartitionsAndTheirGroups) {
  EXPECT_EQ(last_line(repeated(
                16'000,
                [](size_t i) {
                  return fmt::format(
                      "[partition.p{0}]\nl3=\"all\"\n[group.g{0}]\npartition=\"p{0}\"\n", i);
                })),
            "");
}

TEST(PolicySize, UnknownKeys) {
  EXPECT_EQ(last_line(repeated(99'000, [](size_t i) { return fmt::format("k{}=1\n", i); })),
            "and 98,900 more errors");
}

TEST(PolicySize, LongNameInManyErrors) {
  const std::string keys = repeated(90'000, [](size_t i) { return fmt::format("{}=1\n", i); });
  EXPECT_EQ(last_line("[group." + std::string(200'000, 'a') + "]\n" + keys),
            "and 89,901 more errors");
}

TEST(PolicySize, CpuLists) {
  const std::string all = repeated(100'000, [](size_t) { return "0-65535,"; }) + "1";
  EXPECT_EQ(test::parse("[group.a]\ncpus=\"" + all + "\"\n").policy.groups[0].cpus->value.size(),
            65'536U);
  const std::string groups =
      repeated(16, [](size_t i) { return fmt::format("[group.g{}]\ncpus=\"0-65535\"\n", i); });
  EXPECT_EQ(test::parse(groups).diagnostics.size(), 15U);
  EXPECT_EQ(
      last_line(repeated(
          25'000, [](size_t i) { return fmt::format("[group.g{}]\ncpus=\"0-65535\"\n", i); })),
      "and 24,899 more errors");
}

TEST(PolicySize, DomainLists) {
  const std::string groups = repeated(
      20'000, [](size_t i) { return fmt::format("[group.g{}]\nl3={{\"0-65535\"=\"all\"}}\n", i); });
  EXPECT_EQ(last_line(groups), "and 19,896 more errors");
  EXPECT_EQ(test::parse("[group.a]\nl3 = { \"0-9999\" = \"all\", \"5-9999\" = \"all\" }\n")
                .diagnostics.size(),
            1U);
}

TEST(PolicySize, OneLongLine) {
  const std::string keys = repeated(90'000, [](size_t i) { return fmt::format("k{}=1,", i); });
  EXPECT_EQ(last_line("group={a={" + keys + "z=1}}"), "and 89,901 more errors");
}

TEST(PolicySize, TextHasBounds) {
  const auto text = [](const char* part, size_t times) {
    return repeated(times, [part](size_t) { return part; });
  };
  EXPECT_EQ(last_line(text("# comment\n", 104'858)),
            "p.toml: error: is larger than 1 MiB, which no policy is");
  const ParsedPolicy parsed = test::parse(text("[[x-a]]\n", 100'001));
  EXPECT_EQ(format_diagnostics(parsed.diagnostics, parsed.policy.sources),
            R"(p.toml:100001:1: error: a file has at most 100000 keys and tables
100001 | [[x-a]]
      | ^
)");
  EXPECT_EQ(last_line(text("[[x-a]]\n", 100'000)), "");
  // Texts that reach the bounds of depth: without them, they exhaust the stack.
  EXPECT_NE(last_line("a" + text(".a", 500'000) + " = 1"), "");
  EXPECT_NE(last_line("[a" + text(".a", 500'000) + "]"), "");
  EXPECT_NE(last_line("a = " + text("[", 1'000'000)), "");
  EXPECT_NE(last_line("a = " + text("{a=", 300'000)), "");
}

// Arm has hundreds of CLOSIDs. Each new group may be compared with all, but not each pair with all.
TEST(PolicySize, PlanOfManyNewGroups) {
  Capabilities capabilities = test::machine(16, 1, 1024);
  capabilities.bandwidths.at(Resource::MB).num_closids = 1024;
  capabilities.num_rmids = 1024;
  const std::string policy =
      repeated(1000, [](size_t i) { return fmt::format("[group.g{}]\nl3 = \"2 ways\"\n", i); });
  const auto plan =
      make_plan(test::parse(policy).policy, capabilities, test::untouched(capabilities));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan_summary(*plan), "2000 steps; groups: 1000 to create, 0 to change, 0 to remove.");
}

// Of the groups that a machine cannot have, there may be very many.
TEST(PolicySize, GroupsThatDoNotFit) {
  const Capabilities capabilities = test::machine(16, 1, 4);
  const PolicyFile file{
      .path = "p.toml",
      .text = repeated(10'000, [](size_t i) {
        return fmt::format("[group.g{0}]\nl3=\"1 way\"\n[[rule]]\ngroup=\"g{0}\"\nname=\"n{0}\"\n",
                           i);
      })};
  const auto fits =
      prepare_what_fits({&file, 1}, Machine{capabilities, test::untouched(capabilities), {}});
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->policy.groups.size(), 3U);
  EXPECT_EQ(fits->policy.rules.size(), 10'000U);
  ASSERT_EQ(fits->missing.size(), 9'997U);
  EXPECT_EQ(fits->missing[0].what, "group 'g3' is");
  EXPECT_EQ(fits->missing[0].reason,
            "4 groups asked for (g0, g1, g2, g3), 4 CLOSIDs here: 1 is the default group's");
}

}  // namespace
}  // namespace rdtd
