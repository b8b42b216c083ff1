// [pseudo_lock.NAME]: what it means, and every error in it.
#include <gtest/gtest.h>

#include "support.hpp"

namespace rdtd {
namespace {

using test::parse;

TEST(PolicyLocks, Values) {
  const ParsedPolicy parsed = parse(
      "[pseudo_lock.buffer]\nl2 = { \"1\" = \"256 KiB\" }\nowner = \"alice\"\ngroup = 1000\nmode = "
      "\"0660\"\n[pseudo_lock.other]\nl3 = { \"0\" = \"2 ways\" }\n");
  ASSERT_TRUE(parsed.diagnostics.empty());
  ASSERT_EQ(parsed.policy.locks.size(), 2U);
  const PseudoLock& buffer = parsed.policy.locks[0];
  EXPECT_EQ(buffer.name.value, "buffer");
  EXPECT_EQ(buffer.resource(), Resource::L2);
  EXPECT_EQ(buffer.domain(), DomainId{1});
  EXPECT_EQ(buffer.line().amount.value.text, "256 KiB");
  EXPECT_EQ(buffer.owner->value, "alice");
  EXPECT_EQ(buffer.user_group->value, "1000");
  EXPECT_EQ(buffer.mode, 0660U);
  EXPECT_EQ(parsed.policy.locks[1].mode, 0600U);
  EXPECT_FALSE(parsed.policy.divides_nothing());
}

TEST(PolicyLocks, Errors) {
  const std::string ok = "l2 = { \"1\" = \"256 KiB\" }\n";
  const struct {
    std::string text;
    std::string error;
  } rows[] = {
      {"",
       "p.toml:1:14: error: pseudo_lock 'a' has no cache amount\n      | write l2 = { \"1\" = "
       "\"256 KiB\" }\n"},
      {ok + "l3 = { \"0\" = \"1 MiB\" }\n",
       "p.toml:1:14: error: pseudo_lock 'a' names two caches; a region is in one\n      | write l2 "
       "= { \"1\" = \"256 KiB\" }\n"},
      {"l2 = \"256 KiB\"\n",
       "p.toml:2:6: error: pseudo_lock 'a' must name one domain; a region is in exactly one\n      "
       "| write l2 = { \"0\" = \"256 KiB\" }\n"},
      {"l2 = { \"0-1\" = \"256 KiB\" }\n",
       "p.toml:2:8: error: pseudo_lock 'a' must name one domain; a region is in exactly one\n      "
       "| write l2 = { \"0\" = \"256 KiB\" }\n"},
      {"l3 = { \"2,3\" = \"2 ways\" }\n",
       "p.toml:2:8: error: pseudo_lock 'a' must name one domain; a region is in exactly one\n      "
       "| write l3 = { \"2\" = \"2 ways\" }\n"},
      {ok + "mode = 600\n",
       "p.toml:3:8: error: 'mode' must be a string, not an integer\n      | write \"0600\"\n"},
      {"l2 = { \"1\" = \"all\" }\n",
       "p.toml:2:14: error: 'all' cannot be locked: a region leaves ways to the groups\n      | "
       "write \"2 ways\" or \"256 KiB\"\n"},
      {"l2 = { \"1\" = \"remainder\" }\n",
       "p.toml:2:14: error: 'remainder' cannot be locked: a region leaves ways to the groups\n     "
       " | write \"2 ways\" or \"256 KiB\"\n"},
      {ok + "mode = 660\n",
       "p.toml:3:8: error: 'mode' must be a string, not an integer\n      | write \"0660\"\n"},
      {ok + "mode = \"0999\"\n",
       "p.toml:3:8: error: '0999' is not a mode: octal digits, at most 0777\n      | write "
       "\"0660\"\n"},
      {ok + "mode = \"4755\"\n",
       "p.toml:3:8: error: '4755' is not a mode: octal digits, at most 0777\n      | write "
       "\"0660\"\n"},
      {ok + "owner = \"a b\"\n", "p.toml:3:9: error: 'a b' is no user\n"},
      {ok + "group = \"$x\"\n", "p.toml:3:9: error: '$x' is no user group\n"},
      {ok + "owner = -1\n", "p.toml:3:9: error: '-1' is no user\n"},
      {ok + "owner = true\n",
       "p.toml:3:9: error: 'owner' must be a name or a number, not a boolean\n"},
      {ok + "[group.a]\n",
       "p.toml:1:14: error: pseudo_lock 'a' and the group 'a' in p.toml:3 would be one directory "
       "of resctrl\n      | choose another name\n"},
      {ok + "[[rule]]\ngroup = \"a\"\nname = \"x\"\n",
       "p.toml:4:9: error: 'a' is a pseudo_lock: no process can be in it\n      | a process maps "
       "/dev/pseudo_lock/a\n"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(format_diagnostics(parse("[pseudo_lock.a]\n" + row.text).diagnostics, {}), row.error)
        << row.text;
}

TEST(PolicyLocks, Names) {
  const auto text = [](const char* name) {
    return format_diagnostics(
        parse("[pseudo_lock." + std::string(name) + "]\nl2 = { \"1\" = \"1 way\" }\n").diagnostics,
        {});
  };
  EXPECT_EQ(text("info"),
            "p.toml:1:14: error: 'info' cannot be the name of a pseudo_lock: resctrl uses that "
            "name itself\n");
  EXPECT_EQ(
      text("default"),
      "p.toml:1:14: error: 'default' cannot be the name of a pseudo_lock: resctrl's root has it\n");
  EXPECT_EQ(text("Default"), "");
}

TEST(PolicyLocks, Override) {
  const std::string one = "[pseudo_lock.a]\nl2 = { \"1\" = \"1 way\" }\n";
  const std::string two = "[pseudo_lock.a]\nl2 = { \"1\" = \"2 ways\" }\n";
  const auto parse_both = [&](const std::string& second) {
    return parse_policy(std::vector{PolicyFile{"1.toml", PolicyFile::State::active, one, {}},
                                    PolicyFile{"2.toml", PolicyFile::State::active, second, {}}});
  };
  EXPECT_EQ(format_diagnostics(parse_both(two).diagnostics, {}),
            "2.toml:1:14: error: pseudo_lock 'a' is defined twice: here and in 1.toml:1\n      | "
            "'override = true' here would replace that one\n");
  const ParsedPolicy replaced = parse_both(two + "override = true\n");
  ASSERT_EQ(replaced.policy.locks.size(), 1U);
  EXPECT_EQ(replaced.policy.locks[0].line().amount.value.text, "2 ways");
}

}  // namespace
}  // namespace rdtd
