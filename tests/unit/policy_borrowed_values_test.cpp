// Amounts and rules that users bring from other languages and tools, in their words. With the whole
// texts.
#include "policy_support.hpp"

namespace rdtd::policy_borrowed_values {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors values[] = {
    {"[group.a]\nl3 = 4-7\n",
     "p.toml:2:6: error: '4-7' is not in quotes\n"
     "    2 | l3 = 4-7\n"
     "      |      ^~~ write \"ways 4-7\"\n"},
    {"[group.a]\nl3 = 6MB\n",
     "p.toml:2:6: error: '6MB' is not in quotes\n"
     "    2 | l3 = 6MB\n"
     "      |      ^~~ write \"6 MiB\"\n"},
    {"[group.a]\nmb = 1GB\n",
     "p.toml:2:6: error: '1GB' is not in quotes\n"
     "    2 | mb = 1GB\n"
     "      |      ^~~ write \"1 GB/s\"\n"},
    {"[group.a]\nl3 = 25%\n",
     "p.toml:2:6: error: '25%' is not in quotes\n"
     "    2 | l3 = 25%\n"
     "      |      ^~~ quote it: \"25%\"\n"},
    {"[group.a]\nl3 = «4 ways»\n",
     "p.toml:2:6: error: '«4 ways»' is not in quotes\n"
     "    2 | l3 = «4 ways»\n"
     "      |      ^~~~~~~~ quote it: \"4 ways\"\n"},
    {"[group.a]\nl3 = &quot;4 ways&quot;\n",
     "p.toml:2:6: error: '&quot;4 ways&quot;' is not in quotes\n"
     "    2 | l3 = &quot;4 ways&quot;\n"
     "      |      ^~~~~~~~~~~~~~~~~~ quote it: \"4 ways\"\n"},
    {"[group.a]\nl3 = (\"4 ways\")\n",
     "p.toml:2:6: error: '(\"4 ways\")' is not in quotes\n"
     "    2 | l3 = (\"4 ways\")\n"
     "      |      ^~~~~~~~~~ write \"4 ways\"\n"},
    {"[[rule]]\nuser = 1000-2000\n",
     "p.toml:2:8: error: '1000-2000' is not in quotes\n"
     "    2 | user = 1000-2000\n"
     "      |        ^~~~~~~~~ there are no ranges of numbers: list them, or use user_group or "
     "unit\n"},
    {"[[rule]]\nname = \"tar\", \"gzip\"\n",
     "p.toml:2:13: error: unexpected ', \"gzip\"' after the value\n"
     "    2 | name = \"tar\", \"gzip\"\n"
     "      |             ^~~~~~~~ write [\"tar\", \"gzip\"]\n"},
    {"[[rule]]\nname = \"tar\" or \"gzip\"\n",
     "p.toml:2:14: error: unexpected 'or \"gzip\"' after the value\n"
     "    2 | name = \"tar\" or \"gzip\"\n"
     "      |              ^~~~~~~~~ write [\"tar\", \"gzip\"]\n"},
    {"[[rule]]\nname =~ \"redis\"\n",
     "p.toml:2:7: error: '~' is not a value: one '=' is enough\n"
     "    2 | name =~ \"redis\"\n"
     "      |       ^ a pattern is a glob\n"},
    {"[[rule]]\n!name = \"redis\"\n",
     "p.toml:2:1: error: '!' is not allowed in a key without quotes\n"
     "    2 | !name = \"redis\"\n"
     "      | ^ to leave processes alone, write group = \"leave\" in an earlier rule\n"},
    {"[[rule]]\nnot name = \"redis\"\n",
     "p.toml:2:5: error: '=' is missing after the key 'not'\n"
     "    2 | not name = \"redis\"\n"
     "      |     ^ to leave processes alone, write group = \"leave\" in an earlier rule\n"},
    {"[[rule]]\nname like \"mysql%\"\n",
     "p.toml:2:6: error: '=' is missing after the key 'name'\n"
     "    2 | name like \"mysql%\"\n"
     "      |      ^ write name = ...; a pattern is a glob\n"},
    {"[group.a]\nset l3 = \"4 ways\"\n",
     "p.toml:2:5: error: '=' is missing after the key 'set'\n"
     "    2 | set l3 = \"4 ways\"\n"
     "      |     ^ write l3 = \"4 ways\"\n"},
    {"[group.a]\n- l3 = \"4 ways\"\n",
     "p.toml:2:3: error: '=' is missing after the key '-'\n"
     "    2 | - l3 = \"4 ways\"\n"
     "      |   ^ write l3 = \"4 ways\"\n"},
    {"[group.a]\n* l3 = \"4 ways\"\n",
     "p.toml:2:1: error: '*' is not allowed in a key without quotes\n"
     "    2 | * l3 = \"4 ways\"\n"
     "      | ^ write l3 = ...\n"},
    {"[group.a]\nl3 += \"4 ways\"\n",
     "p.toml:2:4: error: '=' is missing after the key 'l3'\n"
     "    2 | l3 += \"4 ways\"\n"
     "      |    ^ write l3 = ...\n"},
    {"[group.a]\nl3 = \"4 ways\", mb = \"10%\"\n",
     "p.toml:2:14: error: unexpected ', mb = \"10%\"' after the value\n"
     "    2 | l3 = \"4 ways\", mb = \"10%\"\n"
     "      |              ^~~~~~~~~~~~ a line has one key: write the next in a line of its own\n"},
    {"[group.a] l3 = \"4 ways\"\n",
     "p.toml:1:11: error: unexpected 'l3 = \"4 ways\"' after ']'\n"
     "    1 | [group.a] l3 = \"4 ways\"\n"
     "      |           ^~~~~~~~~~~~~ a line has one key: write the next in a line of its own\n"},
    {"[group.a]\nl3 = \"2..4\"\n",
     "p.toml:2:6: error: '2..4' is not a range: '2' is not a cache amount\n"
     "    2 | l3 = \"2..4\"\n"
     "      |      ^~~~~~ write \"2..4 ways\"\n"},
    {"[group.a]\nmb = \"10..50\"\n",
     "p.toml:2:6: error: '10..50' is not a range: '10' is not a bandwidth\n"
     "    2 | mb = \"10..50\"\n"
     "      |      ^~~~~~~~ write \"10..50%\"\n"},
    {"[group.a]\nmb = \"at most 50%\"\n",
     "p.toml:2:6: error: 'at most 50%' is not a percentage\n"
     "    2 | mb = \"at most 50%\"\n"
     "      |      ^~~~~~~~~~~~~ write \"50%\"\n"},
    {"[group.a]\nl3 = \"<= 4 ways\"\n",
     "p.toml:2:6: error: '<= 4 ways' is not a cache amount\n"
     "    2 | l3 = \"<= 4 ways\"\n"
     "      |      ^~~~~~~~~~~ write \"4 ways\"\n"},
    {"[group.a]\nl3 = \"50,5%\"\n",
     "p.toml:2:6: error: '50,5%' is not a percentage\n"
     "    2 | l3 = \"50,5%\"\n"
     "      |      ^~~~~~~ write \"50.5%\"\n"},
    {"[group.a]\nmb = \"1,5 GB/s\"\n",
     "p.toml:2:6: error: '1,5 GB/s' is not a bandwidth\n"
     "    2 | mb = \"1,5 GB/s\"\n"
     "      |      ^~~~~~~~~~ write \"1.5 GB/s\"\n"},
    {"[group.a]\nl3 = { size = \"4 MiB\" }\n",
     "p.toml:2:8: error: 'size' is not a list of domains: 'size' is not a number\n"
     "    2 | l3 = { size = \"4 MiB\" }\n"
     "      |        ^~~~ write l3 = \"4 MiB\"\n"},
    {"[group.a]\nl3 = { ways = 6 }\n",
     "p.toml:2:8: error: 'ways' is not a list of domains: 'ways' is not a number\n"
     "    2 | l3 = { ways = 6 }\n"
     "      |        ^~~~ write l3 = \"6 ways\"\n"},
    {"[group.a]\nl3 = { ways = \"4-7\" }\n",
     "p.toml:2:8: error: 'ways' is not a list of domains: 'ways' is not a number\n"
     "    2 | l3 = { ways = \"4-7\" }\n"
     "      |        ^~~~ write l3 = \"ways 4-7\"\n"},
    {"[group.a]\nl3 = { unified = \"50%\" }\n",
     "p.toml:2:8: error: 'unified' is not a list of domains: 'unified' is not a number\n"
     "    2 | l3 = { unified = \"50%\" }\n"
     "      |        ^~~~~~~ write l3 = \"50%\"\n"},
    {"[group.a]\nl3 = { code = \"25%\" }\n",
     "p.toml:2:8: error: 'code' is not a list of domains: 'code' is not a number\n"
     "    2 | l3 = { code = \"25%\" }\n"
     "      |        ^~~~ write l3code = \"25%\"\n"},
    {"[group.a]\ncpus = 0xf\n",
     "p.toml:2:8: error: 'cpus' takes the numbers of CPUs, not 0xf\n"
     "    2 | cpus = 0xf\n"
     "      |        ^~~ write \"0-3\"\n"},
    {"[group.a]\ncpus = [0x1, 2]\n",
     "p.toml:2:9: error: 'cpus' takes the numbers of CPUs, not 0x1\n"
     "    2 | cpus = [0x1, 2]\n"
     "      |         ^~~\n"},
    {"[batch]\ncache = \"10%\"\nbandwidth = \"10%\"\n",
     "p.toml:1:2: error: unknown key 'batch' in a policy\n"
     "    1 | [batch]\n"
     "      |  ^~~~~ write [group.batch]\n"},
    {"[group.a]\ncmd = \"nightly\"\n",
     "p.toml:2:1: error: unknown key 'cmd' in [group.a]\n"
     "    2 | cmd = \"nightly\"\n"
     "      | ^~~ write [[rule]] with group = \"a\" and cmdline = \"nightly\"\n"},
};

TEST(PolicyBorrowedValues, Values) { expect_errors(values); }

constexpr PolicyAndErrors rules[] = {
    {"[[rule]]\ngroup = \"default\"\nunit = \"system.slice\"\n[[rule]]\ngroup = \"leave\"\nunit = "
     "\"nginx.service\"\n",
     "p.toml:4:1: warning: this rule probably never decides: most services are in system.slice, "
     "and the rule at p.toml:1 comes first\n"
     "    4 | [[rule]]\n"
     "      | ^~~~~~~~ move it before the other\n"},
    {"[[rule]]\ngroup = \"default\"\ncgroup = \"/system.slice\"\n[[rule]]\ngroup = \"leave\"\nunit "
     "= [\"nginx\", \"redis\"]\nuser = 33\n",
     "p.toml:4:1: warning: this rule probably never decides: most services are in system.slice, "
     "and the rule at p.toml:1 comes first\n"
     "    4 | [[rule]]\n"
     "      | ^~~~~~~~ move it before the other\n"},
    {"[[rule]]\ngroup = \"default\"\ncgroup = \"/system.slice/*\"\n[[rule]]\ngroup = "
     "\"leave\"\nunit = \"nginx\"\n",
     "p.toml:4:1: warning: this rule probably never decides: most services are in system.slice, "
     "and the rule at p.toml:1 comes first\n"
     "    4 | [[rule]]\n"
     "      | ^~~~~~~~ move it before the other\n"},
    {"[[rule]]\ngroup = \"default\"\nunit = \"machine.slice\"\n[[rule]]\ngroup = \"leave\"\nvm = "
     "\"web\"\n",
     "p.toml:4:1: warning: this rule probably never decides: most virtual machines are in "
     "machine.slice, and the rule at p.toml:1 comes first\n"
     "    4 | [[rule]]\n"
     "      | ^~~~~~~~ move it before the other\n"},
    {"[[rule]]\ngroup = \"default\"\ncgroup = \"/kubepods.slice\"\n[[rule]]\ngroup = "
     "\"leave\"\npod = \"shop/*\"\n",
     "p.toml:4:1: warning: this rule probably never decides: most pods are in kubepods.slice, and "
     "the rule at p.toml:1 comes first\n"
     "    4 | [[rule]]\n"
     "      | ^~~~~~~~ move it before the other\n"},
    {"[[rule]]\ngroup = \"default\"\nunit = \"user.slice\"\n[[rule]]\ngroup = "
     "\"leave\"\nuser_unit = \"redis\"\n",
     "p.toml:4:1: warning: this rule probably never decides: most units of users' managers are in "
     "user.slice, and the rule at p.toml:1 comes first\n"
     "    4 | [[rule]]\n"
     "      | ^~~~~~~~ move it before the other\n"},
    {"[[rule]]\ngroup = \"default\"\nunit = \"machine.slice\"\n[[rule]]\ngroup = \"leave\"\npod = "
     "\"shop/*\"\n",
     ""},
    {"[[rule]]\ngroup = \"default\"\nunit = \"system.slice\"\nuser = 0\n[[rule]]\ngroup = "
     "\"leave\"\nunit = \"nginx.service\"\n",
     ""},
    {"[[rule]]\ngroup = \"default\"\nunit = \"system.slice\"\n[[rule]]\ngroup = \"leave\"\nunit = "
     "\"user@1000.service\"\n",
     ""},
    {"[[rule]]\ngroup = \"default\"\nunit = \"firefox.service\"\nuser_unit = \"firefox.service\"\n",
     "p.toml:3:8: warning: 'unit' and 'user_unit' match no process together: the units of users "
     "are in user@UID.service\n"
     "    3 | unit = \"firefox.service\"\n"
     "      |        ^~~~~~~~~~~~~~~~~ all conditions of a rule must hold: write two rules\n"},
    {"[[rule]]\ngroup = \"default\"\nunit = \"k3s.service\"\npod = \"*/*\"\n", ""},
    {"[[rule]]\ngroup = \"default\"\nvm = \"web\"\npod = \"*/virt-launcher-web-*\"\n",
     "p.toml:3:6: warning: 'vm' and 'pod' match no process together: 'vm' is a machine of libvirt "
     "or Proxmox VE, outside of containers\n"
     "    3 | vm = \"web\"\n"
     "      |      ^~~~~ a machine of KubeVirt is the pod virt-launcher-NAME-*\n"},
    {"[[rule]]\ngroup = \"default\"\nunit = \"docker.service\"\ncontainer = \"web\"\n",
     "p.toml:3:8: warning: 'unit' and 'container' match no process together: containers with a "
     "name are in scopes of their own\n"
     "    3 | unit = \"docker.service\"\n"
     "      |        ^~~~~~~~~~~~~~~~ all conditions of a rule must hold: write two rules\n"},
    {"[[rule]]\ngroup = \"default\"\nunit = \"user@1000.service\"\nuser_unit = "
     "\"firefox.service\"\n",
     ""},
    {"[[rule]]\ngroup = \"default\"\nunit = \"kubepods-burstable.slice\"\npod = \"shop/*\"\n", ""},
};

TEST(PolicyBorrowedValues, Rules) { expect_errors(rules); }

}  // namespace
}  // namespace rdtd::policy_borrowed_values
