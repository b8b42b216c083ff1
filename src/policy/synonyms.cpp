#include "synonyms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "plain_value.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// Words of other tools and first guesses, without '_' and '-', with spaces between them. They apply
// in a table that has `key`.
struct Synonym {
  std::string_view words;
  std::string_view key;
  std::string_view hint;  // empty: "did you mean 'KEY'?"
};

constexpr std::string_view needs_rule = "conditions belong in a [[rule]] with this group's name";
constexpr std::string_view needs_group = "amounts belong in the rule's [group.NAME]";
constexpr std::string_view caches_only =
    "a partition divides caches only: bandwidth belongs in its [group.NAME]";
constexpr std::string_view needs_control =
    "write control = { NAME = ... } with the name that schemata has";
constexpr std::string_view resource_keys = "write l3 = \"4 ways\" or mb = \"50%\"";
constexpr std::string_view by_process =
    "rules match by name, unit, cgroup ...; use rdtctl assign for a PID";
constexpr std::string_view of_kubernetes =
    "of Kubernetes' objects, rules know pods and containers by name: pod = \"NAMESPACE/NAME*\"";
constexpr std::string_view other_controls =
    "rdtd sets caches and memory bandwidth only; systemd.exec(5) and systemd.resource-control(5) "
    "have the other limits";
constexpr std::string_view by_domain =
    "a table maps domains to amounts: l3 = { \"0\" = \"4 ways\", \"*\" = \"2 ways\" }";
constexpr std::string_view as_comment = "use a comment (#), or a key that begins with 'x-'";
constexpr std::string_view commented_out = "remove the table, or comment it out";
constexpr std::string_view mount_options =
    "mount options belong in a drop-in for sys-fs-resctrl.mount: Options=cdp";
constexpr std::string_view mount_in_mbps =
    "mount options belong in a drop-in for sys-fs-resctrl.mount: Options=mba_MBps";
constexpr std::string_view no_exporter =
    "rdtd opens no port; rdtctl metrics prints the metrics for Prometheus";
constexpr std::string_view runtime_settings =
    "a runtime names the group, which needs no rule here: write [group.NAME]";
constexpr std::string_view groups_of_partition =
    "a group names its partition: write partition = \"NAME\" in [group.NAME]";
constexpr std::string_view one_policy =
    "a policy is for the machine that it lies on, all the time: give each machine its files";
constexpr std::string_view by_kernel =
    "the kernel numbers groups by itself: a group has a name only";
constexpr std::string_view no_templates =
    "a group has all its amounts: there is no inheritance and no template";
constexpr std::string_view a_range =
    "write a range, l3 = \"2..4 ways\" or mb = \"10%..100%\", for a guard to use";
constexpr std::string_view in_rule =
    "write monitor = \"NAME\" in a [[rule]], or monitor_cpus = { NAME = \"0-3\" } in a group";
constexpr std::string_view in_guard =
    "[guard] is a table of its own; write protected = true in the group that must not suffer";
constexpr std::string_view left_alone =
    "to leave processes alone, write group = \"leave\" in an earlier rule";

