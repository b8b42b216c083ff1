#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "first_guesses.hpp"
#include "rdtd/base/break_lines.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/comm_name.hpp"
#include "time_point.hpp"

namespace rdtd {

namespace {

constexpr size_t description_column = 27, help_width = 80;

// "--group", or "GROUP" for an argument.
std::string name_of(const CLI::Option& option) { return option.get_name(option.get_positional()); }

// A flag has no type.
bool takes_value(const CLI::Option& option) { return !option.get_type_name().empty(); }

// "--group GROUP", "GROUP".
std::string name_with_value(const CLI::Option& option) {
  const std::string name = name_of(option);
  return option.get_positional() || !takes_value(option) ? name
                                                         : name + " " + option.get_type_name();
}

std::vector<const CLI::Option*> options_of(const CLI::App& app, bool positional) {
  return app.get_options([positional](const CLI::Option* option) {
    return option->get_positional() == positional && option->nonpositional() != positional;
  });
}

std::string usage_line(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "Usage: rdtctl [OPTION...] [VERB [ARGUMENT...]]\n";
  std::string out = "Usage: rdtctl " + app.get_name();
  std::string optional;
  for (const CLI::Option* option : options_of(app, false)) {
    if (option == app.get_help_ptr()) continue;
    const auto& shorts = option->get_snames();
    const std::string text = shorts.empty() ? name_with_value(*option)
                             : takes_value(*option)
                                 ? fmt::format("-{} {}", shorts.front(), option->get_type_name())
                                 : "-" + shorts.front();
    if (option->get_required())
      out += " " + text;
    else
      optional += " [" + text + "]";
  }
  std::string arguments;
  for (const CLI::Option* option : options_of(app, true)) {
    const std::string text = name_of(*option) + (option->get_expected_max() > 1 ? "..." : "");
    arguments += option->get_required() ? " " + text : " [" + text + "]";
  }
  // The help lists the options below the usage too.
  const bool fits = out.size() + optional.size() + arguments.size() <= help_width;
  out += (fits ? optional : " [OPTION...]") + arguments;
  if (!app.get_prefix_command()) return out + "\n";
  const std::string command = "[--] COMMAND [ARGUMENT...]";
  // A probe takes the command's place.
  return out + (app.get_option_no_throw("--probe") != nullptr ? " [" + command + "]\n"
                                                              : " " + command + "\n");
}

std::string help_line(const std::string& name, const std::string& description) {
  std::string out = "  " + name;
  if (out.size() >= description_column) out += '\n';
  bool is_first = out.back() != '\n';
  const std::string text = break_lines(description, help_width - description_column);
  for (const std::string_view line : split(text, '\n')) {
    const size_t used = is_first ? out.size() : 0;
    out += fmt::format("{:<{}}{}\n", "", description_column - used, line);
    is_first = false;
  }
  return out;
}

std::string option_line(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += "-" + name + ", ";
  for (const std::string& name : option.get_lnames()) names += "--" + name + ", ";
  names.resize(names.size() - 2);
  if (takes_value(option)) names += " " + option.get_type_name();
  return help_line(names, option.get_description());
}

std::string verb_lines(const CLI::App& app) {
  std::string out, group;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_group() != group) out += "\n" + verb->get_group() + ":\n";
    group = verb->get_group();
    out += help_line(verb->get_name(), verb->get_description());
  }
  return out;
}

// The only name that begins so, else the one that takes the fewest edits.
std::optional<std::string> name_meant(const std::string& name,
                                      const std::vector<std::string>& names) {
  constexpr size_t shortest = 3;
  const auto begins = [&](const std::string& candidate) { return candidate.starts_with(name); };
  if (name.size() >= shortest && std::ranges::count_if(names, begins) == 1)
    return *std::ranges::find_if(names, begins);
  return nearest_name(name, names);
}

// "; did you mean 'x'?", or nothing.
std::string nearest_text(const std::string& name, const std::vector<std::string>& names) {
  const auto nearest = name_meant(name, names);
  return nearest ? "; " + did_you_mean(*nearest) : "";
}

