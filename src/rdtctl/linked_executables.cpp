#include "linked_executables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "rdtd/base/glob.hpp"

namespace rdtd {

namespace {

// The file that the kernel shows in place of `path`, if it shows another.
std::optional<std::string> behind_link(const std::string& path) {
  std::error_code error;
  const auto file = std::filesystem::canonical(path, error);
  if (error || file == path || !std::filesystem::is_regular_file(file, error) || error)
    return std::nullopt;
  // Of a script, the kernel shows the interpreter.
  std::array<char, 2> begin{};
  std::ifstream(file, std::ios::binary).read(begin.data(), begin.size());
  return begin[0] == '#' && begin[1] == '!' ? std::nullopt : std::optional(file.string());
}

void add(const Condition& condition, std::vector<Diagnostic>& out) {
  std::set<std::string> paths;
  std::vector<std::string_view> globs;
  for (const Located<std::string>& pattern : condition.patterns)
    if (auto path = glob_only_match(pattern.value))
      paths.insert(std::move(*path));
    else
      globs.emplace_back(pattern.value);
  // Each link is compared with all of them; who lists so many means more than single files.
  constexpr size_t most_globs = 100;
  if (globs.size() > most_globs) return;
  for (const Located<std::string>& pattern : condition.patterns) {
    const auto path = glob_only_match(pattern.value);
    const auto file = path ? behind_link(*path) : std::nullopt;
    const auto matches = [&](std::string_view glob) { return path_glob_match(glob, *file); };
    if (!file || paths.contains(*file) || std::ranges::any_of(globs, matches)) continue;
    out.push_back({Severity::warning, pattern.where,
                   fmt::format("'{}' is a link here, and the kernel shows '{}'", *path, *file),
                   fmt::format("write \"{}\"", *file)});
  }
}

}  // namespace

std::vector<Diagnostic> linked_executables(const Policy& policy) {
  std::vector<Diagnostic> out;
  for (const Rule& rule : policy.rules)
    for (const Condition& condition : rule.conditions)
      if (condition.kind == ConditionKind::exe) add(condition, out);
  return out;
}

}  // namespace rdtd
