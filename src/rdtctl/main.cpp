// rdtctl: the whole command line. What a verb does is in the file of its name. Nothing else
// includes CLI11, which takes longer to compile than all the rest of a verb.
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "rdtd/base/text.hpp"
#include "verbs.hpp"

namespace {

using rdtd::Context;
using rdtd::Exit;
using rdtd::Json;
namespace verbs = rdtd::verbs;

// CLI11 tells of the values that a validator takes in its own way; here the option's description
// does.
template <class Validator>
Validator untold(Validator validator) {
  validator.description("");
  return validator;
}

void look_at_terminal(Context& context) {
  context.utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  if (winsize size{}; ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) context.columns = size.ws_col;
  context.color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
}

void add_common_options(CLI::App& app, Context& context) {
  const CLI::Validator folder = untold(CLI::Validator(CLI::ExistingDirectory));
  auto* root = app.add_option("--root", context.root, "Look for policy files below this folder")
                   ->type_name("DIR")
                   ->check(folder);
  auto* snapshot = app.add_option("--resctrl", context.resctrl,
                                  "A copy of a resctrl tree instead of this machine's")
                       ->type_name("DIR")
                       ->check(folder);
  app.add_option_function<std::string>(
         "--json",
         [&](const std::string& form) {
           context.json = form == "pretty"  ? Json::pretty
                          : form == "short" ? Json::compact
                                            : Json::off;
         },
         "Print JSON: pretty, short or off")
      ->type_name("FORM")
      ->check(untold(CLI::IsMember({"pretty", "short", "off"})));
  app.add_flag_callback(
      "-j", [&] { context.json = ::isatty(STDOUT_FILENO) == 1 ? Json::pretty : Json::compact; },
      "JSON, pretty on a terminal");
  app.add_flag_callback(
      "--no-legend", [&] { context.legend = false; }, "Tables without their heading");
  app.parse_complete_callback([&context, root, snapshot] {
    context.snapshot_given = !snapshot->empty();
    context.elsewhere = !snapshot->empty() || !root->empty();
  });
}

CLI::Validator a_name() {
  return CLI::Validator([](const std::string& name) { return name.empty() ? "an empty name" : ""; },
                        "");
}

// What the verbs are given; one verb is.
struct Arguments {
  std::string group, unit, file, folder, shell;
  std::vector<std::string> files;
  std::vector<pid_t> pids;
  std::optional<pid_t> pid;
  bool verify = false, detailed_exitcode = false, unified = false;
  verbs::TopOptions top;
};

class Verbs {
 public:
  // `marked`: how many words stand behind the "--" of run.
  Verbs(CLI::App& app, const Context& context, size_t marked)
      : app_(app), context_(context), marked_(marked) {}

  [[nodiscard]] int exit() const { return exit_; }

  void add_looking() {
    CLI::App& status =
        add_live("status", "Show the daemon and its groups, and what they use", "rdtctl status -j",
                 [&] { return verbs::status(context_, given_.verify); });
    status.add_flag("--verify", given_.verify,
                    "Compare every granted value with the kernel; exit with 5 where one differs");

    add("list", "List the control groups of resctrl, whoever made them", "rdtctl list --no-legend",
        [&] { return verbs::list(context_); });

    CLI::App& show = add("show", "Show one control group", "rdtctl show redis",
                         [&] { return verbs::show(context_, given_.group); });
    show.add_option("GROUP", given_.group, "Its name; default is the root of resctrl")
        ->required()
        ->check(a_name());

    CLI::App& top =
        add("top", "Show what the groups use of cache and bandwidth, refreshed until q is pressed",
            "rdtctl top --sort total", [&] { return verbs::top(context_, given_.top); });
    top.add_option("-d,--interval", given_.top.interval, "Seconds between refreshes, 0.1 to 3600")
        ->type_name("SECONDS")
        ->check(untold(CLI::Range(0.1, 3600.0)))
        ->capture_default_str();
    top.add_option(
           "--sort", given_.top.sort,
           "The column that decides the order: group, domain, tasks, occupancy, total or local")
        ->type_name("COLUMN")
        ->check(untold(CLI::IsMember(verbs::top_columns())))
        ->capture_default_str();
    top.add_flag("--domains", given_.top.domains, "A row for each domain instead of their sum");

    add_live("events", "Tell of assignments, reloads and drift as they happen, until interrupted",
             "rdtctl events -j", [&] { return verbs::events(context_); });

    CLI::App& explain =
        add_live("explain", "Tell which rule decides about a process, and why the others do not",
                 "rdtctl explain --unit redis-server.service", [&] {
                   if (!given_.pid && given_.unit.empty())
                     throw CLI::RequiredError("PID or --unit");
                   return verbs::explain(context_, given_.pid, given_.unit);
                 });
    auto* pid = explain.add_option("PID", given_.pid, "Of the process")->check(process_id());
    explain.add_option("--unit", given_.unit, "All processes of a systemd unit")
        ->type_name("UNIT")
        ->excludes(pid);
  }

