#include "rdtd/base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>

namespace rdtd {

std::optional<double> parse_decimal(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(value) && value >= 0 && !text.starts_with('-')
             ? std::optional(value)
             : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

bool is_invisible(std::string_view character) {
  return character == "\u200b" || character == "\u200c" || character == "\u200d" ||
         character == "\u2060" || character == "\ufeff";
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

namespace {

// How many letters have to be inserted, removed, replaced, or swapped with their neighbour to turn
// `a` into `b` (optimal string alignment), three rows at a time.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (size_t i = 0; i < a.size(); i++) {
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); j++) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last.back();
}

// Characters that change how a terminal or an editor shows the text around them: C0 and C1
// controls, line and paragraph separators, and the controls of bidirectional text.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || c == 0x2028 ||
         c == 0x2029 || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

Character first_character(std::string_view text) {
  constexpr std::array<char32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text.front());
  const size_t length = first < 0x80   ? 1
                        : first < 0xc0 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf8 ? 4
                                       : 0;
  if (length == 0 || length > text.size()) return {};
  char32_t code = length == 1 ? first : first & (0x7fU >> length);
  for (size_t i = 1; i < length; i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    code = code << 6 | (byte & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool noncharacter = (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code < 0xfdf0);
  if (code < smallest.at(length) || surrogate || noncharacter || code > 0x10ffff) return {};
  return {code, length};
}

namespace {

// `kept`: the control characters that stay.
std::string without_controls(std::string_view text, std::string_view kept) {
  std::string out;
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    const bool bad = length == 0 || is_control(code);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    if (!bad || kept.contains(text.front()))
      out += character;
    else
      out += text.front() == '\t' ? ' ' : '?';
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = first_character(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string counted(uint64_t number, std::string_view one, std::string_view many) {
  if (number == 1) return "1 " + std::string(one);
  return std::to_string(number) + " " + (many.empty() ? std::string(one) + "s" : std::string(many));
}

std::string printable(std::string_view text) { return without_controls(text, ""); }

std::string printable_lines(std::string_view text) { return without_controls(text, "\n\t"); }

std::string with_short_values(std::string_view text) {
  constexpr size_t longest = 64, longest_path = 255;
  const auto in_word = [&](size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  std::string out;
  size_t done = 0;
  for (size_t begin = text.find('\''); begin != std::string_view::npos;
       begin = text.find('\'', begin + 1)) {
    if (begin > 0 && in_word(begin - 1)) continue;  // "rdtd's"
    size_t end = text.find('\'', begin + 1);
    while (end != std::string_view::npos && in_word(end + 1)) end = text.find('\'', end + 1);
    if (end == std::string_view::npos) break;
    const std::string_view value = text.substr(begin + 1, end - begin - 1);
    size_t kept = value.contains('/') ? longest_path : longest;
    begin = end;
    if (value.size() <= kept) continue;
    while ((static_cast<unsigned char>(value[kept]) & 0xc0) == 0x80) kept--;
    out += text.substr(done, static_cast<size_t>(value.data() - text.data()) + kept - done);
    out += "...";
    done = end;
  }
  return out += text.substr(done);
}

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
  constexpr size_t longest = 64;
  if (name.size() > longest) return std::nullopt;
  const size_t allowed = std::max<size_t>(1, (name.size() + 1) / 3);
  std::optional<std::string> nearest;
  size_t fewest = allowed + 1;
  for (const std::string& candidate : candidates) {
    const size_t shorter = std::min(name.size(), candidate.size());
    if (std::max(name.size(), candidate.size()) - shorter >= fewest) continue;
    const size_t distance = edits(name, candidate);
    if (distance < fewest && distance < candidate.size()) {
      fewest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view meant) {
  return "did you mean '" + std::string(meant) + "'?";
}

std::string nearest_question(std::string_view name, std::span<const std::string> candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest ? "; " + did_you_mean(*nearest) : "";
}

}  // namespace rdtd
