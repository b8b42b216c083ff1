// The meaning of words without an option: a group, a unit, a file.
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "guess.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/policy/comm_name.hpp"
#include "rdtd/policy/parse.hpp"
#include "time_point.hpp"
#include "unit_processes.hpp"
#include "words_of_others.hpp"

namespace rdtd {

namespace {

// "shop/web": a unit has no '/', and a path begins with one.
bool is_pod(const std::string& word) {
  const size_t slash = word.find('/');
  return slash != std::string::npos && slash > 0 && slash + 1 < word.size() &&
         word.find('/', slash + 1) == std::string::npos && word.front() != '.' &&
         !has_unit_type(word);
}

}  // namespace

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

// kubectl has the kind in front of the name.
void Guess::rewrite_pod(size_t at) {
  if (const std::string kind = words_[at].substr(0, words_[at].find('/'));
      is_one_of(kind, {"pod", "pods", "po", "deploy", "deployment", "statefulset", "sts",
                       "daemonset", "ds", "job"}))
    advice_ = fmt::format("'{}' has no namespace: rdtctl explain --pod NAMESPACE/NAME", words_[at]);
  else
    insert(at, "--pod");
}

// "unit/x.service" and "vm/web", as kubectl has them; whether `at` has one of these kinds.
bool Guess::rewrite_kind(size_t at) {
  const std::string word = words_[at];
  const size_t slash = word.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == word.size()) return false;
  const std::string kind = word.substr(0, slash), name = word.substr(slash + 1);
  if (is_one_of(kind, {"vm", "domain"})) {
    advice_ = meaning_of_verb("explain vm")->sentence;
  } else if (is_digits(kind) && is_digits(name)) {
    advice_ = fmt::format("explain takes one PID: rdtctl explain {}", name);
  } else if (is_one_of(kind, {"pid", "process", "proc"})) {
    words_[at] = name;
  } else if (is_one_of(kind, {"unit", "service", "container"})) {
    words_[at] = name;
    insert(at, kind == "container" ? "--container" : "--unit");
  } else {
    return false;
  }
  return true;
}

// A bare word that is no PID is a unit; watch has both behind an option, explain and assign take a
// PID bare.
void Guess::rewrite_subject() {
  const bool pid_needs_option = verb() == "watch";
  if (!pid_needs_option) rewrite_pids();
  if (ended()) return;
  const std::vector<size_t> bare = arguments();
  if (bare.size() > 1 && !has_unknown_option()) {
    const std::string& first = words_[bare.front()];
    const bool is_command = verb() == "explain" && !is_digits(first) && !has_unit_type(first);
    advice_ = fmt::format("{} takes one PID or one unit{}", verb(),
                          is_command ? "; of a command: rdtctl explain --cmdline \"COMMAND\"" : "");
  }
  if (bare.size() != 1) return;
  if (is_list_of_numbers(words_[bare.front()]))
    advice_ = fmt::format("{} takes one PID", verb());
  else if (verb() == "explain" && words_[bare.front()] == "guard")
    words_[bare.front()] = "--guard";
  else if (verb() == "explain" && rewrite_kind(bare.front()))
    return;
  else if (verb() == "explain" && is_pod(words_[bare.front()]))
    rewrite_pod(bare.front());
  else if (!is_digits(words_[bare.front()]))
    insert(bare.front(), "--unit");
  else if (pid_needs_option)
    insert(bare.front(), "--pid");
}

// The word at `at` names the group and begins no command: suggest takes no command without a group;
// of run and bench, options of theirs may come before "--" or a probe.
bool Guess::is_group_before_command(size_t at) const {
  const auto end = words_.end();
  const auto next = words_.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  if (verb() == "suggest") return true;
  if (next == end || !is_option(*next)) return false;
  if (*next == "--") return true;
  const bool probe = verb() == "bench" && given({"--probe"});
  const std::string option = option_name(*next);
  return (known_(verb(), option) || meaning_of_option(verb(), option)) &&
         (probe || std::find(next, end, "--") != end);
}

