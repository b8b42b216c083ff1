#include "pattern_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "characters.hpp"
#include "comm_patterns.hpp"
#include "foreign_text.hpp"
#include "path_patterns.hpp"
#include "pattern_finding.hpp"
#include "pattern_slips.hpp"
#include "plain_value.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/policy/comm_name.hpp"
#include "runtime_patterns.hpp"
#include "unknown_key.hpp"
#include "unit_patterns.hpp"

namespace rdtd {

using pattern::Check;
using pattern::doubtful;
using pattern::every_process;
using pattern::Finding;
using pattern::is_comm;
using pattern::is_identity;
using pattern::misunderstood;
using pattern::never;
using pattern::write;

namespace {

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

// "1000-2000", "1000..2000", ">=1000", "1000+".
bool is_range_of_numbers(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  return text.find_first_not_of("0123456789<>=+-. ") == std::string_view::npos &&
         text.find_first_of(digits) != std::string_view::npos &&
         text.find_first_of("<>+-.") != std::string_view::npos;
}

// "!redis.service" and "not redis.service". No unit has a blank in its name.
Check check_negation(std::string_view text, bool is_unit = false) {
  constexpr std::string_view word = "not ";
  const bool has_sign = text.starts_with('!') && text.size() > 1;
  if (!has_sign && !(lower(text.substr(0, word.size())) == word && text.size() > word.size()))
    return std::nullopt;
  return Finding{fmt::format("'{}' is a text that begins with '{}': no condition negates", text,
                             has_sign ? "!" : text.substr(0, word.size() - 1)),
                 std::string(no_negation), is_unit && text.contains(' ')};
}

// ["root", "alice"] of "root,alice".
std::string list_of_identities(ConditionKind kind, std::string_view text, char separator) {
  constexpr size_t longest_list = 100;
  std::string list;
  for (const std::string_view part : split(text, separator)) {
    const std::string_view name = trim(part);
    if (name.empty() || (separator == ' ' && (name == "or" || name == "and"))) continue;
    if (name.find_first_of(",:|; \"\\") != std::string_view::npos || text.size() > longest_list)
      return fmt::format("list them: {} = [\"NAME\", \"NAME\"]", to_string(kind));
    list += (list.empty() ? "" : ", ") + rdtd::quoted(name);
  }
  return fmt::format("write {} = [{}]", to_string(kind), list);
}

Check check_identity(ConditionKind kind, std::string_view text) {
  const bool is_user = kind == ConditionKind::user;
  if (is_digits(text) && text.size() > 1 && text.starts_with('0') && is_identity_number(text))
    return Finding{fmt::format("'{}' begins with a 0, which no number does", text),
                   write(std::to_string(*parse_unsigned<uint32_t>(text)))};
  if (is_whole_number(text)) {
    if (is_identity_number(text)) return std::nullopt;
    return Finding{fmt::format("{} is not a {} number: they range from 0 to {}", text,
                               is_user ? "user" : "group", highest_identity)};
  }
  const std::string_view noun = is_user ? "user" : "user group";
  if (text.contains('/')) return never(text, fmt::format("the name of a {} has no '/'", noun));
  if (text.starts_with('^'))
    return never(text, fmt::format("'{}' takes names and numbers, not patterns", to_string(kind)),
                 write(text.substr(1, text.size() - (text.ends_with('$') ? 2 : 1))));
  if (is_user && has_unit_type(text) && text.contains('-'))
    return never(text, "it is a unit of systemd",
                 fmt::format("write unit = {}", rdtd::quoted(text)));
  if (const std::string word = lower(text); word == "all" || word == "any" || word == "everyone")
    return Finding{fmt::format("'{}' is one {} of that name", text, noun),
                   std::string(every_process), false};
  if (auto found = check_negation(text)) return found;
  if (text == "*")
    return never(text, fmt::format("'{}' takes names and numbers, not patterns", to_string(kind)),
                 std::string(every_process));
  if (has_wildcard(text))
    return never(text, fmt::format("'{}' takes names and numbers, not patterns", to_string(kind)),
                 fmt::format("list them: {} = [\"NAME\", \"NAME\"]", to_string(kind)));
  if (text.size() == 2 && text.front() == '%')
    return never(text, "rules have no specifiers", "write the name itself");
  if (text.front() == '@' || text.front() == '%')
    return never(text, fmt::format("no {} has this name", noun),
                 fmt::format("write user_group = \"{}\"", text.substr(1)));
  if (text.starts_with('+') && is_identity_number(text.substr(1)))
    return never(text, "a number has no sign", write(text.substr(1)));
  if (is_range_of_numbers(text))
    return never(text, "there are no ranges of numbers",
                 "list the numbers, or use user_group or unit");
  if (is_user && text.contains(' ') && !text.contains('\\'))
    return Finding{fmt::format("'{}' is one name with a blank in it", text),
                   list_of_identities(kind, text, ' '), false};
  if (const size_t end = text.find_first_of(",:|;"); end != std::string_view::npos)
    return never(text, fmt::format("the name of a {} has no '{}'", noun, text[end]),
                 end == 0 ? fmt::format("write user_group = {}", rdtd::quoted(text.substr(1)))
                 : text[end] == ':'
                     ? fmt::format("write {} = \"{}\"", to_string(kind), text.substr(0, end))
                     : list_of_identities(kind, text, text[end]));
  return std::nullopt;
}

// "^redis$" of "/^redis$/", as Perl and JavaScript have it.
std::string_view without_slashes(std::string_view text) {
  if (!text.starts_with("/^")) return text;
  text.remove_prefix(1);
  if (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

Check check_slip(ConditionKind kind, std::string_view text, bool in_array) {
  const std::string_view regex = without_slashes(text);
  auto slip = find_slip(kind, regex);
  if (!slip) return std::nullopt;
  for (std::string& meant : slip->meant) {
    if (regex.size() == text.size()) break;
    if (meant.find_first_not_of('*') == std::string::npos) return std::nullopt;
    if (kind == ConditionKind::exe && !meant.starts_with('/')) meant.insert(0, "**/");
    if (kind == ConditionKind::cgroup && !meant.starts_with('/')) meant.insert(0, "/");
  }
  // "shop/redis,web": the rest is in the same namespace.
  const std::string& first = slip->meant.front();
  const std::string space = first.contains('/') ? first.substr(0, first.find('/') + 1) : "*/";
  std::string list;
  for (const std::string& pattern : slip->meant) {
    const bool needs_namespace = kind == ConditionKind::pod && !pattern.contains('/');
    list += (list.empty() ? "" : ", ") + rdtd::quoted((needs_namespace ? space : "") + pattern);
  }
  const bool array = slip->meant.size() > 1 && !in_array;
  std::string hint = array ? fmt::format("write [{}]", list) : fmt::format("write {}", list);
  return misunderstood(text, slip->why, std::move(hint), slip->certain);
}

bool is_script(std::string_view path) {
  for (const std::string_view script : {".sh", ".bash", ".py", ".pl", ".rb", ".php", ".js"})
    if (path.ends_with(script)) return true;
  return false;
}

// A command line begins with the program. That of a login shell is "-bash". Who lists several may
// have one for the program without arguments.
Check check_cmdline(std::string_view text, bool in_array) {
  const auto anywhere = [&] {
    return write(fmt::format("{}{}{}", text.starts_with('*') ? "" : "*", text,
                             text.ends_with('*') ? "" : "*"));
  };
  if (text.starts_with("--") || (text.starts_with('-') && text.contains(' ')))
    return Finding{
        fmt::format("'{}' is the whole command line, which begins with the program", text),
        anywhere(), false};
  const std::string_view program = text.substr(0, text.find_first_of(" *"));
  if (is_script(program))
    return doubtful(text, "the command line of a script begins with its interpreter", anywhere());
  const bool is_word = text.find_first_of(" /*?[|") == std::string_view::npos;
  if (is_word && !in_array && !text.starts_with('-'))
    return Finding{fmt::format("'{}' is a whole command line, without any argument", text),
                   fmt::format("{}, or name = {}", anywhere(), rdtd::quoted(comm_of(text))), false};
  return std::nullopt;
}

Check check_kind(ConditionKind kind, std::string_view text, bool in_array) {
  switch (kind) {
    case ConditionKind::name:
    case ConditionKind::thread: return check_comm(text, kind == ConditionKind::thread);
    case ConditionKind::exe: return check_exe(text);
    case ConditionKind::cmdline: return check_cmdline(text, in_array);
    case ConditionKind::cgroup: return check_cgroup(text);
    case ConditionKind::unit:
    case ConditionKind::user_unit: return check_unit(kind, text);
    case ConditionKind::vm: return check_vm(text);
    case ConditionKind::pod: return check_pod(text);
    case ConditionKind::container: return check_container(text);
    default: return std::nullopt;
  }
}

// Slips that look right on a screen, or nearly so. What cannot be in a name at all is an error.
Check check_looks(ConditionKind kind, std::string_view text) {
  const bool is_cmdline = kind == ConditionKind::cmdline;
  const bool can_have_any = is_comm(kind) || is_cmdline || kind == ConditionKind::exe ||
                            kind == ConditionKind::cgroup || kind == ConditionKind::vm;
  // A command line may have lines.
  if (const auto found = find_disguise(text, !is_cmdline)) {
    Finding out{fmt::format("'{}' has {}", with_all_shown(text), found->character),
                found->meant.empty() ? "" : write(found->meant), !can_have_any};
    return out;
  }
  const bool has_quotes = text.size() > 2 && text.front() == text.back() &&
                          (text.front() == '"' || text.front() == '\'');
  if (has_quotes)
    return Finding{fmt::format("{} has quotes within its quotes", text),
                   write(text.substr(1, text.size() - 2)), !can_have_any};
  const std::string_view bare = trim(text);
  if (is_comm(kind) || is_cmdline || bare.empty() || bare.size() == text.size())
    return std::nullopt;
  return Finding{
      fmt::format("'{}' {} with a blank", text, text.starts_with(bare.front()) ? "ends" : "begins"),
      write(bare), !can_have_any};
}

Check check_pattern(ConditionKind kind, std::string_view text, bool in_array) {
  if (text.empty())
    return Finding{fmt::format("'{}' is empty: nothing can match it", to_string(kind))};
  if (auto found = check_looks(kind, text)) return found;
  if (auto found = check_foreign_text(kind, text)) return found;
  if (is_identity(kind)) return check_identity(kind, text);
  const bool is_path = kind == ConditionKind::exe || kind == ConditionKind::cgroup;
  if (const auto problem = is_path ? path_glob_problem(text) : glob_problem(text))
    return Finding{fmt::format("'{}' is not a glob: {}", text, *problem)};
  const bool is_unit = kind == ConditionKind::unit || kind == ConditionKind::user_unit;
  if (auto found = check_negation(text, is_unit)) return found;
  if (auto found = check_slip(kind, text, in_array); found && found->certain) return found;
  if (auto found = check_kind(kind, text, in_array)) return found;
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
bool warn_of_words_of_command(const FileReader& in, const Condition& condition) {
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
    return false;
  std::string line;
  for (const Located<std::string>& word : words) line += (line.empty() ? "" : " ") + word.value;
  const bool is_name = condition.kind == ConditionKind::name;
  const std::string hint = write(fmt::format("*{}*", line));
  in.warning(words.front().where,
             is_name
                 ? "each pattern of 'name' is a name, and these look like the words of a command"
                 : "each pattern of 'cmdline' is a whole command line, and these look like the "
                   "words of one",
             is_name ? "write cmdline =" + hint.substr(std::string_view("write").size()) : hint);
  return true;
}

// The excerpt below the message shows the rest of a long value.
std::string with_short_value(std::string message, const std::string& value) {
  constexpr size_t longest_shown = 64;
  const size_t at = message.find(value);
  if (value.size() <= longest_shown || at == std::string::npos) return message;
  size_t end = longest_shown;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) end--;
  return message.replace(at, value.size(), value.substr(0, end) + "...");
}

}  // namespace

void check_patterns(const FileReader& in, Condition& condition, bool in_array) {
  if (is_one_of(to_string(condition.kind), {"cmdline", "name"}) &&
      warn_of_words_of_command(in, condition))
    return;
  for (Located<std::string>& pattern : condition.patterns) {
    auto found = check_pattern(condition.kind, pattern.value, in_array);
    if (found) found->message = with_short_value(std::move(found->message), pattern.value);
    // A user who names both paths has followed the hint already.
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
