// The command line while it is rewritten, in this order: its verb (guess_verb.cpp), options
// (guess_options.cpp) and other words (guess_arguments.cpp; guess_assign.cpp for assign, and
// guess_period.cpp for history and blame). guess_journal.cpp makes the words of journalctl.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "first_guesses.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

// "1-5", "1,2", as taskset and pqos have several.
inline bool is_list_of_numbers(std::string_view word) {
  return word.size() > 2 && word.find_first_not_of("0123456789,-") == std::string_view::npos &&
         word.find_first_of(",-", 1) != std::string_view::npos && word.front() != '-';
}
inline bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// Whether other programs call a control group so.
inline bool is_kind_of_group(std::string_view word) {
  return is_one_of(word, {"group", "groups", "class", "classes", "clos", "cos"});
}

// Whether other programs have this option for the form of the output.
inline bool is_form_option(std::string_view name) {
  return is_one_of(name, {"-o", "--output", "--format", "--output-format"});
}

// A form of --json.
inline bool is_form(std::string_view word) { return is_one_of(word, {"pretty", "short", "off"}); }

// The text with the value of an option in the place of "{}", or with what it would be.
[[nodiscard]] std::string with_value(std::string_view text, std::string_view value,
                                     std::string_view otherwise);

class Guess {
 public:
  using Words = std::vector<std::string>;

  Guess(Words words, const KnownOptions& known) : words_(std::move(words)), known_(known) {}

  void understand();
  std::expected<Understood, std::string> result() && {
    if (!advice_.empty()) return std::unexpected(std::move(advice_));
    return Understood{std::move(words_), std::move(program_)};
  }

 private:
  [[nodiscard]] bool ended() const { return !advice_.empty() || !program_.empty(); }
  [[nodiscard]] std::string verb() const { return verb_ < words_.size() ? words_[verb_] : ""; }
  // Those whose command has words of its own.
  [[nodiscard]] bool executes() const {
    return is_one_of(verb(), {"run", "bench", "suggest", "record"});
  }
  [[nodiscard]] bool takes_next(const std::string& option) const;
  [[nodiscard]] bool takes_word_at(size_t at) const;
  [[nodiscard]] std::vector<size_t> bare_words(size_t begin) const;
  // Where the words behind the verb are that belong to no option.
  [[nodiscard]] std::vector<size_t> arguments() const { return bare_words(verb_ + 1); }
  [[nodiscard]] bool given(std::initializer_list<std::string_view> options) const;

  [[nodiscard]] bool has_unknown_option() const;

  [[nodiscard]] bool is_verb(const std::string& word) const {
    return !word.empty() && !is_option(word) && known_(word, "--help").has_value();
  }
  [[nodiscard]] std::string word_behind(size_t at) const {
    return at + 1 < words_.size() ? words_[at + 1] : "";
  }
  [[nodiscard]] size_t words_of_option(size_t at, const std::string& of) const;
  [[nodiscard]] bool are_options_of(size_t verb) const;
  [[nodiscard]] bool only_reads(const std::string& word) const;
  void find_verb();
  void rewrite_journal();
  void rewrite_time_of_journal();
  void rewrite_verb();
  void rewrite_own_options();
  bool rewrite_leading_option(size_t first);
  void rewrite_help();
  void rewrite_help_behind();
  void split_kind();
  void drop_noun();
  void drop_show();
  bool rewrite_words(size_t at, size_t count);
  void rewrite_options();
  size_t rewrite_option(size_t at);
  void split_glued(size_t at, const std::string& of);
  void rewrite_answer(size_t at);
  bool rewrite_value(size_t at);
  size_t rewrite_unknown(size_t at, const std::string& of);
  size_t rewrite_form(size_t at);
  size_t rewrite_into_value(size_t at, std::string first, std::string value);
  size_t refuse(std::string advice);
  void rewrite_arguments();
  void rewrite_subject();
  void rewrite_pids();
  void rewrite_pod(size_t at);
  bool rewrite_kind(size_t at);
  void move_behind_verb();
  void drop_fillers_of_assign();
  bool refuse_condition();
  void rewrite_assign();
  [[nodiscard]] bool is_group_before_command(size_t at) const;
  void rewrite_run();
  void rewrite_load();
  void rewrite_import();
  [[nodiscard]] size_t words_of_time(size_t at) const;
  void join_time(size_t at, size_t count, const std::string& option);
  void rewrite_period();
  [[nodiscard]] bool rewrite_time(size_t at);
  [[nodiscard]] bool drop_filler(size_t at);
  [[nodiscard]] std::string refusal_of_group(const std::string& group, size_t at) const;
  void rewrite_record();
  void rewrite_snapshot();
  void rewrite_init();
  void rewrite_groups();
  void rewrite_completion();
  void rewrite_top();
  void rewrite_column();
  bool refuse_arguments();

  void insert(size_t at, std::string word) {
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at), std::move(word));
  }
  void erase(size_t at, size_t count = 1) {
    const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(at);
    words_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  }

  Words words_, program_;
  const KnownOptions& known_;
  size_t verb_ = 0;
  std::string advice_;
};

}  // namespace rdtd
