// Every error that a policy file can cause by itself, with its whole text.
#include <gtest/gtest.h>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/amount.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

std::string diagnostics(const std::string& text) {
  const ParsedPolicy parsed = test::parse(text);
  return format_diagnostics(parsed.diagnostics, parsed.policy.sources);
}

struct Row {
  const char* text;
  const char* errors;
};

TEST(Policy, Errors) {
  const Row rows[] = {
      {"[group.db]\nmba = \"50%\"\n",
       "p.toml:2:1: error: unknown key 'mba' in [group.db]\n    2 | mba = \"50%\"\n      | ^~~ did "
       "you mean 'mb'?\n"},
      {"[grup.db]\n",
       "p.toml:1:2: error: unknown key 'grup' in a policy\n    1 | [grup.db]\n      |  ^~~~ did "
       "you mean 'group'?\n"},
      {"x-note = 1\n[group.db]\nx-owner = \"me\"\n", ""},
      {"[group.db]\nl3 = 4\n",
       "p.toml:2:6: error: 'l3' wants a string or a table from domain to amount, not an integer\n  "
       "  2 | l3 = 4\n      |      ^\n"},
      {"[group.db]\nexclusive = \"yes\"\nl3 = \"1 way\"\n",
       "p.toml:2:13: error: 'exclusive' wants true or false, not a string\n    2 | exclusive = "
       "\"yes\"\n      |             ^~~~~\n"},
      {"[group]\ndb = 1\n",
       "p.toml:2:6: error: 'db' wants a table: write [group.db], not an integer\n    2 | db = 1\n  "
       "    |      ^\n"},
      {"rule = 1\n",
       "p.toml:1:8: error: 'rule' wants an array of tables: write [[rule]], not an integer\n    1 "
       "| rule = 1\n      |        ^\n"},
      {"version = 2\n",
       "p.toml:1:11: error: version 2 of the policy language is not known; this rdtd knows version "
       "1\n    1 | version = 2\n      |           ^\n"},
      {"[[rule]]\ngroup = \"redsi\"\nname = \"x\"\n[group.redis]\n",
       "p.toml:2:9: error: unknown group 'redsi'\n    2 | group = \"redsi\"\n      |         "
       "^~~~~~~ did you mean 'redis'?\n"},
      {"[[rule]]\nname = \"x\"\n",
       "p.toml:1:1: error: a rule names its group: group = \"NAME\"\n    1 | [[rule]]\n      | "
       "^~~~~~~~\n"},
      {"[[rule]]\ngroup = \"default\"\n",
       "p.toml:1:1: error: a rule has at least one condition: name, thread, exe, cmdline, cgroup, "
       "unit, user or user_group\n    1 | [[rule]]\n      | "
       "^~~~~~~~\n"},
      {"[[rule]]\ngroup = \"default\"\nname = \"[ab\"\n",
       "p.toml:3:8: error: '[ab' is not a glob: its '[' has no ']'\n    3 | name = \"[ab\"\n      "
       "|        ^~~~~\n"},
      {"[[rule]]\ngroup = \"default\"\nname = []\n",
       "p.toml:3:8: error: 'name' is an empty array: nothing can match it\n    3 | name = []\n     "
       " |        ^~\n"},
      {"[[rule]]\ngroup = \"default\"\nname = \"\"\n",
       "p.toml:3:8: error: 'name' is empty: nothing can match it\n    3 | name = \"\"\n      |     "
       "   ^~\n"},
      {"[[rule]]\ngroup = \"default\"\nname = 7\n",
       "p.toml:3:8: error: 'name' wants a string or an array of strings, not an integer\n    3 | "
       "name = 7\n      |        ^\n"},
      {"[[rule]]\ngroup = \"default\"\nname = \"a-very-long-name\"\n",
       "p.toml:3:8: error: 'a-very-long-name' can never match: the kernel cuts names to 15 "
       "characters\n    3 | name = \"a-very-long-name\"\n      |        "
       "^~~~~~~~~~~~~~~~~~ write \"a-very-long-nam\", or use 'exe'\n"},
      {"[[rule]]\ngroup = \"default\"\ncgroup = \"system.slice\"\n",
       "p.toml:3:10: error: 'system.slice' can never match: a cgroup path begins with '/'\n    3 | "
       "cgroup = \"system.slice\"\n      |          "
       "^~~~~~~~~~~~~~\n"},
      {"[[rule]]\ngroup = \"default\"\nexe = \"redis\"\n",
       "p.toml:3:7: error: 'redis' can never match: an executable's path begins with '/'\n    3 | "
       "exe = \"redis\"\n      |       ^~~~~~~ 'name' is for the "
       "bare name\n"},
      {"[[rule]]\ngroup = \"default\"\nname = \"x\"\nmonitor = \"m\"\n",
       "p.toml:4:1: error: 'monitor': this version of rdtd makes no monitoring groups\n    4 | "
       "monitor = \"m\"\n      | ^~~~~~~\n"},
      {"[pseudo_lock.p]\nl2 = { \"0\" = \"256 KiB\" }\n",
       "p.toml:1:14: error: [pseudo_lock.p]: this version of rdtd makes no pseudo-locked regions\n "
       "   1 | [pseudo_lock.p]\n      |              ^\n"},
      {"[group.info]\n",
       "p.toml:1:8: error: a group cannot be named 'info': resctrl uses that name itself\n    1 | "
       "[group.info]\n      |        ^~~~\n"},
      {"[group.\"a/b\"]\n",
       "p.toml:1:8: error: 'a/b' cannot be a group's name: it is the name of a directory, without "
       "'/' or a leading dot\n    1 | [group.\"a/b\"]\n      |       "
       " ^~~~~\n"},
      {"[group.\".x\"]\n",
       "p.toml:1:8: error: '.x' cannot be a group's name: it is the name of a directory, without "
       "'/' or a leading dot\n    1 | [group.\".x\"]\n      |        "
       "^~~~\n"},
      {"[group.a]\ncpus = \"0-x\"\n",
       "p.toml:2:8: error: '0-x' is not a CPU list; write \"0-3,8\"\n    2 | cpus = \"0-x\"\n      "
       "|        ^~~~~\n"},
      {"[group.default]\ncpus = \"0\"\n",
       "p.toml:2:8: error: 'cpus' in [group.default]: the default group has every CPU that no "
       "other group has\n    2 | cpus = \"0\"\n      |        ^~~\n"},
      {"[group.a]\nexclusive = true\n",
       "p.toml:1:8: error: exclusive group 'a' names no cache amount\n    1 | [group.a]\n      |   "
       "     ^\n"},
      {"[group.a]\npartition = \"fats\"\n[partition.fast]\nl3 = \"50%\"\n",
       "p.toml:2:13: error: unknown partition 'fats'\n    2 | partition = \"fats\"\n      |        "
       "     ^~~~~~\n"},
      {"[group.a]\npartition = \"fast\"\nexclusive = true\n[partition.fast]\nl3 = \"50%\"\n",
       "p.toml:1:8: error: group 'a' is in partition 'fast', which its groups share: it cannot be "
       "exclusive\n    1 | [group.a]\n      |        ^\n"},
      {"[partition.p]\n",
       "p.toml:1:12: error: partition 'p' names no cache amount\n    1 | [partition.p]\n      |    "
       "        ^\n"},
      {"[group.a]\nl3 = \"remainder\"\n",
       "p.toml:2:6: error: 'remainder' is for the default group\n    2 | l3 = \"remainder\"\n      "
       "|      ^~~~~~~~~~~ \"all\" is every way that a group may "
       "fill\n"},
      {"[partition.p]\nl3 = \"remainder\"\n",
       "p.toml:2:6: error: 'remainder' is for the default group\n    2 | l3 = \"remainder\"\n      "
       "|      ^~~~~~~~~~~ \"all\" is every way that a group may "
       "fill\n"},
      {"[group.a]\nl3 = { x = \"1 way\" }\n",
       "p.toml:2:8: error: 'x' is not a domain; write a cache id, a list of them (\"0-1,4\") or "
       "\"*\"\n    2 | l3 = { x = \"1 way\" }\n      |        ^\n"},
      {"[group.a]\nl3 = { \"0-1\" = \"1 way\", \"1\" = \"2 ways\" }\n",
       "p.toml:2:25: error: domain 1 stands twice in 'l3'\n    2 | l3 = { \"0-1\" = \"1 way\", "
       "\"1\" = \"2 ways\" }\n      |                         ^~~\n"},
      {"[group.a]\nl3 = {}\n",
       "p.toml:2:6: error: 'l3' names no domain\n    2 | l3 = {}\n      |      ^~\n"},
      {"[daemon]\ndrift = \"reprot\"\n",
       "p.toml:2:9: error: 'drift' in [daemon] is one of restore, report, not 'reprot'\n    2 | "
       "drift = \"reprot\"\n      |         ^~~~~~~~ did you mean "
       "'report'?\n"},
      {"[daemon]\nreconcile_interval = \"soon\"\n",
       "p.toml:2:22: error: 'soon' is not a time span; write \"30s\", \"5min\" or \"0\"\n    2 | "
       "reconcile_interval = \"soon\"\n      |                      "
       "^~~~~~\n"},
      {"[group.a]\nl3 = \"1 way\n",
       "p.toml:2:12: error: not TOML: Error while parsing string: unescaped control characters "
       "other than TAB (U+0009) are explicitly prohibited\n    2 | l3 = "
       "\"1 way\n      |            ^\n"},
  };
  for (const Row& row : rows) EXPECT_EQ(diagnostics(row.text), row.errors) << row.text;
}

