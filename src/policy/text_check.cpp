#include "text_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "line_meant.hpp"
#include "name_tree.hpp"
#include "plain_value.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/search.hpp"

namespace rdtd {

namespace {

constexpr size_t most_names = 100'000;  // keys and tables; toml++ is quadratic in some of them
constexpr size_t most_parts = 16;       // of a dotted key
constexpr unsigned deepest = 16;        // arrays and inline tables within each other

constexpr std::string_view blank = " \t";

bool is_bare(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_';
}

std::string_view without_quotes(std::string_view text) {
  const bool is_quoted = text.size() > 1 && text.front() == text.back() &&
                         (text.front() == '"' || text.front() == '\'');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

// Reads the text once from front to back. Each function leaves `place_.at` behind the thing that it
// has read, or sets `error_` and returns false.
class Scanner {
 public:
  Scanner(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  std::optional<Diagnostic> scan() {
    if (text_.size() > policy_file_limit) {
      const Location whole_file{.file = file_};
      error_ = {Severity::error, whole_file, "is larger than 1 MiB, which no policy is", {}};
      return error_;
    }
    if (!check_characters()) return error_;
    scanning_ = true;
    place_.line = 1;
    place_.line_start = place_.at = text_.starts_with("\xef\xbb\xbf") ? 3 : 0;
    while (place_.at < text_.size() && scan_line()) continue;
    return error_;
  }

 private:
  struct Place {
    size_t at = 0;
    unsigned line = 1;
    size_t line_start = 0;
  };
  using Parts = std::vector<std::string_view>;
  using Node = NameTree::Node;

  bool fail(size_t from, size_t to, std::string message, std::string hint = {});
  bool check_characters();
  [[nodiscard]] bool is_in_string() const {
    return std::ranges::count(text_.substr(place_.line_start, place_.at - place_.line_start), '"') %
               2 ==
           1;
  }
  bool scan_line();
  bool scan_header();
  bool scan_pair(Node table, unsigned depth);
  bool scan_key(Parts& parts, bool in_header);
  bool scan_key_part(Parts& parts, bool in_header, size_t begin);
  bool scan_value(Node node, unsigned depth);
  bool scan_array(unsigned depth);
  bool scan_inline_table(Node node, unsigned depth);
  bool scan_plain(unsigned depth);
  bool scan_string();
  bool scan_multi_line_string(std::string_view quotes);
  bool scan_escape(bool multi_line);
  bool scan_end_of_line(std::string_view after);
  bool fail_at_blank(size_t at) {
    return fail(at, at + no_break_space.size(), "U+00A0, a no-break space, separates nothing",
                "write an ordinary space");
  }
  bool fail_after_key(size_t begin, std::string_view key);
  bool fail_in_header(size_t begin, std::string_view close, const Parts& parts);
  bool defined(size_t begin, size_t end, const NameTree::Outcome& outcome, Node& node);

  [[nodiscard]] char current() const { return place_.at < text_.size() ? text_[place_.at] : '\n'; }
  [[nodiscard]] bool at_end_of_line() const { return current() == '\n' || current() == '\r'; }
  [[nodiscard]] size_t end_of_line() const {
    return std::min(text_.find_first_of("\r\n", place_.at), text_.size());
  }
  void skip_blanks() {
    place_.at = std::min(text_.find_first_not_of(blank, place_.at), text_.size());
  }
  void skip_newline() {
    place_.at = std::min(text_.find('\n', place_.at), text_.size() - 1) + 1;
    place_.line++;
    place_.line_start = place_.at;
  }
  void skip_lines_and_comments();

  const std::string& file_;
  std::string_view text_;
  Place place_;
  NameTree names_{file_};
  size_t definitions_ = 0;
  bool scanning_ = false;    // all characters are good
  Node table_ = Node::root;  // of the last header
  std::string_view key_;     // the last part of the last key
  std::optional<Diagnostic> error_;
};

// Reports bytes [from, to) of the present line, or up to its end.
bool Scanner::fail(size_t from, size_t to, std::string message, std::string hint) {
  if (scanning_) {
    const size_t begin = place_.line_start;
    auto known = line_hint(text_.substr(begin, text_.find('\n', begin) - begin), definitions_ == 0);
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

bool Scanner::check_characters() {
  for (place_.at = 0; place_.at < text_.size();) {
    const Character character = first_character(text_.substr(place_.at));
    const auto byte = static_cast<unsigned char>(text_[place_.at]);
    if (place_.at == 0 && (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff")))
      return fail(0, 2, "the file is UTF-16", "save it as UTF-8");
    if (character.length == 0)
      return fail(place_.at, place_.at + 1, fmt::format("byte 0x{:02x} is not valid UTF-8", byte));
    const bool newline = byte == '\n' || text_.substr(place_.at).starts_with("\r\n");
    if ((byte < 0x20 && byte != '\t' && !newline) || byte == 0x7f)
      return fail(place_.at, place_.at + 1, fmt::format("control character U+{:04X}", byte),
                  byte == '\r' && !is_in_string()
                      ? "a line ends with a line feed"
                      : fmt::format("write \\u{:04X} in a string", byte));
    place_.at += character.length;
    if (byte != '\n') continue;
    place_.line++;
    place_.line_start = place_.at;
  }
  return true;
}

bool Scanner::scan_line() {
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

bool Scanner::scan_header() {
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
  if (!text_.substr(place_.at).starts_with(close)) return fail_in_header(begin, close, parts);
  place_.at += close.size();
  const std::string_view title = text_.substr(begin, place_.at - begin);
  const auto node = is_array ? names_.define_array_element(parts, place_.line, title)
                             : names_.define_table(parts, place_.line, title);
  return defined(begin, place_.at, node, table_) && scan_end_of_line(fmt::format("'{}'", close));
}

bool Scanner::scan_pair(Node table, unsigned depth) {
  const size_t begin = place_.at;
  Parts parts;
  if (!scan_key(parts, false)) return false;
  const std::string_view key = text_.substr(begin, place_.at - begin);
  if (current() != '=') return fail_after_key(begin, trim(key));
  Node node{};
  if (!defined(begin, begin + trim(key).size(), names_.define_value(table, parts, place_.line),
               node))
    return false;
  key_ = parts.back();
  place_.at++;
  skip_blanks();
  return scan_value(node, depth);
}

// The key is followed by something else than '='.
bool Scanner::fail_after_key(size_t begin, std::string_view key) {
  const std::string_view found = text_.substr(place_.at, end_of_line() - place_.at);
  if (found.starts_with(no_break_space)) return fail_at_blank(place_.at);
  const std::string_view first = found.substr(0, found.empty() ? 0 : first_character(found).length);
  if (is_invisible(first))
    return fail(place_.at, place_.at + first.size(),
                fmt::format("an invisible character after the key '{}'", key), "delete it");
  return fail(place_.at, place_.at + 1, fmt::format("'=' is missing after the key '{}'", key),
              pair_hint(text_.substr(begin, end_of_line() - begin), key));
}

// The name of a header is followed by something else than `close`.
bool Scanner::fail_in_header(size_t begin, std::string_view close, const Parts& parts) {
  std::string_view rest = text_.substr(place_.at, end_of_line() - place_.at);
  if (rest.starts_with(no_break_space)) return fail_at_blank(place_.at);
  rest = rest.substr(0, rest.find('#'));
  const size_t end = rest.find(']');
  if (end == std::string_view::npos || end == 0)
    return fail(begin, place_.at, fmt::format("'{}' is missing after the name", close));
  std::string_view name = trim(rest.substr(0, end));
  if (name.starts_with(':') || name.starts_with('/')) name = trim(name.substr(1));
  name = without_quotes(name);
  const bool is_kind =
      parts.size() == 1 && !name.empty() && std::ranges::all_of(name, is_bare) &&
      (parts[0] == "group" || parts[0] == "partition" || parts[0] == "pseudo_lock");
  const size_t length = first_character(rest).length;
  if (is_kind)
    return fail(place_.at, place_.at + length, fmt::format("'.' is missing after '{}'", parts[0]),
                fmt::format("write [{}.{}]", parts[0], name));
  const bool apart = blank.contains(text_[place_.at - 1]);
  return fail(place_.at, place_.at + length,
              apart ? fmt::format("unexpected '{}' after the name", rest.substr(0, length))
                    : fmt::format("'{}' is not allowed in a name", rest.substr(0, length)),
              "a name consists of letters, digits, '_' and '-'");
}

// Dotted or not, with the blanks behind it.
bool Scanner::scan_key(Parts& parts, bool in_header) {
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

bool Scanner::scan_key_part(Parts& parts, bool in_header, size_t begin) {
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
  if (const size_t dot = text_.substr(0, start).find_last_not_of(blank); start > begin)
    return fail(dot, dot + 1, "a name must follow '.'");
  if (current() == '.' || current() == '=')
    return fail(place_.at, place_.at + 1, fmt::format("a name must come before '{}'", current()));
  const std::string_view found =
      text_.substr(place_.at, first_character(text_.substr(place_.at)).length);
  if (found == no_break_space) return fail_at_blank(place_.at);
  const std::string_view line = text_.substr(place_.at, end_of_line() - place_.at);
  const size_t end = line.find(in_header ? ']' : '=');
  if (end == std::string_view::npos || std::string_view("]}{,").contains(found))
    return fail(place_.at, place_.at + 1,
                fmt::format("unexpected '{}'; a key must stand here", found));
  return fail(place_.at, place_.at + found.size(),
              fmt::format("'{}' is not allowed in a key without quotes", found),
              fmt::format("quote the key: {}", quoted(trim(line.substr(0, end)))));
}

bool Scanner::scan_value(Node node, unsigned depth) {
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

void Scanner::skip_lines_and_comments() {
  while (true) {
    skip_blanks();
    if (current() == '#' && place_.at < text_.size()) place_.at = end_of_line();
    if (place_.at >= text_.size() || !at_end_of_line()) return;
    skip_newline();
  }
}

bool Scanner::scan_array(unsigned depth) {
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

bool Scanner::scan_inline_table(Node node, unsigned depth) {
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
bool Scanner::scan_plain(unsigned depth) {
  const std::string_view ends = depth == 0 ? "#\r\n" : "#,]}\r\n";
  const size_t end = std::min(text_.find_first_of(ends, place_.at), text_.size());
  const std::string_view value = trim(text_.substr(place_.at, end - place_.at));
  if (value.empty()) return fail(place_.at, place_.at + 1, "a value is missing");
  if (place_.at > 0 && text_[place_.at - 1] == '=' &&
      (value.front() == '=' || value.front() == '>'))
    return fail(place_.at, place_.at + 1,
                fmt::format("'{}' is not a value: one '=' is enough", value.front()));
  if (const size_t at = value.find(no_break_space); at != std::string_view::npos)
    return fail_at_blank(place_.at + at);
  if (is_plain_value(value)) {
    place_.at += value.size();
    return true;
  }
  // A word in [guard].
  if (key_ == "mode" && (lower(value) == "on" || lower(value) == "off"))
    return fail(place_.at, place_.at + value.size(), fmt::format("'{}' is not in quotes", value),
                fmt::format("write \"{}\"", lower(value)));
  if (const auto boolean = boolean_meant(value))
    return fail(place_.at, place_.at + value.size(), fmt::format("'{}' is not a value", value),
                fmt::format("write {}", *boolean));
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
  return fail(place_.at, place_.at + value.size(), fmt::format("'{}' is not in quotes", value),
              fmt::format("quote it: {}", quoted(value)));
}

// On one line.
bool Scanner::scan_string() {
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

bool Scanner::scan_multi_line_string(std::string_view quotes) {
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

bool Scanner::scan_escape(bool multi_line) {
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

bool Scanner::scan_end_of_line(std::string_view after) {
  skip_blanks();
  if (current() == '#' && place_.at < text_.size()) place_.at = end_of_line();
  if (at_end_of_line()) return true;
  const std::string_view found = trim(text_.substr(place_.at, end_of_line() - place_.at));
  if (found.starts_with(no_break_space)) return fail_at_blank(place_.at);
  return fail(place_.at, place_.at + found.size(),
              fmt::format("unexpected '{}' after {}", found, after));
}

// Counts a key or a table, at bytes [begin, end).
bool Scanner::defined(size_t begin, size_t end, const NameTree::Outcome& outcome, Node& node) {
  if (!outcome) return fail(begin, end, outcome.error());
  if (++definitions_ > most_names)
    return fail(begin, begin + 1, fmt::format("a file has at most {} keys and tables", most_names));
  node = *outcome;
  return true;
}

}  // namespace

std::optional<Diagnostic> check_text(const std::string& file, std::string_view text) {
  return Scanner(file, text).scan();
}

}  // namespace rdtd
