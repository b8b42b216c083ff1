// Which verb is meant; and understand(), which has the other words rewritten behind it.
#include "first_guesses.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "guess.hpp"
#include "rdtd/model/systemd_unit.hpp"
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
    else if (takes_word_at(i) || is_form_option(words_[i]))
      i++;
  }
  return out;
}

bool Guess::given(std::initializer_list<std::string_view> options) const {
  return std::ranges::any_of(
      words_, [&](const std::string& word) { return is_one_of(option_name(word), options); });
}

// How many words the option at `at` has before its verb; 0 if neither the verb nor rdtctl has it.
size_t Guess::words_of_option(size_t at, const std::string& of) const {
  const std::string name = option_name(words_[at]);
  if (known_("", name)) return takes_word_at(at) ? 2 : 1;
  auto takes = known_(of, name);
  if (const auto meaning = takes ? std::nullopt : meaning_of_option(of, name, word_behind(at));
      meaning && meaning->sentence.empty()) {
    const std::string first = meaning->words.empty() ? "" : meaning->words.front();
    takes = first == "+" || first.find_first_of("{#") != std::string::npos ||
            (!first.empty() && known_(of, first).value_or(false));
  }
  if (!takes) return 0;
  return *takes && !words_[at].contains('=') ? 2 : 1;
}

// Whether all words before the verb at `verb` are options of it, or of rdtctl.
bool Guess::are_options_of(size_t verb) const {
  size_t at = 0;
  while (at < verb) {
    const size_t count = is_option(words_[at]) ? words_of_option(at, words_[verb]) : 0;
    if (count == 0) return false;
    at += count;
  }
  return at == verb;
}

// "--interval 5 top": what a verb's options take is known only with the verb.
void Guess::find_verb() {
  for (verb_ = 0; verb_ < words_.size() && words_[verb_] != "--"; verb_++)
    if (is_verb(words_[verb_]) && are_options_of(verb_)) return;
  verb_ = words_.size();
  const std::vector<size_t> bare = bare_words(0);
  verb_ = bare.empty() ? words_.size() : bare.front();
}

// Whether the word stands for a verb that changes nothing and executes nothing.
bool Guess::only_reads(const std::string& word) const {
  std::string meant = word;
  if (const auto meaning = is_verb(word) ? std::nullopt : meaning_of_verb(word)) {
    if (meaning->words.empty()) return true;
    meant = meaning->words.front();
  } else if (!is_verb(word)) {
    return is_one_of(word, {"log", "logs", "journal"});
  }
  return changes_nothing(meant);
}

// Whether the words from `at` on mean something.
bool Guess::rewrite_words(size_t at, size_t count) {
  if (at + count > words_.size()) return false;
  std::string guess = words_[at];
  std::error_code unknown;
  if (count == 2) {
    // "check policy": a file of that name is meant first.
    const bool takes_files = is_one_of(guess, {"check", "plan", "import"});
    if (takes_files && std::filesystem::exists(words_[at + 1], unknown)) return false;
    guess += " " + words_[at + 1];
  }
  auto meaning = meaning_of_verb(guess);
  if (count == 1 && !word_behind(at).empty() && !is_option(word_behind(at)))
    if (auto with_word = meaning_of_verb(guess + " *")) meaning = std::move(with_word);
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
  static constexpr std::array<std::string_view, 19> nouns = {
      "rdt",     "rdtd",    "resctrl", "qos",     "system",   "container", "get",
      "node",    "machine", "daemon",  "service", "group",    "groups",    "class",
      "classes", "policy",  "config",  "cache",   "systemctl"};
  if (verb_ + 1 >= words_.size() || std::ranges::find(nouns, verb()) == nouns.end()) return;
  const std::string& next = words_[verb_ + 1];
  if (verb() == "get" && !only_reads(next)) return;
  if (is_verb(next) || meaning_of_verb(next)) erase(verb_);
}

// "show history redis", "show log": what a verb of its own shows. A word alone can be a group.
void Guess::drop_show() {
  if (!is_one_of(verb(), {"show", "describe", "inspect", "get", "display", "view"})) return;
  const std::vector<size_t> bare = arguments();
  if (bare.empty() || bare.front() != verb_ + 1) return;
  const std::string& next = words_[bare.front()];
  if (meaning_of_verb(fmt::format("{} {}", verb(), next))) return;
  const bool is_journal = is_one_of(next, {"log", "logs", "journal"});
  if (is_journal || (bare.size() > 1 && only_reads(next))) erase(verb_);
}

