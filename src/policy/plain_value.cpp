#include "plain_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

namespace rdtd {

namespace {

constexpr std::string_view digits = "0123456789";

bool is_digit(char c) { return digits.contains(c); }

// Removes `form` from the front of the text, in which 'd' stands for a digit; false if the text
// begins otherwise.
bool take(std::string_view& text, std::string_view form) {
  const auto matches = [](char expected, char c) {
    return expected == 'd' ? is_digit(c) : expected == c;
  };
  if (text.size() < form.size() || !std::ranges::equal(form, text.substr(0, form.size()), matches))
    return false;
  text.remove_prefix(form.size());
  return true;
}

// Digits, with underscores between them.
bool take_digits(std::string_view& text, std::string_view allowed) {
  const size_t end = text.find_first_not_of(std::string(allowed) + '_');
  const std::string_view number = text.substr(0, end);
  text.remove_prefix(number.size());
  return !number.empty() && !number.starts_with('_') && !number.ends_with('_') &&
         !number.contains("__");
}

bool take_time(std::string_view& text) {
  if (!take(text, "dd:dd:dd")) return false;
  if (!take(text, ".")) return true;
  if (!take(text, "d")) return false;
  while (take(text, "d")) continue;
  return true;
}

bool is_date_or_time(std::string_view text) {
  if (!take(text, "dddd-dd-dd")) return take_time(text) && text.empty();
  if (text.empty()) return true;
  if (!take(text, "T") && !take(text, "t") && !take(text, " ")) return false;
  if (!take_time(text)) return false;
  return text.empty() || text == "Z" || text == "z" ||
         ((take(text, "+dd:dd") || take(text, "-dd:dd")) && text.empty());
}

bool is_number(std::string_view text) {
  if (take(text, "0x")) return take_digits(text, "0123456789abcdefABCDEF") && text.empty();
  if (take(text, "0o")) return take_digits(text, "01234567") && text.empty();
  if (take(text, "0b")) return take_digits(text, "01") && text.empty();
  if (!take(text, "+")) take(text, "-");
  if (text == "inf" || text == "nan") return true;
  // TOML has no number with a zero in front.
  if (text.size() > 1 && text[0] == '0' && (is_digit(text[1]) || text[1] == '_')) return false;
  if (!take_digits(text, digits)) return false;
  if (take(text, ".") && !take_digits(text, digits)) return false;
  if (!take(text, "e") && !take(text, "E")) return text.empty();
  if (!take(text, "+")) take(text, "-");
  return take_digits(text, digits) && text.empty();
}

}  // namespace

bool is_plain_value(std::string_view text) {
  return text == "true" || text == "false" || is_number(text) || is_date_or_time(text);
}

bool is_too_large(std::string_view text) {
  std::string number(text);
  std::erase(number, '_');
  if (number.starts_with('+')) number.erase(0, 1);
  int base = 10;
  for (const auto& [prefix, its_base] : {std::pair{"0x", 16}, {"0o", 8}, {"0b", 2}})
    if (number.starts_with(prefix)) base = its_base;
  if (base != 10) number.erase(0, 2);
  int64_t value = 0;
  const char* const all = number.data() + number.size();
  const auto [end, error] = std::from_chars(number.data(), all, value, base);
  return end == all && error == std::errc::result_out_of_range;
}

std::optional<std::string_view> boolean_meant(std::string_view text) {
  for (const std::string_view word : {"yes", "on", "True", "TRUE", "Yes"})
    if (text == word) return "true";
  for (const std::string_view word : {"no", "off", "False", "FALSE", "No"})
    if (text == word) return "false";
  return std::nullopt;
}

std::string_view without_marks(std::string_view text) {
  for (const std::string_view mark : {"\u201c", "\u201d", "\u2018", "\u2019", "\u201e", "\u201a",
                                      "\u00ab", "\u00bb", "\u2033", "\u02ba", "&quot;", "`"}) {
    if (text.starts_with(mark)) text.remove_prefix(mark.size());
    if (text.ends_with(mark)) text.remove_suffix(mark.size());
  }
  return text;
}

std::string quoted(std::string_view text) {
  text = without_marks(text);
  const bool literal = text.find_first_of("\"\\") != std::string_view::npos;
  return literal ? fmt::format("'{}'", text) : fmt::format("\"{}\"", text);
}

}  // namespace rdtd
