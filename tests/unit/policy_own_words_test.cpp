// What to write instead of a slip, in the user's own names and numbers wherever the text has them:
// who copies a cure that says NAME, or other numbers, gets the next error. With the whole texts.
#include "policy_support.hpp"

namespace rdtd::policy_own_words {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors own_words[] = {
    {"[daemon]\nreaders = \"nobody\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not 'nobody'\n"
     "    2 | readers = \"nobody\"\n"
     "      |           ^~~~~~~~ did you mean 'group'?\n"},
    {"[daemon]\nreaders = [\"nobody\"]\n",
     "p.toml:2:11: error: 'readers' must be a string, not an array\n"
     "    2 | readers = [\"nobody\"]\n"
     "      |           ^~~~~~~~~~ write readers = \"group\"\n"},
    {"[daemon]\nreaders = [\"all\"]\n",
     "p.toml:2:11: error: 'readers' must be a string, not an array\n"
     "    2 | readers = [\"all\"]\n"
     "      |           ^~~~~~~ write readers = \"all\"\n"},
    {"[daemon]\nreaders = \"off\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not 'off'\n"
     "    2 | readers = \"off\"\n"
     "      |           ^~~~~ did you mean 'group'?\n"},
    {"[daemon]\nreaders = false\n",
     "p.toml:2:11: error: 'readers' must be a string, not a boolean\n"
     "    2 | readers = false\n"
     "      |           ^~~~~ write \"group\"\n"},
    {"[daemon]\nreaders = \"alice\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not 'alice'\n"
     "    2 | readers = \"alice\"\n"
     "      |           ^~~~~~~ write readers = \"group\" and add alice to the user group rdtd\n"},
    {"[defaults]\nl3 = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'defaults' in a policy\n"
     "    1 | [defaults]\n"
     "      |  ^~~~~~~~ a group has all its amounts: there is no template; [group.default] is for "
     "all "
     "the rest\n"},
    {"[group.redis]\nredis.l3 = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'redis' in [group.redis]\n"
     "    2 | redis.l3 = \"4 ways\"\n"
     "      | ^~~~~ write l3 = \"4 ways\"\n"},
    {"[group.redis]\ngroup.l3 = \"4 ways\"\ngroup.mb = \"50%\"\n",
     "p.toml:2:1: error: unknown key 'group' in [group.redis]\n"
     "    2 | group.l3 = \"4 ways\"\n"
     "      | ^~~~~ write l3 = \"4 ways\" and mb = \"50%\" in [group.redis]\n"},
    {"[partition.p]\npartition.l3 = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'partition' in [partition.p]\n"
     "    2 | partition.l3 = \"4 ways\"\n"
     "      | ^~~~~~~~~ write l3 = \"4 ways\"\n"},
    {"[daemon]\ndaemon.drift = \"restore\"\n",
     "p.toml:2:1: error: unknown key 'daemon' in [daemon]\n"
     "    2 | daemon.drift = \"restore\"\n"
     "      | ^~~~~~ write drift = \"restore\"\n"},
    {"[group.redis]\n[group.redis.redis]\nl3 = \"4 ways\"\n",
     "p.toml:2:14: error: unknown key 'redis' in [group.redis]\n"
     "    2 | [group.redis.redis]\n"
     "      |              ^~~~~ write l3 = \"4 ways\" in [group.redis]\n"},
    {"[group.redis]\nl3 = \"4 ways\"\nredis.l3 = \"4 ways\"\n",
     "p.toml:3:1: error: unknown key 'redis' in [group.redis]\n"
     "    3 | redis.l3 = \"4 ways\"\n"
     "      | ^~~~~ [group.redis] has 'l3' already: remove this line\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"group.default\"\nname = \"x\"\n",
     "p.toml:3:9: error: unknown group 'group.default'\n"
     "    3 | group = \"group.default\"\n"
     "      |         ^~~~~~~~~~~~~~~ write \"default\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"group.web\"\nname = \"x\"\n",
     "p.toml:3:9: error: unknown group 'group.web'\n"
     "    3 | group = \"group.web\"\n"
     "      |         ^~~~~~~~~~~ write \"web\", and add [group.web]\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"[group.redis]\"\nname = \"x\"\n",
     "p.toml:3:9: error: unknown group '[group.redis]'\n"
     "    3 | group = \"[group.redis]\"\n"
     "      |         ^~~~~~~~~~~~~~~ write \"redis\"\n"},
    {"[group.redis]\npartition = \"partition.p\"\n",
     "p.toml:2:13: error: unknown partition 'partition.p'\n"
     "    2 | partition = \"partition.p\"\n"
     "      |             ^~~~~~~~~~~~~ write \"p\", and add [partition.p]\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nexe = \"~/bin/java\"\n",
     "p.toml:4:7: error: '~/bin/java' can never match: an executable's path begins with '/'\n"
     "    4 | exe = \"~/bin/java\"\n"
     "      |       ^~~~~~~~~~~~ write \"/home/*/bin/java\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nexe = \"./java\"\n",
     "p.toml:4:7: error: './java' can never match: an executable's path begins with '/'\n"
     "    4 | exe = \"./java\"\n"
     "      |       ^~~~~~~~ write the full path\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nexe = \"~tom/bin/java\"\n",
     "p.toml:4:7: error: '~tom/bin/java' can never match: an executable's path begins with '/'\n"
     "    4 | exe = \"~tom/bin/java\"\n"
     "      |       ^~~~~~~~~~~~~~~ write the full path\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nexe = \"$HOME/bin/java\"\n",
     "p.toml:4:7: error: '$HOME/bin/java' can never match: an executable's path "
     "begins with '/'\n"
     "    4 | exe = \"$HOME/bin/java\"\n"
     "      |       ^~~~~~~~~~~~~~~~ write \"/home/*/bin/java\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nexe = \"bin/java\"\n",
     "p.toml:4:7: error: 'bin/java' can never match: an executable's path begins with '/'\n"
     "    4 | exe = \"bin/java\"\n"
     "      |       ^~~~~~~~~~ write \"**/bin/java\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nnamespace = \"shop\"\n",
     "p.toml:4:1: error: unknown key 'namespace' in [[rule]]\n"
     "    4 | namespace = \"shop\"\n"
     "      | ^~~~~~~~~ write pod = \"shop/*\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nnamespace = \"shop\"\npod = \"web-*\"\n",
     "p.toml:4:1: error: unknown key 'namespace' in [[rule]]\n"
     "    4 | namespace = \"shop\"\n"
     "      | ^~~~~~~~~ write pod = \"shop/web-*\" in place of both\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\ndeployment = \"web\"\n",
     "p.toml:4:1: error: unknown key 'deployment' in [[rule]]\n"
     "    4 | deployment = \"web\"\n"
     "      | ^~~~~~~~~~ rules know pods by name only: write pod = \"NAMESPACE/web*\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\ncontainer_id = \"abc123\"\n",
     "p.toml:4:1: error: unknown key 'container_id' in [[rule]]\n"
     "    4 | container_id = \"abc123\"\n"
     "      | ^~~~~~~~~~~~ write cgroup = \"**/*abc123*\", or container = \"NAME\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\ncompose_service = \"web\"\n",
     "p.toml:4:1: error: unknown key 'compose_service' in [[rule]]\n"
     "    4 | compose_service = \"web\"\n"
     "      | ^~~~~~~~~~~~~~~ write container = \"*web*\"\n"},
    {"[group.redis]\nmb = { min = \"20%\", max = \"70%\" }\n",
     "p.toml:2:8: error: 'min' is not a list of domains: 'min' is not a number\n"
     "    2 | mb = { min = \"20%\", max = \"70%\" }\n"
     "      |        ^~~ write a range: mb = \"20%..70%\"\n"
     "p.toml:2:21: error: 'max' is not a list of domains: 'max' is not a number\n"
     "    2 | mb = { min = \"20%\", max = \"70%\" }\n"
     "      |                     ^~~ write a range: mb = \"20%..70%\"\n"},
    {"[group.redis]\nl3 = { min = \"5 ways\", max = \"9 ways\" }\n",
     "p.toml:2:8: error: 'min' is not a list of domains: 'min' is not a number\n"
     "    2 | l3 = { min = \"5 ways\", max = \"9 ways\" }\n"
     "      |        ^~~ write a range: l3 = \"5..9 ways\"\n"
     "p.toml:2:24: error: 'max' is not a list of domains: 'max' is not a number\n"
     "    2 | l3 = { min = \"5 ways\", max = \"9 ways\" }\n"
     "      |                        ^~~ write a range: l3 = \"5..9 ways\"\n"},
    {"[group.redis]\nl3 = { min = 2, max = 4 }\n",
     "p.toml:2:8: error: 'min' is not a list of domains: 'min' is not a number\n"
     "    2 | l3 = { min = 2, max = 4 }\n"
     "      |        ^~~ write a range: l3 = \"2..4 ways\"\n"
     "p.toml:2:17: error: 'max' is not a list of domains: 'max' is not a number\n"
     "    2 | l3 = { min = 2, max = 4 }\n"
     "      |                 ^~~ write a range: l3 = \"2..4 ways\"\n"},
    {"[group.redis]\nmb = { min = 20, max = 70 }\n",
     "p.toml:2:8: error: 'min' is not a list of domains: 'min' is not a number\n"
     "    2 | mb = { min = 20, max = 70 }\n"
     "      |        ^~~ write a range: mb = \"20%..70%\"\n"
     "p.toml:2:18: error: 'max' is not a list of domains: 'max' is not a number\n"
     "    2 | mb = { min = 20, max = 70 }\n"
     "      |                  ^~~ write a range: mb = \"20%..70%\"\n"},
    {"[group.redis]\nl3 = { max = \"9 ways\" }\n",
     "p.toml:2:8: error: 'max' is not a list of domains: 'max' is not a number\n"
     "    2 | l3 = { max = \"9 ways\" }\n"
     "      |        ^~~ write l3 = \"9 ways\"\n"},
    {"[group.redis]\nl3 = { min = \"20%\" }\n",
     "p.toml:2:8: error: 'min' is not a list of domains: 'min' is not a number\n"
     "    2 | l3 = { min = \"20%\" }\n"
     "      |        ^~~ write l3 = \"20%\"; exclusive = true keeps others out\n"},
    {"[group.redis]\nmb = { max = \"8 GB/s\" }\n",
     "p.toml:2:8: error: 'max' is not a list of domains: 'max' is not a number\n"
     "    2 | mb = { max = \"8 GB/s\" }\n"
     "      |        ^~~ write mb = \"8 GB/s\"\n"},
    {"[group.redis]\nl3 = \"..3 ways\"\n",
     "p.toml:2:6: error: '..3 ways' is not a range: '' is not a cache amount\n"
     "    2 | l3 = \"..3 ways\"\n"
     "      |      ^~~~~~~~~~ write \"1..3 ways\"\n"},
    {"[group.redis]\nl3 = \"5 ways..\"\n",
     "p.toml:2:6: error: '5 ways..' is not a range: '' is not a cache amount\n"
     "    2 | l3 = \"5 ways..\"\n"
     "      |      ^~~~~~~~~~ write \"5 ways\"\n"},
    {"[group.redis]\nmb = \"..30%\"\n",
     "p.toml:2:6: error: '..30%' is not a range: '' is not a bandwidth\n"
     "    2 | mb = \"..30%\"\n"
     "      |      ^~~~~~~ write \"10%..30%\"\n"},
    {"[group.redis]\nmb = \"..5%\"\n",
     "p.toml:2:6: error: '..5%' is not a range: '' is not a bandwidth\n"
     "    2 | mb = \"..5%\"\n"
     "      |      ^~~~~~ write \"1%..5%\"\n"},
    {"[group.redis]\nmb = \"..8 GB/s\"\n",
     "p.toml:2:6: error: '..8 GB/s' is not a range: '' is not a bandwidth\n"
     "    2 | mb = \"..8 GB/s\"\n"
     "      |      ^~~~~~~~~~ write \"1 GB/s..8 GB/s\"\n"},
    {"[group.redis]\nmb = \"20%..\"\n",
     "p.toml:2:6: error: '20%..' is not a range: '' is not a bandwidth\n"
     "    2 | mb = \"20%..\"\n"
     "      |      ^~~~~~~ write \"20%..100%\"\n"},
    {"[group.redis]\nl3 = \"..2 MiB\"\n",
     "p.toml:2:6: error: '..2 MiB' is not a range: '' is not a cache amount\n"
     "    2 | l3 = \"..2 MiB\"\n"
     "      |      ^~~~~~~~~ write \"1 MiB..2 MiB\"\n"},
    {"[group.redis]\nl3 = \"0..3\"\n",
     "p.toml:2:6: error: '0..3' is not a range: '0' is no cache at all: the minimum is 1 way\n"
     "    2 | l3 = \"0..3\"\n"
     "      |      ^~~~~~ write \"ways 0-3\"\n"},
    {"[group.redis]\nl3 = \"0..3 ways\"\n",
     "p.toml:2:6: error: '0..3 ways' is not a range: '0 ways' is no cache at all: the "
     "minimum is 1 way\n"
     "    2 | l3 = \"0..3 ways\"\n"
     "      |      ^~~~~~~~~~~ write \"1..3 ways\"\n"},
    {"[group.redis]\nl3 = \"ways 0-3,6\"\n",
     "p.toml:2:6: error: 'ways 0-3,6' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways 0-3,6\"\n"
     "      |      ^~~~~~~~~~~~ write \"5 ways\"\n"},
    {"[group.redis]\n[group.redis.l3]\nways = 4\n",
     "p.toml:3:1: error: 'ways' is not a list of domains: 'ways' is not a number\n"
     "    3 | ways = 4\n"
     "      | ^~~~ write l3 = \"4 ways\" in the group's own table, in place of this one\n"},
    {"[[group]]\nname = \"redis\"\nl3 = \"4 ways\"\n",
     "p.toml:1:1: error: 'group' must be a table, not an array\n"
     "    1 | [[group]]\n"
     "      | ^~~~~~~~~ write [group.redis] in place of [[group]], without the line of 'name'\n"},
    {"[[group]]\nl3 = \"4 ways\"\n",
     "p.toml:1:1: error: 'group' must be a table, not an array\n"
     "    1 | [[group]]\n"
     "      | ^~~~~~~~~ write [group.NAME]\n"},
    {"[groups.redis]\nl3 = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'groups' in a policy\n"
     "    1 | [groups.redis]\n"
     "      |  ^~~~~~ write [group.redis]\n"},
    {"[class.redis]\nl3 = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'class' in a policy\n"
     "    1 | [class.redis]\n"
     "      |  ^~~~~ write [group.redis]\n"},
    {"[clos.a]\n[clos.b]\n",
     "p.toml:1:2: error: unknown key 'clos' in a policy\n"
     "    1 | [clos.a]\n"
     "      |  ^~~~ write [group.a]\n"},
    {"[partitions.a]\nl3 = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'partitions' in a policy\n"
     "    1 | [partitions.a]\n"
     "      |  ^~~~~~~~~~ write [partition.a]\n"},
    {"[pseudo_locks.a]\nl3 = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'pseudo_locks' in a policy\n"
     "    1 | [pseudo_locks.a]\n"
     "      |  ^~~~~~~~~~~~ write [pseudo_lock.a]\n"},
    {"[group.redis]\nl3 = \"4Mi\"\n",
     "p.toml:2:6: error: '4Mi' is not a cache amount\n"
     "    2 | l3 = \"4Mi\"\n"
     "      |      ^~~~~ write \"4 MiB\"\n"},
    {"[group.redis]\nl3 = \"1Gi\"\n",
     "p.toml:2:6: error: '1Gi' is not a cache amount\n"
     "    2 | l3 = \"1Gi\"\n"
     "      |      ^~~~~ write \"1 GiB\"\n"},
    {"[group.redis]\nl3 = \"512Ki\"\n",
     "p.toml:2:6: error: '512Ki' is not a cache amount\n"
     "    2 | l3 = \"512Ki\"\n"
     "      |      ^~~~~~~ write \"512 KiB\"\n"},
    {"[group.redis]\nmb = \"4Gi\"\n",
     "p.toml:2:6: error: '4Gi' is not a bandwidth\n"
     "    2 | mb = \"4Gi\"\n"
     "      |      ^~~~~ write \"4 GiB/s\"\n"},
    {"[group.redis]\nl3 = \"8 GB/s\"\n",
     "p.toml:2:6: error: '8 GB/s' is not a cache amount\n"
     "    2 | l3 = \"8 GB/s\"\n"
     "      |      ^~~~~~~~ it is a bandwidth: write mb = \"8 GB/s\"\n"},
    {"[group.redis]\nmb = \"4 ways\"\n",
     "p.toml:2:6: error: '4 ways' is not a bandwidth\n"
     "    2 | mb = \"4 ways\"\n"
     "      |      ^~~~~~~~ it is a part of a cache: write l3 = \"4 ways\"\n"},
    {"[group.redis]\nmb = \"0xf\"\n",
     "p.toml:2:6: error: '0xf' is not a bandwidth\n"
     "    2 | mb = \"0xf\"\n"
     "      |      ^~~~~ it is a part of a cache: write l3 = \"0xf\"\n"},
    {"[group.redis]\nl3 = \"4 ways/s\"\n",
     "p.toml:2:6: error: '4 ways/s' is not a cache amount\n"
     "    2 | l3 = \"4 ways/s\"\n"
     "      |      ^~~~~~~~~~ write \"40%\", \"4 ways\", \"ways 4-7\", \"6 MiB\", \"0xf0\" or "
     "\"all\"\n"},
    {"[group.redis]\nmb = \"8 GB/s, 50%\"\n",
     "p.toml:2:6: error: '8 GB/s, 50%' is not a percentage\n"
     "    2 | mb = \"8 GB/s, 50%\"\n"
     "      |      ^~~~~~~~~~~~~ write [\"8 GB/s\", \"50%\"]\n"},
    {"[group.redis]\nmb = \"50% or 8 GB/s\"\n",
     "p.toml:2:6: error: '50% or 8 GB/s' is not a bandwidth\n"
     "    2 | mb = \"50% or 8 GB/s\"\n"
     "      |      ^~~~~~~~~~~~~~~ write [\"50%\", \"8 GB/s\"]\n"},
    {"[group.redis]\ncpus_list = \"0-3\"\n",
     "p.toml:2:1: error: unknown key 'cpus_list' in [group.redis]\n"
     "    2 | cpus_list = \"0-3\"\n"
     "      | ^~~~~~~~~ did you mean 'cpus'?\n"},
    {"[group.redis]\nCPUAffinity = \"0-3\"\n",
     "p.toml:2:1: error: unknown key 'CPUAffinity' in [group.redis]\n"
     "    2 | CPUAffinity = \"0-3\"\n"
     "      | ^~~~~~~~~~~ did you mean 'cpus'?\n"},
    {"[group.redis]\nmb_percent = 50\n",
     "p.toml:2:1: error: unknown key 'mb_percent' in [group.redis]\n"
     "    2 | mb_percent = 50\n"
     "      | ^~~~~~~~~~ write mb = \"50%\"\n"},
    {"[group.redis]\ncap = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'cap' in [group.redis]\n"
     "    2 | cap = \"4 ways\"\n"
     "      | ^~~ write l3 = \"4 ways\"\n"},
    {"[group.redis]\ncap = \"50%\"\n",
     "p.toml:2:1: error: unknown key 'cap' in [group.redis]\n"
     "    2 | cap = \"50%\"\n"
     "      | ^~~ write l3 = \"4 ways\" or mb = \"50%\"\n"},
    {"[group.redis]\nfloor = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'floor' in [group.redis]\n"
     "    2 | floor = \"4 ways\"\n"
     "      | ^~~~~ write l3 = \"4 ways\"; exclusive = true keeps others out\n"},
    {"[group.redis]\nl3_max = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'l3_max' in [group.redis]\n"
     "    2 | l3_max = \"4 ways\"\n"
     "      | ^~~~~~ write l3 = \"4 ways\"\n"},
    {"[group.redis]\nsize = \"4 MiB\"\n",
     "p.toml:2:1: error: unknown key 'size' in [group.redis]\n"
     "    2 | size = \"4 MiB\"\n"
     "      | ^~~~ write l3 = \"4 MiB\"\n"},
    {"[group.redis]\nschemata = \"L3:0=f\"\n",
     "p.toml:2:1: error: unknown key 'schemata' in [group.redis]\n"
     "    2 | schemata = \"L3:0=f\"\n"
     "      | ^~~~~~~~ write l3 = { \"0\" = \"0xf\" }\n"},
    {"[group.redis]\nschemata = \"L3:0=f;1=3\"\n",
     "p.toml:2:1: error: unknown key 'schemata' in [group.redis]\n"
     "    2 | schemata = \"L3:0=f;1=3\"\n"
     "      | ^~~~~~~~ write l3 = { \"0\" = \"0xf\", \"1\" = \"0x3\" }\n"},
    {"[group.redis]\nlimit = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'limit' in [group.redis]\n"
     "    2 | limit = \"4 ways\"\n"
     "      | ^~~~~ write l3 = \"4 ways\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nunit = \"user-.slice\"\n",
     "p.toml:4:8: error: 'user-.slice' can never match: systemd has such a name for "
     "drop-ins of many units\n"
     "    4 | unit = \"user-.slice\"\n"
     "      |        ^~~~~~~~~~~~~ write \"user-*.slice\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nunit = \"redis.service.service\"\n",
     "p.toml:4:8: warning: 'redis.service.service' may not match: it has its type twice\n"
     "    4 | unit = \"redis.service.service\"\n"
     "      |        ^~~~~~~~~~~~~~~~~~~~~~~ write \"redis.service\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nunit = \"foo-.service\"\n",
     "p.toml:4:8: warning: 'foo-.service' may not match: systemd has such a name for "
     "drop-ins of many units\n"
     "    4 | unit = \"foo-.service\"\n"
     "      |        ^~~~~~~~~~~~~~ write \"foo-*.service\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nunit = \"foo.automount\"\n",
     "p.toml:4:8: error: 'foo.automount' can never match: no process is in an automount\n"
     "    4 | unit = \"foo.automount\"\n"
     "      |        ^~~~~~~~~~~~~~~\n"},
    {"[service]\nlog_level = \"info\"\n",
     "p.toml:1:2: error: unknown key 'service' in a policy\n"
     "    1 | [service]\n"
     "      |  ^~~~~~~ write [daemon]\n"},
    {"[settings]\ndrift = \"report\"\n",
     "p.toml:1:2: error: unknown key 'settings' in a policy\n"
     "    1 | [settings]\n"
     "      |  ^~~~~~~~ write [daemon]\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\ncontainer = \"sha256:abc\"\n",
     "p.toml:4:13: error: 'sha256:abc' can never match: it is an image; 'container' "
     "is the container's name\n"
     "    4 | container = \"sha256:abc\"\n"
     "      |             ^~~~~~~~~~~~ 'docker ps' or 'crictl ps' shows the names\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\npod = \"uid:123\"\n",
     "p.toml:4:7: error: 'uid:123' can never match: it is the UID of a pod; a pod is "
     "NAMESPACE/NAME\n"
     "    4 | pod = \"uid:123\"\n"
     "      |       ^~~~~~~~~ 'kubectl get pods -A' shows both\n"},
    {"[group.redis]\nl3_min = \"2 ways\"\n",
     "p.toml:2:1: error: unknown key 'l3_min' in [group.redis]\n"
     "    2 | l3_min = \"2 ways\"\n"
     "      | ^~~~~~ write l3 = \"2 ways\"; exclusive = true keeps others out\n"},
    {"[group.redis]\nfloor = \"10%\"\n",
     "p.toml:2:1: error: unknown key 'floor' in [group.redis]\n"
     "    2 | floor = \"10%\"\n"
     "      | ^~~~~ write l3 = \"4 ways\", mb = \"50%\", or for a guard the range mb = "
     "\"10%..100%\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nunit = "
     "\"failure-notify@redis.service.service\"\n",
     ""},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nunit = \"btrfs-scrub@-.service\"\n", ""},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nunit = \"quotaon@-.service\"\n", ""},
    {"[daemon]\nreaders = \"wheel\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not 'wheel'\n"
     "    2 | readers = \"wheel\"\n"
     "      |           ^~~~~~~ write readers = \"group\" and add the members of wheel to the user "
     "group rdtd\n"},
    {"[daemon]\nreaders = \"adm\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not 'adm'\n"
     "    2 | readers = \"adm\"\n"
     "      |           ^~~~~ write readers = \"group\" and add the members of adm to the user "
     "group rdtd\n"},
    {"[daemon]\nreaders = \"admin\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not 'admin'\n"
     "    2 | readers = \"admin\"\n"
     "      |           ^~~~~~~ write readers = \"group\" and add admin to the user group rdtd\n"},
    {"[partition.p]\nlimit = \"8 GB/s\"\n",
     "p.toml:2:1: error: unknown key 'limit' in [partition.p]\n"
     "    2 | limit = \"8 GB/s\"\n"
     "      | ^~~~~ bandwidth belongs in a [group.NAME]; write l3 = \"4 ways\" here\n"},
    {"[partition.p]\nmax = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'max' in [partition.p]\n"
     "    2 | max = \"4 ways\"\n"
     "      | ^~~ write l3 = \"4 ways\"\n"},
    {"[io]\nlimit = \"50%\"\n",
     "p.toml:2:1: error: unknown key 'limit' in [io]\n"
     "    2 | limit = \"50%\"\n"
     "      | ^~~~~ write l3 = \"50%\"\n"},
    {"[pseudo_lock.x]\nlimit = \"2 ways\"\n",
     "p.toml:2:1: error: unknown key 'limit' in [pseudo_lock.x]\n"
     "    2 | limit = \"2 ways\"\n"
     "      | ^~~~~ write l3 = { \"0\" = \"2 ways\" }\n"},
    {"[partition.p]\nl3 = \"8 GB/s\"\n",
     "p.toml:2:6: error: '8 GB/s' is not a cache amount\n"
     "    2 | l3 = \"8 GB/s\"\n"
     "      |      ^~~~~~~~ it is a bandwidth, which belongs in a [group.NAME]: write \"4 ways\" "
     "here\n"},
    {"[partition.p]\nl3 = { max = \"4 ways\" }\n",
     "p.toml:2:8: error: 'max' is not a list of domains: 'max' is not a number\n"
     "    2 | l3 = { max = \"4 ways\" }\n"
     "      |        ^~~ write l3 = \"4 ways\"\n"},
    {"[group.redis]\nl2_max = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'l2_max' in [group.redis]\n"
     "    2 | l2_max = \"4 ways\"\n"
     "      | ^~~~~~ write l2 = \"4 ways\"\n"},
    {"[group.redis]\nl3_max = \"50%\"\n",
     "p.toml:2:1: error: unknown key 'l3_max' in [group.redis]\n"
     "    2 | l3_max = \"50%\"\n"
     "      | ^~~~~~ write l3 = \"50%\"\n"},
    {"[group.redis]\nmax = \"8 GB/s\"\n",
     "p.toml:2:1: error: unknown key 'max' in [group.redis]\n"
     "    2 | max = \"8 GB/s\"\n"
     "      | ^~~ write mb = \"8 GB/s\"\n"},
    {"[group.redis]\nfloor = \"8 GB/s\"\n",
     "p.toml:2:1: error: unknown key 'floor' in [group.redis]\n"
     "    2 | floor = \"8 GB/s\"\n"
     "      | ^~~~~ write a range: mb = \"8 GB/s..unlimited\"\n"},
    {"[group.redis]\nl3_max = \"4 ways\"\nl3_min = \"2 ways\"\n",
     "p.toml:2:1: error: unknown key 'l3_max' in [group.redis]\n"
     "    2 | l3_max = \"4 ways\"\n"
     "      | ^~~~~~ write a range: l3 = \"2..4 ways\", in place of both\n"
     "p.toml:3:1: error: unknown key 'l3_min' in [group.redis]\n"
     "    3 | l3_min = \"2 ways\"\n"
     "      | ^~~~~~ write a range: l3 = \"2..4 ways\", in place of both\n"},
    {"[group.redis]\nL3_MAX = \"50%\"\n",
     "p.toml:2:1: error: unknown key 'L3_MAX' in [group.redis]\n"
     "    2 | L3_MAX = \"50%\"\n"
     "      | ^~~~~~ write control = { L3_MAX = \"50%\" }\n"},
    {"[group.redis]\nL3_MAX = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'L3_MAX' in [group.redis]\n"
     "    2 | L3_MAX = \"4 ways\"\n"
     "      | ^~~~~~ write l3 = \"4 ways\"\n"},
    {"[group.redis]\nl3code = { max = \"4 ways\" }\n",
     "p.toml:2:12: error: 'max' is not a list of domains: 'max' is not a number\n"
     "    2 | l3code = { max = \"4 ways\" }\n"
     "      |            ^~~ write l3code = \"4 ways\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nnamespace = \"shop\"\npod = [\"web-*\", "
     "\"api-*\"]\n",
     "p.toml:4:1: error: unknown key 'namespace' in [[rule]]\n"
     "    4 | namespace = \"shop\"\n"
     "      | ^~~~~~~~~ write pod = [\"shop/web-*\", \"shop/api-*\"] in place of both\n"},
    {"[group.redis]\nl3 = \"4 ways\"\nredis.l3 = \"4 ways\"\nredis.mb = \"50%\"\n",
     "p.toml:3:1: error: unknown key 'redis' in [group.redis]\n"
     "    3 | redis.l3 = \"4 ways\"\n"
     "      | ^~~~~ [group.redis] has 'l3' already: write only mb = \"50%\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"group.leave\"\nname = \"x\"\n",
     "p.toml:3:9: error: unknown group 'group.leave'\n"
     "    3 | group = \"group.leave\"\n"
     "      |         ^~~~~~~~~~~~~ write group = \"leave\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"group.info\"\nname = \"x\"\n",
     "p.toml:3:9: error: unknown group 'group.info'\n"
     "    3 | group = \"group.info\"\n"
     "      |         ^~~~~~~~~~~~ write \"redis\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"group.rediss\"\nname = \"x\"\n",
     "p.toml:3:9: error: unknown group 'group.rediss'\n"
     "    3 | group = \"group.rediss\"\n"
     "      |         ^~~~~~~~~~~~~~ did you mean 'redis'?\n"},
    {"[partition.redis]\nl3 = \"4 ways\"\n[group.a]\npartition = \"partition.rediss\"\n",
     "p.toml:4:13: error: unknown partition 'partition.rediss'\n"
     "    4 | partition = \"partition.rediss\"\n"
     "      |             ^~~~~~~~~~~~~~~~~~ did you mean 'redis'?\n"},
    {"[group.redis]\nl3 = \"0..50\"\n",
     "p.toml:2:6: error: '0..50' is not a range: '0' is no cache at all: the minimum is 1 way\n"
     "    2 | l3 = \"0..50\"\n"
     "      |      ^~~~~~~ write \"1..6 ways\"\n"},
    {"[resctrl.groups.web]\nl3 = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'resctrl' in a policy\n"
     "    1 | [resctrl.groups.web]\n"
     "      |  ^~~~~~~ write [group.web]\n"},
    {"[resctrl.l3]\n\"0\" = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'resctrl' in a policy\n"
     "    1 | [resctrl.l3]\n"
     "      |  ^~~~~~~ write [group.NAME]\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\nexe = \"~root/bin/java\"\n",
     "p.toml:4:7: error: '~root/bin/java' can never match: an executable's path begins with '/'\n"
     "    4 | exe = \"~root/bin/java\"\n"
     "      |       ^~~~~~~~~~~~~~~~ write \"/root/bin/java\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\njob = \"12\"\n",
     "p.toml:4:1: error: unknown key 'job' in [[rule]]\n"
     "    4 | job = \"12\"\n"
     "      | ^~~ a scheduler gives each job a cgroup, see /proc/PID/cgroup: write cgroup = "
     "\"**/job_12\"\n"},
    {"[group.redis]\n[[rule]]\ngroup = \"redis\"\njob = \"blast\"\n",
     "p.toml:4:1: error: unknown key 'job' in [[rule]]\n"
     "    4 | job = \"blast\"\n"
     "      | ^~~ a scheduler gives each job a cgroup, see /proc/PID/cgroup: write cgroup = "
     "\"**/*blast*\"\n"},
};

TEST(PolicyOwnWords, Findings) { expect_errors(own_words); }

}  // namespace
}  // namespace rdtd::policy_own_words