constexpr auto of_rules = std::to_array<Synonym>({
    {"comm command process processes proc procs program programs pname names processname",
     "name",
     {}},
    {"executable path binary exec bin execstart", "exe", {}},
    {"args arguments argv cmd commandline", "cmdline", {}},
    {"service slice scope systemd systemdunit units services", "unit", {}},
    {"cgrouppath cgroups", "cgroup", {}},
    {"pods podname kubernetespod k8spod", "pod", {}},
    {"containers containername docker dockercontainer podman", "container", {}},
    {"namespace podnamespace kubernetesnamespace", "pod", "write pod = \"NAMESPACE/*\""},
    {"image label labels annotations podlabels poduid deployment statefulset", "pod",
     of_kubernetes},
    {"qos qosclass", "unit", "write unit = \"kubepods-besteffort.slice\""},
    {"containerid dockerid", "cgroup", "write cgroup = \"**/*ID*\", or container = \"NAME\""},
    {"uid username users owner account", "user", {}},
    {"gid usergroup groups groupname unixgroup", "user_group", {}},
    {"threads threadname tname", "thread", {}},
    {"pid pids tid tids task tasks taskid taskids", "name", by_process},
    {"class clos cos closid rdtclass destination dest target type controlgroup resctrlgroup",
     "name", "did you mean 'group'?"},
    {"mon mongroup monitoring monitorgroup", "monitor", {}},
    {"regex regexp pattern glob match matches", "name",
     "each condition has its key and takes globs: name = \"redis*\""},
    {"ppid parent parentpid child children inherit inherits", "name",
     "children start in the group of their parent: a rule for the parent is enough"},
    {"not except exclude ignore options skip unless", "name", left_alone},
    {"ignorert sched schedule policy nice ionice ioclass rtprio latencynice oomscoreadj cpuquota "
     "cpuweight cpushares memory memorymax ioweight",
     "name", other_controls},
    {"priority order weight rank", "name",
     "rules are tried in the order of files, then of lines; the first that matches decides"},
    {"enabled enable disabled disable active", "name", commented_out},
    {"comment desc description note notes title", "name", as_comment},
    {"vms virtualmachine domain domname guest guestname libvirt machine qemu", "vm", {}},
    {"vcpuid vcpupin vcpus", "vcpu", {}},
    {"notname notunit notuser", "name", left_alone},
    {"anyof allof and or", "name",
     "all conditions of a rule must hold, and an array holds if one of its members does"},
    {"script interpreter", "cmdline", "write cmdline = \"*/NAME.py*\""},
    {"uidmin uidmax uids", "user", "list the users, or use user_group or unit"},
    {"session tty login", "unit", "write unit = \"user-UID.slice\""},
    {"recursive descendants subtree", "cgroup",
     "a cgroup includes those below it, and children start in the group of their parent"},
    {"hostname host onlyon machines when schedule time cron", "name", one_policy},
    {"env environment", "name", "rules do not know the environment; 'cmdline' or 'unit' may do"},
    {"all any everything", "name", "name = \"*\" holds for every process"},
    {"l3 l2 l3code l3data l2code l2data mb smba mba llc cache schemata ways", "name", needs_group},
    {"exclusive", "name", "'exclusive' belongs in the rule's [group.NAME]"},
    {"cpus cpu cpuset cores core coreids cpulist affinity", "name",
     "rules match processes; 'cpus' and 'monitor_cpus' in [group.NAME] are for tasks that no rule "
     "matches"},
});

// Of [group.NAME], and those of its keys that [partition.NAME] and [io] have too.
constexpr auto of_groups = std::to_array<Synonym>({
    {"llc cache l3ways cacheways ways l3cat cat l3allocation l3schema l3cacheschema l3cache "
     "l3size cachesize llcways llcpercent l3percent cbm cbmmask mask l3mask cachemask capbm "
     "cpbm cachetune cachelimit cacheconfig",
     "l3",
     {}},
    {"l2allocation l2ways l2cat l2cache l2schema l2size l2mask", "l2", {}},
    {"code", "l3code", {}},
    {"data", "l3data", {}},
    {"mba membw memorybandwidth bandwidth mballocation mbapercent mbapercentage maxbandwidth "
     "memorybw bw mbps mbamax mbambps mbmax memband membandpercent membwschema memorytune throttle",
     "mb",
     {}},
    {"unified size", "l3", "write l3 = \"4 ways\" or \"50%\", for code and data alike"},
    {"max min maxcache mincache minways maxways guarantee guaranteed reserve request burst "
     "requests limits",
     "l3", a_range},
    {"l3limit l3limits llclimit", "l3", {}},
    {"l1 l1d l1i l4", "l3", "the kernel divides L2 and L3 only"},
    {"mblimit bwlimit membwlimit bandwidthlimit mbmaximum", "mb", {}},
    {"limit", "l3", resource_keys},
    {"clos cos closid closids rmid rmids partid pmg", "l3", by_kernel},
    {"inherit inherits extends template base from", "l3", no_templates},
    {"isolate isolation exclusiveways pinned lock locked", "exclusive", {}},
    {"hostname host onlyon machines when schedule time cron", "l3", one_policy},
    {"catrangestartpercent catrangeendpercent", "l3",
     "write the difference, l3 = \"30%\"; rdtd chooses the place, and \"ways 4-7\" are these ways"},
    {"id cacheid domain domains socket node numa level", "l3", by_domain},
    {"schemata schema l3schemata", "l3", resource_keys},
    {"mbhdl mbhardlim mbhlim mbpri mbprio caprio capri intpri l3pri l3prio l3max l3min l2max "
     "mbnode mbwght gmb gsmba camax cmax l3cmax mbwmax mbwpbm mbpbm hardlim hardlimit softlim",
     "control", needs_control},
    {"controls", "control", {}},
    {"mb smba mba membw bandwidth mballocation mbapercent memorytune", "exclusive", caches_only},
    {"cpu cpuset cores core coreids cpulist cpuids affinity", "cpus", {}},
    {"moncpus monitorcores monitoredcpus moncores cpumonitor", "monitor_cpus", {}},
    {"mode shareable shared share isolated dedicated private reserved", "exclusive",
     "groups share ways unless one of them has exclusive = true"},
    {"priority weight nice ionice ioclass rtprio sched cpuquota cpuweight cpushares memory "
     "memorymax oomscoreadj",
     "cpus", other_controls},
    {"guard guarded", "protected", in_guard},
    {"critical latencycritical important victim protect", "protected", {}},
    {"mbrange", "mb", "write a range: mb = \"10%..100%\""},
    {"parent pool cachepool", "partition", {}},
    {"classes groups", "exclusive", groups_of_partition},
    {"desc comment note notes title label", "description", {}},
    {"adoptexisting takeover existing", "adopt", {}},
    {"replace replaces overwrite force", "override", {}},
    {"name thread exe cmdline cgroup unit user usergroup userunit comm command process processes "
     "program service slice scope container pod uid regex match rule rules vm vcpu vcpus",
     "l3", needs_rule},
    {"pid pids tasks taskids task", "l3",
     "a [[rule]] puts processes in this group; use rdtctl assign for a PID"},
    {"monitor mon mongroup monitoring cmt mbm enablecmt enablembm enablemonitoring counters", "l3",
     in_rule},
    {"optional", "l3", "write unsupported = \"skip\" in [daemon]"},
    {"kubernetes denypodannotation denycontainerannotation rdtclass", "l3", runtime_settings},
    {"enabled enable disabled disable active", "l3", commented_out},
});

