#include <gtest/gtest.h>

#include "rdtd/base/glob.hpp"
#include "rdtd/rules/explain.hpp"
#include "rdtd/rules/rule_set.hpp"
#include "rules_support.hpp"

namespace rdtd {
namespace {

using test::facts;
using test::rule;
using test::rules;

TEST(Match, EachCondition) {
  const struct {
    const char* condition;
    bool matches;
  } rows[] = {{"name = \"redis-server\"\n", true},
              {"name = \"redis\"\n", false},
              {"name = \"redis*\"\n", true},
              {"name = [\"x\", \"*server\"]\n", true},
              {"name = \"r?dis-[a-t]erver\"\n", true},
              {"exe = \"/usr/bin/redis-server\"\n", true},
              {"exe = \"/usr/*\"\n", false},
              {"exe = \"/usr/**\"\n", true},
              {"cmdline = \"*6379\"\n", true},
              {"cmdline = \"6379\"\n", false},
              {"cgroup = \"/system.slice\"\n", true},
              {"cgroup = \"/system.slice/\"\n", true},
              {"cgroup = \"/system.slice/redis.service\"\n", true},
              {"cgroup = \"/system\"\n", false},
              {"cgroup = \"/*/redis*\"\n", true},
              {"cgroup = \"/*/nginx*\"\n", false},
              {"cgroup = \"/\"\n", true},
              {"cgroup = \"/system.slice/redis.service/**\"\n", true},
              {"exe = \"/usr/bin/redis-server/**\"\n", true},
              {"unit = \"redis.service\"\n", true},
              {"unit = \"redis\"\n", true},
              {"unit = \"system.slice\"\n", true},
              {"unit = \"red*.service\"\n", true},
              {"unit = \"user.slice\"\n", false},
              {"user = \"redis\"\n", true},
              {"user = 100\n", true},
              {"user = \"100\"\n", true},
              {"user = [0, 1]\n", false},
              {"user = \"nobody\"\n", false},
              {"user_group = \"staff\"\n", true},
              {"user_group = 100\n", false},
              {"name = \"redis-server\"\nuser = 100\n", true},
              {"name = \"redis-server\"\nuser = 101\n", false},
              {"user = 100\nname = \"nginx\"\n", false},
              {"thread = \"redis-server\"\n", false}};
  for (const auto& row : rows) {
    const Decision decision = rules(rule(row.condition)).match(facts("redis-server"));
    EXPECT_EQ(decision.kind, row.matches ? Decision::Kind::matched : Decision::Kind::unmatched)
        << row.condition;
  }
}

// systemd writes '-' in the name of a unit as "\x2d", and shows it so.
TEST(Match, EscapesOfSystemd) {
  ProcessFacts process = facts("qemu");
  process.cgroup = R"(/machine.slice/machine-qemu\x2d1\x2dvm1.scope/emulator)";
  const struct {
    const char* condition;
    const char* reason;  // "": it matches
  } rows[] = {
      {R"(cgroup = '/machine.slice/machine-qemu\x2d1\x2dvm1.scope')", ""},
      {R"(cgroup = '/machine.slice/machine-qemu\x2d*')", ""},
      {R"(cgroup = '**/machine-qemu\x2d1\x2dvm1.scope/emulator')", ""},
      {R"(unit = 'machine-qemu\x2d1\x2dvm1.scope')", ""},
      {R"(cgroup = '/machine\.slice')", ""},  // the glob's own escape
      {R"(cgroup = '/machine.slice/machine-qemu\x2d2.scope')",
       R"(cgroup is '/machine.slice/machine-qemu\x2d1\x2dvm1.scope/emulator', not )"
       R"('/machine.slice/machine-qemu\x2d2.scope')"},
      {R"(unit = 'machine-qemu\x2d2.scope')",
       R"(unit is 'machine-qemu\x2d1\x2dvm1.scope', not 'machine-qemu\x2d2.scope')"},
      // A literal pattern and a glob with one text.
      {R"(cgroup = ['/machine.slice/\*', '/machine.slice/x*'])",
       R"(cgroup is '/machine.slice/machine-qemu\x2d1\x2dvm1.scope/emulator', not )"
       R"('/machine.slice/*' or '/machine.slice/x*')"},
      {R"(cgroup = ['/machine.slice/\*', '/machine.slice/*'])", ""},
      {R"(cgroup = ['/machine.slice/*', '/machine.slice/\*'])", ""},
  };
  for (const auto& row : rows) {
    const RuleSet set = rules(rule(std::string(row.condition) + "\n"));
    const auto trials = explain(set, process, true);
    ASSERT_EQ(trials.size(), 1U);
    EXPECT_EQ(trials.front().reason, row.reason) << row.condition;
    EXPECT_EQ(set.match(process).kind == Decision::Kind::matched, row.reason[0] == '\0')
        << row.condition;
    EXPECT_EQ(set.speaks_of_cgroup(*process.cgroup), row.reason[0] == '\0') << row.condition;
  }
}

TEST(Match, PodsAndContainers) {
  const struct {
    const char* condition;
    ContainerNames names;
    const char* reason;  // "": it matches
  } rows[] = {
      {"pod = \"shop/redis-*\"", {"shop/redis-0", "main"}, ""},
      {"pod = \"shop/*\"\ncontainer = \"main\"", {"shop/redis-0", "main"}, ""},
      {"pod = \"*/redis-0\"", {"shop/redis-0", ""}, ""},
      {"container = [\"x\", \"main\"]", {"", "main"}, ""},
      {"pod = \"shop/redis\"", {"shop/redis-0", ""}, "pod is 'shop/redis-0', not 'shop/redis'"},
      {"pod = \"shop/*\"\ncontainer = \"x*\"",
       {"shop/redis-0", "main"},
       "container is 'main', not 'x*'"},
      {"container = \"*\"",
       {},
       "cgroup '/a' has no container whose name is known, rule requires '*'"},
  };
  for (const auto& row : rows) {
    const RuleSet set = rules(rule(std::string(row.condition) + "\n"));
    ProcessFacts process = facts("redis-server");
    process.cgroup = "/a";
    process.container.reset();
    const Decision needs = set.match(process);
    EXPECT_EQ(needs.kind, Decision::Kind::needs_fact) << row.condition;
    EXPECT_EQ(needs.fact, Fact::container) << row.condition;
    process.container = row.names;
    EXPECT_EQ(set.match(process).kind == Decision::Kind::matched, row.reason[0] == '\0')
        << row.condition;
    EXPECT_EQ(explain(set, process, true).front().reason, row.reason);
    EXPECT_TRUE(set.reads(Fact::container));
    EXPECT_FALSE(set.reads(Fact::cgroup));
  }
}

TEST(Match, ARuleThatLeavesEndsTheSearch) {
  const RuleSet set = rules(rule("user = 100\nname = \"redis*\"\n", "leave") +
                            rule("name = \"*\"\n", "b") + rule("user = 7\n", "leave"));
  const Decision left = set.match(facts("redis-server"));
  EXPECT_EQ(left.kind, Decision::Kind::left);
  EXPECT_EQ(left.rule, 0U);
  const Decision matched = set.match(facts("bash"));
  EXPECT_EQ(matched.kind, Decision::Kind::matched);
  EXPECT_EQ(set.group_of(matched.rule), "b");
  EXPECT_EQ(set.destinations(), (std::vector<Destination>{{"b", ""}}));
  EXPECT_EQ(set.destination_of(0).label(), "leave");
  const auto trials = explain(set, facts("redis-server"), true);
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_TRUE(trials.front().matched);
}

TEST(Match, TheFirstDecides) {
  const RuleSet set =
      rules(rule("cmdline = \"*\"\nname = \"x\"\n", "a") + rule("user = 100\n", "b") +
            rule("name = \"redis-server\"\n", "a") + rule("exe = \"/**\"\n", "default"));
  EXPECT_EQ(set.match(facts("redis-server")).rule, 1U);
  EXPECT_EQ(set.group_of(1), "b");
  EXPECT_EQ(set.group_of(3), "");
}

TEST(Match, NoFactMoreThanNeeded) {
  const struct {
    std::string rules;
    std::optional<Fact> needed;
  } rows[] = {{rule("name = \"redis-server\"\n") + rule("exe = \"/**\"\n"), std::nullopt},
              {rule("exe = \"/**\"\n") + rule("name = \"redis-server\"\n"), Fact::exe},
              {rule("name = \"nginx\"\nexe = \"/**\"\n"), std::nullopt},
              {rule("exe = \"/**\"\nthread = \"io\"\n"), std::nullopt},
              {rule("name = \"redis-server\"\nuser = 1\n"), Fact::identity},
              {rule("unit = \"x\"\n"), Fact::cgroup}};
  for (const auto& row : rows) {
    ProcessFacts only_name;
    only_name.name = "redis-server";
    const Decision decision = rules(row.rules).match(only_name);
    EXPECT_EQ(decision.kind == Decision::Kind::needs_fact, row.needed.has_value()) << row.rules;
    if (row.needed) {
      EXPECT_EQ(decision.fact, *row.needed) << row.rules;
    }
  }
}

TEST(Match, SingleThreads) {
  const RuleSet set = rules(rule("thread = \"io-*\"\nname = \"redis-server\"\n", "b") +
                            rule("name = \"redis-server\"\n", "a"));
  EXPECT_TRUE(set.has_thread_rules());
  ProcessFacts process = facts("redis-server");
  EXPECT_EQ(set.match(process).rule, 1U);
  process.thread = "io-1";
  EXPECT_EQ(set.match(process).rule, 0U);
  process.thread = "other";
  EXPECT_EQ(set.match(process).rule, 1U);
}

// The index finds what trying each rule in turn finds.
TEST(Match, AgreesWithTryingEachRule) {
  std::string text;
  for (int i = 0; i < 300; i++) {
    const std::string n = std::to_string(i % 60);
    const std::string conditions[] = {
        "name = \"p" + n + "\"\n",     "name = \"p" + n + "*\"\n",
        "unit = \"u" + n + "\"\n",     "cgroup = \"/s/u" + n + "*\"\n",
        "exe = \"/bin/" + n + "\"\n",  "user = " + n + "\n",
        "cmdline = \"*" + n + "\"\n",  "pod = \"n/p" + n + "*\"\n",
        "container = \"c" + n + "\"\n"};
    text += rule(conditions[i % 9] +
                 (i % 3 == 0 && i % 9 != 5 ? "user = " + std::to_string(i % 4) + "\n" : ""));
  }
  const RuleSet set = rules(text);
  for (int i = 0; i < 200; i++) {
    const std::string n = std::to_string(i % 70);
    const ProcessFacts process{
        .name = "p" + n,
        .exe = "/bin/" + std::to_string(i % 50),
        .cgroup = "/s/u" + std::to_string(i % 90) + ".service",
        .container = ContainerNames{"n/p" + std::to_string(i % 80), "c" + std::to_string(i % 100)},
        .cmdline = "x " + n,
        .identity = Identity{static_cast<uid_t>(i % 7), 0}};
    const auto trials = explain(set, process, true);
    const Decision decision = set.match(process);
    ASSERT_EQ(decision.kind == Decision::Kind::matched, !trials.empty() && trials.back().matched)
        << i;
    if (decision.kind == Decision::Kind::matched) {
      EXPECT_EQ(decision.rule, trials.back().rule) << i;
    }
  }
}

// A user cannot claim another unit: only the part of the path that systemd created counts.
TEST(Match, Units) {
  constexpr const char* session =
      "/user.slice/user-1000.slice/user@1000.service/app.slice/redis.service/nginx.service";
  const struct {
    const char* condition;
    const char* cgroup;
    bool matches;
  } rows[] = {{"unit = \"redis\"\n", "/system.slice/redis.service", true},
              {"unit = \"redis\"\n", "/system.slice/redis.service/worker", true},
              {"unit = \"redis\"\n", "/system.slice/x.service/redis.service", false},
              {"unit = \"redis\"\n", "/kubepods/redis.service", false},
              {"unit = \"redis\"\n", session, false},
              {"unit = \"app.slice\"\n", session, false},
              {"unit = \"user@1000.service\"\n", session, true},
              {"unit = \"user-1000.slice\"\n", session, true},
              {"user_unit = \"redis\"\n", session, true},
              {"user_unit = \"redis*\"\n", session, true},
              {"user_unit = \"app.slice\"\n", session, true},
              {"user_unit = \"nginx\"\n", session, false},
              {"user_unit = \"session.slice\"\n", session, false},
              {"user_unit = \"redis\"\n", "/system.slice/redis.service", false},
              {"vm = \"web\"\n", R"(/machine.slice/machine-qemu\x2d1\x2dweb.scope)", true},
              {"vm = \"web*\"\n", R"(/machine.slice/machine-qemu\x2d1\x2dweb\x2d2.scope/a)", true},
              {"vm = \"web\"\n", R"(/machine.slice/machine-qemu\x2d1\x2dnot\x2dweb.scope)", false},
              {"vm = \"100\"\n", "/qemu.slice/100.scope", true},
              {"vm = \"*\"\n", "/system.slice/libvirtd.service", false},
              {"unit = 'a\\x2db.service'\n", "/system.slice/a\\x2db.service", true},
              {"unit = 'a\\\\x2db.service'\n", "/system.slice/a\\x2db.service", true},
              {"unit = 'a\\x2db.service'\n", "/system.slice/ax2db.service", false}};
  for (const auto& row : rows) {
    const RuleSet set = rules(rule(row.condition));
    ProcessFacts process = facts("p");
    process.cgroup = row.cgroup;
    EXPECT_EQ(set.match(process).kind == Decision::Kind::matched, row.matches)
        << row.condition << row.cgroup;
    EXPECT_EQ(set.speaks_of_cgroup(row.cgroup), row.matches) << row.condition << row.cgroup;
  }
}

// Twice the path costs twice the work, and a rule is not evaluated once per component.
TEST(Match, WorkIsLinearInTheCgroupPath) {
  std::string text;
  for (int i = 0; i < 100; i++) {
    const std::string n = std::to_string(i);
    text += rule("cgroup = \"/**/a" + n + "/**/b\"\n") + rule("cgroup = \"/**/x/**/b\"\n") +
            rule("cgroup = \"/x/**/" + n + "\"\n") + rule("cgroup = \"/x/x\"\nname = \"n\"\n") +
            rule("unit = \"x*.service\"\n") + rule("unit = \"x\"\n") +
            rule("exe = \"/**/a/**/b\"\n") + rule("cmdline = \"*x*x*x*b\"\n");
  }
  const RuleSet set = rules(text);
  const auto steps = [&](size_t components) {
    ProcessFacts process = facts("p");
    process.cgroup = process.exe = "";
    for (size_t i = 0; i < components; i++) *process.cgroup += "/x";
    *process.cmdline = *process.exe = *process.cgroup;
    const uint64_t before = glob_steps();
    EXPECT_EQ(set.match(process).kind, Decision::Kind::unmatched);
    EXPECT_FALSE(set.speaks_of_cgroup("x"));
    return glob_steps() - before;
  };
  EXPECT_LE(steps(2'000), 2 * steps(1'000) + 1'000);
  EXPECT_LE(steps(1'000), 1'000 * text.size());
}

TEST(Match, APathWithoutSlashMatchesNothing) {
  const RuleSet set = rules(rule("cgroup = [\"/\", \"/x\", \"**\", \"/**\"]\n") +
                            rule("exe = [\"/**\", \"**/x\"]\n"));
  for (const char* path : {"", "x"}) {
    ProcessFacts process = facts("p");
    process.cgroup = process.exe = path;
    EXPECT_EQ(set.match(process).kind, Decision::Kind::unmatched) << path;
    EXPECT_FALSE(set.speaks_of_cgroup(path)) << path;
  }
}

TEST(Explain, SaysWhyNot) {
  const RuleSet set =
      rules(rule("name = \"nginx\"\n") + rule("name = \"redis-server\"\nuser = [0, \"redis2\"]\n") +
            rule("unit = [\"x\", \"y\"]\n") + rule("user_unit = \"z\"\n") +
            rule("thread = \"t\"\n") + rule("name = \"redis*\"\n") + rule("name = \"*\"\n"));
  std::string open, closed;
  for (const RuleTrial& trial : explain(set, facts("redis-server"), true))
    open += trial.matched ? "matches\n" : trial.reason + "\n";
  for (const RuleTrial& trial : explain(set, facts("redis-server"), false))
    closed += trial.matched ? "matches\n" : trial.reason + "\n";
  EXPECT_EQ(open,
            "name is 'redis-server', not 'nginx'\nuser is '100', not '0' or 'redis2' (unknown "
            "here)\nunit is 'redis.service', not 'x.service' or 'y.service'\ncgroup "
            "'/system.slice/redis.service' has no user_unit, rule requires 'z.service'\nthread "
            "'t' is for single threads\nmatches\n");
  EXPECT_EQ(
      closed,
      "name is 'redis-server', which does not match\nuser is '100', which does not match\nunit "
      "is 'redis.service', which does not match\ncgroup '/system.slice/redis.service' has no "
      "user_unit\nthe rule is for single threads\nmatches\n");
}

// The value that does not match is shown, of whatever kind the condition is.
TEST(Explain, EachKindOfCondition) {
  const struct {
    const char* condition;
    const char* reason;
  } rows[] = {
      {"exe = \"/bin/x\"\n", "exe is '/usr/bin/redis-server', not '/bin/x'"},
      {"cmdline = \"x\"\n", "cmdline is 'redis-server *:6379', not 'x'"},
      {"cgroup = \"/x\"\n", "cgroup is '/system.slice/redis.service', not '/x'"},
      {"thread = \"x\"\n", "thread is 'io-1', not 'x'"},
      {"user = 7\n", "user is '100', not '7'"},
      {"user_group = [7, \"users\"]\n", "user_group is '200', not '7' or 'users' (unknown here)"},
  };
  ProcessFacts process = facts("redis-server");
  process.thread = "io-1";
  for (const auto& row : rows) {
    const auto trials = explain(rules(rule(row.condition)), process, true);
    ASSERT_EQ(trials.size(), 1U);
    EXPECT_EQ(trials[0].reason, row.reason);
  }
  // Its process chooses how long a value is, and each rule repeats it.
  process.cmdline = "\u00e9" + std::string(254, 'a') + "\u00e9b";
  EXPECT_EQ(explain(rules(rule("cmdline = \"x\"\n")), process, false)[0].reason,
            "cmdline is '\u00e9" + std::string(254, 'a') + "...', which does not match");
  ASSERT_TRUE(process.identity);
  process.identity->uid = 0;
  const auto named = explain(rules(rule("user = \"redis\"\n")), process, true);
  EXPECT_EQ(named[0].reason, "user is '0', not 'redis' (100)");
}

// Anybody may start a program that is set-uid root, under any name.
TEST(Rules, ASetUidProgramIsItsUsers) {
  ProcessFacts process;
  process.identity = Identity{.uid = 0, .gid = 0, .real_uid = 1000};
  EXPECT_EQ(rules(rule("user = 0\n")).match(process).kind, Decision::Kind::unmatched);
  EXPECT_EQ(rules(rule("user = 1000\n")).match(process).kind, Decision::Kind::matched);
  EXPECT_EQ(explain(rules(rule("user = 0\n")), process, false)[0].reason,
            "user is '1000', which does not match");
  // One that is set-uid to another user is that one's.
  process.identity->uid = 100;
  EXPECT_EQ(rules(rule("user = 100\n")).match(process).kind, Decision::Kind::matched);
}

// Processes in a cgroup with a long path are compared with each pattern once, with equal results.
TEST(MatchMemo, RemembersLongPaths) {
  std::string text;
  for (int i = 0; i < 20; i++)
    text += rule("cgroup = \"/**/a?" + std::to_string(i) + "/**/*b\"\n") +
            rule("name = \"p\"\nunit = \"x*.service\"\n");
  const RuleSet set = rules(text + rule("cgroup = \"/**/x?\"\n"));
  const RuleSet other = rules(rule("cgroup = \"/y\"\n") + rule("cgroup = \"/x1/**\"\n", "b"));
  MatchMemo memo;
  ProcessFacts process = facts("p");
  for (size_t i = 0; i < 2 * PatternMemo::max_texts; i++) {
    process.cgroup = "/x" + std::to_string(i);
    while (process.cgroup->size() < MatchMemo::min_cgroup) *process.cgroup += "/abcdefgh";
    for (const RuleSet* current : {&set, &other, &set}) {
      const Decision plain = current->match(process);
      const Decision first = current->match(process, &memo);
      const uint64_t before = glob_steps();
      const Decision second = current->match(process, &memo);
      EXPECT_EQ(glob_steps(), before) << i;
      for (const Decision& decision : {first, second}) {
        EXPECT_EQ(decision.kind, plain.kind) << i;
        EXPECT_EQ(decision.rule, plain.rule) << i;
      }
    }
  }
}

// So is a long command line, whatever the thread.
TEST(MatchMemo, RemembersLongCommandLines) {
  const RuleSet set = rules(rule("thread = \"t*\"\ncmdline = \"*-name web *\"\n") +
                            rule("cmdline = [\"*[b-z] *\", \"*?*?b\"]\n"));
  MatchMemo memo;
  ProcessFacts process = facts("p");
  for (const size_t size : {MatchMemo::min_cmdline, size_t{65'536}, PatternMemo::max_bytes + 1}) {
    process.cmdline = std::string(size, 'a');
    for (int thread = 0; thread < 3; thread++) {
      process.thread = "t" + std::to_string(thread);
      const Decision plain = set.match(process);
      const uint64_t before = glob_steps();
      const Decision remembered = set.match(process, &memo);
      const uint64_t steps = glob_steps() - before;
      EXPECT_TRUE(thread == 0 || size > PatternMemo::max_bytes || steps <= 4) << size;
      EXPECT_EQ(remembered.kind, plain.kind);
      EXPECT_EQ(remembered.rule, plain.rule);
    }
  }
}

// A database that does not answer is not one that has no such user.
TEST(Users, KeepTheirNumbersWhileNobodyAnswers) {
  const ParsedPolicy parsed = test::parse(rule("user = [\"a\", \"b\"]\n", "default"));
  const auto fail = [](const std::vector<UserName>& names) {
    std::vector<UserAnswer> out;
    for (const UserName& name : names)
      out.push_back(std::unexpected(Error{"look up", "user '" + name.name + "'", EIO, {}}));
    return out;
  };
  std::vector<Diagnostic> warnings;
  const Users users =
      look_up_users(parsed.policy, fail, {.users = {{"a", 5}}, .groups = {}}, warnings);
  EXPECT_EQ(users.users, (std::map<std::string, uid_t>{{"a", 5}}));
  EXPECT_TRUE(users.unanswered);
  EXPECT_EQ(
      format_diagnostics(warnings, {}),
      "p.toml:3:9: warning: cannot look up user 'a': Input/output error; it keeps the number "
      "that it had\np.toml:3:14: warning: cannot look up user 'b': Input/output error; nothing "
      "matches it until there is an answer\n");
}

TEST(Users, EachNameIsLookedUpOnce) {
  const ParsedPolicy parsed = test::parse(rule("user = [\"a\", \"b\", \"a\", 7]\n", "default") +
                                          rule("user = \"b\"\nuser_group = \"a\"\n", "default"));
  std::vector<UserName> asked;
  const auto find = [&](const std::vector<UserName>& names) {
    asked.insert(asked.end(), names.begin(), names.end());
    std::vector<UserAnswer> out;
    for (const UserName& name : names)
      out.emplace_back(name.name == "a" ? std::optional(5U) : std::nullopt);
    return out;
  };
  std::vector<Diagnostic> warnings;
  const Users users = look_up_users(parsed.policy, find, {}, warnings);
  using enum UserName::Kind;
  EXPECT_EQ(asked, (std::vector<UserName>{{user, "a"}, {user, "b"}, {user_group, "a"}}));
  EXPECT_EQ(users.users, (std::map<std::string, uid_t>{{"a", 5}}));
  EXPECT_EQ(users.groups, (std::map<std::string, gid_t>{{"a", 5}}));
  EXPECT_EQ(format_diagnostics(warnings, parsed.policy.sources),
            "p.toml:3:14: warning: there is no user 'b' here: nothing matches it until the next "
            "reload\n    3 | user = [\"a\", \"b\", \"a\", 7]\n      |              ^~~\n");
}

}  // namespace
}  // namespace rdtd
