// Text helpers that several modules need: checked integers, splitting, UTF-8, the nearest of
// several names and the question whether it was meant.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

// The number that all of `text` is, without sign or space; nothing if it is none or does not fit T.
template <std::unsigned_integral T>
[[nodiscard]] std::optional<T> parse_unsigned(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The number that all of `text` is, such as "1.5", without sign, exponent or space.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);

// U+00A0, which looks like a blank.
inline constexpr std::string_view no_break_space = "\u00a0";

// The parts between the separators; an empty text has one empty part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);
// Whether it consists of one or more digits.
[[nodiscard]] bool is_digits(std::string_view text);
[[nodiscard]] std::string_view trim(std::string_view text);
// Whether a UTF-8 character takes no space on a screen and comes along when a text is copied from a
// page: U+200B to U+200D, U+2060, U+FEFF.
[[nodiscard]] bool is_invisible(std::string_view character);
// With small ASCII letters; other characters stay.
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);
// "1 group", "2 groups". `many` is for words that do not just get an s.
[[nodiscard]] std::string counted(uint64_t number, std::string_view one,
                                  std::string_view many = {});
// The first character of a text that is not empty. Its length is 0 bytes if the text does not begin
// with UTF-8 that D-Bus accepts: a form too long for its character, half of a surrogate pair, a
// noncharacter, or a character beyond U+10FFFF.
struct Character {
  char32_t code = 0;
  size_t length = 0;
};
[[nodiscard]] Character first_character(std::string_view text);
// The text with a space for each tab, and a '?' for each byte that is not UTF-8 and each character
// that could drive a terminal or reorder the text.
[[nodiscard]] std::string printable(std::string_view text);
// The same for a text of several lines: line breaks and tabs stay.
[[nodiscard]] std::string printable_lines(std::string_view text);
// The text of a message, in which "..." stands for the rest of each long value in single quotes:
// from the 65th byte on, and of a path from the 256th.
[[nodiscard]] std::string with_short_values(std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text);
// The candidate that takes the fewest edits to reach, if they are so few that the name is probably
// a slip of it. Takes time in proportion to the number of candidates, whatever their length.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      std::span<const std::string> candidates);
// "did you mean 'x'?"
[[nodiscard]] std::string did_you_mean(std::string_view meant);
// For the end of a sentence about a name that there is not: "; did you mean 'x'?", or nothing if no
// candidate is near.
[[nodiscard]] std::string nearest_question(std::string_view name,
                                           std::span<const std::string> candidates);

}  // namespace rdtd
