// What a set of rules has to do with cgroups, and where its rules lead.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rdtd/base/glob.hpp"
#include "rules_support.hpp"

namespace rdtd {
namespace {

using test::rule;
using test::rules;

TEST(RuleSet, SpeaksOfCgroup) {
  const RuleSet set =
      rules(rule("name = \"x\"\nunit = \"redis\"\n") + rule("cgroup = \"/kube/**/pod\"\n"));
  EXPECT_TRUE(set.speaks_of_cgroup("/system.slice/redis.service"));
  EXPECT_TRUE(set.speaks_of_cgroup("/kube/a/b/pod/container"));
  EXPECT_FALSE(set.speaks_of_cgroup("/kube/a/b"));
}

TEST(RuleSet, Destinations) {
  const RuleSet set =
      rules(rule("name = \"x\"\n", "b") + rule("name = \"y\"\n", "default") +
            rule("name = \"z\"\n", "b") + rule("name = \"u\"\nmonitor = \"m\"\n", "b") +
            rule("name = \"v\"\nmonitor = \"m\"\n", "default"));
  EXPECT_EQ(set.destinations(),
            (std::vector<Destination>{{"b", ""}, {"", ""}, {"b", "m"}, {"", "m"}}));
  EXPECT_EQ(set.rules()[2].destination, 0U);
  EXPECT_EQ(set.group_of(1), "");
  EXPECT_EQ(set.group_of(3), "b");
  std::vector<std::string> labels;
  for (const Destination& destination : set.destinations()) labels.push_back(destination.label());
  EXPECT_EQ(labels, (std::vector<std::string>{"b", "default", "b/m", "default/m"}));
}

// A cgroup is compared only with the patterns that its index finds, each once.
TEST(RuleSet, SpeaksOfCgroupComparesFew) {
  std::string text;
  for (int i = 0; i < 1'000; i++) {
    const std::string n = std::to_string(i);
    text += rule("unit = \"a" + n + "-*.service\"\n") +
            rule("name = \"x\"\ncgroup = \"/b" + n + "/*\"\n") +
            rule("name = \"n" + n + "\"\nunit = \"c-*-x.service\"\n");
  }
  const RuleSet set = rules(text);
  const uint64_t before = glob_steps();
  EXPECT_FALSE(set.speaks_of_cgroup("/system.slice/a1000-x.service"));
  EXPECT_FALSE(set.speaks_of_cgroup("/b1000/x"));
  EXPECT_FALSE(set.speaks_of_cgroup("/system.slice/c-y.service"));
  EXPECT_LT(glob_steps() - before, 100U);
  EXPECT_TRUE(set.speaks_of_cgroup("/system.slice/a999-x.service"));
  EXPECT_TRUE(set.speaks_of_cgroup("/b999/x"));
  EXPECT_TRUE(set.speaks_of_cgroup("/system.slice/c-y-x.service"));
}

// Below a cgroup without a unit there may be any unit, below a unit only users' units, and a
// pattern is about paths that begin as it does.
TEST(RuleSet, MaySpeakBelowCgroup) {
  const struct {
    const char* condition;
    const char* path;
    bool may;
  } rows[] = {
      {"unit = \"redis\"\n", "/", true},
      {"unit = \"redis\"\n", "/system.slice", true},
      {"unit = \"redis\"\n", "/kubepods", true},
      {"unit = \"redis\"\n", "/system.slice/nginx.service", false},
      {"unit = \"redis\"\n", "/system.slice/nginx.service/worker", false},
      {"vm = \"web\"\n", "/machine.slice", true},
      {"vm = \"web\"\n", "/qemu.slice", true},
      {"vm = \"web\"\n", "/gold.slice/gold-a.slice", true},
      {"vm = \"web\"\n", "/machine", true},
      {"vm = \"web\"\n", "/machine/gold.partition", true},
      {"vm = \"web\"\n", "/gold.partition", true},
      {"vm = \"web\"\n", "/machine/x", false},
      {"vm = \"web\"\n", "/gold.partition/machine", false},
      {"vm = \"web\"\n", "/system.slice/x.service", false},
      {"vm = \"web\"\n", "/kubepods", false},
      {"vm = \"db\"\n", "/machine.slice/machine-qemu\\x2d1\\x2dweb.scope", false},
      {"user_unit = \"redis\"\n", "/user.slice", true},
      {"user_unit = \"redis\"\n", "/system.slice/nginx.service", false},
      {"user_unit = \"redis\"\n", "/user.slice/user-1.slice/user@1.service", true},
      {"user_unit = \"redis\"\n", "/user.slice/user-1.slice/user@1.service/app.slice", true},
      {"user_unit = \"redis\"\n", "/user.slice/user-1.slice/user@1.service/a.service", false},
      {"cgroup = \"/a/b\"\n", "/", true},
      {"cgroup = \"/a/b\"\n", "/a", true},
      {"cgroup = \"/a/b\"\n", "/a/b", true},
      {"cgroup = \"/a/b\"\n", "/c", false},
      {"cgroup = \"/a/b/*\"\n", "/a/b/c", true},
      {"cgroup = \"/**/x\"\n", "/a/b", true},
      {"name = \"x\"\n", "/", false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(rules(rule(row.condition)).may_speak_below_cgroup(row.path), row.may)
        << row.condition << row.path;
}

// libvirt leaves out characters in the name of the cgroup.
TEST(RuleSet, NamesOfVirtualMachinesInTheirCgroups) {
  const struct {
    const char* vm;
    const char* in_cgroup;
    bool matches;
  } rows[] = {
      {"web_1", "web1", true},  {"web_1", "web_1", true}, {"web_1", "web-1", false},
      {"a--b", "a-b", true},    {"web_*", "web1", false}, {"web*", "web1", true},
      {"a\\\\*_", "a*_", true}, {"_", "", false},
  };
  for (const auto& row : rows) {
    ProcessFacts facts;
    facts.cgroup = fmt::format("/machine.slice/machine-qemu\\x2d1\\x2d{}.scope", row.in_cgroup);
    EXPECT_EQ(rules(rule(fmt::format("vm = \"{}\"\n", row.vm))).match(facts).kind ==
                  Decision::Kind::matched,
              row.matches)
        << row.vm;
    EXPECT_EQ(rules(rule(fmt::format("vm = \"{}\"\n", row.vm))).speaks_of_cgroup(*facts.cgroup),
              row.matches);
  }
}

TEST(RuleSet, ReadsTheFactsOfItsConditions) {
  const RuleSet set = rules(rule("name = \"x\"\nuser = 1\n") + rule("unit = \"x\"\n"));
  EXPECT_TRUE(set.reads(Fact::name));
  EXPECT_TRUE(set.reads(Fact::cgroup));
  EXPECT_TRUE(set.reads(Fact::identity));
  EXPECT_FALSE(set.reads(Fact::exe));
  EXPECT_FALSE(set.reads(Fact::cmdline));
}

}  // namespace
}  // namespace rdtd
