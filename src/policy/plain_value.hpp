// Values of TOML that stand without quotes or brackets, and texts that a user left without quotes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

// Whether the text has the form of a boolean, a number, a date or a time. Its value may still be
// out of range.
[[nodiscard]] bool is_plain_value(std::string_view text);
// Whether an integer, which is_plain_value() takes, has no place in 64 bits.
[[nodiscard]] bool is_too_large(std::string_view text);

// "true" or "false", if a word of another language stands for one of them.
[[nodiscard]] std::optional<std::string_view> boolean_meant(std::string_view text);
// Without typographic quotation marks around it.
[[nodiscard]] std::string_view without_marks(std::string_view text);
// The text as a TOML string. Typographic quotation marks around it are removed.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace rdtd
