// The verbs of other tools: tables. guess_verb.cpp applies them.
#include "words_of_others.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

struct Same {
  std::string_view guesses;  // with ", " between them
  std::string_view words;    // with spaces between them
};

struct Advice {
  std::string_view guesses;
  std::string_view sentence;
};

constexpr auto same_verbs = std::to_array<Same>({
    {"ls, groups, ps, ps aux, list-groups, show-groups, show groups, groups list, partition list, "
     "list-units, get groups, get group, list groups, group list, ls groups, classes, list "
     "classes, "
     "get classes, list profiles, list table, --list, lscgroup, systemd-cgls, cgls, "
     "active profile, describe groups, status groups, list tables, -s",
     "list"},
    {"validate, lint, test, verify *, configtest, syntax, config check, config test, policy check, "
     "check-config, "
     "checkconfig, --check, parse, syntax-check, check config, check policy, check all, "
     "-t",
     "check"},
    {"diff", "plan --unified"},
    {"preview, dry-run, dryrun, simulate, changes, whatif, what-if, try, trial, pretend, plan show",
     "plan"},
    {"describe, inspect, display, view, group show", "show"},
    {"cos, clos, closids, rmids, nodeinfo, cpuinfo, df, free, caps, cap, capability, capabilities, "
     "features, "
     "hw, topology, machine, cluster-info, sinfo, nodedev-list, rmid, closid, "
     "get nodes, get node, describe node, describe nodes, quota, quotas, limits, "
     "list domains, domains, mba, mb, l2, cdp, l3, llc, numa, nodes, sockets, hardware, resources, "
     "caches, detect, discover, scan, probe, lscpu, show-caps, hwinfo, node list, nodes list, -d, "
     "-D",
     "info"},
    {"sync, refresh, daemon-reload, reload-or-restart, reconcile, reconfigure, "
     "reconfig, force-reload, resync, -s reload, rescan, reload rdtd, reload "
     "rdtd.service, reload all, apply all, apply rdtd",
     "reload"},
    {"version, -V, -v", "--version"},
    {"occupancy, utilization, stats, usage, htop, cmt, mbm, bandwidth, iostat, numastat, domstats, "
     "overview, dashboard, "
     "tui, stats --no-stream, stats --all, stats -a, nodestats, systemd-cgtop, cgtop, live",
     "top"},
    {"top nodes, top node, list counters, show usage, top pods, top groups, top all", "top"},
    {"rules, get rules, list rules, list ruleset, rules list, show rules, list-rules, list chain, "
     "rule, rule list, rule show, show rule, list rule, get rule, "
     "list chains, rules show, rules check, rules stats, rule stats, rules counters, rule "
     "counters, "
     "status rules, describe rule, assignments, list assignments",
     "status --rules"},
    {"current, state, summary, is-active, is-failed, lease, lease list, list-leases, show leases, "
     "show all, "
     "lock, locks, regions, pseudo-lock, leases, get all, status rdtd, status rdtd.service, "
     "ping, uptime, is-system-running, active, show daemon, daemon status, is-active rdtd, "
     "healthz, readyz, ready, --status, "
     "is-active "
     "rdtd.service, is-failed rdtd, is-failed rdtd.service",
     "status"},
    {"drift, status drift, verify-state, check-drift, audit-drift", "status --verify"},
    {"ways, map, draw, graph, tree, du, cache, pools, partition, partitions, masks, cbm, "
     "show-layout, "
     "visualize, bitmap, bitmask",
     "layout"},
    {"guard, guard status, show guard, status guard, guard log, guard logs, guard history, guard "
     "show, guard events, guard explain, guard why, guard report, guard list, explain-guard",
     "explain guard"},
    {"guard replay, guard test, guard simulate", "history --replay"},
    {"schemata, dominfo, profile_info, cgget, group, class, exists, --show", "show"},
    {"heatmap, hist, recordings, play, report, sar", "history"},
    {"who-took, culprit, noisy-neighbor, noisy-neighbour", "blame"},
    {"show schemata", "list"},
    {"replay", "history --replay"},
    {"rdtset, cgexec, numactl, taskset, srun", "run"},
    {"convert, migrate, translate", "import"},
    {"cat, print-config, show-config, dump-config, get config, get policy, config view, config "
     "show, show config, show policy, policies, policy show, policy list, policy "
     "ls, config list, config dump, config get, list-unit-files, list files, list policies, files, "
     "list-files, get-config, show-policy, print-policy, ls-files, show startup-config, -T",
     "cat-config"},
    {"diagnose, diag, debug, troubleshoot, health, healthcheck, health-check, checkup, selftest, "
     "self-test, diagnostics, preflight, check-hardware, check-machine, check-support, supported, "
     "issupported",
     "doctor"},
    {"rule test, rule explain, rule match, rules test, rules explain, rules match, test-rule, why, "
     "which, match, query, find, locate, where, whois, whichgroup, explain pid, show pid, explain "
     "process, show "
     "process, process, unit, group of, class of, clos of, ps -p",
     "explain"},
    {"explain unit, explain service, show unit, show service", "explain --unit"},
    {"explain name, explain comm, explain command, pgrep, pidof", "explain --name"},
    {"explain exe", "explain --exe"},
    {"explain cgroup", "explain --cgroup"},
    {"explain pod, show pod, pod", "explain --pod"},
    {"explain container, explain docker, show container, container", "explain --container"},
    {"explain user", "explain --user"},
    {"trace, follow, tail, get events, get event, list events", "events"},
    {"watch pid, watch process", "watch --pid"},
    {"watch unit, watch service", "watch --unit"},
    {"exec, launch", "run"},
    {"measure, benchmark, compare", "bench"},
    {"ceiling, calibrate", "bench --ceiling"},
    {"recommend, tune, advise, optimize, autotune", "suggest"},
    {"commit, activate, deploy, enforce", "apply"},
    {"claim, takeover, take-over", "adopt"},
    {"prometheus, export metrics, export prometheus, dump metrics, save metrics", "metrics"},
    {"show version", "--version"},
    {"-?, --usage, --help-all, --commands, commands, about, help all", "--help"},
    {"setup, configure, wizard, quickstart, generate, gen, genconfig, generate-config, "
     "generate-policy, scaffold, bootstrap",
     "init"},
    {"completions, bash-completion, autocomplete", "completion"},
});

