#include "words_of_others.hpp"

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
     "list-units, get groups, get group, list groups, group list, ls groups, -s",
     "list"},
    {"validate, lint, test, verify, configtest, syntax, config check, config test, policy check, "
     "check-config, "
     "checkconfig, "
     "-t",
     "check"},
    {"diff", "plan --unified"},
    {"preview, dry-run, dryrun, simulate, changes", "plan"},
    {"describe group, describe groups, describe, inspect group, inspect, group show", "show"},
    {"cos, clos, closids, rmids, nodeinfo, cpuinfo, df, free, caps, cap, capabilities, features, "
     "hw, topology, machine, cluster-info, domains, mba, cdp, l3, llc, -d, -D",
     "info"},
    {"sync, refresh, daemon-reload, reload-or-restart, reconcile, -s reload, reload rdtd, reload "
     "rdtd.service, reload all, apply all, apply rdtd",
     "reload"},
    {"version, -V", "--version"},
    {"stats, usage, htop, cmt, mbm, bandwidth, iostat, numastat, domstats, overview, dashboard, "
     "tui, stats --no-stream",
     "top"},
    {"top nodes, top node, top pods, top groups, top all", "top"},
    {"rules, get rules, list rules, list ruleset, rules list, show rules, list-rules",
     "status --rules"},
    {"state, summary, is-active, is-failed, lease, lease list, list-leases, show leases, show all, "
     "lock, locks, regions, pseudo-lock, leases, get all, status rdtd, status rdtd.service, "
     "is-active rdtd, is-active rdtd.service, is-failed rdtd, is-failed rdtd.service",
     "status"},
    {"drift", "status --verify"},
    {"ways, map, draw, tree, du, cache, pools, partition, partitions", "layout"},
    {"guard, guard status, show guard, status guard", "explain guard"},
    {"schemata", "show"},
    {"heatmap, hist, recordings, play, report", "history"},
    {"replay", "history --replay"},
    {"rdtset, cgexec, numactl, taskset", "run"},
    {"convert, migrate, translate", "import --from"},
    {"cat, print-config, show-config, dump-config, get config, get policy, config view, config "
     "show, show config, show policy, policies, policy show, files, "
     "list-files, -T",
     "cat-config"},
    {"diagnose, diag, debug, troubleshoot, health, checkup", "doctor"},
    {"why, which, match, query, where, whois, explain pid, show pid", "explain"},
    {"trace, follow, tail", "events"},
    {"exec, launch", "run"},
    {"measure, benchmark, compare", "bench"},
    {"ceiling, calibrate", "bench --ceiling"},
    {"recommend, tune, advise, optimize", "suggest"},
    {"commit, activate, deploy, enforce", "apply"},
    {"claim, takeover, take-over", "adopt"},
    {"prometheus", "metrics"},
    {"-?, --usage", "--help"},
});

constexpr std::string_view remove_group =
    "remove the group's table from its file in /etc/rdtd, then run 'rdtctl reload'; 'rdtctl "
    "reset' removes every group that rdtd created";

