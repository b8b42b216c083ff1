// rdtctl: the command line. What a verb does is in the file of its name.
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

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
  if (winsize size{}; ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) context.columns = size.ws_col;
  context.color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;

  CLI::App app("Shows and steers the partitions of the shared caches and the memory bandwidth.", "rdtctl");
  app.set_version_flag("--version", "rdtctl " RDTD_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  // Without what CLI11 adds to the help by itself.
  CLI::Validator existing_directory = CLI::ExistingDirectory;
  existing_directory.description("");
  CLI::CheckedTransformer json_forms(std::map<std::string, Json>{{"pretty", Json::pretty}, {"short", Json::compact}, {"off", Json::off}});
  json_forms.description("");
  app.add_option("--root", context.root, "Look for policy files below this folder")->type_name("DIR")->check(existing_directory);
  auto* snapshot =
      app.add_option("--resctrl", context.resctrl, "A copy of a resctrl tree instead of this machine's")->type_name("DIR")->check(existing_directory);
  app.add_option("--json", context.json, "Print JSON: pretty, short or off")->type_name("FORM")->transform(json_forms);
  app.add_flag_callback("-j", [&] { context.json = ::isatty(STDOUT_FILENO) == 1 ? Json::pretty : Json::compact; }, "JSON, pretty on a terminal");
  app.add_flag_callback("--no-legend", [&] { context.legend = false; }, "Tables without their heading");

  int exit = rdtd::Exit::ok;
  const rdtd::Verbs verbs{app, context, exit};
  for (const auto add : {rdtd::add_status, rdtd::add_list, rdtd::add_top, rdtd::add_events, rdtd::add_explain, rdtd::add_check, rdtd::add_plan,
                         rdtd::add_layout, rdtd::add_apply, rdtd::add_reload, rdtd::add_reset, rdtd::add_run, rdtd::add_assign, rdtd::add_metrics,
                         rdtd::add_import, rdtd::add_snapshot, rdtd::add_doctor, rdtd::add_cat_config, rdtd::add_completion})
    add(verbs);

  app.parse_complete_callback([&] { context.snapshot_given = !snapshot->empty(); });
  std::vector<std::string> arguments(argv + 1, argv + argc);
  // CLI11 ends a verb at "--". Behind run's it is the command that begins, which it does without it too.
  if (const auto mark = std::ranges::find(arguments, "--"); mark != arguments.end() && std::find(arguments.begin(), mark, "run") != mark) arguments.erase(mark);
  std::ranges::reverse(arguments);  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error);
  }
  return exit;
}
