#include "verb_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "print.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "unit_processes.hpp"

namespace rdtd {

void VerbTable::add_all() {
  group_ = "Query";
  add_groups();
  add_explain();
  add_watch();
  add_recording();
  add_history();
  add_blame();
  add_machine();
  group_ = "Policy";
  add_writing();
  add_policy();
  add_copies();
  group_ = "Control";
  add_control();
  add_assignment();
  group_ = "Measure";
  add_suggest();
  add_bench();
  group_ = "Other";
  add_others();
}

void VerbTable::run_default() {
  check_live("status");
  exit_ = verbs::status(context_, false, false);
}

std::string VerbTable::hint() const {
  const auto rest = app_.remaining(true);
  return given_verb(app_) == nullptr && !rest.empty() ? hint_of_bare_word(context_, rest.front())
                                                      : "";
}

void VerbTable::add_groups() {
  CLI::App& status = add_live(
      "status", "Show the state of the daemon, and its groups with their usage", "rdtctl status -j",
      [&] { return verbs::status(context_, given_.rules, given_.verify); });
  status.add_flag("--rules", given_.rules,
                  "Show each rule too, and how many processes it decided about");
  status.add_flag("--verify", given_.verify,
                  "Compare every granted value with the kernel; exit with 5 if one differs");

  CLI::App& list =
      add("list", "List all control groups, no matter who created them", "rdtctl list --no-legend",
          [&] { return verbs::list(context_, given_.names); });
  list.add_flag("--names", given_.names, "Print only the names, one per line");

  CLI::App& show = add(
      "show", "Show one control group, and what the policy asks for it", "rdtctl show redis", [&] {
        const bool is_verb = std::ranges::any_of(
            app_.get_subcommands({}),
            [&](const CLI::App* verb) { return verb->get_name() == given_.group; });
        return verbs::show(context_, given_.group, given_.measure, is_verb);
      });
  show.add_flag("--measure", given_.measure,
                "For a pseudo-locked region: let the kernel count hits, misses and cycles");
  auto* group =
      show.add_option("GROUP", given_.group, "Its name; 'default' is the group of the root");
  refuse_empty(*group->required());

  CLI::App& view = add("top", "Show the usage of cache and bandwidth, refreshed until q is pressed",
                       "rdtctl top --sort total", [&] { return verbs::top(context_, given_.top); });
  add_interval(view);
  auto* sort = view.add_option("--sort", given_.top.sort,
                               "Sort by group, domain, tasks, occupancy (default), total or local");
  allow_only(*sort->type_name("COLUMN"), verbs::top_columns());
  auto* tables =
      view.add_option("-n", given_.top.tables, "Print so many tables, one after the other");
  allow_numbers(*tables->type_name("NUMBER"), 1, 1e9);
  view.add_flag_callback(
      "-b",
      [&] {
        if (given_.top.tables == 0) given_.top.tables = UINT_MAX;
      },
      "Print tables until interrupted");
  auto* play = view.add_option("--play", given_.top.play, "Show what a file of record has");
  refuse_empty(*play->type_name("FILE"));

  CLI::App& events =
      add_live("events", "Print assignments, reloads and drift as they happen, until interrupted",
               "rdtctl events -j", [&] { return verbs::events(context_, given_.events); });
  auto* count = events.add_option("-n", given_.events, "End after so many events");
  allow_numbers(*count->type_name("NUMBER"), 1, 1e9);
}

void VerbTable::add_recording() {
  CLI::App& record =
      add("record", "Write what the groups use into a file, a sample at each interval",
          "rdtctl record night.rec -d 3600", [&] {
            if (context_.snapshot_given)
              throw UsageError{"record reads this machine: it does not take --resctrl"};
            check_no_json("record", "JSON Lines");
            return verbs::record(context_, given_.record);
          });
  refuse_empty(
      *record.add_option("FILE", given_.record.file, "The file, which must not exist")->required());
  auto* seconds = record.add_option("-d,--duration", given_.record.seconds,
                                    "How long; default: until interrupted");
  allow_seconds(*seconds->type_name("SECONDS"), 0.1, 1e9);
  auto* interval = record.add_option("--interval", given_.record.interval,
                                     "Seconds between samples, 0.2 to 60 (default 1)");
  allow_seconds(*interval->type_name("SECONDS"), 0.2, 60);
  record.add_option("COMMAND", given_.record.command,
                    "Record while this command runs; '--' precedes it");
}

// Without FILE, it is what rdtd-observer keeps.
void VerbTable::add_source(CLI::App& verb, verbs::RecordingSource& source) {
  source.has_group = true;
  refuse_empty(*verb.add_option("FILE", source.file,
                                "What rdtctl record has written; default is what rdtd-observer "
                                "has"));
  refuse_empty(*verb.add_option("-S,--since", source.since,
                                "Only from this time on: \"08:30\", \"-1h\", \"yesterday\"")
                    ->type_name("TIME"));
  refuse_empty(
      *verb.add_option("-U,--until", source.until, "Only until this time")->type_name("TIME"));
}

void VerbTable::add_history() {
  CLI::App& history =
      add("history", "Show a recording: occupancy and traffic of each group over time",
          "rdtctl history --since -1h --html night.html", [&] {
            if (!given_.replay) return verbs::history(context_, given_.history);
            if (!given_.history.group.empty() || !given_.history.html.empty())
              throw UsageError{"history --replay prints steps: it does not take -g and --html"};
            given_.history.source.has_group = false;
            return verbs::replay(context_, given_.history.source);
          });
  add_source(history, given_.history.source);
  history.add_flag("--replay", given_.replay,
                   "Print what the guard of the policy files would have done, instead");
  refuse_empty(*history.add_option("-g,--group", given_.history.group, "Only this group")
                    ->type_name("GROUP"));
  refuse_empty(
      *history.add_option("--html", given_.history.html, "Write pictures to this file too")
           ->type_name("FILE"));
}

void VerbTable::add_blame() {
  CLI::App& blame = add("blame", "Say which group took cache or bandwidth from which, and when",
                        "rdtctl blame --since today -g redis",
                        [&] { return verbs::blame(context_, given_.blame); });
  add_source(blame, given_.blame.source);
  refuse_empty(*blame.add_option("-g,--group", given_.blame.group, "Only what concerns this group")
                    ->type_name("GROUP"));
}

void VerbTable::add_interval(CLI::App& verb) {
  auto* interval = verb.add_option("-d,--interval", given_.top.interval,
                                   "Seconds between refreshes, 0.1 to 3600 (default 2)");
  allow_seconds(*interval->type_name("SECONDS"), 0.1, 3600);
  verb.add_flag("--domains", given_.top.domains, "Show a row for each domain instead of the sum");
}

void VerbTable::add_explain() {
  CLI::App& verb =
      add("explain", "Explain which rule decides about a process, and why the others do not match",
          "rdtctl explain --unit redis-server.service", [&] { return explain(); });
  allow_process_ids(*verb.add_option("PID", given_.pid, "The process"));
  verb.add_flag("--guard", given_.guard,
                "Instead: what the guard has done, and why; 'rdtctl explain guard' is the same");
  const auto describe = [&](ConditionKind kind, const char* name, const char* type,
                            const char* description) {
    auto* option = verb.add_option(name, given_.process.values[kind], description)->type_name(type);
    refuse_empty(*option);
    return option;
  };
  describe(ConditionKind::unit, "--unit", "UNIT",
           "All processes of this unit; with other options, a process in it");
  refuse_long_names(*describe(ConditionKind::name, "--name", "NAME", "Its name is NAME"));
  refuse_long_names(
      *describe(ConditionKind::thread, "--thread", "NAME", "Explain its thread of this name"));
  refuse_relative_paths(*describe(ConditionKind::exe, "--exe", "PATH", "It runs this executable"));
  describe(ConditionKind::cmdline, "--cmdline", "LINE", "It has this command line");
  refuse_relative_paths(*describe(ConditionKind::cgroup, "--cgroup", "PATH",
                                  "It is in this cgroup; implies its units"));
  describe(ConditionKind::user_unit, "--user-unit", "UNIT",
           "It is in this unit of a user's systemd");
  require_namespace(
      *describe(ConditionKind::pod, "--pod", "NAMESPACE/NAME", "It is in this Kubernetes pod"));
  describe(ConditionKind::container, "--container", "NAME", "It is in this container");
  describe(ConditionKind::user, "--user", "USER", "It runs as this user");
  describe(ConditionKind::user_group, "--user-group", "GROUP", "It runs as this user group");
}

int VerbTable::explain() {
  auto& values = given_.process.values;
  std::erase_if(values, [](const auto& value) { return value.second.empty(); });
  const bool unit = values.contains(ConditionKind::unit);
  if (unit && values.at(ConditionKind::unit).contains('/'))
    throw UsageError{fmt::format(
        "'{}' is the path of an executable (--exe) or of a cgroup (--cgroup), and no unit",
        values.at(ConditionKind::unit))};
  if (given_.guard && (given_.pid || !values.empty()))
    throw UsageError{"explain takes either --guard or a process, not both"};
  if (given_.guard) {
    check_live("explain guard");
    return verbs::explain_guard(context_);
  }
  if (given_.pid && !values.empty())
    throw UsageError{unit && values.size() == 1
                         ? "explain takes either PID or --unit UNIT, not both"
                         : "explain takes either PID or the description of a process, not both"};
  if (given_.pid || (unit && values.size() == 1 && !context_.elsewhere)) {
    check_live("explain PID");
    return verbs::explain(context_, given_.pid, unit ? values.at(ConditionKind::unit) : "");
  }
  if (values.empty())
    throw UsageError{
        "explain requires PID, --unit UNIT, or the description of a process such as --exe PATH"};
  return verbs::explain_described(context_, given_.process);
}

void VerbTable::add_watch() {
  CLI::App& watch =
      add_live("watch", "Show what one process or unit uses, refreshed until q is pressed",
               "rdtctl watch --unit redis-server.service", [&] {
                 if (!given_.pid && given_.unit.empty())
                   throw UsageError{"watch requires --pid PID or --unit UNIT"};
                 if (given_.pid && !given_.unit.empty())
                   throw UsageError{"watch takes either --pid PID or --unit UNIT, not both"};
                 return verbs::watch(context_, given_.pid, given_.unit, given_.top);
               });
  auto* watched = watch.add_option("--pid", given_.pid, "The process");
  allow_process_ids(*watched->type_name("PID"));
  watch.add_option("--unit", given_.unit, "All processes of this systemd unit")->type_name("UNIT");
  add_interval(watch);
}

void VerbTable::add_machine() {
  add("info", "Show what this machine can divide and count, and who holds it", "rdtctl info",
      [&] { return verbs::info(context_); });

  CLI::App& metrics =
      add("metrics", "Print counters for Prometheus",
          "rdtctl metrics --output /var/lib/prometheus/node-exporter/rdtd.prom", [&] {
            check_no_json("metrics", "the format of Prometheus");
            return verbs::metrics(context_, given_.file);
          });
  refuse_empty(
      *metrics.add_option("--output", given_.file, "Replace this file instead of printing")
           ->type_name("FILE"));

  add("doctor", "Find out why RDT does not work on this machine, and how to fix it",
      "rdtctl doctor", [&] {
        if (context_.snapshot_given)
          throw UsageError{"doctor examines this machine: it does not take --resctrl"};
        return verbs::doctor(context_);
      });
}

void VerbTable::add_policy() {
  CLI::App& check =
      add("check", "Check the policy files, or FILE, and print errors and warnings",
          "rdtctl check 20-db.toml", [&] { return verbs::check(context_, given_.files); });
  refuse_empty(
      *check.add_option("FILE", given_.files,
                        "Check these files only, as a policy of their own; - is standard input"));

  CLI::App& plan =
      add("plan", "Show the values that the policy grants, and the changes that apply would make",
          "rdtctl plan --unified", [&] {
            return verbs::plan(context_, given_.files, given_.detailed_exitcode, given_.unified);
          });
  plan.add_option("FILE", given_.files,
                  "Plan these files only, as a policy of their own; - is standard input");
  plan.add_flag("--detailed-exitcode", given_.detailed_exitcode,
                "Exit with 2 if there are changes");
  plan.add_flag("--unified", given_.unified, "Show the changes as a diff of the resctrl files");

  add("layout", "Draw the cache ways and the groups that may fill them", "rdtctl layout",
      [&] { return verbs::layout(context_); });
  add("cat-config", "Print the policy files in effect, and name the others", "rdtctl cat-config",
      [&] { return verbs::cat_config(context_); });
}

void VerbTable::add_writing() {
  CLI::App& init = add_live("init", "Write a first policy, from the services that run",
                            "rdtctl init --protect redis-server",
                            [&] { return verbs::init(context_, given_.init); });
  refuse_empty(*init.add_option("--protect", given_.init.protect,
                                "A service that others must not disturb, once for each; "
                                "without it, init asks")
                    ->type_name("UNIT")
                    ->allow_extra_args(false));
  init.add_flag("-y,--yes", given_.init.yes, "Put it in force without a question");

  CLI::App& edit =
      add_live("edit", "Open a policy file in $EDITOR, check it, and put it in force",
               "rdtctl edit 20-db.toml", [&] { return verbs::edit(context_, given_.file); });
  edit.add_option("FILE", given_.file, "Its name in /etc/rdtd; default is the only one there");
}

void VerbTable::add_copies() {
  CLI::App& import =
      add("import", "Print a policy that reproduces the current control groups",
          "rdtctl import >/etc/rdtd/10-imported.toml", [&] {
            check_no_json("import", "TOML");
            return given_.file.empty() ? verbs::import(context_) : verbs::import_from(given_.file);
          });
  refuse_empty(*import
                    .add_option("--from", given_.file,
                                "Settings of goresctrl, cgrules.conf, pqos or libvirt instead; "
                                "- is standard input")
                    ->type_name("FILE"));

  CLI::App& snapshot =
      add("snapshot", "Copy the resctrl tree of this machine, for --resctrl",
          "rdtctl snapshot xeon-node", [&] { return verbs::snapshot(context_, given_.directory); });
  auto* directory =
      snapshot.add_option("DIR", given_.directory, "The directory to create")->required();
  refuse_empty(*directory);
}

void VerbTable::add_others() {
  CLI::App& completion =
      add("completion", "Print the completion script for a shell",
          "source <(rdtctl completion bash)", [&] { return verbs::completion(given_.shell); });
  auto* shell = completion.add_option("SHELL", given_.shell, "bash, zsh or fish")->required();
  allow_only(*shell, verbs::completion_shells());

  CLI::App& help = add("help", "Show this help, or the help of a verb", "rdtctl help plan", [&] {
    print("{}", help_text(given_.verb.empty() ? app_ : verb_named(app_, given_.verb)));
    return static_cast<int>(Exit::ok);
  });
  help.add_option("VERB", given_.verb, "The verb");
}

void VerbTable::add_group_option(CLI::App& verb, const char* description) {
  auto* group = verb.add_option("-g,--group", given_.group, description);
  refuse_empty(*group->type_name("GROUP")->required());
}

CLI::App& VerbTable::add(const char* name, const char* description, const char* example,
                         const std::function<int()>& verb) {
  CLI::App& added = *app_.add_subcommand(name, description)
                         ->footer(std::string("Example: ") + example)
                         ->group(group_);
  added.set_help_flag("-h,--help", "Show this help");
  added.callback([this, verb] { exit_ = verb(); });
  return added;
}

CLI::App& VerbTable::add_live(const char* name, const char* description, const char* example,
                              const std::function<int()>& verb) {
  return add(name, description, example, [this, name, verb] {
    check_live(name);
    return verb();
  });
}

void VerbTable::check_live(const std::string& verb) const {
  if (context_.elsewhere)
    throw UsageError{verb + " uses this machine: it does not take --root and --resctrl"};
}

void VerbTable::check_no_json(const std::string& verb, const std::string& form) const {
  if (context_.json != Json::off)
    throw UsageError{fmt::format("{} prints {}: it does not take --json and -j", verb, form)};
}

}  // namespace rdtd