// The same of an option of these parts of the command line. One letter is near every other one, so
// only long options are meant.
std::string nearest_option(const std::string& word, std::initializer_list<const CLI::App*> parts) {
  constexpr std::string_view dashes = "--";
  const std::string given = option_name(word);
  if (!given.starts_with(dashes)) return {};
  std::vector<std::string> names;  // without their dashes, which do not count as letters
  for (const CLI::App* part : parts)
    if (part != nullptr)
      for (const CLI::Option* option : options_of(*part, false))
        if (const std::string name = name_of(*option); name.starts_with(dashes))
          names.push_back(name.substr(dashes.size()));
  const auto meant = name_meant(given.substr(dashes.size()), names);
  const std::string text = fmt::format("--{}", meant.value_or(""));
  return meant && text != given ? fmt::format("; {}", did_you_mean(text)) : "";
}

// Few slips are in the first letter, and no slip is to end in the removal of all groups.
std::string nearest_verb(const std::string& name, const std::vector<std::string>& names) {
  const auto nearest = name_meant(name, names);
  if (!nearest || nearest->front() != name.front()) return {};
  if (*nearest == "reset" && !nearest->starts_with(name)) return {};
  return "; " + did_you_mean(*nearest);
}

std::string unknown_verb(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return fmt::format("unknown verb '{}'{}", name, nearest_verb(name, names));
}

// The word that no part of the command line takes.
std::string unexpected(const CLI::App& app, const std::string& word) {
  const CLI::App* verb = given_verb(app);
  const std::string of_verb = verb == nullptr ? "" : " of " + verb->get_name();
  if (!word.starts_with('-'))
    return verb == nullptr ? unknown_verb(app, word)
                           : fmt::format("unexpected argument '{}'{}", word, of_verb);
  return fmt::format("unknown option '{}'{}{}", word, of_verb, nearest_option(word, {verb, &app}));
}

// The options of the verb and those of rdtctl.
std::vector<const CLI::Option*> possible_options(const CLI::App& app) {
  std::vector<const CLI::Option*> out = app.get_options({});
  if (const CLI::App* verb = given_verb(app); verb != nullptr)
    std::ranges::copy(verb->get_options({}), std::back_inserter(out));
  return out;
}

std::string missing(const CLI::App& app) {
  for (const CLI::Option* option : possible_options(app))
    if (option->get_required() && option->count() == 0)
      return fmt::format("{} requires {}", given_verb(app)->get_name(), name_with_value(*option));
  return "an argument is missing";
}

// CLI11 says which option it is only at the beginning of its text, or behind a colon.
std::string wrong_count(const CLI::App& app, const std::string& said) {
  const CLI::Option* of = nullptr;
  size_t first = std::string::npos;
  for (const CLI::Option* option : possible_options(app)) {
    const std::string name = name_of(*option);
    const size_t at = said.find(name);
    if (at >= first || (said + " ").find_first_of(": ", at) != at + name.size()) continue;
    of = option;
    first = at;
  }
  if (of == nullptr) return "a value is missing, or one too many is given";
  if (!takes_value(*of)) return name_of(*of) + " takes no value";
  if (of->count() > 1) return name_of(*of) + " is given more than once";
  return fmt::format("{} requires {}", name_of(*of), of->get_type_name());
}

// A check that CLI11 carries out on each value.
void check_values(CLI::Option& option, std::function<void(const std::string&)> check) {
  option.check(CLI::Validator(
      [check = std::move(check)](const std::string& value) {
        check(value);
        return std::string();
      },
      ""));
}

// "SECONDS 'x' of --interval", "PID 'x'".
std::string value_text(const CLI::Option& option, const std::string& value) {
  return option.get_positional()
             ? fmt::format("{} '{}'", name_of(option), value)
             : fmt::format("{} '{}' of {}", option.get_type_name(), value, name_of(option));
}

