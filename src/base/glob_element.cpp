#include "glob_element.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd {

OneCharacter take_character(std::string_view text) {
  constexpr char32_t beyond_unicode = 0x110000;
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x80) return {byte, 1};
  const Character found = first_character(text);
  return found.length > 0 ? OneCharacter{found.code, found.length}
                          : OneCharacter{beyond_unicode + byte, 1};
}

namespace {

// Whether a character belongs to a class of the C locale; nothing for an unknown class.
std::optional<bool> in_class(std::string_view name, char32_t c) {
  const bool upper = c >= 'A' && c <= 'Z';
  const bool lower = c >= 'a' && c <= 'z';
  const bool digit = c >= '0' && c <= '9';
  const bool alnum = upper || lower || digit;
  const bool graph = c > ' ' && c < 0x7f;
  const std::array<std::pair<std::string_view, bool>, 12> classes = {{
      {"alnum", alnum},
      {"alpha", upper || lower},
      {"blank", c == ' ' || c == '\t'},
      {"cntrl", c < ' ' || c == 0x7f},
      {"digit", digit},
      {"graph", graph},
      {"lower", lower},
      {"print", graph || c == ' '},
      {"punct", graph && !alnum},
      {"space", c == ' ' || (c >= '\t' && c <= '\r')},
      {"upper", upper},
      {"xdigit", digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')},
  }};
  const auto* const found = std::ranges::find(classes, name, &decltype(classes)::value_type::first);
  if (found == classes.end()) return std::nullopt;
  return found->second;
}

// NAME if the text begins with "[:NAME:]".
std::optional<std::string_view> class_name(std::string_view text) {
  if (!text.starts_with("[:")) return std::nullopt;
  text.remove_prefix(2);
  const auto end = std::ranges::find_if(text, [](char c) { return c < 'a' || c > 'z'; });
  const auto name = text.substr(0, static_cast<size_t>(end - text.begin()));
  if (!text.substr(name.size()).starts_with(":]")) return std::nullopt;
  return name;
}

// The character at `at`, or the one that a '\' there escapes; moves `at` behind it.
char32_t take_member(std::string_view pattern, size_t& at) {
  if (pattern[at] == '\\' && at + 1 < pattern.size()) at++;
  const OneCharacter member = take_character(pattern.substr(at));
  at += member.length;
  return member.code;
}

}  // namespace

// A ']' directly after the '[', or after its '!' or '^', is a member and not the end.
Bracket match_bracket(std::string_view pattern, char32_t c) {
  size_t at = 1;
  const bool negated = pattern.size() > at && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) at++;
  Bracket out;
  bool member = false;
  for (const size_t first = at; at < pattern.size();) {
    if (pattern[at] == ']' && at != first) {
      out.element = {at + 1, member != negated};
      return out;
    }
    const std::string_view rest = pattern.substr(at);
    if (rest.starts_with("[.") || rest.starts_with("[="))
      out.problem = "it contains '[.' or '[=', which are not supported";
    if (const auto name = class_name(rest)) {
      const auto belongs = in_class(*name, c);
      if (!belongs) out.problem = "it contains an unknown character class";
      member |= belongs.value_or(false);
      at += name->size() + 4;
      continue;
    }
    const char32_t low = take_member(pattern, at);
    char32_t high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']')
      high = take_member(pattern, ++at);
    member |= low <= c && c <= high;
  }
  return {};
}

Element match_element(std::string_view pattern, std::string_view text) {
  if (pattern.front() == '?') return {1, true, take_character(text).length};
  if (pattern.front() == '[') {
    const OneCharacter character = take_character(text);
    Element bracket = match_bracket(pattern, character.code).element;
    bracket.taken = character.length;
    if (bracket.length > 0) return bracket;
  }
  const size_t escape = pattern.front() == '\\' && pattern.size() > 1 ? 1 : 0;
  return {escape + 1, pattern[escape] == text.front()};
}

}  // namespace rdtd
