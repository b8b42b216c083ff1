// The elements of a glob, one by one: a character, `?` or `[...]`.
#pragma once

#include <cstddef>
#include <string_view>

namespace rdtd {

struct OneCharacter {
  char32_t code;
  size_t length;  // bytes
};

// The first character of a text. A byte that is not part of one is one by itself, like no other.
[[nodiscard]] OneCharacter take_character(std::string_view text);

// The element at the beginning of a pattern, compared with the beginning of a text.
struct Element {
  size_t length = 0;  // 0: a '[' without its ']'
  bool matches = false;
  size_t taken = 1;  // bytes of the text that it matches
};

struct Bracket {
  Element element;
  std::string_view problem = {};
};

[[nodiscard]] Bracket match_bracket(std::string_view pattern, char32_t c);
// Any element but '*'. A '[' without its ']' stands for itself, as in fnmatch(3).
[[nodiscard]] Element match_element(std::string_view pattern, std::string_view text);

}  // namespace rdtd
