// Help texts and usage errors, in rdtctl's own words. CLI11 parses the command line; none of its
// texts is printed. Only this and main.cpp include CLI11, which is slow to compile.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rdtd {

// A wrong command line. `text` has neither "rdtctl: " nor a line break.
struct UsageError {
  std::string text;
};

// "Usage: ...", the description, and the verbs by group or the arguments and options of a verb.
[[nodiscard]] std::string help_text(const CLI::App& app);

// The error about the command line that CLI11 refused.
[[nodiscard]] std::string usage_error_text(const CLI::App& app, const CLI::ParseError& error);

// The verb of this name; throws UsageError, with the nearest one, if there is none.
[[nodiscard]] const CLI::App& verb_named(const CLI::App& app, const std::string& name);

// The verb on the command line, or nullptr.
[[nodiscard]] const CLI::App* given_verb(const CLI::App& app);
// The command that is left of the command line, and the words behind "--". Throws UsageError if it
// begins with an option that the verb does not have.
[[nodiscard]] std::vector<std::string> command_of(const CLI::App& verb,
                                                  const std::vector<std::string>& marked);

// Checks of an option's value. Each throws UsageError.
void allow_only(CLI::Option& option, const std::vector<std::string>& values);
void allow_numbers(CLI::Option& option, double least, double most);
// With a unit too: "500ms", "1min".
void allow_seconds(CLI::Option& option, double least, double most);
// With a '%' too.
void allow_percent(CLI::Option& option, double least, double most);
void allow_amounts(CLI::Option& option, bool of_cache);
void allow_process_ids(CLI::Option& option);
void allow_directories(CLI::Option& option);
void refuse_empty(CLI::Option& option);
// Of a cgroup, as in /proc/PID/cgroup; of an executable.
void refuse_relative_paths(CLI::Option& option);
void require_namespace(CLI::Option& option);  // of a pod
void refuse_long_names(CLI::Option& option);  // of a process or thread

}  // namespace rdtd