  void add_policy() {
    CLI::App& check =
        add("check", "Tell what is wrong with the policy files, or with FILE",
            "rdtctl check 20-db.toml", [&] { return verbs::check(context_, given_.files); });
    check.add_option("FILE", given_.files,
                     "Only these files, and only what they say by themselves");

    CLI::App& plan =
        add("plan", "Show what an apply would change now, and what is granted for what was asked",
            "rdtctl plan --unified",
            [&] { return verbs::plan(context_, given_.detailed_exitcode, given_.unified); });
    plan.add_flag("--detailed-exitcode", given_.detailed_exitcode,
                  "Exit with 2 where something would change");
    plan.add_flag("--unified", given_.unified, "Show the files of resctrl as a diff");

    add("layout", "Draw which group may fill which cache ways", "rdtctl layout",
        [&] { return verbs::layout(context_); });
    add_live("apply", "Put the policy files in force, and tell what that changed", "rdtctl apply",
             [&] { return verbs::apply(context_); });
    add_live(
        "reload",
        "Have the daemon read its policy anew; fails where that is bad, the old one still in force",
        "rdtctl reload", [&] { return verbs::reload(context_); });
    add_live("reset", "Remove every group that rdtd made; other groups stay", "rdtctl reset",
             [&] { return verbs::reset(context_); });
  }

  void add_processes() {
    CLI::App& run = add("run", "Run a command in a group from its first instruction",
                        "rdtctl run -g batch -- tar -czf backup.tar.gz /srv", {});
    run.add_option("-g,--group", given_.group, "The group; default is the root of resctrl")
        ->type_name("GROUP")
        ->required()
        ->check(a_name());
    // From its first word on, the command's options are its own.
    run.prefix_command()->fallthrough(false);
    run.callback([&] {
      check_live("run");
      const std::vector<std::string> command = run.remaining();
      if (command.empty()) throw CLI::RequiredError("COMMAND");
      if (command.front().starts_with('-') && command.size() != marked_)
        throw CLI::ValidationError(command.front(),
                                   "is no option of run; options for every verb stand before it, "
                                   "and a command that begins so behind --");
      exit_ = verbs::run(context_, given_.group, command);
    });

    CLI::App& assign = add_live(
        "assign",
        "Put running processes in a group, whatever the rules say, until they exec or end",
        "rdtctl assign -g batch 4711", [&] { return verbs::assign(given_.group, given_.pids); });
    assign.add_option("-g,--group", given_.group, "A group of the policy in force")
        ->type_name("GROUP")
        ->required();
    assign.add_option("PID", given_.pids, "Of the processes")->required()->check(process_id());
  }

  void add_others() {
    CLI::App& metrics =
        add("metrics", "Print counters for Prometheus",
            "rdtctl metrics --output /var/lib/prometheus/node-exporter/rdtd.prom", [&] {
              check_no_json("metrics", "Prometheus' text");
              return verbs::metrics(context_, given_.file);
            });
    metrics.add_option("--output", given_.file, "Put them in this file instead, by rename")
        ->type_name("FILE");

    add("import", "Print the control groups as they stand as a policy that yields them",
        "rdtctl import >/etc/rdtd/10-imported.toml", [&] {
          check_no_json("import", "TOML");
          return verbs::import(context_);
        });

    CLI::App& snapshot =
        add("snapshot", "Copy this machine's resctrl to a new folder, for --resctrl elsewhere",
            "rdtctl snapshot xeon-node", [&] { return verbs::snapshot(context_, given_.folder); });
    snapshot.add_option("DIR", given_.folder, "The folder to make")->required();

    add("doctor", "Tell why RDT does not work here, and what to do about it", "rdtctl doctor", [&] {
      if (context_.snapshot_given)
        throw CLI::ValidationError("doctor", "is about this machine: --resctrl is not for it");
      return verbs::doctor(context_);
    });
    add("cat-config", "Print the policy files that count, and name those that do not",
        "rdtctl cat-config", [&] { return verbs::cat_config(context_); });

    CLI::App& completion =
        add("completion", "Print the script by which a shell completes rdtctl's words",
            "source <(rdtctl completion bash)", [&] { return verbs::completion(given_.shell); });
    completion.add_option("SHELL", given_.shell, "bash, zsh or fish")
        ->required()
        ->check(untold(CLI::IsMember(verbs::completion_shells())));
  }

