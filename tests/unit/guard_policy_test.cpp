// What a policy lets the guard do, and the lease that asks for its amounts.
#include "rdtd/observer/guard_policy.hpp"

#include <gtest/gtest.h>

#include "rdtd/policy/guard_lease.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd::observe {
namespace {

ParsedPolicy policy_of(const std::string& text) {
  PolicyFile file;
  file.path = "p.toml";
  file.text = text;
  return parse_policy({&file, 1});
}

TEST(GuardPolicy, RulesAndLease) {
  const ParsedPolicy policy = policy_of(
      "[group.redis]\nl3 = \"4 ways\"\nprotected = true\n"
      "[group.batch]\nl3 = { 0 = \"2 ways\", \"*\" = \"25%\" }\n"
      "mb = { \"0-2\" = [\"10%..80%\", \"1 GB/s..8 GB/s\"], \"*\" = \"50%\" }\n"
      "cpus = \"2-3\"\ndescription = \"a \\\"job\\\"\"\n"
      "[group.default]\nmb = \"20%..100%\"\n"
      "[guard]\nmode = \"on\"\ntraffic = \"70%\"\n");
  ASSERT_TRUE(policy.diagnostics.empty());
  const GuardRules rules = guard_rules(policy.policy);
  EXPECT_TRUE(rules.acts);
  EXPECT_EQ(rules.traffic, 0.7);
  EXPECT_EQ(rules.protected_groups, std::set<std::string>{"redis"});
  ASSERT_NE(rules.range_of("batch", DomainId{2}), nullptr);
  EXPECT_EQ(rules.range_of("batch", DomainId{2})->most, 80);
  EXPECT_EQ(rules.range_of("batch", DomainId{3}), nullptr);
  EXPECT_EQ(rules.range_of("redis", DomainId{0}), nullptr);
  ASSERT_NE(rules.range_of("", DomainId{9}), nullptr);
  EXPECT_EQ(guard_lease(policy.policy, {}), "");
  const std::string lease =
      guard_lease(policy.policy,
                  {{"batch", {{DomainId{1}, 45}, {DomainId{3}, 20}}}, {"", {{DomainId{0}, 50}}}});
  EXPECT_EQ(lease,
            "[group.batch]\namend = true\nmb = { \"1\" = [\"45%\", \"4500000 KB/s\"] }\n"
            "[group.default]\namend = true\nmb = { \"0\" = \"50%\" }\n");
  // The daemon understands it, behind the files.
  PolicyFile files[2];
  files[0].path = "p.toml";
  files[0].text = policy.policy.sources.at("p.toml");
  files[1] = lease_file("guard", lease);
  const ParsedPolicy both = parse_policy(files);
  EXPECT_TRUE(both.diagnostics.empty());
  const Group& batch = both.policy.groups[1];
  EXPECT_EQ(line_for(batch.amounts.at(Resource::MB), DomainId{1})->amount.value.text, "45%");
  EXPECT_EQ(line_for(batch.amounts.at(Resource::MB), DomainId{2})->amount.value.text, "10%..80%");
  EXPECT_EQ(line_for(batch.amounts.at(Resource::MB), DomainId{3})->amount.value.text, "50%");
  EXPECT_EQ(line_for(batch.amounts.at(Resource::L3), DomainId{0})->amount.value.text, "2 ways");
  EXPECT_EQ(batch.cpus->value, (CpuSet{2, 3}));
}

TEST(GuardPolicy, Ranges) {
  const struct {
    const char* amount;
    double least, most;  // 0: no range
  } rows[] = {{"\"10%..100%\"", 10, 100},
              {"\"10%..unlimited\"", 10, 100},
              {"\"1 GB/s..8 GB/s\"", 1e9, 8e9},
              {"\"1 GB/s..unlimited\"", 0, 0},
              {"\"50%..50%\"", 0, 0},
              {"[\"10%..50%\", \"8 GB/s\"]", 0, 0},
              {"[\"1 GB/s..2 GB/s\", \"10%..50%\"]", 1e9, 2e9},
              {"\"50%\"", 0, 0}};
  for (const auto& row : rows) {
    const ParsedPolicy policy = policy_of(std::string("[group.a]\nmb = ") + row.amount + "\n");
    ASSERT_FALSE(has_errors(policy.diagnostics)) << row.amount;
    const GuardRules rules = guard_rules(policy.policy);
    const Range* range = rules.range_of("a", DomainId{0});
    EXPECT_EQ(range != nullptr ? range->least : 0, row.least) << row.amount;
    EXPECT_EQ(range != nullptr ? range->most : 0, row.most) << row.amount;
  }
}

// The policy may give a range to a group that it protects: it is not the guard's to lower.
TEST(GuardPolicy, NoLeaseLowersAProtectedGroup) {
  const std::string text =
      "[guard]\nmode = \"on\"\n[group.redis]\nprotected = true\nmb = \"10%..100%\"\n"
      "[group.batch]\nmb = \"10%..100%\"\n";
  const Policy policy = policy_of(text).policy;
  const auto why = [&](const std::string& group) {
    return beyond_guard(
        policy, lease_file("guard", "[group." + group + "]\namend = true\nmb = \"50%\"\n"), 981);
  };
  EXPECT_EQ(why("batch"), std::nullopt);
  EXPECT_EQ(why("redis"), "group 'redis' is protected");
}

}  // namespace
}  // namespace rdtd::observe
