// Patterns in another language than that of globs: regular expressions, and alternatives in one
// text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/policy/policy.hpp"

namespace rdtd {

// Something that a glob takes literally, and its writer probably did not.
struct PatternSlip {
  bool certain = false;  // nothing can match
  std::string why;
  std::vector<std::string> meant;  // the globs to write instead; none if that is not clear
};

// Whether what is between '[' and ']' is probably a word, as in "sshd: [priv]", and no class of
// characters.
[[nodiscard]] bool is_word_in_brackets(std::string_view inside);

[[nodiscard]] std::optional<PatternSlip> find_slip(ConditionKind kind, std::string_view pattern);

}  // namespace rdtd
