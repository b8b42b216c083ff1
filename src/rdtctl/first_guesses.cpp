#include "first_guesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace rdtd {

namespace {

using Words = std::vector<std::string>;

const std::map<std::string_view, Words>& verbs_of_others() {
  static const std::map<std::string_view, Words> out = {
      {"ls", {"list"}},
      {"groups", {"list"}},
      {"validate", {"check"}},
      {"lint", {"check"}},
      {"test", {"check"}},
      {"verify", {"check"}},
      {"diff", {"plan", "--unified"}},
      {"describe", {"show"}},
      {"caps", {"info"}},
      {"capabilities", {"info"}},
      {"sync", {"reload"}},
      {"refresh", {"reload"}},
      {"version", {"--version"}},
  };
  return out;
}

const std::map<std::string_view, const char*>& advice() {
  constexpr const char* service =
      "rdtd is a systemd service: use systemctl with its unit, rdtd.service";
  constexpr const char* files =
      "groups are tables of the policy: write [group.NAME] in a file such as "
      "/etc/rdtd/10-NAME.toml, then run 'rdtctl check' and 'rdtctl reload'; see rdtd.toml(5)";
  constexpr const char* removal =
      "remove the group's table from its file in /etc/rdtd, then run 'rdtctl reload'; 'rdtctl "
      "reset' removes every group that rdtd created";
  constexpr const char* back =
      "put the previous file back in /etc/rdtd, then run 'rdtctl reload'; 'rdtctl reset' removes "
      "every group that rdtd created";
  constexpr const char* watching =
      "'rdtctl top' shows what all groups use, and 'rdtctl watch' one process or unit";
  static const std::map<std::string_view, const char*> out = {
      {"start", service},
      {"stop", service},
      {"restart", service},
      {"enable", service},
      {"disable", service},
      {"create", files},
      {"new", files},
      {"add", files},
      {"set", files},
      {"edit", files},
      {"init", files},
      {"config", files},
      {"delete", removal},
      {"rm", removal},
      {"remove", removal},
      {"undo", back},
      {"rollback", back},
      {"restore", back},
      {"monitor", watching},
      {"mon", watching},
      {"log", "the log is in the journal: journalctl -u rdtd"},
      {"logs", "the log is in the journal: journalctl -u rdtd"},
      {"journal", "the log is in the journal: journalctl -u rdtd"},
      {"move", "'rdtctl assign -g GROUP PID' moves a running process"},
      {"export",
       "'rdtctl import' prints the groups as a policy, and 'rdtctl snapshot DIR' saves "
       "the resctrl tree"},
      {"get", "'rdtctl list' shows all groups, and 'rdtctl show GROUP' one of them"},
      {"man", "see rdtctl(1), rdtd.toml(5) and rdtd(8)"},
  };
  return out;
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}
bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// Options of these verbs whose value is the next word.
bool takes_next(std::string_view option) {
  static const std::set<std::string_view> out = {
      "--root",    "--resctrl",  "--unit",      "--name", "--thread",     "--exe",
      "--cmdline", "--cgroup",   "--user-unit", "--user", "--user-group", "--pid",
      "-d",        "--interval", "--sort",      "-g",     "--group",      "--output"};
  return out.contains(option);
}

bool is_form(std::string_view word) { return word == "pretty" || word == "short" || word == "off"; }

// The places of the words that are neither options nor their values, from `begin` on.
std::vector<size_t> bare_words(const Words& words, size_t begin) {
  std::vector<size_t> out;
  for (size_t i = begin; i < words.size(); i++) {
    const bool form = words[i] == "--json" && i + 1 < words.size() && is_form(words[i + 1]);
    if (takes_next(words[i]) || form || words[i] == "-o")
      i++;
    else if (!is_option(words[i]))
      out.push_back(i);
  }
  return out;
}

// "-V", "--json" without its form, "-o json". Returns what is wrong.
std::optional<std::string> rewrite_options(Words& words, size_t end) {
  for (size_t i = 0; i < std::min(end, words.size()); i++) {
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    if (words[i] == "-V") words[i] = "--version";
    if (words[i] == "--json" && (next.empty() || is_option(next))) words[i] = "-j";
    if (words[i] != "-o" || next.empty()) continue;
    if (next != "json" && next != "text" && next != "table" && next != "wide")
      return fmt::format("'-o {}': the output is text, or JSON with -o json", next);
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    if (next == "json") words.insert(at + 2, "-j");
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
  }
  return std::nullopt;
}

void insert(Words& words, size_t at, const char* word) {
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), word);
}

// A bare word that is no PID is a unit; watch wants both behind an option, explain and assign take
// a PID bare.
void rewrite_subject(Words& words, size_t verb, bool pid_needs_option) {
  for (size_t i = verb + 1; !pid_needs_option && i + 1 < words.size(); i++)
    if (words[i] == "--pid") words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
  const std::vector<size_t> bare = bare_words(words, verb + 1);
  if (bare.size() != 1) return;
  if (!is_number(words[bare.front()]))
    insert(words, bare.front(), "--unit");
  else if (pid_needs_option)
    insert(words, bare.front(), "--pid");
}

// "assign GROUP PID" and "assign PID GROUP": the word that is no number is the group.
void rewrite_assign(Words& words, size_t verb) {
  for (size_t i = verb + 1; i + 1 < words.size(); i++)
    if (words[i] == "--pid") words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
  const auto given = [&](std::string_view option) {
    return std::ranges::any_of(words, [&](const std::string& word) {
      return word == option || word.starts_with(std::string(option) + "=");
    });
  };
  if (given("-g") || given("--group")) return;
  const std::vector<size_t> bare = bare_words(words, verb + 1);
  const auto is_group = [&](size_t at) { return !is_number(words[at]); };
  if (std::ranges::count_if(bare, is_group) == 1)
    insert(words, *std::ranges::find_if(bare, is_group), "-g");
}

void rewrite_verb(Words& words, size_t verb) {
  const std::string name = words[verb];
  if (name == "explain") rewrite_subject(words, verb, false);
  if (name == "watch") rewrite_subject(words, verb, true);
  if (name == "assign") rewrite_assign(words, verb);
  if ((name == "status" || name == "list") && bare_words(words, verb + 1).size() == 1)
    words[verb] = "show";
  if (name == "apply" && std::erase(words, "--dry-run") > 0) words[verb] = "plan";
}

}  // namespace

std::expected<std::vector<std::string>, std::string> understand(Words words) {
  const std::vector<size_t> bare = bare_words(words, 0);
  const size_t verb = bare.empty() ? words.size() : bare.front();
  const bool executes = verb < words.size() && (words[verb] == "run" || words[verb] == "bench" ||
                                                words[verb] == "suggest");
  if (verb < words.size()) {
    if (const auto said = advice().find(words[verb]); said != advice().end())
      return std::unexpected(fmt::format("'{}': {}", words[verb], said->second));
    if (const auto same = verbs_of_others().find(words[verb]); same != verbs_of_others().end()) {
      const auto at = words.erase(words.begin() + static_cast<std::ptrdiff_t>(verb));
      words.insert(at, same->second.begin(), same->second.end());
    }
    if (!executes) rewrite_verb(words, verb);
  }
  if (auto wrong = rewrite_options(words, executes ? verb : words.size()))
    return std::unexpected(std::move(*wrong));
  return words;
}

}  // namespace rdtd
