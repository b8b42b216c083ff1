// Keys, tables and amounts of other tools, with the whole texts of what is said of them.
#include "policy_support.hpp"

namespace rdtd::policy_key_guesses {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors amounts_and_errors[] = {
    {"[group.a]\n"
     "l3 = { amount = \"4 ways\", exclusive = true }\n",
     "p.toml:2:8: error: 'amount' is not a list of domains: 'amount' is not a number\n"
     "    2 | l3 = { amount = \"4 ways\", exclusive = true }\n"
     "      |        ^~~~~~ write l3 = \"4 ways\", and exclusive = true in the group\n"
     "p.toml:2:27: error: 'exclusive' is not a list of domains: 'exclusive' is not a number\n"
     "    2 | l3 = { amount = \"4 ways\", exclusive = true }\n"
     "      |                           ^~~~~~~~~ write exclusive = true in the group\n"},
    {"[group.a]\n"
     "l3 = { value = 4, unit = \"ways\" }\n",
     "p.toml:2:8: error: 'value' is not a list of domains: 'value' is not a number\n"
     "    2 | l3 = { value = 4, unit = \"ways\" }\n"
     "      |        ^~~~~ write l3 = \"4 ways\"\n"
     "p.toml:2:19: error: 'unit' is not a list of domains: 'unit' is not a number\n"
     "    2 | l3 = { value = 4, unit = \"ways\" }\n"
     "      |                   ^~~~ the unit belongs in the amount: \"4 ways\", \"50%\", "
     "\"8 GB/s\"\n"},
    {"[group.a]\n"
     "l3 = { \"0\" = [\"4 ways\", \"256 KiB\"] }\n",
     "p.toml:2:14: error: '0' must be a string, not an array\n"
     "    2 | l3 = { \"0\" = [\"4 ways\", \"256 KiB\"] }\n"
     "      |              ^~~~~~~~~~~~~~~~~~~~~ a domain has one amount: write \"4 ways\"\n"},
    {"[group.a]\n"
     "mb = [\"50%\", \"50%\"]\n",
     "p.toml:2:14: error: '50%' is never used: '50%' is for the same machines\n"
     "    2 | mb = [\"50%\", \"50%\"]\n"
     "      |              ^~~~~ write \"50%\"\n"},
    {"[group.a]\n"
     "mb = inf\n",
     "p.toml:2:6: error: 'mb' must be a string or a table that maps domains to amounts, not "
     "a float\n"
     "    2 | mb = inf\n"
     "      |      ^~~ write \"unlimited\"\n"},
    {"[group.a]\n"
     "mb = false\n",
     "p.toml:2:6: error: 'mb' must be a string or a table that maps domains to amounts, not "
     "a boolean\n"
     "    2 | mb = false\n"
     "      |      ^~~~~ write \"unlimited\" for no limit, or remove this line\n"},
    {"[group.a]\n"
     "mb = 0\n",
     "p.toml:2:6: error: 'mb' must be a string or a table that maps domains to amounts, not "
     "an integer\n"
     "    2 | mb = 0\n"
     "      |      ^ write \"10%\", which is the least of most machines\n"},
    {"[group.a]\n"
     "mb = \"0%..50%\"\n",
     "p.toml:2:6: error: '0%..50%' is not a range: '0%' is not above 0%\n"
     "    2 | mb = \"0%..50%\"\n"
     "      |      ^~~~~~~~~ write \"10%..50%\"\n"},
    {"[group.a]\n"
     "l3 = \"0 ways..4 ways\"\n",
     "p.toml:2:6: error: '0 ways..4 ways' is not a range: '0 ways' is no cache at all: the "
     "minimum is 1 way\n"
     "    2 | l3 = \"0 ways..4 ways\"\n"
     "      |      ^~~~~~~~~~~~~~~~ write \"1..4 ways\"\n"},
    {"[group.a]\n"
     "l3 = \"~20%\"\n",
     "p.toml:2:6: error: '~20%' is not a percentage\n"
     "    2 | l3 = \"~20%\"\n"
     "      |      ^~~~~~ write \"20%\"\n"},
    {"[group.a]\n"
     "mb = \"10%,50%\"\n",
     "p.toml:2:6: error: '10%,50%' is not a percentage\n"
     "    2 | mb = \"10%,50%\"\n"
     "      |      ^~~~~~~~~ write \"10%..50%\"\n"},
    {"[group.a]\n"
     "l3_percent = 20\n",
     "p.toml:2:1: error: unknown key 'l3_percent' in [group.a]\n"
     "    2 | l3_percent = 20\n"
     "      | ^~~~~~~~~~ write l3 = \"20%\"\n"},
    {"[group.a]\n"
     "l3_bytes = 262144\n",
     "p.toml:2:1: error: unknown key 'l3_bytes' in [group.a]\n"
     "    2 | l3_bytes = 262144\n"
     "      | ^~~~~~~~ write l3 = \"256 KiB\"\n"},
    {"[group.a]\n"
     "cache_l3 = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'cache_l3' in [group.a]\n"
     "    2 | cache_l3 = \"4 ways\"\n"
     "      | ^~~~~~~~ write l3 = \"4 ways\"\n"},
    {"[group.a]\n"
     "llc_mask = \"f\"\n",
     "p.toml:2:1: error: unknown key 'llc_mask' in [group.a]\n"
     "    2 | llc_mask = \"f\"\n"
     "      | ^~~~~~~~ write l3 = \"0xf\"\n"},
    {"[group.a]\n"
     "mb_gbps = 5\n",
     "p.toml:2:1: error: unknown key 'mb_gbps' in [group.a]\n"
     "    2 | mb_gbps = 5\n"
     "      | ^~~~~~~ write mb = \"5 GB/s\"\n"},
    {"[group.a]\n"
     "throttle = 90\n"
     "mb_throttle = \"90%\"\n"
     "mb_rate = 9\n"
     "mb_limit = 10\n",
     "p.toml:2:1: error: unknown key 'throttle' in [group.a]\n"
     "    2 | throttle = 90\n"
     "      | ^~~~~~~~ did you mean 'mb'?\n"
     "p.toml:3:1: error: unknown key 'mb_throttle' in [group.a]\n"
     "    3 | mb_throttle = \"90%\"\n"
     "      | ^~~~~~~~~~~ did you mean 'mb'?\n"
     "p.toml:4:1: error: unknown key 'mb_rate' in [group.a]\n"
     "    4 | mb_rate = 9\n"
     "      | ^~~~~~~ did you mean 'mb'?\n"
     "p.toml:5:1: error: unknown key 'mb_limit' in [group.a]\n"
     "    5 | mb_limit = 10\n"
     "      | ^~~~~~~~ write mb = \"10%\"\n"},
    {"[group.a]\n"
     "MemoryBandwidthMax = \"50%\"\n",
     "p.toml:2:1: error: unknown key 'MemoryBandwidthMax' in [group.a]\n"
     "    2 | MemoryBandwidthMax = \"50%\"\n"
     "      | ^~~~~~~~~~~~~~~~~~ write mb = \"50%\"\n"},
    {"[group.a]\n"
     "l3_ways = 4\n"
     "max_bandwidth = 10\n",
     "p.toml:2:1: error: unknown key 'l3_ways' in [group.a]\n"
     "    2 | l3_ways = 4\n"
     "      | ^~~~~~~ write l3 = \"4 ways\"\n"
     "p.toml:3:1: error: unknown key 'max_bandwidth' in [group.a]\n"
     "    3 | max_bandwidth = 10\n"
     "      | ^~~~~~~~~~~~~ write mb = \"10%\"\n"},
    {"[group.a]\n"
     "cache_ways = \"4\"\n"
     "max_bandwidth = 20000\n",
     "p.toml:2:1: error: unknown key 'cache_ways' in [group.a]\n"
     "    2 | cache_ways = \"4\"\n"
     "      | ^~~~~~~~~~ write l3 = \"4 ways\"\n"
     "p.toml:3:1: error: unknown key 'max_bandwidth' in [group.a]\n"
     "    3 | max_bandwidth = 20000\n"
     "      | ^~~~~~~~~~~~~ did you mean 'mb'?\n"},
    {"[group.a]\n"
     "l3_quota = true\n",
     "p.toml:2:1: error: unknown key 'l3_quota' in [group.a]\n"
     "    2 | l3_quota = true\n"
     "      | ^~~~~~~~ did you mean 'l3'?\n"},
    {"[group.a]\n"
     "l3_0 = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'l3_0' in [group.a]\n"
     "    2 | l3_0 = \"4 ways\"\n"
     "      | ^~~~ write l3 = { \"0\" = \"4 ways\" }\n"},
    {"[group.a]\n"
     "l3_0 = \"4 ways\"\n"
     "l3_1 = \"2 ways\"\n",
     "p.toml:2:1: error: unknown key 'l3_0' in [group.a]\n"
     "    2 | l3_0 = \"4 ways\"\n"
     "      | ^~~~ write l3 = { \"0\" = \"4 ways\" }, one table for all domains\n"
     "p.toml:3:1: error: unknown key 'l3_1' in [group.a]\n"
     "    3 | l3_1 = \"2 ways\"\n"
     "      | ^~~~ write l3 = { \"1\" = \"2 ways\" }, one table for all domains\n"},
    {"[group.a]\n"
     "memory_limit = \"512M\"\n",
     "p.toml:2:1: error: unknown key 'memory_limit' in [group.a]\n"
     "    2 | memory_limit = \"512M\"\n"
     "      | ^~~~~~~~~~~~ rdtd sets caches and memory bandwidth only; systemd.exec(5) and "
     "systemd.resource-control(5) have the other limits\n"},
    {"[group.a]\n"
     "cpu_mask = \"0xf0\"\n",
     "p.toml:2:1: error: unknown key 'cpu_mask' in [group.a]\n"
     "    2 | cpu_mask = \"0xf0\"\n"
     "      | ^~~~~~~~ write cpus = \"4-7\"\n"},
    {"[group.a]\n"
     "cpu_mask = \"1,00000003\"\n",
     "p.toml:2:1: error: unknown key 'cpu_mask' in [group.a]\n"
     "    2 | cpu_mask = \"1,00000003\"\n"
     "      | ^~~~~~~~ write cpus = \"0-1,32\"\n"},
    {"[group.a]\n"
     "cpu_mask = \"all\"\n",
     "p.toml:2:1: error: unknown key 'cpu_mask' in [group.a]\n"
     "    2 | cpu_mask = \"all\"\n"
     "      | ^~~~~~~~ write a list of CPUs, such as cpus = \"0-3\"\n"},
    {"[group.a]\n"
     "mb = { max = 50, unit = \"GB/s\" }\n",
     "p.toml:2:8: error: 'max' is not a list of domains: 'max' is not a number\n"
     "    2 | mb = { max = 50, unit = \"GB/s\" }\n"
     "      |        ^~~ write mb = \"50 GB/s\"\n"
     "p.toml:2:18: error: 'unit' is not a list of domains: 'unit' is not a number\n"
     "    2 | mb = { max = 50, unit = \"GB/s\" }\n"
     "      |                  ^~~~ the unit belongs in the amount: \"4 ways\", \"50%\", "
     "\"8 GB/s\"\n"},
    {"[group.a]\n"
     "l3 = { ways = 4, exclusive = \"strict\" }\n",
     "p.toml:2:8: error: 'ways' is not a list of domains: 'ways' is not a number\n"
     "    2 | l3 = { ways = 4, exclusive = \"strict\" }\n"
     "      |        ^~~~ write l3 = \"4 ways\", and exclusive = \"strict\" in the group\n"
     "p.toml:2:18: error: 'exclusive' is not a list of domains: 'exclusive' is not a number\n"
     "    2 | l3 = { ways = 4, exclusive = \"strict\" }\n"
     "      |                  ^~~~~~~~~ write exclusive = \"strict\" in the group\n"},
    {"[group.a]\n"
     "l3 = [\"10%\", \"50%\"]\n",
     "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not "
     "an array\n"
     "    2 | l3 = [\"10%\", \"50%\"]\n"
     "      |      ^~~~~~~~~~~~~~ write \"10%..50%\"\n"},
    {"[group.a]\n"
     "l3 = [\"0xf\", \"0x3\"]\n",
     "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not "
     "an array\n"
     "    2 | l3 = [\"0xf\", \"0x3\"]\n"
     "      |      ^~~~~~~~~~~~~~ write { \"0\" = \"0xf\", \"1\" = \"0x3\" } for two domains\n"},
    {"[group.a]\n"
     "schemata = \"L3:0=f\\nL3:1=3\"\n",
     "p.toml:2:1: error: unknown key 'schemata' in [group.a]\n"
     "    2 | schemata = \"L3:0=f\\nL3:1=3\"\n"
     "      | ^~~~~~~~ write l3 = { \"0\" = \"0xf\", \"1\" = \"0x3\" }\n"},
    {"[group.a]\n"
     "schemata = \"L3:0=f\\nL3:0=3\"\n",
     "p.toml:2:1: error: unknown key 'schemata' in [group.a]\n"
     "    2 | schemata = \"L3:0=f\\nL3:0=3\"\n"
     "      | ^~~~~~~~ write l3 = \"4 ways\" or mb = \"50%\"\n"},
    {"[group.a]\n"
     "mb_domain1 = \"50%\"\n",
     "p.toml:2:1: error: unknown key 'mb_domain1' in [group.a]\n"
     "    2 | mb_domain1 = \"50%\"\n"
     "      | ^~~~~~~~~~ write mb = { \"1\" = \"50%\" }\n"},
    {"[group.a]\n"
     "cache.l3 = \"4 ways\"\n",
     "p.toml:2:1: error: unknown key 'cache' in [group.a]\n"
     "    2 | cache.l3 = \"4 ways\"\n"
     "      | ^~~~~ write l3 = \"4 ways\"\n"},
    {"[group.a]\n"
     "cache = { l3 = \"4 ways\", l2 = \"1 way\" }\n",
     "p.toml:2:1: error: unknown key 'cache' in [group.a]\n"
     "    2 | cache = { l3 = \"4 ways\", l2 = \"1 way\" }\n"
     "      | ^~~~~ write l2 = \"1 way\" and l3 = \"4 ways\" in [group.a]\n"},
    {"[group.a]\n"
     "mb = \"50%\"\n"
     "limit.mb = \"20%\"\n",
     "p.toml:3:1: error: unknown key 'limit' in [group.a]\n"
     "    3 | limit.mb = \"20%\"\n"
     "      | ^~~~~ [group.a] has 'mb' already: remove this line\n"},
    {"[group.a.limits]\n"
     "l3 = \"4 ways\"\n"
     "mb = \"50%\"\n",
     "p.toml:1:10: error: unknown key 'limits' in [group.a]\n"
     "    1 | [group.a.limits]\n"
     "      |          ^~~~~~ write l3 = \"4 ways\" and mb = \"50%\" in [group.a]\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "l3.exclusive = true\n",
     "p.toml:3:1: error: 'l3' already has a value, in p.toml:2\n"
     "    3 | l3.exclusive = true\n"
     "      | ^~~~~~~~~~~~ it is a key of the table itself: write exclusive = ...\n"},
    {"[group.a] {\n"
     "l3 = \"4 ways\"\n"
     "}\n",
     "p.toml:1:11: error: unexpected '{' after ']'\n"
     "    1 | [group.a] {\n"
     "      |           ^ remove it, and the '}' at the end: the header is enough\n"},
    {"[group.a]\n"
     "schemata = \"\"\"\n"
     "L3:0=f;1=f\n"
     "MB:0=80;1=80\n"
     "\"\"\"\n",
     "p.toml:2:1: error: unknown key 'schemata' in [group.a]\n"
     "    2 | schemata = \"\"\"\n"
     "      | ^~~~~~~~ write l3 = { \"0\" = \"0xf\", \"1\" = \"0xf\" } and mb = { \"0\" = "
     "\"80%\", \"1\" = \"80%\" }; on AMD's processors, 80 is \"10 GB/s\"\n"},
    {"[group.a]\n"
     "mb = \"0=80\"\n",
     "p.toml:2:6: error: '0=80' is not a bandwidth\n"
     "    2 | mb = \"0=80\"\n"
     "      |      ^~~~~~ write { \"0\" = \"80%\" }; on AMD's processors, 80 is \"10 GB/s\"\n"},
    {"[group.a]\n"
     "l3 = \"1 way\"\n"
     "monitor_groups = [\"a\"]\n",
     "p.toml:3:1: error: unknown key 'monitor_groups' in [group.a]\n"
     "    3 | monitor_groups = [\"a\"]\n"
     "      | ^~~~~~~~~~~~~~ write monitor = \"NAME\" in a [[rule]], or monitor_cpus = { "
     "NAME = \"0-3\" } in a group\n"},
    {"[group.cos0]\n"
     "l3 = \"1 way\"\n",
     "p.toml:1:8: warning: [group.cos0] is not class 0 of the processor\n"
     "    1 | [group.cos0]\n"
     "      |        ^~~~ class 0 is [group.default]\n"},
};

TEST(PolicyKeyGuesses, Amounts) { expect_errors(amounts_and_errors); }

}  // namespace
}  // namespace rdtd::policy_key_guesses
