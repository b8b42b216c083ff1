// Warnings of rules that can never decide.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "policy_support.hpp"

namespace rdtd {
namespace {

using test::diagnostics;

std::string default_rule(const std::string& conditions) {
  return fmt::format("[[rule]]\ngroup = \"default\"\n{}\n", conditions);
}

TEST(ShadowedRules, Text) {
  EXPECT_EQ(
      diagnostics("[[rule]]\ngroup = \"default\"\nunit = \"nginx\"\n\n[[rule]]\n"
                  "group = \"default\"\nunit = \"nginx.service\"\nuser = \"www-data\"\n"),
      R"(p.toml:5:1: warning: this rule never decides: the rule at p.toml:1 matches everything that it matches
    5 | [[rule]]
      | ^~~~~~~~ remove it, or move it before the other
)");
}

TEST(ShadowedRules, AcrossFiles) {
  const auto file = [](const char* path, const std::string& text) {
    return PolicyFile{path, PolicyFile::State::active, text, {}};
  };
  const ParsedPolicy parsed = parse_policy(std::vector{
      file("10.toml", default_rule("name = \"b\"")), file("20.toml", default_rule("name = \"a\"")),
      file("30.toml", default_rule("name = \"b\""))});
  EXPECT_EQ(
      format_diagnostics(parsed.diagnostics, {}),
      "30.toml:1:1: warning: this rule never decides: the rule at 10.toml:1 matches everything "
      "that it matches\n      | remove it, or move it before the other\n");
}

// Two rules, and whether the second one is known never to decide.
TEST(ShadowedRules, Pairs) {
  const struct {
    const char* first;
    const char* second;
    bool shadowed;
  } rows[] = {
      {"name = \"a\"", "name = \"a\"", true},
      {"name = \"a\"", "name = \"b\"", false},
      {"name = \"a\"", "thread = \"a\"", false},
      // Fewer conditions match more.
      {"name = \"a\"", "name = \"a\"\nuser = 0", true},
      {"name = \"a\"\nuser = 0", "name = \"a\"", false},
      {"name = \"a\"\nuser = 0", "user = 0\nname = \"a\"", true},
      {"name = \"a\"\nuser = 0", "name = \"a\"\nuser = 1", false},
      {"name = \"a\"\nuser = 0", "name = \"a\"\nuser_group = 0", false},
      // More patterns match more.
      {"name = [\"a\", \"b\"]", "name = \"b\"", true},
      {"name = [\"a\", \"b\"]", "name = [\"b\", \"a\", \"b\"]", true},
      {"name = \"a\"", "name = [\"a\", \"b\"]", false},
      {"name = [\"a\", \"c\"]", "name = [\"a\", \"b\"]", false},
      {"name = [\"a\", \"b\"]\nunit = [\"x\", \"y\"]", "name = \"b\"\nunit = \"x\"", true},
      {"name = [\"a\", \"b\"]\nunit = [\"x\", \"y\"]", "name = \"b\"\nunit = \"z\"", false},
      {"unit = \"a\"", "unit = \"a.service\"", true},
      {"user = [\"root\", 7]", "user = \"7\"", true},
      // Every process has a name, but not an executable, a unit or the name of a single thread.
      {"name = \"*\"", "user = 0", true},
      {"name = [\"a\", \"**\"]", "user = 0", true},
      {"name = \"*\"", "name = \"*\"", true},
      {"name = \"*\"\nuser = 0", "user = 0", true},
      {"name = \"a\"", "name = \"*\"", false},
      {"unit = \"*\"", "unit = \"a.service\"", true},
      {"unit = \"*\"", "name = \"a\"", false},
      {"unit = \"a.service\"", "unit = \"*\"", false},
      {"unit = \"*\"", "user_unit = \"a.service\"", false},
      {"exe = \"/**\"", "exe = \"/bin/a\"", true},
      {"exe = \"**\"", "name = \"a\"", false},
      {"exe = \"/*\"", "exe = \"/a\"", false},
      {"cgroup = \"/\"", "cgroup = \"/a\"", true},
      {"cgroup = \"/a\"", "cgroup = \"/a/\"", true},
      {"thread = \"*\"", "thread = \"a\"", true},
      {"thread = \"*\"", "name = \"a\"", false},
      // A rule for processes decides about their threads too.
      {"name = \"a\"", "name = \"a\"\nthread = \"b\"", true},
      // A slice includes those that its name begins, sessions and the managers of users.
      {"unit = \"kubepods.slice\"", "unit = \"kubepods-burstable.slice\"", true},
      {"unit = \"kubepods.slice\"", "unit = \"kubepods-burstable-podx.slice\"", true},
      {"unit = \"user.slice\"", "unit = \"session-3.scope\"\nname = \"a\"", true},
      {"unit = \"user-1000.slice\"", "unit = \"user@1000.service\"", true},
      {"unit = \"user-1000.slice\"", "unit = \"user@1001.service\"", false},
      {"unit = \"kubepods-burstable.slice\"", "unit = \"kubepods.slice\"", false},
      {"unit = \"a.slice\"", "unit = \"ab.slice\"", false},
      {"unit = \"a.slice\"", "user_unit = \"a-b.slice\"", false},
      {"unit = \"system.slice\"", "unit = \"a.service\"", true},
      // Globs are not compared.
      {"name = \"a*\"", "name = \"ab\"", false},
      {"name = \"a*\"", "name = \"a*\"", true},
  };
  for (const auto& row : rows)
    EXPECT_EQ(
        diagnostics(default_rule(row.first) + default_rule(row.second)).contains("never decides"),
        row.shadowed)
        << row.first << "\n---\n"
        << row.second;
}

TEST(ShadowedRules, NotBesideErrors) {
  EXPECT_FALSE(diagnostics(default_rule("name = \"a\"") + default_rule("name = \"a\"") +
                           "[group.a]\nl3 = 0\n")
                   .contains("never decides"));
}

size_t shadowed(const std::string& policy) { return test::parse(policy).diagnostics.size(); }

std::string rules(size_t count, const auto& conditions) {
  std::string out;
  for (size_t i = 0; i < count; i++) out += default_rule(conditions(i));
  return out;
}

// Each takes minutes if the work is quadratic.
TEST(ShadowedRules, VeryMany) {
  constexpr size_t count = 16'000;
  EXPECT_EQ(shadowed(rules(count, [](size_t) { return "name = \"a\""; })), count - 1);
  EXPECT_EQ(shadowed(rules(count, [](size_t i) { return fmt::format("name = \"n{}\"", i); })), 0U);
  EXPECT_EQ(shadowed(rules(count / 2,
                           [](size_t i) {
                             return fmt::format("user = 0\nunit = \"u\"\nname = \"n{}\"", i / 2);
                           })),
            count / 4);
  // Every pattern is in many rules: there may be fewer warnings then, and it still takes a moment.
  EXPECT_LE(shadowed(rules(count / 2,
                           [](size_t i) {
                             return fmt::format("user = {}\nunit = \"u{}\"\nname = \"n{}\"", i % 20,
                                                i / 20 % 20, i / 400);
                           })),
            count);
}

}  // namespace
}  // namespace rdtd
