#include "pattern_slips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "pattern_finding.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/policy/comm_name.hpp"

namespace rdtd {

using pattern::is_comm;

namespace {

// The first of the characters that is neither escaped nor in brackets.
size_t find_plain(std::string_view text, std::string_view characters, size_t from = 0) {
  bool in_bracket = false;
  for (size_t at = 0; at < text.size(); at++) {
    if (text[at] == '\\')
      at++;
    else if (text[at] == '[')
      in_bracket = true;
    else if (text[at] == ']')
      in_bracket = false;
    else if (!in_bracket && at >= from && characters.contains(text[at]))
      return at;
  }
  return std::string_view::npos;
}

// That of "\\d", "\\w" and "\\s", which globs do not have.
size_t size_of_class(std::string_view rest) {
  return rest.size() > 1 && rest[0] == '\\' && std::string_view("dws").contains(rest[1]) ? 2 : 0;
}

// The glob that a regular expression means, as far as there is one.
std::string glob_of(std::string_view regex) {
  constexpr std::string_view in_any_case = "(?i)";
  std::string out;
  if (regex.starts_with(in_any_case)) regex.remove_prefix(in_any_case.size());
  const bool from_start = regex.starts_with('^');
  const bool to_end = regex.ends_with('$');
  if (from_start) regex.remove_prefix(1);
  if (to_end) regex.remove_suffix(1);
  // A whole path can have nothing before it.
  if (to_end && !from_start && !regex.starts_with('/')) out += '*';
  for (size_t at = 0; at < regex.size(); at++) {
    const std::string_view rest = regex.substr(at);
    if (rest.starts_with(".*") || rest.starts_with(".+")) {
      out += rest[1] == '*' ? "*" : "?*";
      at++;
    } else if (rest.starts_with("\\b")) {
      at++;  // the edge of a word has no character
    } else if (rest.starts_with("\\\\")) {
      out += rest.substr(0, 2);
      at++;
    } else if (rest.starts_with("\\.")) {
      out += '.';
      at++;
    } else if (const size_t size = size_of_class(rest); size > 0) {
      out += rest[1] == 'd' ? "[0-9]" : "?";
      at += size - 1;
      if (at + 1 < regex.size() && (regex[at + 1] == '+' || regex[at + 1] == '*')) {
        out += '*';
        at++;
      }
    } else if (rest.starts_with("]+")) {
      out += "]*";
      at++;
    } else {
      out += regex[at];
    }
  }
  if (from_start && !to_end) out += '*';
  while (out.contains("**") && !regex.contains("**")) out.replace(out.find("**"), 2, "*");
  return out;
}

// The parts between separators; nothing if one of them is empty.
std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(find_plain(text, {&separator, 1}, at), text.size());
    const std::string_view part = trim(text.substr(at, end - at));
    if (part.empty()) return {};
    out.emplace_back(part);
    at = end + 1;
  }
  return out;
}

// "a(b|c)d" and "a{b,c}d" as "abd", "acd".
std::vector<std::string> expand(std::string_view text, char open, char close, char separator) {
  const size_t begin = find_plain(text, {&open, 1});
  const size_t end = begin == std::string_view::npos ? std::string_view::npos
                                                     : find_plain(text, {&close, 1}, begin);
  if (end == std::string_view::npos) return {};
  std::vector<std::string> out;
  for (const std::string& part : parts_of(text.substr(begin + 1, end - begin - 1), separator))
    out.push_back(std::string(text.substr(0, begin)) + part + std::string(text.substr(end + 1)));
  return out;
}

