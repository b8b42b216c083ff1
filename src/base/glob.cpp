#include "rdtd/base/glob.hpp"

#include <algorithm>
#include <cstring>

#include "glob_element.hpp"
#include "glob_scan.hpp"

namespace rdtd {

namespace {

constexpr std::string_view special = "*?[\\";
constexpr size_t max_double_stars = 2;

thread_local uint64_t steps = 0;

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

bool has_wildcard(std::string_view pattern) {
  return pattern.find_first_of("*?[") != std::string_view::npos;
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

size_t glob_least_size(std::string_view pattern) {
  size_t size = 0;
  while (!pattern.empty()) {
    const bool is_star = pattern.front() == '*';
    if (!is_star) size++;
    pattern.remove_prefix(is_star ? 1 : match_element(pattern, " ").length);
  }
  return size;
}

namespace {

// The next place where the literal stands. A plain search skips what cannot match: texts may be
// long, and their owner chooses them.
std::optional<size_t> find_text(std::string_view text, size_t begin, std::string_view literal,
                                uint64_t& compared) {
  if (text.substr(begin).starts_with(literal)) return begin;
  const std::string_view rest = text.substr(begin);
  const void* found = ::memmem(rest.data(), rest.size(), literal.data(), literal.size());
  const size_t skipped = found == nullptr
                             ? rest.size()
                             : static_cast<size_t>(static_cast<const char*>(found) - rest.data());
  compared += 1 + skipped;
  return found == nullptr ? std::nullopt : std::optional(begin + skipped);
}

// The part of a pattern up to its next '*'.
std::string_view part_before_star(std::string_view pattern) {
  size_t size = 0;
  while (size < pattern.size() && pattern[size] != '*')
    size += match_element(pattern.substr(size), "a").length;
  return pattern.substr(0, size);
}

}  // namespace

// The earliest match of what lies between two '*' leaves the most text for the rest, so only the
// last '*' is ever extended.
bool glob_match(std::string_view pattern, std::string_view text) {
  constexpr uint64_t worth_a_scan = 1024;
  constexpr size_t none = std::string_view::npos;
  size_t p = 0;
  size_t t = 0;
  size_t after_star = none;
  size_t retry = 0;          // the text that the last '*' matches ends here
  std::string_view literal;  // what the pattern has behind that '*', up to its next special
  uint64_t elements = 0;     // compared at one place each
  uint64_t compared = 1;     // beside these
  bool matches = true;
  while (p < pattern.size() || t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      if (p == pattern.size()) break;
      literal = glob_prefix(pattern.substr(p));
    } else {
      // The text is too short, and even more so if the '*' matches more of it.
      matches = p == pattern.size() || t < text.size();
      if (!matches) break;
      const Element element =
          p < pattern.size() ? match_element(pattern.substr(p), text.substr(t)) : Element{};
      elements += element.length;
      if (element.matches) {
        p += element.length;
        t += element.taken;
        continue;
      }
      matches = after_star != none;
      if (!matches) break;
      p = after_star;
      t = retry + take_character(text.substr(retry)).length;
      const std::string_view part =
          elements > worth_a_scan ? part_before_star(pattern.substr(p)) : std::string_view();
      if (const auto scan = scan_glob(part, text.substr(t), p + part.size() == pattern.size())) {
        compared += scan->steps;
        matches = scan->end.has_value();
        if (!matches) break;
        p += part.size();
        t += *scan->end;
        continue;
      }
    }
    const auto found = find_text(text, t, literal, compared);
    matches = found.has_value();
    if (!matches) break;
    retry = t = *found;
  }
  steps += compared + elements;
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
