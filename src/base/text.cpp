#include "rdtd/base/text.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace rdtd {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
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

// Levenshtein distance, one row at a time.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); j++) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// How many bytes the UTF-8 sequence at the front has; 0 where there is none, or one that D-Bus
// refuses: a form too long for its character, half of a surrogate pair, a noncharacter, beyond
// U+10FFFF.
size_t sequence_length(std::string_view text) {
  constexpr std::array<char32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text.front());
  const size_t length = first < 0x80   ? 1
                        : first < 0xc0 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf8 ? 4
                                       : 0;
  if (length > text.size()) return 0;
  char32_t character = length == 1 ? first : first & (0x7fU >> length);
  for (size_t i = 1; i < length; i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    character = character << 6 | (byte & 0x3fU);
  }
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  const bool noncharacter =
      (character & 0xfffe) == 0xfffe || (character >= 0xfdd0 && character < 0xfdf0);
  return character < smallest.at(length) || surrogate || noncharacter || character > 0x10ffff
             ? 0
             : length;
}

// C0, DEL and C1, which starts an escape sequence in one character (U+009B).
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return character.size() == 2 && first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

// `kept`: the control characters that stay.
std::string without_controls(std::string_view text, std::string_view kept) {
  std::string out;
  while (!text.empty()) {
    const size_t length = std::max<size_t>(sequence_length(text), 1);
    const std::string_view character = text.substr(0, length);
    const bool bad = sequence_length(text) == 0 || is_control(character);
    if (!bad || kept.contains(text.front()))
      out += character;
    else
      out += text.front() == '\t' ? ' ' : '?';
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) { return without_controls(text, ""); }

std::string printable_lines(std::string_view text) { return without_controls(text, "\n\t"); }

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
  const size_t allowed = std::max<size_t>(1, (name.size() + 1) / 3);
  std::optional<std::string> nearest;
  size_t fewest = allowed + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edits(name, candidate);
    if (distance < fewest && distance < candidate.size()) {
      fewest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace rdtd
