// The values of a policy's text: strings, arrays, tables in braces, and what has no quotes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "characters.hpp"
#include "line_meant.hpp"
#include "plain_value.hpp"
#include "text_scanner.hpp"

namespace rdtd {

namespace {

constexpr unsigned deepest = 16;  // arrays and inline tables within each other

}  // namespace

bool TextScanner::scan_value(Node node, unsigned depth) {
  if (depth > deepest)
    return fail(place_.at, place_.at + 1,
                fmt::format("values are nested more than {} levels deep", deepest));
  switch (current()) {
    case '"':
    case '\'': {
      const std::string_view three = text_.substr(place_.at, 3);
      if (three == "\"\"\"" || three == "'''") return scan_multi_line_string(three);
      return scan_string();
    }
    case '[': return scan_array(depth);
    case '{': return scan_inline_table(node, depth);
    default: return scan_plain(depth);
  }
}

void TextScanner::skip_lines_and_comments() {
  while (true) {
    skip_blanks();
    if (current() == '#' && place_.at < text_.size()) place_.at = end_of_line();
    if (place_.at >= text_.size() || !at_end_of_line()) return;
    skip_newline();
  }
}

bool TextScanner::scan_array(unsigned depth) {
  const Place begin = place_;
  const auto unclosed = [&] {
    place_ = begin;
    return fail(begin.at, begin.at + 1, "']' is missing: this array does not end");
  };
  place_.at++;
  while (true) {
    skip_lines_and_comments();
    if (place_.at >= text_.size()) return unclosed();
    if (current() == ']') break;
    if (!scan_value(names_.make_node(), depth + 1)) return false;
    skip_lines_and_comments();
    if (place_.at >= text_.size()) return unclosed();
    if (current() == ']') break;
    if (current() != ',')
      return fail(place_.at, place_.at + 1, "',' or ']' is missing in the array");
    place_.at++;
  }
  place_.at++;
  return true;
}

bool TextScanner::scan_inline_table(Node node, unsigned depth) {
  const size_t begin = place_.at++;
  skip_blanks();
  while (current() != '}') {
    if (at_end_of_line() || current() == '#')
      return fail(begin, place_.at, "'}' is missing: a table in braces must end on its own line");
    if (!scan_pair(node, depth + 1)) return false;
    skip_blanks();
    if (current() == '}') break;
    if (at_end_of_line() || current() == '#')
      return fail(begin, place_.at, "'}' is missing: a table in braces must end on its own line");
    if (current() != ',')
      return fail(place_.at, place_.at + 1, "',' or '}' is missing in the table");
    const size_t comma = place_.at++;
    skip_blanks();
    if (current() == '}') return fail(comma, comma + 1, "remove the ',' before '}'");
  }
  place_.at++;
  return true;
}

// A value without quotes or brackets.
// All words of an array on this line.
std::string TextScanner::hint_of_unquoted_array() const {
  const size_t open = text_.find('[', place_.line_start), close = text_.rfind(']', end_of_line());
  if (open >= place_.at || close == std::string_view::npos || close <= place_.at) return {};
  return list_hint(key_, fmt::format("({})", text_.substr(open + 1, close - open - 1)));
}

bool TextScanner::scan_plain(unsigned depth) {
  const std::string_view ends = depth == 0 ? "#\r\n" : "#,]}\r\n";
  const size_t end = std::min(text_.find_first_of(ends, place_.at), text_.size());
  const std::string_view value = trim(text_.substr(place_.at, end - place_.at));
  if (value.empty()) return fail(place_.at, place_.at + 1, "a value is missing");
  if (place_.at > 0 && text_[place_.at - 1] == '=' &&
      (value.front() == '=' || value.front() == '>'))
    return fail(place_.at, place_.at + 1,
                fmt::format("'{}' is not a value: one '=' is enough", value.front()));
  if (place_.at > 0 && text_[place_.at - 1] == '=' && value.front() == '~')
    return fail(place_.at, place_.at + 1, "'~' is not a value: one '=' is enough",
                "a pattern is a glob");
  if (const size_t at = find_no_break_space(value); at != std::string_view::npos)
    return fail_at_blank(place_.at + at);
  if (is_plain_value(value)) {
    if (is_too_large(value))
      return fail(place_.at, place_.at + value.size(),
                  fmt::format("'{}' is {} than any number of TOML", value,
                              value.starts_with('-') ? "smaller" : "larger"));
    place_.at += value.size();
    return true;
  }
  // "true;", after which scan_end_of_line() finds the mark.
  if (depth == 0 && (value.ends_with(';') || value.ends_with(',')) &&
      is_plain_value(trim(value.substr(0, value.size() - 1)))) {
    place_.at += value.size() - 1;
    return true;
  }
  // A word in [guard].
  if (key_ == "mode" && (lower(value) == "on" || lower(value) == "off"))
    return fail(place_.at, place_.at + value.size(), fmt::format("'{}' is not in quotes", value),
                fmt::format("write \"{}\"", lower(value)));
  if (const auto boolean = boolean_meant(value))
    return fail(place_.at, place_.at + value.size(), fmt::format("'{}' is not a value", value),
                fmt::format("write {}", *boolean));
  if (value.front() == '$')
    return fail(place_.at, place_.at + value.size(),
                fmt::format("'{}' is not a value: TOML has no variables", value),
                "write the text itself, in quotes");
  if (auto hint = depth == 0 ? list_hint(key_, value) : ""; !hint.empty())
    return fail(place_.at, place_.at + value.size(), fmt::format("'{}' is not in quotes", value),
                std::move(hint));
  if (value.back() == '"' || value.back() == '\'')
    return fail(place_.at, place_.at + value.size(),
                fmt::format("the opening {} is missing", value.back()));
  if (value.contains('=') || std::string_view("[]{}").contains(value.back()) ||
      value.front() == ',')
    return fail(place_.at, place_.at + value.size(), fmt::format("'{}' is not a value", value));
  for (const std::string_view nothing : {"null", "nil", "undefined", "~"})
    if (lower(value) == nothing || value == "None")
      return fail(place_.at, place_.at + value.size(), fmt::format("'{}' is not a value", value),
                  "without a value, leave the key out");
  const std::string word = lower(value);
  const bool is_choice =
      (key_ == "log_level" && is_one_of(word, {"debug", "info", "warning", "error"})) ||
      (key_ == "drift" && is_one_of(word, {"restore", "report"})) ||
      (key_ == "unsupported" && is_one_of(word, {"refuse", "skip"})) ||
      (key_ == "readers" && depth == 0 && is_one_of(word, {"group", "all"}));
  if (is_choice)
    return fail(place_.at, place_.at + value.size(), fmt::format("'{}' is not in quotes", value),
                "write " + rdtd::quoted(word));
  std::string all = hint_of_unquoted_array();
  return fail(place_.at, place_.at + value.size(), fmt::format("'{}' is not in quotes", value),
              all.empty() ? value_hint(key_, value) : std::move(all));
}

// On one line.
bool TextScanner::scan_string() {
  const size_t begin = place_.at;
  const char quote = text_[place_.at++];
  while (place_.at < text_.size() && !at_end_of_line()) {
    const char c = text_[place_.at];
    if (c == '\\' && quote == '"') {
      if (!scan_escape(false)) return false;
      continue;
    }
    place_.at++;
    if (c == quote) return true;
  }
  return fail(begin, text_.size(), fmt::format("the closing {} is missing", quote));
}

bool TextScanner::scan_multi_line_string(std::string_view quotes) {
  const Place begin = place_;
  place_.at += quotes.size();
  while (place_.at < text_.size()) {
    if (text_.substr(place_.at).starts_with(quotes)) {
      place_.at += quotes.size();
      // Up to two more belong to the string.
      for (int more = 0; more < 2 && current() == quotes.front(); more++) place_.at++;
      return true;
    }
    if (text_[place_.at] == '\\' && quotes.front() == '"') {
      if (!scan_escape(true)) return false;
    } else if (at_end_of_line()) {
      skip_newline();
    } else {
      place_.at++;
    }
  }
  place_ = begin;
  return fail(begin.at, text_.size(), fmt::format("the closing {} is missing", quotes));
}

bool TextScanner::scan_escape(bool multi_line) {
  const size_t begin = place_.at++;
  if (multi_line && (at_end_of_line() || blank.contains(current()))) {
    skip_blanks();
    while (place_.at < text_.size() && at_end_of_line()) {
      skip_newline();
      skip_blanks();
    }
    // toml++ has undefined behaviour on such a character here.
    if (place_.at < text_.size() && static_cast<unsigned char>(text_[place_.at]) >= 0x80)
      return fail(place_.at, place_.at + 1,
                  "a line that continues another must begin with an ASCII character");
    return true;
  }
  constexpr std::string_view known = "btnfr\"\\uU";
  if (!at_end_of_line() && known.contains(current())) {
    place_.at++;
    return true;
  }
  if (at_end_of_line()) return true;  // the caller reports the missing quote
  const size_t length = first_character(text_.substr(place_.at)).length;
  return fail(begin, place_.at + length,
              fmt::format("'{}' is not an escape sequence", text_.substr(begin, length + 1)),
              "write \"\\\\\" for a backslash, or use single quotes");
}

}  // namespace rdtd
