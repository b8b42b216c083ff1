// check_text: whether a text has the form of TOML, decided before toml++ reads it. It owns the
// bounds on size, depth and number of names, and the messages for mistakes in quotes, brackets and
// keys. Values that it accepts may still be wrong (a date, a number): toml++ reports those.
//
// toml++ 3.3 and 3.4 need this: they test some of their preconditions with an assertion only, run
// into undefined behaviour on characters beyond ASCII outside strings, and recurse once per part of
// a dotted key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rdtd/policy/diagnostic.hpp"

namespace rdtd {

// The first error, if there is any, with its place in `file`. Takes time in proportion to the text.
[[nodiscard]] std::optional<Diagnostic> check_text(const std::string& file, std::string_view text);

}  // namespace rdtd
