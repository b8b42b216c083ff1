// Words of other tools, and first guesses, that are not keys of a policy: what the hint says.
#include "policy_support.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd::policy_words {
namespace {

constexpr const char* counting =
    "write monitor = \"NAME\" in a [[rule]], or monitor_cpus = { NAME = \"0-3\" } in a group";

constexpr const char* all_the_time =
    "a policy holds all the time and for its machine only: use a timer, or other files";

using test::diagnostics;

struct WordsAndHint {
  const char* table;
  const char* words;  // with spaces between them
  const char* hint;
};

// The hint of the finding about line 2.
std::string hint_of(const std::string& table, const std::string& word) {
  const std::string text = diagnostics(table + "\n" + word + " = 1\n");
  const std::string where = "p.toml:2:1: error: unknown key '" + word + "' in ";
  const size_t at = text.find(where);
  if (at == std::string::npos) return "no such error: " + text;
  const size_t mark = text.find("      | ^", at);
  const size_t hint = text.find_first_of(" \n", mark + 8);
  return text[hint] == '\n' ? "" : text.substr(hint + 1, text.find('\n', hint) - hint - 1);
}

constexpr const char* rule = "[[rule]]";
constexpr const char* group = "[group.a]";
constexpr const char* partition = "[partition.p]";
constexpr const char* lock = "[pseudo_lock.l]";
constexpr const char* top = "version = 1";

constexpr WordsAndHint words_and_hints[] = {
    // ananicy, cgrules, systemd, procps
    {rule, "process command program processName", "did you mean 'name'?"},
    {rule, "executable path ExecStart", "did you mean 'exe'?"},
    {rule, "cmd args command-line", "did you mean 'cmdline'?"},
    {rule, "service", "write unit = \"NAME.service\""},
    {rule, "slice Slice", "write unit = \"NAME.slice\""},
    {rule, "scope", "write unit = \"NAME.scope\""},
    {rule, "node",
     "a policy is for the machine that it lies on, all the time: give each machine its files"},
    {rule, "kthread", "a kernel thread has a name: write name = \"kworker*\""},
    {rule, "cgroups", "did you mean 'cgroup'?"},
    {rule, "pods podName", "did you mean 'pod'?"},
    {rule, "containers container_name", "did you mean 'container'?"},
    {rule, "uid User username", "did you mean 'user'?"},
    {rule, "gid userGroup", "did you mean 'user_group'?"},
    {rule, "destination closID rdt-class type groups", "did you mean 'group'?"},
    {rule, "mon_group monitoring", "did you mean 'monitor'?"},
    {rule, "namespace", "write pod = \"NAMESPACE/*\""},
    {rule,
     "image label podUid selector podSelector matchLabels daemonset annotation deployment "
     "statefulset",
     "rules know pods by name only: write pod = \"NAMESPACE/NAME*\""},
    {rule, "qosClass", "write unit = \"kubepods-besteffort.slice\""},
    {rule, "container_id", "write cgroup = \"**/*ID*\", or container = \"NAME\""},
    {rule, "pid pids tid task_ids",
     "rules match by name, unit, cgroup ...; use rdtctl assign for a PID"},
    {rule, "regex match pattern", "each condition has its key and takes globs: name = \"redis*\""},
    {rule, "parent ppid",
     "children start in the group of their parent: a rule for the parent is enough"},
    {rule, "ignore options not except",
     "to leave processes alone, write group = \"leave\" in an earlier rule"},
    {rule, "ignore_rt nice ioclass sched oom_score_adj latency_nice",
     "rdtd sets caches and memory bandwidth only; systemd.exec(5) and systemd.resource-control(5) "
     "have the other limits"},
    {rule, "priority order",
     "rules are tried in the order of files, then of lines; the first that matches decides"},
    {rule, "enabled disabled", "remove the table, or comment it out"},
    {rule, "comment desc", "use a comment (#), or a key that begins with 'x-'"},
    {rule, "alloc queue",
     "a scheduler gives each job a cgroup, see /proc/PID/cgroup: write cgroup = \"**/*ID*\""},
    {rule, "job",
     "a scheduler gives each job a cgroup, see /proc/PID/cgroup: write cgroup = \"**/job_1\""},
    {rule, "partition",
     "the rule's [group.NAME] names its partition; rules do not know those of a scheduler"},
    {rule, "ns", "write pod = \"NAMESPACE/*\""},
    {rule, "env", "rules do not know the environment; 'cmdline' or 'unit' may do"},
    {rule, "l3 mb llc schemata", "amounts belong in the rule's [group.NAME]"},
    {rule, "cpus cores core_ids",
     "rules match processes; 'cpus' and 'monitor_cpus' in [group.NAME] are for tasks that no rule "
     "matches"},
    {rule, "colour",
     "the main keys are group, unit, name, exe, user, cgroup, container, pod; see rdtd.toml(5)"},
    // goresctrl, containerd, CRI-O
    {group, "l3Allocation llc L3CacheSchema", "did you mean 'l3'?"},
    {group, "l3_ways cache_ways llc_ways", "write l3 = \"1 way\""},
    {group, "l2_ways", "write l2 = \"1 way\""},
    {group, "l2Allocation", "did you mean 'l2'?"},
    {group, "mbAllocation memBwSchema mba membw max_bandwidth", "did you mean 'mb'?"},
    {group, "unified", "write l3 = \"4 ways\" or \"50%\", for code and data alike"},
    {group, "code", "did you mean 'l3code'?"},
    {group, "optional", "write unsupported = \"skip\" in [daemon]"},
    {group, "kubernetes denyPodAnnotation",
     "a runtime names the group, which needs no rule here: write [group.NAME]"},
    {group, "enableMonitoring monitor enableCMT", counting},
    // koordinator
    {group, "catRangeStartPercent catRangeEndPercent",
     "write the difference, l3 = \"30%\"; rdtd chooses the place, and \"ways 4-7\" are these ways"},
    {group, "mbaPercent", "write mb = \"1%\""},
    {group, "resctrlQOS",
     "catRangeEndPercent and mbaPercent are l3 = \"30%\" and mb = \"50%\" in a [group.NAME]"},
    // pqos, RMD
    {group, "policy rdt", "write l3 = \"4 ways\" or mb = \"50%\""},
    {group, "iface",
     "rdtd uses resctrl only, which pqos calls the interface 'os': remove this line"},
    {top, "iface", "rdtd uses resctrl only, which pqos calls the interface 'os': remove this line"},
    {"[daemon]", "iface",
     "rdtd uses resctrl only, which pqos calls the interface 'os': remove this line"},
    // Telegraf's plugin for pqos
    {group, "pqos_path", "rdtd writes resctrl itself and runs no pqos: remove this line"},
    {top, "pqos_path", "rdtd writes resctrl itself and runs no pqos: remove this line"},
    {"[daemon]", "pqos_path", "rdtd writes resctrl itself and runs no pqos: remove this line"},
    {group, "sampling_interval",
     "the time between samples is 'interval' in [observer], such as \"1s\""},
    {top, "sampling_interval",
     "the time between samples is 'interval' in [observer], such as \"1s\""},
    {group, "shortened_metrics",
     "metrics have one form, which 'rdtctl metrics' prints: remove this line"},
    {top, "shortened_metrics",
     "metrics have one form, which 'rdtctl metrics' prints: remove this line"},
    {group, "core_ids cores cpu", "did you mean 'cpus'?"},
    {group, "cat_l3 capacity_bitmask", "did you mean 'l3'?"},
    {group, "units services pods namespace labels",
     "conditions belong in a [[rule]] with this group's name"},
    {group, "class qos tier", "write l3 = \"4 ways\" or mb = \"50%\""},
    {group, "mb_per_domain sockets",
     "a table maps domains to amounts: l3 = { \"0\" = \"4 ways\", \"*\" = \"2 ways\" }"},
    {group, "latency_sensitive", "did you mean 'protected'?"},
    {group, "type", "groups share ways unless one of them has exclusive = true"},
    {group, "vcpus vm", "conditions belong in a [[rule]] with this group's name"},
    {rule, "vcpus", "did you mean 'vcpu'?"},
    {group, "max min min_ways guarantee burst",
     "write l3 = \"4 ways\", mb = \"50%\", or for a guard the range mb = \"10%..100%\""},
    {group, "mb_limit bw-limit", "did you mean 'mb'?"},
    {group, "l3_limit", "did you mean 'l3'?"},
    {group, "l1", "the kernel divides L2 and L3 only"},
    {group, "clos closID rmid partid",
     "the kernel numbers groups by itself: a group has a name only"},
    {group, "inherits template",
     "a group has all its amounts: there is no inheritance and no template"},
    {group, "isolate", "did you mean 'exclusive'?"},
    {group, "hostname",
     "a policy is for the machine that it lies on, all the time: give each machine its files"},
    {group, "schedule", all_the_time},
    {rule, "when cron", all_the_time},
    {rule, "compose_service", "write container = \"*NAME*\""},
    {rule, "domain guest_name libvirt", "did you mean 'vm'?"},
    {rule, "not_name", "to leave processes alone, write group = \"leave\" in an earlier rule"},
    {rule, "anyOf",
     "all conditions of a rule must hold, an array holds if one of its members does, and "
     "alternatives are one [[rule]] each"},
    {rule, "script", "write cmdline = \"*/NAME.py*\""},
    {top, "service", "write [[rule]] with unit = \"NAME\", and a [group.NAME] for its amounts"},
    {top, "host",
     "a policy is for the machine that it lies on, all the time: give each machine its files"},
    {group, "task_ids pids",
     "a [[rule]] puts processes in this group; use rdtctl assign for a PID"},
    {group, "cbm mask", "did you mean 'l3'?"},
    // libvirt
    {group, "cachetune", "did you mean 'l3'?"},
    {group, "memorytune", "did you mean 'mb'?"},
    {group, "level id cache_id node",
     "a table maps domains to amounts: l3 = { \"0\" = \"4 ways\", \"*\" = \"2 ways\" }"},
    // Kunpeng
    {group, "caPbm cpbm", "did you mean 'l3'?"},
    {group, "mbMax memband", "did you mean 'mb'?"},
    {group, "L3PRI", "write control = { L3PRI = 1 }"},
    {group, "mb_hlim", "write control = { MB_HLIM = 1 }"},
    {group, "mbHdl caPrio caMax cmax L3CMAX mbw_max mbw_pbm",
     "write control = { NAME = ... } with the name that schemata has"},
    {group, "mbMin", "did you mean 'mb_min'?"},
    // ananicy
    {group, "nice ioclass CPUQuota priority latency_nice",
     "rdtd sets caches and memory bandwidth only; systemd.exec(5) and systemd.resource-control(5) "
     "have the other limits"},
    {top, "latency_nice",
     "rdtd sets caches and memory bandwidth only; systemd.exec(5) and systemd.resource-control(5) "
     "have the other limits"},
    {rule, "controllers",
     "a rule sets the group of a process only, for no controllers: remove this line"},
    {group, "mode shared private", "groups share ways unless one of them has exclusive = true"},
    {group, "desc comment notes", "did you mean 'description'?"},
    {group, "parent copy", "a group has all its amounts: there is no inheritance and no template"},
    {group, "exclusive_of", "a group is exclusive to all others: write exclusive = true"},
    {group, "pool", "did you mean 'partition'?"},
    {group, "name service regex", "conditions belong in a [[rule]] with this group's name"},
    {group, "enabled", "remove the table, or comment it out"},
    {group, "colour",
     "the main keys are l3, mb, exclusive, cpus, partition, description; see rdtd.toml(5)"},
    {partition, "classes groups",
     "a group names its partition: write partition = \"NAME\" in [group.NAME]"},
    {partition, "l3Allocation", "did you mean 'l3'?"},
    {partition, "mb mbAllocation",
     "a partition divides caches only: bandwidth belongs in its [group.NAME]"},
    {lock, "user uid", "did you mean 'owner'?"},
    {lock, "user_group", "did you mean 'group'?"},
    {lock, "permissions", "did you mean 'mode'?"},
    {lock, "size domain", "write l2 or l3 with its domain, such as l2 = { \"1\" = \"256 KiB\" }"},
    {"[io]", "ways", "write l3 = \"1 way\""},
    {partition, "cache_ways", "write l3 = \"1 way\""},
    {lock, "cache_ways", "write l3 = { \"0\" = \"1 way\" }"},
    {"[daemon]", "sampling_interval refresh", "did you mean 'reconcile_interval'?"},
    {"[daemon]", "loglevel verbosity", "did you mean 'log_level'?"},
    {"[daemon]", "optional strict", "did you mean 'unsupported'?"},
    {"[daemon]", "port listen",
     "rdtd opens no port; rdtctl metrics prints the metrics for Prometheus"},
    {"[daemon]", "mba_MBps",
     "mount options belong in a drop-in for sys-fs-resctrl.mount: Options=mba_MBps"},
    {"[daemon]", "mount_options",
     "mount options belong in a drop-in for sys-fs-resctrl.mount: Options=cdp"},
    {"[daemon]", "dry_run", "rdtctl plan shows what would change"},
    {top, "clos classes", "write [group.NAME]"},
    {top, "guaranteed besteffort resctrlQOS cachetune llc",
     "write [group.NAME] with l3 and mb, and a [[rule]] for its processes"},
    {top, "default", "write [group.default]"},
    {top, "partitions", "write [partition.NAME]"},
    {top, "processes rules", "write [[rule]]"},
    {top, "l3 mb cpus", "it belongs in a [group.NAME]"},
    {top, "name unit", "conditions belong in a [[rule]]"},
    {top, "log_level drift", "it belongs in [daemon]"},
    {top, "settings", "write [daemon]"},
    {top, "monitor mon_groups", counting},
    {top, "rdt_config_file",
     "'rdtctl import --from FILE' makes a policy of the file that CRI-O's key names"},
    {group, "rdt_config_file",
     "'rdtctl import --from FILE' makes a policy of the file that CRI-O's key names"},
    {top, "intelRdt plugins",
     "a runtime names the group, which needs no rule here: write [group.NAME]"},
    {top, "options", "unsupported = \"skip\" in [daemon] leaves out what a machine does not have"},
    {top, "inputs prometheus",
     "rdtd opens no port; rdtctl metrics prints the metrics for Prometheus"},
    {top, "include", "every *.toml file of /etc/rdtd is read, in the order of their names"},
    {top, "colour",
     "the keys are version, daemon, observer, guard, group, partition, pseudo_lock, io, rule"},
};

TEST(PolicyWords, Hints) {
  for (const WordsAndHint& row : words_and_hints)
    for (const std::string_view word : split(row.words, ' '))
      EXPECT_EQ(hint_of(row.table, std::string(word)), row.hint) << row.table << " " << word;
}

}  // namespace
}  // namespace rdtd::policy_words