// Of the top of a file, of [daemon] and of [pseudo_lock.NAME].
constexpr auto of_others = std::to_array<Synonym>({
    {"class classes clos cos groups controlgroup controlgroups resctrl", "rule",
     "write [group.NAME]"},
    {"guarantee guaranteed burstable besteffort infra shared lsrclass lsclass beclass resctrlqos "
     "resctrlstrategy cpuqos cachetune memorytune cputune cachelimit cacheconfig cachepool llc "
     "mba",
     "rule", "write [group.NAME] with l3 and mb, and a [[rule]] for its processes"},
    {"default root", "rule", "write [group.default]"},
    {"partitions", "rule", "write [partition.NAME]"},
    {"ioalloc ddio devices", "rule", "write [io]"},
    {"rules match matches process processes", "rule", "write [[rule]]"},
    {"pseudolocks lock locks locked", "rule", "write [pseudo_lock.NAME]"},
    {"l3 l2 l3code l3data l2code l2data mb smba exclusive cpus description adopt", "rule",
     "it belongs in a [group.NAME]"},
    {"name thread exe cmdline cgroup unit userunit user usergroup", "rule",
     "conditions belong in a [[rule]]"},
    {"loglevel onstop drift unsupported readers reconcileinterval", "rule",
     "it belongs in [daemon]"},
    {"settings global general config rdtd manager", "rule", "write [daemon]"},
    {"monitor mon monitoring mongroup mongroups", "rule", in_rule},
    {"host hosts machine machines node nodes", "rule", one_policy},
    {"unit units service services slice scope container containers pod pods vm vms", "rule",
     "write [[rule]] with unit = \"NAME\", and a [group.NAME] for its amounts"},
    {"include includes import confd", "rule",
     "every *.toml file of /etc/rdtd is read, in the order of their names"},
    {"inputs outputs agent prometheus metrics exporter", "rule", no_exporter},
    {"rdtconfigfile intelrdt rdt linux plugins runtime kubernetes", "rule", runtime_settings},
    {"options", "rule",
     "unsupported = \"skip\" in [daemon] leaves out what a machine does not have"},
    {"mount mountoptions cdp", "version", mount_options},
    {"mbambps", "version", mount_in_mbps},
    {"interval samplinginterval reconcile refresh period pollinterval scaninterval checkinterval",
     "reconcile_interval",
     {}},
    {"loglevel log verbosity level verbose debug", "log_level", {}},
    {"stop onexit exit", "on_stop", {}},
    {"restore enforce ondrift", "drift", {}},
    {"optional strict skip ignore skipunsupported ignoreunsupported", "unsupported", {}},
    {"users access allow reader", "readers", {}},
    {"port listen address metrics prometheus", "drift", no_exporter},
    {"mount mountoptions cdp", "drift", mount_options},
    {"mbambps", "drift", mount_in_mbps},
    {"dryrun", "drift", "rdtctl plan shows what would change"},
    {"threshold limit bandwidth ceiling utilization utilisation above", "traffic", {}},
    {"protect protected groups group", "traffic", "write protected = true in [group.NAME]"},
    {"enabled enable active state action", "traffic", "write mode = \"on\" or \"shadow\""},
    {"dryrun observe simulate", "traffic", "write mode = \"shadow\""},
    {"interval period", "traffic", "the time between samples is 'interval' in [observer]"},
    {"min minimum step steps cooldown hysteresis", "traffic",
     "the range of each group says how far: mb = \"10%..100%\" in [group.NAME]"},
    {"retention maxsize size history ringsize disk keep", "record", {}},
    {"enabled enable active", "record", "systemctl enable --now rdtd-observer starts it"},
    {"dir directory path file", "record", "the history is in /var/lib/rdtd/history"},
    {"period samplinginterval refresh", "interval", {}},
    {"user uid", "owner", {}},
    {"gid usergroup", "owner", "did you mean 'group'?"},
    {"perm perms permission permissions", "mode", {}},
    {"size cache domain domains id level", "owner", "write l2 = { \"1\" = \"256 KiB\" }"},
});

