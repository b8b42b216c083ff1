// TextScanner: reads the text of a policy once, to find what no policy has before toml++ reads it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "characters.hpp"
#include "name_tree.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/diagnostic.hpp"
#include "rdtd/policy/search.hpp"

namespace rdtd {

// Reads the text once from front to back. Each function leaves `place_.at` behind the thing that it
// has read, or sets `error_` and returns false.
class TextScanner {
 public:
  TextScanner(const std::string& file, std::string_view text) : file_(file), text_(text) {}

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
  static constexpr std::string_view blank = " \t";
  struct Place {
    size_t at = 0;
    unsigned line = 1;
    size_t line_start = 0;
  };
  using Parts = std::vector<std::string_view>;
  using Node = NameTree::Node;

  bool fail(size_t from, size_t to, std::string message, std::string hint = {});
  bool check_characters();
  [[nodiscard]] std::string hint_for_control(unsigned char byte) const;
  bool scan_line();
  bool scan_header();
  bool scan_pair(Node table, unsigned depth);
  bool scan_key(Parts& parts, bool in_header);
  bool scan_key_part(Parts& parts, bool in_header, size_t begin);
  bool scan_value(Node node, unsigned depth);
  bool scan_array(unsigned depth);
  bool scan_inline_table(Node node, unsigned depth);
  [[nodiscard]] std::string hint_of_unquoted_array() const;
  bool scan_plain(unsigned depth);
  bool scan_string();
  bool scan_multi_line_string(std::string_view quotes);
  bool scan_escape(bool multi_line);
  bool scan_end_of_line(std::string_view after);
  [[nodiscard]] std::string_view value_before(size_t at) const;
  bool fail_at_blank(size_t at) {
    const std::string_view rest = text_.substr(at);
    return fail(at, at + first_character(rest).length,
                character_text(rest) + ", is not a space in TOML", "write an ordinary space");
  }
  // A character that is not what it looks like.
  [[nodiscard]] bool is_disguised(size_t at) const;
  bool fail_disguised(size_t at);
  bool fail_after_key(size_t begin, std::string_view key);
  std::string hint_for_header(size_t begin, std::string_view close, const Parts& parts);
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
  bool scanning_ = false;     // all characters are good
  Node table_ = Node::root;   // of the last header
  bool has_amounts_ = false;  // that table can have them
  std::string_view key_;      // the last part of the last key
  std::optional<Diagnostic> error_;
};

}  // namespace rdtd
