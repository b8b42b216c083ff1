// The words of history and blame without an option: a file, a time, or a group.
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <system_error>

#include "guess.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "time_point.hpp"

namespace rdtd {

namespace {

constexpr size_t most_words_of_time = 4;  // "2 hours 30 min"

// A number alone is none: of what, of seconds?
bool is_time(const std::string& text) {
  const std::string_view number = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
  return !is_digits(number) && parse_time(text, clock_usec(CLOCK_REALTIME)).has_value();
}

// The name of a group has no '/', but that of a monitoring group has one behind its control group.
bool can_be_group(const std::string& word) {
  std::error_code unknown;
  if (word.empty() || word == "-" || word.contains('.')) return false;
  const size_t slash = word.find('/');
  return slash == std::string::npos ||
         (slash > 0 && word.find('/', slash + 1) == std::string::npos &&
          !std::filesystem::exists(word.substr(0, slash), unknown));
}

// Which option a word between others stands for: "since yesterday", "until 08:30".
std::string_view option_meant(std::string_view word) {
  if (is_one_of(word, {"since", "from", "for", "past"})) return "--since=";
  return is_one_of(word, {"until", "till", "to"}) ? "--until=" : "";
}

}  // namespace

// How many words from `at` on are one time: "1h", "1 hour ago", "2026-11-26 08:30". A word behind
// the first that is a file is FILE: "--since 1d 1h" with a recording 1h.
size_t Guess::words_of_time(size_t at) const {
  std::error_code unknown;
  size_t found = 0;
  std::string text;
  for (size_t count = 1; count <= most_words_of_time && at + count <= words_.size(); count++) {
    const std::string& next = words_[at + count - 1];
    if (count > 1 && (is_option(next) || std::filesystem::exists(next, unknown))) break;
    text += (count > 1 ? " " : "") + next;
    if (is_time(text)) found = count;
  }
  return found;
}

// Puts the words of a time behind the option, in one word.
void Guess::join_time(size_t at, size_t count, const std::string& option) {
  std::string joined = option;
  for (size_t i = 0; i < count; i++) joined += (i > 0 ? " " : "") + words_[at + i];
  erase(at + 1, count - 1);
  words_[at] = joined;
}

// "1h", "last hour", "since 1 hour ago" at `at`, and the end of the period behind its begin.
bool Guess::rewrite_time(size_t at) {
  const bool more = at + 1 < words_.size();
  if (is_one_of(words_[at], {"last", "past"}) && more && !words_of_time(at + 1) &&
      is_span("1" + words_[at + 1]))
    words_[at + 1].insert(0, "1");
  std::string option(option_meant(words_[at]));
  if ((words_[at] == "last" || !option.empty()) && more && words_of_time(at + 1) > 0) erase(at);
  const size_t dash = words_[at].find('-', 1);  // "08:30-09:30"
  if (words_of_time(at) == 0 && dash != std::string::npos && is_time(words_[at].substr(0, dash)) &&
      is_time(words_[at].substr(dash + 1))) {
    insert(at + 1, "--until=" + words_[at].substr(dash + 1));
    words_[at] = "--since=" + words_[at].substr(0, dash);
    return true;
  }
  const size_t count = words_of_time(at);
  if (count == 0) return false;
  if (option.empty()) option = given({"-S", "--since"}) ? "--until=" : "--since=";
  join_time(at, count, option);
  return true;
}

// Why the word at `at` is no group, if `group` was found before; empty if it can be one.
std::string Guess::refusal_of_group(const std::string& group, size_t at) const {
  const std::string& word = words_[at];
  if (is_digits(word) && !is_option(words_[at - 1]))  // else a value of an unknown option
    return fmt::format("'{0}' is neither a file nor a time: a time has a unit, such as {0}min",
                       word);
  if (is_one_of(word, {"since", "until"}) && at + 1 < words_.size())
    if (const auto time = parse_time(words_[at + 1], 0); !time) return time.error();
  if (is_one_of(word, {"this", "last", "past"}) && at + 1 < words_.size())
    if (const auto time = parse_time(word + " " + words_[at + 1], 0); !time) return time.error();
  return group.empty()
             ? ""
             : fmt::format("{0} takes one GROUP: 'rdtctl {0} {1}'; without one it shows all",
                           verb(), group);
}

// "on redis", "group redis": a word that only leads to the next one.
bool Guess::drop_filler(size_t at) {
  const bool alone = at + 1 == words_.size() || is_option(words_[at + 1]);
  if (is_one_of(words_[at], {"all", "everything"}) ||
      (!alone && (is_kind_of_group(words_[at]) ||
                  is_one_of(words_[at], {"on", "of", "for", "in", "by", "who"})))) {
    erase(at);
    return true;
  }
  return false;
}

// "history 1h", "blame redis", "history busy.rec web --since 1 hour ago".
void Guess::rewrite_period() {
  std::error_code unknown;
  const bool has_group = given({"-g", "--group"});
  std::string group;
  for (size_t at = verb_ + 1; at < words_.size() && !ended(); at++) {
    const std::string word = words_[at], name = option_name(word);
    const bool is_period = is_one_of(name, {"-S", "--since", "-U", "--until"});
    if (is_period && name != word) {  // "--since=1h ago"
      const std::string begin = word.substr(name.size() + 1);
      words_[at] = begin;
      join_time(at, std::max<size_t>(words_of_time(at), 1), name + "=");
    } else if (is_option(word) && words_of_time(at) == 0) {
      if (!takes_next(word)) continue;
      if (const size_t count = is_period ? words_of_time(at + 1) : 0; count > 0)
        join_time(at + 1, count, "");
      at++;
    } else if (const bool is_file = std::filesystem::exists(word, unknown);
               !is_file && word == "now") {
      advice_ = fmt::format("{} shows what was; 'rdtctl top' shows what is now", verb());
    } else if (is_file || rewrite_time(at)) {
      continue;
    } else if (word == "-" && words_of_time(at + 1) > 0) {  // the end is behind it
      erase(at);
      join_time(at, words_of_time(at), "--until=");
    } else if (drop_filler(at)) {
      at--;
    } else if (!has_group && !given({"--replay"}) && can_be_group(word)) {
      advice_ = refusal_of_group(group, at);
      group = word.substr(0, word.find_last_not_of('/') + 1);
      words_[at] = group;
      insert(at++, "-g");
    }
  }
}

}  // namespace rdtd