// "run GROUP -- COMMAND", "suggest GROUP --runs 9".
void Guess::rewrite_run() {
  const std::vector<size_t> bare = arguments();
  const auto command = std::find(words_.begin(), words_.end(), "--");
  const auto has = [&](std::initializer_list<std::string_view> options) {
    return std::any_of(words_.begin(), command, [&](const std::string& word) {
      return is_one_of(option_name(word), options);
    });
  };
  const bool own = has({"-g", "--group"}) ||
                   (verb() != "suggest" && has({"--l2", "--l3", "--mb", "--smba", "--exclusive",
                                                "--pseudo-lock", "--noise-group", "--ceiling"}));
  if (!own && !bare.empty() && is_group_before_command(bare.front())) insert(bare.front(), "-g");
}

// apply and reload.
void Guess::rewrite_load() {
  if (std::erase_if(words_, [](const std::string& word) {
        return is_one_of(word, {"--dry-run", "--dryrun", "-n", "--check", "--plan", "--what-if",
                                "--whatif", "--simulate", "--preview"}) ||
               word.starts_with("--dry-run=");
      }) > 0) {
    find_verb();
    words_[verb_] = "plan";
  } else if (const std::vector<size_t> bare = arguments(); !bare.empty()) {
    const std::string& word = words_[bare.front()];
    if (word == "-" || word.find_first_of("./") != std::string::npos)
      advice_ = fmt::format("{} takes no files: {}", verb(),
                            meaning_of_option("apply", "--file")->sentence);
  }
}

// "import FILE"; the kind of a file is recognized.
void Guess::rewrite_import() {
  const std::vector<size_t> bare = arguments();
  const bool from = given({"--from"});
  const auto is_kind = [](const std::string& word) {
    return is_one_of(word, {"pqos", "intel-cmt-cat", "goresctrl", "cgrules", "cgrules.conf",
                            "libvirt", "containerd", "crio"});
  };
  std::error_code unknown;
  const auto option = std::ranges::find(words_, "--from");
  const std::string first = bare.empty() ? "" : words_[bare.front()];
  const std::string named = option == words_.end()       ? first
                            : option + 1 == words_.end() ? ""
                                                         : option[1];
  if (is_kind(named) && (bare.size() + from == 2 || !std::filesystem::exists(named, unknown)))
    advice_ = fmt::format("'{}': {}", named, meaning_of_option("import", "--format")->sentence);
  else if (!from && bare.size() == 2 && is_kind_of_group(words_[bare.front()]))
    advice_ = meaning_of_option("import", "--group")->sentence;
  else if (!from && bare.size() == 1)
    insert(bare.front(), "--from");
}

// A file of such a name is hardly meant.
void Guess::rewrite_record() {
  const std::vector<size_t> bare = arguments();
  if (bare.empty() && std::ranges::find(words_, "--") != words_.end() && !given({"-h", "--help"}))
    advice_ = "record requires FILE before '--': 'rdtctl record FILE -- COMMAND'";
  if (bare.empty() || has_unknown_option()) return;
  if (const size_t at = bare.front() + 1; at < words_.size() && bare.size() == 2 &&
                                          at == bare.back() && at + 1 == words_.size() &&
                                          (is_digits(words_[at]) || is_span(words_[at])))
    insert(at, "-d");  // "record FILE 10"
  const std::string& word = words_[bare.front()];
  if (is_digits(word) || is_span(word))
    advice_ = fmt::format("'{0}' is a time: 'rdtctl record FILE -d {0}'", word);
  else if (is_one_of(word, {"start", "stop"}))
    advice_ = fmt::format("'record {}': {}", word, meaning_of_verb("observer")->sentence);
}

// "snapshot create DIR"; the other words of programs that keep snapshots are no directories.
void Guess::rewrite_snapshot() {
  const std::vector<size_t> bare = arguments();
  if (bare.size() > 1 && is_one_of(words_[bare.front()], {"create", "save", "take", "make"}))
    erase(bare.front());
  else if (!bare.empty() &&
           is_one_of(words_[bare.front()], {"list", "ls", "restore", "load", "delete", "rm", "show",
                                            "create", "save", "take", "make"}))
    advice_ = fmt::format(
        "'snapshot {}': a snapshot is a directory like others: rdtctl snapshot DIR makes one, and "
        "rdtctl --resctrl DIR plan reads it",
        words_[bare.front()]);
}

// "init a.service b.service".
void Guess::rewrite_init() {
  if (given({"--protect"})) return;
  const std::vector<size_t> bare = arguments();
  for (size_t i = bare.size(); i > 0; i--) insert(bare[i - 1], "--protect");
}

