#include "first_guesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <utility>

#include "rdtd/model/systemd_unit.hpp"
#include "words_of_others.hpp"

namespace rdtd {

namespace {

using Words = std::vector<std::string>;

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}
// "1-5", "1,2", as taskset and pqos have several.
bool is_list_of_numbers(std::string_view word) {
  return word.size() > 2 && word.find_first_not_of("0123456789,-") == std::string_view::npos &&
         word.find_first_of(",-", 1) != std::string_view::npos && word.front() != '-';
}
bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_form(std::string_view word) { return is_one_of(word, {"pretty", "short", "off"}); }

// "60" of "1min", "0.5" of "500ms": seconds. Anything else as it is.
std::string in_seconds(const std::string& word) {
  constexpr std::array<std::pair<std::string_view, double>, 8> units = {{{"s", 1},
                                                                         {"sec", 1},
                                                                         {"ms", 0.001},
                                                                         {"m", 60},
                                                                         {"min", 60},
                                                                         {"h", 3600},
                                                                         {"hours", 3600},
                                                                         {"seconds", 1}}};
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{}) return word;
  const std::string_view unit(end, static_cast<size_t>(word.data() + word.size() - end));
  for (const auto& [name, seconds] : units)
    if (unit == name) return fmt::format("{:g}", number * seconds);
  return word;
}

// The command line while it is rewritten.
class Guess {
 public:
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
  [[nodiscard]] bool given(std::initializer_list<std::string_view> options) const;

  [[nodiscard]] bool has_unknown_option() const;

  void find_verb();
  void rewrite_verb();
  bool rewrite_words(size_t at, size_t count);
  void rewrite_options();
  size_t rewrite_option(size_t at);
  size_t rewrite_form(size_t at);
  void rewrite_arguments();
  void rewrite_subject();
  void rewrite_pids();
  void move_behind_verb();
  void rewrite_assign();
  void rewrite_run();
  void rewrite_load();

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
  return std::ranges::any_of(words_, [&](const std::string& word) {
    return is_one_of(word.substr(0, word.find('=')), options);
  });
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
    advice_ = fmt::format("'{}': {}", guess, meaning->sentence);
    return true;
  }
  erase(at, count);
  words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at), meaning->words.begin(),
                meaning->words.end());
  verb_ = at;
  return true;
}

void Guess::rewrite_verb() {
  verb_ = words_.size();
  size_t first = 0;
  while (first < words_.size() && is_option(words_[first]) && known_("", words_[first]))
    first += takes_word_at(first) ? 2 : 1;
  if (first < words_.size() && words_[first] == "--") erase(first);
  // "-s" and the like stand for a verb.
  if (first < words_.size() && is_option(words_[first]) &&
      (rewrite_words(first, 2) || rewrite_words(first, 1)))
    return;
  find_verb();
  if (is_one_of(verb(), {"log", "logs", "journal"})) {
    program_ = {"journalctl", "-u", "rdtd"};
    program_.insert(program_.end(), words_.begin() + static_cast<std::ptrdiff_t>(verb_) + 1,
                    words_.end());
  } else if (verb() == "help") {
    for (const size_t at : bare_words(verb_ + 1)) {
      const auto meaning = meaning_of_verb(words_[at]);
      if (meaning && !meaning->words.empty()) words_[at] = meaning->words.front();
      if (meaning && !meaning->sentence.empty())
        advice_ = fmt::format("'{}': {}", words_[at], meaning->sentence);
    }
  } else if (!rewrite_words(verb_, 2)) {
    (void)rewrite_words(verb_, 1);
  }
}

// "-o json", "--output json", "--format json" at `at`. Returns the place of the next word.
size_t Guess::rewrite_form(size_t at) {
  const std::string form = words_[at + 1];
  if (verb() == "list" && form == "name") {
    erase(at, 2);
    insert(at, "--names");
    return at + 1;
  }
  // procps' top sorts by it.
  if (verb() == "top" && words_[at] == "-o" &&
      !is_one_of(form, {"json", "text", "table", "wide"})) {
    words_[at] = "--sort";
    return at + 2;
  }
  if (!is_one_of(form, {"json", "text", "table", "wide"})) {
    advice_ = fmt::format("'{} {}': the output is text, or JSON with -o json", words_[at], form);
    return words_.size();
  }
  erase(at, 2);
  if (form == "json") insert(at, "-j");
  return form == "json" ? at + 1 : at;
}

