#include "rdtd/base/glob.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr std::string_view special = "*?[\\";
constexpr size_t max_double_stars = 2;

thread_local uint64_t steps = 0;

struct OneCharacter {
  char32_t code;
  size_t length;  // bytes
};

// The first character of a text. A byte that is not part of one is one by itself, like no other.
OneCharacter take_character(std::string_view text) {
  constexpr char32_t beyond_unicode = 0x110000;
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x80) return {byte, 1};
  const Character found = first_character(text);
  return found.length > 0 ? OneCharacter{found.code, found.length}
                          : OneCharacter{beyond_unicode + byte, 1};
}

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

// The character at `at`, or the one that a '\' there escapes; moves `at` behind it.
char32_t take_member(std::string_view pattern, size_t& at) {
  if (pattern[at] == '\\' && at + 1 < pattern.size()) at++;
  const OneCharacter member = take_character(pattern.substr(at));
  at += member.length;
  return member.code;
}

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

// Any element but '*'. A '[' without its ']' stands for itself, as in fnmatch(3).
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

// Removes the first component of "/A/B", with its slash, and returns it.
std::string_view pop_component(std::string_view& path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view first = path.substr(0, path.find('/'));
  path.remove_prefix(first.size());
  return first;
}

// Where the first component `**` of "/A/**/B" begins, with its slash; else the end.
size_t find_double_star(std::string_view pattern) {
  for (size_t at = 0; (at = pattern.find("/**", at)) != std::string_view::npos; at++)
    if (at + 3 == pattern.size() || pattern[at + 3] == '/') return at;
  return pattern.size();
}

// Components of a path glob without `**` between them.
struct Segment {
  std::string_view components;     // "/A/B"
  bool after_double_star = false;  // matches at any place, not only where the previous one ends
};

Segment pop_segment(std::string_view& pattern) {
  Segment out;
  if (pattern == "**" || pattern.starts_with("**/")) {
    out.after_double_star = true;
    pattern.remove_prefix(2);
  }
  while (!pattern.empty() && find_double_star(pattern) == 0) {
    out.after_double_star = true;
    pattern.remove_prefix(3);
  }
  out.components = pattern.substr(0, find_double_star(pattern));
  pattern.remove_prefix(out.components.size());
  return out;
}

enum class SegmentMatch { yes, no, path_too_short };

// Compares a segment with the first components of the path, and removes them if they match.
SegmentMatch match_segment(std::string_view components, std::string_view& path) {
  std::string_view rest = path;
  while (!components.empty()) {
    if (rest.empty()) return SegmentMatch::path_too_short;
    if (!glob_match(pop_component(components), pop_component(rest))) return SegmentMatch::no;
  }
  path = rest;
  return SegmentMatch::yes;
}

// The same as find_segment for components that are literal: a plain search for text, since most
// are.
bool find_literal_segment(std::string_view components, std::string_view& path) {
  steps += path.size();
  while (!path.empty()) {
    const void* found = ::memmem(path.data(), path.size(), components.data(), components.size());
    if (found == nullptr) return false;
    const auto at = static_cast<size_t>(static_cast<const char*>(found) - path.data());
    const size_t end = at + components.size();
    const bool whole = end == path.size() || path[end] == '/';
    path.remove_prefix(whole ? end : at + 1);
    if (whole) return true;
  }
  return false;
}

// Removes everything up to the end of the first place where the segment matches.
bool find_segment(std::string_view components, std::string_view& path) {
  if (glob_is_literal(components)) return find_literal_segment(components, path);
  while (true) {
    const SegmentMatch match = match_segment(components, path);
    if (match != SegmentMatch::no) return match == SegmentMatch::yes;
    pop_component(path);
  }
}

// As many components from the end of the path as `components` has, or nothing if there are fewer.
std::optional<std::string_view> last_components(std::string_view path,
                                                std::string_view components) {
  size_t begin = path.size();
  for (auto count = std::ranges::count(components, '/'); count > 0; count--) {
    if (begin == 0) return std::nullopt;
    begin = path.rfind('/', begin - 1);
  }
  return path.substr(begin);
}

