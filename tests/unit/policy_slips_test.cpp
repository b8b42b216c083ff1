// What users of other programs and files write, and what the policy says of it, with its whole
// text.
#include "policy_support.hpp"

namespace rdtd::policy_slips {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors slips[] = {
    {"[group.a]\nenabled = true\n",
     "p.toml:2:1: error: unknown key 'enabled' in [group.a]\n"
     "    2 | enabled = true\n"
     "      | ^~~~~~~ remove this line: what a file of the policy has is in force\n"},
    {"[[rule]]\ngroup = \"default\"\nname = \"x\"\nenable = true\n",
     "p.toml:4:1: error: unknown key 'enable' in [[rule]]\n"
     "    4 | enable = true\n"
     "      | ^~~~~~ remove this line: what a file of the policy has is in force\n"},
    {"[io]\nenabled = true\n",
     "p.toml:2:1: error: unknown key 'enabled' in [io]\n"
     "    2 | enabled = true\n"
     "      | ^~~~~~~ remove this line: what a file of the policy has is in force\n"},
    {"[[rule]]\ngroup = \"default\"\ngroup_id = 100\n",
     "p.toml:3:1: error: unknown key 'group_id' in [[rule]]\n"
     "    3 | group_id = 100\n"
     "      | ^~~~~~~~ did you mean 'user_group'?\n"},
    {"[group.redis.service]\nl3 = \"2 ways\"\n",
     "p.toml:1:14: error: unknown key 'service' in [group.redis]\n"
     "    1 | [group.redis.service]\n"
     "      |              ^~~~~~~ a '.' starts a sub-table: write [group.\"redis.service\"]\n"},
    {"[group.a]\nmode = \"pseudo-locksetup\"\n",
     "p.toml:2:1: error: unknown key 'mode' in [group.a]\n"
     "    2 | mode = \"pseudo-locksetup\"\n"
     "      | ^~~~ write [pseudo_lock.NAME] with l2 or l3 in place of the group\n"},
    {"[observer]\ninterval = \"1.5s\"\n",
     "p.toml:2:12: error: '1.5s' is not a time span\n"
     "    2 | interval = \"1.5s\"\n"
     "      |            ^~~~~~ write \"1500ms\"\n"},
    {"[observer]\ninterval = \"0.5s\"\n",
     "p.toml:2:12: error: '0.5s' is not a time span\n"
     "    2 | interval = \"0.5s\"\n"
     "      |            ^~~~~~ write \"500ms\"\n"},
    {"[observer]\ninterval = \"0.01s\"\n",
     "p.toml:2:12: error: '0.01s' is not a time span\n"
     "    2 | interval = \"0.01s\"\n"
     "      |            ^~~~~~~ write \"1s\"\n"},
    {"[observer]\ninterval = 0.5\n",
     "p.toml:2:12: error: 'interval' must be a string, not a float\n"
     "    2 | interval = 0.5\n"
     "      |            ^~~ write \"500ms\"\n"},
    {"[daemon]\nreconcile_interval = 1.5\n",
     "p.toml:2:22: error: 'reconcile_interval' must be a string, not a float\n"
     "    2 | reconcile_interval = 1.5\n"
     "      |                      ^~~ write \"1500ms\"\n"},
    {"[daemon]\nreconcile_interval = \"0.05s\"\n",
     "p.toml:2:22: error: '0.05s' is not a time span\n"
     "    2 | reconcile_interval = \"0.05s\"\n"
     "      |                      ^~~~~~~ write \"30s\"\n"},
    {"[daemon]\nreconcile_interval = \"1.5h\"\n",
     "p.toml:2:22: error: '1.5h' is not a time span\n"
     "    2 | reconcile_interval = \"1.5h\"\n"
     "      |                      ^~~~~~ write \"90min\"\n"},
    {"[daemon]\nlog_level = \"INFO\"\n",
     "p.toml:2:13: error: 'log_level' in [daemon] must be one of debug, info, warning, error, not "
     "'INFO'\n"
     "    2 | log_level = \"INFO\"\n"
     "      |             ^~~~~~ did you mean 'info'?\n"},
    {"[[rule]]\nname = tar gzip\n",
     "p.toml:2:8: error: 'tar gzip' is not in quotes\n"
     "    2 | name = tar gzip\n"
     "      |        ^~~~~~~~ write [\"tar\", \"gzip\"], or quote one name: \"tar gzip\"\n"},
    {"[[rule]]\nname = tar, gzip\n",
     "p.toml:2:8: error: 'tar, gzip' is not in quotes\n"
     "    2 | name = tar, gzip\n"
     "      |        ^~~~~~~~~ write [\"tar\", \"gzip\"]\n"},
    {"[[rule]]\nunit = a.service b.service\n",
     "p.toml:2:8: error: 'a.service b.service' is not in quotes\n"
     "    2 | unit = a.service b.service\n"
     "      |        ^~~~~~~~~~~~~~~~~~~ write [\"a.service\", \"b.service\"]\n"},
    {"[[rule]]\nname = (\"a\",\"b\")\n",
     "p.toml:2:8: error: '(\"a\",\"b\")' is not in quotes\n"
     "    2 | name = (\"a\",\"b\")\n"
     "      |        ^~~~~~~~~ write [\"a\", \"b\"]\n"},
    {"[[rule]]\ngroup = $GROUP\n",
     "p.toml:2:9: error: '$GROUP' is not a value: TOML has no variables\n"
     "    2 | group = $GROUP\n"
     "      |         ^~~~~~ write the text itself, in quotes\n"},
    {"[[rule]]\nn\u0430me = \"x\"\n",
     "p.toml:2:2: error: U+0430, which looks like 'a', cannot be here\n"
     "    2 | n\u0430me = \"x\"\n"
     "      |  ^ write 'a'\n"},
    {"\u200bversion = 1\n",
     "p.toml:1:1: error: U+200B, which is invisible, cannot be here\n"
     "    1 | \u200bversion = 1\n"
     "      | ^ delete it\n"},
    {"version = 1\u200b\n",
     "p.toml:1:11: error: '1\u200b' is not in quotes\n"
     "    1 | version = 1\u200b\n"
     "      |           ^~ quote it: \"1\u200b\"\n"},
    {"[group.r\u0435d]\n",
     "p.toml:1:9: error: U+0435, which looks like 'e', cannot be here\n"
     "    1 | [group.r\u0435d]\n"
     "      |         ^ write 'e'\n"},
    {"[vm.web]\nl3 = \"1 way\"\n",
     "p.toml:1:2: error: unknown key 'vm' in a policy\n"
     "    1 | [vm.web]\n"
     "      |  ^~ write [[rule]] with vm = \"web\", and a [group.NAME] for its amounts\n"},
    {"# a\032b\n",
     "p.toml:1:4: error: control character U+001A\n"
     "    1 | # a?b\n"
     "      |    ^ remove it\n"},
    {"\032\n",
     "p.toml:1:1: error: control character U+001A\n"
     "    1 | ?\n"
     "      | ^ remove it\n"},
    {"x = \"a\032b\"\n",
     "p.toml:1:7: error: control character U+001A\n"
     "    1 | x = \"a?b\"\n"
     "      |       ^ write \\u001A in a string\n"},
    {"[group.a]\npartition = \"none\"\n",
     "p.toml:2:13: error: unknown partition 'none'\n"
     "    2 | partition = \"none\"\n"
     "      |             ^~~~~~ a group without 'partition' is in none: remove this line\n"},
    {"[group.a]\nl3 = \"0:f;1:f\"\n",
     "p.toml:2:6: error: '0:f;1:f' is not a cache amount\n"
     "    2 | l3 = \"0:f;1:f\"\n"
     "      |      ^~~~~~~~~ write { \"0\" = \"0xf\", \"1\" = \"0xf\" }\n"},
    {"[group.a]\nl3 = [\"4 ways\"]\n",
     "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an "
     "array\n"
     "    2 | l3 = [\"4 ways\"]\n"
     "      |      ^~~~~~~~~~ write \"4 ways\"\n"},
    {"[group.redis]\n[group.redsi]\noverride = true\n",
     "p.toml:2:8: warning: 'override' replaces nothing: no file before this one has group 'redsi'\n"
     "    2 | [group.redsi]\n"
     "      |        ^~~~~ did you mean 'redis'?\n"},
    {"[group.redis]\noverride = true\n", ""},
    {"[group.redis]\nprotected = true\n",
     "p.toml:1:8: warning: the guard is off: nothing is done for the groups with 'protected'\n"
     "    1 | [group.redis]\n"
     "      |        ^~~~~ write mode = \"on\" or \"shadow\" in [guard]\n"},
    {"[group.redis]\nmb = \"10%..50%\"\n",
     "p.toml:1:8: warning: the guard is off: each range of mb is its upper end\n"
     "    1 | [group.redis]\n"
     "      |        ^~~~~ write mode = \"on\" or \"shadow\" in [guard]\n"},
    {"[group.redis]\nprotected = true\n[guard]\nmode = \"off\"\n", ""},
    {"[[rule]]\ngroup = \"default\"\nmonitor = [\"x\"]\nname = \"x\"\n",
     "p.toml:3:11: error: 'monitor' must be a string, not an array\n"
     "    3 | monitor = [\"x\"]\n"
     "      |           ^~~~~ write monitor = \"x\"\n"},
    {"[[rule]]\ngroup = \"default\"\nvm = 100\n",
     "p.toml:3:6: error: 'vm' must be a string or an array of strings, not an integer\n"
     "    3 | vm = 100\n"
     "      |      ^~~ write vm = \"100\"\n"},
    {"[[rule]]\ngroup = \"default\"\nvm = [\"a\", 100]\n",
     "p.toml:3:12: error: 'vm' must be a string or an array of strings, not an integer\n"
     "    3 | vm = [\"a\", 100]\n"
     "      |            ^~~ write \"100\"\n"},
    {"[[rule]]\ngroup = \"default\"\ncgroup = \"/\"\n[[rule]]\ngroup = \"leave\"\nname = \"x\"\n",
     "p.toml:4:1: warning: this rule never decides: the rule at p.toml:1 matches everything that "
     "it matches\n"
     "    4 | [[rule]]\n"
     "      | ^~~~~~~~ remove it, or move it before the other\n"},
    {"[[rule]]\ngroup = \"default\"\ncgroup = \"/system.slice\"\n[[rule]]\ngroup = "
     "\"leave\"\ncgroup = \"/system.slice/a.service/redis\"\n",
     "p.toml:4:1: warning: this rule never decides: the rule at p.toml:1 matches everything that "
     "it matches\n"
     "    4 | [[rule]]\n"
     "      | ^~~~~~~~ remove it, or move it before the other\n"},
    {"[[rule]]\ngroup = \"default\"\ncgroup = [\"/a\", \"/b/c\"]\n[[rule]]\ngroup = "
     "\"leave\"\ncgroup = [\"/a/x\", \"/b/c\"]\n",
     "p.toml:4:1: warning: this rule never decides: the rule at p.toml:1 matches everything that "
     "it matches\n"
     "    4 | [[rule]]\n"
     "      | ^~~~~~~~ remove it, or move it before the other\n"},
    {"[[rule]]\ngroup = \"default\"\ncgroup = \"/a\"\n[[rule]]\ngroup = \"leave\"\ncgroup = "
     "[\"/a/x\", \"/ab\"]\n",
     ""},
};

TEST(PolicySlips, Findings) { expect_errors(slips); }

}  // namespace
}  // namespace rdtd::policy_slips
