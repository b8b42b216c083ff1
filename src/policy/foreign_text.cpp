#include "foreign_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/policy/comm_name.hpp"
#include "unknown_key.hpp"

namespace rdtd {

using pattern::Check;
using pattern::is_comm;
using pattern::is_identity;
using pattern::misunderstood;
using pattern::never;
using pattern::write;

namespace {

constexpr auto no_place = std::string_view::npos;

// The condition that a word in front of a value names, "" for the glob itself: "uid:1000",
// "exe=/usr/bin/tar".
std::optional<std::string_view> condition_of(std::string_view word, ConditionKind kind) {
  constexpr auto words =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"name", "name"},
                                                                    {"comm", "name"},
                                                                    {"process", "name"},
                                                                    {"proc", "name"},
                                                                    {"exe", "exe"},
                                                                    {"path", "exe"},
                                                                    {"cmdline", "cmdline"},
                                                                    {"args", "cmdline"},
                                                                    {"thread", "thread"},
                                                                    {"unit", "unit"},
                                                                    {"service", "unit"},
                                                                    {"slice", "unit"},
                                                                    {"systemd", "unit"},
                                                                    {"user", "user"},
                                                                    {"uid", "user"},
                                                                    {"username", "user"},
                                                                    {"group", "user_group"},
                                                                    {"gid", "user_group"},
                                                                    {"user_group", "user_group"},
                                                                    {"vm", "vm"},
                                                                    {"pod", "pod"},
                                                                    {"container", "container"},
                                                                    {"cgroup", "cgroup"},
                                                                    {"pid", "pid"},
                                                                    {"glob", ""},
                                                                    {"pattern", ""}});
  const std::string small = lower(word);
  const bool is_unit = kind == ConditionKind::unit || kind == ConditionKind::user_unit;
  // "name=redis" of docker, "file:nginx.service" of systemd's messages.
  if ((kind == ConditionKind::container && small == "name") || (is_unit && small == "file"))
    return "";
  const auto* const found =
      std::ranges::find(words, small, &std::pair<std::string_view, std::string_view>::first);
  return found == words.end() ? std::nullopt : std::optional(found->second);
}

// The hint for a condition of one kind whose value names another condition, `key`.
std::string write_condition(ConditionKind kind, std::string_view key, std::string_view value) {
  if (key == "pid") return std::string(by_process);
  if (value == "*" && (key == "user" || key == "user_group"))
    return std::string(pattern::every_process);
  if (key == "exe" && !value.starts_with('/')) key = "name";
  if (key == to_string(kind)) return write(value);
  std::string text(value);
  if (key == "cgroup" && !value.starts_with('/')) text.insert(0, "/");
  if (key == "pod" && !value.contains('/')) text.insert(0, "*/");
  if (key == "cmdline" && !value.contains('*')) text = fmt::format("*{}*", value);
  return fmt::format("write {} = {}", key, rdtd::quoted(text));
}

// "user:mysql", "comm=mysqld", "uid 1000".
Check check_word_in_front(ConditionKind kind, std::string_view text) {
  const size_t sign = text.find_first_of(is_identity(kind) ? ":= " : ":=");
  if (sign == no_place) return std::nullopt;
  const std::string_view value = trim(text.substr(sign + 1));
  const auto condition = condition_of(text.substr(0, sign), kind);
  if (!condition || value.empty() || (text[sign] == ' ' && !is_digits(value))) return std::nullopt;
  // "name=systemd:/system.slice/x.service" is a hierarchy of cgroup v1.
  if (kind == ConditionKind::cgroup && (value.starts_with('/') || value.contains(":/")))
    return std::nullopt;
  // Of libvirt, Kubernetes and images.
  if (kind == ConditionKind::vm || kind == ConditionKind::pod) return std::nullopt;
  const std::string word = lower(text.substr(0, sign));
  const bool is_type = word == "slice" || word == "service";
  std::string meant(value);
  // docker's filter: "name=^/redis$".
  if (kind == ConditionKind::container) {
    while (meant.starts_with('^') || meant.starts_with('/')) meant.erase(0, 1);
    if (meant.ends_with('$')) meant.pop_back();
  }
  if (is_type && !has_unit_type(value)) meant += fmt::format(".{}", word);
  const std::string_view key = condition->empty() ? to_string(kind) : *condition;
  const bool certain = is_identity(kind) || kind == ConditionKind::exe ||
                       kind == ConditionKind::container || kind == ConditionKind::cgroup ||
                       (is_comm(kind) && text.size() > longest_comm);
  return misunderstood(text, "the value stands alone, without a word before it",
                       write_condition(kind, key, meant), certain);
}

Check check_template(ConditionKind kind, std::string_view text) {
  if (kind == ConditionKind::cmdline) return std::nullopt;  // programs have templates as arguments
  for (const std::string_view sign : {"{{", "{%", "<%"})
    if (text.contains(sign))
      return never(text, "it is a template", "rdtd reads what is made from it");
  return std::nullopt;
}