// The earliest place of each segment leaves the most for those after it, so no place is tried
// again. The last segment lies at the end of the path, or, if the match may be that of an ancestor,
// at the earliest place too.
bool match_path(std::string_view pattern, std::string_view path, bool ancestors) {
  if (!path.starts_with('/')) return false;
  if (path == "/") path = {};
  if (pattern == "/") pattern = {};
  while (true) {
    const Segment segment = pop_segment(pattern);
    if (segment.components.empty()) return segment.after_double_star || ancestors || path.empty();
    const bool last = pattern.empty();
    if (!segment.after_double_star) {
      if (match_segment(segment.components, path) != SegmentMatch::yes) return false;
    } else if (last && !ancestors) {
      auto tail = last_components(path, segment.components);
      return tail && match_segment(segment.components, *tail) == SegmentMatch::yes;
    } else if (!find_segment(segment.components, path)) {
      return false;
    }
    if (last) return ancestors || path.empty();
  }
}

}  // namespace

std::optional<std::string> glob_problem(std::string_view pattern) {
  while (!pattern.empty()) {
    if (pattern == "\\") return "it ends in a lone '\\'";
    const Bracket bracket = pattern.front() == '['
                                ? match_bracket(pattern, 0)
                                : Bracket{.element = match_element(pattern, "a")};
    if (bracket.element.length == 0) return "its '[' has no ']'";
    if (!bracket.problem.empty()) return std::string(bracket.problem);
    pattern.remove_prefix(bracket.element.length);
  }
  return std::nullopt;
}

std::optional<std::string> path_glob_problem(std::string_view pattern) {
  size_t double_stars = 0;
  for (std::string_view rest = pattern; !rest.empty();) {
    const Segment segment = pop_segment(rest);
    if (segment.after_double_star && ++double_stars > max_double_stars)
      return "it has more than two '**'";
    for (std::string_view components = segment.components; !components.empty();)
      if (auto problem = glob_problem(pop_component(components))) return problem;
  }
  return std::nullopt;
}

bool glob_is_literal(std::string_view pattern) {
  return pattern.find_first_of(special) == std::string_view::npos;
}

std::optional<std::string> glob_only_match(std::string_view pattern) {
  std::string out;
  for (size_t at = 0; at < pattern.size(); at++) {
    const bool escape = pattern[at] == '\\' && at + 1 < pattern.size();
    if (!escape && special.contains(pattern[at])) return std::nullopt;
    out += pattern[escape ? ++at : at];
  }
  return out;
}

std::string_view glob_prefix(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of(special));
}

// The earliest match of what lies between two '*' leaves the most text for the rest, so only the
// last '*' is ever extended.
size_t glob_least_size(std::string_view pattern) {
  size_t size = 0;
  while (!pattern.empty()) {
    const bool is_star = pattern.front() == '*';
    if (!is_star) size++;
    pattern.remove_prefix(is_star ? 1 : match_element(pattern, " ").length);
  }
  return size;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  constexpr size_t none = std::string_view::npos;
  size_t p = 0;
  size_t t = 0;
  size_t after_star = none;
  size_t retry = 0;          // the text that the last '*' matches ends here
  std::string_view literal;  // what the pattern has behind that '*', up to its next special
  uint64_t compared = 1;
  bool matches = true;
  // A plain search skips what cannot match: texts may be long, and their owner chooses them.
  const auto skip_to_literal = [&] {
    t = retry;
    if (text.substr(retry).starts_with(literal)) return true;
    const void* found =
        ::memmem(text.data() + retry, text.size() - retry, literal.data(), literal.size());
    const size_t at = found == nullptr
                          ? text.size()
                          : static_cast<size_t>(static_cast<const char*>(found) - text.data());
    compared += 1 + at - retry;
    retry = t = at;
    return found != nullptr;
  };
  while (p < pattern.size() || t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      retry = t;
      if (p == pattern.size()) break;
      literal = glob_prefix(pattern.substr(p));
      matches = skip_to_literal();
      if (!matches) break;
      continue;
    }
    if (p < pattern.size()) {
      // The text is too short, and even more so if the '*' matches more of it.
      matches = t < text.size();
      if (!matches) break;
      const Element element = match_element(pattern.substr(p), text.substr(t));
      compared += element.length;
      if (element.matches) {
        p += element.length;
        t += element.taken;
        continue;
      }
    }
    matches = after_star != none;
    if (!matches) break;
    p = after_star;
    retry += take_character(text.substr(retry)).length;
    matches = skip_to_literal();
    if (!matches) break;
  }
  steps += compared;
  return matches;
}

bool path_glob_match(std::string_view pattern, std::string_view path) {
  return match_path(pattern, path, false);
}

bool path_glob_match_ancestor(std::string_view pattern, std::string_view path) {
  return match_path(pattern, path, true);
}

uint64_t glob_steps() { return steps; }

}  // namespace rdtd
