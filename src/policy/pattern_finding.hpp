// Findings about a pattern that can never match, or that may not match what it was meant for.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "plain_value.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd::pattern {

struct Finding {
  std::string message;
  std::string hint = {};
  bool certain = true;  // an error, else a warning
};

using Check = std::optional<Finding>;

constexpr std::string_view every_process = "name = \"*\" holds for every process";
constexpr std::string_view only_instances = "a template has no processes, only its instances have";
constexpr std::string_view escaped_machine =
    "systemd writes the '-' in the name of a machine as '\\x2d'";
constexpr std::string_view escaped_template =
    "systemd writes the '-' in the name of a template as '\\x2d' in its slice";
constexpr std::string_view is_root_slice = "the root slice has no cgroup, and holds every process";

// Its values are names of threads, which the kernel cuts.
[[nodiscard]] inline bool is_comm(ConditionKind kind) {
  return kind == ConditionKind::name || kind == ConditionKind::thread;
}

// Its values are names or numbers, and no globs.
[[nodiscard]] inline bool is_identity(ConditionKind kind) {
  return kind == ConditionKind::user || kind == ConditionKind::user_group;
}

[[nodiscard]] inline Finding never(std::string_view pattern, std::string_view why,
                                   std::string hint = {}) {
  return {fmt::format("'{}' can never match: {}", pattern, why), std::move(hint)};
}

[[nodiscard]] inline Finding doubtful(std::string_view pattern, std::string_view why,
                                      std::string hint) {
  return {fmt::format("'{}' may not match: {}", pattern, why), std::move(hint), false};
}

// Of a pattern that matches something else if it matches at all, which is not `certain` to fail.
[[nodiscard]] inline Finding misunderstood(std::string_view pattern, std::string_view why,
                                           std::string hint, bool certain) {
  if (certain) return never(pattern, why, std::move(hint));
  return {fmt::format("'{}' may not match what it was meant for: {}", pattern, why),
          std::move(hint), false};
}

[[nodiscard]] inline std::string write(std::string_view pattern) {
  return "write " + quoted(pattern);
}

// Nothing of a pattern that names nothing: "*.service", "/**", "app-*".
[[nodiscard]] inline std::string write_what_is_named(std::string_view pattern) {
  std::string_view name = pattern;
  if (name.starts_with("app-")) name.remove_prefix(4);
  for (const std::string_view type : {".service", ".scope", ".slice"})
    if (name.ends_with(type)) name.remove_suffix(type.size());
  return name.find_first_not_of("*?/.-@") == std::string_view::npos ? "" : write(pattern);
}

[[nodiscard]] inline std::string_view last_component(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

}  // namespace rdtd::pattern
