// rdtctl: from the command line to the exit status. verb_table.cpp has the verbs.
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "argument_vector.hpp"
#include "command_line.hpp"
#include "first_guesses.hpp"
#include "output.hpp"
#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "verb_table.hpp"

namespace {

using rdtd::Context;
using rdtd::Exit;
using rdtd::Json;
using rdtd::UsageError;

void look_at_terminal(Context& context) {
  context.utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  // A serial console may not know its size.
  constexpr unsigned usual = 80;
  context.terminal = ::isatty(STDOUT_FILENO) == 1;
  if (winsize size{}; ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    context.columns = size.ws_col != 0 ? size.ws_col : usual;
  // As for ls(1) and systemctl(1), in a pipe too.
  if (const char* const given = std::getenv("COLUMNS"))
    if (const auto columns = rdtd::parse_unsigned<unsigned>(given); columns && *columns > 0)
      context.columns = *columns;
  const bool colors = std::getenv("NO_COLOR") == nullptr;
  context.color = colors && context.terminal;
  context.error_color = colors && ::isatty(STDERR_FILENO) == 1;
}

void add_common_options(CLI::App& app, Context& context) {
  auto* root = app.add_option("--root", context.root, "Read policy files below this directory")
                   ->type_name("DIR");
  rdtd::allow_directories(*root);
  auto* snapshot = app.add_option("--resctrl", context.resctrl,
                                  "Use this copy of a resctrl tree instead of /sys/fs/resctrl")
                       ->type_name("DIR");
  rdtd::allow_directories(*snapshot);
  auto* json = app.add_option_function<std::string>(
                      "--json",
                      [&](const std::string& form) {
                        context.json = form == "pretty"  ? Json::pretty
                                       : form == "short" ? Json::compact
                                                         : Json::off;
                      },
                      "Print JSON: pretty, short or off")
                   ->type_name("FORM");
  rdtd::allow_only(*json, {"pretty", "short", "off"});
  app.add_flag_callback(
      "-j", [&] { context.json = ::isatty(STDOUT_FILENO) == 1 ? Json::pretty : Json::compact; },
      "Print JSON, pretty on a terminal");
  auto* color = app.add_option_function<std::string>(
                       "--color",
                       [&](const std::string& when) {
                         if (when != "auto") context.color = context.error_color = when == "always";
                       },
                       "Use colors: auto (on terminals), always or never")
                    ->type_name("WHEN");
  rdtd::allow_only(*color, {"auto", "always", "never"});
  app.add_flag_callback(
      "-q,--quiet", [] { rdtd::quiet = true; }, "Print nothing; the exit status says it");
  app.add_flag_callback(
      "--no-legend", [&] { context.legend = false; }, "Print tables without a heading");
  app.parse_complete_callback([&context, root, snapshot] {
    context.snapshot_given = !snapshot->empty();
    context.elsewhere = !snapshot->empty() || !root->empty();
  });
}

// The verb that a word names, if it executes a command.
const CLI::App* verb_with_command(const CLI::App& app, const std::string& word) {
  for (const CLI::App* verb : app.get_subcommands({}))
    if (verb->get_name() == word) return verb->get_prefix_command() ? verb : nullptr;
  return nullptr;
}

bool takes_next_word(const CLI::App& app, const std::string& word) {
  const CLI::Option* option = app.get_option_no_throw(rdtd::option_name(word));
  return option != nullptr && option->get_expected_min() > 0 && !word.contains('=');
}

// Of a verb that executes a command: moves the options of rdtctl itself to before the verb, because
// CLI11 would take those of the command for them too. It also ends a verb at "--": one that
// precedes the command is removed; behind the command's first word it belongs to the command.
// Returns the words after the one that was removed, which are the command: CLI11 would take those
// that begin with '-' for options.
std::vector<std::string> arrange_words(const CLI::App& app, std::vector<std::string>& words) {
  const CLI::App* verb = nullptr;
  const auto found = std::ranges::find_if(words, [&](const std::string& word) {
    verb = verb_with_command(app, word);
    return verb != nullptr;
  });
  if (verb == nullptr) return {};
  auto at_verb = found - words.begin();
  const auto word_at = [&](auto position) { return words.begin() + position; };
  for (auto at = at_verb + 1; at < std::ssize(words);) {
    const std::string& word = *word_at(at);
    if (word == "--") {
      std::vector<std::string> command(word_at(at) + 1, words.end());
      words.erase(word_at(at), words.end());
      return command;
    }
    if (!word.starts_with('-')) return {};
    const bool common = verb->get_option_no_throw(rdtd::option_name(word)) == nullptr &&
                        app.get_option_no_throw(rdtd::option_name(word)) != nullptr;
    const auto end = at + (takes_next_word(common ? app : *verb, word) ? 2 : 1);
    if (end > std::ssize(words)) return {};  // its value is missing
    if (common) {
      std::rotate(word_at(at_verb), word_at(at), word_at(end));
      at_verb += end - at;
    }
    at = end;
  }
  return {};
}

rdtd::KnownOptions known_options(const CLI::App& app) {
  return [&app](std::string_view verb, std::string_view name) -> std::optional<bool> {
    const CLI::App* of = &app;
    if (!verb.empty()) {
      const auto verbs = app.get_subcommands({});
      const auto found = std::ranges::find(verbs, verb, &CLI::App::get_name);
      if (found == verbs.end()) return std::nullopt;
      of = *found;
    }
    const CLI::Option* option = of->get_option_no_throw(rdtd::option_name(std::string(name)));
    if (option == nullptr || option->get_positional()) return std::nullopt;
    return option->get_expected_min() > 0;
  };
}

// journalctl, with the words of the user.
int execute(std::vector<std::string> program) {
  rdtd::ArgumentVector arguments(std::move(program));
  const int error = arguments.execute();
  rdtd::note("rdtctl: {}\n", arguments.failure(error));
  return Exit::failed;
}

int report_usage(const CLI::App& app, const std::string& error) {
  const CLI::App* verb = rdtd::given_verb(app);
  rdtd::quiet = false;  // nothing was done
  rdtd::note("rdtctl: {}\nTry 'rdtctl help{}'.\n", error,
             verb == nullptr ? "" : " " + verb->get_name());
  // A command may end with any other code.
  return verb != nullptr && verb->get_name() == "run" ? Exit::run_failed : Exit::usage;
}

// CLI11 asks for the version before it calls what belongs to -j and --json.
void show_version(const CLI::App& app, Context context) {
  const std::vector<std::string> form = app.get_option("--json")->results();
  if (app.get_option("-j")->count() > 0 || (!form.empty() && form.back() != "off"))
    context.json = rdtd::Json::compact;
  rdtd::print_version(context, RDTD_VERSION);
}

int parse(CLI::App& app, const Context& context, std::vector<std::string> arguments,
          rdtd::VerbTable& verbs) {
  std::ranges::reverse(arguments);  // as CLI11 expects them
  try {
    app.parse(arguments);
    if (rdtd::given_verb(app) == nullptr) verbs.run_default();
    return verbs.exit();
  } catch (const CLI::CallForHelp&) {
    const CLI::App* verb = rdtd::given_verb(app);
    rdtd::print("{}", rdtd::help_text(verb == nullptr ? app : *verb));
  } catch (const CLI::CallForVersion&) {
    show_version(app, context);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, rdtd::usage_error_text(app, error) + verbs.hint());
  } catch (const UsageError& error) {
    return report_usage(app, error.text);
  }
  return Exit::ok;
}

}  // namespace