constexpr auto verb_advice = std::to_array<Advice>({
    {"verify",
     "'rdtctl check' checks the policy files, and 'rdtctl status --verify' compares every value "
     "with the kernel"},
    {"service rdtd, serve, daemon, list-dependencies",
     "rdtd is a systemd service: use systemctl with its unit, rdtd.service"},
    {"start, enable", "rdtd is a systemd service: systemctl enable --now rdtd"},
    {"stop",
     "rdtd is a systemd service: systemctl stop rdtd; its groups stay until 'rdtctl reset'"},
    {"restart, try-restart, condrestart",
     "rdtd is a systemd service: systemctl restart rdtd; 'rdtctl reload' reads the policy again"},
    {"disable", "rdtd is a systemd service: systemctl disable --now rdtd"},
    {"rule add, rule create, rule new, add rule, create rule, new rule, rules add, insert rule, "
     "rule insert, rule append",
     "a rule is a [[rule]] of the policy: 'rdtctl assign -g GROUP --unit UNIT' writes one for a "
     "unit, and 'rdtctl edit 10-NAME' opens a file for others; see rdtd.toml(5)"},
    {"rule delete, rule del, rule rm, rule remove, rule flush, delete rule, rules delete, remove "
     "rule",
     "remove its [[rule]] from its file in /etc/rdtd, which 'rdtctl status --rules' names, then "
     "run 'rdtctl reload'"},
    {"group create, group add, groups create, policy create, policy, cachetune, "
     "memtune, set-property, patch, scale, label, create, new, add, set, config, update, modify, "
     "change, limit, alloc, allocate, annotate, cgset, cgcreate, vcpupin, emulatorpin, schedinfo, "
     "reserve, resize, mkdir, partition create, class create, "
     "profile, profiles, rename, -e",
     "groups are tables of the policy: 'rdtctl edit 10-NAME' opens /etc/rdtd/10-NAME.toml, "
     "checks it and puts it in force; see rdtd.toml(5)"},
    {"cgdelete, class delete, group delete, group remove, group rm, groups delete, delete, rm, "
     "rmdir, remove, del, destroy *, undefine, undefine *, flush *, clear *, purge *, prune *",
     how_to_remove},
    {"destroy, flush, clear, clean, off, down, teardown, prune, purge, -R",
     "'rdtctl reset' removes every group that rdtd created, until the next reload; the policy "
     "files stay"},
    {"undo, rollback, restore, revert",
     "put the previous file back in /etc/rdtd, then run 'rdtctl reload'; 'rdtctl reset' removes "
     "every group that rdtd created"},
    {"help policy, help rdtd.toml, help group, help groups, help rule, help rules, help amount, "
     "help amounts, help toml, help syntax, help partition, help partitions, help l3, help l2, "
     "help mb, help exclusive, help cpus, help unit, help monitor, explain key",
     "the language of the policy is in rdtd.toml(5): man rdtd.toml"},
    {"help exit-codes, help exit-code, help exit, help json, help output, "
     "help environment",
     "see EXIT STATUS, JSON and ENVIRONMENT in rdtctl(1): man rdtctl"},
    {"explain group, watch group", "'rdtctl show {}' shows a group"},
    {"watch container, watch pod, watch vm",
     "watch takes a PID or a unit: 'systemctl status PID' names the unit of a process"},
    {"explain vm, show vm, explain domain",
     "describe a process of a virtual machine: rdtctl explain --cgroup PATH --name NAME"},
    {"explain rule, explain rules, explain groups, explain policy",
     "the language of the policy is in rdtd.toml(5): man rdtd.toml"},
    {"get pods, list pods, list containers, get containers, pods, containers",
     "'rdtctl explain --pod NAMESPACE/NAME' or --container NAME says which rule decides about one"},
    {"support, support-report, sosreport, bug, bugs, report-bug, bug-report, bugreport",
     "a report needs what 'rdtctl doctor', 'rdtctl info' and 'rdtctl cat-config' print"},
    {"monitor, mon, -m",
     "'rdtctl top' shows what all groups use, and 'rdtctl watch' one process or unit"},
    {"noisy, contention, interference, episodes, victims",
     "'rdtctl blame' says who took cache or bandwidth from whom"},
    {"mv, move, attach, join, put, assoc, associate, classify, reclassify, cgclassify",
     "'rdtctl assign -g GROUP PID' moves a running process"},
    {"-a",
     "pqos -a gives CPUs or processes to a class: write cpus = \"0-3\" in [group.NAME], or run "
     "'rdtctl assign -g GROUP PID'"},
    {"unassign, release, detach", how_to_unassign},
    {"-u *",
     "'rdtctl watch --unit UNIT' shows what a unit uses, and 'rdtctl explain UNIT' its rule"},
    {"pqos, -r, -I, -i, -p, -S, -u, -u csv, -u text, -u xml, --iface, --iface=os, --iface=msr, -l",
     "pqos -s is 'rdtctl list', -d 'rdtctl info', -m 'rdtctl top', -p 'rdtctl watch --pid PID'; "
     "-e and -a are tables of a policy, which 'rdtctl import --from FILE' writes from a pqos "
     "command line"},
    {"guard on, guard off, guard enable, guard disable, guard shadow, guard start, guard stop, "
     "guard mode, guard set, guard reset, guard pause, guard dry-run, enable guard, disable guard, "
     "start guard, stop guard, "
     "shadow",
     "write mode = \"on\", \"shadow\" or \"off\" in [guard], then run 'rdtctl reload'"},
    {"observer, observe, status observer, status rdtd-observer",
     "'rdtctl history' shows what rdtd-observer has recorded; systemctl enable --now rdtd-observer "
     "starts it"},
    {"cordon, uncordon, taint, rollout, rollout status, drain, rollout restart",
     "rdtd manages one machine: see /usr/share/doc/rdtd/fleets.md for many"},
    {"reset-failed, daemon-reexec, is-enabled, wait",
     "rdtd is a systemd service: use systemctl with its unit, rdtd.service"},
    {"nice, renice, chrt, ionice, pin",
     "rdtd divides caches and memory bandwidth only; 'rdtctl run --cpus LIST' chooses CPUs"},
    {"members, who, tasks, pids, processes, threads, list tasks, list pids, list processes, list "
     "threads",
     "'rdtctl show GROUP' counts a group's tasks; cat /sys/fs/resctrl/GROUP/tasks lists them"},
    {"lssubsys, cgroup, cgroups",
     "'rdtctl info' shows what can be divided; a [[rule]] with cgroup = \"/PATH\" sorts processes "
     "by their cgroup"},
    {"list mon_groups, list monitoring, show mon_groups, mon_groups",
     "'rdtctl top' shows monitoring groups below their control groups"},
    {"pid, proc", "'rdtctl explain PID' shows the group of a process, and why"},
    {"kill, pause, freeze, thaw",
     "rdtd divides caches and bandwidth; it ends and stops no process"},
    {"export history, export recording, dump history",
     "'rdtctl history -j' prints a recording, and 'rdtctl history --html FILE' draws it"},
    {"export, dump, backup, save",
     "'rdtctl import' prints the groups as a policy, and 'rdtctl snapshot DIR' saves the resctrl "
     "tree"},
    {"load",
     "'rdtctl reload' loads the files of /etc/rdtd, and 'rdtctl plan FILE' shows what one "
     "would do"},
    {"get", "'rdtctl list' shows all groups, and 'rdtctl show GROUP' one of them"},
    {"man, doc, docs, documentation, manual, manpage", "see rdtctl(1), rdtd.toml(5) and rdtd(8)"},
    {"sample, samples",
     "'rdtctl record FILE' keeps samples of what groups use; /usr/share/doc/rdtd has examples of "
     "policies"},
    {"stress, noise",
     "'rdtctl bench -g GROUP -- COMMAND' measures a command beside noise; see --noise in "
     "rdtctl(1)"},
    {"boost, prioritize, prioritise, priority",
     "write more of l3 or mb, or exclusive = true, in [group.NAME], then run 'rdtctl reload'"},
    {"examples, example, tutorial, template, templates",
     "/usr/share/doc/rdtd has a tutorial and examples; 'rdtctl init' writes a policy from what "
     "runs"},
    {"install, uninstall, upgrade",
     "rdtd is a package: apt or dnf installs, upgrades and removes it"},
    {"mount", "resctrl is mounted by systemd: systemctl start sys-fs-resctrl.mount"},
    {"umount, unmount",
     "resctrl is mounted by systemd: 'systemctl stop sys-fs-resctrl.mount' unmounts it, and stops "
     "rdtd"},
    {"remount", "resctrl is mounted by systemd: systemctl restart sys-fs-resctrl.mount"},
    {"mask, unmask",
     "an empty file of the same name in /etc/rdtd masks a policy file of /usr/lib/rdtd"},
    {"fix, repair, heal", "'rdtctl doctor' names each problem and what to do about it"},
    {"fmt, format", "rdtctl formats no files; each formatter of TOML does"},
    {"problems, errors, warnings", where_problems_are},
    {"loglevel, log-level, service-log-level, verbosity", how_to_log_more},
    {"protect, isolate",
     "exclusive = true in [group.NAME] gives a group ways of its own; 'rdtctl init --protect UNIT' "
     "writes a policy for a service"},
    {"throttle, cap *",
     "write mb = \"20%\" in [group.NAME], then run 'rdtctl reload'; of one command: 'rdtctl run "
     "--mb 20% -- COMMAND'"},
    {"lease create, lease add, lease new, lease take, create lease, new lease",
     "a lease is a group that ends with its holder: 'rdtctl run --l3 \"2 ways\" COMMAND' takes one "
     "for a command, and programs call Lease on D-Bus, see org.rdtd1(5)"},
    {"lease end, lease stop, lease delete, lease rm, lease release, end lease",
     "a lease ends when its holder closes its descriptor or ends; 'rdtctl reset' ends all"},
    {"services, units, list units, list services, get services",
     "'rdtctl explain UNIT' says which rule decides about one"},
    {"vm, vms, vm list, list vms, list vm",
     "a [[rule]] with vm = \"NAME\" matches a virtual machine; rdtctl lists none"},
    {"cpus, cores, explain cpu, explain core", "'rdtctl list' shows the CPUs of each group"},
    {"plot, chart",
     "'rdtctl layout' draws the ways, and 'rdtctl history --html FILE' what the groups used"},
    {"plan apply", "'rdtctl apply' puts the policy in force, and prints the changes"},
    {"show running-config, running-config, import current",
     "'rdtctl import' prints the groups of this machine as a policy"},
    {"lock *, pseudo-lock create, pseudo-lock add, lock create, lock add",
     "write [pseudo_lock.NAME] in the policy, which locks memory in a cache; exclusive = true in "
     "[group.NAME] keeps others out"},
    {"reset guard", "write mode = \"off\" in [guard], then run 'rdtctl reload'"},
    {"reset stats, reset counters, reset statistics",
     "the kernel's counters only grow; 'rdtctl top' shows what is now"},
    {"reset config, reset policy",
     "the policy is what /etc/rdtd has: remove its files there, then run 'rdtctl reload'"},
    {"exporter, listen",
     "rdtd opens no port; 'rdtctl metrics' prints the metrics for Prometheus, and "
     "rdtd-metrics.timer hands them to node_exporter"},
});

