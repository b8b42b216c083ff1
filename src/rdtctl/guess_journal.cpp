// "rdtctl logs": the words of journalctl, which reads the journal.
#include <array>
#include <utility>

#include "guess.hpp"
#include "rdtd/base/text.hpp"
#include "time_point.hpp"

namespace rdtd {

// "logs --since 1h": journalctl takes "-1h".
void Guess::rewrite_time_of_journal() {
  for (size_t at = 0; at < program_.size(); at++) {
    const std::string name = option_name(program_[at]);
    if (!is_one_of(name, {"--since", "--until", "-S", "-U"})) continue;
    const bool apart = name == program_[at];
    if (apart && at + 1 == program_.size()) return;
    std::string& word = program_[at + apart];
    const size_t begin = apart ? 0 : name.size() + 1;
    if (is_span(word.substr(begin)) && !is_digits(word.substr(begin))) word.insert(begin, "-");
  }
}

void Guess::rewrite_journal() {
  // Options of docker and kubectl, and the levels of other programs.
  constexpr auto same = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"--tail", "--lines"}, {"--level", "--priority"}, {"--log-level", "--priority"}});
  constexpr auto levels = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"error", "err"}, {"errors", "err"}, {"warn", "warning"}, {"warnings", "warning"}});
  program_ = {"journalctl", "-u", "rdtd"};
  size_t at = verb_ + 1;
  const std::string unit = word_behind(verb_);
  if (is_one_of(unit, {"observer", "rdtd-observer"})) program_[2] = "rdtd-observer";
  if (is_one_of(unit, {"observer", "rdtd-observer", "rdtd"})) at++;
  // "logs redis": those lines that have the word. A number is how many, a match has a '='.
  if (const std::string next = word_behind(at - 1);
      !next.empty() && !is_option(next) && !next.contains('='))
    program_.emplace_back(is_digits(next) ? "-n" : "-g");
  for (; at < words_.size(); at++) {
    std::string word = words_[at];
    for (const auto& [other, own] : same)
      if (option_name(word) == other) word.replace(0, other.size(), own);
    const bool of_priority = is_one_of(program_.back(), {"-p", "--priority"});
    const size_t value = word.starts_with("--priority=") ? word.find('=') + 1 : 0;
    for (const auto& [other, own] : levels)
      if ((of_priority || value > 0) && word.substr(value) == other)
        word.replace(value, other.size(), own);
    program_.push_back(std::move(word));
  }
  rewrite_time_of_journal();
}

}  // namespace rdtd
