// Globs as the policy language has them: `*`, `?`, `[...]` and `\` of glob(7). In a path glob `*`
// and `?` stay within one component and a component `**` stands for any number of components, none
// included.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

// What is wrong with a glob, or nothing.
[[nodiscard]] std::optional<std::string> glob_problem(std::string_view pattern);
// Whether it has no special character at all and so matches just itself.
[[nodiscard]] bool glob_is_literal(std::string_view pattern);
// The part before the first special character: whatever matches begins with it.
[[nodiscard]] std::string_view glob_prefix(std::string_view pattern);

[[nodiscard]] bool glob_match(const std::string& pattern, const std::string& text);
[[nodiscard]] bool path_glob_match(std::string_view pattern, std::string_view path);

}  // namespace rdtd
