// Keys and values in a wrong place or of a wrong kind: what the policy says to write instead, with
// its whole text.
#include "policy_support.hpp"

namespace rdtd::policy_cures {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors rows[] = {
    {"[group.a]\nl3 = \"${WAYS} ways\"\nmb = \"{{ mb }}\"\n",
     "p.toml:2:6: error: '${WAYS} ways' is not a cache amount\n"
     "    2 | l3 = \"${WAYS} ways\"\n"
     "      |      ^~~~~~~~~~~~~~ a policy has no variables: write the amount itself\n"
     "p.toml:3:6: error: '{{ mb }}' is not a bandwidth\n"
     "    3 | mb = \"{{ mb }}\"\n"
     "      |      ^~~~~~~~~~ a policy has no variables: write the amount itself\n"},
    {"[redis]\nl3 = \"2 ways\"\n",
     "p.toml:1:2: error: unknown key 'redis' in a policy\n"
     "    1 | [redis]\n"
     "      |  ^~~~~ write [group.redis]\n"},
    {"[web]\ncpus = \"0-3\"\n",
     "p.toml:1:2: error: unknown key 'web' in a policy\n"
     "    1 | [web]\n"
     "      |  ^~~ write [group.web]\n"},
    {"web = { mb = \"10%\" }\n",
     "p.toml:1:1: error: unknown key 'web' in a policy\n"
     "    1 | web = { mb = \"10%\" }\n"
     "      | ^~~ write [group.web]\n"},
    {"[grup]\nl3 = \"2 ways\"\n",
     "p.toml:1:2: error: unknown key 'grup' in a policy\n"
     "    1 | [grup]\n"
     "      |  ^~~~ did you mean 'group'?\n"},
    {"[group.web]\n[group.batch]\n[[rule]]\ngroup = \"redis\"\nname = \"x\"\n",
     "p.toml:4:9: error: unknown group 'redis'\n"
     "    4 | group = \"redis\"\n"
     "      |         ^~~~~~~ add [group.redis], or name one of batch, web\n"},
    {"[group.web]\n[[rule]]\ngroup = \"a.b\"\nname = \"x\"\n",
     "p.toml:3:9: error: unknown group 'a.b'\n"
     "    3 | group = \"a.b\"\n"
     "      |         ^~~~~ add [group.\"a.b\"], or write \"web\"\n"},
    {"[group.web]\n[[rule]]\ngroup = \"group.web\"\nname = \"x\"\n",
     "p.toml:3:9: error: unknown group 'group.web'\n"
     "    3 | group = \"group.web\"\n"
     "      |         ^~~~~~~~~~~ write \"web\"\n"},
    {"[group.web]\n[[rule]]\ngroup = \"[group.web]\"\nname = \"x\"\n",
     "p.toml:3:9: error: unknown group '[group.web]'\n"
     "    3 | group = \"[group.web]\"\n"
     "      |         ^~~~~~~~~~~~~ write \"web\"\n"},
    {"[partition.p]\nl3 = \"2 ways\"\n[group.a]\npartition = \"other\"\n",
     "p.toml:4:13: error: unknown partition 'other'\n"
     "    4 | partition = \"other\"\n"
     "      |             ^~~~~~~ add [partition.other], or write \"p\"\n"},
    {"[group.a]\nunit = \"redis.service\"\n",
     "p.toml:2:1: error: unknown key 'unit' in [group.a]\n"
     "    2 | unit = \"redis.service\"\n"
     "      | ^~~~ write [[rule]] with group = \"a\" and unit = \"redis.service\"\n"},
    {"[group.a]\nservice = \"redis\"\n",
     "p.toml:2:1: error: unknown key 'service' in [group.a]\n"
     "    2 | service = \"redis\"\n"
     "      | ^~~~~~~ write [[rule]] with group = \"a\" and unit = \"redis.service\"\n"},
    {"[group.a]\nuid = \"alice\"\n",
     "p.toml:2:1: error: unknown key 'uid' in [group.a]\n"
     "    2 | uid = \"alice\"\n"
     "      | ^~~ write [[rule]] with group = \"a\" and user = \"alice\"\n"},
    {"[group.a]\nname = [\"x\"]\n",
     "p.toml:2:1: error: unknown key 'name' in [group.a]\n"
     "    2 | name = [\"x\"]\n"
     "      | ^~~~ write [[rule]] with group = \"a\" and name = \"x\"\n"},
    {"[partition.p]\nunit = \"redis.service\"\n",
     "p.toml:2:1: error: unknown key 'unit' in [partition.p]\n"
     "    2 | unit = \"redis.service\"\n"
     "      | ^~~~ conditions belong in a [[rule]] with this group's name\n"},
    {"[group.a]\ncdp = true\n",
     "p.toml:2:1: error: unknown key 'cdp' in [group.a]\n"
     "    2 | cdp = true\n"
     "      | ^~~ mount options belong in a drop-in for sys-fs-resctrl.mount: Options=cdp\n"},
    {"[group.a]\nio = \"1 way\"\n",
     "p.toml:2:1: error: unknown key 'io' in [group.a]\n"
     "    2 | io = \"1 way\"\n"
     "      | ^~ [io] is a table of its own: write l3 in it\n"},
    {"[group.a]\ndescription = 5\n",
     "p.toml:2:15: error: 'description' must be a string, not an integer\n"
     "    2 | description = 5\n"
     "      |               ^ write description = \"5\"\n"},
    {"[group.a]\ncpus = [0, \"1-2\"]\n",
     "p.toml:2:8: error: 'cpus' must be a string, an integer or an array of integers, not an array "
     "with strings\n"
     "    2 | cpus = [0, \"1-2\"]\n"
     "      |        ^~~~~~~~~~ write cpus = \"0-2\"\n"},
    {"[group.a]\ncpus = [0, true]\n",
     "p.toml:2:12: error: 'cpus' must be a string, an integer or an array of integers, not a "
     "boolean\n"
     "    2 | cpus = [0, true]\n"
     "      |            ^~~~ for example \"0-3,8\"\n"},
    {"[group.a]\npartition = \"p\"\nexclusive = true\n[partition.p]\nl3 = \"4 ways\"\n",
     "p.toml:3:1: error: group 'a' is in partition 'p', which its groups share: it cannot be "
     "exclusive\n"
     "    3 | exclusive = true\n"
     "      | ^~~~~~~~~ remove this line; nobody outside of the partition fills its ways\n"},
    {"[daemon]\nreaders = [\"alice\"]\n",
     "p.toml:2:11: error: 'readers' must be a string, not an array\n"
     "    2 | readers = [\"alice\"]\n"
     "      |           ^~~~~~~~~ write readers = \"group\" and add alice to the user group "
     "rdtd\n"},
    {"[daemon]\nreaders = [\"alice\", \"bob\"]\n",
     "p.toml:2:11: error: 'readers' must be a string, not an array\n"
     "    2 | readers = [\"alice\", \"bob\"]\n"
     "      |           ^~~~~~~~~~~~~~~~ write readers = \"group\" and add alice and bob to the "
     "user group rdtd\n"},
    {"[daemon]\nreaders = \"alice\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not 'alice'\n"
     "    2 | readers = \"alice\"\n"
     "      |           ^~~~~~~ write readers = \"group\" and add alice to the user group rdtd\n"},
    {"[daemon]\nreaders = 5\n",
     "p.toml:2:11: error: 'readers' must be a string, not an integer\n"
     "    2 | readers = 5\n"
     "      |           ^\n"},
    {"[daemon]\ndrift = true\n",
     "p.toml:2:9: error: 'drift' must be a string, not a boolean\n"
     "    2 | drift = true\n"
     "      |         ^~~~ write \"restore\"\n"},
    {"[daemon]\nunsupported = true\n",
     "p.toml:2:15: error: 'unsupported' must be a string, not a boolean\n"
     "    2 | unsupported = true\n"
     "      |               ^~~~ write \"skip\" to leave out what this machine does not have, or "
     "\"refuse\"\n"},
    {"[daemon]\nlog_level = 7\n",
     "p.toml:2:13: error: 'log_level' must be a string, not an integer\n"
     "    2 | log_level = 7\n"
     "      |             ^ write \"debug\"\n"},
    {"[daemon]\nlog_level = false\n",
     "p.toml:2:13: error: 'log_level' must be a string, not a boolean\n"
     "    2 | log_level = false\n"
     "      |             ^~~~~\n"},
    {"[[rule]]\ngroup = \"default\"\nqos = \"Burstable\"\n",
     "p.toml:3:1: error: unknown key 'qos' in [[rule]]\n"
     "    3 | qos = \"Burstable\"\n"
     "      | ^~~ write unit = \"kubepods-burstable.slice\"\n"},
    {"[[rule]]\ngroup = \"default\"\nqos = \"Guaranteed\"\n",
     "p.toml:3:1: error: unknown key 'qos' in [[rule]]\n"
     "    3 | qos = \"Guaranteed\"\n"
     "      | ^~~ its pods lie directly below kubepods.slice: rules for burstable and besteffort "
     "first, then unit = \"kubepods.slice\"\n"},
    {"[[rule]]\ngroup = \"default\"\nqos_class = \"BestEffort\"\n",
     "p.toml:3:1: error: unknown key 'qos_class' in [[rule]]\n"
     "    3 | qos_class = \"BestEffort\"\n"
     "      | ^~~~~~~~~ write unit = \"kubepods-besteffort.slice\"\n"},
    {"[[rule]]\ngroup = \"default\"\nname = 'java -jar x'\n",
     "p.toml:3:8: warning: 'java -jar x' is one name with blanks in it\n"
     "    3 | name = 'java -jar x'\n"
     "      |        ^~~~~~~~~~~~~ write cmdline = \"*java -jar x*\"\n"},
    {"[[rule]]\ngroup = \"default\"\nthread = 'java -jar x'\n",
     "p.toml:3:10: warning: 'java -jar x' is one name with blanks in it\n"
     "    3 | thread = 'java -jar x'\n"
     "      |          ^~~~~~~~~~~~~ write \"java\"\n"},
    {"[[rule]]\ngroup = \"default\"\nname = 'python3 a.py'\n",
     "p.toml:3:8: warning: 'python3 a.py' is one name with blanks in it\n"
     "    3 | name = 'python3 a.py'\n"
     "      |        ^~~~~~~~~~~~~~ write cmdline = \"*python3 a.py*\"\n"},
    {"[[rule]]\ngroup = \"default\"\nname = 'python3 script.py'\n",
     "p.toml:3:8: error: 'python3 script.py' can never match: the kernel cuts names to 15 bytes\n"
     "    3 | name = 'python3 script.py'\n"
     "      |        ^~~~~~~~~~~~~~~~~~~ write cmdline = \"*python3 script.py*\"\n"},
    {"[[rule]]\ngroup = \"default\"\nname = 'redis-server *:6379'\n",
     "p.toml:3:8: warning: 'redis-server *:6379' has more than the 15 bytes of a program's name; "
     "only kernel threads have more\n"
     "    3 | name = 'redis-server *:6379'\n"
     "      |        ^~~~~~~~~~~~~~~~~~~~~ write name = \"redis-server\", or cmdline = "
     "\"redis-server *:6379*\"\n"},
    {"[[rule]]\ngroup = \"default\"\nname = 'redis-server [*]:6379*'\n",
     "p.toml:3:8: warning: 'redis-server [*]:6379*' has more than the 15 bytes of a program's "
     "name; only kernel threads have more\n"
     "    3 | name = 'redis-server [*]:6379*'\n"
     "      |        ^~~~~~~~~~~~~~~~~~~~~~~~ write name = \"redis-server\", or cmdline = "
     "\"redis-server [*]:6379*\"\n"},
    {"[[rule]]\ngroup = \"default\"\nname = 'averyveryverylongname*'\n",
     "p.toml:3:8: warning: 'averyveryverylongname*' has more than the 15 bytes of a program's "
     "name; only kernel threads have more\n"
     "    3 | name = 'averyveryverylongname*'\n"
     "      |        ^~~~~~~~~~~~~~~~~~~~~~~~ write \"averyveryverylo\"\n"},
    {"[[rule]]\ngroup = \"default\"\nname = 'short*andmuchmorethanthat'\n",
     "p.toml:3:8: warning: 'short*andmuchmorethanthat' has more than the 15 bytes of a program's "
     "name; only kernel threads have more\n"
     "    3 | name = 'short*andmuchmorethanthat'\n"
     "      |        ^~~~~~~~~~~~~~~~~~~~~~~~~~~ write \"short*\"\n"},
    {"[[rule]]\ngroup = \"default\"\nthread = 'dpdk worker *:1234567'\n",
     "p.toml:3:10: warning: 'dpdk worker *:1234567' has more than the 15 bytes of a program's "
     "name; only kernel threads have more\n"
     "    3 | thread = 'dpdk worker *:1234567'\n"
     "      |          ^~~~~~~~~~~~~~~~~~~~~~~ write \"dpdk\"\n"},
    {"[[rule]]\ngroup = \"default\"\nname = ['[a-p]bcdefghijklmno', 'kworker/u16*-events_unbound', "
     "'k*events_unbound_more', '*averyveryverylong']\n",
     ""},
    {"[[rule]]\ngroup = \"default\"\nunit = 'not redis.service'\n",
     "p.toml:3:8: error: 'not redis.service' is a text that begins with 'not': no condition "
     "negates\n"
     "    3 | unit = 'not redis.service'\n"
     "      |        ^~~~~~~~~~~~~~~~~~~ to leave processes alone, write group = \"leave\" in an "
     "earlier rule\n"},
    {"[[rule]]\ngroup = \"default\"\nuser = 'not root'\n",
     "p.toml:3:8: warning: 'not root' is a text that begins with 'not': no condition negates\n"
     "    3 | user = 'not root'\n"
     "      |        ^~~~~~~~~~ to leave processes alone, write group = \"leave\" in an earlier "
     "rule\n"},
    {"[[rule]]\ngroup = \"default\"\nuser = 'root,alice'\n",
     "p.toml:3:8: error: 'root,alice' can never match: the name of a user has no ','\n"
     "    3 | user = 'root,alice'\n"
     "      |        ^~~~~~~~~~~~ write user = [\"root\", \"alice\"]\n"},
    {"[[rule]]\ngroup = \"default\"\nuser = 'root alice'\n",
     "p.toml:3:8: warning: 'root alice' is one name with a blank in it\n"
     "    3 | user = 'root alice'\n"
     "      |        ^~~~~~~~~~~~ write user = [\"root\", \"alice\"]\n"},
    {"[[rule]]\ngroup = \"default\"\nuser = 'a,b c'\n",
     "p.toml:3:8: warning: 'a,b c' is one name with a blank in it\n"
     "    3 | user = 'a,b c'\n"
     "      |        ^~~~~~~ list them: user = [\"NAME\", \"NAME\"]\n"},
    {"[[rule]]\ngroup = \"default\"\ncontainer = 'docker://abc'\n",
     "p.toml:3:13: error: 'docker://abc' can never match: it is the ID of a container; 'container' "
     "is its name\n"
     "    3 | container = 'docker://abc'\n"
     "      |             ^~~~~~~~~~~~~~ 'docker ps' or 'crictl ps' shows the names\n"},
    {"[[rule]]\ngroup = \"default\"\ncontainer = 'containerd://x y'\n",
     "p.toml:3:13: error: 'containerd://x y' can never match: it is the ID of a container; "
     "'container' is its name\n"
     "    3 | container = 'containerd://x y'\n"
     "      |             ^~~~~~~~~~~~~~~~~~ 'docker ps' or 'crictl ps' shows the names\n"},
    {"[[rule]]\ngroup = \"default\"\nname = 'x'\nmonitor = '%u'\n",
     "p.toml:4:11: error: '%u' cannot be the name of a monitoring group\n"
     "    4 | monitor = '%u'\n"
     "      |           ^~~~ write monitor = \"{user}\"\n"},
    {"[[rule]]\ngroup = \"default\"\nname = 'x'\nmonitor = '{uid}'\n",
     "p.toml:4:11: error: '{uid}' cannot be the name of monitoring groups: the values are {unit}, "
     "{user} and {pod}\n"
     "    4 | monitor = '{uid}'\n"
     "      |           ^~~~~~~ write monitor = \"{user}\"\n"},
    {"[[rule]]\ngroup = \"default\"\n",
     "p.toml:1:1: error: a rule needs a condition\n"
     "    1 | [[rule]]\n"
     "      | ^~~~~~~~ for example unit = \"NAME.service\" or name = \"NAME\"\n"},
};

TEST(PolicyCures, Findings) { expect_errors(rows); }

}  // namespace
}  // namespace rdtd::policy_cures
