// Parts of other languages in a text: variables, specifiers, templates, and the word of a condition
// in front of its value.
#pragma once

#include <string>
#include <string_view>

#include "pattern_finding.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// The problem with a part of a pattern that rdtd would take literally, if there is one.
[[nodiscard]] pattern::Check check_foreign_text(ConditionKind kind, std::string_view text);

// Where a specifier of systemd stands, "%U", and where a variable of a shell does: "$UID",
// "${UID}". A '%' may be part of a name too.
[[nodiscard]] size_t find_specifier(std::string_view text);
[[nodiscard]] size_t find_variable(std::string_view text);

// "user-*.slice" of "user-%U.slice" and "user-$UID.slice"; the same of any other text.
[[nodiscard]] std::string without_specifiers(std::string_view text);
[[nodiscard]] std::string without_variables(std::string_view text);

// The hint with the pattern to write, in which a '*' stands for one of them. Alone, it would match
// everything.
[[nodiscard]] std::string hint_for_place(std::string_view pattern);

}  // namespace rdtd
