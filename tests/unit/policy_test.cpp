// Every error that a policy file can cause by itself, with its whole text.
#include <gtest/gtest.h>

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
      {"[group.db]\nl3 = 4\n",
       R"(p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an integer
    2 | l3 = 4
      |      ^ write "4 ways"
)"},
      {"[group.db]\nexclusive = \"yes\"\nl3 = \"1 way\"\n",
       R"(p.toml:2:13: error: 'exclusive' must be true or false, not a string
    2 | exclusive = "yes"
      |             ^~~~~
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
      {"[[rule]]\ngroup = \"redsi\"\nname = \"x\"\n[group.redis]\n",
       R"(p.toml:2:9: error: unknown group 'redsi'
    2 | group = "redsi"
      |         ^~~~~~~ did you mean 'redis'?
)"},
      {"[[rule]]\nname = \"x\"\n",
       R"(p.toml:1:1: error: a rule must name its group
    1 | [[rule]]
      | ^~~~~~~~ write group = "NAME"
)"},
      {"[[rule]]\ngroup = \"default\"\n",
       R"(p.toml:1:1: error: a rule must have at least one condition: name, thread, exe, cmdline, cgroup, unit, user_unit, user, user_group
    1 | [[rule]]
      | ^~~~~~~~
)"},
      {"[[rule]]\ngroup = \"default\"\nname = \"[ab\"\n",
       R"(p.toml:3:8: error: '[ab' is not a glob: its '[' has no ']'
    3 | name = "[ab"
      |        ^~~~~
)"},
      {"[[rule]]\ngroup = \"default\"\ncgroup = \"/**/a/**/b/**/c\"\n",
       "p.toml:3:10: error: '/**/a/**/b/**/c' is not a glob: it has more than two '**'\n    3 | "
       "cgroup = \"/**/a/**/b/**/c\"\n      |          ^~~~~~~~~~~~~~~~~\n"},
      {"[[rule]]\ngroup = \"default\"\nexe = \"**x\"\n",
       "p.toml:3:7: error: '**x' can never match: an executable's path begins with '/'\n    3 | "
       "exe = \"**x\"\n      |       ^~~~~ 'name' is for the bare name\n"},
      {"[[rule]]\ngroup = \"default\"\nunit = \"/var/lib\"\n",
       "p.toml:3:8: error: '/var/lib' can never match: the name of a unit has no '/' and no "
       "blank\n "
       "   3 | unit = \"/var/lib\"\n      |        ^~~~~~~~~~ 'cgroup' matches a path\n"},
      {"[[rule]]\ngroup = \"default\"\nuser_unit = \"a b\"\n",
       "p.toml:3:13: error: 'a b' can never match: the name of a unit has no '/' and no blank\n    "
       "3 "
       "| user_unit = \"a b\"\n      |             ^~~~~\n"},
      {"[[rule]]\ngroup = \"default\"\nexe = \"/usr/bin/java -jar\"\n",
       "p.toml:3:7: warning: '/usr/bin/java -jar' looks like a command with arguments; 'exe' "
       "matches "
       "the path of the executable\n    3 | exe = \"/usr/bin/java -jar\"\n      |       "
       "^~~~~~~~~~~~~~~~~~~~ 'cmdline' matches the arguments\n"},
      {"[[rule]]\ngroup = \"default\"\nname = []\n",
       R"(p.toml:3:8: error: 'name' is an empty array: nothing can match it
    3 | name = []
      |        ^~
)"},
      {"[[rule]]\ngroup = \"default\"\nname = \"\"\n",
       R"(p.toml:3:8: error: 'name' is empty: nothing can match it
    3 | name = ""
      |        ^~
)"},
      {"[[rule]]\ngroup = \"default\"\nname = 7\n",
       R"(p.toml:3:8: error: 'name' must be a string or an array of strings, not an integer
    3 | name = 7
      |        ^
)"},
      {"[[rule]]\ngroup = \"default\"\nname = \"a-very-long-name\"\n",
       R"(p.toml:3:8: error: 'a-very-long-name' can never match: the kernel cuts names to 15 characters
    3 | name = "a-very-long-name"
      |        ^~~~~~~~~~~~~~~~~~ write "a-very-long-nam", or use 'exe'
)"},
      {"[[rule]]\ngroup = \"default\"\ncgroup = \"system.slice\"\n",
       R"(p.toml:3:10: error: 'system.slice' can never match: a cgroup path begins with '/'
    3 | cgroup = "system.slice"
      |          ^~~~~~~~~~~~~~
)"},
      {"[[rule]]\ngroup = \"default\"\nexe = \"redis\"\n",
       R"(p.toml:3:7: error: 'redis' can never match: an executable's path begins with '/'
    3 | exe = "redis"
      |       ^~~~~~~ 'name' is for the bare name
)"},
      {"[[rule]]\ngroup = \"default\"\nname = \"x\"\nmonitor = \"m\"\n",
       R"(p.toml:4:1: error: 'monitor': this version of rdtd makes no monitoring groups
    4 | monitor = "m"
      | ^~~~~~~
)"},
      {"[pseudo_lock.p]\nl2 = { \"0\" = \"256 KiB\" }\n",
       R"(p.toml:1:14: error: [pseudo_lock.p]: this version of rdtd makes no pseudo-locked regions
    1 | [pseudo_lock.p]
      |              ^
)"},
      {"[group.info]\n",
       R"(p.toml:1:8: error: 'info' cannot be the name of a group: resctrl uses that name itself
    1 | [group.info]
      |        ^~~~
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
      {"[group.a]\ncpus = \"0-x\"\n",
       R"(p.toml:2:8: error: '0-x' is not a CPU list: 'x' is not a number
    2 | cpus = "0-x"
      |        ^~~~~ write "0-3,8"
)"},
      {"[group.default]\ncpus = \"0\"\n",
       R"(p.toml:2:8: error: 'cpus' in [group.default]: the default group has every CPU that no other group has
    2 | cpus = "0"
      |        ^~~
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
       R"(p.toml:1:8: error: group 'a' is in partition 'fast', which its groups share: it cannot be exclusive
    1 | [group.a]
      |        ^
)"},
      {"[partition.p]\n",
       R"(p.toml:1:12: error: partition 'p' has no cache amount
    1 | [partition.p]
      |            ^ write l3 = "4 ways"
)"},
      {"[group.a]\nl3 = \"remainder\"\n",
       R"(p.toml:2:6: error: 'remainder' is for the default group
    2 | l3 = "remainder"
      |      ^~~~~~~~~~~ "all" is every way that a group may fill
)"},
      {"[partition.p]\nl3 = \"remainder\"\n",
       R"(p.toml:2:6: error: 'remainder' is for the default group
    2 | l3 = "remainder"
      |      ^~~~~~~~~~~ "all" is every way that a group may fill
)"},
      {"[group.a]\nl3 = { x = \"1 way\" }\n",
       R"(p.toml:2:8: error: 'x' is not a list of domains: 'x' is not a number
    2 | l3 = { x = "1 way" }
      |        ^ write "0", "0-1,4" or "*"
)"},
      {"[group.a]\nl3 = { \"0-1\" = \"1 way\", \"1\" = \"2 ways\" }\n",
       R"(p.toml:2:25: error: domain 1 is listed twice in 'l3'
    2 | l3 = { "0-1" = "1 way", "1" = "2 ways" }
      |                         ^~~
)"},
      {"[group.a]\nl3 = {}\n",
       R"(p.toml:2:6: error: 'l3' names no domain
    2 | l3 = {}
      |      ^~
)"},
      {"[daemon]\ndrift = \"reprot\"\n",
       R"(p.toml:2:9: error: 'drift' in [daemon] must be one of restore, report, not 'reprot'
    2 | drift = "reprot"
      |         ^~~~~~~~ did you mean 'report'?
)"},
      {"[daemon]\nreconcile_interval = \"soon\"\n",
       R"(p.toml:2:22: error: 'soon' is not a time span; write "30s", "5min" or "0"
    2 | reconcile_interval = "soon"
      |                      ^~~~~~
)"},
      {"version = \"1\"\n",
       R"(p.toml:1:11: error: 'version' must be an integer, not a string
    1 | version = "1"
      |           ^~~ write version = 1
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
      {"[group.a]\nl3 = 40\n",
       R"(p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an integer
    2 | l3 = 40
      |      ^~ write "40%"
)"},
      {"[group.a]\nl3 = 0xf0\n",
       R"(p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an integer
    2 | l3 = 0xf0
      |      ^~~~ quote it: "0xf0"
)"},
      {"[group.a]\nl3 = 0.5\n",
       R"(p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not a float
    2 | l3 = 0.5
      |      ^~~ write "50%"
)"},
      {"[group.a]\nl3 = true\n",
       R"(p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not a boolean
    2 | l3 = true
      |      ^~~~ write "4 ways" or "25%"
)"},
      {"[group.a]\nmb = 50\n",
       R"(p.toml:2:6: error: 'mb' must be a string or a table that maps domains to amounts, not an integer
    2 | mb = 50
      |      ^~ write "50%"
)"},
      {"[group.a]\nl3 = { \"0\" = 4 }\n",
       R"(p.toml:2:14: error: '0' must be a string, not an integer
    2 | l3 = { "0" = 4 }
      |              ^ write "4 ways"
)"},
      {"[group.a]\nl3 = \"4MB\"\n",
       R"(p.toml:2:6: error: '4MB' is not a cache amount
    2 | l3 = "4MB"
      |      ^~~~~ write "4 MiB"
)"},
      {"[group.a]\nmb = \"6 GB\"\n",
       R"(p.toml:2:6: error: '6 GB' is not a bandwidth
    2 | mb = "6 GB"
      |      ^~~~~~ write "6 GB/s"
)"},
      {"[group.a]\nmb = \"max\"\n",
       R"(p.toml:2:6: error: 'max' is not a bandwidth
    2 | mb = "max"
      |      ^~~~~ write "unlimited"
)"},
      {"[group.a]\nl3 = \"lots\"\n",
       R"(p.toml:2:6: error: 'lots' is not a cache amount
    2 | l3 = "lots"
      |      ^~~~~~ write "40%", "4 ways", "ways 4-7", "6 MiB", "0xf0" or "all"
)"},
      {"[group.a]\nmb = \"lots\"\n",
       R"(p.toml:2:6: error: 'lots' is not a bandwidth
    2 | mb = "lots"
      |      ^~~~~~ write "50%", "8 GB/s", "800 MiB/s" or "unlimited"
)"},
      {"[group.a]\nl3 = { \"3-1\" = \"1 way\" }\n",
       R"(p.toml:2:8: error: '3-1' is not a list of domains: the range '3-1' ends before it begins
    2 | l3 = { "3-1" = "1 way" }
      |        ^~~~~ write "0", "0-1,4" or "*"
)"},
      {"[group.a]\nl3 = { \"0-\" = \"1 way\" }\n",
       R"(p.toml:2:8: error: '0-' is not a list of domains: a number is missing
    2 | l3 = { "0-" = "1 way" }
      |        ^~~~ write "0", "0-1,4" or "*"
)"},
      {"[group.a]\nl3 = { \"5000000000\" = \"1 way\" }\n",
       R"(p.toml:2:8: error: '5000000000' is not a list of domains: the highest number is 4294967295
    2 | l3 = { "5000000000" = "1 way" }
      |        ^~~~~~~~~~~~ write "0", "0-1,4" or "*"
)"},
      {"[group.a]\nl3 = { \"0-999999\" = \"1 way\" }\n",
       R"(p.toml:2:8: error: '0-999999' is more domains than a policy may list
    2 | l3 = { "0-999999" = "1 way" }
      |        ^~~~~~~~~~ write "*" for all domains
)"},
      {"[group.a]\ncpus = \"0-65536\"\n",
       R"(p.toml:2:8: error: '0-65536' is not a CPU list: the highest number is 65535
    2 | cpus = "0-65536"
      |        ^~~~~~~~~ write "0-3,8"
)"},
      {"[group.a]\ncpus = \"3-1\"\n",
       R"(p.toml:2:8: error: '3-1' is not a CPU list: the range '3-1' ends before it begins
    2 | cpus = "3-1"
      |        ^~~~~ write "0-3,8"
)"},
      {"[group.a]\ncpus = \"\"\n",
       R"(p.toml:2:8: error: '' is not a CPU list: it is empty
    2 | cpus = ""
      |        ^~ write "0-3,8"
)"},
      {"[group.a]\ncpus = \"1,,2\"\n",
       R"(p.toml:2:8: error: '1,,2' is not a CPU list: a number is missing
    2 | cpus = "1,,2"
      |        ^~~~~~ write "0-3,8"
)"},
      {"[group.a]\ncpus = -1\n",
       R"(p.toml:2:8: error: -1 is not a CPU number: they range from 0 to 65535
    2 | cpus = -1
      |        ^~
)"},
      {"[group.a]\ncpus = 65536\n",
       R"(p.toml:2:8: error: 65536 is not a CPU number: they range from 0 to 65535
    2 | cpus = 65536
      |        ^~~~~
)"},
      {"[group.a]\ncpus = [0, \"1\"]\n",
       R"(p.toml:2:12: error: 'cpus' must be a string, an integer or an array of integers, not a string
    2 | cpus = [0, "1"]
      |            ^~~ write "0-3,8"
)"},
      {"[group.a]\ncpus = []\n",
       R"(p.toml:2:8: error: 'cpus' is an empty array
    2 | cpus = []
      |        ^~
)"},
      {"[group.a]\ncpus = true\n",
       R"(p.toml:2:8: error: 'cpus' must be a string, an integer or an array of integers, not a boolean
    2 | cpus = true
      |        ^~~~ write "0-3,8"
)"},
      {"[group.a]\ncpus = \"0-3\"\n[group.b]\ncpus = [1, 2, 7]\n[group.c]\ncpus = 3\n",
       R"(p.toml:4:8: error: CPUs 1-2 are given to two groups: here and to 'a' in p.toml:2
    4 | cpus = [1, 2, 7]
      |        ^~~~~~~~~
p.toml:6:8: error: CPU 3 is given to two groups: here and to 'a' in p.toml:2
    6 | cpus = 3
      |        ^
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
      {"[partition.info]\nl3 = \"1 way\"\n", ""},
      {"[[rule]]\ngroup = \"root\"\nname = \"x\"\n",
       R"(p.toml:2:9: error: unknown group 'root'
    2 | group = "root"
      |         ^~~~~~ the resctrl root is 'default'
)"},
      {"[[rule]]\ngroup = \"default\"\nnmae = \"x\"\n",
       R"(p.toml:3:1: error: unknown key 'nmae' in [[rule]]
    3 | nmae = "x"
      | ^~~~ did you mean 'name'?
)"},
      {"[[rule]]\ngroup = \"default\"\ncomm = \"x\"\n",
       R"(p.toml:3:1: error: unknown key 'comm' in [[rule]]
    3 | comm = "x"
      | ^~~~ did you mean 'name'?
)"},
      {"[[rule]]\ngroup = \"default\"\nservice = \"x\"\n",
       R"(p.toml:3:1: error: unknown key 'service' in [[rule]]
    3 | service = "x"
      | ^~~~~~~ did you mean 'unit'?
)"},
      {"[[rule]]\ngroup = \"default\"\ncontainer = \"x\"\n",
       R"(p.toml:3:1: error: unknown key 'container' in [[rule]]
    3 | container = "x"
      | ^~~~~~~~~ did you mean 'cgroup'?
)"},
      {"[[rule]]\ngroup = \"default\"\npid = 1\n",
       R"(p.toml:3:1: error: unknown key 'pid' in [[rule]]
    3 | pid = 1
      | ^~~ rules match by name, unit, cgroup ...; use rdtctl assign for a PID
)"},
      {"[[rule]]\ngroup = \"default\"\nclass = \"x\"\nname = \"x\"\n",
       R"(p.toml:3:1: error: unknown key 'class' in [[rule]]
    3 | class = "x"
      | ^~~~~ did you mean 'group'?
)"},
      {"[[rule]]\ngroup = \"default\"\nl3 = \"1 way\"\nname = \"x\"\n",
       R"(p.toml:3:1: error: unknown key 'l3' in [[rule]]
    3 | l3 = "1 way"
      | ^~ amounts belong in the rule's [group.NAME]
)"},
      {"[[rule]]\ngroup = \"default\"\nName = \"x\"\n",
       R"(p.toml:3:1: error: unknown key 'Name' in [[rule]]
    3 | Name = "x"
      | ^~~~ did you mean 'name'?
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
      | ^~~~~~~~ write l3 = "4 ways" or mb = "50%"
)"},
      {"[group.a]\nname = \"redis\"\n",
       R"(p.toml:2:1: error: unknown key 'name' in [group.a]
    2 | name = "redis"
      | ^~~~ conditions belong in a [[rule]] with this group's name
)"},
      {"[group.a]\ncolour = \"red\"\n",
       R"(p.toml:2:1: error: unknown key 'colour' in [group.a]
    2 | colour = "red"
      | ^~~~~~
)"},
      {"[clos.a]\n",
       R"(p.toml:1:2: error: unknown key 'clos' in a policy
    1 | [clos.a]
      |  ^~~~ write [group.NAME]
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
      {"[daemon]\nreconcile_interval = 30\n",
       R"(p.toml:2:22: error: 'reconcile_interval' must be a string, not an integer
    2 | reconcile_interval = 30
      |                      ^~ write "30s"
)"},
      {"[group.default]\nadopt = true\n",
       R"(p.toml:1:8: error: 'adopt' in [group.default]: the default group is always there
    1 | [group.default]
      |        ^~~~~~~
)"},
      {"[partition.p]\nmb = \"10%\"\nl3 = \"1 way\"\n",
       R"(p.toml:2:1: error: unknown key 'mb' in [partition.p]
    2 | mb = "10%"
      | ^~
)"},
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
      {"/etc/rdtd/40.toml", PolicyFile::State::unreadable, {}, "is a directory, not a policy file"},
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

}  // namespace
}  // namespace rdtd
