#include "text_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "characters.hpp"
#include "line_meant.hpp"
#include "names.hpp"
#include "plain_value.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "unknown_key.hpp"
#include "text_scanner.hpp"

namespace rdtd {

namespace {

constexpr size_t most_names = 100'000;  // keys and tables; toml++ is quadratic in some of them
constexpr size_t most_parts = 16;       // of a dotted key

constexpr std::string_view letters_of_names =
    "a name consists of letters a to z, digits, '.', '_' and '-'";

// The tables that have a name: [group.NAME].
bool is_named_table(std::string_view table) {
  return table == "group" || table == "partition" || table == "pseudo_lock";
}

// [group.NAME] and the keys below it.
bool has_amounts(const std::vector<std::string_view>& parts) {
  return parts.size() > 1 && (parts[0] == "group" || parts[0] == "partition");
}

std::string_view without_quotes(std::string_view text) {
  const bool is_quoted = text.size() > 1 && text.front() == text.back() &&
                         (text.front() == '"' || text.front() == '\'');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

// "\"b\"" of "\"b\" # the other".
std::string_view without_comment(std::string_view value) {
  const bool is_quoted = value.starts_with('"') || value.starts_with('\'');
  const size_t close = is_quoted ? value.find(value.front(), 1) : std::string_view::npos;
  const size_t from = close == std::string_view::npos ? 0 : close;
  return trim(value.substr(0, value.find('#', from)));
}

// "[group.b]" of a second [[group]], which has name = "b" below it.
std::string hint_for_array(std::string_view kind, std::string_view below) {
  if (!is_named_table(kind)) return {};
  constexpr size_t most_lines = 64;
  size_t count = 0;
  for (const std::string_view line : split(below, '\n')) {
    const std::string_view pair = trim(line);
    if (pair.starts_with('[') || ++count > most_lines) break;
    const size_t sign = std::min(pair.find('='), pair.size());
    const std::string_view name =
        without_quotes(without_comment(trim(pair.substr(std::min(sign + 1, pair.size())))));
    if (trim(pair.substr(0, sign)) == "name" && !name_problem(name))
      return fmt::format("write [{}.{}], without the line of 'name'", kind, toml_key(name));
  }
  return fmt::format("write [{}.NAME]", kind);
}

}  // namespace

// Reports bytes [from, to) of the present line, or up to its end.
bool TextScanner::fail(size_t from, size_t to, std::string message, std::string hint) {
  if (scanning_) {
    const size_t begin = place_.line_start;
    auto known = line_hint(text_.substr(begin, text_.find('\n', begin) - begin), definitions_ == 0);
    if (is_unit_of_systemd(text_)) known = is_unit_file;
    if (!known.empty()) hint = std::move(known);
  }
  const auto characters = [&](size_t begin, size_t end) {
    return static_cast<unsigned>(std::ranges::count_if(
        text_.substr(begin, end - begin),
        [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  };
  from = std::min(from, text_.size());
  to = std::min(to, text_.find_first_of("\r\n", from));
  const Location where{file_, place_.line, characters(place_.line_start, from) + 1,
                       to > from ? std::max(1U, characters(from, std::min(to, text_.size()))) : 1};
  error_ = {Severity::error, where, std::move(message), std::move(hint)};
  return false;
}

bool TextScanner::check_characters() {
  for (place_.at = 0; place_.at < text_.size();) {
    const Character character = first_character(text_.substr(place_.at));
    const auto byte = static_cast<unsigned char>(text_[place_.at]);
    if (place_.at == 0 && (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff")))
      return fail(0, 2, "the file is UTF-16", "save it as UTF-8");
    if (character.length == 0)
      return fail(place_.at, place_.at + 1, fmt::format("byte 0x{:02x} is not valid UTF-8", byte),
                  "save it as UTF-8");
    const bool newline = byte == '\n' || text_.substr(place_.at).starts_with("\r\n");
    if ((byte < 0x20 && byte != '\t' && !newline) || byte == 0x7f)
      return fail(place_.at, place_.at + 1, fmt::format("control character U+{:04X}", byte),
                  hint_for_control(byte));
    place_.at += character.length;
    if (byte != '\n') continue;
    place_.line++;
    place_.line_start = place_.at;
  }
  return true;
}

std::string TextScanner::hint_for_control(unsigned char byte) const {
  if (text_.starts_with("\x1f\x8b")) return "the file is not text, but compressed by gzip";
  constexpr unsigned char escape = 0x1b;  // of the colors of a terminal
  if (byte == escape) return "remove it";
  // Each letter of a text in UTF-16 has such a byte beside it.
  const auto zeros = static_cast<size_t>(std::ranges::count(text_, '\0'));
  if (zeros > 0)
    return zeros * 3 > text_.size() ? "the file looks like UTF-16: save it as UTF-8"
                                    : "the file is not text";
  if (ends_in_string(text_.substr(place_.line_start, place_.at - place_.line_start)))
    return fmt::format("write \\u{:04X} in a string", byte);
  return byte == '\r' ? "a line ends with a line feed" : "remove it";
}

bool TextScanner::scan_line() {
  skip_blanks();
  if (at_end_of_line()) {
    if (place_.at < text_.size()) skip_newline();
    return true;
  }
  if (current() == '#') {
    place_.at = end_of_line();
    return true;
  }
  return current() == '[' ? scan_header() : scan_pair(table_, 0) && scan_end_of_line("the value");
}

bool TextScanner::scan_header() {
  const size_t begin = place_.at;
  const bool is_array = text_.substr(place_.at).starts_with("[[");
  const std::string_view open = is_array ? "[[" : "[";
  const std::string_view close = is_array ? "]]" : "]";
  place_.at += open.size();
  skip_blanks();
  if (at_end_of_line() || std::string_view("]#=[").contains(current()))
    return fail(begin, place_.at, fmt::format("a name must follow '{}'", open));
  Parts parts;
  if (!scan_key(parts, true)) return false;
  has_amounts_ = has_amounts(parts);
  if (!text_.substr(place_.at).starts_with(close)) return fail_in_header(begin, close, parts);
  place_.at += close.size();
  const std::string_view title = text_.substr(begin, place_.at - begin);
  const auto node = is_array ? names_.define_array_element(parts, place_.line, title)
                             : names_.define_table(parts, place_.line, title);
  if (!node && node.error().contains("is defined twice"))
    return fail(begin, place_.at, node.error(),
                parts.back() == "rule" ? "write [[rule]]"
                : is_array             ? hint_for_array(parts.back(), text_.substr(end_of_line()))
                                       : "put its keys under the first");
  return defined(begin, place_.at, node, table_) && scan_end_of_line(fmt::format("'{}'", close));
}

bool TextScanner::scan_pair(Node table, unsigned depth) {
  const size_t begin = place_.at;
  Parts parts;
  if (!scan_key(parts, false)) return false;
  const std::string_view key = text_.substr(begin, place_.at - begin);
  if (current() != '=') return fail_after_key(begin, trim(key));
  Node node{};
  const auto value = names_.define_value(table, parts, place_.line);
  // "l3.exclusive = true" below l3 = "4 ways".
  if (!value && value.error().contains("already has a value") && is_key_of_groups(parts.back()) &&
      (has_amounts_ || has_amounts(parts)))
    return fail(begin, begin + trim(key).size(), value.error(),
                fmt::format("it is a key of the table itself: write {} = ...", parts.back()));
  if (!defined(begin, begin + trim(key).size(), value, node)) return false;
  key_ = parts.back();
  place_.at++;
  skip_blanks();
  return scan_value(node, depth);
}

bool TextScanner::is_disguised(size_t at) const {
  if (at >= text_.size()) return false;
  const Character first = first_character(text_.substr(at));
  const std::string_view character = text_.substr(at, first.length);
  return is_no_break_space(character) || is_invisible(character) || looks_like(first.code) != '\0';
}

bool TextScanner::fail_disguised(size_t at) {
  const Character first = first_character(text_.substr(at));
  if (is_no_break_space(text_.substr(at, first.length))) return fail_at_blank(at);
  const char latin = looks_like(first.code);
  return fail(at, at + first.length, character_text(text_.substr(at)) + ", cannot be here",
              latin == '\0' ? "delete it" : fmt::format("write '{}'", latin));
}

// The key is followed by something else than '='.
bool TextScanner::fail_after_key(size_t begin, std::string_view key) {
  if (is_disguised(place_.at)) return fail_disguised(place_.at);
  return fail(place_.at, place_.at + 1, fmt::format("'=' is missing after the key '{}'", key),
              pair_hint(text_.substr(begin, end_of_line() - begin), key));
}

// Of a header that lacks its end only.
std::string TextScanner::hint_for_header(size_t begin, std::string_view close, const Parts& parts) {
  const std::string_view name = parts.size() == 1 && is_named_table(parts[0]) ? ".NAME" : "";
  return fmt::format("write {}{}{}", trim(text_.substr(begin, place_.at - begin)), name, close);
}

// The name of a header is followed by something else than `close`.
bool TextScanner::fail_in_header(size_t begin, std::string_view close, const Parts& parts) {
  std::string_view rest = text_.substr(place_.at, end_of_line() - place_.at);
  if (is_disguised(place_.at)) return fail_disguised(place_.at);
  rest = rest.substr(0, rest.find('#'));
  const size_t end = rest.find(']');
  if (end == std::string_view::npos || end == 0)
    return fail(begin, place_.at, fmt::format("'{}' is missing after the name", close),
                trim(rest).empty() || rest == "]" ? hint_for_header(begin, close, parts) : "");
  std::string_view name = trim(rest.substr(0, end));
  if (name.starts_with(':') || name.starts_with('/')) name = trim(name.substr(1));
  name = without_quotes(name);
  const bool is_kind = parts.size() == 1 && !name.empty() && std::ranges::all_of(name, is_bare) &&
                       is_named_table(parts[0]);
  const size_t length = first_character(rest).length;
  if (is_kind)
    return fail(place_.at, place_.at + length, fmt::format("'.' is missing after '{}'", parts[0]),
                fmt::format("write [{}.{}]", parts[0], name));
  const bool apart = blank.contains(text_[place_.at - 1]);
  return fail(place_.at, place_.at + length,
              apart ? fmt::format("unexpected '{}' after the name", rest.substr(0, length))
                    : fmt::format("'{}' is not allowed in a name", rest.substr(0, length)),
              length > 1 ? std::string(letters_of_names)
                         : "a name consists of letters, digits, '_' and '-'");
}

// Dotted or not, with the blanks behind it.
bool TextScanner::scan_key(Parts& parts, bool in_header) {
  const size_t begin = place_.at;
  while (true) {
    skip_blanks();
    if (!scan_key_part(parts, in_header, begin)) return false;
    if (parts.size() > most_parts)
      return fail(begin, place_.at, fmt::format("a key has at most {} parts", most_parts));
    skip_blanks();
    if (current() != '.') return true;
    place_.at++;
  }
}

bool TextScanner::scan_key_part(Parts& parts, bool in_header, size_t begin) {
  const size_t start = place_.at;
  if (current() == '"' || current() == '\'') {
    const std::string_view three = text_.substr(place_.at, 3);
    if (three == "\"\"\"" || three == "'''")
      return fail(place_.at, place_.at + 3, "a key cannot be a multi-line string");
    if (!scan_string()) return false;
    parts.push_back(text_.substr(start + 1, place_.at - start - 2));
    return true;
  }
  while (place_.at < text_.size() && is_bare(text_[place_.at])) place_.at++;
  if (place_.at > start) {
    parts.push_back(text_.substr(start, place_.at - start));
    return true;
  }
  const std::string_view found =
      start == text_.size() ? "" : text_.substr(start, first_character(text_.substr(start)).length);
  // Quotes would not help: no group can have the name.
  if (in_header && !parts.empty() && found.size() > 1 && !is_disguised(start))
    return fail(start, start + found.size(), fmt::format("'{}' is not allowed in a name", found),
                std::string(letters_of_names));
  if (const size_t dot = text_.substr(0, start).find_last_not_of(blank); start > begin)
    return fail(dot, dot + 1, "a name must follow '.'");
  if (current() == '.' || current() == '=')
    return fail(place_.at, place_.at + 1, fmt::format("a name must come before '{}'", current()));
  if (is_disguised(place_.at)) return fail_disguised(place_.at);
  const std::string_view line = text_.substr(place_.at, end_of_line() - place_.at);
  const size_t end = line.find(in_header ? ']' : '=');
  if (end == std::string_view::npos || std::string_view("]}{,").contains(found))
    return fail(place_.at, place_.at + 1,
                fmt::format("unexpected '{}'; a key must stand here", found),
                line.starts_with("```") ? "remove this line: Markdown has it around a text" : "");
  return fail(place_.at, place_.at + found.size(),
              fmt::format("'{}' is not allowed in a key without quotes", found),
              sign_hint(trim(line.substr(0, end))));
}

bool TextScanner::scan_end_of_line(std::string_view after) {
  skip_blanks();
  if (current() == '#' && place_.at < text_.size()) place_.at = end_of_line();
  if (at_end_of_line()) return true;
  const std::string_view found = trim(text_.substr(place_.at, end_of_line() - place_.at));
  if (is_disguised(place_.at)) return fail_disguised(place_.at);
  const std::string_view rest = trim(found.substr(1));
  const bool is_mark =
      std::string_view(";,]").contains(found.front()) && (rest.empty() || rest.starts_with('#'));
  const bool after_rule =
      found.front() == ']' &&
      trim(text_.substr(place_.line_start, place_.at - place_.line_start)) == "[rule]";
  const bool is_comment = found.starts_with("//") || found.starts_with("-- ") ||
                          found.starts_with("/*") || found.starts_with("; ");
  return fail(place_.at, place_.at + found.size(),
              fmt::format("unexpected '{}' after {}", found, after),
              is_mark && after_rule ? "write [[rule]]"
              : is_mark             ? "remove it: nothing follows a value"
              : is_comment          ? "a comment begins with '#'"
              : found == "{"        ? "remove it, and the '}' at the end: the header is enough"
                                    : rest_hint(key_, value_before(place_.at), found));
}

// The value that ends at this place of the present line; empty of a header.
std::string_view TextScanner::value_before(size_t at) const {
  const std::string_view line = text_.substr(place_.line_start, at - place_.line_start);
  const size_t sign = line.find('=');
  return sign == std::string_view::npos ? "" : trim(line.substr(sign + 1));
}

// Counts a key or a table, at bytes [begin, end).
bool TextScanner::defined(size_t begin, size_t end, const NameTree::Outcome& outcome, Node& node) {
  if (!outcome) return fail(begin, end, outcome.error());
  if (++definitions_ > most_names)
    return fail(begin, begin + 1, fmt::format("a file has at most {} keys and tables", most_names));
  node = *outcome;
  return true;
}

std::optional<Diagnostic> check_text(const std::string& file, std::string_view text) {
  return TextScanner(file, text).scan();
}

}  // namespace rdtd
