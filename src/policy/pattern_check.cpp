#include "pattern_check.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// The kernel cuts a comm to this length (TASK_COMM_LEN is 16, with the NUL).
constexpr size_t longest_comm = 15;

// The kernel uses the number above it for "no user" and "no group" (setresuid(2)).
constexpr uint32_t highest_identity = 4294967294;

bool is_whole_number(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_identity_number(std::string_view text) {
  const auto number = parse_unsigned<uint32_t>(text);
  return number && *number <= highest_identity;
}

// The '\' in "\x2d" is part of a unit's name as systemd writes it, and not the glob's.
std::string keep_unit_escapes(std::string_view pattern) {
  std::string out;
  for (size_t at = 0; at < pattern.size(); at++) {
    out += pattern[at];
    if (pattern[at] != '\\' || at + 1 == pattern.size()) continue;
    const bool of_systemd = at + 3 < pattern.size() && pattern[at + 1] == 'x' &&
                            parse_unsigned<unsigned>(pattern.substr(at + 2, 2), 16);
    out += of_systemd ? '\\' : pattern[++at];
  }
  return out;
}

}  // namespace

void check_pattern(const FileReader& in, ConditionKind kind, Located<std::string>& pattern) {
  const std::string_view key = to_string(kind);
  std::string& text = pattern.value;
  if (text.empty())
    return in.error(pattern.where, fmt::format("'{}' is empty: nothing can match it", key));
  if (kind == ConditionKind::user || kind == ConditionKind::user_group) {
    if (is_whole_number(text) && !is_identity_number(text))
      in.error(pattern.where,
               fmt::format("{} is not a {} number: they range from 0 to {}", text,
                           kind == ConditionKind::user ? "user" : "group", highest_identity));
    return;
  }
  const bool is_path = kind == ConditionKind::exe || kind == ConditionKind::cgroup;
  if (const auto problem = is_path ? path_glob_problem(text) : glob_problem(text))
    return in.error(pattern.where, fmt::format("'{}' is not a glob: {}", text, *problem));
  if ((kind == ConditionKind::name || kind == ConditionKind::thread) && glob_is_literal(text) &&
      text.size() > longest_comm)
    return in.error(
        pattern.where,
        fmt::format("'{}' can never match: the kernel cuts names to 15 characters", text),
        fmt::format("write \"{}\", or use 'exe'", text.substr(0, longest_comm)));
  const bool absolute = text.starts_with('/') || text.starts_with("**/") || text == "**";
  if (kind == ConditionKind::cgroup && !absolute)
    return in.error(pattern.where,
                    fmt::format("'{}' can never match: a cgroup path begins with '/'", text));
  if (kind == ConditionKind::exe && !absolute)
    return in.error(pattern.where,
                    fmt::format("'{}' can never match: an executable's path begins with '/'", text),
                    "'name' is for the bare name");
  while (kind == ConditionKind::cgroup && text.size() > 1 && text.ends_with('/')) text.pop_back();
  if (kind == ConditionKind::exe && text.contains(" -"))
    in.warning(
        pattern.where,
        fmt::format("'{}' looks like a command with arguments; 'exe' matches the path of the "
                    "executable",
                    text),
        "'cmdline' matches the arguments");
  if (kind != ConditionKind::unit && kind != ConditionKind::user_unit) return;
  if (text.find_first_of("/ \t") != std::string::npos)
    return in.error(
        pattern.where,
        fmt::format("'{}' can never match: the name of a unit has no '/' and no blank", text),
        text.contains('/') ? "'cgroup' matches a path" : "");
  text = complete_unit_name(keep_unit_escapes(text));
}

}  // namespace rdtd