constexpr auto verb_advice = std::to_array<Advice>({
    {"start, stop, restart, enable, disable, serve, daemon",
     "rdtd is a systemd service: use systemctl with its unit, rdtd.service"},
    {"group create, group add, groups create, policy create, policy edit, policy, cachetune, "
     "memtune, set-property, patch, scale, label, create, new, add, set, config, update, modify, "
     "change, limit, alloc, allocate, "
     "profile, profiles, rename, add rule, -e",
     "groups are tables of the policy: 'rdtctl edit 10-NAME' opens /etc/rdtd/10-NAME.toml, "
     "checks it and puts it in force; see rdtd.toml(5)"},
    {"group delete, group remove, group rm, groups delete, delete, rm, remove, del", remove_group},
    {"destroy, flush, clear, clean, off, down, teardown, prune, purge, -R",
     "'rdtctl reset' removes every group that rdtd created, until the next reload; the policy "
     "files stay"},
    {"undo, rollback, restore, revert",
     "put the previous file back in /etc/rdtd, then run 'rdtctl reload'; 'rdtctl reset' removes "
     "every group that rdtd created"},
    {"help policy, help rdtd.toml", "the language of the policy is in rdtd.toml(5): man rdtd.toml"},
    {"explain group", "'rdtctl show {}' shows a group"},
    {"monitor, mon, -m",
     "'rdtctl top' shows what all groups use, and 'rdtctl watch' one process or unit"},
    {"noisy, contention, interference, episodes",
     "'rdtctl blame' says who took cache or bandwidth from whom"},
    {"move, attach, join, put, assoc, associate, cgclassify",
     "'rdtctl assign -g GROUP PID' moves a running process"},
    {"-a",
     "pqos -a gives CPUs or processes to a class: write cpus = \"0-3\" in [group.NAME], or run "
     "'rdtctl assign -g GROUP PID'"},
    {"unassign, release, detach",
     "'rdtctl assign -g default PID' moves a process out of its group"},
    {"pqos, -r, -I, -i, -p, -S",
     "pqos -s is 'rdtctl list', -d 'rdtctl info', -m 'rdtctl top', -p 'rdtctl watch --pid PID'; "
     "-e and -a are tables of a policy, which 'rdtctl import --from FILE' writes from a pqos "
     "command line"},
    {"guard on, guard off, guard enable, guard disable",
     "write mode = \"on\", \"shadow\" or \"off\" in [guard], then run 'rdtctl reload'"},
    {"observer, observe",
     "'rdtctl history' shows what rdtd-observer has recorded; systemctl enable --now rdtd-observer "
     "starts it"},
    {"rollout, rollout status, drain, rollout restart",
     "rdtd manages one machine: see docs/fleets.md for many"},
    {"reset-failed, daemon-reexec, is-enabled, wait",
     "rdtd is a systemd service: use systemctl with its unit, rdtd.service"},
    {"nice, renice, chrt, ionice",
     "rdtd divides caches and memory bandwidth only; 'rdtctl run --cpus LIST' chooses CPUs"},
    {"tasks, pids", "'rdtctl show GROUP' lists a group's tasks"},
    {"pid, proc", "'rdtctl explain PID' shows the group of a process, and why"},
    {"kill, pause, freeze", "rdtd divides caches and bandwidth; it ends and stops no process"},
    {"export, dump, backup, save",
     "'rdtctl import' prints the groups as a policy, and 'rdtctl snapshot DIR' saves the resctrl "
     "tree"},
    {"load",
     "'rdtctl reload' loads the files of /etc/rdtd, and 'rdtctl plan FILE' shows what one "
     "would do"},
    {"get", "'rdtctl list' shows all groups, and 'rdtctl show GROUP' one of them"},
    {"man, docs, manual", "see rdtctl(1), rdtd.toml(5) and rdtd(8)"},
    {"mount, umount, unmount",
     "resctrl is mounted by systemd: systemctl start sys-fs-resctrl.mount"},
    {"mask, unmask",
     "an empty file of the same name in /etc/rdtd masks a policy file of /usr/lib/rdtd"},
    {"fix, repair", "'rdtctl doctor' names each problem and what to do about it"},
    {"fmt, format", "rdtctl formats no files; each formatter of TOML does"},
    {"exporter, listen",
     "rdtd opens no port; 'rdtctl metrics' prints the metrics for Prometheus, and "
     "rdtd-metrics.timer hands them to node_exporter"},
});

struct OptionGuess {
  std::string_view verbs;    // with spaces between them; "*": each that has no row of its own
  std::string_view guesses;  // with spaces between them
  std::string_view words;
  std::string_view sentence = {};
};

constexpr std::string_view shows_all_groups = "it shows all groups";
constexpr std::string_view kind_is_recognized =
    "the kind of file is recognized: rdtctl import --from FILE";
constexpr std::string_view asks_nothing = "rdtctl asks no questions";
constexpr std::string_view see_plan =
    "'rdtctl plan' shows what a load would change; this verb has no trial";

constexpr std::string_view one_file =
    "'rdtctl check FILE' checks one file, and --root DIR reads those of DIR/etc/rdtd";

