// Translates the words that users of other tools type: to the words of rdtctl that are meant, or to
// one sentence that says how it is done. Tables only, in verbs_of_others.cpp and
// options_of_others.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

// One of the two is empty. "{}" in one of them is the value of the option, or the next word; "#" is
// a value that is a number.
struct Meaning {
  std::vector<std::string> words;
  std::string_view sentence;
};

// Of one or two words in place of a verb: "ls", "get groups", "-s" without a verb. "cap *" is "cap"
// with any word behind it.
[[nodiscard]] std::optional<Meaning> meaning_of_verb(std::string_view words);

// Of an option of a verb, which `value` follows; "" is no verb. No words and no sentence: the
// option says nothing.
[[nodiscard]] std::optional<Meaning> meaning_of_option(std::string_view verb,
                                                       std::string_view option,
                                                       const std::string& value = {});

// The sentence about a verb that takes no argument; empty for others.
[[nodiscard]] std::string_view instead_of_argument(std::string_view verb);

// Whether the verb of rdtctl changes nothing and executes nothing.
[[nodiscard]] bool changes_nothing(std::string_view verb);

// For the tables: whether the guess is one of those, and the words between spaces.
[[nodiscard]] bool has_guess(std::string_view guesses, std::string_view separator,
                             std::string_view guess);
[[nodiscard]] std::vector<std::string> words_in(std::string_view text);

inline constexpr std::string_view how_to_remove =
    "remove the group's table from its file in /etc/rdtd, then run 'rdtctl reload'; 'rdtctl "
    "reset' removes every group that rdtd created";

inline constexpr std::string_view where_problems_are =
    "'rdtctl doctor' names those of the machine, and 'rdtctl check' those of the policy";

inline constexpr std::string_view how_to_log_more =
    "it is the daemon that has one: 'systemctl service-log-level rdtd debug' until it ends, "
    "log_level in [daemon] for good";

inline constexpr std::string_view how_to_unassign =
    "'rdtctl assign -g default PID' moves a process out of its group; of a unit, remove the file "
    "00-assign-UNIT.toml from /etc/rdtd, or /run/rdtd with --runtime, then run 'rdtctl reload'";

}  // namespace rdtd
