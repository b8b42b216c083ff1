#include "synonyms.hpp"

#include <array>

namespace rdtd {

namespace {

constexpr auto of_rules = std::to_array<Synonym>({
    {"comm command process processes proc procs program programs pname names processname",
     "name",
     {}},
    {"executable path binary exec bin execstart", "exe", {}},
    {"args arguments argv cmd commandline", "cmdline", {}},
    {"systemd systemdunit systemdunits units unitname", "unit", {}},
    {"service services", "unit", of_type_service},
    {"slice slices", "unit", of_type_slice},
    {"scope scopes", "unit", of_type_scope},
    {"userservice", "user_unit", {}},
    {"cgrouppath cgroups", "cgroup", {}},
    {"pods podname kubernetespod k8spod kubernetes k8s", "pod", {}},
    {"containers containername docker dockercontainer podman", "container", {}},
    {words_for_namespace, "pod", of_namespace},
    {"image label labels annotation annotations selector podselector labelselector matchlabels "
     "podlabels poduid",
     "pod", of_kubernetes},
    {words_for_workloads, "pod", of_kubernetes},
    {"composeservice compose composeproject", "container", "write container = \"*NAME*\""},
    {"lxc lxd incus", "cgroup", of_lxc},
    {"vmid", "vm", {}},
    {"uuid", "vm", "write vm = \"NAME\", which 'virsh domname UUID' shows"},
    {"qos qosclass", "unit", qos_class},
    {"containerid dockerid", "cgroup", "write cgroup = \"**/*ID*\", or container = \"NAME\""},
    {"uid username users owner", "user", {}},
    {"account accounts", "user", of_accounts},
    {"iothread iothreadid iothreads", "thread", of_qemu_thread},
    {"gid groupid usergroup groupname unixgroup", "user_group", {}},
    {"threads threadname tname", "thread", {}},
    {"kthread kthreads kernelthread kernelthreads", "name",
     "a kernel thread has a name: write name = \"kworker*\""},
    {"pid pids tid tids task tasks taskid taskids pidfile", "name", by_process},
    {"grp groups class clos cos closid rdtclass destination dest target type controlgroup "
     "resctrlgroup",
     "name", is_group_of_rule},
    {"mon mongroup monitoring monitorgroup", "monitor", {}},
    {"regex regexp pattern glob match matches", "name",
     "each condition has its key and takes globs: name = \"redis*\""},
    {"ppid parent parentpid child children inherit inherits", "name",
     "children start in the group of their parent: a rule for the parent is enough"},
    {"not except exclude ignore options skip unless", "name", no_negation},
    {"ignorert sched policy nice ionice ioclass rtprio latencynice oomscoreadj cpuquota "
     "cpuweight cpushares ioweight memory memorymax memorymin memoryhigh memorylow memorylimit "
     "memorysize "
     "memorymb memorygb memoryquota memoryswapmax",
     "name", other_controls},
    {"priority order weight rank", "name",
     "rules are tried in the order of files, then of lines; the first that matches decides"},
    {"enabled enable disabled disable active", "name", commented_out},
    {"comment desc description note notes title", "name", as_comment},
    {"vms virtualmachine domain domname guest guestname libvirt machine qemu", "vm", {}},
    {"vcpuid vcpupin vcpus", "vcpu", {}},
    {"anyof allof and or", "name",
     "all conditions of a rule must hold, and an array holds if one of its members does"},
    {"script interpreter", "cmdline", "write cmdline = \"*/NAME.py*\""},
    {"uidmin uidmax uids", "user", "list the users, or use user_group or unit"},
    {"session tty login", "unit", "write unit = \"user-UID.slice\""},
    {"job jobs jobid jobname alloc allocation allocid queue step "
     "stepid jobstep slurmstep slurmjob nomadjob",
     "cgroup", of_a_scheduler},
    {"partition", "name",
     "the rule's [group.NAME] names its partition; rules do not know those of a scheduler"},
    {"recursive descendants subtree", "cgroup",
     "a cgroup includes those below it, and children start in the group of their parent"},
    {"hostname host onlyon machines node nodes nodename nodeselector", "name", one_policy},
    {"when schedule time cron", "name", all_the_time},
    {"env environment", "name", "rules do not know the environment; 'cmdline' or 'unit' may do"},
    {"all any everything default", "name", "name = \"*\" holds for every process"},
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
     "capbm bitmask "
     "cpbm cachetune cachelimit cacheconfig catl3 capacitybitmask",
     "l3",
     {}},
    {"l2allocation l2ways l2cat l2cache l2schema l2size l2mask", "l2", {}},
    {"code", "l3code", {}},
    {"data", "l3data", {}},
    {"mba membw memorybandwidth bandwidth mballocation mbapercent mbapercentage maxbandwidth "
     "memorybw bw mbamax mbambps mbmax memband membandpercent membwschema memorytune throttle "
     "mbpercent mbpercentage mbpct mbps membwpercent memorymbps memorygbps",
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
    {"limit cap ceiling quota size amount allocation class qos qosclass tier shares", "l3",
     resource_keys},
    {"clos cos closid closids rmid rmids partid pmg", "l3", by_kernel},
    {"inherit inherits extends template base from parent copy copies use uses like include", "l3",
     no_templates},
    {"isolate isolation exclusiveways exclusivecache pinned lock locked", "exclusive", {}},
    {"group groupname", "l3", "the name is in [group.NAME]: remove this line"},
    {"threadthrottlemode threadthrottle", "l3",
     "the kernel has one mode for all groups: remove this line"},
    {"unsupported drift onstop readers loglevel reconcileinterval", "l3", it_belongs_in_daemon},
    {"cpumask cpusmask", "cpus", of_cpu_mask},
    {"hostname host onlyon machines", "l3", one_policy},
    {"when schedule time cron", "l3", all_the_time},
    {"cdp", "l3", mount_options},
    {"io ioalloc ddio", "adopt", "[io] is a table of its own: write l3 in it"},
    {"catrangestartpercent catrangeendpercent", "l3",
     "write the difference, l3 = \"30%\"; rdtd chooses the place, and \"ways 4-7\" are these ways"},
    {"id cacheid domain domains socket sockets node numa numanode level perdomain l3perdomain "
     "mbperdomain",
     "l3", by_domain},
    {"schemata schema l3schemata", "l3", resource_keys},
    {"mbhdl mbhardlim mbhlim mbpri mbprio caprio capri intpri l3pri l3prio mbnode "
     " mbwght gmb gsmba camax cmax l3cmax mbwmax mbwpbm mbpbm hardlim hardlimit softlim",
     "control", needs_control},
    {"controls", "control", {}},
    {"mb smba mba membw bandwidth mballocation mbapercent memorytune", "exclusive", caches_only},
    {"cpus", "exclusive", "CPUs belong in a [group.NAME] of the partition"},
    {"ddio ioalloc", "l3", {}},
    {"cpu cpuset cores core coreids cpulist cpuslist cpuids affinity cpuaffinity allowedcpus "
     "cpusetcpus",
     "cpus",
     {}},
    {"moncpus monitorcores monitoredcpus moncores cpumonitor", "monitor_cpus", {}},
    {"mode type shareable shared share isolated dedicated private reserved", "exclusive",
     groups_share},
    {"priority weight nice ionice ioclass rtprio sched cpuquota cpuweight cpushares oomscoreadj "
     "memory memorymax memorymin memoryhigh memorylow memorylimit memorysize "
     "memorymb memorygb memoryquota memoryswapmax",
     "cpus", other_controls},
    {"guard guarded", "protected", in_guard},
    {"critical latencycritical latencysensitive important victim protect", "protected", {}},
    {"mbrange", "mb", "write a range: mb = \"10%..100%\""},
    {"pool cachepool", "partition", {}},
    {"exclusiveof exclusiveto exclusivewith exclusivefrom", "exclusive",
     "a group is exclusive to all others: write exclusive = true"},
    {"classes groups", "exclusive", groups_of_partition},
    {"desc comment note notes title owner", "description", {}},
    {"adoptexisting takeover existing", "adopt", {}},
    {"replace replaces overwrite force", "override", {}},
    {"name thread exe cmdline cgroup unit user usergroup userunit comm command process processes "
     "program cmd commandline cgrouppath binary path service slice scope container pod uid regex "
     "match rule rules vm vcpu vcpus units "
     "services slices scopes systemdunits containers pods names users cgroups namespace image "
     "label labels "
     "selector",
     "l3", needs_rule},
    {"pid pids tasks taskids task", "l3",
     "a [[rule]] puts processes in this group; use rdtctl assign for a PID"},
    {"monitor mon mongroup mongroups monitorgroup monitorgroups monitoring cmt mbm enablecmt "
     "enablembm enablemonitoring counters monitoronly",
     "l3", in_rule},
    {"optional", "l3", "write unsupported = \"skip\" in [daemon]"},
    {"kubernetes denypodannotation denycontainerannotation rdtclass", "l3", runtime_settings},
    {"enabled enable disabled disable active", "l3", commented_out},
});

// Of the top of a file, of [daemon] and of [pseudo_lock.NAME].
constexpr auto of_others = std::to_array<Synonym>({
    {words_for_groups, "rule", "write [group.NAME]"},
    {"profile profiles policy policies tier tiers qos job jobs workload workloads", "rule",
     "write [group.NAME]"},
    {"cache caches cat resources limits", "rule", "write [group.NAME] with l3 and mb"},
    {"variables vars defs constants", "rule",
     "TOML has no variables: write each value where it is used"},
    {"cpu core cores", "rule", "write cpus = \"0-3\" in [group.NAME]"},
    {"users", "rule", "write [[rule]] with user = \"NAME\""},
    {"log logging debug verbose", "rule", "write [daemon] with log_level = \"debug\""},
    {"history", "rule", "write [observer] with record = \"64 MiB\""},
    {"mode", "rule", "write [guard] with mode = \"on\", \"shadow\" or \"off\""},
    {"enabled enable", "rule", commented_out},
    {"$schema schema", "rule", of_schema},
    {"guarantee guaranteed burstable besteffort infra shared lsrclass lsclass beclass resctrlqos "
     "resctrlstrategy cpuqos cachetune memorytune cputune cachelimit cacheconfig cachepool llc "
     "mba",
     "rule", "write [group.NAME] with l3 and mb, and a [[rule]] for its processes"},
    {"default root", "rule", "write [group.default]"},
    {"defaults", "rule",
     "a group has all its amounts: there is no template; [group.default] is for all the rest"},
    {"partitions pools", "rule", "write [partition.NAME]"},
    {"ioalloc ddio devices", "rule", "write [io]"},
    {"rules match matches process processes assign assignment assignments", "rule",
     "write [[rule]]"},
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
    {"include includes import imports confd", "rule", all_files_are_read},
    {"inputs outputs agent prometheus metrics exporter", "rule", no_exporter},
    {"rdtconfigfile intelrdt rdt linux plugins runtime kubernetes crio "
     "containerd",
     "rule", runtime_settings},
    {"options", "rule",
     "unsupported = \"skip\" in [daemon] leaves out what a machine does not have"},
    {"mount mountoptions cdp", "version", mount_options},
    {"mbambps", "version", mount_in_mbps},
    {"interval samplinginterval sampleinterval reconcile refresh period pollinterval scaninterval "
     "checkinterval",
     "reconcile_interval",
     {}},
    {"loglevel log verbosity level verbose debug", "log_level", {}},
    {"stop onexit exit cleanup removeonstop removeonexit", "on_stop", {}},
    {"restore enforce ondrift", "drift", {}},
    {"optional strict skip ignore skipunsupported ignoreunsupported", "unsupported",
     on_unsupported},
    {"pidfile", "drift", "rdtd writes no PID file: systemd knows its process"},
    {"user", "drift", "rdtd runs as root: only root can write resctrl"},
    {"mountpath mountpoint resctrl", "drift", "resctrl is at /sys/fs/resctrl: remove this line"},
    {"monitor monitoring mon", "drift", in_rule},
    {"enabled enable", "drift", "'systemctl enable --now rdtd' starts it"},
    {"cpus", "drift", "'systemctl edit rdtd' sets CPUAffinity of the daemon itself"},
    {"guard", "drift", "[guard] is a table of its own: write mode = \"on\" in it"},
    {"include includes", "drift", all_files_are_read},
    {"users access allow reader", "readers", {}},
    {"port listen address metrics prometheus", "drift", no_exporter},
    {"mount mountoptions cdp", "drift", mount_options},
    {"mbambps", "drift", mount_in_mbps},
    {"dryrun", "drift", "rdtctl plan shows what would change"},
    {"threshold limit bandwidth ceiling utilization utilisation above", "traffic", {}},
    {"protect protected groups group victim victims", "traffic",
     "write protected = true in [group.NAME]"},
    {"enabled enable active state action", "traffic", "write mode = \"on\" or \"shadow\""},
    {"dryrun observe simulate", "traffic", "write mode = \"shadow\""},
    {"interval period", "traffic", "the time between samples is 'interval' in [observer]"},
    {"min minimum step steps cooldown hysteresis", "traffic",
     "the range of each group says how far: mb = \"10%..100%\" in [group.NAME]"},
    {"maxsize size history ringsize disk", "record", {}},
    {"retention keep maxage age days", "record", of_record},
    {"enabled enable active", "record", "systemctl enable --now rdtd-observer starts it"},
    {"dir directory path file", "record", "the history is in /var/lib/rdtd/history"},
    {"period samplinginterval sampleinterval refresh", "interval", {}},
    {"groups group", "record", "it records all groups: remove this line"},
    {"user uid", "owner", {}},
    {"gid usergroup", "owner", "did you mean 'group'?"},
    {"perm perms permission permissions", "mode", {}},
    {"size cache domain domains id level", "owner",
     "write l2 or l3 with its domain, such as l2 = { \"1\" = \"256 KiB\" }"},
});

}  // namespace

std::span<const Synonym> rows_of_rules() { return of_rules; }
std::span<const Synonym> rows_of_groups() { return of_groups; }
std::span<const Synonym> rows_of_others() { return of_others; }

}  // namespace rdtd
