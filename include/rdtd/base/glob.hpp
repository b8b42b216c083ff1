// Globs of the policy language: `*`, `?`, `[...]` and `\` as in glob(7) and fnmatch(3), on the
// characters of UTF-8, in every locale; classes such as [:alpha:] have those of ASCII. In a path
// glob, `*` and `?` match within one component, and a component `**` matches any number of
// components, also none. A match costs at most the size of the pattern times the size of the text,
// whatever they contain: unprivileged users choose the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

// Why the text is not a valid glob, or nothing.
[[nodiscard]] std::optional<std::string> glob_problem(std::string_view pattern);
// The same for a path glob. More than two `**` are a problem; consecutive ones count as one.
[[nodiscard]] std::optional<std::string> path_glob_problem(std::string_view pattern);
// Whether there is a character that stands for others: a '\\' alone is none.
[[nodiscard]] bool has_wildcard(std::string_view pattern);
// Whether the glob contains no special character and so matches only itself.
[[nodiscard]] bool glob_is_literal(std::string_view pattern);
// The one text that the glob matches; nothing if there may be several.
[[nodiscard]] std::optional<std::string> glob_only_match(std::string_view pattern);
// The part before the first special character: every match begins with it.
[[nodiscard]] std::string_view glob_prefix(std::string_view pattern);
// How many bytes a text that matches has at least.
[[nodiscard]] size_t glob_least_size(std::string_view pattern);

[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);
// Both match absolute paths only. The pattern begins with '/' or `**`.
[[nodiscard]] bool path_glob_match(std::string_view pattern, std::string_view path);
// Whether the path or one of its ancestors matches, in one pass over the path. "/" is the ancestor
// of every path.
[[nodiscard]] bool path_glob_match_ancestor(std::string_view pattern, std::string_view path);

// Number of pattern bytes that the calling thread has compared so far: tests bound the work with
// it.
[[nodiscard]] uint64_t glob_steps();

}  // namespace rdtd
