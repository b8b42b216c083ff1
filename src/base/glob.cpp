#include "rdtd/base/glob.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace rdtd {

namespace {

constexpr std::string_view special = "*?[\\";

// The first component and what is behind its slash.
std::pair<std::string_view, std::optional<std::string_view>> split_component(
    std::string_view path) {
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {path, std::nullopt};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

std::optional<std::string> glob_problem(std::string_view pattern) {
  for (size_t i = 0; i < pattern.size(); i++) {
    if (pattern[i] == '\\') {
      if (++i == pattern.size()) return "it ends in a lone '\\'";
      continue;  // what it escapes is itself
    }
    if (pattern[i] != '[') continue;
    // A ']' right behind the '[' (or its '!') is a member, not the end.
    size_t end = i + 1;
    if (end < pattern.size() && (pattern[end] == '!' || pattern[end] == '^')) end++;
    end = pattern.find(']', std::min(end + 1, pattern.size()));
    if (end == std::string_view::npos) return "its '[' has no ']'";
    i = end;
  }
  return std::nullopt;
}

bool glob_is_literal(std::string_view pattern) {
  return pattern.find_first_of(special) == std::string_view::npos;
}

std::string_view glob_prefix(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of(special));
}

bool glob_match(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool path_glob_match(std::string_view pattern, std::string_view path) {
  const auto [pattern_head, pattern_rest] = split_component(pattern);
  const auto [path_head, path_rest] = split_component(path);
  if (pattern_head == "**") {
    if (!pattern_rest) return true;
    return path_glob_match(*pattern_rest, path) ||
           (path_rest && path_glob_match(pattern, *path_rest));
  }
  if (!glob_match(std::string(pattern_head), std::string(path_head))) return false;
  if (!pattern_rest && !path_rest) return true;
  if (pattern_rest && !path_rest) return *pattern_rest == "**";
  return pattern_rest && path_glob_match(*pattern_rest, *path_rest);
}

}  // namespace rdtd