constexpr auto option_guesses = std::to_array<OptionGuess>({
    {"top", "--iterations --count", "-n"},
    {"top", "-k", "--sort"},
    {"top", "--replay", "--play"},
    {"top", "-g --group --filter", "", "top shows all groups; 'rdtctl show GROUP' shows one"},
    {"top", "-c -H -E -e -I -S -w", "",
     "top shows what groups use; 'rdtctl watch --pid PID' shows one process"},
    {"top", "--once --batch", "-b"},
    {"top", "-i --delay --seconds", "-d"},
    {"top", "-s --sort-by --order", "--sort"},
    {"watch", "-i -n --delay --seconds", "-d"},
    {"watch", "-p", "--pid"},
    {"watch explain assign", "-u", "--unit"},
    {"watch status", "-g --group", "",
     "'rdtctl show {}' shows one group, 'rdtctl top' what all use"},
    {"layout plan metrics", "-g --group", "", shows_all_groups},
    {"record", "-g --group", "", "it records all groups; 'rdtctl history FILE -g {}' shows one"},
    {"status", "-n --lines", "", "status prints no log; 'rdtctl logs -n NUMBER' does"},
    {"bench", "--repeats --runs --iterations -n", "--rounds"},
    {"bench", "--for --duration", "--seconds"},
    {"bench", "--warmup", "", "the first round is never counted"},
    {"suggest", "--rounds --runs --iterations -n", "--repeats"},
    {"suggest", "--seconds --duration", "--for"},
    {"suggest", "--apply", "", "it prints a policy: 'rdtctl edit' puts it in force"},
    {"history blame", "--from --start --begin", "--since"},
    {"history blame", "--to --end", "--until"},
    {"history blame", "--last", "--since=-{}"},
    {"history blame", "--today", "--since=today"},
    {"history blame", "--yesterday", "--since=yesterday"},
    {"history", "-o --output", "", "--html FILE writes pictures; for data: -j > FILE"},
    {"explain", "--comm --process --command", "--name"},
    {"explain", "--args", "--cmdline"},
    {"explain", "--service --slice", "--unit"},
    {"explain", "--uid", "", "did you mean '--user'?"},
    {"explain", "--gid", "", "did you mean '--user-group'?"},
    {"explain", "-g --group", "", "'rdtctl show {}' shows a group"},
    {"completion", "--shell -s", "+"},
    {"reset", "-g --group", "", remove_group},
    {"reset", "-a --all", ""},
    {"adopt", "-g --group", "+"},
    {"events", "-f --follow", ""},
    {"events", "--lines --count", "-n"},
    {"events", "-g --group --filter --type", "",
     "events prints all: rdtctl events | grep GROUP; 'rdtctl blame -g GROUP' has what was"},
    {"events", "--since --until", "", "the journal has what was before: journalctl -u rdtd"},
    {"run", "--cpu --cores --taskset", "--cpus"},
    {"run", "-C --class --clos --cos", "--group"},
    {"run", "--llc --cat --cache --ways", "--l3"},
    {"run", "--mba --bandwidth --membw", "--mb"},
    {"run", "--cpuset-cpus --cpuset", "--cpus"},
    {"show", "-g --group", "+"},
    {"list", "-g --group", "", "list shows all groups; 'rdtctl show GROUP' shows one"},
    {"init", "-u --unit --service", "--protect"},
    {"init", "--dry-run -n", "", "without --yes it shows the policy and asks first"},
    {"init", "-o --output", "", "it writes /etc/rdtd/10-init.toml"},
    {"import", "--format --type --kind", "", kind_is_recognized},
    {"import", "-f --file --filename", "--from"},
    {"run", "-t", "",
     "rdtset's -t 'l3=...;cpu=...' is --l3 AMOUNT, --mb AMOUNT and --cpus LIST here"},
    {"run", "-p --pid", "", "'rdtctl assign -g GROUP PID' moves a running process"},
    {"assign", "-C --class --clos --cos", "--group"},
    {"assign", "--name --user --exe --cgroup", "",
     "assign takes PIDs or a unit; a [[rule]] of the policy matches by name, user, exe and cgroup"},
    {"assign", "--permanent --persist", "",
     "--unit UNIT is permanent; for others write a [[rule]] in the policy"},
    {"assign reset adopt", "--dry-run -n", "", see_plan},
    {"assign explain", "-p", "--pid"},
    {"explain", "--vm --vcpu --machine", "",
     "describe a process of a virtual machine by --cgroup PATH and --name NAME"},
    {"metrics", "-o", "--output"},
    {"record", "-o --output", "+"},
    {"import", "-o --output", "", "the policy is printed: redirect it, rdtctl import > FILE"},
    {"check plan", "-f --file --filename --config --policy", "+"},
    {"check", "--strict --werror", "",
     "warnings do not prevent loading; 'rdtctl check -j' has them as data"},
    {"plan", "-u --diff", "--unified"},
    {"plan", "--detailed --exit-code --exitcode", "--detailed-exitcode"},
    {"plan", "--out --output", "", "the plan is printed: redirect it, or use -j for programs"},
    {"apply reload", "--filename --file", "",
     "the files of /etc/rdtd are put in force: copy yours there; 'rdtctl plan FILE' tries it "
     "first"},
    {"doctor", "--fix --repair", "", "doctor changes nothing; it prints what to do"},
    {"metrics", "--port --listen --web.listen-address", "",
     "rdtd opens no port; rdtd-metrics.timer writes the metrics for node_exporter"},
    {"snapshot", "-o --output --dir", "+"},
    {"list", "-1 --name-only", "--names"},
    {"list status show info", "-a --all -A -l --long --full", ""},
    {"list status show", "-w --watch", "", "'rdtctl top' refreshes"},
    {"status", "--rule", "--rules"},
    {"reset apply reload adopt", "-y --yes --assume-yes --no-ask", ""},
    {"reset apply reload adopt", "-f --force", "", asks_nothing},
    {"help", "-a --all", ""},
    {"*", "--no-headers --noheadings --no-heading --no-header", "--no-legend"},
    {"metrics", "--format=prometheus --format=text", ""},
    {"*", "--output=json-pretty --format=json-pretty", "--json=pretty"},
    {"*", "--output=json --format=json -ojson -o=json --json=true", "-j"},
    {"*", "--no-color --nocolor --no-colour --colour=never", "--color=never"},
    {"*", "--silent", "--quiet"},
    {"*", "--no-pager --plain", ""},
    {"*", "-v --verbose --debug", "", "there is no more text; -j prints every value"},
    {"*", "-H --host --machine", "", "rdtctl talks to this machine only: ssh HOST rdtctl ..."},
    {"*", "-c --config -f --file", "", one_file},
});