// "--sysfs machine list": options of rdtctl itself.
void Guess::rewrite_own_options() {
  for (size_t at = 0; at < words_.size() && is_option(words_[at]); at++) {
    const std::string name = option_name(words_[at]);
    if (known_("", name)) {
      at += takes_word_at(at) ? 1 : 0;
    } else if (const auto meaning = meaning_of_option("", name, word_behind(at));
               meaning && meaning->words.size() == 1 && known_("", meaning->words.front())) {
      words_[at].replace(0, name.size(), meaning->words.front());
      at += takes_word_at(at) ? 1 : 0;
    }
  }
}

// An option in the verb's place: "-s" of pqos, "--validate". Whether there is nothing more to do.
bool Guess::rewrite_leading_option(size_t first) {
  const std::string word = words_[first];
  if (word == "-t" && (word_behind(first).contains('=') || is_digits(word_behind(first)))) {
    // rdtset's classes, and the seconds that pqos -m runs.
    const std::string& value = words_[first + 1];
    advice_ = value.contains('=')
                  ? fmt::format("'-t': {}", meaning_of_option("run", "-t")->sentence)
                  : fmt::format("'-t {0}': 'rdtctl top -d {0}' refreshes so often", value);
    return true;
  }
  // In front of a verb, it asks for more text.
  const bool is_verbose = word == "-v" && first + 1 < words_.size();
  if (!is_verbose && (rewrite_words(first, 2) || rewrite_words(first, 1))) return true;
  const std::string bare = word.substr(std::min<size_t>(word.find_first_not_of('-'), word.size()));
  // "--dry-run apply" has a verb too.
  const bool stands_for_verb = word.starts_with("--") && !known_("", word) &&
                               !meaning_of_option("", word) && !is_verb(verb()) &&
                               (is_verb(bare) || meaning_of_verb(bare));
  if (!stands_for_verb) return false;
  if (only_reads(bare))
    words_[first] = bare;
  else
    advice_ = fmt::format("'{}': a verb has no dashes: rdtctl {}", word, bare);
  return ended();
}

void Guess::rewrite_help() {
  for (const size_t at : arguments()) {
    auto meaning = meaning_of_verb("help " + words_[at]);
    if (!meaning) meaning = meaning_of_verb(words_[at]);
    if (meaning && !meaning->words.empty()) words_[at] = meaning->words.front();
    if (is_option(words_[at])) return erase(at);  // "help all"
    if (meaning && !meaning->sentence.empty())
      advice_ = fmt::format("'{}': {}", words_[at], meaning->sentence);
  }
}

// "check help": no file of that name, unless there is one. With an option about the answer, and
// behind a verb that takes the name of anything else, "help" is such a name.
void Guess::rewrite_help_behind() {
  std::error_code unknown;
  const bool alone = verb_ + 2 == words_.size() && words_.back() == "help" &&
                     !given({"-q", "--quiet", "-j", "--json"});
  const bool takes_names = is_one_of(verb(), {"show", "list", "status", "adopt", "watch", "explain",
                                              "blame", "snapshot", "record", "edit", "help"});
  if (alone && is_verb(verb()) && !takes_names && !std::filesystem::exists("help", unknown))
    words_.back() = "--help";
}

void Guess::rewrite_verb() {
  verb_ = words_.size();
  rewrite_own_options();
  size_t first = 0;
  while (first < words_.size() && is_option(words_[first]) && known_("", words_[first]))
    first += takes_word_at(first) ? 2 : 1;
  if (first < words_.size() && words_[first] == "--") erase(first);
  if (first < words_.size() && words_[first] == "rdtctl") erase(first);  // pasted
  find_verb();
  const bool has_verb = is_verb(verb()) && are_options_of(verb_);
  if (first < words_.size() && is_option(words_[first]) && !has_verb &&
      rewrite_leading_option(first))
    return;
  if (!has_verb) find_verb();
  if (const std::string small = lower(verb()); is_verb(small) || meaning_of_verb(small))
    words_[verb_] = small;  // "Check"
  split_kind();
  drop_show();
  if (is_one_of(verb(), {"log", "logs", "journal"})) return rewrite_journal();
  if (verb() == "help") return rewrite_help();
  if (rewrite_words(verb_, 2)) return;
  drop_noun();
  if (!rewrite_words(verb_, 2)) (void)rewrite_words(verb_, 1);
}

void Guess::understand() {
  rewrite_verb();
  if (ended()) return;
  rewrite_help_behind();
  if (is_one_of(verb(), {"apply", "reload"})) rewrite_load();
  const auto user = std::ranges::find(words_, "-u");
  const bool is_user = user != words_.end() && user + 1 != words_.end() && !has_unit_type(user[1]);
  if (verb() == "top" && !is_user && given({"-p", "--pid", "-u", "--unit"}))
    words_[verb_] = "watch";
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
