// Printing for people. Each text passes printable_lines() here, so that no name of a group or file
// and no text of the daemon or of another tool can drive the terminal. All of rdtctl prints through
// print() and note(), its tables and its JSON.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd {

// rdtctl's own text, which may contain colors; printed as it is.
struct Styled {
  std::string text;
};

inline std::string shown(std::string_view text) { return printable_lines(text); }
inline const std::string& shown(const Styled& styled) { return styled.text; }
template <class T>
  requires(!std::convertible_to<const T&, std::string_view>)
const T& shown(const T& value) {
  return value;
}
template <class T>
using Shown = decltype(shown(std::declval<const T&>()));

// -q: the exit status says it all. The output of commands that rdtctl executes is theirs.
inline bool quiet = false;

// Data, to standard output. A failed write throws std::system_error.
template <class... T>
void print(fmt::format_string<Shown<T>...> format, const T&... values) {
  if (!quiet) fmt::print(fmt::runtime(fmt::string_view(format)), shown(values)...);
}

// Notes and errors, to standard error. A failed write is ignored: there is no other place for it.
// rdtctl's own cut long values; the others quote lines of files.
template <class... T>
void note(fmt::format_string<Shown<T>...> format, const T&... values) {
  if (quiet) return;
  std::string text = fmt::format(fmt::runtime(fmt::string_view(format)), shown(values)...);
  if (text.starts_with("rdtctl: ")) text = with_short_values(text);
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace rdtd
