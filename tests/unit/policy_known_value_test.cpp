// Cures that repeat the value which the guess has, with the whole texts.
#include "policy_support.hpp"

namespace rdtd::policy_known_value {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors guesses_with_values[] = {
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "name = [xz, gz, zstd, lz4]\n",
     "p.toml:5:9: error: 'xz' is not in quotes\n"
     "    5 | name = [xz, gz, zstd, lz4]\n"
     "      |         ^~ write [\"xz\", \"gz\", \"zstd\", \"lz4\"]\n"},
    {"[group.a]\n"
     "l3: \"4 ways\"\n",
     "p.toml:2:3: error: '=' is missing after the key 'l3'\n"
     "    2 | l3: \"4 ways\"\n"
     "      |   ^ write l3 = \"4 ways\"\n"},
    {"[group.a]\n"
     "mb: 10%\n",
     "p.toml:2:3: error: '=' is missing after the key 'mb'\n"
     "    2 | mb: 10%\n"
     "      |   ^ write mb = \"10%\"\n"},
    {"[group.a]\n"
     "l3 := \"4 ways\"\n",
     "p.toml:2:4: error: '=' is missing after the key 'l3'\n"
     "    2 | l3 := \"4 ways\"\n"
     "      |    ^ write l3 = \"4 ways\"\n"},
    {"[group.a]\n"
     "l3 ?= 4 ways;\n",
     "p.toml:2:4: error: '=' is missing after the key 'l3'\n"
     "    2 | l3 ?= 4 ways;\n"
     "      |    ^ write l3 = \"4 ways\"\n"},
    {"[group.a]\n"
     "set l3 = \"4 ways\"\n",
     "p.toml:2:5: error: '=' is missing after the key 'set'\n"
     "    2 | set l3 = \"4 ways\"\n"
     "      |     ^ write l3 = \"4 ways\"\n"},
    {"[group.a]\n"
     "export L3=\"4 ways\"\n",
     "p.toml:2:8: error: '=' is missing after the key 'export'\n"
     "    2 | export L3=\"4 ways\"\n"
     "      |        ^ write l3 = \"4 ways\"\n"},
    {"[group.a]\n"
     "l3 = { \"0\": \"4 ways\" }\n",
     "p.toml:2:11: error: '=' is missing after the key '\"0\"'\n"
     "    2 | l3 = { \"0\": \"4 ways\" }\n"
     "      |           ^ write \"0\" = \"4 ways\"\n"},
    {"[[rule]]\n"
     "group: a\n",
     "p.toml:2:6: error: '=' is missing after the key 'group'\n"
     "    2 | group: a\n"
     "      |      ^ write group = \"a\"\n"},
    {"[group.a]\n"
     "l3 4ways;\n",
     "p.toml:2:4: error: '=' is missing after the key 'l3'\n"
     "    2 | l3 4ways;\n"
     "      |    ^ write l3 = \"4ways\"\n"},
    {"[group.a]\n"
     "l3 4 ways\n",
     "p.toml:2:4: error: '=' is missing after the key 'l3'\n"
     "    2 | l3 4 ways\n"
     "      |    ^ write l3 = \"4 ways\"\n"},
    {"[group.a]\n"
     "exclusive\n",
     "p.toml:2:10: error: '=' is missing after the key 'exclusive'\n"
     "    2 | exclusive\n"
     "      |          ^ write exclusive = true\n"},
    {"[group.a]\n"
     "exclusive: yes\n",
     "p.toml:2:10: error: '=' is missing after the key 'exclusive'\n"
     "    2 | exclusive: yes\n"
     "      |          ^ write exclusive = true\n"},
    {"[group.a]\n"
     "schemata = [\"L3:0=ff0;1=ff0\", \"MB:0=50;1=50\"]\n",
     "p.toml:2:1: error: unknown key 'schemata' in [group.a]\n"
     "    2 | schemata = [\"L3:0=ff0;1=ff0\", \"MB:0=50;1=50\"]\n"
     "      | ^~~~~~~~ write l3 = { \"0\" = \"0xff0\", \"1\" = \"0xff0\" } and mb = { \"0\" = "
     "\"50%\", \"1\" = \"50%\" }; on AMD's processors, 50 is \"6.25 GB/s\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "script = \"/opt/x.sh\"\n",
     "p.toml:5:1: error: unknown key 'script' in [[rule]]\n"
     "    5 | script = \"/opt/x.sh\"\n"
     "      | ^~~~~~ write cmdline = \"*/x.sh*\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "mb_hlim = 1\n",
     "p.toml:3:1: error: unknown key 'mb_hlim' in [group.a]\n"
     "    3 | mb_hlim = 1\n"
     "      | ^~~~~~~ write control = { MB_HLIM = 1 }\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "gmb = \"100 GB/s\"\n",
     "p.toml:3:1: error: unknown key 'gmb' in [group.a]\n"
     "    3 | gmb = \"100 GB/s\"\n"
     "      | ^~~ write control = { GMB = \"100 GB/s\" }\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "l3pri = 3\n",
     "p.toml:3:1: error: unknown key 'l3pri' in [group.a]\n"
     "    3 | l3pri = 3\n"
     "      | ^~~~~ write control = { L3PRI = 3 }\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "timer = \"x.timer\"\n",
     "p.toml:5:1: error: unknown key 'timer' in [[rule]]\n"
     "    5 | timer = \"x.timer\"\n"
     "      | ^~~~~ write unit = \"x.service\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "daemon = \"nginx\"\n",
     "p.toml:5:1: error: unknown key 'daemon' in [[rule]]\n"
     "    5 | daemon = \"nginx\"\n"
     "      | ^~~~~~ write unit = \"nginx.service\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "assign = \"a\"\n"
     "name = \"x\"\n",
     "p.toml:4:1: error: unknown key 'assign' in [[rule]]\n"
     "    4 | assign = \"a\"\n"
     "      | ^~~~~~ did you mean 'group'?\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "flatpak = \"steam\"\n",
     "p.toml:5:1: error: unknown key 'flatpak' in [[rule]]\n"
     "    5 | flatpak = \"steam\"\n"
     "      | ^~~~~~~ write user_unit = \"app-*steam*\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "nova_instance = \"db1\"\n",
     "p.toml:5:1: error: unknown key 'nova_instance' in [[rule]]\n"
     "    5 | nova_instance = \"db1\"\n"
     "      | ^~~~~~~~~~~~~ did you mean 'vm'?\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "slurm_job_id = 42\n",
     "p.toml:5:1: error: unknown key 'slurm_job_id' in [[rule]]\n"
     "    5 | slurm_job_id = 42\n"
     "      | ^~~~~~~~~~~~ a scheduler gives each job a cgroup, see /proc/PID/cgroup: write cgroup "
     "= \"**/job_42\"\n"},
    {"[group.a]\n"
     "L3CA = \"0xf\"\n"
     "lcores = \"2-5\"\n",
     "p.toml:2:1: error: unknown key 'L3CA' in [group.a]\n"
     "    2 | L3CA = \"0xf\"\n"
     "      | ^~~~ did you mean 'l3'?\n"
     "p.toml:3:1: error: unknown key 'lcores' in [group.a]\n"
     "    3 | lcores = \"2-5\"\n"
     "      | ^~~~~~ did you mean 'cpus'?\n"},
    {"[group.a]\n"
     "systemd_unit = \"nginx\"\n",
     "p.toml:2:1: error: unknown key 'systemd_unit' in [group.a]\n"
     "    2 | systemd_unit = \"nginx\"\n"
     "      | ^~~~~~~~~~~~ write [[rule]] with group = \"a\" and unit = \"nginx\"\n"},
    {"[group.a]\n"
     "unit_name = [\"a.service\", \"b.service\"]\n",
     "p.toml:2:1: error: unknown key 'unit_name' in [group.a]\n"
     "    2 | unit_name = [\"a.service\", \"b.service\"]\n"
     "      | ^~~~~~~~~ conditions belong in a [[rule]] with this group's name\n"},
    {"[group.a]\n"
     "niceness = 5\n"
     "overlap = true\n",
     "p.toml:2:1: error: unknown key 'niceness' in [group.a]\n"
     "    2 | niceness = 5\n"
     "      | ^~~~~~~~ rdtd sets caches and memory bandwidth only; systemd.exec(5) and "
     "systemd.resource-control(5) have the other limits\n"
     "p.toml:3:1: error: unknown key 'overlap' in [group.a]\n"
     "    3 | overlap = true\n"
     "      | ^~~~~~~ groups share ways unless one of them has exclusive = true\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "port = 80\n",
     "p.toml:5:1: error: unknown key 'port' in [[rule]]\n"
     "    5 | port = 80\n"
     "      | ^~~~ rules know no ports and sockets: write unit = \"NAME.service\" or name = "
     "\"NAME\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "cg = \"/x\"\n",
     "p.toml:5:1: error: unknown key 'cg' in [[rule]]\n"
     "    5 | cg = \"/x\"\n"
     "      | ^~ did you mean 'cgroup'?\n"},
    {"[group.a]\n"
     "mb = \"1,000 MB/s\"\n",
     "p.toml:2:6: error: '1,000 MB/s' is not a bandwidth\n"
     "    2 | mb = \"1,000 MB/s\"\n"
     "      |      ^~~~~~~~~~~~ write \"1000 MB/s\"\n"},
    {"[group.a]\n"
     "mb = \"10 000 MB/s\"\n",
     "p.toml:2:6: error: '10 000 MB/s' is not a bandwidth\n"
     "    2 | mb = \"10 000 MB/s\"\n"
     "      |      ^~~~~~~~~~~~~ write \"10000 MB/s\"\n"},
    {"[group.a]\n"
     "mb = \"1_000 MB/s\"\n",
     "p.toml:2:6: error: '1_000 MB/s' is not a bandwidth\n"
     "    2 | mb = \"1_000 MB/s\"\n"
     "      |      ^~~~~~~~~~~~ write \"1000 MB/s\"\n"},
    {"[group.a]\n"
     "mb = \"10 GB / s\"\n",
     "p.toml:2:6: error: '10 GB / s' is not a bandwidth\n"
     "    2 | mb = \"10 GB / s\"\n"
     "      |      ^~~~~~~~~~~ write \"10 GB/s\"\n"},
    {"[group.a]\n"
     "mb = \"10 GB per second\"\n",
     "p.toml:2:6: error: '10 GB per second' is not a bandwidth\n"
     "    2 | mb = \"10 GB per second\"\n"
     "      |      ^~~~~~~~~~~~~~~~~~ write \"10 GB/s\"\n"},
    {"[group.a]\n"
     "mb = \"10 gigabytes per second\"\n",
     "p.toml:2:6: error: '10 gigabytes per second' is not a bandwidth\n"
     "    2 | mb = \"10 gigabytes per second\"\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~~~~~ write \"10 GB/s\"\n"},
    {"[group.a]\n"
     "mb = \"40 GB/s each\"\n",
     "p.toml:2:6: error: '40 GB/s each' is not a bandwidth\n"
     "    2 | mb = \"40 GB/s each\"\n"
     "      |      ^~~~~~~~~~~~~~ write \"40 GB/s\"\n"},
    {"[group.a]\n"
     "mb = \"one tenth\"\n",
     "p.toml:2:6: error: 'one tenth' is not a bandwidth\n"
     "    2 | mb = \"one tenth\"\n"
     "      |      ^~~~~~~~~~~ write \"10%\"; AMD's processors take a rate, such as \"8 GB/s\"\n"},
    {"[group.a]\n"
     "mb = \"min\"\n",
     "p.toml:2:6: error: 'min' is not a bandwidth\n"
     "    2 | mb = \"min\"\n"
     "      |      ^~~~~ write \"10%\"; AMD's processors take a rate, such as \"8 GB/s\"\n"},
    {"[group.a]\n"
     "l3 = \"4w\"\n",
     "p.toml:2:6: error: '4w' is not a cache amount\n"
     "    2 | l3 = \"4w\"\n"
     "      |      ^~~~ write \"4 ways\"\n"},
    {"[group.a]\n"
     "l3 = \"4-way\"\n",
     "p.toml:2:6: error: '4-way' is not a cache amount\n"
     "    2 | l3 = \"4-way\"\n"
     "      |      ^~~~~~~ write \"4 ways\"\n"},
    {"[group.a]\n"
     "l3 = \"4 of 12 ways\"\n",
     "p.toml:2:6: error: '4 of 12 ways' is not a cache amount\n"
     "    2 | l3 = \"4 of 12 ways\"\n"
     "      |      ^~~~~~~~~~~~~~ write \"4 ways\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways of 12\"\n",
     "p.toml:2:6: error: '4 ways of 12' is not a cache amount\n"
     "    2 | l3 = \"4 ways of 12\"\n"
     "      |      ^~~~~~~~~~~~~~ write \"4 ways\"\n"},
    {"[group.a]\n"
     "l3 = \"ways=4\"\n",
     "p.toml:2:6: error: 'ways=4' is not a cache amount\n"
     "    2 | l3 = \"ways=4\"\n"
     "      |      ^~~~~~~~ write \"4 ways\"\n"},
    {"[group.a]\n"
     "l3 = \"a third\"\n",
     "p.toml:2:6: error: 'a third' is not a cache amount\n"
     "    2 | l3 = \"a third\"\n"
     "      |      ^~~~~~~~~ write \"33.3%\"\n"},
    {"[group.a]\n"
     "l3 = \"4 megabytes\"\n",
     "p.toml:2:6: error: '4 megabytes' is not a cache amount\n"
     "    2 | l3 = \"4 megabytes\"\n"
     "      |      ^~~~~~~~~~~~~ write \"4 MiB\"\n"},
    {"[group.a]\n"
     "l3 = \"4-7 ways\"\n",
     "p.toml:2:6: error: '4-7 ways' is not a cache amount\n"
     "    2 | l3 = \"4-7 ways\"\n"
     "      |      ^~~~~~~~~~ write \"ways 4-7\" for exactly these ways, or \"4..7 ways\" for a "
     "number between\n"},
    {"[group.a]\n"
     "mb = \"0,500 GB/s\"\n",
     "p.toml:2:6: error: '0,500 GB/s' is not a bandwidth\n"
     "    2 | mb = \"0,500 GB/s\"\n"
     "      |      ^~~~~~~~~~~~ write \"0.5 GB/s\"\n"},
    {"[group.a]\n"
     "mb = \"1,500 GB/s\"\n",
     "p.toml:2:6: error: '1,500 GB/s' is not a bandwidth\n"
     "    2 | mb = \"1,500 GB/s\"\n"
     "      |      ^~~~~~~~~~~~ write \"1.5 GB/s\"\n"},
    {"[group.a]\n"
     "l3 = \"4-ways\"\n",
     "p.toml:2:6: error: '4-ways' is not a cache amount\n"
     "    2 | l3 = \"4-ways\"\n"
     "      |      ^~~~~~~~ write \"4 ways\"\n"},
    {"[group.a]\n"
     "l3 = \"ways = 4\"\n",
     "p.toml:2:6: error: 'ways = 4' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways = 4\"\n"
     "      |      ^~~~~~~~~~ write \"4 ways\"\n"},
    {"[group.a]\n"
     "l3 = \"-2 ways\"\n",
     "p.toml:2:6: error: '-2 ways' is not a cache amount\n"
     "    2 | l3 = \"-2 ways\"\n"
     "      |      ^~~~~~~~~ a number of ways is whole: write \"2 ways\"\n"},
    {"[group.a]\n"
     "l3 = { \"cache_id 1\" = \"4 ways\", \"L3 cache 2\" = \"4 ways\" }\n",
     "p.toml:2:8: error: 'cache_id 1' is not a list of domains: 'cache_id 1' is not a number\n"
     "    2 | l3 = { \"cache_id 1\" = \"4 ways\", \"L3 cache 2\" = \"4 ways\" }\n"
     "      |        ^~~~~~~~~~~~ write \"1\"\n"
     "p.toml:2:33: error: 'L3 cache 2' is not a list of domains: 'L3 cache 2' is not a number\n"
     "    2 | l3 = { \"cache_id 1\" = \"4 ways\", \"L3 cache 2\" = \"4 ways\" }\n"
     "      |                                 ^~~~~~~~~~~~ write \"2\"\n"},
    {"[group.a]\n"
     "mb = { \"domain_id 1\" = \"50%\", \"smba 2\" = \"50%\", \"#3\" = \"50%\" }\n",
     "p.toml:2:8: error: 'domain_id 1' is not a list of domains: 'domain_id 1' is not a number\n"
     "    2 | mb = { \"domain_id 1\" = \"50%\", \"smba 2\" = \"50%\", \"#3\" = \"50%\" }\n"
     "      |        ^~~~~~~~~~~~~ write \"1\"\n"
     "p.toml:2:31: error: 'smba 2' is not a list of domains: 'smba 2' is not a number\n"
     "    2 | mb = { \"domain_id 1\" = \"50%\", \"smba 2\" = \"50%\", \"#3\" = \"50%\" }\n"
     "      |                               ^~~~~~~~ write \"2\"\n"
     "p.toml:2:49: error: '#3' is not a list of domains: '#3' is not a number\n"
     "    2 | mb = { \"domain_id 1\" = \"50%\", \"smba 2\" = \"50%\", \"#3\" = \"50%\" }\n"
     "      |                                                 ^~~~ write \"3\"\n"},
    {"[group.a]\n"
     "l3 = { \"=1\" = \"4 ways\", \"cache_id2\" = \"4 ways\" }\n",
     "p.toml:2:8: error: '=1' is not a list of domains: '=1' is not a number\n"
     "    2 | l3 = { \"=1\" = \"4 ways\", \"cache_id2\" = \"4 ways\" }\n"
     "      |        ^~~~ write \"1\"\n"
     "p.toml:2:25: error: 'cache_id2' is not a list of domains: 'cache_id2' is not a number\n"
     "    2 | l3 = { \"=1\" = \"4 ways\", \"cache_id2\" = \"4 ways\" }\n"
     "      |                         ^~~~~~~~~~~ write \"2\"\n"},
};

TEST(PolicyKnownValue, Findings) { expect_errors(guesses_with_values); }

}  // namespace
}  // namespace rdtd::policy_known_value
