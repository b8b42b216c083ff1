// Characters that are not what they look like: invisible ones, and letters of other alphabets.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

// The ASCII character that this one looks like: 'e' for the Cyrillic U+0435; '\0' for none.
[[nodiscard]] char looks_like(char32_t code);

// Of the usual width, U+00A0, or narrow, U+202F.
[[nodiscard]] bool is_no_break_space(std::string_view character);
// The place of the first one, or npos.
[[nodiscard]] size_t find_no_break_space(std::string_view text);

// The name of a character in a message: "'x'", "U+200B, which is invisible", "U+0435, which looks
// like 'e'". The text must not be empty; its first character counts.
[[nodiscard]] std::string character_text(std::string_view text);

// The text with "<U+200B>" for each character that a screen does not show.
[[nodiscard]] std::string with_all_shown(std::string_view text);

struct Disguise {
  std::string character;  // as character_text() has it
  std::string meant;      // the whole text without such characters
};

// The first character that no one meant to write: one that is invisible, or that looks like a Latin
// letter and stands next to one. With `controls`, control characters too.
[[nodiscard]] std::optional<Disguise> find_disguise(std::string_view text, bool controls);

}  // namespace rdtd
