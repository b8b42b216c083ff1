// What users of other tools type: the words of rdtctl that are meant, or one sentence that says how
// it is done. Tables only; first_guesses.cpp applies them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

// One of the two is empty. "{}" in one of them is the value of the option, or the next word.
struct Meaning {
  std::vector<std::string> words;
  std::string_view sentence;
};

// Of one or two words in place of a verb: "ls", "get groups", "-s" without a verb.
[[nodiscard]] std::optional<Meaning> meaning_of_verb(std::string_view words);

// Of an option of a verb; "" is no verb. No words and no sentence: the option says nothing.
[[nodiscard]] std::optional<Meaning> meaning_of_option(std::string_view verb,
                                                       std::string_view option);

// What a verb that takes no argument does; empty for others.
[[nodiscard]] std::string_view instead_of_argument(std::string_view verb);

}  // namespace rdtd