// "show group redis", "list a b".
void Guess::rewrite_groups() {
  std::vector<size_t> bare = arguments();
  if (bare.size() > 1 && is_kind_of_group(words_[bare.front()])) {
    erase(bare.front());
    bare = arguments();
  }
  if (verb() == "list" && bare.size() > 1)
    advice_ = fmt::format("list takes no argument: 'rdtctl show {}' shows one group",
                          words_[bare.front()]);
  else if (verb() == "show" && bare.size() == 2 &&
           is_one_of(words_[bare.front()], {"cpu", "core"}) && is_digits(words_[bare.back()]))
    advice_ = "'rdtctl list' shows the CPUs of each group";
  else if (verb() == "show" && bare.size() > 1)
    advice_ = fmt::format("show takes one GROUP: 'rdtctl show {}'; 'rdtctl list' shows all",
                          words_[bare.front()]);
}

// The script for bash is the nearest to other shells like it.
void Guess::rewrite_completion() {
  if (const auto bare = arguments();
      bare.size() == 1 &&
      is_one_of(words_[bare.front()], {"sh", "/bin/sh", "/bin/bash", "/usr/bin/bash"}))
    words_[bare.front()] = "bash";
}

// "--sort TASKS": as the heading has it.
void Guess::rewrite_column() {
  for (size_t at = verb_ + 1; at < words_.size(); at++) {
    const bool apart = words_[at] == "--sort" && at + 1 < words_.size();
    if (apart || words_[at].starts_with("--sort=")) words_[at + apart] = lower(words_[at + apart]);
  }
}

// top takes no argument.
void Guess::rewrite_top() {
  rewrite_column();
  const std::vector<size_t> bare = arguments();
  if (bare.empty() || has_unknown_option()) return;
  const std::string word = words_[bare.front()];
  std::error_code unknown;
  if (std::filesystem::is_regular_file(word, unknown))
    advice_ = fmt::format("'{0}' is a file: rdtctl top --play {0}", word);
  else if (is_digits(word))
    advice_ =
        fmt::format("'{0}' is not a group: rdtctl top -d {0} refreshes every {0} seconds", word);
  else
    advice_ = fmt::format("top shows all groups; 'rdtctl show {0}' shows one", word);
}

// Of a verb that takes no arguments; whether there is one.
bool Guess::refuse_arguments() {
  const std::vector<size_t> bare = arguments();
  if (bare.empty() || words_[bare.front() - 1] == "--json") return false;  // a wrong form
  if (verb() == "reset")
    advice_ =
        fmt::format("reset takes no argument: {}", meaning_of_option("reset", "--group")->sentence);
  else if (const std::string_view instead = instead_of_argument(verb()); !instead.empty())
    advice_ = fmt::format("{} takes no argument: {}", verb(), instead);
  return ended();
}

// Before the words of a command.
bool Guess::has_unknown_option() const {
  return std::any_of(words_.begin(), std::ranges::find(words_, "--"), [&](const std::string& word) {
    const std::string name = option_name(word);
    return is_option(word) && !known_(verb(), name) && !known_("", name);
  });
}

void Guess::rewrite_arguments() {
  const std::string name = verb();
  if (name == "explain" || name == "watch") rewrite_subject();
  if (name == "assign") rewrite_assign();
  if (name == "init") rewrite_init();
  if (is_one_of(name, {"run", "bench", "suggest"})) rewrite_run();
  if (name == "completion") rewrite_completion();
  if (is_one_of(name, {"history", "blame"})) rewrite_period();
  if (name == "record") rewrite_record();
  if (name == "snapshot") rewrite_snapshot();
  if (is_one_of(name, {"show", "list", "edit", "adopt"}) && !has_unknown_option()) rewrite_groups();
  if (name == "import") rewrite_import();
  if (name == "top") rewrite_top();
  // A word behind an option that is not known may be its value.
  if (ended() || has_unknown_option() || refuse_arguments()) return;
  if (name == "status" && given({"--rules"}) && !arguments().empty())
    advice_ = "'rdtctl status --rules' shows all rules, and 'rdtctl explain' those about a process";
  else if ((name == "status" || name == "list") && arguments().size() == 1)
    words_[verb_] = "show";
}

}  // namespace rdtd