// `plain` makes a number of what is typed; an error shows what is typed.
void read_numbers(CLI::Option& option, double least, double most,
                  std::function<std::string(const std::string&)> plain) {
  option.transform(CLI::Validator(
      [&option, least, most, plain = std::move(plain)](std::string& value) {
        const std::string text = plain(value);
        double number = 0;
        const char* end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data(), end, number);
        if (parsed.ec != std::errc{} || parsed.ptr != end || !(number >= least && number <= most))
          throw UsageError{fmt::format("invalid {}: use a number from {} to {}",
                                       value_text(option, value), least, most)};
        value = text;
        return std::string();
      },
      ""));
}

}  // namespace

std::vector<std::string> command_of(const CLI::App& verb, const std::vector<std::string>& marked) {
  std::vector<std::string> command = verb.remaining();
  if (!command.empty() && command.front().starts_with('-')) {
    throw UsageError{fmt::format("unknown option '{}' of {}{}", command.front(), verb.get_name(),
                                 nearest_option(command.front(), {&verb}))};
  }
  command.insert(command.end(), marked.begin(), marked.end());
  return command;
}

const CLI::App* given_verb(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? nullptr : verbs.front();
}

const CLI::App& verb_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* verb : app.get_subcommands({}))
    if (verb->get_name() == name) return *verb;
  throw UsageError{unknown_verb(app, name)};
}

std::string help_text(const CLI::App& app) {
  std::string out = usage_line(app) + "\n" + app.get_description() + ".\n";
  if (app.get_parent() == nullptr) out += verb_lines(app);
  const auto arguments = options_of(app, true);
  if (!arguments.empty() || app.get_prefix_command()) out += "\nArguments:\n";
  for (const CLI::Option* option : arguments)
    out += help_line(name_of(*option), option->get_description());
  if (app.get_prefix_command())
    out += help_line("COMMAND", "The command to run; its options are its own");
  out += "\nOptions:\n";
  for (const CLI::Option* option : options_of(app, false)) out += option_line(*option);
  if (!app.get_footer().empty()) out += "\n" + app.get_footer() + "\n";
  return out;
}

std::string usage_error_text(const CLI::App& app, const CLI::ParseError& error) {
  // From the most general parser down, the first word that was left over.
  const auto is = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  const CLI::App* verb = given_verb(app);
  const auto rest = app.remaining(true);
  // The missing word may be the value of an option that is not known.
  const bool is_unknown = !rest.empty() && rest.front().starts_with('-') &&
                          (verb == nullptr || !verb->get_prefix_command());
  if (!rest.empty() && (is(CLI::ExitCodes::ExtrasError) || is_unknown))
    return unexpected(app, rest.front());
  if (is(CLI::ExitCodes::RequiredError)) return missing(app);
  return wrong_count(app, error.what());
}

void allow_only(CLI::Option& option, const std::vector<std::string>& values) {
  check_values(option, [&option, values](const std::string& value) {
    if (std::ranges::find(values, value) != values.end()) return;
    const std::vector<std::string> all_but_last(values.begin(), values.end() - 1);
    throw UsageError{fmt::format("invalid {}: use {} or {}{}", value_text(option, value),
                                 fmt::join(all_but_last, ", "), values.back(),
                                 nearest_text(value, values))};
  });
}

void allow_numbers(CLI::Option& option, double least, double most) {
  read_numbers(option, least, most, [](const std::string& value) { return value; });
}

void allow_seconds(CLI::Option& option, double least, double most) {
  read_numbers(option, least, most, in_seconds);
}

void allow_percent(CLI::Option& option, double least, double most) {
  read_numbers(option, least, most, [](const std::string& value) {
    return value.substr(0, value.size() - (value.ends_with('%') ? 1 : 0));
  });
}

// The hint for a policy, adapted to options.
static std::string hint_for_option(const AmountError& error) {
  std::string hint = error.hint.empty() ? error.message : error.hint;
  if (hint.starts_with("write {"))
    return "an option takes one amount for all domains: write a table of domains in a [group.NAME]";
  if (hint.starts_with("write ["))
    return "an option takes one form of an amount: write one of them";
  for (const std::string_view key : {"l3", "mb"})
    if (const std::string in_policy = fmt::format("write {} = ", key); hint.contains(in_policy))
      hint.replace(hint.find(in_policy), in_policy.size(), fmt::format("use --{} ", key));
  return hint;
}

