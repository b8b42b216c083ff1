// Which verb is meant; and understand(), which has the other words rewritten behind it.
#include "first_guesses.hpp"

#include <fmt/format.h>

#include <array>

#include "guess.hpp"
#include "time_point.hpp"
#include "words_of_others.hpp"

namespace rdtd {

bool Guess::takes_next(const std::string& option) const {
  if (option.contains('=')) return false;
  const auto of_verb = known_(verb(), option);
  return of_verb ? *of_verb : known_("", option).value_or(false);
}

// "--json list" has the verb where the form would be.
bool Guess::takes_word_at(size_t at) const {
  const bool form = words_[at] == "--json" && at + 1 < words_.size() && !is_form(words_[at + 1]);
  return takes_next(words_[at]) && !form;
}

// The places of the words that are neither options nor their values, from `begin` on, up to "--".
std::vector<size_t> Guess::bare_words(size_t begin) const {
  std::vector<size_t> out;
  for (size_t i = begin; i < words_.size() && words_[i] != "--"; i++) {
    if (!is_option(words_[i]))
      out.push_back(i);
    else if (takes_word_at(i) || is_one_of(words_[i], {"-o", "--output", "--format"}))
      i++;
  }
  return out;
}

bool Guess::given(std::initializer_list<std::string_view> options) const {
  return std::ranges::any_of(
      words_, [&](const std::string& word) { return is_one_of(option_name(word), options); });
}

void Guess::find_verb() {
  const std::vector<size_t> bare = bare_words(0);
  verb_ = bare.empty() ? words_.size() : bare.front();
}

// Whether the words from `at` on mean something.
bool Guess::rewrite_words(size_t at, size_t count) {
  if (at + count > words_.size()) return false;
  std::string guess = words_[at];
  if (count == 2) guess += " " + words_[at + 1];
  const auto meaning = meaning_of_verb(guess);
  if (!meaning) return false;
  if (!meaning->sentence.empty()) {
    const std::string next = at + count < words_.size() ? words_[at + count] : "";
    advice_ = fmt::format("'{}': {}", guess, with_value(meaning->sentence, next, "GROUP"));
    return true;
  }
  erase(at, count);
  words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at), meaning->words.begin(),
                meaning->words.end());
  verb_ = at;
  return true;
}

// "get group/redis", as kubectl has it.
void Guess::split_kind() {
  if (verb_ + 1 >= words_.size()) return;
  const std::string word = words_[verb_ + 1];
  const size_t slash = word.find('/');
  if (slash == std::string::npos || !is_kind_of_group(word.substr(0, slash))) return;
  words_[verb_ + 1] = word.substr(slash + 1);
  insert(verb_ + 1, "group");
}

// "rdt list", "system info": programs with verbs for several kinds of thing name the kind first.
void Guess::drop_noun() {
  static constexpr std::array<std::string_view, 18> nouns = {
      "rdt",   "rdtd",    "resctrl", "qos",     "system", "container",
      "node",  "machine", "daemon",  "service", "group",  "groups",
      "class", "classes", "policy",  "config",  "cache",  "systemctl"};
  if (verb_ + 1 >= words_.size() || std::ranges::find(nouns, verb()) == nouns.end()) return;
  const std::string& next = words_[verb_ + 1];
  if (known_(next, "--help") || meaning_of_verb(next)) erase(verb_);
}

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

void Guess::rewrite_verb() {
  verb_ = words_.size();
  size_t first = 0;
  while (first < words_.size() && is_option(words_[first]) && known_("", words_[first]))
    first += takes_word_at(first) ? 2 : 1;
  if (first < words_.size() && words_[first] == "--") erase(first);
  if (first < words_.size() && words_[first] == "rdtctl") erase(first);  // pasted
  if (first + 1 < words_.size() && words_[first] == "-t" &&
      (words_[first + 1].contains('=') || is_digits(words_[first + 1]))) {
    // rdtset's classes, and the seconds that pqos -m runs.
    advice_ = words_[first + 1].contains('=')
                  ? fmt::format("'-t': {}", meaning_of_option("run", "-t")->sentence)
                  : fmt::format("'-t {}': 'rdtctl top -d {}' refreshes so often", words_[first + 1],
                                words_[first + 1]);
    return;
  }
  // "-s" and the like stand for a verb.
  if (first < words_.size() && is_option(words_[first]) &&
      (rewrite_words(first, 2) || rewrite_words(first, 1)))
    return;
  find_verb();
  split_kind();
  if (is_one_of(verb(), {"log", "logs", "journal"})) {
    program_ = {"journalctl", "-u", "rdtd"};
    program_.insert(program_.end(), words_.begin() + static_cast<std::ptrdiff_t>(verb_) + 1,
                    words_.end());
    rewrite_time_of_journal();
    // "logs redis": those lines that have the word. A number is how many, a match has a '='.
    if (const size_t at = verb_ + 1; at < words_.size() && !is_option(words_[at]) &&
                                     !words_[at].contains('=') && words_[at] != "rdtd")
      program_.insert(program_.begin() + 3, is_digits(words_[at]) ? "-n" : "-g");
  } else if (verb() == "help") {
    for (const size_t at : arguments()) {
      auto meaning = meaning_of_verb("help " + words_[at]);
      if (!meaning) meaning = meaning_of_verb(words_[at]);
      if (meaning && !meaning->words.empty()) words_[at] = meaning->words.front();
      if (meaning && !meaning->sentence.empty())
        advice_ = fmt::format("'{}': {}", words_[at], meaning->sentence);
    }
  } else if (!rewrite_words(verb_, 2)) {
    drop_noun();
    if (!rewrite_words(verb_, 2)) (void)rewrite_words(verb_, 1);
  }
}

void Guess::understand() {
  rewrite_verb();
  if (ended()) return;
  if (is_one_of(verb(), {"apply", "reload"})) rewrite_load();
  if (verb() == "top" && given({"-p", "--pid", "-u", "--unit"})) words_[verb_] = "watch";
  // Options behind a command are the command's: a group in front of them is to be known by now.
  if (is_one_of(verb(), {"run", "bench", "suggest"}) && verb_ + 1 < words_.size() &&
      !is_option(words_[verb_ + 1]))
    rewrite_run();
  move_behind_verb();
  if (!ended()) rewrite_options();
  if (!ended()) rewrite_arguments();
}

std::expected<Understood, std::string> understand(std::vector<std::string> words,
                                                  const KnownOptions& known) {
  Guess guess(std::move(words), known);
  guess.understand();
  return std::move(guess).result();
}

}  // namespace rdtd
