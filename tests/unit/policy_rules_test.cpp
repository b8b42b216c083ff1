// Every error that a [[rule]] can cause by itself, with its whole text.
#include "policy_support.hpp"

namespace rdtd {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors rule_errors[] = {
    {"[group.l3]\nmb = \"10%\"\n[group]\nl2 = { mb = \"10%\" }\nmb = {}\n", ""},
    {"[[rule]]\ngroup = \"default\"\nuser = -1\n",
     R"(p.toml:3:8: error: -1 is not a user number: they range from 0 to 4294967294
    3 | user = -1
      |        ^~
)"},
    {"[[rule]]\ngroup = \"default\"\nuser = [0, 4294967295]\n",
     R"(p.toml:3:12: error: 4294967295 is not a user number: they range from 0 to 4294967294
    3 | user = [0, 4294967295]
      |            ^~~~~~~~~~
)"},
    {"[[rule]]\ngroup = \"default\"\nuser_group = [\"4294967294\", \"99999999999\"]\n",
     R"(p.toml:3:29: error: 99999999999 is not a group number: they range from 0 to 4294967294
    3 | user_group = ["4294967294", "99999999999"]
      |                             ^~~~~~~~~~~~~
)"},
    {"[[rule]]\ngroup = \"redsi\"\nname = \"x\"\n[group.redis]\n",
     R"(p.toml:2:9: error: unknown group 'redsi'
    2 | group = "redsi"
      |         ^~~~~~~ did you mean 'redis'?
)"},
    {"[[rule]]\ngroup = \"zzz\"\nname = \"x\"\n[group.redis]\n[group.web]\n",
     R"(p.toml:2:9: error: unknown group 'zzz'
    2 | group = "zzz"
      |         ^~~~~ add [group.zzz], or name one of redis, web
)"},
    {"[[rule]]\ngroup = \"zzz\"\nname = \"x\"\n",
     R"(p.toml:2:9: error: unknown group 'zzz'
    2 | group = "zzz"
      |         ^~~~~ add [group.zzz]
)"},
    {"[[rule]]\ngroup = \"info\"\nname = \"x\"\n[group.default]\n",
     R"(p.toml:2:9: error: unknown group 'info'
    2 | group = "info"
      |         ^~~~~~
)"},
    {"[group.a]\n[group.b]\n[group.c]\n[group.d]\n[group.e]\n[group.f]\n"
     "[[rule]]\ngroup = \"zzz\"\nname = \"x\"\n",
     R"(p.toml:8:9: error: unknown group 'zzz'
    8 | group = "zzz"
      |         ^~~~~ add [group.zzz]
)"},
    {"[[rule]]\nname = \"x\"\n",
     R"(p.toml:1:1: error: a rule must name its group
    1 | [[rule]]
      | ^~~~~~~~ write group = "NAME"
)"},
    {"[[rule]]\ngroup = \"default\"\n",
     R"(p.toml:1:1: error: a rule needs a condition
    1 | [[rule]]
      | ^~~~~~~~ for example unit = "NAME.service" or name = "NAME"
)"},
    {"[[rule]]\ngroup = \"default\"\nvm = \"web\"\nvcpu = \"0-3\"\n", ""},
    {"[[rule]]\ngroup = \"default\"\nname = \"x\"\nvcpu = \"0\"\n",
     R"(p.toml:4:8: error: 'vcpu' is for the virtual machine that 'vm' names
    4 | vcpu = "0"
      |        ^~~ write vm = "NAME" too
)"},
    {"[[rule]]\ngroup = \"default\"\nvm = \"web\"\nvcpu = 0\n", ""},
    {"[[rule]]\ngroup = \"default\"\nvm = \"web\"\nvcpu = [0, 2]\n", ""},
    {"[[rule]]\ngroup = \"default\"\nvm = \"web\"\nvcpu = [0, \"2\"]\n",
     R"(p.toml:4:12: error: 'vcpu' must be an integer, not a string
    4 | vcpu = [0, "2"]
      |            ^~~ write [0, 1] or "0-1"
)"},
    {"[[rule]]\ngroup = \"default\"\nvm = \"web\"\nvcpu = []\n",
     R"(p.toml:4:8: error: '' is not a list of virtual CPUs
    4 | vcpu = []
      |        ^~ write "0-3" or "0,2"
)"},
    {"[group.db]\n[[rule]]\ngroup = \"DB\"\nname = \"x\"\n",
     R"(p.toml:3:9: error: unknown group 'DB'
    3 | group = "DB"
      |         ^~~~ did you mean 'db'?
)"},
    {"[[rule]]\ngroup = \"Leave\"\nname = \"x\"\n",
     R"(p.toml:2:9: error: unknown group 'Leave'
    2 | group = "Leave"
      |         ^~~~~~~ write group = "leave"
)"},
    {"[[rule]]\ngroup = \"default\"\nvm = \"web\"\nvcpu = \"all\"\n",
     R"(p.toml:4:8: error: 'all' is not a list of virtual CPUs
    4 | vcpu = "all"
      |        ^~~~~ leave 'vcpu' out: 'vm' alone is the whole machine
)"},
    {"[[rule]]\ngroup = \"default\"\nvm = \"web\"\nvcpu = \"0-9999\"\n",
     R"(p.toml:4:8: error: '0-9999' is not a list of virtual CPUs
    4 | vcpu = "0-9999"
      |        ^~~~~~~~ write "0-3" or "0,2"
)"},
    {"[[rule]]\ngroup = \"default\"\nvm = \"web\"\nvcpu = \"0\"\nthread = \"x\"\n",
     R"(p.toml:4:8: error: 'vcpu' and 'thread' both name threads
    4 | vcpu = "0"
      |        ^~~ remove one of them
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
     "exe = \"**x\"\n      |       ^~~~~ write \"**/*x\"\n"},
    {"[[rule]]\ngroup = \"default\"\nunit = \"/var/lib\"\n",
     "p.toml:3:8: error: '/var/lib' can never match: the name of a unit has no '/'\n "
     "   3 | unit = \"/var/lib\"\n      |        ^~~~~~~~~~ 'cgroup' matches a path\n"},
    {"[[rule]]\ngroup = \"default\"\nuser_unit = \"a b\"\n",
     "p.toml:3:13: error: 'a b' can never match: one pattern is one glob, and an array holds "
     "several\n    3 | user_unit = \"a b\"\n      |             ^~~~~ write [\"a\", \"b\"]\n"},
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
      |        ^ write name = "7"
)"},
    {"[[rule]]\ngroup = \"default\"\nname = \"a-very-long-name\"\n",
     R"(p.toml:3:8: error: 'a-very-long-name' can never match: the kernel cuts names to 15 bytes
    3 | name = "a-very-long-name"
      |        ^~~~~~~~~~~~~~~~~~ write "a-very-long-nam", or use 'exe'
)"},
    {"[[rule]]\ngroup = \"default\"\ncgroup = \"system.slice\"\n",
     R"(p.toml:3:10: error: 'system.slice' can never match: a cgroup path begins with '/'
    3 | cgroup = "system.slice"
      |          ^~~~~~~~~~~~~~ write "/system.slice"
)"},
    {"[[rule]]\ngroup = \"default\"\nexe = \"redis\"\n",
     R"(p.toml:3:7: error: 'redis' can never match: an executable's path begins with '/'
    3 | exe = "redis"
      |       ^~~~~~~ 'name' is for the bare name
)"},
    {"[[rule]]\ngroup = \"default\"\nname = \"x\"\nmonitor = \"a/b\"\n",
     R"(p.toml:4:11: error: 'a/b' cannot be the name of a monitoring group: a name consists of letters, digits, '.', '_' and '-'
    4 | monitor = "a/b"
      |           ^~~~~
)"},
    {"[[rule]]\ngroup = \"default\"\nname = \"x\"\nmonitor = \"mon_groups\"\n",
     R"(p.toml:4:11: error: 'mon_groups' cannot be the name of a monitoring group: resctrl uses that name itself
    4 | monitor = "mon_groups"
      |           ^~~~~~~~~~~~
)"},
    {"[[rule]]\ngroup = \"default\"\nname = \"x\"\nmonitor = true\n",
     R"(p.toml:4:11: error: 'monitor' must be a string, not a boolean
    4 | monitor = true
      |           ^~~~ write monitor = "NAME"
)"},
    {"[[rule]]\ngroup = \"leave\"\nname = \"x\"\n", ""},
    {"[[rule]]\ngroup = \"leave\"\nname = \"x\"\nmonitor = \"m\"\n",
     R"(p.toml:4:11: error: 'monitor' in a rule with group = "leave": processes stay where they are
    4 | monitor = "m"
      |           ^~~ remove 'monitor', or name a group
)"},
    {"[[rule]]\ngroup = \"students/%u\"\nname = \"x\"\n",
     R"(p.toml:2:9: error: unknown group 'students/%u'
    2 | group = "students/%u"
      |         ^~~~~~~~~~~~~ a group has a fixed name, and no groups below it
)"},
    {"[[rule]]\ngroup = \"ignore\"\nname = \"x\"\n",
     R"(p.toml:2:9: error: unknown group 'ignore'
    2 | group = "ignore"
      |         ^~~~~~~~ group = "leave" leaves processes where they are
)"},
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
      | ^~~~~~~ write unit = "x.service"
)"},
    {"[[rule]]\ngroup = \"default\"\ncontainerName = \"x\"\n",
     R"(p.toml:3:1: error: unknown key 'containerName' in [[rule]]
    3 | containerName = "x"
      | ^~~~~~~~~~~~~ did you mean 'container'?
)"},
    {"[[rule]]\ngroup = \"default\"\npid = 1\n",
     R"(p.toml:3:1: error: unknown key 'pid' in [[rule]]
    3 | pid = 1
      | ^~~ rules match by name, unit, cgroup ...; use rdtctl assign for a PID
)"},
    {"[[rule]]\ngroup = \"default\"\nclass = \"x\"\nname = \"x\"\n",
     R"(p.toml:3:1: error: unknown key 'class' in [[rule]]
    3 | class = "x"
      | ^~~~~ 'group' has it already: remove this line, or write a condition such as unit
)"},
    {"[[rule]]\ngroup = \"default\"\nl3 = \"1 way\"\nname = \"x\"\n",
     R"(p.toml:3:1: error: unknown key 'l3' in [[rule]]
    3 | l3 = "1 way"
      | ^~ amounts belong in the rule's [group.NAME]
)"},
    {"[[rule]]\ngroup = \"default\"\nexclusive = true\nname = \"x\"\n",
     R"(p.toml:3:1: error: unknown key 'exclusive' in [[rule]]
    3 | exclusive = true
      | ^~~~~~~~~ 'exclusive' belongs in the rule's [group.NAME]
)"},
    {"[[rule]]\ngroup = \"default\"\nuser = [0, 1.5]\n",
     R"(p.toml:3:12: error: 'user' must be a name, a number or an array of them, not a float
    3 | user = [0, 1.5]
      |            ^~~
)"},
    {"[[rule]]\ngroup = \"default\"\nName = \"x\"\n",
     R"(p.toml:3:1: error: unknown key 'Name' in [[rule]]
    3 | Name = "x"
      | ^~~~ did you mean 'name'?
)"},
};