void allow_amounts(CLI::Option& option, bool of_cache) {
  check_values(option, [&option, of_cache](const std::string& value) {
    const auto amount = of_cache ? parse_cache_amount(value) : parse_bandwidth_amount(value);
    if (!amount)
      throw UsageError{fmt::format("invalid {}: {}", value_text(option, value),
                                   hint_for_option(amount.error()))};
  });
}

void allow_process_ids(CLI::Option& option) {
  check_values(option, [&option](const std::string& value) {
    constexpr unsigned largest = 1U << 22;  // PID_MAX_LIMIT of the kernel
    const auto pid = parse_unsigned<unsigned>(value);
    if (!pid || *pid < 1 || *pid > largest)
      throw UsageError{fmt::format("invalid {}: use a process id", value_text(option, value))};
  });
}

void allow_directories(CLI::Option& option) {
  check_values(option, [&option](const std::string& value) {
    struct stat status{};
    const int error = ::stat(value.c_str(), &status) != 0 ? errno
                      : S_ISDIR(status.st_mode)           ? 0
                                                          : ENOTDIR;
    if (error != 0)
      throw UsageError{
          fmt::format("invalid {}: {}", value_text(option, value), std::strerror(error))};
    // The files that are read lie in etc/rdtd below it.
    std::string_view above = value;
    while (above.size() > 1 && above.ends_with('/')) above.remove_suffix(1);
    constexpr std::string_view end = "/etc/rdtd";
    if (name_of(option) != "--root" || (!above.ends_with(end) && above != end.substr(1))) return;
    above.remove_suffix(std::min(end.size(), above.size()));
    throw UsageError{fmt::format(
        "invalid {}: the files are in etc/rdtd below it: use '{}'", value_text(option, value),
        !above.empty() ? above : std::string_view(value.starts_with('/') ? "/" : "."))};
  });
}

void refuse_empty(CLI::Option& option) {
  check_values(option, [&option](const std::string& value) {
    if (value.empty()) throw UsageError{name_of(option) + " is empty"};
  });
}

void refuse_long_names(CLI::Option& option) {
  check_values(option, [&option](const std::string& value) {
    if (!can_be_comm(value))
      throw UsageError{fmt::format("invalid {}: the kernel cuts names to {} bytes",
                                   value_text(option, value),
                                   is_kernel_thread(value) ? longest_kernel_thread : longest_comm)};
  });
}

void refuse_relative_paths(CLI::Option& option) {
  check_values(option, [&option](const std::string& value) {
    const bool is_cgroup = option.check_lname("cgroup");
    // "0::/PATH" and "4:memory:/PATH", as /proc/PID/cgroup has it.
    if (const size_t path = value.find(":/"); is_cgroup && path < value.find('/'))
      throw UsageError{
          fmt::format("invalid {}: write {}", value_text(option, value), value.substr(path + 1))};
    if (!value.starts_with('/'))
      throw UsageError{fmt::format("invalid {}: begin it with '/'", value_text(option, value))};
    if (!is_cgroup) return;
    // It begins at the root of the hierarchy.
    const std::string_view relative = std::string_view(value).substr(1);
    constexpr std::string_view mount = "sys/fs/cgroup";
    if (relative == mount || relative.starts_with(fmt::format("{}/", mount)))
      throw UsageError{fmt::format("invalid {}: write {}", value_text(option, value),
                                   relative == mount ? "/" : relative.substr(mount.size()))};
    if (relative.starts_with("sys/fs/"))
      throw UsageError{
          fmt::format("invalid {}: it is no path of a cgroup, which /proc/PID/cgroup "
                      "shows behind '::'",
                      value_text(option, value))};
  });
}

void require_namespace(CLI::Option& option) {
  check_values(option, [&option](const std::string& value) {
    const size_t slash = value.find('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == value.size())
      throw UsageError{fmt::format("invalid {}: use NAMESPACE/NAME", value_text(option, value))};
  });
}

}  // namespace rdtd
