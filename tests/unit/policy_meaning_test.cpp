// Guesses whose nearest key or amount means something else, with the whole texts of the cures.
#include "policy_support.hpp"

namespace rdtd::policy_meaning {
namespace {

using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors guesses_and_cures[] = {
    {"[group.a]\n"
     "nonexclusive = true\n",
     "p.toml:2:1: error: unknown key 'nonexclusive' in [group.a]\n"
     "    2 | nonexclusive = true\n"
     "      | ^~~~~~~~~~~~ remove this line: groups share ways unless one of them has exclusive = "
     "true\n"},
    {"[group.a]\n"
     "no_exclusive = false\n",
     "p.toml:2:1: error: unknown key 'no_exclusive' in [group.a]\n"
     "    2 | no_exclusive = false\n"
     "      | ^~~~~~~~~~~~ write exclusive = true\n"},
    {"[group.a]\n"
     "inclusive = true\n",
     "p.toml:2:1: error: unknown key 'inclusive' in [group.a]\n"
     "    2 | inclusive = true\n"
     "      | ^~~~~~~~~ remove this line: groups share ways unless one of them has exclusive = "
     "true\n"},
    {"[partition.a]\n"
     "l3 = \"4 ways\"\n"
     "unexclusive = true\n",
     "p.toml:3:1: error: unknown key 'unexclusive' in [partition.a]\n"
     "    3 | unexclusive = true\n"
     "      | ^~~~~~~~~~~ remove this line: a partition is always exclusive to its groups\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "unless_unit = \"a.service\"\n"
     "except_name = \"x\"\n",
     "p.toml:5:1: error: unknown key 'unless_unit' in [[rule]]\n"
     "    5 | unless_unit = \"a.service\"\n"
     "      | ^~~~~~~~~~~ to leave processes alone, write group = \"leave\" in an earlier rule\n"
     "p.toml:6:1: error: unknown key 'except_name' in [[rule]]\n"
     "    6 | except_name = \"x\"\n"
     "      | ^~~~~~~~~~~ to leave processes alone, write group = \"leave\" in an earlier rule\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "name = \"b\"\n"
     "skip_user = \"x\"\n"
     "user_not = \"x\"\n",
     "p.toml:6:1: error: unknown key 'skip_user' in [[rule]]\n"
     "    6 | skip_user = \"x\"\n"
     "      | ^~~~~~~~~ to leave processes alone, write group = \"leave\" in an earlier rule\n"
     "p.toml:7:1: error: unknown key 'user_not' in [[rule]]\n"
     "    7 | user_not = \"x\"\n"
     "      | ^~~~~~~~ to leave processes alone, write group = \"leave\" in an earlier rule\n"},
    {"[group.a]\n"
     "l3 = [{ domain = 1, ways = 4 }, { domain = 0, ways = 2 }]\n",
     "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an "
     "array\n"
     "    2 | l3 = [{ domain = 1, ways = 4 }, { domain = 0, ways = 2 }]\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ write { \"1\" = \"4 "
     "ways\", \"0\" = \"2 ways\" }\n"},
    {"[group.a]\n"
     "l3 = { domain = 0, ways = 4 }\n",
     "p.toml:2:8: error: 'domain' is not a list of domains: 'domain' is not a number\n"
     "    2 | l3 = { domain = 0, ways = 4 }\n"
     "      |        ^~~~~~ write l3 = { \"0\" = \"4 ways\" }\n"
     "p.toml:2:20: error: 'ways' is not a list of domains: 'ways' is not a number\n"
     "    2 | l3 = { domain = 0, ways = 4 }\n"
     "      |                    ^~~~ write l3 = { \"0\" = \"4 ways\" }\n"},
    {"[group.a]\n"
     "mb = { domain = \"0\", value = \"10 GB/s\" }\n",
     "p.toml:2:8: error: 'domain' is not a list of domains: 'domain' is not a number\n"
     "    2 | mb = { domain = \"0\", value = \"10 GB/s\" }\n"
     "      |        ^~~~~~ write mb = { \"0\" = \"10 GB/s\" }\n"
     "p.toml:2:22: error: 'value' is not a list of domains: 'value' is not a number\n"
     "    2 | mb = { domain = \"0\", value = \"10 GB/s\" }\n"
     "      |                      ^~~~~ write mb = { \"0\" = \"10 GB/s\" }\n"},
    {"[group.a]\n"
     "mb = [{ domain = 0, value = \"10 GB/s\" }]\n",
     "p.toml:2:6: error: 'mb' must be a string or a table that maps domains to amounts, not an "
     "array\n"
     "    2 | mb = [{ domain = 0, value = \"10 GB/s\" }]\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ write { \"0\" = \"10 GB/s\" }\n"},
    {"[group.a.l3]\n"
     "domain = 1\n"
     "ways = 4\n",
     "p.toml:2:1: error: 'domain' is not a list of domains: 'domain' is not a number\n"
     "    2 | domain = 1\n"
     "      | ^~~~~~ write \"1\" = \"4 ways\" in this table\n"
     "p.toml:3:1: error: 'ways' is not a list of domains: 'ways' is not a number\n"
     "    3 | ways = 4\n"
     "      | ^~~~ write \"1\" = \"4 ways\" in this table\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "scope = \"session-3\"\n",
     "p.toml:5:1: error: unknown key 'scope' in [[rule]]\n"
     "    5 | scope = \"session-3\"\n"
     "      | ^~~~~ write unit = \"session-3.scope\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "slice = [\"batch\", \"build\"]\n",
     "p.toml:5:1: error: unknown key 'slice' in [[rule]]\n"
     "    5 | slice = [\"batch\", \"build\"]\n"
     "      | ^~~~~ write unit = [\"batch.slice\", \"build.slice\"]\n"},
    {"[group.a]\n"
     "slice = \"batch\"\n",
     "p.toml:2:1: error: unknown key 'slice' in [group.a]\n"
     "    2 | slice = \"batch\"\n"
     "      | ^~~~~ write [[rule]] with group = \"a\" and unit = \"batch.slice\"\n"},
    {"[group.a]\n"
     "l3 = \"ways 8:11\"\n",
     "p.toml:2:6: error: 'ways 8:11' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways 8:11\"\n"
     "      |      ^~~~~~~~~~~ write \"ways 8-11\"\n"},
    {"[group.a]\n"
     "l3 = \"ways 2/5\"\n",
     "p.toml:2:6: error: 'ways 2/5' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways 2/5\"\n"
     "      |      ^~~~~~~~~~ write \"ways 2-5\"\n"},
    {"[group.a]\n"
     "l3 = \"ways [2,5]\"\n",
     "p.toml:2:6: error: 'ways [2,5]' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways [2,5]\"\n"
     "      |      ^~~~~~~~~~~~ write \"ways 2-5\"\n"},
    {"[group.a]\n"
     "l3 = \"ways 2 5\"\n",
     "p.toml:2:6: error: 'ways 2 5' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways 2 5\"\n"
     "      |      ^~~~~~~~~~ write \"ways 2-5\"\n"},
    {"[group.a]\n"
     "l3 = \"ways 2 through 5\"\n",
     "p.toml:2:6: error: 'ways 2 through 5' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways 2 through 5\"\n"
     "      |      ^~~~~~~~~~~~~~~~~~ write \"ways 2-5\"\n"},
    {"[group.a]\n"
     "l3 = \"ways {2..5}\"\n",
     "p.toml:2:6: error: 'ways {2..5}' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways {2..5}\"\n"
     "      |      ^~~~~~~~~~~~~ write \"ways 2-5\"\n"},
    {"[group.a]\n"
     "l3 = \"ways 2+3\"\n",
     "p.toml:2:6: error: 'ways 2+3' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways 2+3\"\n"
     "      |      ^~~~~~~~~~ write \"0xc\"\n"},
    {"[group.a]\n"
     "l3 = \"ways 2 to 5\"\n",
     "p.toml:2:6: error: 'ways 2 to 5' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways 2 to 5\"\n"
     "      |      ^~~~~~~~~~~~~ write \"ways 2-5\"\n"},
    {"[group.a]\n"
     "l3 = \"ways 2–5\"\n",
     "p.toml:2:6: error: 'ways 2–5' is not a range of the ways 0 to 31\n"
     "    2 | l3 = \"ways 2–5\"\n"
     "      |      ^~~~~~~~~~ write \"ways 2-5\"\n"},
    {"[group.a]\n"
     "l3 = { \"numa0\" = \"8 ways\" }\n",
     "p.toml:2:8: error: 'numa0' is not a list of domains: 'numa0' is not a number\n"
     "    2 | l3 = { \"numa0\" = \"8 ways\" }\n"
     "      |        ^~~~~~~ write the domains of numa0, which 'rdtctl info' lists: \"0\" if the "
     "numbers are the same\n"},
    {"[group.a]\n"
     "l3 = { \"CCD0\" = \"8 ways\", \"even\" = \"1 way\", \"L3:1\" = \"2 ways\" }\n",
     "p.toml:2:8: error: 'CCD0' is not a list of domains: 'CCD0' is not a number\n"
     "    2 | l3 = { \"CCD0\" = \"8 ways\", \"even\" = \"1 way\", \"L3:1\" = \"2 ways\" }\n"
     "      |        ^~~~~~ write the domains of CCD0, which 'rdtctl info' lists: \"0\" if the "
     "numbers are the same\n"
     "p.toml:2:27: error: 'even' is not a list of domains: 'even' is not a number\n"
     "    2 | l3 = { \"CCD0\" = \"8 ways\", \"even\" = \"1 way\", \"L3:1\" = \"2 ways\" }\n"
     "      |                           ^~~~~~ write domains that 'rdtctl info' lists, such as "
     "\"0\" or \"0-1\", or \"*\" for all\n"
     "p.toml:2:45: error: 'L3:1' is not a list of domains: 'L3:1' is not a number\n"
     "    2 | l3 = { \"CCD0\" = \"8 ways\", \"even\" = \"1 way\", \"L3:1\" = \"2 ways\" }\n"
     "      |                                             ^~~~~~ write \"1\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "vm = \"x\"\n"
     "iothread = 1\n",
     "p.toml:6:1: error: unknown key 'iothread' in [[rule]]\n"
     "    6 | iothread = 1\n"
     "      | ^~~~~~~~ write thread = \"IO iothread1\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "account = \"physics\"\n",
     "p.toml:5:1: error: unknown key 'account' in [[rule]]\n"
     "    5 | account = \"physics\"\n"
     "      | ^~~~~~~ rules do not know the accounts of a scheduler; for a user, write user = "
     "\"physics\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "qos = \"low\"\n",
     "p.toml:5:1: error: unknown key 'qos' in [[rule]]\n"
     "    5 | qos = \"low\"\n"
     "      | ^~~ rules do not know the QoS of a scheduler, only the classes of Kubernetes: write "
     "unit = \"kubepods-besteffort.slice\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "step = \"0\"\n",
     "p.toml:5:1: error: unknown key 'step' in [[rule]]\n"
     "    5 | step = \"0\"\n"
     "      | ^~~~ a scheduler gives each job a cgroup, see /proc/PID/cgroup: write cgroup = "
     "\"**/step_0\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "node = \"n1\"\n",
     "p.toml:5:1: error: unknown key 'node' in [[rule]]\n"
     "    5 | node = \"n1\"\n"
     "      | ^~~~ a policy is for the machine that it lies on, all the time: give each machine "
     "its files\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "name = \"n1\"\n"
     "partition = \"gpu\"\n",
     "p.toml:6:1: error: unknown key 'partition' in [[rule]]\n"
     "    6 | partition = \"gpu\"\n"
     "      | ^~~~~~~~~ the rule's [group.NAME] names its partition; rules do not know those of a "
     "scheduler\n"},
    {"[defaults]\n"
     "l3 = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'defaults' in a policy\n"
     "    1 | [defaults]\n"
     "      |  ^~~~~~~~ a group has all its amounts: there is no template; [group.default] is for "
     "all the rest\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "cgroup = [\"job_*\", \"job_42\", \"app.slice\", \"podabcd-1234\", \"system.slice\", "
     "\"batch\", \"a/b\"]\n",
     "p.toml:5:11: error: 'job_*' can never match: a cgroup path begins with '/'\n"
     "    5 | cgroup = [\"job_*\", \"job_42\", \"app.slice\", \"podabcd-1234\", \"system.slice\", "
     "\"batch\", \"a/b\"]\n"
     "      |           ^~~~~~~ write \"**/job_*\"\n"
     "p.toml:5:20: error: 'job_42' can never match: a cgroup path begins with '/'\n"
     "    5 | cgroup = [\"job_*\", \"job_42\", \"app.slice\", \"podabcd-1234\", \"system.slice\", "
     "\"batch\", \"a/b\"]\n"
     "      |                    ^~~~~~~~ write \"**/job_42\"\n"
     "p.toml:5:30: error: 'app.slice' can never match: a cgroup path begins with '/'\n"
     "    5 | cgroup = [\"job_*\", \"job_42\", \"app.slice\", \"podabcd-1234\", \"system.slice\", "
     "\"batch\", \"a/b\"]\n"
     "      |                              ^~~~~~~~~~~ write \"**/app.slice\"\n"
     "p.toml:5:43: error: 'podabcd-1234' can never match: a cgroup path begins with '/'\n"
     "    5 | cgroup = [\"job_*\", \"job_42\", \"app.slice\", \"podabcd-1234\", \"system.slice\", "
     "\"batch\", \"a/b\"]\n"
     "      |                                           ^~~~~~~~~~~~~~ write \"**/podabcd-1234\"\n"
     "p.toml:5:59: error: 'system.slice' can never match: a cgroup path begins with '/'\n"
     "    5 | cgroup = [\"job_*\", \"job_42\", \"app.slice\", \"podabcd-1234\", \"system.slice\", "
     "\"batch\", \"a/b\"]\n"
     "      |                                                           ^~~~~~~~~~~~~~ write "
     "\"/system.slice\"\n"
     "p.toml:5:75: error: 'batch' can never match: a cgroup path begins with '/'\n"
     "    5 | cgroup = [\"job_*\", \"job_42\", \"app.slice\", \"podabcd-1234\", \"system.slice\", "
     "\"batch\", \"a/b\"]\n"
     "      |                                                                           ^~~~~~~ "
     "write \"**/batch\"\n"
     "p.toml:5:84: error: 'a/b' can never match: a cgroup path begins with '/'\n"
     "    5 | cgroup = [\"job_*\", \"job_42\", \"app.slice\", \"podabcd-1234\", \"system.slice\", "
     "\"batch\", \"a/b\"]\n"
     "      |                                                                                    "
     "^~~~~ write \"/a/b\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "unit = [\"pipewire.service\", \"plasma-kwin_wayland.service\", "
     "\"app-org.kde.dolphin@autostart.service\", \"flatpak-*.scope\", \"app-worker@1.service\"]\n",
     "p.toml:5:9: warning: 'pipewire.service' is most often a unit of a user's own service "
     "manager; 'unit' is one of the system's\n"
     "    5 | unit = [\"pipewire.service\", \"plasma-kwin_wayland.service\", "
     "\"app-org.kde.dolphin@autostart.service\", \"flatpak-*.scope\", \"\n"
     "      |         ^~~~~~~~~~~~~~~~~~ if it is the user's, write user_unit = "
     "\"pipewire.service\"\n"
     "p.toml:5:29: warning: 'plasma-kwin_wayland.service' is most often a unit of a user's own "
     "service manager; 'unit' is one of the system's\n"
     "    5 | unit = [\"pipewire.service\", \"plasma-kwin_wayland.service\", "
     "\"app-org.kde.dolphin@autostart.service\", \"flatpak-*.scope\", \"\n"
     "      |                             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~ if it is the user's, write "
     "user_unit = \"plasma-kwin_wayland.service\"\n"
     "p.toml:5:60: warning: 'app-org.kde.dolphin@autostart.service' is most often a unit of a "
     "user's own service manager; 'unit' is one of the system's\n"
     "    5 | unit = [\"pipewire.service\", \"plasma-kwin_wayland.service\", "
     "\"app-org.kde.dolphin@autostart.service\", \"flatpak-*.scope\", \"\n"
     "      |                                                            "
     "^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ if it is the user's, write user_unit = "
     "\"app-org.kde.dolphin@autostart.service\"\n"
     "p.toml:5:101: warning: 'flatpak-*.scope' is most often a unit of a user's own service "
     "manager; 'unit' is one of the system's\n"
     "    5 | unit = [\"pipewire.service\", \"plasma-kwin_wayland.service\", "
     "\"app-org.kde.dolphin@autostart.service\", \"flatpak-*.scope\", \"\n"
     "      |                                                                                      "
     "               ^~~~~~~~~~~~~~~~~ if it is the user's, write user_unit = "
     "\"flatpak-*.scope\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "unit = [\"app-zoom@.service\", \"app-firefox@.service\", \"org.gnome.Shell@.service\"]\n",
     "p.toml:5:9: error: 'app-zoom@.service' can never match: a template has no processes, only "
     "its instances have\n"
     "    5 | unit = [\"app-zoom@.service\", \"app-firefox@.service\", "
     "\"org.gnome.Shell@.service\"]\n"
     "      |         ^~~~~~~~~~~~~~~~~~~ write \"app-zoom@*.service\"\n"
     "p.toml:5:30: error: 'app-firefox@.service' can never match: a template has no processes, "
     "only its instances have\n"
     "    5 | unit = [\"app-zoom@.service\", \"app-firefox@.service\", "
     "\"org.gnome.Shell@.service\"]\n"
     "      |                              ^~~~~~~~~~~~~~~~~~~~~~ write \"app-firefox@*.service\"\n"
     "p.toml:5:54: error: 'org.gnome.Shell@.service' can never match: a template has no processes, "
     "only its instances have\n"
     "    5 | unit = [\"app-zoom@.service\", \"app-firefox@.service\", "
     "\"org.gnome.Shell@.service\"]\n"
     "      |                                                      ^~~~~~~~~~~~~~~~~~~~~~~~~~ "
     "write \"org.gnome.Shell@*.service\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "unit = [\"plasma-billing.service\", \"app-web.prod@1.service\", \"app-node.js@*.service\", "
     "\"gvfs-daemon.service\", \"app-code@1.service\"]\n",
     ""},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "name = [\"[0-9,a-f]\", \"[a-z,0-9]\", \"[0-9, a-z]\", \"[0-9a-f,A-F]\"]\n"
     "thread = \"[a-f,0-9]\"\n",
     ""},
    {"[group.a]\n"
     "l3 = { id = 0, ways = 4, \"1\" = \"2 ways\" }\n",
     "p.toml:2:8: error: 'id' is not a list of domains: 'id' is not a number\n"
     "    2 | l3 = { id = 0, ways = 4, \"1\" = \"2 ways\" }\n"
     "      |        ^~ the amount of each domain is { \"0\" = \"4 ways\" }, and other settings "
     "are keys of the group\n"
     "p.toml:2:16: error: 'ways' is not a list of domains: 'ways' is not a number\n"
     "    2 | l3 = { id = 0, ways = 4, \"1\" = \"2 ways\" }\n"
     "      |                ^~~~ the amount of each domain is { \"0\" = \"4 ways\" }, and other "
     "settings are keys of the group\n"},
    {"[group.a]\n"
     "l3 = [{ domain = 0, ways = 4, exclusive = true }]\n",
     "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an "
     "array\n"
     "    2 | l3 = [{ domain = 0, ways = 4, exclusive = true }]\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ the amount of each domain is { "
     "\"0\" = \"4 ways\" }, and other settings are keys of the group\n"},
    {"[group.a]\n"
     "l3 = [{ domains = \"0\", l3 = \"4 ways\", mb = \"50%\" }]\n",
     "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an "
     "array\n"
     "    2 | l3 = [{ domains = \"0\", l3 = \"4 ways\", mb = \"50%\" }]\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ the amount of each domain is { "
     "\"0\" = \"4 ways\" }, and other settings are keys of the group\n"},
    {"[group.a]\n"
     "l3 = [{ domain = 0, l2 = \"4 ways\" }]\n",
     "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an "
     "array\n"
     "    2 | l3 = [{ domain = 0, l2 = \"4 ways\" }]\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ the amount of each domain is { \"0\" = \"4 "
     "ways\" }, and other settings are keys of the group\n"},
    {"[group.a]\n"
     "l3 = [{ domain = 0, ways = \"4..6\" }]\n",
     "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an "
     "array\n"
     "    2 | l3 = [{ domain = 0, ways = \"4..6\" }]\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ write { \"0\" = \"4..6 ways\" }\n"},
    {"[group.a]\n"
     "l3 = [{ domain = [0, 1], ways = 4 }, { domain = 2, mask = 15 }]\n",
     "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an "
     "array\n"
     "    2 | l3 = [{ domain = [0, 1], ways = 4 }, { domain = 2, mask = 15 }]\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ write { \"0,1\" = "
     "\"4 ways\", \"2\" = \"0xf\" }\n"},
    {"[group.a]\n"
     "mb = [{ domain = 0, value = 50 }]\n",
     "p.toml:2:6: error: 'mb' must be a string or a table that maps domains to amounts, not an "
     "array\n"
     "    2 | mb = [{ domain = 0, value = 50 }]\n"
     "      |      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~ write { \"0\" = \"50%\" }\n"},
    {"[group.a]\n"
     "l3 = { domain = \"socket0\", ways = 4 }\n",
     "p.toml:2:8: error: 'domain' is not a list of domains: 'domain' is not a number\n"
     "    2 | l3 = { domain = \"socket0\", ways = 4 }\n"
     "      |        ^~~~~~ the amount of each domain is { \"0\" = \"4 ways\" }, and other "
     "settings are keys of the group\n"
     "p.toml:2:28: error: 'ways' is not a list of domains: 'ways' is not a number\n"
     "    2 | l3 = { domain = \"socket0\", ways = 4 }\n"
     "      |                            ^~~~ the amount of each domain is { \"0\" = \"4 ways\" }, "
     "and other settings are keys of the group\n"},
    {"[group.a]\n"
     "l3 = { domain = 0, min = 2, max = 4 }\n",
     "p.toml:2:8: error: 'domain' is not a list of domains: 'domain' is not a number\n"
     "    2 | l3 = { domain = 0, min = 2, max = 4 }\n"
     "      |        ^~~~~~ the amount of each domain is { \"0\" = \"4 ways\" }, and other "
     "settings are keys of the group\n"
     "p.toml:2:20: error: 'min' is not a list of domains: 'min' is not a number\n"
     "    2 | l3 = { domain = 0, min = 2, max = 4 }\n"
     "      |                    ^~~ the amount of each domain is { \"0\" = \"4 ways\" }, and "
     "other settings are keys of the group\n"
     "p.toml:2:29: error: 'max' is not a list of domains: 'max' is not a number\n"
     "    2 | l3 = { domain = 0, min = 2, max = 4 }\n"
     "      |                             ^~~ the amount of each domain is { \"0\" = \"4 ways\" }, "
     "and other settings are keys of the group\n"},
    {"[group.a]\n"
     "[[group]]\n"
     "name = \"b\" # c\n"
     "l3 = \"4 ways\"\n",
     "p.toml:2:1: error: [[group]] is defined twice: here and in p.toml:1\n"
     "    2 | [[group]]\n"
     "      | ^~~~~~~~~ write [group.b], without the line of 'name'\n"},
    {"[group.a]\n"
     "l2 = { domain = 0, l2 = \"4 ways\" }\n",
     "p.toml:2:8: error: 'domain' is not a list of domains: 'domain' is not a number\n"
     "    2 | l2 = { domain = 0, l2 = \"4 ways\" }\n"
     "      |        ^~~~~~ write l2 = { \"0\" = \"4 ways\" }\n"
     "p.toml:2:20: error: 'l2' is not a list of domains: 'l2' is not a number\n"
     "    2 | l2 = { domain = 0, l2 = \"4 ways\" }\n"
     "      |                    ^~ write l2 = { \"0\" = \"4 ways\" }\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "kthread = \"kswapd0\"\n",
     "p.toml:5:1: error: unknown key 'kthread' in [[rule]]\n"
     "    5 | kthread = \"kswapd0\"\n"
     "      | ^~~~~~~ did you mean 'name'?\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "service = \"x.timer.service\"\n",
     "p.toml:5:1: error: unknown key 'service' in [[rule]]\n"
     "    5 | service = \"x.timer.service\"\n"
     "      | ^~~~~~~ write unit = \"x.timer.service\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "array_task = 7\n",
     "p.toml:5:1: error: unknown key 'array_task' in [[rule]]\n"
     "    5 | array_task = 7\n"
     "      | ^~~~~~~~~~ a scheduler gives each job a cgroup, see /proc/PID/cgroup: write cgroup = "
     "\"**/*ID*\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "script = \"/opt/\"\n",
     "p.toml:5:1: error: unknown key 'script' in [[rule]]\n"
     "    5 | script = \"/opt/\"\n"
     "      | ^~~~~~ write cmdline = \"*/NAME.py*\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "[[rule]]\n"
     "group = \"a\"\n"
     "account = 1000\n",
     "p.toml:5:1: error: unknown key 'account' in [[rule]]\n"
     "    5 | account = 1000\n"
     "      | ^~~~~~~ rules do not know the accounts of a scheduler; for a user, write user = "
     "\"1000\"\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "no_exclusive = \"true\"\n",
     "p.toml:3:1: error: unknown key 'no_exclusive' in [group.a]\n"
     "    3 | no_exclusive = \"true\"\n"
     "      | ^~~~~~~~~~~~ remove this line: groups share ways unless one of them has exclusive = "
     "true\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "nonexclusive = 1\n",
     "p.toml:3:1: error: unknown key 'nonexclusive' in [group.a]\n"
     "    3 | nonexclusive = 1\n"
     "      | ^~~~~~~~~~~~ remove this line: groups share ways unless one of them has exclusive = "
     "true\n"},
    {"[group.a]\n"
     "l3 = \"4 ways\"\n"
     "no_l3 = false\n",
     "p.toml:3:1: error: unknown key 'no_l3' in [group.a]\n"
     "    3 | no_l3 = false\n"
     "      | ^~~~~ remove this line\n"},
    {"[io]\n"
     "l3 = \"2 ways\"\n"
     "ddio = false\n",
     "p.toml:3:1: error: unknown key 'ddio' in [io]\n"
     "    3 | ddio = false\n"
     "      | ^~~~ remove [io]: it sets the ways that I/O devices fill\n"},
};

TEST(PolicyMeaning, Findings) { expect_errors(guesses_and_cures); }

}  // namespace
}  // namespace rdtd::policy_meaning