// Verbs that take no argument, and what they do instead.
constexpr auto without_arguments = std::to_array<Advice>({
    {"apply reload", "it puts all files of /etc/rdtd in force"},
    {"layout", "it draws the policy of /etc/rdtd; 'rdtctl plan FILE' tries a file"},
    {"cat-config", "it prints all files of the policy"},
    {"info", "it shows all resources"},
});

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

}  // namespace

std::optional<Meaning> meaning_of_verb(std::string_view words) {
  for (const Same& same : same_verbs)
    if (has_guess(same.guesses, ", ", words)) return Meaning{words_in(same.words), {}};
  for (const Advice& advice : verb_advice)
    if (has_guess(advice.guesses, ", ", words)) return Meaning{{}, advice.sentence};
  return std::nullopt;
}

std::optional<Meaning> meaning_of_option(std::string_view verb, std::string_view option) {
  for (const OptionGuess& guess : option_guesses)
    if ((guess.verbs == "*" || has_guess(guess.verbs, " ", verb)) &&
        has_guess(guess.guesses, " ", option))
      return Meaning{words_in(guess.words), guess.sentence};
  return std::nullopt;
}

std::string_view instead_of_argument(std::string_view verb) {
  for (const Advice& advice : without_arguments)
    if (has_guess(advice.guesses, " ", verb)) return advice.sentence;
  return {};
}

}  // namespace rdtd