// Verbs that take no argument, and what they do instead.
constexpr auto without_arguments = std::to_array<Advice>({
    {"apply reload", "it puts all files of /etc/rdtd in force"},
    {"layout", "it draws the policy of /etc/rdtd; 'rdtctl plan FILE' tries a file"},
    {"cat-config", "it prints all files of the policy"},
    {"info", "it shows all resources"},
    {"events", "it prints all, until interrupted or for -n NUMBER"},
    {"doctor", "it examines the machine; 'rdtctl show GROUP' shows a group"},
    {"metrics", "it prints all, in the text format of Prometheus"},
});

}  // namespace

bool changes_nothing(std::string_view verb) {
  return !is_one_of(verb, {"apply", "reload", "adopt", "reset", "assign", "run", "edit", "init",
                           "snapshot", "record", "bench", "suggest"});
}

bool has_guess(std::string_view guesses, std::string_view separator, std::string_view guess) {
  for (size_t at = 0; at < guesses.size();) {
    const size_t end = std::min(guesses.find(separator, at), guesses.size());
    if (guesses.substr(at, end - at) == guess) return true;
    at = end + separator.size();
  }
  return false;
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> out;
  if (!text.empty())
    for (const std::string_view word : split(text, ' ')) out.emplace_back(word);
  return out;
}

static std::optional<Meaning> meaning_of_row(std::string_view words) {
  for (const Same& same : same_verbs)
    if (has_guess(same.guesses, ", ", words)) return Meaning{words_in(same.words), {}};
  for (const Advice& advice : verb_advice)
    if (has_guess(advice.guesses, ", ", words)) return Meaning{{}, advice.sentence};
  return std::nullopt;
}

std::optional<Meaning> meaning_of_verb(std::string_view words) {
  if (auto meaning = meaning_of_row(words)) return meaning;
  // Words for "show".
  const size_t blank = words.find(' ');
  if (blank == std::string_view::npos ||
      !is_one_of(words.substr(0, blank), {"show", "list", "get", "describe", "inspect", "display"}))
    return std::nullopt;
  for (const std::string_view verb : {"show", "list", "get"})
    if (auto meaning = meaning_of_row(fmt::format("{}{}", verb, words.substr(blank))))
      return meaning;
  return std::nullopt;
}

std::string_view instead_of_argument(std::string_view verb) {
  for (const Advice& advice : without_arguments)
    if (has_guess(advice.guesses, " ", verb)) return advice.sentence;
  return {};
}

}  // namespace rdtd