// The option at `at`. Returns the place of the next word.
size_t Guess::rewrite_option(size_t at) {
  const std::string word = words_[at];
  const std::string name = word.substr(0, word.find('='));
  const std::string next = at + 1 < words_.size() ? words_[at + 1] : "";
  const bool takes_words = is_one_of(verb(), {"show", "explain", "adopt", "history"});
  if (word == "--json" && !is_form(next) &&
      (next.empty() || at < verb_ || is_option(next) ||
       (takes_words && bare_words(verb_ + 1).size() == 1)))
    words_[at] = "-j";
  if (word == "--color" && !is_one_of(next, {"auto", "always", "never"}))
    words_[at] = "--color=always";
  const std::string of = at < verb_ ? "" : verb();
  if (of == "run" && word == "--wait" &&
      !is_number(in_seconds(next).substr(0, in_seconds(next).find('.')))) {
    words_[at] = "--wait=1e9";  // until there is one
    return at + 1;
  }
  if (is_one_of(name, {"-d", "--interval", "--for", "--seconds", "--wait"}) && known_(of, name)) {
    if (name != word)
      words_[at] = name + "=" + in_seconds(word.substr(name.size() + 1));
    else if (!next.empty())
      words_[at + 1] = in_seconds(next);
  }
  // Of numactl; of others it is a class.
  if (of == "run" && word == "-C" && is_number(next.substr(0, next.find_first_of(",-")))) {
    words_[at] = "--cpus";
    return at + 2;
  }
  // "-json", as Go's programs have them.
  if (const std::string long_one = "-" + name; name.size() > 2 && name[1] != '-' &&
                                               !known_(of, name.substr(0, 2)) &&
                                               (known_(of, long_one) || known_("", long_one))) {
    words_[at] = "-" + word;
    return at;
  }
  if (word == name + "=" && takes_next(name)) {
    advice_ = fmt::format("'{}' has no value behind its '='", name);
    return words_.size();
  }
  if (known_(of, name) || known_("", name)) return at + (takes_next(words_[at]) ? 2 : 1);
  auto meaning = meaning_of_option(of, word);
  const bool whole = meaning.has_value();
  if (!meaning) meaning = meaning_of_option(of, name);
  if (!meaning) {
    const bool form = is_one_of(word, {"-o", "--output", "--format"}) && !next.empty();
    return form ? rewrite_form(at) : at + 1;
  }
  if (!meaning->sentence.empty()) {
    advice_ = fmt::format("'{}'{}: {}", name, of.empty() ? "" : " of " + of, meaning->sentence);
    return words_.size();
  }
  if (!meaning->words.empty() && meaning->words.front() == "+" && at > verb_ &&
      word.size() > name.size() + 1) {
    words_[at] = word.substr(name.size() + 1);
    return at + 1;
  }
  if (meaning->words.empty() || meaning->words.front() == "+") {
    erase(at);
    if (at < verb_) verb_--;
    return meaning->words.empty() ? at : at + 1;
  }
  const std::string value = whole || name == word ? "" : word.substr(name.size());
  words_[at] = meaning->words.front() + value;
  return at + (takes_next(words_[at]) ? 2 : 1);
}

// "--json list": an option of the verb, before it.
void Guess::move_behind_verb() {
  for (size_t at = 0; at < verb_ && verb_ < words_.size();) {
    const std::string name = words_[at].substr(0, words_[at].find('='));
    const bool movable = is_option(words_[at]) && !known_("", name) && known_(verb(), name) &&
                         !*known_(verb(), name);
    if (!movable) {
      at += is_option(words_[at]) && takes_word_at(at) ? 2 : 1;
      continue;
    }
    std::string option = words_[at];
    erase(at);
    insert(verb_--, std::move(option));
  }
}

void Guess::rewrite_options() {
  bool has_file = false;  // of record
  for (size_t at = 0; at < words_.size() && !ended();) {
    if (words_[at] == "--") return;
    if (is_option(words_[at])) {
      at = rewrite_option(at);
      continue;
    }
    const bool is_file = at > verb_ && verb() == "record" && !std::exchange(has_file, true);
    if (at > verb_ && executes() && !is_file) return;  // the command
    at++;
  }
}

// "--pid 1" and "--pid=1" of verbs that take PIDs bare.
void Guess::rewrite_pids() {
  for (size_t i = verb_ + 1; i < words_.size() && words_[i] != "--"; i++) {
    if (words_[i] != "--pid" && !words_[i].starts_with("--pid=")) continue;
    const bool is_apart = words_[i] == "--pid";
    if (is_apart ? i + 1 == words_.size() : words_[i] == "--pid=") {
      advice_ = fmt::format("--pid of {} requires PID", verb());
      return;
    }
    if (is_apart)
      erase(i);
    else
      words_[i].erase(0, std::string_view("--pid=").size());
  }
}

// A bare word that is no PID is a unit; watch has both behind an option, explain and assign take a
// PID bare.
void Guess::rewrite_subject() {
  const bool pid_needs_option = verb() == "watch";
  if (!pid_needs_option) rewrite_pids();
  if (ended()) return;
  const std::vector<size_t> bare = bare_words(verb_ + 1);
  if (bare.size() != 1) return;
  if (is_list_of_numbers(words_[bare.front()]))
    advice_ = fmt::format("{} takes one PID", verb());
  else if (verb() == "explain" && words_[bare.front()] == "guard")
    words_[bare.front()] = "--guard";
  else if (!is_number(words_[bare.front()]))
    insert(bare.front(), "--unit");
  else if (pid_needs_option)
    insert(bare.front(), "--pid");
}

