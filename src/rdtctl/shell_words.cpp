#include "shell_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

class ShellReader {
 public:
  explicit ShellReader(std::string_view text) : text_(text) {}
  std::vector<ShellWord> read();

 private:
  void end_command();
  void take(char c);
  [[nodiscard]] bool is_apostrophe(char c) const;
  void add(char c) {
    if (!in_word_) out_.push_back({.text = {}, .line = line_});
    in_word_ = true;
    if (c != '\0') out_.back().text += c;
  }

  std::string_view text_;
  std::vector<ShellWord> out_;
  size_t at_ = 0;
  unsigned line_ = 1;
  bool in_word_ = false, in_comment_ = false;
  char quote_ = '\0';
};

void ShellReader::end_command() {
  if (in_word_ || (!out_.empty() && !out_.back().text.empty()))
    out_.push_back({.text = {}, .line = line_});
  in_word_ = false;
}

// That of "don't" in the text of another format opens no quotes; -a'core:1=0' does.
bool ShellReader::is_apostrophe(char c) const {
  const auto is_letter = [&](size_t at) {
    return at < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at])) != 0;
  };
  return c == '\'' && quote_ == '\0' && in_word_ && !out_.back().text.starts_with('-') &&
         is_letter(at_ - 1) && is_letter(at_ + 1);
}

void ShellReader::take(char c) {
  in_comment_ = (in_comment_ || (quote_ == '\0' && !in_word_ && c == '#')) && c != '\n';
  if (in_comment_) return;
  const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  const bool goes_on = c == '\\' && next == '\n' && quote_ != '\'';
  if (goes_on) {
    at_++;
    line_++;
    if (quote_ == '\0') in_word_ = false;
    return;
  }
  // Between double quotes, '\' stays before the other characters.
  const bool escapes =
      c == '\\' && next != '\0' && next != '\n' &&
      (quote_ == '\0' || (quote_ == '"' && std::string_view("\"\\$`").contains(next)));
  if (escapes) {
    add(next);
    at_++;
  } else if (quote_ == '\0' && std::string_view(" \t\r<>").contains(c)) {
    in_word_ = false;
  } else if (quote_ == '\0' && std::string_view("\n;&|()`").contains(c)) {
    end_command();
  } else if (!is_apostrophe(c) && (quote_ != '\0' ? c == quote_ : c == '"' || c == '\'')) {
    add('\0');
    quote_ = quote_ == '\0' ? c : '\0';
  } else {
    add(c);
  }
  if (c == '\n') line_++;
}

std::vector<ShellWord> ShellReader::read() {
  for (; at_ < text_.size(); at_++) take(text_[at_]);
  return std::move(out_);
}

constexpr unsigned deepest_quotes = 4;

// Whether a word with blanks is a command line of its own: not a text for people that names the
// program. `first` and `before` are words of the command that it is in.
bool is_command_line(std::string_view word, std::string_view first, std::string_view before,
                     std::string_view program) {
  if (word.find_first_of(" \t\n") == std::string_view::npos || !lower(word).contains(program))
    return false;
  // os.system("pqos ..."), but not NAME="pqos ..."
  const std::string_view first_within = word.substr(0, word.find_first_of(" \t\n="));
  if (before.empty() && starts_program(first_within, program)) return true;
  constexpr auto launchers = std::to_array<std::string_view>({"ssh", "su", "watch"});
  constexpr auto in_front = std::to_array<std::string_view>({"-c", "-c,", "-", "eval"});
  constexpr auto keys = std::to_array<std::string_view>({"shell:", "command:", "cmd:", "raw:"});
  return std::ranges::find(launchers, first) != launchers.end() ||
         std::ranges::find(in_front, before) != in_front.end() ||
         std::ranges::any_of(keys, [&](std::string_view key) { return before.ends_with(key); }) ||
         word.starts_with("Exec");
}

std::vector<ShellWord> words_within(std::string_view text, std::string_view program,
                                    unsigned depth) {
  std::vector<ShellWord> out;
  std::string first, before;  // words of the command
  for (ShellWord& word : ShellReader(text).read()) {
    if (before.empty()) first = word.text;
    const bool is_one =
        depth < deepest_quotes && is_command_line(word.text, first, before, program);
    before = word.text;
    if (!is_one) {
      out.push_back(std::move(word));
      continue;
    }
    out.push_back({.text = {}, .line = word.line});
    for (ShellWord& inner : words_within(word.text, program, depth + 1)) {
      inner.line += word.line - 1;
      out.push_back(std::move(inner));
    }
    out.push_back({.text = {}, .line = word.line});
  }
  return out;
}

}  // namespace

std::vector<ShellWord> shell_words(std::string_view text, std::string_view program) {
  return words_within(text, program, 0);
}

bool starts_program(std::string_view word, std::string_view program) {
  if (const size_t before = word.find_last_of("/="); before != std::string_view::npos)
    word.remove_prefix(before + 1);
  if (!word.starts_with('$'))
    return word == program ||
           (word.starts_with(program) &&
            (word.substr(program.size()) == "-os" || word.substr(program.size()) == "-msr"));
  word.remove_prefix(1);
  if (word.starts_with('{') && word.ends_with('}')) word = word.substr(1, word.size() - 2);
  return lower(word) == program;
}

bool has_unknown_value(std::string_view word) {
  // "%i" is a specifier of systemd, "50%" is none.
  const auto letter = std::ranges::adjacent_find(word, [](char sign, char next) {
    return sign == '%' && std::isalpha(static_cast<unsigned char>(next)) != 0;
  });
  return word.find_first_of("$`{") != word.npos || letter != word.end();
}

}  // namespace rdtd