Check check_variable(ConditionKind kind, std::string_view text) {
  // A shell replaces the variables of a command before the program starts.
  const size_t at = find_variable(text);
  if (at == no_place || (kind == ConditionKind::cmdline && at != 0)) return std::nullopt;
  // check_exe() proposes the part behind the variable.
  if (kind == ConditionKind::exe && at == 0 && text.contains('/')) return std::nullopt;
  std::string hint =
      is_identity(kind) ? "write the name itself" : hint_for_place(without_variables(text));
  // A '$' can be in a name: of a Java class, of a machine of a Windows domain.
  const bool can_be_name = at > 0 && text[at + 1] != '{' && kind != ConditionKind::container &&
                           kind != ConditionKind::pod;
  return misunderstood(text, "rules have no variables", std::move(hint), !can_be_name);
}

// "--user firefox", as systemctl has it.
Check check_option(ConditionKind kind, std::string_view text) {
  constexpr auto options = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"--user ", "user_unit"}, {"--user=", "user_unit"}, {"--system ", "unit"}});
  if (kind != ConditionKind::unit && kind != ConditionKind::user_unit) return std::nullopt;
  for (const auto& [option, key] : options) {
    const std::string_view unit = trim(text.substr(std::min(option.size(), text.size())));
    if (text.starts_with(option) && !unit.empty())
      return never(text, "it is an option of systemctl; 'unit' and 'user_unit' take the names",
                   write_condition(kind, key, unit));
  }
  return std::nullopt;
}

// "mysql%", as SQL has it, and "/home/%u/x".
Check check_percent(ConditionKind kind, std::string_view text) {
  if (!is_comm(kind) && kind != ConditionKind::exe && kind != ConditionKind::vm &&
      kind != ConditionKind::container)
    return std::nullopt;
  const size_t at = text.find('%');
  if (at == no_place || (at > 0 && text[at - 1] == '\\')) return std::nullopt;
  std::string meant = without_specifiers(text);
  // check_exe() proposes the end of the path.
  if (kind == ConditionKind::exe && !text.starts_with('/')) return std::nullopt;
  if (find_specifier(text) == no_place) {
    meant = text;
    std::ranges::replace(meant, '%', '*');
  }
  const bool is_all = meant.find_first_not_of('*') == std::string::npos;
  return misunderstood(text, "in a glob, '%' stands for itself", is_all ? "" : write(meant), false);
}

}  // namespace

Check check_foreign_text(ConditionKind kind, std::string_view text) {
  if (auto found = check_template(kind, text)) return found;
  if (kind == ConditionKind::cmdline) return check_variable(kind, text);
  if (auto found = check_option(kind, text)) return found;
  if (auto found = check_word_in_front(kind, text)) return found;
  // The names of units and the paths of cgroups have checks of their own for the other two.
  if (kind == ConditionKind::unit || kind == ConditionKind::user_unit ||
      kind == ConditionKind::cgroup)
    return std::nullopt;
  if (auto found = check_variable(kind, text)) return found;
  return check_percent(kind, text);
}

size_t find_specifier(std::string_view text) {
  constexpr std::string_view letters = "aAbBCdDEfgGhHiIjJlLmMnNopPqsStTuUvVwW";
  constexpr std::string_view of_words = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (size_t at = text.find('%'); at != no_place; at = text.find('%', at + 1))
    if (at + 1 < text.size() && letters.contains(text[at + 1]) &&
        (at + 2 == text.size() || !of_words.contains(text[at + 2])))
      return at;
  return no_place;
}

size_t find_variable(std::string_view text) {
  for (size_t at = text.find('$'); at != no_place; at = text.find('$', at + 1))
    if (at + 1 < text.size() && (at == 0 || text[at - 1] != '\\') &&
        (text[at + 1] == '{' || (text[at + 1] >= 'A' && text[at + 1] <= 'Z')))
      return at;
  return no_place;
}

std::string without_specifiers(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    out += text[i] == '%' ? '*' : text[i];
    if (text[i] == '%') i++;
  }
  return out;
}

std::string without_variables(std::string_view text) {
  constexpr std::string_view name =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::string out;
  while (!text.empty()) {
    if (text.front() != '$') {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    out += '*';
    text.remove_prefix(1);
    const bool braces = text.starts_with('{');
    const size_t end = braces ? text.find('}') : text.find_first_not_of(name);
    text.remove_prefix(std::min(end == no_place ? end : end + (braces ? 1 : 0), text.size()));
  }
  return out;
}

std::string hint_for_place(std::string_view pattern) {
  const bool is_all = pattern.find_first_not_of("*/") == no_place || pattern == "*.service" ||
                      pattern == "*.slice" || pattern == "*.scope";
  return is_all ? "write the text itself" : write(pattern);
}

}  // namespace rdtd
