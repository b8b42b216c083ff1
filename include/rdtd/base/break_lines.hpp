// Breaking long lists of entries into lines, for people: "L3:0=f;1=ff MB:0=10".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rdtd {

// Breaks the text behind ' ' and ';' into lines of at most `width` bytes, and behind ',' if an
// entry is longer than a line. Each line but the first begins with `indent` spaces. A line is
// longer than `width` only if it has nothing to break at. No line ends in a space.
[[nodiscard]] std::string break_lines(std::string_view text, size_t width, size_t indent = 0);

}  // namespace rdtd