TEST(Policy, AllAtOnceSortedByPlace) {
  const std::vector<PolicyFile> files = {
      {"/etc/rdtd/10.toml",
       PolicyFile::State::active,
       "[daemon]\nlog_level = \"info\"\n[group.db]\nl3 = \"101%\"\nbogus = 1\n",
       {}},
      {"/etc/rdtd/20.toml",
       PolicyFile::State::active,
       "[daemon]\nlog_level = \"debug\"\n[group.db]\nl3 = \"1 way\"\n",
       {}},
      {"/etc/rdtd/30.toml",
       PolicyFile::State::active,
       "[group.db]\noverride = true\nl3 = \"2 ways\"\n",
       {}},
      {"/etc/rdtd/40.toml", PolicyFile::State::unreadable, {}, "is a folder, not a policy file"},
      {"/etc/rdtd/50.toml", PolicyFile::State::masked, {}, {}}};
  const ParsedPolicy parsed = parse_policy(files);
  EXPECT_EQ(format_diagnostics(parsed.diagnostics, parsed.policy.sources),
            "/etc/rdtd/10.toml:4:6: error: '101%' is more than 100%\n    4 | l3 = \"101%\"\n      "
            "|      ^~~~~~\n"
            "/etc/rdtd/10.toml:5:1: error: unknown key 'bogus' in [group.db]\n    5 | bogus = 1\n  "
            "    | ^~~~~\n"
            "/etc/rdtd/20.toml:2:1: error: 'log_level' in [daemon] is set twice: here and in "
            "/etc/rdtd/10.toml:2\n    2 | log_level = \"debug\"\n      | ^~~~~~~~~\n"
            "/etc/rdtd/20.toml:3:8: error: group 'db' is defined twice: here and in "
            "/etc/rdtd/10.toml:3\n    3 | [group.db]\n      |        ^~ 'override = true' "
            "here would replace that one\n"
            "/etc/rdtd/40.toml: error: is a folder, not a policy file\n");
  ASSERT_EQ(parsed.policy.groups.size(), 1U);
  EXPECT_EQ(parsed.policy.groups[0].name.where.file, "/etc/rdtd/30.toml");
}