int main(int argc, char** argv) {
  (void)std::setlocale(LC_ALL, "");
  // Numbers of options and of programs have a point, in every locale.
  (void)std::setlocale(LC_NUMERIC, "C");
  Context context;
  look_at_terminal(context);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  CLI::App app("Queries and controls rdtd(8); without a verb, shows the status", "rdtctl");
  app.set_help_flag("-h,--help", "Show this help, or with a verb that of the verb");
  app.set_version_flag("--version", "", "Show the version");
  app.require_subcommand(0, 1);
  app.fallthrough();
  add_common_options(app, context);
  rdtd::VerbTable verbs(app, context);
  verbs.add_all();
  const bool runs = std::ranges::find(arguments, "run") != arguments.end();
  auto understood = rdtd::understand(std::move(arguments), known_options(app));
  if (!understood) {
    rdtd::note("rdtctl: {}\n", understood.error());
    return runs ? Exit::run_failed : Exit::usage;
  }
  if (!understood->program.empty()) return execute(std::move(understood->program));
  arguments = std::move(understood->words);
  verbs.set_command(arrange_words(app, arguments));

  int exit = Exit::ok;
  try {
    exit = parse(app, context, std::move(arguments), verbs);
  } catch (const std::system_error& error) {  // fmt::print throws it
    exit = Exit::failed;
    if (std::ferror(stdout) == 0) rdtd::note("rdtctl: {}\n", error.what());
  }
  // A full disk shows only now.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    rdtd::note("rdtctl: cannot write to standard output: {}\n", std::strerror(errno));
    if (exit == Exit::ok) exit = Exit::failed;
  }
  return exit;
}
