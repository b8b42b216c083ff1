// Text helpers that several modules need: checked integers, splitting, the nearest of several
// names.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

// The whole of `text` as a number: no sign, no space, no rest. Nothing where it is not one or does
// not fit T.
template <std::unsigned_integral T>
[[nodiscard]] std::optional<T> parse_unsigned(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The parts between the separators; an empty text has one empty part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);
[[nodiscard]] bool is_utf8(std::string_view text);
// The text with a '?' for each byte that is not UTF-8 and each control character, C1 included,
// since these can drive a terminal; and with a space for a tab.
[[nodiscard]] std::string printable(std::string_view text);
// The same for a text of several lines: line breaks and tabs stay.
[[nodiscard]] std::string printable_lines(std::string_view text);
// The candidate with the fewest edits, where so few that the name is likely a slip of it.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      std::span<const std::string> candidates);

}  // namespace rdtd