TEST(Policy, OrderIsThatOfTheFile) {
  const ParsedPolicy parsed = test::parse("[group.zeta]\n[group.alpha]\n[group.mid]\n");
  std::string names;
  for (const Group& group : parsed.policy.groups) names += group.name.value + " ";
  EXPECT_EQ(names, "zeta alpha mid ");
}

TEST(Policy, UnprintableBytesAreNotPrinted) {
  EXPECT_EQ(diagnostics("[group.a]\nl3 = \"\x1b[31m\"\n").find('\x1b'), std::string::npos);
  const std::string errors = diagnostics("a = \"\xff\"\n");
  EXPECT_TRUE(errors.starts_with("p.toml:1:")) << errors;
}

TEST(Text, Printable) {
  const struct {
    const char* text;
    const char* printed;
  } rows[] = {{"plain", "plain"},
              {"\xc3\xa4", "\xc3\xa4"},
              {"\xc3", "?"},
              {"a\x1b[0m", "a?[0m"},
              {"\t", " "},
              {"a\nb\x7f", "a?b?"},
              {"\xc2\x9b[0m", "?[0m"},
              {"\xc2\xa0", "\xc2\xa0"},
              {"\xff\xfe", "??"},
              {"\xe2\x96\x88", "\xe2\x96\x88"},
              {"\xf0\x9f", "??"},
              {"\xed\xa0\x80", "???"},
              {"\xe0\x80\x80", "???"},
              {"\xc0\x80", "??"},
              {"\xf4\x90\x80\x80", "????"},
              {"\xef\xbf\xbe", "???"},
              {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}};
  for (const auto& row : rows) EXPECT_EQ(printable(row.text), row.printed) << row.text;
  EXPECT_EQ(printable_lines("a\n\tb\x1b\r\xc2\x9b\xff"), "a\n\tb????");
}

