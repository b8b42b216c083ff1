#include "synonyms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "amount_hints.hpp"
#include "names.hpp"
#include "plain_value.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"
#include "rdtd/policy/toml_text.hpp"

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
constexpr std::string_view of_namespace = "write pod = \"NAMESPACE/*\"";
constexpr std::string_view of_kubernetes =
    "rules know pods by name only: write pod = \"NAMESPACE/NAME*\"";
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
constexpr std::string_view all_the_time =
    "a policy holds all the time and for its machine only: use a timer, or other files";
constexpr std::string_view qos_class = "write unit = \"kubepods-besteffort.slice\"";
constexpr std::string_view it_belongs_in_daemon = "it belongs in [daemon]";
constexpr std::string_view in_a_group = "it belongs in a [group.NAME]";
constexpr std::string_view by_kernel =
    "the kernel numbers groups by itself: a group has a name only";
constexpr std::string_view no_templates =
    "a group has all its amounts: there is no inheritance and no template";
constexpr std::string_view an_end =
    "write l3 = \"4 ways\", mb = \"50%\", or for a guard the range mb = \"10%..100%\"";
constexpr std::string_view words_for_namespace = "namespace ns podnamespace kubernetesnamespace";
constexpr std::string_view words_for_groups =
    "class classes clos cos groups controlgroup controlgroups resctrl";
constexpr std::string_view in_rule =
    "write monitor = \"NAME\" in a [[rule]], or monitor_cpus = { NAME = \"0-3\" } in a group";
constexpr std::string_view in_guard =
    "[guard] is a table of its own; write protected = true in the group that must not suffer";
constexpr std::string_view of_a_scheduler =
    "a scheduler gives each job a cgroup, see /proc/PID/cgroup: write cgroup = \"**/*ID*\"";

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
    {words_for_namespace, "pod", of_namespace},
    {"image label labels annotation annotations selector podselector labelselector matchlabels "
     "podlabels poduid deployment statefulset daemonset replicaset node nodeselector",
     "pod", of_kubernetes},
    {"composeservice", "container", "write container = \"*NAME*\""},
    {"qos qosclass", "unit", qos_class},
    {"containerid dockerid", "cgroup", "write cgroup = \"**/*ID*\", or container = \"NAME\""},
    {"uid username users owner account", "user", {}},
    {"gid groupid usergroup groupname unixgroup", "user_group", {}},
    {"threads threadname tname", "thread", {}},
    {"pid pids tid tids task tasks taskid taskids", "name", by_process},
    {"grp groups class clos cos closid rdtclass destination dest target type controlgroup "
     "resctrlgroup",
     "name", "did you mean 'group'?"},
    {"mon mongroup monitoring monitorgroup", "monitor", {}},
    {"regex regexp pattern glob match matches", "name",
     "each condition has its key and takes globs: name = \"redis*\""},
    {"ppid parent parentpid child children inherit inherits", "name",
     "children start in the group of their parent: a rule for the parent is enough"},
    {"not except exclude ignore options skip unless", "name", no_negation},
    {"ignorert sched schedule policy nice ionice ioclass rtprio latencynice oomscoreadj cpuquota "
     "cpuweight cpushares memory memorymax ioweight",
     "name", other_controls},
    {"priority order weight rank", "name",
     "rules are tried in the order of files, then of lines; the first that matches decides"},
    {"enabled enable disabled disable active", "name", commented_out},
    {"comment desc description note notes title", "name", as_comment},
    {"vms virtualmachine domain domname guest guestname libvirt machine qemu", "vm", {}},
    {"vcpuid vcpupin vcpus", "vcpu", {}},
    {"notname notunit notuser", "name", no_negation},
    {"anyof allof and or", "name",
     "all conditions of a rule must hold, and an array holds if one of its members does"},
    {"script interpreter", "cmdline", "write cmdline = \"*/NAME.py*\""},
    {"uidmin uidmax uids", "user", "list the users, or use user_group or unit"},
    {"session tty login", "unit", "write unit = \"user-UID.slice\""},
    {"job jobs jobid jobname alloc allocation allocid queue step", "cgroup", of_a_scheduler},
    {"partition", "name", needs_group},
    {"recursive descendants subtree", "cgroup",
     "a cgroup includes those below it, and children start in the group of their parent"},
    {"hostname host onlyon machines", "name", one_policy},
    {"when schedule time cron", "name", all_the_time},
    {"env environment", "name", "rules do not know the environment; 'cmdline' or 'unit' may do"},
    {"all any everything", "name", "name = \"*\" holds for every process"},
    {"l3 l2 l3code l3data l2code l2data mb smba mba llc cache schemata ways "
     "mbmin minbandwidth maxbandwidth bandwidth membw",
     "name", needs_group},
    {"exclusive", "name", "'exclusive' belongs in the rule's [group.NAME]"},
    {"cpus cpu cpuset cores core coreids cpulist cpuslist affinity cpuaffinity allowedcpus", "name",
     "rules match processes; 'cpus' and 'monitor_cpus' in [group.NAME] are for tasks that no rule "
     "matches"},
});

