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
  void end_command(char c);
  void take(char c);
  bool skip_redirection();
  [[nodiscard]] bool is_apostrophe(char c) const;
  [[nodiscard]] bool is_of_list(char c) const;
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

void ShellReader::end_command(char c) {
  if (in_word_ || (!out_.empty() && !out_.back().text.empty()))
    out_.push_back({.text = {}, .line = line_});
  if (!out_.empty()) out_.back().ends += c;
  in_word_ = false;
}

// "2>/dev/null", ">> log", "2>&1", "<<EOF" behind a command: none of it is a word of the command.
// A tag of XML and a prompt are others.
bool ShellReader::skip_redirection() {
  constexpr std::string_view signs = "<>&|";
  const bool is_count =
      in_word_ && out_.back().text.find_first_not_of("0123456789") == std::string::npos;
  const bool in_command = !out_.empty() && !out_.back().text.empty();
  const std::string_view rest = text_.substr(at_);
  const bool is_tag =
      rest.size() > 1 && rest[0] == '<' && std::isalpha(static_cast<unsigned char>(rest[1])) != 0;
  if (!in_command || (in_word_ && !is_count) || is_tag) return false;
  if (is_count) out_.pop_back();
  size_t end = std::min(rest.find_first_not_of(signs), rest.size());
  end = std::min(rest.find_first_not_of(" \t", end), rest.size());
  char quote = '\0';
  for (; end < rest.size(); ++end) {
    const char c = rest[end];
    if (quote == '\0' && std::string_view(" \t\r\n;&|()`<>").contains(c)) break;
    if (quote == '\0' && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = '\0';
    if (c == '\n') line_++;
  }
  at_ += end - 1;
  in_word_ = false;
  return true;
}

// That of "don't" in the text of another format opens no quotes; -a'core:1=0' does.
bool ShellReader::is_apostrophe(char c) const {
  const auto is_letter = [&](size_t at) {
    return at < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at])) != 0;
  };
  return c == '\'' && quote_ == '\0' && in_word_ && !out_.back().text.starts_with('-') &&
         is_letter(at_ - 1) && is_letter(at_ + 1);
}

// Of ["pqos", "-e", "llc:1=0xf"], as Python and JSON have it.
bool ShellReader::is_of_list(char c) const {
  const auto is_quote = [&](size_t at) {
    return at < text_.size() && (text_[at] == '"' || text_[at] == '\'');
  };
  if (quote_ != '\0') return false;
  if (c == '[') return !in_word_ && is_quote(at_ + 1);
  // In a shell, what is directly behind a ',' is of the same word.
  const bool goes_on = c == ',' && at_ + 1 < text_.size() &&
                       std::isalnum(static_cast<unsigned char>(text_[at_ + 1])) != 0;
  return (c == ',' || c == ']') && !goes_on && at_ > 0 && is_quote(at_ - 1);
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
  } else if (quote_ == '\0' && (c == '<' || c == '>') && skip_redirection()) {
    return;
  } else if (is_of_list(c) || (quote_ == '\0' && std::string_view(" \t\r<>").contains(c))) {
    in_word_ = false;
  } else if (quote_ == '\0' && std::string_view("\n;&|()`").contains(c)) {
    end_command(c);
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

// Which words are only run on a stop or a reload: in ExecStop= of a unit, behind "stop)" of a case,
// and in a function stop().
class PartReader {
 public:
  void mark(std::vector<ShellWord>& words);

 private:
  void begin_line(std::string_view first);
  void end_command(const ShellWord& first, const ShellWord& last, const std::string& ends);

  std::string_view when_;
  bool of_unit_ = false, of_case_ = false;
  bool other_label_ = false;  // before a '|', of a part that is run at other times
  std::string separator_;     // in front of the present command
  size_t cases_ = 0;          // that were begun
  size_t depth_ = 0;          // of the braces of a function
};

std::string_view time_of_label(std::string_view word) {
  const std::string small = lower(word);
  return small.contains("stop") ? "stop" : small == "reload" ? "reload" : "";
}

void PartReader::begin_line(std::string_view first) {
  for (const auto& [key, when] :
       {std::pair("ExecStop=", "stop"), {"ExecStopPost=", "stop"}, {"ExecReload=", "reload"}})
    if (first.starts_with(key)) {
      when_ = when;
      of_unit_ = true;
    }
}

// `ends`: what ended the command.
void PartReader::end_command(const ShellWord& first, const ShellWord& last,
                             const std::string& ends) {
  const bool is_over = (of_unit_ && ends.contains('\n')) ||
                       (of_case_ && (ends.contains(";;") || last.text == "esac"));
  if (is_over) {
    when_ = {};
    of_unit_ = of_case_ = false;
  }
  if (first.text == "case") cases_++;
  if (last.text == "esac" && cases_ > 0) cases_--;
  const bool is_function = ends.starts_with("()");
  const bool stands_alone = &first == &last || first.text == (is_function ? "function" : "case");
  // Not that of a command in "$(...)".
  const bool of_label = cases_ > 0 && stands_alone && !separator_.ends_with('(');
  const bool is_label = of_label && ends.starts_with(')');
  const bool other = std::exchange(other_label_, false);
  if (of_label && ends == "|") other_label_ = other || time_of_label(last.text).empty();
  if (!when_.empty() || other || !stands_alone || !(is_function || is_label)) return;
  when_ = time_of_label(last.text);
  of_case_ = is_label && !when_.empty();
}

void PartReader::mark(std::vector<ShellWord>& words) {
  const ShellWord *first = nullptr, *last = nullptr;
  for (ShellWord& word : words) {
    if (word.text.empty()) {
      if (last != nullptr) end_command(*first, *last, word.ends);
      separator_ = word.ends;
      first = last = nullptr;
      continue;
    }
    if (first == nullptr) begin_line(word.text);
    const bool in_function = !when_.empty() && !of_unit_ && !of_case_;
    if (in_function && word.text == "{") depth_++;
    if (in_function && depth_ == 0) when_ = {};
    word.when = when_;
    if (in_function && depth_ > 0 && word.text == "}" && --depth_ == 0) when_ = {};
    if (first == nullptr) first = &word;
    last = &word;
  }
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
  std::vector<ShellWord> words = ShellReader(text).read();
  PartReader().mark(words);
  for (ShellWord& word : words) {
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
      if (!word.when.empty()) inner.when = word.when;
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
