// Every error in the amounts and CPUs of a policy file, with its whole text.
#include "policy_support.hpp"

namespace rdtd {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors amount_errors[] = {
    {"[partition.p]\nl3 = { min = \"2 ways\" }\n",
     R"(p.toml:2:8: error: 'min' is not a list of domains: 'min' is not a number
    2 | l3 = { min = "2 ways" }
      |        ^~~ write l3 = "2 ways"
)"},
    {"[group.a]\nl3 = \"...8 ways\"\n",
     R"(p.toml:2:6: error: '...8 ways' is not a range: it has a dot too many
    2 | l3 = "...8 ways"
      |      ^~~~~~~~~~~ write "1..6 ways"
)"},
    {"[group.a]\npartition = 3\n",
     R"(p.toml:2:13: error: 'partition' must be a string, not an integer
    2 | partition = 3
      |             ^ write partition = "3"
)"},
    {"[group.a]\nl3 = \"rest\"\n",
     R"(p.toml:2:6: error: 'rest' is not a cache amount
    2 | l3 = "rest"
      |      ^~~~~~ write "all" for all available ways
)"},
    {"[partition.p]\nl3 = { \"0\" = \"Remaining\" }\n",
     R"(p.toml:2:14: error: 'Remaining' is not a cache amount
    2 | l3 = { "0" = "Remaining" }
      |              ^~~~~~~~~~~ write "all" for all available ways
)"},
    {"[group.default]\nl3 = \"rest\"\n",
     R"(p.toml:2:6: error: 'rest' is not a cache amount
    2 | l3 = "rest"
      |      ^~~~~~ write "remainder"
)"},
    {"[group.db]\nl3 = 4\n",
     R"(p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an integer
    2 | l3 = 4
      |      ^ write "4 ways"
)"},
    {"[group.a]\nl3 = \"remainder\"\n",
     R"(p.toml:2:6: error: 'remainder' is for the default group
    2 | l3 = "remainder"
      |      ^~~~~~~~~~~ write "all" for all available ways
)"},
    {"[group.default]\nl3 = \"remainder\"\nexclusive = true\n",
     R"(p.toml:2:6: error: 'remainder' is what groups that share may fill
    2 | l3 = "remainder"
      |      ^~~~~~~~~~~ remove 'exclusive', or name the ways: l3 = "4 ways"
)"},
    {"[partition.p]\nl3 = \"remainder\"\n",
     R"(p.toml:2:6: error: 'remainder' is for the default group
    2 | l3 = "remainder"
      |      ^~~~~~~~~~~ write "all" for all available ways
)"},
    {"[group.a]\nl3 = { x = \"1 way\" }\n",
     R"(p.toml:2:8: error: 'x' is not a list of domains: 'x' is not a number
    2 | l3 = { x = "1 way" }
      |        ^ write domains that 'rdtctl info' lists, such as "0" or "0-1", or "*" for all
)"},
    // koordinator
    {"[group.a]\nl3 = { range = [0, 30] }\n",
     R"(p.toml:2:8: error: 'range' is not a list of domains: 'range' is not a number
    2 | l3 = { range = [0, 30] }
      |        ^~~~~ write l3 = "30%"; rdtd chooses the place
)"},
    {"[group.a]\nl3 = { range = [40, 60] }\n",
     R"(p.toml:2:8: error: 'range' is not a list of domains: 'range' is not a number
    2 | l3 = { range = [40, 60] }
      |        ^~~~~ write l3 = "20%"; rdtd chooses the place
)"},
    {"[group.a]\nl3 = { range = [60, 40] }\n",
     R"(p.toml:2:8: error: 'range' is not a list of domains: 'range' is not a number
    2 | l3 = { range = [60, 40] }
      |        ^~~~~ write l3 = "30%"; rdtd chooses the place
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
    {"[group.a]\nl3 = 0x1ffffffff\n",
     R"(p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an integer
    2 | l3 = 0x1ffffffff
      |      ^~~~~~~~~~~ write "4 ways" or "25%"
)"},
    {"[group.a]\nl3 = [\"4 ways\", \"2 ways\"]\n",
     R"(p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an array
    2 | l3 = ["4 ways", "2 ways"]
      |      ^~~~~~~~~~~~~~~~~~~~ write { "0" = "4 ways", "1" = "2 ways" } for two domains
)"},
    {"[group.a]\nmb = [\"60%\", \"8 GB/s\"]\nsmba = { \"*\" = [\"1 GB/s\", \"unlimited\"] }\n", ""},
    {"[group.a]\nmb = [\"50%\", \"60%\"]\n",
     R"(p.toml:2:14: error: '60%' is never used: '50%' is for the same machines
    2 | mb = ["50%", "60%"]
      |              ^~~~~ write "50%..60%" for a range
)"},
    {"[group.a]\nmb = [\"unlimited\", \"8 GB/s\"]\n",
     R"(p.toml:2:20: error: '8 GB/s' is never used: 'unlimited' is for the same machines
    2 | mb = ["unlimited", "8 GB/s"]
      |                    ^~~~~~~~ write ["50%", "8 GB/s"]
)"},
    {"[group.a]\nmb = []\n",
     R"(p.toml:2:6: error: 'mb' has 0 amounts; an array holds one amount in two forms
    2 | mb = []
      |      ^~ write ["50%", "8 GB/s"]
)"},
    {"[group.a]\nmb = [\"50%\", \"8 GB/s\", \"1 GB/s\"]\n",
     R"(p.toml:2:6: error: 'mb' has 3 amounts; an array holds one amount in two forms
    2 | mb = ["50%", "8 GB/s", "1 GB/s"]
      |      ^~~~~~~~~~~~~~~~~~~~~~~~~~~ write ["50%", "8 GB/s"]
)"},
    {"[group.a]\nmb = [50, \"8 GB/s\"]\n",
     R"(p.toml:2:7: error: 'mb' must be a string, not an integer
    2 | mb = [50, "8 GB/s"]
      |       ^~ write "50%"; on AMD's processors, 50 is "6.25 GB/s"
)"},
    {"[group.a]\nl3 = \"L3:0=f;1=3\"\nl2 = \"0=0xf\"\nmb = \"0=50;1=100\"\n",
     R"(p.toml:2:6: error: 'L3:0=f;1=3' is not a cache amount
    2 | l3 = "L3:0=f;1=3"
      |      ^~~~~~~~~~~~ write { "0" = "0xf", "1" = "0x3" }
p.toml:3:6: error: '0=0xf' is not a cache amount
    3 | l2 = "0=0xf"
      |      ^~~~~~~ write { "0" = "0xf" }
p.toml:4:6: error: '0=50;1=100' is not a bandwidth
    4 | mb = "0=50;1=100"
      |      ^~~~~~~~~~~~ write { "0" = "50%", "1" = "100%" }; on AMD's processors, 50 is "6.25 GB/s"
)"},
    {"[group.a]\nl3 = \"half\"\nl2 = \"1/4\"\nmb = \"1/3\"\nsmba = \"2/1\"\n",
     R"(p.toml:2:6: error: 'half' is not a cache amount
    2 | l3 = "half"
      |      ^~~~~~ write "50%"
p.toml:3:6: error: '1/4' is not a cache amount
    3 | l2 = "1/4"
      |      ^~~~~ write "25%"
p.toml:4:6: error: '1/3' is not a bandwidth
    4 | mb = "1/3"
      |      ^~~~~ write "33.3%"; AMD's processors take a rate, such as "8 GB/s"
p.toml:5:8: error: '2/1' is not a bandwidth
    5 | smba = "2/1"
      |        ^~~~~ write "50%", "8 GB/s", "800 MiB/s" or "unlimited"
)"},
    {"[group.a]\nl3 = \"min\"\nexclusive = 1\n",
     R"(p.toml:2:6: error: 'min' is not a cache amount
    2 | l3 = "min"
      |      ^~~~~ write "1 way"
p.toml:3:13: error: 'exclusive' must be true, false or "strict", not an integer
    3 | exclusive = 1
      |             ^ write exclusive = true
)"},
    {"[group.a]\nl3 = 0.000001\n",
     R"(p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not a float
    2 | l3 = 0.000001
      |      ^~~~~~~~ write "4 ways" or "25%"
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
      |      ^~ write "50%"; on AMD's processors, 50 is "6.25 GB/s"
)"},
    {"[group.a]\nmb = 2048\n",
     R"(p.toml:2:6: error: 'mb' must be a string or a table that maps domains to amounts, not an integer
    2 | mb = 2048
      |      ^~~~ add a unit: "2048 MiB/s", or of AMD's schemata "256 GB/s"
)"},
    {"[group.a]\nmb = true\n",
     R"(p.toml:2:6: error: 'mb' must be a string or a table that maps domains to amounts, not a boolean
    2 | mb = true
      |      ^~~~ write "50%"; AMD's processors take a rate, such as "8 GB/s"
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
      |        ^~~~~ write domains that 'rdtctl info' lists, such as "0" or "0-1", or "*" for all
)"},
    {"[group.a]\nl3 = { \"0-\" = \"1 way\" }\n",
     R"(p.toml:2:8: error: '0-' is not a list of domains: a number is missing
    2 | l3 = { "0-" = "1 way" }
      |        ^~~~ write domains that 'rdtctl info' lists, such as "0" or "0-1", or "*" for all
)"},
    {"[group.a]\nl3 = { \"5000000000\" = \"1 way\" }\n",
     R"(p.toml:2:8: error: '5000000000' is not a list of domains: the highest number is 4294967295
    2 | l3 = { "5000000000" = "1 way" }
      |        ^~~~~~~~~~~~ write domains that 'rdtctl info' lists, such as "0" or "0-1", or "*" for all
)"},
    {"[group.a]\nl3 = { \"0-999999\" = \"1 way\" }\n",
     R"(p.toml:2:8: error: '0-999999' is more domains than a policy may list
    2 | l3 = { "0-999999" = "1 way" }
      |        ^~~~~~~~~~ write "*" for all domains
)"},
    {"[group.a]\nmb = \"10%...50%\"\n",
     R"(p.toml:2:6: error: '10%...50%' is not a range: it has a dot too many
    2 | mb = "10%...50%"
      |      ^~~~~~~~~~~ write "10%..50%"
)"},
    {"[group.a]\nl3 = \"2...4 ways\"\n",
     R"(p.toml:2:6: error: '2...4 ways' is not a range: it has a dot too many
    2 | l3 = "2...4 ways"
      |      ^~~~~~~~~~~~ write "2..4 ways"
)"},
    {"[group.a]\nl3 = \"0.5\"\nmb = \"0.25\"\n",
     R"(p.toml:2:6: error: '0.5' is not a cache amount
    2 | l3 = "0.5"
      |      ^~~~~ write "50%"
p.toml:3:6: error: '0.25' is not a bandwidth
    3 | mb = "0.25"
      |      ^~~~~~ write "25%"; AMD's processors take a rate, such as "8 GB/s"
)"},
    {"[group.a]\nl3 = \"262144B\"\n",
     R"(p.toml:2:6: error: '262144B' is not a cache amount
    2 | l3 = "262144B"
      |      ^~~~~~~~~ write "256 KiB"
)"},
    {"[group.a]\nl3 = \"100 bytes\"\n",
     R"(p.toml:2:6: error: '100 bytes' is not a cache amount
    2 | l3 = "100 bytes"
      |      ^~~~~~~~~~~ write "1 KiB"
)"},
    {"[group.a]\nl3 = 0b1111\n",
     R"(p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an integer
    2 | l3 = 0b1111
      |      ^~~~~~ write "0xf"
)"},
    {"[group.a]\nmb = \"10..unlimited\"\n",
     R"(p.toml:2:6: error: '10..unlimited' is not a range: '10' has no unit
    2 | mb = "10..unlimited"
      |      ^~~~~~~~~~~~~~~ write "10%..100%"
)"},
    {"[group.a]\nl3 = \"2..all\"\n",
     R"(p.toml:2:6: error: '2..all' is not a range: '2' has no unit
    2 | l3 = "2..all"
      |      ^~~~~~~~ write "1..6 ways"
)"},
    {"[group.a]\nl3 = \"4\xc2\xa0"
     "ways\"\nmb = \"50\xc2\xa0"
     "%\"\n",
     R"(p.toml:2:6: error: '4 ways' has U+00A0, a no-break space
    2 | l3 = "4 ways"
      |      ^~~~~~~~ write an ordinary space
p.toml:3:6: error: '50 %' has U+00A0, a no-break space
    3 | mb = "50 %"
      |      ^~~~~~ write an ordinary space
)"},
    {"[group.a]\nl3 = { ways = 4 }\n",
     R"(p.toml:2:8: error: 'ways' is not a list of domains: 'ways' is not a number
    2 | l3 = { ways = 4 }
      |        ^~~~ write l3 = "4 ways"
)"},
    {"[group.a]\nl3.ways = 4\n",
     R"(p.toml:2:4: error: 'ways' is not a list of domains: 'ways' is not a number
    2 | l3.ways = 4
      |    ^~~~ write l3 = "4 ways"
)"},
    {"[group.a]\nl3 = { percent = 50 }\nmb = { percent = 50 }\n",
     R"(p.toml:2:8: error: 'percent' is not a list of domains: 'percent' is not a number
    2 | l3 = { percent = 50 }
      |        ^~~~~~~ write l3 = "50%"
p.toml:3:8: error: 'percent' is not a list of domains: 'percent' is not a number
    3 | mb = { percent = 50 }
      |        ^~~~~~~ write mb = "50%"
)"},
    {"[group.a]\nl3 = { all = \"4 ways\" }\nmb = { socket1 = \"50%\" }\n",
     R"(p.toml:2:8: error: 'all' is not a list of domains: 'all' is not a number
    2 | l3 = { all = "4 ways" }
      |        ^~~ write "*" for all domains that have no amount of their own
p.toml:3:8: error: 'socket1' is not a list of domains: 'socket1' is not a number
    3 | mb = { socket1 = "50%" }
      |        ^~~~~~~ write the domains of socket1, which 'rdtctl info' lists: "1" if the numbers are the same
)"},
    {"[group.a]\nl3 = { mask = \"0xf\" }\n",
     R"(p.toml:2:8: error: 'mask' is not a list of domains: 'mask' is not a number
    2 | l3 = { mask = "0xf" }
      |        ^~~~ write l3 = "0xf"
)"},
    {"[group.a]\nl3 = { min = \"2 ways\", max = \"4 ways\" }\n",
     R"(p.toml:2:8: error: 'min' is not a list of domains: 'min' is not a number
    2 | l3 = { min = "2 ways", max = "4 ways" }
      |        ^~~ write a range: l3 = "2..4 ways"
p.toml:2:24: error: 'max' is not a list of domains: 'max' is not a number
    2 | l3 = { min = "2 ways", max = "4 ways" }
      |                        ^~~ write a range: l3 = "2..4 ways"
)"},
    {"[group.a]\nmb = { min = 10 }\n",
     R"(p.toml:2:8: error: 'min' is not a list of domains: 'min' is not a number
    2 | mb = { min = 10 }
      |        ^~~ write a range: mb = "10%..100%"
)"},
    {"[group.a]\nl3code = \"1..3 ways\"\n",
     R"(p.toml:2:10: error: '1..3 ways' is a range, which only the l3, l2, mb and smba of a group can have
    2 | l3code = "1..3 ways"
      |          ^~~~~~~~~~~ write one amount
)"},
    {"[group.a]\nl3 = { code = \"0xf\", data = \"0xf0\" }\n",
     R"(p.toml:2:8: error: 'code' is not a list of domains: 'code' is not a number
    2 | l3 = { code = "0xf", data = "0xf0" }
      |        ^~~~ write l3code = "0xf"
p.toml:2:22: error: 'data' is not a list of domains: 'data' is not a number
    2 | l3 = { code = "0xf", data = "0xf0" }
      |                      ^~~~ write l3data = "0xf0"
)"},
    {"[group.a]\nl3 = { size = \"2 MiB\" }\n",
     R"(p.toml:2:8: error: 'size' is not a list of domains: 'size' is not a number
    2 | l3 = { size = "2 MiB" }
      |        ^~~~ write l3 = "2 MiB"
)"},
    {"[group.a]\nl3 = { \"0,0\" = \"1 way\" }\n",
     R"(p.toml:2:8: error: '0,0' lists a domain twice
    2 | l3 = { "0,0" = "1 way" }
      |        ^~~~~
)"},
    {"[group.a]\nl3 = { \"0-1,1\" = \"1 way\", \"1\" = \"2 ways\" }\n",
     R"(p.toml:2:8: error: '0-1,1' lists a domain twice
    2 | l3 = { "0-1,1" = "1 way", "1" = "2 ways" }
      |        ^~~~~~~
)"},
};

TEST(PolicyAmounts, Errors) { expect_errors(amount_errors); }

constexpr PolicyAndErrors cpu_errors[] = {
    {"[group.a]\ncpus = \"0x0f\"\n",
     R"(p.toml:2:8: error: '0x0f' is not a CPU list: '0x0f' is not a number
    2 | cpus = "0x0f"
      |        ^~~~~~ write "0-3"
)"},
    {"[group.a]\ncpus = \"8-\"\n",
     R"(p.toml:2:8: error: '8-' is not a CPU list: a number is missing
    2 | cpus = "8-"
      |        ^~~~ write the last CPU too, as in "8-11"
)"},
    {"[group.a]\ncpus = \"20-\"\n",
     R"(p.toml:2:8: error: '20-' is not a CPU list: a number is missing
    2 | cpus = "20-"
      |        ^~~~~ write the last CPU too, as in "20-23"
)"},
    {"[group.a]\ncpus = \"!2-7\"\n",
     R"(p.toml:2:8: error: '!2-7' is not a CPU list: '!2' is not a number
    2 | cpus = "!2-7"
      |        ^~~~~~ write the CPUs that the group has, as in "0-3,8"
)"},
    {"[group.a]\ncpus = \"Node0\"\n",
     R"(p.toml:2:8: error: 'Node0' is not a CPU list: 'Node0' is not a number
    2 | cpus = "Node0"
      |        ^~~~~~~ write the numbers of its CPUs, as in "0-3,8"; 'lscpu' lists those of each node
)"},
    {"[group.a]\ncpus = \"0 to 3\"\n",
     R"(p.toml:2:8: error: '0 to 3' is not a CPU list: '0 to 3' is not a number
    2 | cpus = "0 to 3"
      |        ^~~~~~~~ write "0-3"
)"},
    {"[group.a]\nl3 = \"4-7 ways\"\n",
     R"(p.toml:2:6: error: '4-7 ways' is not a cache amount
    2 | l3 = "4-7 ways"
      |      ^~~~~~~~~~ write "ways 4-7" for exactly these ways, or "4..7 ways" for a number between
)"},
    {"[group.a]\nl3 = \"4\u200b ways\"\n",
     "p.toml:2:6: error: '4\u200b ways' is not a cache amount\n    2 | l3 = \"4\u200b ways\"\n"
     "      |      ^~~~~~~~~ write \"4 ways\"\n"},
    {"[group.a]\ncpus = \"0-x\"\n",
     R"(p.toml:2:8: error: '0-x' is not a CPU list: 'x' is not a number
    2 | cpus = "0-x"
      |        ^~~~~ for example "0-3,8"
)"},
    {"[group.default]\ncpus = \"0\"\n",
     R"(p.toml:2:8: error: 'cpus' in [group.default]: the default group has every CPU that no other group has
    2 | cpus = "0"
      |        ^~~
)"},
    {"[group.a]\ncpus = \"0-65536\"\n",
     R"(p.toml:2:8: error: '0-65536' is not a CPU list: the highest number is 65535
    2 | cpus = "0-65536"
      |        ^~~~~~~~~ for example "0-3,8"
)"},
    {"[group.a]\ncpus = \"3-1\"\n",
     R"(p.toml:2:8: error: '3-1' is not a CPU list: the range '3-1' ends before it begins
    2 | cpus = "3-1"
      |        ^~~~~ for example "0-3,8"
)"},
    {"[group.a]\ncpus = \"\"\n",
     R"(p.toml:2:8: error: '' is not a CPU list: it is empty
    2 | cpus = ""
      |        ^~ for example "0-3,8"
)"},
    {"[group.a]\ncpus = \"1,,2\"\n",
     R"(p.toml:2:8: error: '1,,2' is not a CPU list: a number is missing
    2 | cpus = "1,,2"
      |        ^~~~~~ for example "0-3,8"
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
     R"(p.toml:2:8: error: 'cpus' must be a string, an integer or an array of integers, not an array with strings
    2 | cpus = [0, "1"]
      |        ^~~~~~~~ write cpus = "0-1"
)"},
    {"[group.a]\ncpus = []\n",
     R"(p.toml:2:8: error: 'cpus' is an empty array
    2 | cpus = []
      |        ^~
)"},
    {"[group.a]\ncpus = true\n",
     R"(p.toml:2:8: error: 'cpus' must be a string, an integer or an array of integers, not a boolean
    2 | cpus = true
      |        ^~~~ for example "0-3,8"
)"},
    {"[group.a]\ncpus = \"0-3\"\n[group.b]\ncpus = [1, 2, 7]\n[group.c]\ncpus = 3\n",
     R"(p.toml:4:8: error: CPUs 1-2 are given to two groups: here and to 'a' in p.toml:2
    4 | cpus = [1, 2, 7]
      |        ^~~~~~~~~
p.toml:6:8: error: CPU 3 is given to two groups: here and to 'a' in p.toml:2
    6 | cpus = 3
      |        ^
)"},
};

TEST(PolicyAmounts, Cpus) { expect_errors(cpu_errors); }

}  // namespace
}  // namespace rdtd