// "assign GROUP PID" and "assign PID GROUP": the word that is no number is the group. "assign GROUP
// UNIT" and "assign UNIT GROUP": a unit has its type, or stands where the group is given.
void Guess::rewrite_assign() {
  rewrite_pids();
  if (ended()) return;
  const std::vector<size_t> bare = bare_words(verb_ + 1);
  std::vector<size_t> names;
  std::ranges::copy_if(bare, std::back_inserter(names),
                       [&](size_t at) { return !is_number(words_[at]); });
  const bool has_group = given({"-g", "--group"}), has_unit = given({"-u", "--unit"});
  const auto is_unit = [&](size_t at) { return has_unit_type(words_[at]); };
  // A group can have such a name.
  const bool can_be_group = !has_group && names.size() == 1;
  if (!can_be_group &&
      std::ranges::any_of(names, [&](size_t at) { return is_list_of_numbers(words_[at]); })) {
    advice_ = "several PIDs are separate words: 'rdtctl assign -g GROUP 1 2'";
    return;
  }
  if (names.size() == 2 && bare.size() == 2 && !has_group && !has_unit) {
    const bool first = is_unit(names[0]);
    if (first == is_unit(names[1])) return;
    insert(names[1], first ? "-g" : "--unit");
    insert(names[0], first ? "--unit" : "-g");
  } else if (names.size() == 1 && bare.size() == 1 && has_group && !has_unit) {
    insert(names[0], "--unit");
  } else if (names.size() == 1 && !has_group) {
    insert(names[0], "-g");
  }
}

// "run GROUP -- COMMAND".
void Guess::rewrite_run() {
  const std::vector<size_t> bare = bare_words(verb_ + 1);
  const auto marked = std::ranges::find(words_, "--");
  const bool own = given({"-g", "--group", "--l2", "--l3", "--mb", "--smba", "--exclusive"});
  if (!own && bare.size() == 1 && marked != words_.end() &&
      words_.begin() + static_cast<std::ptrdiff_t>(bare.front()) + 1 == marked)
    insert(bare.front(), "-g");
}

// apply and reload.
void Guess::rewrite_load() {
  if (std::erase_if(words_, [](const std::string& word) {
        return word == "--dry-run" || word == "-n" || word.starts_with("--dry-run=");
      }) > 0) {
    find_verb();
    words_[verb_] = "plan";
  } else if (const std::vector<size_t> bare = bare_words(verb_ + 1); !bare.empty()) {
    const std::string& word = words_[bare.front()];
    const bool is_file = word == "-" || word.find_first_of("./") != std::string::npos;
    advice_ = is_file ? fmt::format("{} takes no files: {}", verb(),
                                    meaning_of_option("apply", "--file")->sentence)
                      : fmt::format("{} takes no argument: it puts all files of /etc/rdtd in force",
                                    verb());
  }
}

bool Guess::has_unknown_option() const {
  return std::ranges::any_of(words_, [&](const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    return is_option(word) && !known_(verb(), name) && !known_("", name);
  });
}

void Guess::rewrite_arguments() {
  const std::string name = verb();
  if (name == "explain" || name == "watch") rewrite_subject();
  if (name == "assign") rewrite_assign();
  if (const auto bare = bare_words(verb_ + 1);
      name == "init" && bare.size() == 1 && !given({"--protect"}))
    insert(bare.front(), "--protect");
  if (name == "run") rewrite_run();
  // The script for bash is the nearest to other shells like it.
  if (const auto bare = bare_words(verb_ + 1);
      name == "completion" && bare.size() == 1 &&
      is_one_of(words_[bare.front()], {"sh", "/bin/sh", "/bin/bash", "/usr/bin/bash"}))
    words_[bare.front()] = "bash";
  if (name == "record" && bare_words(verb_ + 1).empty() &&
      std::ranges::find(words_, "--") != words_.end() && !given({"-h", "--help"}))
    advice_ = "record requires FILE before '--': 'rdtctl record FILE -- COMMAND'";
  if (const std::vector<size_t> bare = bare_words(verb_ + 1);
      name == "import" && bare.size() == 1 && !given({"--from"}))
    insert(bare.front(), "--from");
  // A word behind an option that is not known may be its value.
  if (has_unknown_option()) return;
  if ((name == "status" || name == "list") && bare_words(verb_ + 1).size() == 1 &&
      !given({"--rules"}))
    words_[verb_] = "show";
  if (const std::vector<size_t> bare = bare_words(verb_ + 1); name == "top" && !bare.empty())
    advice_ = fmt::format("top shows all groups; 'rdtctl show {}' shows one", words_[bare.front()]);
}

void Guess::understand() {
  rewrite_verb();
  if (ended()) return;
  if (is_one_of(verb(), {"apply", "reload"})) rewrite_load();
  if (verb() == "top" && given({"-p", "--pid", "-u", "--unit"})) words_[verb_] = "watch";
  move_behind_verb();
  if (!ended()) rewrite_options();
  if (!ended()) rewrite_arguments();
}

}  // namespace

std::expected<Understood, std::string> understand(Words words, const KnownOptions& known) {
  Guess guess(std::move(words), known);
  guess.understand();
  return std::move(guess).result();
}

}  // namespace rdtd
