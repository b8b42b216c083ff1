// The options of other tools: a table. guess_options.cpp applies it.
#include <array>
#include <filesystem>
#include <system_error>

#include "rdtd/base/text.hpp"
#include "time_point.hpp"
#include "words_of_others.hpp"

namespace rdtd {

namespace {

struct OptionGuess {
  std::string_view verbs;    // with spaces between them; "*": each that has no row of its own;
                             // "rdtctl": none
  std::string_view guesses;  // with spaces between them; "-p=": with a '=' in its value
  std::string_view words;
  std::string_view sentence = {};
};

constexpr std::string_view shows_all_groups = "it shows all groups";
constexpr std::string_view kind_is_recognized = "the format is detected: rdtctl import --from FILE";
constexpr std::string_view asks_nothing = "it never asks for confirmation: leave this option out";
constexpr std::string_view see_plan =
    "'rdtctl plan' shows what a load would change; this verb has no trial";

constexpr std::string_view unit_or_user =
    "'rdtctl watch --unit UNIT' shows a unit; of a user, a [[rule]] with group = \"default\", user "
    "= "
    "\"USER\" and monitor = \"NAME\" makes a monitoring group";
constexpr std::string_view one_file =
    "'rdtctl check FILE' checks one file, and --root DIR reads those of DIR/etc/rdtd";

constexpr auto option_guesses = std::to_array<OptionGuess>({
    {"*", "--tree --snapshot", "--resctrl"},
    {"rdtctl", "-r -R", "--root"},
    {"rdtctl", "--system", ""},
    {"top", "--iterations --count --limit", "-n"},
    {"top", "-f --file -r --read --input", "--play"},
    {"top", "--no-stream", "-n1"},
    {"top", "-a --all", ""},
    {"top", "-k", "--sort"},
    {"top", "--replay", "--play"},
    {"top", "-u", "", unit_or_user},
    {"top watch", "-U --user --uid", "", unit_or_user},
    {"top", "--output", "",
     "it prints text: rdtctl top -b > FILE; 'rdtctl record FILE' keeps samples"},
    {"top", "-g --group --filter", "", "top shows all groups; 'rdtctl show GROUP' shows one"},
    {"top", "-c -H -E -e -I -S -w", "",
     "top shows what groups use; 'rdtctl watch --pid PID' shows one process"},
    {"top", "--once --batch", "-b"},
    {"top", "-i --delay --seconds", "-d"},
    {"top", "-s --sort-by --order", "--sort"},
    {"watch", "-i -n --delay --seconds", "-d"},
    {"watch", "-p --process --name --comm", "--pid=#"},
    {"watch", "-p", "--pid"},
    {"watch explain assign", "--service", "--unit"},
    {"watch explain assign", "--slice", "--unit={}.slice"},
    {"watch explain assign", "--scope", "--unit={}.scope"},
    {"watch explain assign", "--slice --scope", "--unit"},
    {"watch", "--pod --container --vm", "",
     "watch takes a PID or a unit: 'systemctl status PID' names the unit of a process"},
    {"watch", "--count --once", "", "it refreshes until q is pressed: timeout 10 rdtctl watch ..."},
    {"watch explain assign", "-u", "--unit"},
    {"watch status", "-g --group", "",
     "'rdtctl show {}' shows one group, 'rdtctl top' what all use"},
    {"layout plan metrics", "-g --group", "", shows_all_groups},
    {"layout", "--html --svg --png -o --output", "", "it draws with letters; -j has the masks"},
    {"layout", "-f --file --policy --config -c", "",
     "it draws the policy of /etc/rdtd; 'rdtctl plan FILE' tries a file"},
    {"explain", "-f --file --policy --config", "",
     "it tries the rules of /etc/rdtd, and with --root DIR those of DIR/etc/rdtd"},
    {"layout", "-a --all", ""},
    {"layout", "--ascii --no-unicode", "", "LC_ALL=C rdtctl layout draws in ASCII"},
    {"layout", "--live --current --now", "",
     "its last row is what the kernel says now, and 'rdtctl list' has the groups of now"},
    {"layout info", "--domain --domains", "", "it shows all domains"},
    {"layout", "--l2 --l3 --cache --resource", "", "it shows all caches"},
    {"info", "--l2 --l3 --mb --resource --groups --closids --rmids", "", "it shows all resources"},
    {"info", "--caches --cache --cpu --monitoring", ""},
    {"*", "--width", "", "COLUMNS=80 in the environment sets the width"},
    {"doctor", "-a --all --check", ""},
    {"adopt", "-a --all", "", "name the groups; 'rdtctl list' shows which are not rdtd's"},
    {"record", "-g --group", "", "it records all groups; 'rdtctl history FILE -g {}' shows one"},
    {"status", "-n --lines", "", "status prints no log; 'rdtctl logs -n NUMBER' does"},
    {"bench", "--repeat --repeats --runs --iterations -n", "--rounds"},
    {"bench", "--for --duration", "--seconds"},
    {"bench", "--report", "--html"},
    {"bench", "--bandwidth --max-bandwidth", "--ceiling"},
    {"bench", "--latency", "--probe=latency"},
    {"bench", "--timer --cyclictest", "--probe=timer"},
    {"bench", "--output", "", "it prints text, or JSON with -j; --html FILE writes pictures"},
    {"bench", "--warmup", "", "the first round is never counted"},
    {"bench suggest", "-c --cpu --cores", "--cpus"},
    {"suggest", "--repeat --rounds --runs --iterations -n", "--repeats"},
    {"suggest", "--seconds --duration", "--for"},
    {"suggest", "--bandwidth --mba --membw", "--mb"},
    {"suggest", "--time", "--for"},
    {"suggest", "-p --pid -u --unit", "",
     "it measures a command, or the tasks of -g GROUP: 'rdtctl assign -g GROUP PID' moves one "
     "there"},
    {"suggest", "--min-ways --max-ways", "", "--ways LIST measures these numbers of ways only"},
    {"suggest", "--l3 --llc --cache", ""},
    {"suggest", "--apply --write --save --install -w -o --output", "",
     "it prints a policy: 'rdtctl edit' puts it in force"},
    {"history blame", "-f --file -i --input -r --read --record", "+"},
    {"history blame", "--from --start --begin --after", "--since"},
    {"history blame", "--to --end --before", "--until"},
    {"history blame", "--days", "--since=-{}d"},
    {"history blame", "--weeks", "--since=-{}w"},
    {"history blame", "--hours", "--since=-{}h"},
    {"history blame", "--minutes --mins", "--since=-{}min"},
    {"history blame", "--last --range --period -t --for --duration", "--since=-{}"},
    {"history blame", "--last --range --period -t --duration", "--since"},
    {"history blame", "-b --boot", "", "--since \"$(uptime -s)\" shows what was since the boot"},
    {"history", "--observer", ""},
    {"history", "--clear --delete --reset", "",
     "the recordings of rdtd-observer are files in /var/lib/rdtd/history"},
    {"history blame", "--date --day --month", "",
     "--since TIME and --until TIME choose the period"},
    {"history", "--metric --metrics --event --column --columns --field --fields", "",
     "it shows occupancy and traffic; -j prints every value"},
    {"history blame", "-a --all", ""},
    {"history blame", "-f --follow --live -w --watch", "", "'rdtctl top' shows what is now"},
    {"blame", "-p --pid", "",
     "it names groups; 'rdtctl explain PID' says in which one a process is"},
    {"blame", "--html", "", "'rdtctl history --html FILE' draws it too"},
    {"history blame",
     "--on --of --for --for-group --victim --taker --who --sufferer --name --by --culprit "
     "--against",
     "--group"},
    {"history", "--list", "",
     "without FILE it shows what rdtd-observer keeps; each file of record is a recording too"},
    {"history", "--plot --chart --graph --export --csv --png --svg", "",
     "--html FILE writes pictures; for data: -j > FILE"},
    {"blame", "-n --lines --count --limit --top --tail --max", "",
     "it lists all losses of the period: --since and --until choose a shorter one"},
    {"history", "-n --lines --interval --step --resolution --limit --top --tail --max --count", "",
     "it draws the whole period: --since and --until choose a shorter one"},
    {"history", "--domain --domains", "", "it shows all domains"},
    {"record", "-t --seconds --for --time --timeout", "--duration"},
    {"record", "-i --step --every", "--interval"},
    {"record", "-n --count --samples", "",
     "-d SECONDS ends it, and --interval SECONDS is the time between samples"},
    {"record top watch", "-r -F --rate --freq --frequency --hz", "",
     "--interval SECONDS is the time from one sample to the next"},
    {"record", "-f --file", "+"},
    {"record", "-p --pid -u --unit", "",
     "it records groups: a [[rule]] with monitor = \"NAME\" makes one of a process"},
    {"record snapshot", "-f --force --overwrite", "",
     "it replaces nothing: remove the old one first"},
    {"record", "--format --json --csv", "",
     "a recording has one JSON text per line, which programs can read"},
    {"history blame", "--today", "--since=today"},
    {"history blame", "--yesterday", "--since=yesterday"},
    {"history blame", "--week", "--since=-1w"},
    {"history", "-o --output", "", "--html FILE writes pictures; for data: -j > FILE"},
    {"explain", "--comm --process --command -n", "--name"},
    {"explain", "--args --cmd --command-line", "--cmdline"},
    {"explain", "--exec --path --bin --binary --executable -x", "--exe"},
    {"explain", "-c", "--cgroup"},
    {"explain", "--thread-name", "--thread"},
    {"explain", "--username", "--user"},
    {"explain", "--group-name", "--user-group"},
    {"explain", "-a --all --rule --rules", "", "'rdtctl status --rules' shows all rules"},
    {"explain", "--docker --podman", "--container"},
    {"explain", "--image", "", "rules know the names of containers: explain --container NAME"},
    {"explain", "--status", ""},
    {"explain", "--uid", "", "did you mean '--user'?"},
    {"explain", "--gid", "", "did you mean '--user-group'?"},
    {"assign", "--process", "--pid=#"},
    {"explain assign watch", "--pids --tid --task --tasks", "--pid"},
    {"watch", "--name --comm --process", "",
     "watch takes a PID or a unit: rdtctl watch --pid $(pidof NAME)"},
    {"assign", "--to --into", "--group"},
    {"assign", "--now", ""},
    {"assign", "-r -d --remove --delete --clear --unset --reset --unassign", "", how_to_unassign},
    {"assign", "-l --list --show", "",
     "'rdtctl status --rules' shows the rules, also those of 'assign --unit'"},
    {"assign", "--children --recursive --tree", "",
     "a child that starts later is in the group of its parent"},
    {"assign", "-a --all", "", "a [[rule]] with name = \"*\" holds for every process"},
    {"assign", "--container", "", "write a [[rule]] with container = \"NAME\""},
    {"assign", "--pod", "", "write a [[rule]] with pod = \"NAMESPACE/NAME\""},
    {"assign", "--vm --machine --domain", "", "write a [[rule]] with vm = \"NAME\""},
    {"assign", "--threads", "", "write a [[rule]] with thread = \"NAME\""},
    {"assign", "-c --cpu --cpus --core --cores", "",
     "cpus = \"0-3\" in [group.NAME] gives it the CPUs' tasks that no rule matches"},
    {"explain", "-g --group", "", "'rdtctl show {}' shows a group"},
    {"completion", "--shell -s", "+"},
    {"completion", "--install", "", "the packages install it: begin a new shell"},
    {"reset", "-g --group", "", how_to_remove},
    {"reset", "-a --all --now --hard", ""},
    {"apply reload", "-a --all", ""},
    {"adopt", "-g --group", "+"},
    {"events", "-f --follow -w --watch", ""},
    {"events", "--lines --count --limit --max", "-n"},
    {"events", "-a --all", ""},
    {"events", "-g --group --filter --type -t --drift", "",
     "events prints all: rdtctl events | grep GROUP; 'rdtctl blame -g GROUP' has what was"},
    {"events", "--since --until --tail --last", "",
     "the journal has what was before: journalctl -u rdtd"},
    {"events", "--no-follow --once", "",
     "-n NUMBER ends it after so many; the journal has what was before: journalctl -u rdtd"},
    {"run", "--cpu --cores --taskset", "--cpus"},
    {"run", "-C --class --clos --cos -G --in", "--group"},
    {"run", "--name", "",
     "a group of --l3 or --mb gets its name from rdtd; -g GROUP names another"},
    {"run", "--llc --cat --cache --ways --l3-ways --l3-size --l3-mask --mask --cbm", "--l3"},
    {"run", "--mba --bandwidth --bw --membw --mb-percent", "--mb"},
    {"run", "--mb-min --mb_min --l3code --l3data --l2code --l2data", "",
     "write it in a [group.NAME] of the policy, and run -g NAME"},
    {"run", "--isolated --isolate", "--exclusive"},
    {"run", "--physcpubind", "--cpus"},
    {"run", "--cpunodebind --membind", "", "numactl --cpunodebind=N rdtctl run ... does both"},
    {"run", "--monitor", "", "a [[rule]] with monitor = \"NAME\" makes a monitoring group"},
    {"run", "-p=", "", "'systemd-run OPTIONS rdtctl run -g GROUP -- COMMAND' does both"},
    {"run", "--unit --scope --slice --pty -d --detach --background --bg --rm -it -i --property", "",
     "'systemd-run OPTIONS rdtctl run -g GROUP -- COMMAND' does both"},
    {"run", "-u --user --uid --nice -n -e --env --timeout", "",
     "put sudo, nice, env or timeout in front of COMMAND"},
    {"run", "-w --cwd --chdir --workdir --working-directory", "",
     "put 'env -C DIR' in front of COMMAND"},
    {"run", "-m --memory", "",
     "rdtd divides caches and the bandwidth of memory; its size: systemd-run -p MemoryMax=SIZE"},
    {"run", "-k -I --iface-os", ""},
    {"run", "--shell", "", "name the shell: 'rdtctl run -g GROUP -- sh -c \"COMMANDS\"'"},
    {"run", "-r --reset", "",
     "the group of --l3 and --mb ends with its command; 'rdtctl reset' removes every other"},
    {"run", "--cpuset-cpus --cpuset", "--cpus"},
    {"show", "-g --group", "+"},
    {"list", "-g --group --filter --selector", "",
     "list shows all groups; 'rdtctl show GROUP' shows one"},
    {"init", "-u --unit --service -p", "--protect"},
    {"init", "--force", "", "init never replaces a policy: use 'rdtctl edit'"},
    {"init", "--dry-run -n", "", "without --yes it shows the policy and asks first"},
    {"init", "-o --output -f --file", "", "it writes /etc/rdtd/10-init.toml"},
    {"init", "--no-input --defaults --non-interactive --assume-yes", "--yes"},
    {"init", "-i --interactive", ""},
    {"init", "-l --list", "", "without --yes it lists the services and asks"},
    {"init", "--ways --l3 --mb --group -g", "",
     "it proposes amounts and names: 'rdtctl edit 10-init.toml' changes them"},
    {"import", "--format --type --kind --yaml --yml --xml --toml", "", kind_is_recognized},
    {"import",
     "-f --file --filename -i --input --goresctrl --pqos --libvirt --cgrules --from-pqos "
     "--from-goresctrl --from-libvirt --crio --containerd",
     "--from"},
    {"run", "-t", "",
     "rdtset's -t 'l3=...;cpu=...' is --l3 AMOUNT, --mb AMOUNT and --cpus LIST here"},
    {"run", "-p --pid", "", "'rdtctl assign -g GROUP PID' moves a running process"},
    {"assign", "-C --class --clos --cos", "--group"},
    {"assign", "--name --user --exe --cgroup --pgrep --comm --process", "",
     "assign takes PIDs or a unit; a [[rule]] of the policy matches by name, user, exe and cgroup"},
    {"assign", "--permanent --persist", "",
     "--unit UNIT is permanent; for others write a [[rule]] in the policy"},
    {"assign reset adopt", "--dry-run -n", "", see_plan},
    {"assign explain", "-p", "--pid"},
    {"explain", "--vm --vcpu --machine", "",
     "describe a process of a virtual machine by --cgroup PATH and --name NAME"},
    {"metrics", "-o --textfile -f --file", "--output"},
    {"metrics", "-i --interval", "", "rdtd-metrics.timer writes them again and again"},
    {"record", "-o --output --to --out", "+"},
    {"import", "-o --output --to --out", "",
     "the policy is printed: redirect it, rdtctl import > FILE"},
    {"import", "--stdout -a --all --adopt -n --dry-run", ""},
    {"import", "-g --group", "", "it prints all groups"},
    {"check plan", "-f --file --filename --config --policy", "+"},
    {"check", "-a --all --offline --syntax-only --syntax --exit-code -n --dry-run --check", ""},
    {"check", "-g --group --only", "", "it checks all groups of the files"},
    {"check", "--explain", "",
     "what to write is below each error, and rdtd.toml(5) describes the language"},
    {"check", "--drift", "", "'rdtctl status --verify' compares every value with the kernel"},
    {"check plan", "--stdin", "-"},
    {"check plan", "--with --dir -d --recursive -r --include", "",
     "files that belong together are read together: name all of them, such as DIR/*.toml"},
    {"check", "--schema", "",
     "editors take /usr/share/rdtd/rdtd.schema.json; 'rdtctl check FILE' needs no schema"},
    {"check", "--fix", "", "it changes no file; what to write is below each error"},
    {"check", "--strict --werror --Werror -Werror --warnings-as-errors --no-warnings --errors-only",
     "", "warnings do not prevent loading; 'rdtctl check -j' has them as data"},
    {"plan", "-u --diff", "--unified"},
    {"plan", "--dry-run --dryrun --check -n --refresh --changes", ""},
    {"plan", "--summary --stat --brief --short --shortstat", "",
     "'rdtctl plan' ends with a summary, which -j has too"},
    {"plan", "--layout", "", "'rdtctl layout' draws the ways"},
    {"cat-config", "-a --all --files --names --list", ""},
    {"plan", "--destroy", "", "'rdtctl reset' removes every group that rdtd created"},
    {"plan", "--target -target -g --only", "", "it plans all groups: one may move another"},
    {"plan", "--detailed --exit-code --exitcode", "--detailed-exitcode"},
    {"plan", "-out --out --output", "", "the plan is printed: redirect it, or use -j for programs"},
    {"apply reload", "--only --target -g --group", "", "it puts all files of /etc/rdtd in force"},
    {"apply reload", "--wait --now --prune --server-side --diff", ""},
    {"apply reload", "--runtime", "", "a file in /run/rdtd is in force until the next boot"},
    {"apply reload", "--strict --werror --Werror", "",
     "warnings do not prevent loading; 'rdtctl check' shows them"},
    {"apply reload", "--timeout", "",
     "'timeout SECONDS rdtctl apply' waits no longer than that; rdtd goes on"},
    {"apply reload", "--filename --file --stdin", "",
     "the files of /etc/rdtd are put in force: copy yours there; 'rdtctl plan FILE' tries it "
     "first"},
    {"doctor", "--fix --repair", "", "doctor changes nothing; it prints what to do"},
    {"metrics", "--port --listen --web.listen-address --serve --web --addr --address", "",
     "rdtd opens no port; rdtd-metrics.timer writes the metrics for node_exporter"},
    {"snapshot", "-o --output --dir --to", "+"},
    {"list", "-1 --name-only --short", "--names"},
    {"list", "--tree --human-readable", ""},
    {"*", "--legend=no --legend=false --noheader -N", "--no-legend"},
    {"*", "--pretty", "--json=pretty"},
    {"completion", "--bash", "bash"},
    {"completion", "--zsh", "zsh"},
    {"completion", "--fish", "fish"},
    {"list", "-t --type --state -n --namespace", "", shows_all_groups},
    {"list", "--show-labels -e -ef -ax", ""},
    {"list", "--count", "", "rdtctl list --json | jq '.groups | length'"},
    {"list", "--sort --sort-by", "", "'rdtctl top --sort COLUMN' sorts"},
    {"list", "--columns --fields --column --field", "",
     "the columns are fixed; -j prints every value"},
    {"list show", "-p --property --fields", "", "-j prints every value, for jq"},
    {"list show", "--tasks --pids --threads", "", "cat /sys/fs/resctrl/GROUP/tasks lists them"},
    {"list status show info",
     "-a --all -A -l -la -al -lah --long --full --raw --no-trunc --no-truncate", ""},
    {"edit", "-e --editor", "", "the editor is that of EDITOR: EDITOR=vi rdtctl edit FILE"},
    {"edit", "--full --force", ""},
    {"edit", "-g --group", "", "it opens a file: 'rdtctl show GROUP' names the one of a group"},
    {"list status show", "-w --watch -f --follow", "", "'rdtctl top' refreshes"},
    {"status", "--rule", "--rules"},
    {"status", "--groups --exit-code", ""},
    {"status", "-s --brief --short", "", "'rdtctl list' shows the groups alone"},
    {"status", "--problems --errors --warnings", "", where_problems_are},
    {"status", "--drift --diff --check", "--verify"},
    {"reset apply reload adopt",
     "-y --yes --assume-yes --no-ask --auto-approve -auto-approve --assumeyes", ""},
    {"reset apply reload adopt", "-f --force", "", asks_nothing},
    {"help", "-a --all", ""},
    {"*", "--no-headers --noheading --noheadings --no-heading --no-header", "--no-legend"},
    {"metrics", "--format=prometheus --format=text --prometheus --text", ""},
    {"*", "--output=json-pretty --format=json-pretty", "--json=pretty"},
    {"*", "--output=json --format=json -ojson -o=json", "-j"},
    {"*", "--no-color -no-color --nocolor --no-colour", "--color=never"},
    {"*", "--silent", "--quiet"},
    {"*", "--no-pager --plain", ""},
    {"*", "-v --verbose --debug", "", "there is nothing more to print; -j prints every value"},
    {"*", "--log-level --loglevel --verbosity", "", how_to_log_more},
    {"*", "--yaml --csv --xml --toml --yml --tsv", "", "the output is text, or JSON with -j"},
    {"*", "--sysfs --resctrl-path --path --against --machine", "--resctrl"},
    {"check plan layout list show info import rdtctl",
     "--machine --target --platform --hardware --model --arch", "",
     "'rdtctl snapshot DIR' copies the resctrl tree of a machine, and --resctrl DIR reads it"},
    {"*", "-H -M --host --machine --remote", "",
     "rdtctl talks to this machine only: ssh HOST rdtctl ..."},
    {"rdtctl check plan status list show info cat-config edit", "-c --config -f --file", "",
     one_file},
});

}  // namespace

// Whether the words of a row can stand for an option with this value.
static bool fits(std::string_view words, const std::string& value) {
  std::error_code unknown;
  if (words == "+") return !value.empty() && value.front() != '-';
  if (words.contains('#')) return is_digits(value);
  if (words == "--root" || words == "--resctrl")
    return std::filesystem::is_directory(value, unknown);
  if (words.contains("-{}")) return is_digits(value) || is_span(value) || is_span("1" + value);
  // "--slice=user.slice"
  const size_t end = words.find("{}");
  return end == std::string_view::npos || end + 2 == words.size() ||
         !value.ends_with(words.substr(end + 2));
}

// "-5" of events, as head and tail have it, and "-U5" of plan, as diff has it.
static std::optional<Meaning> meaning_of_count(std::string_view verb, std::string_view option) {
  if (is_one_of(verb, {"events", "top"}) && option.starts_with('-') && is_digits(option.substr(1)))
    return Meaning{{"-n" + std::string(option.substr(1))}, {}};
  if (verb == "plan" && option.starts_with("-U") && is_digits(option.substr(2)))
    return Meaning{{"--unified"}, {}};
  return std::nullopt;
}

std::optional<Meaning> meaning_of_option(std::string_view verb, std::string_view option,
                                         const std::string& value) {
  const std::string_view of = verb.empty() ? "rdtctl" : verb;
  const std::string with_sign = value.contains('=') ? std::string(option) + "=" : "";
  for (const OptionGuess& guess : option_guesses)
    if ((guess.verbs == "*" || has_guess(guess.verbs, " ", of)) &&
        (has_guess(guess.guesses, " ", option) ||
         (!with_sign.empty() && has_guess(guess.guesses, " ", with_sign))) &&
        fits(guess.words, value))
      return Meaning{words_in(guess.words), guess.sentence};
  return meaning_of_count(of, option);
}

}  // namespace rdtd
