// The meaning of the words of assign: processes, a unit, and their group.
#include <fmt/format.h>

#include <cctype>
#include <iterator>

#include "guess.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/policy/comm_name.hpp"
#include "rdtd/policy/parse.hpp"
#include "unit_processes.hpp"
#include "words_of_others.hpp"

namespace rdtd {

namespace {

std::string neither_pid_nor_unit(const std::string& word) {
  if (std::ranges::none_of(word, [](unsigned char c) { return std::isalnum(c) != 0; }))
    return fmt::format("'{}' is neither a PID nor a unit", word);
  return fmt::format(
      "'{0}' is neither a PID nor a unit with its type, such as '{0}.service'; a [[rule]] with "
      "name = \"{1}\" matches processes by name",
      word, comm_of(word));
}

std::string instead_of_path(const std::string& path) {
  const std::string last = path.substr(path.rfind('/') + 1);
  const std::string is_path = fmt::format("'{}' is a path, neither a PID nor a unit", path);
  if (has_unit_type(last)) return fmt::format("{}: write {}", is_path, last);
  const std::string_view below_root = std::string_view(path).substr(1);
  if (below_root.starts_with("proc/")) return is_path + ": write the PID alone";
  if (below_root.starts_with("sys/"))
    return is_path + ": [[rule]] with cgroup = \"/...\", as /proc/PID/cgroup has it";
  return fmt::format("{}: [[rule]] with exe = \"{}\" matches the processes of an executable",
                     is_path, path.starts_with('/') ? path : "/.../" + last);
}

}  // namespace

// "assign 1 to redis", "assign redis unit x.service": words that lead to the next one. A group may
// have such a name: the only name that is left stays, and so does the last word.
void Guess::drop_fillers_of_assign() {
  const std::ptrdiff_t needed = given({"-g", "--group"}) ? 0 : 1;
  const auto drop = [&](std::initializer_list<std::string_view> fillers) {
    std::vector<size_t> bare = arguments();
    auto names = std::ranges::count_if(bare, [&](size_t at) { return !is_digits(words_[at]); });
    for (size_t i = bare.size(); i > 1 && std::ssize(bare) > needed + 1 && names > needed; i--)
      if (is_one_of(lower(words_[bare[i - 2]]), fillers)) {
        erase(bare[i - 2]);
        bare = arguments();
        names--;
      }
  };
  drop({"to", "in", "into"});  // first: "assign 1 to service"
  drop({"unit", "service", "pid", "process", "group", "class"});
}

// "assign pod shop/web redis": what only a rule matches by.
bool Guess::refuse_condition() {
  const std::vector<size_t> bare = arguments();
  const bool has_group = given({"-g", "--group"});
  const size_t needed = has_group ? 1 : 2;
  // "assign vm 1 2": PIDs of a group with such a name.
  if (!has_group &&
      std::ranges::count_if(bare, [&](size_t at) { return !is_digits(words_[at]); }) == 1)
    return false;
  for (size_t i = 0; i + 1 < bare.size() && bare.size() > needed; i++) {
    const std::string& kind = words_[bare[i]];
    if (is_one_of(kind, {"pod", "container", "vm", "user", "exe", "name", "cgroup"}))
      advice_ = fmt::format("assign takes PIDs or a unit: write a [[rule]] with {} = \"{}\"", kind,
                            words_[bare[i + 1]]);
    else if (is_one_of(kind, {"cpu", "core"}))
      advice_ = meaning_of_option("assign", "--cpu")->sentence;
    if (ended()) return true;
  }
  return false;
}

// "assign GROUP PID" and "assign PID GROUP": the word that is no number is the group. "assign GROUP
// UNIT" and "assign UNIT GROUP": a unit has its type, or stands where the group is given.
void Guess::rewrite_assign() {
  rewrite_pids();
  if (ended()) return;
  if (refuse_condition()) return;
  drop_fillers_of_assign();
  const std::vector<size_t> bare = arguments();
  for (const size_t at : bare)  // "pid:1", "pid=1"
    for (const std::string_view sign : {"pid:", "pid="})
      if (words_[at].starts_with(sign) && is_digits(words_[at].substr(sign.size())))
        words_[at].erase(0, sign.size());
  std::vector<size_t> names;
  std::ranges::copy_if(bare, std::back_inserter(names),
                       [&](size_t at) { return !is_digits(words_[at]); });
  const bool has_group = given({"-g", "--group"}), has_unit = given({"-u", "--unit"});
  if (const auto path = std::ranges::find_if(names,
                                             [&](size_t at) {
                                               return words_[at].starts_with('/') ||
                                                      words_[at].starts_with("./") ||
                                                      words_[at].starts_with("~/");
                                             });
      path != names.end()) {
    advice_ = instead_of_path(words_[*path]);
    return;
  }
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
    if (first == is_unit(names[1])) {
      advice_ = neither_pid_nor_unit(words_[names[1]]);
      return;
    }
    insert(names[1], first ? "-g" : "--unit");
    insert(names[0], first ? "--unit" : "-g");
  } else if (names.size() == 1 && bare.size() == 1 && has_group && !has_unit) {
    // Of a word without a type, systemd knows whether there is such a service.
    if (const std::string& word = words_[names[0]];
        !is_unit(names[0]) && !has_wildcard(word) && !is_known_unit(complete_unit_name(word)))
      advice_ = neither_pid_nor_unit(word);
    else
      insert(names[0], "--unit");
  } else if (names.size() == 1 && !has_group) {
    insert(names[0], "-g");
  } else if (names.size() > (has_group || has_unit ? 0U : 1U) && !has_unknown_option()) {
    const auto others = std::ranges::count_if(names, [&](size_t at) { return !is_unit(at); });
    const auto other = std::ranges::find_if_not(names.rbegin(), names.rend(), is_unit);
    if (!has_unit && others > (has_group ? 0 : 1))
      advice_ = neither_pid_nor_unit(words_[*other]);
    else if (!has_unit && names.size() < bare.size())
      advice_ = "assign takes PIDs or a unit: once for each";
    else
      advice_ = "assign takes one unit: once for each";
  }
}

}  // namespace rdtd