// Without what separates the words of a name, in small letters: "coreids" for "core_ids" and
// "coreIds".
std::string joined_words(std::string_view name) {
  std::string out = lower(name.substr(0, 64));
  std::erase_if(out, [](char c) { return c == '_' || c == '-'; });
  return out;
}

bool contains(const auto& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

const Synonym* find_synonym(std::string_view word, const auto& has) {
  using Part = std::span<const Synonym>;
  for (const Part part : {Part(of_rules), Part(of_others), Part(of_groups)})
    for (const Synonym& synonym : part)
      if (has(synonym.key) && contains(split(synonym.words, ' '), word)) return &synonym;
  return nullptr;
}

std::string did_you_mean(std::string_view key) { return fmt::format("did you mean '{}'?", key); }

// As many keys as a line has room for, first those that begin with the same letter.
std::string some_of(std::span<const std::string> keys, std::string_view name) {
  constexpr size_t room = 48;
  constexpr size_t room_for_all = 80;
  if (const std::string all = join(keys, ", "); all.size() <= room_for_all)
    return fmt::format("the keys are {}", all);
  std::string out;
  for (const bool alike : {true, false})
    for (const std::string& key : keys) {
      if (key.starts_with(name.substr(0, 1)) != alike) continue;
      if (out.size() + key.size() > room) continue;
      out += (out.empty() ? "" : ", ") + key;
    }
  return fmt::format("some of the keys are {}; see rdtd.toml(5)", out);
}

// What the key's value adds to what its name says.
std::string hint_by_value(const UnknownKey& unknown, std::string_view word, std::string_view hint) {
  if (hint == commented_out && unknown.is_on && *unknown.is_on != word.starts_with("dis"))
    return "remove this line: what a file of the policy has is in force";
  if (word == "mode" && lower(unknown.text).starts_with("pseudo"))
    return "write [pseudo_lock.NAME] with l2 or l3 in place of the group";
  return std::string(hint);
}

// [vm.web]: what a condition is named after, as a table at the top.
std::string hint_for_table(const UnknownKey& unknown, std::string_view word,
                           std::span<const std::string> keys) {
  constexpr auto conditions =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"vm", "vm"},
                                                                    {"vms", "vm"},
                                                                    {"pod", "pod"},
                                                                    {"pods", "pod"},
                                                                    {"container", "container"},
                                                                    {"containers", "container"},
                                                                    {"unit", "unit"},
                                                                    {"units", "unit"},
                                                                    {"service", "unit"},
                                                                    {"services", "unit"},
                                                                    {"slice", "unit"},
                                                                    {"scope", "unit"},
                                                                    {"user", "user"},
                                                                    {"cgroup", "cgroup"},
                                                                    {"name", "name"}});
  constexpr size_t longest_first_key = 64;
  if (unknown.first_key.empty() || unknown.first_key.size() > longest_first_key ||
      !contains(keys, "rule"))
    return {};
  const auto* const found =
      std::ranges::find(conditions, word, &std::pair<std::string_view, std::string_view>::first);
  if (found == conditions.end()) return {};
  return fmt::format("write [[rule]] with {} = {}, and a [group.NAME] for its amounts",
                     found->second, rdtd::quoted(unknown.first_key));
}

}  // namespace

std::string unknown_key_hint(const UnknownKey& unknown, std::span<const std::string> keys) {
  const std::string_view name = unknown.name;
  const std::string word = joined_words(name);
  if (auto hint = hint_for_table(unknown, word, keys); !hint.empty()) return hint;
  for (const std::string& key : keys)
    if (joined_words(key) == word) return did_you_mean(key);
  const auto has = [&](std::string_view key) { return contains(keys, key); };
  if (const Synonym* synonym = find_synonym(word, has))
    return synonym->hint.empty() ? did_you_mean(synonym->key)
                                 : hint_by_value(unknown, word, synonym->hint);
  if (const auto nearest = nearest_name(lower(name.substr(0, 64)), keys))
    return did_you_mean(*nearest);
  return some_of(keys, name);
}

}  // namespace rdtd
