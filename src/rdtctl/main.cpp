// rdtctl: the command line. What a verb does is in the file of its name.
#include <langinfo.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <clocale>
#include <cstdlib>
#include <iostream>

#include "rdtd/base/text.hpp"
#include "verbs.hpp"

namespace {

// CLI11 says of an unknown verb only that one is required.
int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> rest = app.remaining();
  if (error.get_exit_code() == 0 || !app.get_subcommands().empty() || rest.empty() || rest.front().starts_with('-'))
    return app.exit(error) == 0 ? rdtd::Exit::ok : rdtd::Exit::usage;
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) verbs.push_back(verb->get_name());
  const auto nearest = rdtd::nearest_name(rest.front(), verbs);
  std::cerr << "rdtctl: unknown verb '" << rest.front() << "'" << (nearest ? "; did you mean '" + *nearest + "'?" : "") << "\n";
  return rdtd::Exit::usage;
}

}  // namespace

int main(int argc, char** argv) {
  using rdtd::Json;
  (void)std::setlocale(LC_ALL, "");
  rdtd::Context context;
  context.utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  context.color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;

  CLI::App app("Shows and steers the partitions of the shared caches and the memory bandwidth.", "rdtctl");
  app.set_version_flag("--version", "rdtctl " RDTD_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--root", context.root, "Look for policy files below this folder")->type_name("DIR")->check(CLI::ExistingDirectory);
  auto* snapshot =
      app.add_option("--resctrl", context.resctrl, "A copy of a resctrl tree instead of this machine's")->type_name("DIR")->check(CLI::ExistingDirectory);
  app.add_option("--json", context.json, "Print JSON: pretty, short or off")
      ->type_name("FORM")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Json>{{"pretty", Json::pretty}, {"short", Json::compact}, {"off", Json::off}}));
  app.add_flag_callback("-j", [&] { context.json = ::isatty(STDOUT_FILENO) == 1 ? Json::pretty : Json::compact; }, "JSON, pretty on a terminal");
  app.add_flag_callback("--no-legend", [&] { context.legend = false; }, "Tables without their heading");

  int status = 0;
  std::vector<std::string> files;
  auto* check = app.add_subcommand("check", "Tell what is wrong with the policy files, or with FILE")->footer("Example: rdtctl check 20-db.toml");
  check->add_option("FILE", files, "Only these files, and only what they say by themselves");
  check->callback([&] { status = rdtd::check(context, files); });

  bool detailed = false, unified = false;
  auto* plan =
      app.add_subcommand("plan", "Show what an apply would change now, and what is granted for what was asked")->footer("Example: rdtctl plan --unified");
  plan->add_flag("--detailed-exitcode", detailed, "Exit with 2 where something would change");
  plan->add_flag("--unified", unified, "Show the schemata as a diff");
  plan->callback([&] { status = rdtd::plan(context, detailed, unified); });

  app.add_subcommand("layout", "Draw which group may fill which cache ways")->footer("Example: rdtctl layout")->callback([&] {
    status = rdtd::layout(context);
  });
  app.add_subcommand("status", "Show the daemon and its groups")->footer("Example: rdtctl status -j")->callback([&] { status = rdtd::status(context); });
  app.add_subcommand("list", "List the control groups of resctrl, whoever made them")->footer("Example: rdtctl list --no-legend")->callback([&] {
    status = rdtd::list(context);
  });

  std::string group;
  auto* show = app.add_subcommand("show", "Show one control group")->footer("Example: rdtctl show redis");
  show->add_option("GROUP", group, "Its name; default is the root of resctrl")->required();
  show->callback([&] { status = rdtd::show(context, group); });

  app.add_subcommand("reload", "Have the daemon read its policy anew; fails where that is bad, the old one still in force")
      ->footer("Example: rdtctl reload")
      ->callback([&] { status = rdtd::reload(context); });

  std::optional<pid_t> pid;
  std::string unit;
  auto* explain = app.add_subcommand("explain", "Tell which rule decides about a process, and why the others do not")
                      ->footer("Example: rdtctl explain --unit redis-server.service");
  auto* pid_option = explain->add_option("PID", pid, "Of the process")->check(CLI::PositiveNumber);
  auto* unit_option = explain->add_option("--unit", unit, "All processes of a systemd unit")->type_name("UNIT")->excludes(pid_option);
  explain->callback([&] {
    if (!pid && unit_option->empty()) throw CLI::RequiredError("PID or --unit");
    status = rdtd::explain(context, pid, unit);
  });

  app.add_subcommand("cat-config", "Print the policy files that count, and name those that do not")->footer("Example: rdtctl cat-config")->callback([&] {
    status = rdtd::cat_config(context);
  });

  app.parse_complete_callback([&] { context.snapshot_given = !snapshot->empty(); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error);
  }
  return status;
}
