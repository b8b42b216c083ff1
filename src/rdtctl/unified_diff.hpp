// The difference of two short texts, as diff -u and git print it: patch(1) and editors read it.
#pragma once

#include <string>

namespace rdtd {

// Empty if the texts are the same; an empty text is a file that does not exist. Each line of a text
// ends in a newline. There is one hunk, with the whole file: those of resctrl have few lines.
[[nodiscard]] std::string unified_diff(const std::string& file, const std::string& before,
                                       const std::string& after);

}  // namespace rdtd
