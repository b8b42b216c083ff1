// Globs: the first line of the input is the pattern, the remainder the text to match.
#include "fuzz/input.hpp"
#include "rdtd/base/glob.hpp"

using namespace rdtd;

namespace {

uint64_t steps_of(const auto& match) {
  const uint64_t before = glob_steps();
  match();
  return glob_steps() - before;
}

void check_glob(std::string_view pattern, std::string_view text) {
  bool matches = false;
  const uint64_t steps = steps_of([&] { matches = glob_match(pattern, text); });
  fuzz::require(steps <= 4 * (pattern.size() + 1) * (text.size() + 1),
                "a match costs at most the size of the pattern times the size of the text",
                [&] { return std::to_string(steps); });
  if (glob_is_literal(pattern))
    fuzz::require(matches == (pattern == text), "a literal pattern matches only itself");
  fuzz::require(!matches || text.starts_with(glob_prefix(pattern)),
                "every match begins with the prefix of the pattern");
  if (glob_is_literal(pattern))
    fuzz::require(glob_match(pattern, pattern), "a literal pattern matches itself");
}

bool an_ancestor_matches(std::string_view pattern, std::string_view path) {
  if (path_glob_match(pattern, "/") || path_glob_match(pattern, path)) return true;
  for (size_t at = path.find('/', 1); at != std::string_view::npos; at = path.find('/', at + 1))
    if (path_glob_match(pattern, path.substr(0, at))) return true;
  return false;
}

// Whether no component is empty, as in a path that the kernel reports.
bool is_path(std::string_view text) {
  return text == "/" || (text.starts_with('/') && !text.ends_with('/') &&
                         text.find("//") == std::string_view::npos);
}

void check_path_glob(std::string_view pattern, std::string_view path) {
  bool matches = false;
  const uint64_t steps = steps_of([&] { matches = path_glob_match(pattern, path); });
  fuzz::require(steps <= 4 * (pattern.size() + 1) * (path.size() + 1),
                "a match costs at most the size of the pattern times the size of the path",
                [&] { return std::to_string(steps); });
  if (is_path(pattern) && glob_is_literal(pattern))
    fuzz::require(path_glob_match(pattern, pattern), "a literal path matches itself");
  if (is_path(path))
    fuzz::require(path_glob_match_ancestor(pattern, path) == an_ancestor_matches(pattern, path),
                  "an ancestor matches if and only if its path does");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  const std::string_view pattern = fuzz::pop_part(text, "\n");
  if (!glob_problem(pattern)) check_glob(pattern, text);
  if (!path_glob_problem(pattern)) check_path_glob(pattern, text);
  return 0;
}
