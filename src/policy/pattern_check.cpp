#include "pattern_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pattern_finding.hpp"
#include "pattern_slips.hpp"
#include "plain_value.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "runtime_patterns.hpp"

namespace rdtd {

using pattern::Check;
using pattern::Finding;
using pattern::is_digits;
using pattern::last_component;
using pattern::never;
using pattern::write;

namespace {

// The kernel cuts a comm to this length (TASK_COMM_LEN is 16, with the NUL).
constexpr size_t longest_comm = 15;

// The kernel uses the number above it for "no user" and "no group" (setresuid(2)).
constexpr uint32_t highest_identity = 4294967294;

bool is_whole_number(std::string_view text) {
  return is_digits(text.substr(text.starts_with('-') ? 1 : 0));
}

bool is_identity_number(std::string_view text) {
  const auto number = parse_unsigned<uint32_t>(text);
  return number && *number <= highest_identity;
}

// The '\' in "\x2d" is part of the name of a unit or its cgroup as systemd writes it, and not the
// glob's.
std::string keep_systemd_escapes(std::string_view pattern) {
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

Finding no_negation(std::string_view text) {
  return {fmt::format("'{}' is a text that begins with '!': no condition negates", text),
          "to leave processes alone, write group = \"leave\" in an earlier rule", false};
}

Check check_identity(ConditionKind kind, std::string_view text) {
  const bool is_user = kind == ConditionKind::user;
  if (is_whole_number(text)) {
    if (is_identity_number(text)) return std::nullopt;
    return Finding{fmt::format("{} is not a {} number: they range from 0 to {}", text,
                               is_user ? "user" : "group", highest_identity)};
  }
  const std::string_view noun = is_user ? "user" : "user group";
  if (text.starts_with('!') && text.size() > 1) return no_negation(text);
  if (is_user && (text.starts_with("uid:") || text.starts_with("uid=")) &&
      is_whole_number(text.substr(4)))
    return never(text, "the number stands alone",
                 fmt::format("write user = \"{}\"", text.substr(4)));
  if (text == "*")
    return never(text, fmt::format("'{}' takes names and numbers, not patterns", to_string(kind)),
                 "name = \"*\" holds for every process");
  if (text.find_first_of("*?[") != std::string_view::npos)
    return never(text, fmt::format("'{}' takes names and numbers, not patterns", to_string(kind)),
                 fmt::format("list them: {} = [\"NAME\", \"NAME\"]", to_string(kind)));
  if (text.front() == '@' || text.front() == '%')
    return never(text, fmt::format("no {} has this name", noun),
                 fmt::format("write user_group = \"{}\"", text.substr(1)));
  if (const size_t dash = text.find('-');
      is_digits(text.substr(0, dash)) &&
      is_digits(text.substr(std::min(dash, text.size() - 1) + 1)))
    return never(text, "there are no ranges of numbers",
                 "list the numbers, or use user_group or unit");
  if (is_user && text.contains(' ') && !text.contains('\\'))
    return Finding{fmt::format("'{}' is one name with a blank in it", text),
                   "list them: user = [\"NAME\", \"NAME\"]", false};
  if (const size_t end = text.find_first_of(",:|"); end != std::string_view::npos)
    return never(text, fmt::format("the name of a {} has no '{}'", noun, text[end]),
                 text[end] == ':'
                     ? fmt::format("write {} = \"{}\"", to_string(kind), text.substr(0, end))
                     : fmt::format("list them: {} = [\"NAME\", \"NAME\"]", to_string(kind)));
  return std::nullopt;
}

Check check_slip(ConditionKind kind, std::string_view text, bool in_array) {
  const auto slip = find_slip(kind, text);
  if (!slip) return std::nullopt;
  std::string list;
  for (const std::string& pattern : slip->meant)
    list += (list.empty() ? "" : ", ") + rdtd::quoted(pattern);
  const bool array = slip->meant.size() > 1 && !in_array;
  std::string hint = array ? fmt::format("write [{}]", list) : fmt::format("write {}", list);
  if (slip->certain) return never(text, slip->why, std::move(hint));
  return Finding{fmt::format("'{}' may not match what it was meant for: {}", text, slip->why),
                 std::move(hint), false};
}

// "[kworker/0:1]", "[kthreadd]": a class of characters has none twice, and a name no '/'.
bool is_in_brackets(std::string_view text) {
  if (text.size() < 4 || !text.starts_with('[') || text.find(']') != text.size() - 1) return false;
  std::string inside(text.substr(1, text.size() - 2));
  std::erase(inside, '-');
  std::ranges::sort(inside);
  return inside.contains('/') || std::ranges::adjacent_find(inside) != inside.end();
}

// "kworker/0:1*" of "kworker/0:1-events": what a worker does changes.
std::string kernel_thread(std::string_view name) {
  const size_t dash = name.starts_with("kworker/") ? name.find('-') : std::string_view::npos;
  if (dash != std::string_view::npos) return fmt::format("{}*", name.substr(0, dash));
  return std::string(name.substr(0, longest_comm));
}

// ["tar", "gzip", "xz"] of "tar gzip xz"; empty of what may be one name, as "tmux: server".
std::string list_of_words(std::string_view text) {
  constexpr std::string_view of_a_word = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr size_t least = 3;
  const auto words = split(text, ' ');
  std::string out;
  for (const std::string_view word : words) {
    if (word.empty() || word.find_first_not_of(of_a_word) != std::string_view::npos) return {};
    out += (out.empty() ? "[" : ", ") + rdtd::quoted(word);
  }
  return words.size() < least ? "" : out + "]";
}

Check check_comm(std::string_view text) {
  if (text.starts_with('/') || text.starts_with("./") || text.starts_with("~/")) {
    const std::string_view name = last_component(text);
    return never(
        text, "the name of a process has no directory",
        text.starts_with('/') && text.size() > 1 && !text.ends_with('/')
            ? fmt::format("{}, or exe = {}", write(name.substr(0, longest_comm)), quoted(text))
            : write(name.substr(0, longest_comm)));
  }
  if (const auto only = glob_only_match(text); only && only->size() > longest_comm)
    return never(text, "the kernel cuts names to 15 characters",
                 fmt::format("write \"{}\", or use '{}'",
                             text.substr(0, std::min(text.find(' '), longest_comm)),
                             text.contains(' ') ? "cmdline" : "exe"));
  if (text.ends_with(".service") || text.ends_with(".slice") || text.ends_with(".scope"))
    return Finding{
        fmt::format("'{}' looks like a unit of systemd; 'name' is the name of a process", text),
        fmt::format("write unit = {}", quoted(text)), false};
  // The kernel can cut a name behind a blank.
  if (const std::string_view bare = trim(text);
      !bare.empty() &&
      (text.starts_with(' ') || (text.ends_with(' ') && text.size() < longest_comm)))
    return Finding{fmt::format("'{}' {} with a blank, which few names do", text,
                               text.starts_with(' ') ? "begins" : "ends"),
                   write(bare), false};
  if (is_in_brackets(text))
    return Finding{
        fmt::format("'{}' is one of the characters in the brackets; ps has a kernel thread in "
                    "brackets",
                    text),
        write(kernel_thread(text.substr(1, text.size() - 2))), false};
  if (const std::string list = list_of_words(text); !list.empty())
    return Finding{fmt::format("'{}' is one name with blanks in it", text), "write " + list, false};
  if (text.starts_with("**/"))
    return Finding{fmt::format("'{}' looks like a path; 'name' is the name of a process", text),
                   fmt::format("write exe = {}", quoted(text)), false};
  return std::nullopt;
}

// The kernel shows paths without "//", "/./" and "/../".
Check check_canonical(std::string_view text) {
  const std::string path = std::string(text) + '/';
  for (const std::string_view part : {"//", "/./", "/../"})
    if (path.find(part) < text.size() && text.size() > 1 &&
        !(part == "//" && path.find(part) + 1 == text.size()))
      return never(text, fmt::format("the kernel shows paths without '{}'", part),
                   write(std::filesystem::path(text).lexically_normal().string()));
  return std::nullopt;
}

bool is_absolute(std::string_view text) {
  return text.starts_with('/') || text.starts_with("**/") || text == "**";
}

Check check_exe(std::string_view text) {
  if (!is_absolute(text))
    return never(text, "an executable's path begins with '/'",
                 text.contains('/') ? write(fmt::format("**/{}", last_component(text)))
                                    : "'name' is for the bare name");
  if (auto found = check_canonical(text)) return found;
  if (text.ends_with('/'))
    return never(text, "it is the path of a directory",
                 fmt::format("write \"{0}*\", or \"{0}**\" for all directories below", text));
  const std::string_view deleted = " (deleted)";
  const size_t blank = text.ends_with(deleted) ? std::string_view::npos : text.find(' ');
  if (text.contains(" -") || (blank != std::string_view::npos && !text.substr(blank).contains('/')))
    return Finding{
        fmt::format("'{}' looks like a command with arguments; 'exe' matches the path of "
                    "the executable",
                    text),
        "'cmdline' matches the arguments", false};
  for (const std::string_view script : {".sh", ".py", ".pl", ".rb", ".jar"})
    if (text.ends_with(script))
      return Finding{
          fmt::format("'{}' may not match: the executable of a script is its interpreter", text),
          "'name' or 'cmdline' matches a script", false};
  for (const std::string_view link : {"/bin/", "/sbin/", "/lib/", "/lib64/"})
    if (text.starts_with(link))
      return Finding{fmt::format("'{}' may not match: where {} is a link, the kernel shows /usr{}",
                                 text, link.substr(0, link.size() - 1), text),
                     fmt::format("write [{}, {}]", rdtd::quoted(text),
                                 rdtd::quoted(fmt::format("/usr{}", text))),
                     false};
  return std::nullopt;
}

// The path of a cgroup in /sys/fs/cgroup or in /proc/PID/cgroup ("0::/PATH").
std::optional<std::string_view> path_in_hierarchy(std::string_view text) {
  constexpr std::string_view mount = "/sys/fs/cgroup";
  constexpr std::array<std::string_view, 5> hierarchies = {"/unified/", "/systemd/", "/memory/",
                                                           "/cpu,cpuacct/", "/pids/"};
  if (text == mount) return "/";
  if (text.starts_with(mount) && text[mount.size()] == '/') {
    text.remove_prefix(mount.size());
    for (const std::string_view hierarchy : hierarchies)
      if (text.starts_with(hierarchy)) text.remove_prefix(hierarchy.size() - 1);
    return text;
  }
  // "4:memory:/PATH" there, "memory:/PATH" in cgrules.conf.
  const size_t path = text.find(":/");
  if (path == std::string_view::npos || text.substr(0, path).contains('/')) return std::nullopt;
  return text.substr(path + 1);
}

Check check_cgroup(std::string_view text) {
  if (const auto path = path_in_hierarchy(text))
    return never(text, "the path of a cgroup begins at the root of its hierarchy", write(*path));
  if (!is_absolute(text))
    return never(text, "a cgroup path begins with '/'", write(fmt::format("/{}", text)));
  return check_canonical(text);
}

// What a unit's name cannot have (systemd.unit(5)), besides the glob's characters.
std::optional<std::string_view> foreign_character(std::string_view text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@*?[]!^";
  const size_t at = text.find_first_not_of(allowed);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at, std::max<size_t>(1, first_character(text.substr(at)).length));
}

// "getty@*.service" of "getty@%i.service".
std::string without_specifiers(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    out += text[i] == '%' ? '*' : text[i];
    if (text[i] == '%') i++;
  }
  return out;
}

std::string hint_for_unit(std::string_view text, std::string_view character) {
  if (character == "/")
    return has_unit_type(last_component(text)) ? write(last_component(text))
                                               : "'cgroup' matches a path";
  if (character == "%") return "rules have no specifiers: " + write(without_specifiers(text));
  return {};
}

// "services" of "nginx.services".
std::optional<std::string> misspelt_type(std::string_view word) {
  static const std::vector<std::string> types = {"service", "slice", "scope"};
  constexpr size_t least_letters = 4;  // other words are part of the name: "php8.2-fpm"
  return word.size() < least_letters ? std::nullopt : nearest_name(word, types);
}

Check check_unit(std::string_view text) {
  if (const auto character = foreign_character(text))
    return never(text,
                 fmt::format("the name of a unit has no {}", *character == " " || *character == "\t"
                                                                 ? "blank"
                                                                 : fmt::format("'{}'", *character)),
                 hint_for_unit(text, *character));
  if (const size_t dot = text.rfind('.'); dot != std::string_view::npos && !has_unit_type(text))
    if (const auto type = misspelt_type(text.substr(dot + 1)))
      return Finding{fmt::format("'{}' is the service '{}.service'", text, text),
                     write(fmt::format("{}.{}", text.substr(0, dot), *type)), false};
  const std::string unit = complete_unit_name(std::string(text));
  const std::string_view stem = std::string_view(unit).substr(0, unit.rfind('.'));
  if (stem.ends_with('@'))
    return never(text, "a template has no processes, only its instances have",
                 write(fmt::format("{}*{}", stem, unit.substr(stem.size()))));
  for (const std::string_view type : {".timer", ".path", ".target", ".device", ".automount"})
    if (unit.ends_with(type))
      return never(
          text, fmt::format("no process is in a {}", type.substr(1)),
          type == ".timer" || type == ".path" ? write(fmt::format("{}.service", stem)) : "");
  if (unit.ends_with(".socket"))
    return Finding{fmt::format("'{}' has no processes for long: a socket starts a service", text),
                   stem.find_first_of("*?[") == std::string_view::npos
                       ? write(fmt::format("{}.service", stem))
                       : "name the services",
                   false};
  return std::nullopt;
}

// A command line begins with the program. That of a login shell is "-bash".
Check check_cmdline(std::string_view text) {
  if (!text.starts_with('-') || (!text.starts_with("--") && !text.contains(' ')))
    return std::nullopt;
  return Finding{fmt::format("'{}' is the whole command line, which begins with the program", text),
                 write(fmt::format("*{}{}", text, text.ends_with('*') ? "" : "*")), false};
}

Check check_kind(ConditionKind kind, std::string_view text) {
  switch (kind) {
    case ConditionKind::name:
    case ConditionKind::thread: return check_comm(text);
    case ConditionKind::exe: return check_exe(text);
    case ConditionKind::cmdline: return check_cmdline(text);
    case ConditionKind::cgroup: return check_cgroup(text);
    case ConditionKind::unit:
    case ConditionKind::user_unit: return check_unit(text);
    case ConditionKind::vm: return check_vm(text);
    case ConditionKind::pod: return check_pod(text);
    case ConditionKind::container: return check_container(text);
    default: return std::nullopt;
  }
}

Check check_pattern(ConditionKind kind, std::string_view text, bool in_array) {
  if (text.empty())
    return Finding{fmt::format("'{}' is empty: nothing can match it", to_string(kind))};
  if (kind == ConditionKind::user || kind == ConditionKind::user_group)
    return check_identity(kind, text);
  const bool is_path = kind == ConditionKind::exe || kind == ConditionKind::cgroup;
  if (const auto problem = is_path ? path_glob_problem(text) : glob_problem(text))
    return Finding{fmt::format("'{}' is not a glob: {}", text, *problem)};
  if (text.starts_with('!') && text.size() > 1) return no_negation(text);
  if (auto found = check_slip(kind, text, in_array); found && found->certain) return found;
  if (auto found = check_kind(kind, text)) return found;
  return check_slip(kind, text, in_array);
}

void complete(ConditionKind kind, std::string& text) {
  if (kind == ConditionKind::cgroup) {
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    text = keep_systemd_escapes(text);
  }
  if (kind == ConditionKind::unit || kind == ConditionKind::user_unit)
    text = complete_unit_name(keep_systemd_escapes(text));
}

// ["java", "-jar", "app.jar"]: the words of one command, though each pattern is a whole one.
// "-bash" is a whole one: a login shell.
void check_words_of_command(const FileReader& in, const Condition& condition) {
  constexpr size_t most = 16;
  const auto is_word = [](const Located<std::string>& one) {
    return one.value.find_first_of(" *?[") == std::string::npos;
  };
  const auto is_option = [](const Located<std::string>& word) {
    return word.value.starts_with('-') && !word.value.ends_with("sh");
  };
  const auto& words = condition.patterns;
  if (words.size() < 2 || words.size() > most || words.front().value.starts_with('-') ||
      !std::ranges::all_of(words, is_word) || !std::ranges::any_of(words, is_option))
    return;
  std::string line;
  for (const Located<std::string>& word : words) line += (line.empty() ? "" : " ") + word.value;
  in.warning(words.front().where,
             "each pattern of 'cmdline' is a whole command line, and these look like the words of "
             "one",
             write(fmt::format("*{}*", line)));
}

}  // namespace

void check_patterns(const FileReader& in, Condition& condition, bool in_array) {
  if (condition.kind == ConditionKind::cmdline) check_words_of_command(in, condition);
  for (Located<std::string>& pattern : condition.patterns) {
    auto found = check_pattern(condition.kind, pattern.value, in_array);
    // Who names both ways has followed the hint already.
    const bool has_both =
        condition.kind == ConditionKind::exe && found && !found->certain &&
        std::ranges::find(condition.patterns, "/usr" + pattern.value,
                          &Located<std::string>::value) != condition.patterns.end();
    if (has_both) continue;
    if (found && found->certain)
      in.error(pattern.where, std::move(found->message), std::move(found->hint));
    else if (found)
      in.warning(pattern.where, std::move(found->message), std::move(found->hint));
    complete(condition.kind, pattern.value);
  }
}

}  // namespace rdtd