// A ',' between words: not in a command line, and in paths only if each part is one.
bool separates(ConditionKind kind, const std::vector<std::string>& parts) {
  constexpr std::string_view word =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+@:/*?";
  const bool is_path = kind == ConditionKind::exe || kind == ConditionKind::cgroup;
  return std::ranges::all_of(parts, [&](const std::string& part) {
    return (!is_path || part.starts_with('/')) &&
           part.find_first_not_of(word) == std::string_view::npos;
  });
}

bool is_whole_path(std::string_view text) { return text.starts_with('/'); }

// "/usr/bin/tar:/usr/bin/gzip", as PATH has it; the paths of cgroups also with blanks.
std::vector<std::string> paths_of(ConditionKind kind, std::string_view text) {
  for (const char separator : {',', ':', ' '}) {
    if (separator == ' ' && kind != ConditionKind::cgroup) continue;
    std::vector<std::string> out = parts_of(text, separator);
    if (out.size() > 1 && std::ranges::all_of(out, is_whole_path)) return out;
  }
  return {};
}

// The alternatives that one text lists; at most one if it lists none.
std::vector<std::string> alternatives(ConditionKind kind, std::string_view pattern) {
  std::string_view text = pattern;
  if (text.starts_with('^')) text.remove_prefix(1);
  if (text.ends_with('$')) text.remove_suffix(1);
  for (std::vector<std::string> out :
       {expand(text, '(', ')', '|'), expand(text, '{', '}', ','), parts_of(text, '|')})
    if (out.size() > 1) return out;
  if (kind == ConditionKind::cmdline) return {};
  if (kind == ConditionKind::exe || kind == ConditionKind::cgroup)
    if (auto paths = paths_of(kind, text); !paths.empty()) return paths;
  const bool is_unit = kind == ConditionKind::unit || kind == ConditionKind::user_unit;
  const bool has_semicolons = find_plain(text, ";") != std::string_view::npos;
  std::vector<std::string> out = parts_of(text, has_semicolons                   ? ';'
                                                : is_unit && !text.contains(',') ? ' '
                                                                                 : ',');
  return separates(kind, out) ? out : std::vector<std::string>{};
}

// The place of a ".*" that is probably meant as "any text". "python3.*" and "redis.*" as a unit of
// any type are globs.
bool has_any_text(ConditionKind kind, std::string_view pattern) {
  const bool types = kind == ConditionKind::unit || kind == ConditionKind::user_unit ||
                     kind == ConditionKind::cgroup;
  for (size_t at = pattern.find(".*"); at != std::string_view::npos;
       at = pattern.find(".*", at + 1)) {
    const char before = at == 0 ? '\0' : pattern[at - 1];
    if (before == '\\' || std::isdigit(static_cast<unsigned char>(before)) != 0) continue;
    // "actions.runner.*.service": a '.' may also be before the type.
    const std::string_view rest = pattern.substr(at + 2);
    const bool ends = rest.empty() || (rest.starts_with('.') && has_unit_type(pattern));
    if (types && ends && before != '\0' && before != '/' && before != '-') continue;
    return true;
  }
  return false;
}

// Whether it has what only a regular expression has, besides ".*".
bool is_regex(std::string_view pattern) {
  for (const std::string_view sign : {"\\d", "\\w", "\\s", "\\b", "]+", ".+", "(?"})
    if (pattern.contains(sign)) return true;
  return false;
}

// Whether a text is a pattern of names, of which several can be meant with words between them.
bool is_name(ConditionKind kind) {
  return kind != ConditionKind::cmdline && kind != ConditionKind::exe &&
         kind != ConditionKind::cgroup;
}

// "regex:^redis", "re:redis", "~redis"
std::string_view without_mark_of_regex(ConditionKind kind, std::string_view pattern) {
  for (const std::string_view mark : {"regex:", "regexp:", "re:", "regex=", "=~", "~"})
    if (is_name(kind) && pattern.starts_with(mark) && pattern.size() > mark.size() &&
        !pattern.starts_with("~/"))
      return pattern.substr(mark.size());
  return pattern;
}

// ["tar", "gzip"] of "tar or gzip", "tar && gzip" and "tar || gzip".
std::vector<std::string> words_of_list(ConditionKind kind, std::string_view pattern) {
  constexpr size_t longest_read = 256;  // nobody's slip is longer
  if (pattern.size() > longest_read) return {};
  std::string with_bars(pattern);
  for (const std::string_view word : {" or ", " OR ", " and ", " AND ", "||", "&&", " & "})
    for (size_t at = with_bars.find(word); at != std::string::npos; at = with_bars.find(word))
      with_bars.replace(at, word.size(), "|");
  if (!(is_name(kind) || kind == ConditionKind::cgroup) || with_bars == pattern) return {};
  // "a, b and c", "a, b, and c"
  std::ranges::replace(with_bars, ',', '|');
  for (size_t at = with_bars.find("||"); at != std::string::npos; at = with_bars.find("||"))
    with_bars.erase(at, 1);
  std::vector<std::string> out = parts_of(with_bars, '|');
  if (kind == ConditionKind::cgroup && !std::ranges::all_of(out, is_whole_path)) return {};
  const bool has_blanks =
      std::ranges::any_of(out, [](const std::string& one) { return one.contains(' '); });
  return has_blanks ? std::vector<std::string>{} : out;
}

// "nginx.service" of "nginx service".
std::optional<std::string> unit_with_blank(ConditionKind kind, std::string_view pattern) {
  const bool is_unit = kind == ConditionKind::unit || kind == ConditionKind::user_unit;
  const std::vector<std::string> words = parts_of(pattern, ' ');
  if (!is_unit || words.size() != 2) return std::nullopt;
  // The blank may be before or behind the '.'.
  std::string_view name = words[0], type = words[1];
  if (name.ends_with('.'))
    name.remove_suffix(1);
  else if (type.starts_with('.'))
    type.remove_prefix(1);
  if (type.contains('.')) return std::nullopt;
  std::string out = fmt::format("{}.{}", name, type);
  return has_unit_type(out) && !has_unit_type(words[0]) ? std::optional(out) : std::nullopt;
}

}  // namespace

bool is_word_in_brackets(std::string_view inside) {
  constexpr size_t least_letters = 4;
  std::string letters = lower(inside);
  if (letters.size() < least_letters ||
      letters.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos)
    return false;
  // A class lists its letters in their order, and none twice.
  return !std::ranges::is_sorted(letters) || std::ranges::adjacent_find(letters) != letters.end();
}

// "*[[]local]*" of "*[local]*"; nothing if no word is in brackets.
static std::optional<std::string> with_literal_brackets(std::string_view pattern) {
  std::string out;
  bool found = false;
  while (!pattern.empty()) {
    const size_t end = pattern.front() == '[' ? pattern.find(']') : std::string_view::npos;
    const bool is_word =
        end != std::string_view::npos && is_word_in_brackets(pattern.substr(1, end - 1));
    size_t size = 1;
    if (end != std::string_view::npos) size = end + 1;
    if (pattern.front() == '\\') size = std::min<size_t>(2, pattern.size());
    found = found || is_word;
    out += is_word ? fmt::format("[[]{}", pattern.substr(1, end)) : pattern.substr(0, size);
    pattern.remove_prefix(size);
  }
  return found ? std::optional(std::move(out)) : std::nullopt;
}

// "0-9", "a-f" in a class of characters.
static bool has_range_of_characters(std::string_view text) {
  for (size_t at = text.find('-', 1); at < text.size() - 1; at = text.find('-', at + 1)) {
    const char first = text[at - 1], last = text[at + 1];
    for (const std::string_view kind :
         {"0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"})
      if (kind.contains(first) && kind.contains(last) && first <= last) return true;
  }
  return false;
}

// ["rsync", "cp"] of "[rsync, cp]".
static std::vector<std::string> words_in_brackets(std::string_view pattern) {
  if (!pattern.starts_with('[') || pattern.find(']') != pattern.size() - 1) return {};
  std::vector<std::string> out;
  for (std::string_view word : split(pattern.substr(1, pattern.size() - 2), ',')) {
    word = trim(word);
    for (const char quote : {'"', '\''})
      if (word.size() > 1 && word.front() == quote && word.back() == quote)
        word = word.substr(1, word.size() - 2);
    if (word.size() < 2 || has_range_of_characters(word)) return {};
    out.emplace_back(word);
  }
  return out;
}

// Which a class of characters alone can match.
static bool can_be_one_character(ConditionKind kind) {
  return is_name(kind) ? kind != ConditionKind::unit && kind != ConditionKind::user_unit &&
                             kind != ConditionKind::pod
                       : kind == ConditionKind::cmdline;
}

std::optional<PatternSlip> find_slip(ConditionKind kind, std::string_view pattern) {
  constexpr std::string_view no_regex = "it is a glob, not a regular expression";
  const bool anchored =
      pattern.starts_with('^') ||
      (pattern.ends_with('$') && !pattern.ends_with("\\$") && kind != ConditionKind::cmdline);
  const bool is_too_long = is_comm(kind) && pattern.size() > longest_comm;
  // The name of a virtual machine can have any character but '/'.
  const bool can_be_name = kind == ConditionKind::vm || (is_comm(kind) && !is_too_long);
  if (const auto regex = without_mark_of_regex(kind, pattern); regex.size() < pattern.size())
    return PatternSlip{!can_be_name, std::string(no_regex), {glob_of(trim(regex))}};
  // Nobody's class of characters has the quotes of several words.
  const bool is_quoted = pattern.find_first_of("\"'") != std::string_view::npos;
  if (std::vector<std::string> list = words_in_brackets(pattern); list.size() > 1)
    return PatternSlip{!can_be_one_character(kind) || is_quoted,
                       "one pattern is one glob, and an array holds several", std::move(list)};
  if (auto unit = unit_with_blank(kind, pattern))
    return PatternSlip{true, "a unit has a '.' before its type", {*std::move(unit)}};
  if (std::vector<std::string> list = words_of_list(kind, pattern); list.size() > 1)
    return PatternSlip{!can_be_name, "one pattern is one glob, and an array holds several",
                       std::move(list)};
  if (std::vector<std::string> list = alternatives(kind, pattern); list.size() > 1) {
    // The words of a command line have others around them.
    const bool in_words = kind == ConditionKind::cmdline && !anchored && !pattern.contains('*');
    std::ranges::transform(list, list.begin(), [&](const std::string& one) {
      return in_words ? fmt::format("*{}*", glob_of(one)) : glob_of(one);
    });
    return PatternSlip{anchored || kind != ConditionKind::cmdline,
                       "one pattern is one glob, and an array holds several", std::move(list)};
  }
  const std::string glob = glob_of(pattern);
  if (anchored)
    return PatternSlip{true, fmt::format("{}, and matches the whole text", no_regex), {glob}};
  if (is_regex(pattern)) return PatternSlip{is_too_long, std::string(no_regex), {glob}};
  if ((is_name(kind) || kind == ConditionKind::exe) && pattern.size() > 1 &&
      std::string_view(",;|").contains(pattern.back()) && pattern[pattern.size() - 2] != '\\')
    return PatternSlip{false,
                       fmt::format("the '{}' at its end is a part of it", pattern.back()),
                       {std::string(trim(pattern.substr(0, pattern.size() - 1)))}};
  if (has_any_text(kind, pattern))
    return PatternSlip{false, "in a glob, '.' stands for itself", {glob}};
  if (auto literal = with_literal_brackets(pattern); literal && kind == ConditionKind::cmdline)
    return PatternSlip{false, "'[...]' is one of the characters in it", {*std::move(literal)}};
  return std::nullopt;
}

}  // namespace rdtd