 private:
  // A verb with the example that its help ends with.
  CLI::App& add(const char* name, const char* description, const char* example,
                const std::function<int()>& verb) {
    CLI::App& added =
        *app_.add_subcommand(name, description)->footer(std::string("Example: ") + example);
    added.callback([this, verb] { exit_ = verb(); });
    return added;
  }

  // A verb that speaks to the daemon, or changes what is here.
  CLI::App& add_live(const char* name, const char* description, const char* example,
                     const std::function<int()>& verb) {
    return add(name, description, example, [this, name, verb] {
      check_live(name);
      return verb();
    });
  }

  void check_live(const char* verb) const {
    if (context_.elsewhere)
      throw CLI::ValidationError(verb,
                                 "is about this machine: --root and --resctrl are not for it");
  }

  void check_no_json(const char* verb, const std::string& form) const {
    if (context_.json != Json::off)
      throw CLI::ValidationError(verb, "prints " + form + ", and no JSON");
  }

  static CLI::Validator process_id() { return untold(CLI::Range(1, 1 << 22)); }

  CLI::App& app_;
  const Context& context_;  // complete by the time that a verb runs
  size_t marked_;
  Arguments given_;
  int exit_ = Exit::ok;
};

// CLI11 ends a verb at "--". Where run has it in front of its command, the command begins there
// without it too; behind the command's first word it is the command's own. Returns how many words
// stand behind it; 0 where there is none.
size_t drop_mark_of_run(std::vector<std::string>& arguments) {
  for (auto word = std::ranges::find(arguments, "run");
       word != arguments.end() && ++word != arguments.end();) {
    if (*word == "--") {
      word = arguments.erase(word);
      return static_cast<size_t>(arguments.end() - word);
    }
    if (!word->starts_with('-')) return 0;
    if (*word == "-g" || *word == "--group") ++word;
    if (word == arguments.end()) return 0;
  }
  return 0;
}

// CLI11 calls a verb a subcommand, and says of an unknown one only that one is required.
int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> rest = app.remaining();
  if (error.get_exit_code() != 0 && app.get_subcommands().empty() && rest.empty() &&
      error.get_name() == "RequiredError") {
    std::cerr << "rdtctl: a verb is required; rdtctl --help lists them\n";
    return Exit::usage;
  }
  if (error.get_exit_code() == 0 || !app.get_subcommands().empty() || rest.empty() ||
      rest.front().starts_with('-'))
    return app.exit(error) == 0 ? Exit::ok : Exit::usage;
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) names.push_back(verb->get_name());
  const auto nearest = rdtd::nearest_name(rest.front(), names);
  std::cerr << "rdtctl: unknown verb '" << rest.front() << "'"
            << (nearest ? "; did you mean '" + *nearest + "'?" : "") << "\n";
  return Exit::usage;
}

}  // namespace

int main(int argc, char** argv) {
  (void)std::setlocale(LC_ALL, "");
  Context context;
  look_at_terminal(context);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const size_t marked = drop_mark_of_run(arguments);

  CLI::App app("Shows and steers the partitions of the shared caches and the memory bandwidth.",
               "rdtctl");
  app.set_version_flag("--version", "rdtctl " RDTD_VERSION);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("rdtctl: ") + error.what() + "\nRun with --help for more information.\n";
  });
  app.require_subcommand(1);
  app.fallthrough();
  add_common_options(app, context);
  Verbs verbs(app, context, marked);
  verbs.add_looking();
  verbs.add_policy();
  verbs.add_processes();
  verbs.add_others();

  std::ranges::reverse(arguments);  // as CLI11 wants them
  int exit = Exit::ok;
  try {
    app.parse(arguments);
    exit = verbs.exit();
  } catch (const CLI::ParseError& error) {
    exit = report_usage(app, error);
  } catch (const std::system_error& error) {  // fmt::print throws it
    exit = Exit::failed;
    if (std::ferror(stdout) == 0) std::cerr << "rdtctl: " << error.what() << "\n";
  }
  // A full disk shows only now.
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
    std::cerr << "rdtctl: cannot write to standard output: " << std::strerror(errno) << "\n";
    if (exit == Exit::ok) exit = Exit::failed;
  }
  return exit;
}
