// Guesses that one cure must put right: its text is accepted as it stands. With the whole texts.
#include "policy_support.hpp"

namespace rdtd::policy_one_cure {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors guesses_and_texts[] = {
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[groups.b]\n"
     "l3 = \"4 ways\"\n",
     "p.toml:3:2: error: unknown key 'groups' in a policy\n"
     "    3 | [groups.b]\n"
     "      |  ^~~~~~ write [group.b]\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[groups]]\n"
     "name = \"b\"\n"
     "l3 = \"4 ways\"\n",
     "p.toml:3:3: error: unknown key 'groups' in a policy\n"
     "    3 | [[groups]]\n"
     "      |   ^~~~~~ write [group.b], without the line of 'name'\n"},
    {"[[groups]]\n"
     "name = \"a\"\n"
     "l3 = \"4 ways\"\n",
     "p.toml:1:3: error: unknown key 'groups' in a policy\n"
     "    1 | [[groups]]\n"
     "      |   ^~~~~~ write [group.a], without the line of 'name'\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "name = \"x\"\n"
     "[rule.web]\n"
     "group = \"a\"\n"
     "name = \"y\"\n",
     "p.toml:6:7: error: unknown key 'web' in [[rule]]\n"
     "    6 | [rule.web]\n"
     "      |       ^~~ write [[rule]]\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[group]]\n"
     "name = \"b\"\n"
     "l3 = \"4 ways\"\n",
     "p.toml:3:1: error: [[group]] is defined twice: here and in p.toml:1\n"
     "    3 | [[group]]\n"
     "      | ^~~~~~~~~ write [group.b], without the line of 'name'\n"},
    {"[partitions.exclusive]\n"
     "l3 = \"4 ways\"\n"
     "[partitions.shared]\n"
     "l3 = \"4 ways\"\n"
     "[partitions.shared.classes.BestEffort]\n"
     "l3 = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'partitions' in a policy\n"
     "    1 | [partitions.exclusive]\n"
     "      |  ^~~~~~~~~~ write [partition.exclusive]\n"},
    {"[pseudo_lock.hot]\n"
     "l3 = \"2 ways\"\n"
     "size = \"8 MiB\"\n",
     "p.toml:3:1: error: unknown key 'size' in [pseudo_lock.hot]\n"
     "    3 | size = \"8 MiB\"\n"
     "      | ^~~~ remove this line: 'l3' has the size\n"},
    {"[io]\n"
     "io_alloc = true\n",
     "p.toml:2:1: error: unknown key 'io_alloc' in [io]\n"
     "    2 | io_alloc = true\n"
     "      | ^~~~~~~~ remove this line: [io] with l3 is for I/O devices already\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "vm = \"qemu:///system/db01\"\n",
     "p.toml:5:6: error: 'qemu:///system/db01' can never match: it is the name alone\n"
     "    5 | vm = \"qemu:///system/db01\"\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~ write \"db01\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "name = \"[rsync, cp]\"\n",
     "p.toml:5:8: warning: '[rsync, cp]' may not match what it was meant for: one pattern is one "
     "glob, and an array holds several\n"
     "    5 | name = \"[rsync, cp]\"\n"
     "      |        ^~~~~~~~~~~~~ write [\"rsync\", \"cp\"]\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "name = '[\"rsync\", \"cp\"]'\n",
     "p.toml:5:8: error: '[\"rsync\", \"cp\"]' can never match: one pattern is one glob, and an "
     "array holds several\n"
     "    5 | name = '[\"rsync\", \"cp\"]'\n"
     "      |        ^~~~~~~~~~~~~~~~~ write [\"rsync\", \"cp\"]\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "namespace = \"a*\"\n",
     "p.toml:5:1: error: unknown key 'namespace' in [[rule]]\n"
     "    5 | namespace = \"a*\"\n"
     "      | ^~~~~~~~~ write pod = \"a*/*\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "namespace = [\"a\", \"b\"]\n",
     "p.toml:5:1: error: unknown key 'namespace' in [[rule]]\n"
     "    5 | namespace = [\"a\", \"b\"]\n"
     "      | ^~~~~~~~~ write pod = [\"a/*\", \"b/*\"]\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "namespace = \"prod\"\n"
     "deployment = \"web\"\n",
     "p.toml:5:1: error: unknown key 'namespace' in [[rule]]\n"
     "    5 | namespace = \"prod\"\n"
     "      | ^~~~~~~~~ write pod = \"prod/web*\" in place of both\n"
     "p.toml:6:1: error: unknown key 'deployment' in [[rule]]\n"
     "    6 | deployment = \"web\"\n"
     "      | ^~~~~~~~~~ write pod = \"prod/web*\" in place of both\n"},
    {"[group.a]\n"
     "mb = \"10\"\n",
     "p.toml:2:6: error: '10' is not a bandwidth\n"
     "    2 | mb = \"10\"\n"
     "      |      ^~~~ write \"10%\"; on AMD's processors, 10 is \"1.25 GB/s\"\n"},
    {"[group.a]\n"
     "mb = \"half\"\n",
     "p.toml:2:6: error: 'half' is not a bandwidth\n"
     "    2 | mb = \"half\"\n"
     "      |      ^~~~~~ write \"50%\"; AMD's processors take a rate, such as \"8 GB/s\"\n"},
    {"[group.a]\n"
     "mb = \"1/4\"\n",
     "p.toml:2:6: error: '1/4' is not a bandwidth\n"
     "    2 | mb = \"1/4\"\n"
     "      |      ^~~~~ write \"25%\"; AMD's processors take a rate, such as \"8 GB/s\"\n"},
    {"[group.a]\n"
     "mb = 0.5\n",
     "p.toml:2:6: error: 'mb' must be a string or a table that maps domains to amounts, not a "
     "float\n"
     "    2 | mb = 0.5\n"
     "      |      ^~~ write \"50%\"; AMD's processors take a rate, such as \"8 GB/s\"\n"},
    {"[group.a]\n"
     "mb = true\n",
     "p.toml:2:6: error: 'mb' must be a string or a table that maps domains to amounts, not a "
     "boolean\n"
     "    2 | mb = true\n"
     "      |      ^~~~ write \"50%\"; AMD's processors take a rate, such as \"8 GB/s\"\n"},
    {"rule \"web\" {\n",
     "p.toml:1:6: error: '=' is missing after the key 'rule'\n"
     "    1 | rule \"web\" {\n"
     "      |      ^ write [[rule]]\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "}\n",
     "p.toml:3:1: error: unexpected '}'; a key must stand here\n"
     "    3 | }\n"
     "      | ^ remove this line: a table ends where the next one begins\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "binary = \"steam\"\n",
     "p.toml:5:1: error: unknown key 'binary' in [[rule]]\n"
     "    5 | binary = \"steam\"\n"
     "      | ^~~~~~ did you mean 'name'?\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "program = \"/usr/bin/steam\"\n",
     "p.toml:5:1: error: unknown key 'program' in [[rule]]\n"
     "    5 | program = \"/usr/bin/steam\"\n"
     "      | ^~~~~~~ did you mean 'exe'?\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "command = \"pg_dump -Fc\"\n",
     "p.toml:5:1: error: unknown key 'command' in [[rule]]\n"
     "    5 | command = \"pg_dump -Fc\"\n"
     "      | ^~~~~~~ did you mean 'cmdline'?\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "kthread = true\n",
     "p.toml:5:1: error: unknown key 'kthread' in [[rule]]\n"
     "    5 | kthread = true\n"
     "      | ^~~~~~~ a kernel thread has a name: write name = \"kworker*\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "monitor_only = true\n",
     "p.toml:3:1: error: unknown key 'monitor_only' in [group.a]\n"
     "    3 | monitor_only = true\n"
     "      | ^~~~~~~~~~~~ write monitor = \"NAME\" in a [[rule]], or monitor_cpus = { NAME = "
     "\"0-3\" } in a group\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "parent = \"b\"\n",
     "p.toml:3:1: error: unknown key 'parent' in [group.a]\n"
     "    3 | parent = \"b\"\n"
     "      | ^~~~~~ a group has all its amounts: there is no inheritance and no template\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "copy = \"b\"\n"
     "exclusive_of = \"c\"\n",
     "p.toml:3:1: error: unknown key 'copy' in [group.a]\n"
     "    3 | copy = \"b\"\n"
     "      | ^~~~ a group has all its amounts: there is no inheritance and no template\n"
     "p.toml:4:1: error: unknown key 'exclusive_of' in [group.a]\n"
     "    4 | exclusive_of = \"c\"\n"
     "      | ^~~~~~~~~~~~ a group is exclusive to all others: write exclusive = true\n"},
    {"[observer]\n"
     "keep = \"7 days\"\n",
     "p.toml:2:1: error: unknown key 'keep' in [observer]\n"
     "    2 | keep = \"7 days\"\n"
     "      | ^~~~ the history has a size, and not a time: write record = \"64 MiB\"\n"},
    {"[observer]\n"
     "retention = \"7 GiB\"\n",
     "p.toml:2:1: error: unknown key 'retention' in [observer]\n"
     "    2 | retention = \"7 GiB\"\n"
     "      | ^~~~~~~~~ did you mean 'record'?\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "groups = [\"a\"]\n"
     "name = \"x\"\n",
     "p.toml:4:1: error: unknown key 'groups' in [[rule]]\n"
     "    4 | groups = [\"a\"]\n"
     "      | ^~~~~~ write group = \"a\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "class = \"a\"\n"
     "name = \"x\"\n",
     "p.toml:4:1: error: unknown key 'class' in [[rule]]\n"
     "    4 | class = \"a\"\n"
     "      | ^~~~~ did you mean 'group'?\n"},
    {"[group]\n"
     "L3 = \"8 ways\"\n",
     "p.toml:2:1: error: the name of the group is missing: 'L3' is in [group]\n"
     "    2 | L3 = \"8 ways\"\n"
     "      | ^~ write [group.NAME] instead of [group]\n"},
    {"[group]\n"
     "Name = \"x\"\n"
     "l3 = \"8 ways\"\n",
     "p.toml:2:1: error: the name of the group belongs in its header\n"
     "    2 | Name = \"x\"\n"
     "      | ^~~~ write [group.x]\n"
     "p.toml:3:1: error: the name of the group is missing: 'l3' is in [group]\n"
     "    3 | l3 = \"8 ways\"\n"
     "      | ^~ write [group.NAME] instead of [group]\n"},
    {"[group]\n"
     "Exclusive = true\n",
     "p.toml:2:1: error: the name of the group is missing: 'Exclusive' is in [group]\n"
     "    2 | Exclusive = true\n"
     "      | ^~~~~~~~~ write [group.NAME] instead of [group]\n"},
    {"[group.a]\n"
     "program = \"/usr/bin/steam\"\n",
     "p.toml:2:1: error: unknown key 'program' in [group.a]\n"
     "    2 | program = \"/usr/bin/steam\"\n"
     "      | ^~~~~~~ write [[rule]] with group = \"a\" and exe = \"/usr/bin/steam\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "unit.value = \"x\"\n",
     "p.toml:5:1: error: 'unit' must be a string or an array of strings, not a table\n"
     "    5 | unit.value = \"x\"\n"
     "      | ^~~~ write unit = \"x\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "thread = \"[rsync,cp]\"\n",
     "p.toml:5:10: warning: '[rsync,cp]' may not match what it was meant for: one pattern is one "
     "glob, and an array holds several\n"
     "    5 | thread = \"[rsync,cp]\"\n"
     "      |          ^~~~~~~~~~~~ write [\"rsync\", \"cp\"]\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "vm = [\"qemu:///system\", \"qemu:///session\", \"a://\", \"xen:///x/*\"]\n",
     "p.toml:5:7: error: 'qemu:///system' can never match: it is the name alone\n"
     "    5 | vm = [\"qemu:///system\", \"qemu:///session\", \"a://\", \"xen:///x/*\"]\n"
     "      |       ^~~~~~~~~~~~~~~~\n"
     "p.toml:5:25: error: 'qemu:///session' can never match: it is the name alone\n"
     "    5 | vm = [\"qemu:///system\", \"qemu:///session\", \"a://\", \"xen:///x/*\"]\n"
     "      |                         ^~~~~~~~~~~~~~~~~\n"
     "p.toml:5:44: error: 'a://' can never match: it is the name alone\n"
     "    5 | vm = [\"qemu:///system\", \"qemu:///session\", \"a://\", \"xen:///x/*\"]\n"
     "      |                                            ^~~~~~\n"
     "p.toml:5:52: error: 'xen:///x/*' can never match: it is the name alone\n"
     "    5 | vm = [\"qemu:///system\", \"qemu:///session\", \"a://\", \"xen:///x/*\"]\n"
     "      |                                                    ^~~~~~~~~~~~\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "vm = \"qemu:///system?x=/a\"\n",
     "p.toml:5:6: error: 'qemu:///system?x=/a' can never match: it is the name alone\n"
     "    5 | vm = \"qemu:///system?x=/a\"\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~\n"},
};

TEST(PolicyOneCure, Findings) { expect_errors(guesses_and_texts); }

}  // namespace
}  // namespace rdtd::policy_one_cure
