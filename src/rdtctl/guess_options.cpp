// The meaning of the options of other tools, and of values in the units of other tools.
#include <fmt/format.h>

#include "guess.hpp"
#include "time_point.hpp"
#include "words_of_others.hpp"

namespace rdtd {

namespace {

// Whether the word can follow an option for the form of the output.
bool is_output(std::string_view form) {
  return is_one_of(form, {"json", "json-pretty", "text", "table", "wide"});
}

// Yes and no, as other programs take them.
std::string answer_meant(std::string_view value, std::string_view yes, std::string_view no) {
  const bool is_yes = is_one_of(value, {"yes", "on", "true", "1", "force"});
  const bool is_no = is_one_of(value, {"no", "off", "false", "0", "none"});
  return std::string(is_yes ? yes : is_no ? no : value);
}

}  // namespace

std::string with_value(std::string_view text, std::string_view value, std::string_view otherwise) {
  std::string out(text);
  if (const size_t at = out.find("{}"); at != std::string::npos)
    out.replace(at, 2, value.empty() ? otherwise : value);
  return out;
}

// Ends the rewriting with this sentence.
size_t Guess::refuse(std::string advice) {
  advice_ = std::move(advice);
  return words_.size();
}

// "-o json", "--output json", "--format json" at `at`. Returns the place of the next word.
size_t Guess::rewrite_form(size_t at) {
  const std::string option = words_[at], form = words_[at + 1];
  if (verb() == "metrics" && option != "--format")
    return refuse(fmt::format(
        "'{0} {1}' of metrics: {0} takes a file; for a file of that name write {0} ./{1}", option,
        form));
  if (verb() == "metrics" && !is_one_of(form, {"prometheus", "text"}))
    return refuse(
        fmt::format("'--format {}' of metrics: it prints the text format of Prometheus", form));
  if (verb() == "list" && form == "name") {
    erase(at, 2);
    insert(at, "--names");
    return at + 1;
  }
  // procps' top sorts by it.
  if (verb() == "top" && option == "-o" && !is_output(form)) {
    words_[at] = "--sort";
    return at + 2;
  }
  if (!is_output(form) && verb() != "metrics")
    return refuse(fmt::format("'{} {}': the output is text, or JSON with -o json", option, form));
  erase(at, 2);
  if (!form.starts_with("json")) return at;
  insert(at, form == "json" ? "-j" : "--json=pretty");
  return at + 1;
}

// "--colour=yes", "--color off", "--json=compact", "--json=1".
void Guess::rewrite_answer(size_t at) {
  if (words_[at].starts_with("--colour")) words_[at].erase(std::string_view("--colo").size(), 1);
  const std::string name = option_name(words_[at]);
  if (name != "--color" && name != "--json") return;
  const auto meant = [&](const std::string& value) {
    if (name == "--json" && value == "compact") return std::string("short");
    return name == "--json" ? answer_meant(value, "short", "off")
                            : answer_meant(value, "always", "never");
  };
  if (words_[at] != name)
    words_[at] = name + "=" + meant(words_[at].substr(name.size() + 1));
  else if (name == "--color" && at + 1 < words_.size())
    words_[at + 1] = meant(words_[at + 1]);
}

// Values that are understood otherwise; whether the option at `at` needs nothing more.
bool Guess::rewrite_value(size_t at) {
  rewrite_answer(at);
  const std::string word = words_[at];
  const std::string next = at + 1 < words_.size() ? words_[at + 1] : "";
  const bool takes_words = is_one_of(verb(), {"show", "explain", "adopt", "history", "blame"});
  const bool takes_files = is_one_of(verb(), {"check", "plan"});
  if (word == "--json" && !is_form(next) &&
      (next.empty() || at < verb_ || is_option(next) || takes_files ||
       (takes_words && arguments().size() == 1)))
    words_[at] = "-j";
  if (word == "--color" && !is_one_of(next, {"auto", "always", "never"}))
    words_[at] = "--color=always";
  if (at < verb_ || verb() != "run") return false;
  const std::string seconds = in_seconds(next);
  if (word == "--wait" && !is_digits(seconds.substr(0, seconds.find('.')))) {
    words_[at] = "--wait=1e9";  // until there is one
    return true;
  }
  // Of numactl; of others it is a class.
  if (word == "-C" && is_digits(next.substr(0, next.find_first_of(",-")))) words_[at] = "--cpus";
  return false;
}

// "-n1", "-gredis": a value that is glued to its option, of which other programs have some too.
void Guess::split_glued(size_t at, const std::string& of) {
  constexpr size_t length = 2;  // of the option
  const std::string word = words_[at];
  if (at < verb_ || word.size() <= length || word[1] == '-' || word[length] == '=' ||
      meaning_of_option(of, word).has_value())
    return;
  const std::string option = word.substr(0, length), value = word.substr(length);
  const bool is_number = is_digits(value.substr(0, 1)) && !is_digits(option.substr(1));
  const auto meaning = is_number ? meaning_of_option(of, option, value) : std::nullopt;
  const bool takes_value =
      meaning && (!meaning->sentence.empty() ||
                  (!meaning->words.empty() &&
                   (takes_next(meaning->words.front()) ||
                    meaning->words.front().find_first_of("{#") != std::string::npos)));
  if (!takes_next(option) && !takes_value) return;
  words_[at] = option;
  insert(at + 1, value);
}

// The option at `at`. Returns the place of the next word.
size_t Guess::rewrite_option(size_t at) {
  const std::string of = at < verb_ ? "" : verb();
  split_glued(at, of);
  if (rewrite_value(at)) return at + 1;
  const std::string word = words_[at];
  const std::string name = option_name(word);
  const std::string next = at + 1 < words_.size() ? words_[at + 1] : "";
  // "-json", as Go's programs have them.
  if (const std::string long_one = "-" + name; name.size() > 2 && name[1] != '-' &&
                                               !known_(of, name.substr(0, 2)) &&
                                               (known_(of, long_one) || known_("", long_one))) {
    words_[at] = "-" + word;
    return at;
  }
  if (word.size() > 2 && word[0] == '-' && word[1] != '-' && word[2] == '=' &&
      known_("", word.substr(0, 2)) == false)
    return refuse(fmt::format("{} takes no value{}", word.substr(0, 2),
                              word.starts_with("-j") && is_form(word.substr(3))
                                  ? ": write --json" + word.substr(2)
                                  : ""));
  if (word == name + "=" && takes_next(name))
    return refuse(fmt::format("'{}' has no value after its '='", name));
  // A file of such a name is hardly meant.
  if (of == "metrics" && is_one_of(word, {"-o", "--output"}) && is_one_of(next, {"json", "yaml"}))
    return rewrite_form(at);
  if (known_(of, name) || known_("", name)) return at + (takes_next(words_[at]) ? 2 : 1);
  return rewrite_unknown(at, of);
}

// "--since=-{}" and "--pid=#" with the value of the option at `at`. Of "--last 2 hours", it has two
// words, and of "--last hour" it is one hour.
size_t Guess::rewrite_into_value(size_t at, std::string first, std::string value) {
  const std::string name = option_name(words_[at]);
  const bool is_joined = words_[at] != name;
  if (!is_joined && value.empty()) return refuse(fmt::format("{} requires a value", name));
  size_t count = is_joined ? 0 : 1;
  if (first.ends_with("-{}")) {
    if (const size_t more = is_joined ? 0 : words_of_time(at + 1); more > 1) {
      join_time(at + 1, more, "");
      value = words_[at + 1];
    }
    if (!is_digits(value) && !is_span(value)) value.insert(0, "1");
  }
  if (const size_t sign = first.find('#'); sign != std::string::npos) first.replace(sign, 1, value);
  words_[at] = with_value(first, value, "");
  erase(at + 1, count);
  return at + 1;
}

// An option that neither the verb nor rdtctl has.
size_t Guess::rewrite_unknown(size_t at, const std::string& of) {
  const std::string word = words_[at];
  const std::string name = option_name(word);
  const std::string next = at + 1 < words_.size() ? words_[at + 1] : "";
  const bool is_joined = word != name;
  const std::string value = is_joined ? word.substr(name.size() + 1) : is_option(next) ? "" : next;
  auto meaning = meaning_of_option(of, word, value);
  const bool whole = meaning.has_value();
  if (!meaning) meaning = meaning_of_option(of, name, value);
  const bool form = is_form_option(word) && !next.empty();
  if (form && (!meaning || (!meaning->sentence.empty() && is_output(next))))
    return rewrite_form(at);
  // "--output=yaml"
  if (!meaning && is_joined && name == "--output-format") {
    words_[at].replace(0, name.size(), "--output");
    return rewrite_unknown(at, of);
  }
  if (!meaning && is_joined && is_form_option(name))
    return refuse(fmt::format("'{}': the output is text, or JSON with -o json", word));
  if (!meaning) return at + 1;
  if (!meaning->sentence.empty())
    return refuse(fmt::format("'{}'{}: {}", name, of.empty() ? "" : " of " + of,
                              with_value(meaning->sentence, value, "GROUP")));
  const std::string first = meaning->words.empty() ? "" : meaning->words.front();
  if (first == "+" && at > verb_ && word.size() > name.size() + 1) {
    words_[at] = word.substr(name.size() + 1);
    return at + 1;
  }
  if (first.empty() || first == "+") {
    erase(at);
    if (at < verb_) verb_--;
    return first.empty() ? at : at + 1;
  }
  if (first.find_first_of("{#") != std::string::npos) return rewrite_into_value(at, first, value);
  words_[at] = first + (whole || !is_joined ? "" : word.substr(name.size()));
  return at + (takes_next(words_[at]) ? 2 : 1);
}

// "--names list", "--interval 5 top": options of the verb, before it.
void Guess::move_behind_verb() {
  for (size_t at = 0; at < verb_ && verb_ < words_.size();) {
    const bool option = is_option(words_[at]),
               own = known_("", option_name(words_[at])).has_value();
    const size_t count = option && !own ? words_of_option(at, verb()) : 0;
    if (count == 0 || at + count > verb_) {
      at += option && takes_word_at(at) ? 2 : 1;
      continue;
    }
    const auto place = [&](size_t of) { return words_.begin() + static_cast<std::ptrdiff_t>(of); };
    std::rotate(place(at), place(at + count), place(verb_ + 1));
    verb_ -= count;
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

}  // namespace rdtd