TEST(PolicyRules, Errors) { expect_errors(rule_errors); }

// 40 bytes name 1,024 of them, each a condition of its own.
TEST(PolicyRules, NameALimitedNumberOfVirtualCpus) {
  std::string text;
  for (int i = 0; i < 66; i++)
    text +=
        "[[rule]]\ngroup = \"default\"\nvm = \"web" + std::to_string(i) + "\"\nvcpu = \"0-1023\"\n";
  text += "[[rule]]\ngroup = \"default\"\nvm = \"web\"\nvcpu = \"0-65535,^9\"\n";
  EXPECT_EQ(test::diagnostics(text),
            R"(p.toml:260:8: error: the rules of a policy name 65536 virtual CPUs at most
  260 | vcpu = "0-1023"
      |        ^~~~~~~~ leave 'vcpu' out of some: 'vm' alone is the whole machine
p.toml:264:8: error: the rules of a policy name 65536 virtual CPUs at most
  264 | vcpu = "0-1023"
      |        ^~~~~~~~ leave 'vcpu' out of some: 'vm' alone is the whole machine
p.toml:268:8: error: '0-65535,^9' is not a list of virtual CPUs
  268 | vcpu = "0-65535,^9"
      |        ^~~~~~~~~~~~ write "0-3" or "0,2"
)");
}

}  // namespace
}  // namespace rdtd
