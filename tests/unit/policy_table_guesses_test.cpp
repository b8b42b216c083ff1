// Tables and conditions of other tools, with the whole texts of what is said of them.
#include "policy_support.hpp"

namespace rdtd::policy_table_guesses {
namespace {

using test::expect_errors;
using test::expect_findings;
using test::PolicyAndErrors;
using test::ValueAndFinding;

constexpr PolicyAndErrors tables_and_errors[] = {
    {"[partitions.p]\n"
     "l3Allocation = \"60%\"\n"
     "[partitions.p.classes.c]\n"
     "l3Allocation = \"50%\"\n",
     "p.toml:1:2: error: unknown key 'partitions' in a policy\n"
     "    1 | [partitions.p]\n"
     "      |  ^~~~~~~~~~ write [partition.p], and [group.c] with partition = \"p\"\n"},
    {"[partition.p]\n"
     "l3 = \"60%\"\n"
     "[partition.p.class.c]\n"
     "l3 = \"50%\"\n",
     "p.toml:3:14: error: unknown key 'class' in [partition.p]\n"
     "    3 | [partition.p.class.c]\n"
     "      |              ^~~~~ write [group.c] with partition = \"p\"\n"},
    {"[partition.p]\n"
     "l3 = \"60%\"\n"
     "cpus = \"0-3\"\n"
     "[group.a]\n"
     "partition = \"p\"\n",
     "p.toml:3:1: error: unknown key 'cpus' in [partition.p]\n"
     "    3 | cpus = \"0-3\"\n"
     "      | ^~~~ CPUs belong in a [group.NAME] of the partition\n"},
    {"[cache.l3]\n"
     "web = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'cache' in a policy\n"
     "    1 | [cache.l3]\n"
     "      |  ^~~~~ write [group.NAME] with l3 and mb\n"},
    {"[profile.web]\n"
     "l3 = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'profile' in a policy\n"
     "    1 | [profile.web]\n"
     "      |  ^~~~~~~ write [group.web]\n"},
    {"[variables]\n"
     "ways = 4\n",
     "p.toml:1:2: error: unknown key 'variables' in a policy\n"
     "    1 | [variables]\n"
     "      |  ^~~~~~~~~ TOML has no variables: write each value where it is used\n"},
    {"[[service]]\n"
     "group = \"default\"\n"
     "name = \"nginx\"\n",
     "p.toml:1:3: error: unknown key 'service' in a policy\n"
     "    1 | [[service]]\n"
     "      |   ^~~~~~~ write [[rule]] with unit = \"NAME\"\n"},
    {"[[assign]]\n"
     "group = \"default\"\n"
     "unit = \"nginx.service\"\n",
     "p.toml:1:3: error: unknown key 'assign' in a policy\n"
     "    1 | [[assign]]\n"
     "      |   ^~~~~~ write [[rule]]\n"},
    {"\"$schema\" = \"x.json\"\n",
     "p.toml:1:1: error: unknown key '$schema' in a policy\n"
     "    1 | \"$schema\" = \"x.json\"\n"
     "      | ^~~~~~~~~ editors take the schema of a comment: #:schema "
     "/usr/share/rdtd/rdtd.schema.json\n"},
    {"[logging]\n"
     "level = \"debug\"\n",
     "p.toml:1:2: error: unknown key 'logging' in a policy\n"
     "    1 | [logging]\n"
     "      |  ^~~~~~~ write [daemon] with log_level = \"debug\"\n"},
    {"[daemon]\n"
     "strict = true\n",
     "p.toml:2:1: error: unknown key 'strict' in [daemon]\n"
     "    2 | strict = true\n"
     "      | ^~~~~~ write unsupported = \"refuse\"\n"},
    {"[daemon]\n"
     "strict = false\n",
     "p.toml:2:1: error: unknown key 'strict' in [daemon]\n"
     "    2 | strict = false\n"
     "      | ^~~~~~ write unsupported = \"skip\"\n"},
    {"[daemon]\n"
     "skip_unsupported = true\n",
     "p.toml:2:1: error: unknown key 'skip_unsupported' in [daemon]\n"
     "    2 | skip_unsupported = true\n"
     "      | ^~~~~~~~~~~~~~~~ write unsupported = \"skip\"\n"},
    {"[daemon]\n"
     "unsupported = false\n",
     "p.toml:2:15: error: 'unsupported' must be a string, not a boolean\n"
     "    2 | unsupported = false\n"
     "      |               ^~~~~ write \"skip\" to leave out what this machine does not "
     "have, or \"refuse\"\n"},
    {"[daemon]\n"
     "readers = \"0750\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not '0750'\n"
     "    2 | readers = \"0750\"\n"
     "      |           ^~~~~~ write readers = \"group\"\n"},
    {"[daemon]\n"
     "readers = \"0755\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not '0755'\n"
     "    2 | readers = \"0755\"\n"
     "      |           ^~~~~~ write readers = \"all\"\n"},
    {"[daemon]\n"
     "reconcile_interval = \"hourly\"\n",
     "p.toml:2:22: error: 'hourly' is not a time span\n"
     "    2 | reconcile_interval = \"hourly\"\n"
     "      |                      ^~~~~~~~ write \"1h\"\n"},
    {"[daemon]\n"
     "reconcile_interval = false\n",
     "p.toml:2:22: error: 'reconcile_interval' must be a string, not a boolean\n"
     "    2 | reconcile_interval = false\n"
     "      |                      ^~~~~ write \"0\"\n"},
    {"[daemon]\n"
     "user = \"rdtd\"\n",
     "p.toml:2:1: error: unknown key 'user' in [daemon]\n"
     "    2 | user = \"rdtd\"\n"
     "      | ^~~~ rdtd runs as root: only root can write resctrl\n"},
    {"[daemon]\n"
     "pid_file = \"/run/x\"\n",
     "p.toml:2:1: error: unknown key 'pid_file' in [daemon]\n"
     "    2 | pid_file = \"/run/x\"\n"
     "      | ^~~~~~~~ rdtd writes no PID file: systemd knows its process\n"},
    {"[daemon]\n"
     "readers = \"644\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not '644'\n"
     "    2 | readers = \"644\"\n"
     "      |           ^~~~~ write readers = \"all\"\n"},
    {"[daemon]\n"
     "readers = \"1004\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not '1004'\n"
     "    2 | readers = \"1004\"\n"
     "      |           ^~~~~~ write readers = \"group\" and add 1004 to the user group rdtd\n"},
    {"[daemon]\n"
     "readers = \"1000\"\n",
     "p.toml:2:11: error: 'readers' in [daemon] must be one of group, all, not '1000'\n"
     "    2 | readers = \"1000\"\n"
     "      |           ^~~~~~ write readers = \"group\" and add 1000 to the user group rdtd\n"},
    {"[observer]\n"
     "interval = \"weekly\"\n",
     "p.toml:2:12: error: 'weekly' is not a time span\n"
     "    2 | interval = \"weekly\"\n"
     "      |            ^~~~~~~~ write \"1s\"\n"},
    {"[unit.web]\n"
     "group = \"default\"\n"
     "unit = \"web.service\"\n",
     "p.toml:1:2: error: unknown key 'unit' in a policy\n"
     "    1 | [unit.web]\n"
     "      |  ^~~~ write [[rule]] in place of [unit.web]\n"},
    {"[pseudo_lock.x]\n"
     "size = \"256K\"\n"
     "level = 3\n"
     "domain = 0\n",
     "p.toml:2:1: error: unknown key 'size' in [pseudo_lock.x]\n"
     "    2 | size = \"256K\"\n"
     "      | ^~~~ write l3 = { \"0\" = \"256 KiB\" } in place of size, level, domain\n"},
    {"[pseudo_lock.x]\n"
     "size = \"256K\"\n"
     "level = \"l3\"\n",
     "p.toml:2:1: error: unknown key 'size' in [pseudo_lock.x]\n"
     "    2 | size = \"256K\"\n"
     "      | ^~~~ write l2 or l3 with its domain, such as l2 = { \"1\" = \"256 KiB\" }\n"
     "p.toml:3:1: error: unknown key 'level' in [pseudo_lock.x]\n"
     "    3 | level = \"l3\"\n"
     "      | ^~~~~ write l2 or l3 with its domain, such as l2 = { \"1\" = \"256 KiB\" }\n"},
    {"[pseudo_lock.x]\n"
     "l3 = { \"0\" = \"256 KiB\" }\n"
     "owner = \"root:\"\n",
     "p.toml:3:9: error: 'root:' is no user\n"
     "    3 | owner = \"root:\"\n"
     "      |         ^~~~~~~ write owner = \"root\"\n"},
    {"[pseudo_lock.x]\n"
     "l3 = { \"0\" = \"256 KiB\" }\n"
     "owner = \"root:disk\"\n",
     "p.toml:3:9: error: 'root:disk' is no user\n"
     "    3 | owner = \"root:disk\"\n"
     "      |         ^~~~~~~~~~~ write owner = \"root\", and group = \"disk\"\n"},
    {"[host.node7.group.web]\n"
     "l3 = \"4 ways\"\n",
     "p.toml:1:2: error: unknown key 'host' in a policy\n"
     "    1 | [host.node7.group.web]\n"
     "      |  ^~~~ a policy is for the machine that it lies on, all the time: give each machine "
     "its files\n"},
    {"[group.a]\n"
     "min = { l3 = \"4 ways\" }\n",
     "p.toml:2:1: error: unknown key 'min' in [group.a]\n"
     "    2 | min = { l3 = \"4 ways\" }\n"
     "      | ^~~ write l3 = \"4 ways\", mb = \"50%\", or for a guard the range mb = "
     "\"10%..100%\"\n"},
    {"[[rule]]\n"
     "group = \"default\"\n"
     "name = \"web rule\"\n"
     "unit = \"nginx.service\"\n",
     "p.toml:3:8: warning: 'web rule' is the name of the processes that the rule matches\n"
     "    3 | name = \"web rule\"\n"
     "      |        ^~~~~~~~~~ if it is the name of the rule, write it as a comment (#)\n"},
    {"[[rule]]\n"
     "group = \"default\"\n"
     "name = \"Web Content\"\n"
     "exe = \"/usr/lib/firefox/firefox\"\n",
     ""},
    {"[[rule]]\n"
     "group = \"default\"\n"
     "name = \"x\"\n"
     "name.cpus = \"0\"\n",
     "p.toml:4:1: error: 'name' already has a value, in p.toml:3\n"
     "    4 | name.cpus = \"0\"\n"
     "      | ^~~~~~~~~\n"},
    {"[[rule]]\n"
     "group = \"default\"\n"
     "name = \"x\"\n"
     "monitor = \"no\"\n",
     "p.toml:4:11: warning: 'no' is the name of a monitoring group\n"
     "    4 | monitor = \"no\"\n"
     "      |           ^~~~ without 'monitor', there is none: remove this line\n"},
    {"[[rule]]\n"
     "group = \"default\"\n"
     "name = \"x\"\n"
     "monitor = \"auto\"\n",
     "p.toml:4:11: warning: 'auto' is the name of a monitoring group\n"
     "    4 | monitor = \"auto\"\n"
     "      |           ^~~~~~ write monitor = \"NAME\", or \"{unit}\" for one of each unit\n"},
    {"[[rule]]\n"
     "group = \"default\"\n"
     "name = \"x\"\n"
     "monitor = \"${user}\"\n",
     "p.toml:4:11: error: '${user}' cannot be the name of monitoring groups\n"
     "    4 | monitor = \"${user}\"\n"
     "      |           ^~~~~~~~~ write monitor = \"{user}\"\n"},
    {"[[rule]]\n"
     "group = \"default\"\n"
     "name = \"x\"\n"
     "monitor = \"{{unit}}\"\n",
     "p.toml:4:11: error: '{{unit}}' cannot be the name of monitoring groups\n"
     "    4 | monitor = \"{{unit}}\"\n"
     "      |           ^~~~~~~~~~ write monitor = \"{unit}\"\n"},
};

constexpr ValueAndFinding conditions_and_findings[] = {
    {"name = \"\\\\bnginx\\\\b\"",
     "warning: '\\bnginx\\b' may not match what it was meant for: it is a glob, not a regular "
     "expression | write \"nginx\""},
    {"name = \"usr/sbin/nginx\"",
     "warning: 'usr/sbin/nginx' may not match what it was meant for: the name of a process has "
     "no directory | write \"nginx\", or exe = \"/usr/sbin/nginx\""},
    {"name = [\"java\", \"-jar\", \"x.jar\"]",
     "warning: each pattern of 'name' is a name, and these look like the words of a command | "
     "write cmdline = \"*java -jar x.jar*\""},
    {"name = [\"tar\", \"-bash\"]", ""},
    {"name = \"web rule\"", ""},
    {"name = \"put nginx in web\"",
     "error: 'put nginx in web' can never match: the kernel cuts names to 15 bytes | write "
     "\"put nginx in we\", or a comment (#) if it names the rule"},
    {"proc.name = \"nginx\"", "error: unknown key 'proc' in [[rule]] | write name = \"nginx\""},
    {"when = { name = \"nginx\" }",
     "error: unknown key 'when' in [[rule]] | write name = \"nginx\""},
    {"not = { name = \"nginx\" }",
     "error: unknown key 'not' in [[rule]] | to leave processes alone, write group = \"leave\" in "
     "an earlier rule"},
    {"target = \"nginx.service\"",
     "error: unknown key 'target' in [[rule]] | did you mean 'unit'?"},
    {"type = \"process\"",
     "error: unknown key 'type' in [[rule]] | 'group' has it already: remove this line, or "
     "write a condition such as unit"},
    {"lxc = \"web\"", "error: unknown key 'lxc' in [[rule]] | write cgroup = \"/lxc.payload.web\""},
    {"compose = \"shop\"",
     "error: unknown key 'compose' in [[rule]] | write container = \"*shop*\""},
    {"vmid = 100", "error: unknown key 'vmid' in [[rule]] | did you mean 'vm'?"},
    {"systemd.unit = \"nginx.service\"",
     "error: unknown key 'systemd' in [[rule]] | write unit = \"nginx.service\""},
    {"unit = \"system.slice:nginx.service\"",
     "warning: 'system.slice:nginx.service' is the service 'system.slice:nginx.service.service' "
     "| write \"nginx.service\""},
    {"unit = \"system.slice:nginx\"",
     "warning: 'system.slice:nginx' is the service 'system.slice:nginx.service' | write "
     "\"nginx.service\""},
    {"unit = \"nginx.service:php.service\"",
     "warning: 'nginx.service:php.service' is the service 'nginx.service:php.service.service' | "
     "write [\"nginx.service\", \"php.service\"]"},
    {"unit = \"systemd:nginx.service\"",
     "warning: 'systemd:nginx.service' may not match what it was meant for: the value stands "
     "alone, without a word before it | write \"nginx.service\""},
    {"unit = \"[nginx.service]\"",
     "error: '[nginx.service]' can never match: '[...]' is one of the characters in it | write "
     "\"nginx.service\""},
    {"unit = \"qemu-1-web.scope\"",
     "warning: 'qemu-1-web.scope' may not match: the scope of a virtual machine begins with "
     "'machine-' | write vm = \"web\""},
    {"pod = { namespace = \"shop\", name = \"web\" }",
     "error: 'pod' must be a string or an array of strings, not a table | write pod = "
     "\"shop/web\""},
    {"pod = \"ns/shop\"",
     "warning: 'ns/shop' is a pod in the namespace 'ns'; a pod is NAMESPACE/NAME | write "
     "\"shop/*\""},
    {"k8s.pod = \"shop/web\"", "error: unknown key 'k8s' in [[rule]] | write pod = \"shop/web\""},
    {"container = \"web db\"",
     "error: 'web db' can never match: the name of a container has no blank | write [\"web\", "
     "\"db\"]"},
    {"container.name = \"web\"",
     "error: 'container' must be a string or an array of strings, not a table | write container "
     "= \"web\""},
    {"vm = \"qemu:web\"",
     "warning: 'qemu:web' may not match: the name of a machine stands alone | write \"web\""},
    {"vm = \"id:5\"",
     "warning: 'id:5' may not match: the number of a machine changes at each start | write its "
     "name, which 'virsh domname 5' shows"},
    {"vm = \"/etc/libvirt/qemu/web.xml\"",
     "error: '/etc/libvirt/qemu/web.xml' can never match: it is the name that 'virsh list' "
     "shows | write \"web\""},
    {"cgroup.path = \"/x\"",
     "error: 'cgroup' must be a string or an array of strings, not a table | write cgroup = "
     "\"/x\""},
    {"user = { not = \"root\" }",
     "error: 'user' must be a name, a number or an array of them, not a table"},
    {"user.uid = \"1000\"",
     "error: 'user' must be a name, a number or an array of them, not a table | write user = "
     "\"1000\""},
    {"unit = { prefix = \"web-\" }",
     "error: 'unit' must be a string or an array of strings, not a table"},
    {"name.regex = \"web.*\"",
     "error: 'name' must be a string or an array of strings, not a table"},
    {"pod = { label = \"app=web\" }",
     "error: 'pod' must be a string or an array of strings, not a table"},
    {"pod = { namespace = \"shop\", label = \"web\" }",
     "error: 'pod' must be a string or an array of strings, not a table"},
    {"pod = { namespace = \"shop\" }",
     "error: 'pod' must be a string or an array of strings, not a table | write pod = "
     "\"shop/*\""},
    {"container = { image = \"nginx\" }",
     "error: 'container' must be a string or an array of strings, not a table"},
    {"nomad_job = \"web\"",
     "error: unknown key 'nomad_job' in [[rule]] | a scheduler gives each job a cgroup, see "
     "/proc/PID/cgroup: write cgroup = \"**/*ID*\""},
    {"unit = '\\bjava\\b.*'",
     "warning: '\\bjava\\b.*' may not match what it was meant for: it is a glob, not a regular "
     "expression | write \"java*\""},
};

TEST(PolicyTableGuesses, Errors) { expect_errors(tables_and_errors); }

TEST(PolicyTableGuesses, Findings) { expect_findings(conditions_and_findings); }

}  // namespace
}  // namespace rdtd::policy_table_guesses
