// What other languages have in a text: variables, specifiers, templates, and the word of a
// condition in front of its value.
#pragma once

#include <string>
#include <string_view>

#include "pattern_finding.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// What rdtd would take literally in a pattern, if there is such a thing.
[[nodiscard]] pattern::Check check_foreign_text(ConditionKind kind, std::string_view text);

// Where a specifier of systemd stands, "%U", and where a variable of a shell does: "$UID",
// "${UID}". A '%' may be part of a name too.
[[nodiscard]] size_t find_specifier(std::string_view text);
[[nodiscard]] size_t find_variable(std::string_view text);

// "user-*.slice" of "user-%U.slice" and "user-$UID.slice"; the same of any other text.
[[nodiscard]] std::string without_specifiers(std::string_view text);
[[nodiscard]] std::string without_variables(std::string_view text);

// What to write, with the '*' that stands for one of them. Alone, it would match everything.
[[nodiscard]] std::string hint_for_place(std::string_view pattern);

}  // namespace rdtd
