// Marks, headers and numbers of other languages, and amounts that are nearly right: what the policy
// says to write instead, with its whole text.
#include "policy_support.hpp"

namespace rdtd::policy_marks {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors rows[] = {
    {"l3 \"1 way\"\n",
     "p.toml:1:4: error: '=' is missing after the key 'l3'\n"
     "    1 | l3 \"1 way\"\n"
     "      |    ^ write l3 = \"1 way\"\n"},
    {"l3 \"1 way\"  # c\n",
     "p.toml:1:4: error: '=' is missing after the key 'l3'\n"
     "    1 | l3 \"1 way\"  # c\n"
     "      |    ^ write l3 = \"1 way\"\n"},
    {"include \"x\"\n",
     "p.toml:1:9: error: '=' is missing after the key 'include'\n"
     "    1 | include \"x\"\n"
     "      |         ^ every *.toml file of /etc/rdtd is read, in the order of their names\n"},
    {"!include x\n",
     "p.toml:1:1: error: unexpected '!'; a key must stand here\n"
     "    1 | !include x\n"
     "      | ^ every *.toml file of /etc/rdtd is read, in the order of their names\n"},
    {"group a {\n",
     "p.toml:1:7: error: '=' is missing after the key 'group'\n"
     "    1 | group a {\n"
     "      |       ^ write [group.a]\n"},
    {"group \"a\" {\n",
     "p.toml:1:7: error: '=' is missing after the key 'group'\n"
     "    1 | group \"a\" {\n"
     "      |       ^ write [group.a]\n"},
    {"-- c\n",
     "p.toml:1:4: error: '=' is missing after the key '--'\n"
     "    1 | -- c\n"
     "      |    ^ a comment begins with '#'\n"},
    {"x-a = \"1 way\";\n",
     "p.toml:1:14: error: unexpected ';' after the value\n"
     "    1 | x-a = \"1 way\";\n"
     "      |              ^ remove it: nothing follows a value\n"},
    {"x-a = \"1 way\",\n",
     "p.toml:1:14: error: unexpected ',' after the value\n"
     "    1 | x-a = \"1 way\",\n"
     "      |              ^ remove it: nothing follows a value\n"},
    {"x-a = \"b\"; # c\n",
     "p.toml:1:10: error: unexpected '; # c' after the value\n"
     "    1 | x-a = \"b\"; # c\n"
     "      |          ^~~~~ remove it: nothing follows a value\n"},
    {"x-a = true;\n",
     "p.toml:1:11: error: unexpected ';' after the value\n"
     "    1 | x-a = true;\n"
     "      |           ^ remove it: nothing follows a value\n"},
    {"x-a = 1 // c\n",
     "p.toml:1:7: error: '1 // c' is not in quotes\n"
     "    1 | x-a = 1 // c\n"
     "      |       ^~~~~~ quote it: \"1 // c\"\n"},
    {"x-a = \"b\" -- c\n",
     "p.toml:1:11: error: unexpected '-- c' after the value\n"
     "    1 | x-a = \"b\" -- c\n"
     "      |           ^~~~ a comment begins with '#'\n"},
    {"[group.a]\n[group.b]\n[group.a]\n",
     "p.toml:3:1: error: [group.a] is defined twice: here and in p.toml:1\n"
     "    3 | [group.a]\n"
     "      | ^~~~~~~~~ put its keys under the first\n"},
    {"[[rule]]\n[rule]\n",
     "p.toml:2:1: error: [rule] is defined twice: here and in p.toml:1\n"
     "    2 | [rule]\n"
     "      | ^~~~~~ write [[rule]]\n"},
    {"[group.über]\n",
     "p.toml:1:8: error: 'ü' is not allowed in a name\n"
     "    1 | [group.über]\n"
     "      |        ^ a name consists of letters a to z, digits, '.', '_' and '-'\n"},
    {"[group.büro]\n",
     "p.toml:1:9: error: 'ü' is not allowed in a name\n"
     "    1 | [group.büro]\n"
     "      |         ^ a name consists of letters a to z, digits, '.', '_' and '-'\n"},
    {"[[rule]]\ngroup = \"default\"\nuser = 99999999999999999999\n",
     "p.toml:3:8: error: '99999999999999999999' is larger than any number of TOML\n"
     "    3 | user = 99999999999999999999\n"
     "      |        ^~~~~~~~~~~~~~~~~~~~\n"},
    {"x-a = -99999999999999999999\n",
     "p.toml:1:7: error: '-99999999999999999999' is smaller than any number of TOML\n"
     "    1 | x-a = -99999999999999999999\n"
     "      |       ^~~~~~~~~~~~~~~~~~~~~\n"},
    {"x-a = 0xffffffffffffffff\n",
     "p.toml:1:7: error: '0xffffffffffffffff' is larger than any number of TOML\n"
     "    1 | x-a = 0xffffffffffffffff\n"
     "      |       ^~~~~~~~~~~~~~~~~~\n"},
    {"x-a = [1, 99_999_999_999_999_999_999]\n",
     "p.toml:1:11: error: '99_999_999_999_999_999_999' is larger than any number of TOML\n"
     "    1 | x-a = [1, 99_999_999_999_999_999_999]\n"
     "      |           ^~~~~~~~~~~~~~~~~~~~~~~~~~\n"},
    {"x-a = 9223372036854775807\n", ""},
    {"[group.a]\nl3 = \"1.5 ways\"\n",
     "p.toml:2:6: error: '1.5 ways' is not a cache amount\n"
     "    2 | l3 = \"1.5 ways\"\n"
     "      |      ^~~~~~~~~~ a number of ways is whole: write \"2 ways\"\n"},
    {"[group.a]\nl3 = \"-1 ways\"\n",
     "p.toml:2:6: error: '-1 ways' is not a cache amount\n"
     "    2 | l3 = \"-1 ways\"\n"
     "      |      ^~~~~~~~~ a number of ways is whole: write \"1 way\"\n"},
    {"[group.a]\nl3 = \"1e3 ways\"\n",
     "p.toml:2:6: error: '1e3 ways' is not a cache amount\n"
     "    2 | l3 = \"1e3 ways\"\n"
     "      |      ^~~~~~~~~~ a number of ways is whole: write \"2 ways\"\n"},
    {"[group.a]\nl3 = \"0 ways\"\n",
     "p.toml:2:6: error: '0 ways' is no cache at all: the minimum is 1 way\n"
     "    2 | l3 = \"0 ways\"\n"
     "      |      ^~~~~~~~ write \"1 way\"\n"},
    {"[group.a]\nl3 = \"0 MiB\"\n",
     "p.toml:2:6: error: '0 MiB' is no cache at all: the minimum is 1 way\n"
     "    2 | l3 = \"0 MiB\"\n"
     "      |      ^~~~~~~ write \"1 way\"\n"},
    {"[group.a]\nl3 = \"0%\"\n",
     "p.toml:2:6: error: '0%' is not above 0%\n"
     "    2 | l3 = \"0%\"\n"
     "      |      ^~~~ write \"1%\"\n"},
    {"[group.a]\nl3 = \"101%\"\n",
     "p.toml:2:6: error: '101%' is more than 100%\n"
     "    2 | l3 = \"101%\"\n"
     "      |      ^~~~~~ write \"100%\"\n"},
    {"[group.a]\nl3 = \"-10%\"\n",
     "p.toml:2:6: error: '-10%' is not a percentage\n"
     "    2 | l3 = \"-10%\"\n"
     "      |      ^~~~~~ write \"10%\"\n"},
    {"[group.a]\nl3 = \"1 TiB\"\n",
     "p.toml:2:6: error: '1 TiB' is not a cache amount\n"
     "    2 | l3 = \"1 TiB\"\n"
     "      |      ^~~~~~~ write \"1024 GiB\"\n"},
    {"[group.a]\nl3 = \"2 ways or more\"\n",
     "p.toml:2:6: error: '2 ways or more' is not a cache amount\n"
     "    2 | l3 = \"2 ways or more\"\n"
     "      |      ^~~~~~~~~~~~~~~~ write \"2 ways\"\n"},
    {"[group.a]\nl3 = \">= 2 ways\"\n",
     "p.toml:2:6: error: '>= 2 ways' is not a cache amount\n"
     "    2 | l3 = \">= 2 ways\"\n"
     "      |      ^~~~~~~~~~~ write \"2 ways\"\n"},
    {"[group.a]\nl3 = \"at least 10%\"\n",
     "p.toml:2:6: error: 'at least 10%' is not a percentage\n"
     "    2 | l3 = \"at least 10%\"\n"
     "      |      ^~~~~~~~~~~~~~ write \"10%\"\n"},
    {"[group.a]\nl3 = \"way 0 to 3\"\n",
     "p.toml:2:6: error: 'way 0 to 3' is not a cache amount\n"
     "    2 | l3 = \"way 0 to 3\"\n"
     "      |      ^~~~~~~~~~~~ write \"ways 0-3\"\n"},
    {"[group.a]\nl3 = \"ways 0 to 3\"\n",
     "p.toml:2:6: error: 'ways 0 to 3' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways 0 to 3\"\n"
     "      |      ^~~~~~~~~~~~~ write \"ways 0-3\"\n"},
    {"[group.a]\nmb = \"200%\"\n",
     "p.toml:2:6: error: '200%' is more than 100%\n"
     "    2 | mb = \"200%\"\n"
     "      |      ^~~~~~ write \"100%\"\n"},
    {"[group.a]\nmb = \"0%\"\n",
     "p.toml:2:6: error: '0%' is not above 0%\n"
     "    2 | mb = \"0%\"\n"
     "      |      ^~~~ write \"1%\"\n"},
    {"[group.a]\nmb = \"1 TB/s\"\n",
     "p.toml:2:6: error: '1 TB/s' is not a bandwidth\n"
     "    2 | mb = \"1 TB/s\"\n"
     "      |      ^~~~~~~~ write \"1000 GB/s\"\n"},
    {"[group.a]\nmb = \"1 TiB/s\"\n",
     "p.toml:2:6: error: '1 TiB/s' is not a bandwidth\n"
     "    2 | mb = \"1 TiB/s\"\n"
     "      |      ^~~~~~~~~ write \"1024 GiB/s\"\n"},
    {"[group.a]\nmb = \"at least 10%\"\n",
     "p.toml:2:6: error: 'at least 10%' is not a percentage\n"
     "    2 | mb = \"at least 10%\"\n"
     "      |      ^~~~~~~~~~~~~~ write \"10%..unlimited\"\n"},
    {"[group.a]\nmb = \"-10%\"\n",
     "p.toml:2:6: error: '-10%' is not a percentage\n"
     "    2 | mb = \"-10%\"\n"
     "      |      ^~~~~~ write \"10%\"\n"},
};

TEST(PolicyMarks, Findings) { expect_errors(rows); }

}  // namespace
}  // namespace rdtd::policy_marks
