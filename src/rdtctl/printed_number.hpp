// The number that --metric finds in what a command printed.
#pragma once

#include <expected>
#include <regex>
#include <string>

namespace rdtd {

// In the first group of the expression, or at the begin of all that it matches, in the first line
// that does. The error is what was matched and is no plain number; "" if nothing was. Throws
// std::regex_error where the matching takes too long: the standard library's takes stack for each
// character.
[[nodiscard]] std::expected<double, std::string> printed_number(const std::string& output,
                                                                const std::regex& expression);

}  // namespace rdtd