// Of [group.NAME], and those of its keys that [partition.NAME] and [io] have too.
constexpr auto of_groups = std::to_array<Synonym>({
    {"llc cache l3ways cacheways ways l3cat cat l3allocation l3schema l3cacheschema l3cache "
     "l3size cachesize llcways llcpercent llcpct l3percent l3pct cbm cbmmask mask l3mask cachemask "
     "capbm "
     "cpbm cachetune cachelimit cacheconfig catl3 capacitybitmask",
     "l3",
     {}},
    {"l2allocation l2ways l2cat l2cache l2schema l2size l2mask", "l2", {}},
    {"code", "l3code", {}},
    {"data", "l3data", {}},
    {"mba membw memorybandwidth bandwidth mballocation mbapercent mbapercentage maxbandwidth "
     "memorybw bw mbamax mbambps mbmax memband membandpercent membwschema memorytune throttle "
     "mbpercent mbpercentage mbpct mbps membwpercent",
     "mb",
     {}},
    {"minbandwidth minimumbandwidth bandwidthmin minmb membwmin mbfloor bandwidthfloor",
     "mb_min",
     {}},
    {"unified", "l3", "write l3 = \"4 ways\" or \"50%\", for code and data alike"},
    {"max min maxcache mincache minways maxways l3max l3min l2max l2min llcmax llcmin floor "
     "guarantee guaranteed reserve request burst requests limits",
     "l3", an_end},
    {"l3limit l3limits llclimit", "l3", {}},
    {"l1 l1d l1i l4", "l3", "the kernel divides L2 and L3 only"},
    {"mblimit bwlimit membwlimit bandwidthlimit mbmaximum", "mb", {}},
    {"limit cap ceiling quota size amount class qos qosclass tier shares", "l3", resource_keys},
    {"clos cos closid closids rmid rmids partid pmg", "l3", by_kernel},
    {"inherit inherits extends template base from", "l3", no_templates},
    {"isolate isolation exclusiveways pinned lock locked", "exclusive", {}},
    {"hostname host onlyon machines", "l3", one_policy},
    {"when schedule time cron", "l3", all_the_time},
    {"cdp", "l3", mount_options},
    {"io ioalloc ddio", "adopt", "[io] is a table of its own: write l3 in it"},
    {"catrangestartpercent catrangeendpercent", "l3",
     "write the difference, l3 = \"30%\"; rdtd chooses the place, and \"ways 4-7\" are these ways"},
    {"id cacheid domain domains socket sockets node numa level perdomain l3perdomain mbperdomain",
     "l3", by_domain},
    {"schemata schema l3schemata", "l3", resource_keys},
    {"mbhdl mbhardlim mbhlim mbpri mbprio caprio capri intpri l3pri l3prio mbnode "
     " mbwght gmb gsmba camax cmax l3cmax mbwmax mbwpbm mbpbm hardlim hardlimit softlim",
     "control", needs_control},
    {"controls", "control", {}},
    {"mb smba mba membw bandwidth mballocation mbapercent memorytune", "exclusive", caches_only},
    {"cpu cpuset cores core coreids cpulist cpuslist cpuids affinity cpuaffinity allowedcpus "
     "cpusetcpus",
     "cpus",
     {}},
    {"moncpus monitorcores monitoredcpus moncores cpumonitor", "monitor_cpus", {}},
    {"mode type shareable shared share isolated dedicated private reserved", "exclusive",
     "groups share ways unless one of them has exclusive = true"},
    {"priority weight nice ionice ioclass rtprio sched cpuquota cpuweight cpushares memory "
     "memorymax oomscoreadj",
     "cpus", other_controls},
    {"guard guarded", "protected", in_guard},
    {"critical latencycritical latencysensitive important victim protect", "protected", {}},
    {"mbrange", "mb", "write a range: mb = \"10%..100%\""},
    {"parent pool cachepool", "partition", {}},
    {"classes groups", "exclusive", groups_of_partition},
    {"desc comment note notes title owner", "description", {}},
    {"adoptexisting takeover existing", "adopt", {}},
    {"replace replaces overwrite force", "override", {}},
    {"name thread exe cmdline cgroup unit user usergroup userunit comm command process processes "
     "program cmd commandline cgrouppath binary path service slice scope container pod uid regex "
     "match rule rules vm vcpu vcpus units "
     "services slices scopes containers pods names users cgroups namespace image label labels "
     "selector",
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
    {words_for_groups, "rule", "write [group.NAME]"},
    {"guarantee guaranteed burstable besteffort infra shared lsrclass lsclass beclass resctrlqos "
     "resctrlstrategy cpuqos cachetune memorytune cputune cachelimit cacheconfig cachepool llc "
     "mba",
     "rule", "write [group.NAME] with l3 and mb, and a [[rule]] for its processes"},
    {"default defaults root", "rule", "write [group.default]"},
    {"partitions", "rule", "write [partition.NAME]"},
    {"ioalloc ddio devices", "rule", "write [io]"},
    {"rules match matches process processes", "rule", "write [[rule]]"},
    {"pseudolocks lock locks locked", "rule", "write [pseudo_lock.NAME]"},
    {"l3 l2 l3code l3data l2code l2data mb smba exclusive cpus description adopt", "rule",
     in_a_group},
    {"name thread exe cmdline cgroup unit userunit user usergroup", "rule",
     "conditions belong in a [[rule]]"},
    {"loglevel onstop drift unsupported readers reconcileinterval", "rule", it_belongs_in_daemon},
    {"settings global general config rdtd manager", "rule", "write [daemon]"},
    {"monitor mon monitoring mongroup mongroups", "rule", in_rule},
    {"host hosts machine machines node nodes", "rule", one_policy},
    {"unit units service services slice scope container containers pod pods vm vms", "rule",
     "write [[rule]] with unit = \"NAME\", and a [group.NAME] for its amounts"},
    {"include includes import confd", "rule", all_files_are_read},
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

// All keys if a line has room for them, else those that policies have most.
std::string main_keys(std::span<const std::string> keys) {
  constexpr size_t room_for_all = 80;
  if (const std::string all = join(keys, ", "); all.size() <= room_for_all)
    return fmt::format("the keys are {}", all);
  constexpr auto most_used = std::to_array<std::string_view>(
      {"l3", "mb", "exclusive", "cpus", "partition", "description", "group", "unit", "name", "exe",
       "user", "cgroup", "container", "pod"});
  std::string out;
  for (const std::string_view key : most_used)
    if (contains(keys, key)) out += fmt::format("{}{}", out.empty() ? "" : ", ", key);
  return fmt::format("the main keys are {}; see rdtd.toml(5)", out);
}

// The rule of a condition that is in [group.NAME].
std::string rule_of(const UnknownKey& unknown, std::string_view word) {
  constexpr std::string_view title = "[group.";
  constexpr size_t longest_value = 64;
  const auto is_condition = [](std::string_view key) { return key != "l3" && key != "group"; };
  const Synonym* synonym = nullptr;
  for (const Synonym& one : of_rules)
    if (is_condition(one.key) && one.hint.empty() && contains(split(one.words, ' '), word))
      synonym = &one;
  const bool is_key = std::ranges::any_of(
      condition_kinds, [&](ConditionKind kind) { return to_string(kind) == unknown.name; });
  if (!unknown.table.starts_with(title) || unknown.text.empty() ||
      unknown.text.size() > longest_value || (synonym == nullptr && !is_key))
    return std::string(needs_rule);
  const std::string group(
      unknown.table.substr(title.size(), unknown.table.size() - title.size() - 1));
  return fmt::format("write [[rule]] with group = {} and {} = {}", rdtd::quoted(group),
                     is_key ? unknown.name : synonym->key, rdtd::quoted(unknown.text));
}

// The hint with the value in place of the word that stands for it: pod = "shop/*" of "shop".
std::string with_value(std::string_view hint, const UnknownKey& unknown, std::string_view word) {
  struct Blank {
    std::string_view words;  // keys whose value it is
    std::string_view name;
    std::string_view behind;
  };
  constexpr auto blanks = std::to_array<Blank>({
      {words_for_namespace, "NAMESPACE", "/"},
      {"deployment statefulset daemonset replicaset composeservice", "NAME", "*"},
      {"containerid dockerid job jobs jobid alloc allocid", "ID", "*"},
  });
  std::string out(hint);
  if (unknown.text.empty() || name_problem(unknown.text)) return out;
  // Slurm has job_12; "*12*" would match user-1200.slice too.
  constexpr std::string_view anywhere = "*ID*";
  if (const size_t at = out.find(anywhere); hint == of_a_scheduler && is_digits(unknown.text))
    return out.replace(at, anywhere.size(), fmt::format("job_{}", unknown.text));
  for (const auto& [words, name, behind] : blanks)
    if (const size_t at = out.find(fmt::format("{}{}", name, behind));
        at != std::string::npos && contains(split(words, ' '), word))
      out.replace(at, name.size(), unknown.text);
  return out;
}

// pod = "shop/web-*" of namespace = "shop" beside pod = "web-*".
std::string hint_for_namespace(const UnknownKey& unknown) {
  constexpr size_t most = 4;
  const auto has_namespace = [](std::string_view pod) { return pod.contains('/'); };
  if (std::ranges::all_of(unknown.pods, has_namespace))
    return "remove this line: 'pod' has the namespace in front";
  if (unknown.text.empty() || name_problem(unknown.text)) return "write pod = \"NAMESPACE/NAME\"";
  if (unknown.pods.size() > most)
    return fmt::format("write {}/ in front of each pod, and remove this line", unknown.text);
  std::vector<std::string> pods;
  for (const std::string_view pod : unknown.pods)
    pods.push_back(rdtd::quoted(has_namespace(pod) ? std::string(pod)
                                                   : fmt::format("{}/{}", unknown.text, pod)));
  const std::string all = join(pods, ", ");
  return fmt::format("write pod = {} in place of both",
                     pods.size() == 1 ? all : fmt::format("[{}]", all));
}

// What the key's value adds to what its name says.
std::string hint_by_value(const UnknownKey& unknown, std::string_view word, std::string_view hint,
                          const AmountsOfTable& amounts) {
  if (hint == needs_rule) return rule_of(unknown, word);
  if (hint == resource_keys)
    if (std::string amount = hint_for_amount(unknown.text, amounts); !amount.empty()) return amount;
  if (hint == an_end)
    if (std::string end = hint_for_end(unknown, word, amounts); !end.empty()) return end;
  if (hint == of_namespace && !unknown.pods.empty()) return hint_for_namespace(unknown);
  if (const size_t at = hint.find(".NAME]");
      hint.starts_with("write [") && at != std::string_view::npos && !unknown.inner_name.empty())
    return fmt::format("{}.{}{}", hint.substr(0, at), toml_key(unknown.inner_name),
                       hint.substr(at + std::string_view(".NAME").size()));
  if (hint == qos_class)
    if (std::string of_value = hint_for_qos(unknown.text); !of_value.empty()) return of_value;
  if (word == "groups" && unknown.beside_group) return did_you_mean("user_group");
  if (hint == commented_out && unknown.is_on && *unknown.is_on != word.starts_with("dis"))
    return "remove this line: what a file of the policy has is in force";
  if (word == "mode" && lower(unknown.text).starts_with("pseudo"))
    return "write [pseudo_lock.NAME] with l2 or l3 in place of the group";
  return with_value(hint, unknown, word);
}

// Whether it is a table that has what belongs in a [group.NAME].
bool has_keys_of_group(const UnknownKey& unknown) {
  return std::ranges::any_of(unknown.inner_keys, [](std::string_view key) {
    const std::string word = joined_words(key);
    const auto has_word = [&](const Synonym& one) { return contains(split(one.words, ' '), word); };
    return std::ranges::any_of(
               of_others,
               [&](const Synonym& one) { return one.hint == in_a_group && has_word(one); }) ||
           std::ranges::any_of(of_groups, [&](const Synonym& one) {
             return one.hint.empty() && (one.key == "l3" || one.key == "mb") && has_word(one);
           });
  });
}

// Whether it is a table that has keys of [daemon] only.
bool has_keys_of_daemon(const UnknownKey& unknown) {
  return !unknown.inner_keys.empty() &&
         std::ranges::all_of(unknown.inner_keys, [](std::string_view key) {
           const auto* const row =
               std::ranges::find(of_others, it_belongs_in_daemon, &Synonym::hint);
           return contains(split(row->words, ' '), joined_words(key));
         });
}

// [redis] with l3 and mb.
std::string hint_for_group_table(const UnknownKey& unknown, std::span<const std::string> keys) {
  if (!contains(keys, "rule") || !has_keys_of_group(unknown) || name_problem(unknown.name))
    return {};
  return fmt::format("write [group.{}]", toml_key(unknown.name));
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
  if (unknown.inner_keys.empty() || !contains(keys, "rule")) return {};
  const std::string_view first_key = unknown.inner_keys.front();
  if (first_key.size() > longest_first_key || has_keys_of_group(unknown)) return {};
  const auto* const found =
      std::ranges::find(conditions, word, &std::pair<std::string_view, std::string_view>::first);
  if (found == conditions.end()) return {};
  return fmt::format("write [[rule]] with {} = {}, and a [group.NAME] for its amounts",
                     found->second, rdtd::quoted(std::string(first_key)));
}

}  // namespace

std::string hint_for_qos(std::string_view word) {
  const std::string small = lower(word);
  if (small == "besteffort") return std::string(qos_class);
  if (small == "burstable") return "write unit = \"kubepods-burstable.slice\"";
  if (small == "guaranteed")
    return "its pods lie directly below kubepods.slice: rules for burstable and besteffort first, "
           "then unit = \"kubepods.slice\"";
  return {};
}

bool is_namespace_key(std::string_view key) {
  return contains(split(words_for_namespace, ' '), joined_words(key));
}

bool is_word_for_groups(std::string_view name) {
  return name == "group" || contains(split(words_for_groups, ' '), joined_words(name));
}

bool is_key_of_groups(std::string_view word) {
  const auto* const row = std::ranges::find(of_others, in_a_group, &Synonym::hint);
  const std::string joined = joined_words(word);
  return contains(split(row->words, ' '), joined) || joined == "control" || joined == "mbmin" ||
         joined == "monitorcpus";
}

std::string unknown_key_hint(const UnknownKey& unknown, std::span<const std::string> keys) {
  const std::string_view name = unknown.name;
  const std::string word = joined_words(name);
  if (contains(keys, "rule") && (name == "Unit" || name == "Service" || name == "Install"))
    return std::string(is_unit_file);
  if (contains(keys, "rule") && has_keys_of_daemon(unknown)) return "write [daemon]";
  if (auto hint = hint_for_table(unknown, word, keys); !hint.empty()) return hint;
  if (contains(keys, "control"))
    if (auto hint = hint_for_control(unknown); !hint.empty()) return hint;
  for (const std::string& key : keys)
    if (joined_words(key) == word) return did_you_mean(key);
  const auto has = [&](std::string_view key) { return contains(keys, key); };
  if (const Synonym* synonym = find_synonym(word, has))
    return synonym->hint.empty() ? did_you_mean(synonym->key)
                                 : hint_by_value(unknown, word, synonym->hint, {unknown, keys});
  const auto nearest = nearest_name(lower(name.substr(0, 64)), keys);
  if (auto hint = hint_for_group_table(unknown, keys); !hint.empty() && nearest != "group")
    return hint;
  return nearest ? did_you_mean(*nearest) : main_keys(keys);
}

}  // namespace rdtd
