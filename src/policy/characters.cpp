#include "characters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// French typography has it between a number and its unit.
constexpr std::string_view narrow_no_break_space = "\u202f";

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string code_point(char32_t code) {
  return fmt::format("U+{:04X}", static_cast<uint32_t>(code));
}

// Reads the text from front to back. A byte that is no UTF-8 is a character of code 0xfffd.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool next() {
    if (at_ + length_ >= text_.size()) return false;
    at_ += length_;
    const Character found = first_character(text_.substr(at_));
    length_ = std::max<size_t>(found.length, 1);
    code_ = found.length == 0 ? 0xfffd : found.code;
    return true;
  }
  [[nodiscard]] char32_t code() const { return code_; }
  [[nodiscard]] std::string_view character() const { return text_.substr(at_, length_); }
  [[nodiscard]] bool is_at_letter() const {
    const size_t end = at_ + length_;
    return (at_ > 0 && is_letter(text_[at_ - 1])) || (end < text_.size() && is_letter(text_[end]));
  }

 private:
  std::string_view text_;
  size_t at_ = 0, length_ = 0;
  char32_t code_ = 0;
};

}  // namespace

bool is_no_break_space(std::string_view character) {
  return character == no_break_space || character == narrow_no_break_space;
}

size_t find_no_break_space(std::string_view text) {
  return std::min(text.find(no_break_space), text.find(narrow_no_break_space));
}

char looks_like(char32_t code) {
  constexpr char32_t end_of_ascii = 0x80;
  if (code < end_of_ascii) return '\0';
  using Pair = std::pair<char32_t, char>;
  // Cyrillic and Greek letters, and the dashes that a word processor makes of "-".
  constexpr auto pairs = std::to_array<Pair>(
      {{0x391, 'A'}, {0x392, 'B'}, {0x395, 'E'},  {0x396, 'Z'},  {0x397, 'H'},  {0x399, 'I'},
       {0x39a, 'K'}, {0x39c, 'M'}, {0x39d, 'N'},  {0x39f, 'O'},  {0x3a1, 'P'},  {0x3a4, 'T'},
       {0x3a5, 'Y'}, {0x3a7, 'X'}, {0x3bd, 'v'},  {0x3bf, 'o'},  {0x405, 'S'},  {0x406, 'I'},
       {0x408, 'J'}, {0x410, 'A'}, {0x412, 'B'},  {0x415, 'E'},  {0x41a, 'K'},  {0x41c, 'M'},
       {0x41d, 'H'}, {0x41e, 'O'}, {0x420, 'P'},  {0x421, 'C'},  {0x422, 'T'},  {0x425, 'X'},
       {0x430, 'a'}, {0x435, 'e'}, {0x43e, 'o'},  {0x440, 'p'},  {0x441, 'c'},  {0x443, 'y'},
       {0x445, 'x'}, {0x455, 's'}, {0x456, 'i'},  {0x458, 'j'},  {0x4bb, 'h'},  {0x501, 'd'},
       {0x51b, 'q'}, {0x51d, 'w'}, {0x2010, '-'}, {0x2011, '-'}, {0x2012, '-'}, {0x2013, '-'},
       {0x2212, '-'}});
  constexpr char32_t first_wide = 0xff01, last_wide = 0xff5e;
  if (code >= first_wide && code <= last_wide) return static_cast<char>(code - first_wide + '!');
  const auto* const found = std::ranges::find(pairs, code, &Pair::first);
  return found == pairs.end() ? '\0' : found->second;
}

std::string character_text(std::string_view text) {
  const Character first = first_character(text);
  const std::string_view character = text.substr(0, std::max<size_t>(1, first.length));
  if (first.length == 0) return "a byte that is no UTF-8";
  if (is_control(first.code)) return code_point(first.code) + ", a control character";
  if (is_no_break_space(character)) return code_point(first.code) + ", a no-break space";
  if (is_invisible(character)) return code_point(first.code) + ", which is invisible";
  if (const char latin = looks_like(first.code); latin != '\0')
    return fmt::format("{}, which looks like '{}'", code_point(first.code), latin);
  return fmt::format("'{}'", character);
}

std::string with_all_shown(std::string_view text) {
  std::string out;
  for (Reader reader(text); reader.next();)
    if (is_control(reader.code()) || is_invisible(reader.character()))
      out += fmt::format("<{}>", code_point(reader.code()));
    else
      out += reader.character();
  return out;
}

std::optional<Disguise> find_disguise(std::string_view text, bool controls) {
  Disguise out;
  for (Reader reader(text); reader.next();) {
    const char latin = looks_like(reader.code());
    const bool removed =
        is_invisible(reader.character()) || (controls && is_control(reader.code()));
    const bool blank = is_no_break_space(reader.character());
    const bool replaced = blank || (latin != '\0' && reader.is_at_letter());
    if ((removed || replaced) && out.character.empty())
      out.character = character_text(reader.character());
    if (replaced)
      out.meant += blank ? ' ' : latin;
    else if (!removed)
      out.meant += reader.character();
  }
  if (out.character.empty()) return std::nullopt;
  return out;
}

}  // namespace rdtd
