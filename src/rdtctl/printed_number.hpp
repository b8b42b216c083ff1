// The number that --metric finds in what a command printed.
#pragma once

#include <expected>
#include <regex>
#include <string>

namespace rdtd {

// At the begin of the first group of the expression, or of all that it matches, in the first line
// that it matches. The error is what is there and is no plain number, such as "1,234" and "1.2M";
// "" if nothing matches. Throws std::regex_error where the matching takes too long: the standard
// library's takes stack for each character.
[[nodiscard]] std::expected<double, std::string> printed_number(const std::string& output,
                                                                const std::regex& expression);

// The same in a child process that ends after so many seconds, since matching may take longer than
// any run: the standard library tries all ways in which an expression such as "(a+)+b" may match.
[[nodiscard]] std::expected<double, std::string> printed_number_within(
    unsigned seconds, const std::string& output, const std::regex& expression);

}  // namespace rdtd
