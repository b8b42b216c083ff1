// Every error in the tables, keys and names of a policy file, with its whole text; and how files
// are put together.
#include "policy_support.hpp"

namespace rdtd {
namespace {

using test::diagnostics;
using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors table_errors[] = {
    {"[group]\nl3 = \"4 ways\"\nexclusive = true\n",
     R"(p.toml:2:1: error: the name of the group is missing: 'l3' is in [group]
    2 | l3 = "4 ways"
      | ^~ write [group.NAME] instead of [group]
p.toml:3:1: error: the name of the group is missing: 'exclusive' is in [group]
    3 | exclusive = true
      | ^~~~~~~~~ write [group.NAME] instead of [group]
)"},
    {"[group]\nl3 = { \"0\" = \"4 ways\" }\n",
     R"(p.toml:2:1: error: the name of the group is missing: 'l3' is in [group]
    2 | l3 = { "0" = "4 ways" }
      | ^~ write [group.NAME] instead of [group]
)"},
    {"[partition]\nl2 = \"4 ways\"\n",
     R"(p.toml:2:1: error: the name of the partition is missing: 'l2' is in [partition]
    2 | l2 = "4 ways"
      | ^~ write [partition.NAME] instead of [partition]
)"},
    {"[group.l3]\nmb = \"10%\"\n[group]\nl2 = { mb = \"10%\" }\nmb = {}\n", ""},
    {"[[rule]]\ngroup = \"default\"\nuser = -1\n",
     R"(p.toml:3:8: error: -1 is not a user number: they range from 0 to 4294967294
    3 | user = -1
      |        ^~
)"},
    {"[group.db]\nmba = \"50%\"\n",
     R"(p.toml:2:1: error: unknown key 'mba' in [group.db]
    2 | mba = "50%"
      | ^~~ did you mean 'mb'?
)"},
    {"[grup.db]\n",
     R"(p.toml:1:2: error: unknown key 'grup' in a policy
    1 | [grup.db]
      |  ^~~~ did you mean 'group'?
)"},
    {"x-note = 1\n[group.db]\nx-owner = \"me\"\n", ""},
    {"[group.db]\nexclusive = \"yes\"\nl3 = \"1 way\"\n",
     R"(p.toml:2:13: error: 'exclusive' must be true, false or "strict", not 'yes'
    2 | exclusive = "yes"
      |             ^~~~~ write exclusive = true
)"},
    {"[group.db]\nexclusive = \"true\"\nl3 = \"1 way\"\n",
     R"(p.toml:2:13: error: 'exclusive' must be true, false or "strict", not 'true'
    2 | exclusive = "true"
      |             ^~~~~~ write exclusive = true
)"},
    {"[group.db]\nexclusive = \"strictly\"\nl3 = \"1 way\"\n",
     R"(p.toml:2:13: error: 'exclusive' must be true, false or "strict", not 'strictly'
    2 | exclusive = "strictly"
      |             ^~~~~~~~~~
)"},
    {"[partition.p]\nexclusive = false\nl3 = \"1 way\"\n",
     R"(p.toml:2:13: error: a partition is always exclusive to its groups
    2 | exclusive = false
      |             ^~~~~ remove 'exclusive', or write exclusive = "strict"
)"},
    {"[partition.p]\nexclusive = 1\nl3 = \"1 way\"\n",
     R"(p.toml:2:13: error: 'exclusive' must be true, false or "strict", not an integer
    2 | exclusive = 1
      |             ^ write exclusive = true
)"},
    {"[group]\ndb = 1\n",
     R"(p.toml:2:6: error: 'db' must be a table, not an integer
    2 | db = 1
      |      ^ write [group.db]
)"},
    {"rule = 1\n",
     R"(p.toml:1:8: error: 'rule' must be an array of tables, not an integer
    1 | rule = 1
      |        ^ write [[rule]]
)"},
    {"version = 2\n",
     R"(p.toml:1:11: error: version 2 of the policy language is not known; this rdtd knows version 1
    1 | version = 2
      |           ^
)"},
    {"[group.a]\nexclusive = true\n",
     R"(p.toml:1:8: error: exclusive group 'a' has no cache amount
    1 | [group.a]
      |        ^ write l3 = "4 ways"
)"},
    {"[group.a]\npartition = \"fats\"\n[partition.fast]\nl3 = \"50%\"\n",
     R"(p.toml:2:13: error: unknown partition 'fats'
    2 | partition = "fats"
      |             ^~~~~~ did you mean 'fast'?
)"},
    {"[group.a]\npartition = \"fast\"\nexclusive = true\n[partition.fast]\nl3 = \"50%\"\n",
     R"(p.toml:3:1: error: group 'a' is in partition 'fast', which its groups share: it cannot be exclusive
    3 | exclusive = true
      | ^~~~~~~~~ remove this line; nobody outside of the partition fills its ways
)"},
    {"[partition.p]\n",
     R"(p.toml:1:12: error: partition 'p' has no cache amount
    1 | [partition.p]
      |            ^ write l3 = "4 ways"
)"},
    {"[daemon]\ndrift = \"reprot\"\n",
     R"(p.toml:2:9: error: 'drift' in [daemon] must be one of restore, report, not 'reprot'
    2 | drift = "reprot"
      |         ^~~~~~~~ did you mean 'report'?
)"},
    {"[observer]\ninterval = \"100ms\"\n",
     R"(p.toml:2:12: error: 'interval' must be from 200ms to 60s, not '100ms'
    2 | interval = "100ms"
      |            ^~~~~~~
)"},
    {"[observer]\ninterval = \"soon\"\n",
     R"(p.toml:2:12: error: 'soon' is not a time span
    2 | interval = "soon"
      |            ^~~~~~ write "1s"
)"},
    {"[observer]\ninterval = 1\n",
     R"(p.toml:2:12: error: 'interval' must be a string, not an integer
    2 | interval = 1
      |            ^ write "1s"
)"},
    {"[observer]\nrecord = \"64 MB\"\n",
     R"(p.toml:2:10: error: '64 MB' is not a size
    2 | record = "64 MB"
      |          ^~~~~~~ write "64 MiB", or "0" to record nothing
)"},
    {"[observer]\nrecord = \"1TB\"\n",
     R"(p.toml:2:10: error: '1TB' is not a size
    2 | record = "1TB"
      |          ^~~~~ write "1024 GiB", or "0" to record nothing
)"},
    {"[observer]\nrecord = \"104857600\"\n",
     R"(p.toml:2:10: error: '104857600' is not a size
    2 | record = "104857600"
      |          ^~~~~~~~~~~ write "100 MiB", or "0" to record nothing
)"},
    {"[observer]\nrecord = \"100mib\"\n",
     R"(p.toml:2:10: error: '100mib' is not a size
    2 | record = "100mib"
      |          ^~~~~~~~ write "100 MiB", or "0" to record nothing
)"},
    {"[observer]\nrecord = \"1MB/s\"\n",
     R"(p.toml:2:10: error: '1MB/s' is not a size
    2 | record = "1MB/s"
      |          ^~~~~~~ write "64 MiB", or "0" to record nothing
)"},
    {"[observer]\nrecord = false\n",
     R"(p.toml:2:10: error: 'record' must be a string, not a boolean
    2 | record = false
      |          ^~~~~ write "64 MiB", or "0" to record nothing
)"},
    {"[observer]\nrecord = \"64 KiB\"\n",
     R"(p.toml:2:10: error: 'record' must be from 1 MiB to 1024 GiB, or "0", not '64 KiB'
    2 | record = "64 KiB"
      |          ^~~~~~~~
)"},
    {"[guard]\nmode = \"shadwo\"\n",
     R"(p.toml:2:8: error: 'mode' in [guard] must be one of off, shadow, on, not 'shadwo'
    2 | mode = "shadwo"
      |        ^~~~~~~~ did you mean 'shadow'?
)"},
    {"[guard]\nmode = \"Enforce\"\nthreshold = \"80%\"\n",
     R"(p.toml:2:8: error: 'mode' in [guard] must be one of off, shadow, on, not 'Enforce'
    2 | mode = "Enforce"
      |        ^~~~~~~~~ did you mean 'on'?
p.toml:3:1: error: unknown key 'threshold' in [guard]
    3 | threshold = "80%"
      | ^~~~~~~~~ did you mean 'traffic'?
)"},
    {"[group.a]\nguard = true\n",
     R"(p.toml:2:1: error: unknown key 'guard' in [group.a]
    2 | guard = true
      | ^~~~~ [guard] is a table of its own; write protected = true in the group that must not suffer
)"},
    {"[guard]\nmode = true\n",
     R"(p.toml:2:8: error: 'mode' must be a string, not a boolean
    2 | mode = true
      |        ^~~~ write "on"
)"},
    {"[guard]\ntraffic = \"8 GB/s\"\n",
     R"(p.toml:2:11: error: 'traffic' must be from 20% to 100%, not '8 GB/s'
    2 | traffic = "8 GB/s"
      |           ^~~~~~~~ write "80%": of the most traffic that a domain can carry
)"},
    {"[guard]\ntraffic = 0.8\n",
     R"(p.toml:2:11: error: 'traffic' must be a string, not a float
    2 | traffic = 0.8
      |           ^~~ write "80%": of the most traffic that a domain can carry
)"},
    {"guard = \"on\"\n",
     R"(p.toml:1:9: error: 'guard' must be a table, not a string
    1 | guard = "on"
      |         ^~~~ write [guard]
)"},
    {"[guard]\nmode = \"on\"\n",
     R"(p.toml:2:8: warning: no group has a range of mb: the guard can lower nothing
    2 | mode = "on"
      |        ^~~~ write mb = "10%..100%" in the [group.NAME] that may have less
p.toml:2:8: warning: no group is protected: the guard does nothing
    2 | mode = "on"
      |        ^~~~ write protected = true in the [group.NAME] that must not suffer
)"},
    {"[group.a]\nmb = \"1 GB/s..unlimited\"\n[group.b]\nmb = [\"10%..50%\", \"1 GB/s\"]\n"
     "[group.c]\nmb = \"10%..50%\"\n[group.d]\nprotected = true\n[guard]\nmode = \"on\"\n",
     R"(p.toml:2:6: warning: the guard cannot use this range
    2 | mb = "1 GB/s..unlimited"
      |      ^~~~~~~~~~~~~~~~~~~ write two ends that differ, such as "1 GB/s..8 GB/s"
p.toml:4:7: warning: the guard cannot use this range
    4 | mb = ["10%..50%", "1 GB/s"]
      |       ^~~~~~~~~~ write a range for both forms of the amount
)"},
    {"[group.a]\namend = true\nmb = \"10%\"\n",
     R"(p.toml:2:1: error: unknown key 'amend' in [group.a]
    2 | amend = true
      | ^~~~~ the main keys are l3, mb, exclusive, cpus, partition, description; see rdtd.toml(5)
)"},
    {"[group.a]\nmb = \"10%..50%\"\nprotected = true\n[guard]\nmode = \"shadow\"\n",
     R"(p.toml:1:8: warning: group 'a' is protected: the guard leaves its range at the upper end
    1 | [group.a]
      |        ^ remove 'protected', or write one amount
)"},
    {"observer = true\n",
     R"(p.toml:1:12: error: 'observer' must be a table, not a boolean
    1 | observer = true
      |            ^~~~ write [observer]
)"},
    {"[daemon]\nreconcile_interval = \"soon\"\n",
     R"(p.toml:2:22: error: 'soon' is not a time span
    2 | reconcile_interval = "soon"
      |                      ^~~~~~ write "30s"
)"},
    {"version = \"1\"\n",
     R"(p.toml:1:11: error: 'version' must be an integer, not a string
    1 | version = "1"
      |           ^~~ write version = 1
)"},
    {"version = [1]\n",
     R"(p.toml:1:11: error: 'version' must be an integer, not an array
    1 | version = [1]
      |           ^~~ write version = 1
)"},
    {"version = 1979-05-27\n",
     R"(p.toml:1:11: error: 'version' must be an integer, not a date or time
    1 | version = 1979-05-27
      |           ^~~~~~~~~~ write version = 1
)"},
    {"daemon = 1\n",
     R"(p.toml:1:10: error: 'daemon' must be a table, not an integer
    1 | daemon = 1
      |          ^ write [daemon]
)"},
    {"rule = [1]\n",
     R"(p.toml:1:9: error: 'rule' must be an array of tables, not an integer
    1 | rule = [1]
      |         ^ write [[rule]]
)"},
    {"group = 1\n",
     R"(p.toml:1:9: error: 'group' must be a table, not an integer
    1 | group = 1
      |         ^ write [group.NAME]
)"},
    {"[group.a]\nllc = \"1 way\"\n",
     R"(p.toml:2:1: error: unknown key 'llc' in [group.a]
    2 | llc = "1 way"
      | ^~~ did you mean 'l3'?
)"},
    {"[group.a]\nmemory_bandwidth = \"50%\"\n",
     R"(p.toml:2:1: error: unknown key 'memory_bandwidth' in [group.a]
    2 | memory_bandwidth = "50%"
      | ^~~~~~~~~~~~~~~~ did you mean 'mb'?
)"},
    {"[group.a]\nschemata = \"L3:0=f\"\n",
     R"(p.toml:2:1: error: unknown key 'schemata' in [group.a]
    2 | schemata = "L3:0=f"
      | ^~~~~~~~ write l3 = { "0" = "0xf" }
)"},
    {"[group.a]\nname = \"redis\"\n",
     R"(p.toml:2:1: error: unknown key 'name' in [group.a]
    2 | name = "redis"
      | ^~~~ write [[rule]] with group = "a" and name = "redis"
)"},
    {"[group.a]\ncolour = \"red\"\n",
     R"(p.toml:2:1: error: unknown key 'colour' in [group.a]
    2 | colour = "red"
      | ^~~~~~ the main keys are l3, mb, exclusive, cpus, partition, description; see rdtd.toml(5)
)"},
    {"[clos.a]\n",
     R"(p.toml:1:2: error: unknown key 'clos' in a policy
    1 | [clos.a]
      |  ^~~~ write [group.a]
)"},
    {"[[rules]]\n",
     R"(p.toml:1:3: error: unknown key 'rules' in a policy
    1 | [[rules]]
      |   ^~~~~ write [[rule]]
)"},
    {"[daemon]\nlog-level = \"info\"\n",
     R"(p.toml:2:1: error: unknown key 'log-level' in [daemon]
    2 | log-level = "info"
      | ^~~~~~~~~ did you mean 'log_level'?
)"},
    {"[daemon]\nreconcile_interval = \"1us\"\n",
     R"(p.toml:2:22: error: 'reconcile_interval' must be "0" or at least 100ms, not '1us'
    2 | reconcile_interval = "1us"
      |                      ^~~~~
)"},
    {"[daemon]\nreconcile_interval = \"100ms\"\n", ""},
    {"[daemon]\nreconcile_interval = 30\n",
     R"(p.toml:2:22: error: 'reconcile_interval' must be a string, not an integer
    2 | reconcile_interval = 30
      |                      ^~ write "30s"
)"},
    {"[daemon]\nreconcile_interval = -5\n",
     R"(p.toml:2:22: error: 'reconcile_interval' must be a string, not an integer
    2 | reconcile_interval = -5
      |                      ^~ write "30s"
)"},
    {"[group.default]\nadopt = true\n",
     R"(p.toml:2:1: error: 'adopt' in [group.default]: the default group is always there
    2 | adopt = true
      | ^~~~~ remove this line
)"},
    {"[partition.p]\nmb = \"10%\"\nl3 = \"1 way\"\n",
     R"(p.toml:2:1: error: unknown key 'mb' in [partition.p]
    2 | mb = "10%"
      | ^~ a partition divides caches only: bandwidth belongs in its [group.NAME]
)"},
};

TEST(Policy, Errors) { expect_errors(table_errors); }

constexpr PolicyAndErrors name_errors[] = {
    {"[group.info]\n",
     R"(p.toml:1:8: error: 'info' cannot be the name of a group: resctrl uses that name itself
    1 | [group.info]
      |        ^~~~
)"},
    {"[group.leave]\n",
     R"(p.toml:1:8: error: 'leave' cannot be the name of a group: in a rule it means that processes stay where they are
    1 | [group.leave]
      |        ^~~~~
)"},
    {"[group.\"a/b\"]\n",
     R"(p.toml:1:8: error: 'a/b' cannot be the name of a group: a name consists of letters, digits, '.', '_' and '-'
    1 | [group."a/b"]
      |        ^~~~~
)"},
    {"[group.\".x\"]\n",
     R"(p.toml:1:8: error: '.x' cannot be the name of a group: a name does not begin with a dot
    1 | [group.".x"]
      |        ^~~~
)"},
    {"[group.root]\n",
     R"(p.toml:1:8: error: 'root' cannot be the name of a group
    1 | [group.root]
      |        ^~~~ the resctrl root is [group.default]
)"},
    {"[group.Default]\n",
     R"(p.toml:1:8: warning: [group.Default] is not the default group
    1 | [group.Default]
      |        ^~~~~~~ the resctrl root is [group.default]
)"},
    {"[group.\"a b\"]\n",
     R"(p.toml:1:8: error: 'a b' cannot be the name of a group: a name consists of letters, digits, '.', '_' and '-'
    1 | [group."a b"]
      |        ^~~~~
)"},
    {"[group.\"\"]\n",
     R"(p.toml:1:8: error: '' cannot be the name of a group: a name has at least one character
    1 | [group.""]
      |        ^~
)"},
    {"[group.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\n",
     R"(p.toml:1:8: error: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' cannot be the name of a group: a name has at most 64 characters
    1 | [group.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]
      |        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
)"},
    {"[partition.\".x\"]\nl3 = \"1 way\"\n",
     R"(p.toml:1:12: error: '.x' cannot be the name of a partition: a name does not begin with a dot
    1 | [partition.".x"]
      |            ^~~~
)"},
    {"[partition.info]\nl3 = \"1 way\"\n[group.a]\npartition = \"info\"\n", ""},
};

TEST(Policy, Names) { expect_errors(name_errors); }

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
      {"/etc/rdtd/40.toml", PolicyFile::State::unreadable, {}, "is a directory, not a policy file"},
      {"/etc/rdtd/50.toml", PolicyFile::State::masked, {}, {}}};
  const ParsedPolicy parsed = parse_policy(files);
  EXPECT_EQ(format_diagnostics(parsed.diagnostics, parsed.policy.sources),
            "/etc/rdtd/10.toml:4:6: error: '101%' is more than 100%\n    4 | l3 = \"101%\"\n      "
            "|      ^~~~~~ write \"100%\"\n"
            "/etc/rdtd/10.toml:5:1: error: unknown key 'bogus' in [group.db]\n    5 | bogus = 1\n  "
            "    | ^~~~~ the main keys are l3, mb, exclusive, cpus, partition, description; see "
            "rdtd.toml(5)\n"
            "/etc/rdtd/20.toml:2:1: error: 'log_level' in [daemon] is set twice: here and in "
            "/etc/rdtd/10.toml:2\n    2 | log_level = \"debug\"\n      | ^~~~~~~~~\n"
            "/etc/rdtd/20.toml:3:8: error: group 'db' is defined twice: here and in "
            "/etc/rdtd/10.toml:3\n    3 | [group.db]\n      |        ^~ 'override = true' "
            "here would replace that one\n"
            "/etc/rdtd/40.toml: error: is a directory, not a policy file\n");
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

TEST(Policy, PartitionsWithoutGroups) {
  const std::string partition = "[partition.p]\nl3 = \"2 ways\"\n";
  EXPECT_EQ(diagnostics(partition),
            "p.toml:1:12: warning: partition 'p' has no groups: nobody fills its ways\n    1 | "
            "[partition.p]\n      |            ^ write partition = \"p\" in a [group.NAME]\n");
  EXPECT_EQ(diagnostics(partition + "[group.a]\npartition = \"p\"\n"), "");
}

}  // namespace
}  // namespace rdtd