TEST(Amount, Cache) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {{"40%", ""},
              {"12.5%", ""},
              {"4 ways", ""},
              {"1 way", ""},
              {"ways 4-7", ""},
              {"ways 3", ""},
              {"6 MiB", ""},
              {"512KiB", ""},
              {"1.5 GiB", ""},
              {"0xf0", ""},
              {"all", ""},
              {"remainder", ""},
              {"0%", "'0%' is nothing; the least is above 0%"},
              {"101%", "'101%' is more than 100%"},
              {"x%", "'x%' is not a percentage"},
              {"0 ways", "'0 ways' is no cache at all; the least is 1 way"},
              {"0x0", "'0x0' names no way; a mask has at least one bit"},
              {"0x1ffffffff", "'0x1ffffffff' is not a mask of at most 32 bits"},
              {"ways 7-4", "'ways 7-4' names no ways; write \"ways 4-7\", numbers from 0 to 31"},
              {"0 MiB", "'0 MiB' is no cache at all; the least is 1 way"},
              {"6 MB",
               "'6 MB' is not a cache amount; write \"40%\", \"4 ways\", \"ways 4-7\", \"6 MiB\", "
               "\"0xf0\" or \"all\""},
              {"-1 ways",
               "'-1 ways' is not a cache amount; write \"40%\", \"4 ways\", \"ways 4-7\", \"6 "
               "MiB\", \"0xf0\" or \"all\""},
              {"",
               "'' is not a cache amount; write \"40%\", \"4 ways\", \"ways 4-7\", \"6 MiB\", "
               "\"0xf0\" or \"all\""}};
  for (const auto& row : rows) {
    const auto amount = parse_cache_amount(row.text);
    EXPECT_EQ(amount ? "" : amount.error(), row.error) << row.text;
  }
}

TEST(Amount, Bandwidth) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"50%", ""},
      {"8 GB/s", ""},
      {"800 MiB/s", ""},
      {"unlimited", ""},
      {"0%", "'0%' is nothing; the least is above 0%"},
      {"8 GB",
       "'8 GB' is not a bandwidth; write \"50%\", \"8 GB/s\", \"800 MiB/s\" or \"unlimited\""},
      {"0 GB/s",
       "'0 GB/s' is not a bandwidth; write \"50%\", \"8 GB/s\", \"800 MiB/s\" or \"unlimited\""},
      {"4 ways",
       "'4 ways' is not a bandwidth; write \"50%\", \"8 GB/s\", \"800 MiB/s\" or \"unlimited\""}};
  for (const auto& row : rows) {
    const auto amount = parse_bandwidth_amount(row.text);
    EXPECT_EQ(amount ? "" : amount.error(), row.error) << row.text;
  }
}

TEST(Duration, AsSystemdWritesThem) {
  using std::chrono::microseconds;
  const struct {
    const char* text;
    int64_t usec;
  } rows[] = {{"0", 0},
              {"30", 30'000'000},
              {"30s", 30'000'000},
              {"1min 30s", 90'000'000},
              {"2h", 7'200'000'000},
              {"5ms", 5000},
              {"1d", 86'400'000'000}};
  for (const auto& row : rows)
    EXPECT_EQ(parse_duration(row.text), microseconds(row.usec)) << row.text;
  EXPECT_EQ(parse_duration("-1s").error(),
            "'-1s' is not a time span; write \"30s\", \"5min\" or \"0\"");
  EXPECT_EQ(parse_duration("").error(), "'' is not a time span; write \"30s\", \"5min\" or \"0\"");
  EXPECT_EQ(parse_duration("1 fortnight").error(),
            "'1 fortnight' is not a time span; write \"30s\", \"5min\" or \"0\"");
  EXPECT_EQ(parse_duration("200d").error(), "'200d' is longer than 100 days");
}

}  // namespace
}  // namespace rdtd
