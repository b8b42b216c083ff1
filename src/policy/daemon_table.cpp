#include "daemon_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "names.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

namespace {

// A comparison looks at all groups and processes.
constexpr std::chrono::milliseconds shortest_interval{100};

// Words for those who may read whatever 'readers' says, or for nobody at all.
constexpr std::string_view as_few_as_possible =
    "group rdtd root none no nobody off false never nothing closed private restricted";
// User groups of other programs: being in one of them is not enough.
constexpr std::string_view other_user_groups = "adm wheel sudo admins administrators staff";
constexpr std::string_view everybody =
    "all everybody everyone any anyone world users yes on true public open";

bool is_word_of(std::string_view words, std::string_view word) {
  const auto list = split(words, ' ');
  return std::ranges::find(list, word) != list.end();
}

// "755" and "0755".
bool is_file_mode(std::string_view text) {
  return (text.size() == 3 || (text.size() == 4 && text.front() == '0')) &&
         text.find_first_not_of("01234567") == std::string_view::npos;
}

// Of the names of users, which are members of a user group.
std::string hint_for_readers(const toml::node& node) {
  constexpr size_t most = 3;
  std::vector<std::string> names;
  bool few = false, all = false;
  const auto add = [&](const toml::node& one) {
    const auto* name = one.as_string();
    if (name == nullptr || name_problem(name->get())) return;
    const std::string word = lower(name->get());
    if (is_word_of(as_few_as_possible, word))
      few = true;
    else if (is_word_of(everybody, word))
      all = true;
    else
      names.push_back(is_word_of(other_user_groups, word) ? "the members of " + name->get()
                                                          : name->get());
  };
  add(node);
  if (const auto* array = node.as_array())
    for (const toml::node& one : *array) add(one);
  if (all) return "write readers = \"all\"";
  if (few && names.empty()) return "write readers = \"group\"";
  if (names.empty() || names.size() > most) return {};
  // "0755": its last digit is for everybody. Other numbers are users.
  if (const std::string& mode = names.front(); is_file_mode(mode) && names.size() == 1)
    return fmt::format("write readers = \"{}\"", (mode.back() - '0') & 4 ? "all" : "group");
  return fmt::format("write readers = \"group\" and add {} to the user group rdtd",
                     join(names, " and "));
}

bool is_never(std::string_view word) {
  return word == "never" || word == "off" || word == "none" || word == "infinity" ||
         word == "disabled";
}

}  // namespace

void DaemonReader::read(const FileReader& in, const toml::key& key, const toml::node& node) {
  table_.read(
      in, key, node,
      {{"log_level",
        [&](const auto& k, const auto& n) {
          if (auto level = table_.choice(in, k, n, {"debug", "info", "warning", "error"},
                                         {{"trace verbose 7 all", "debug"},
                                          {"notice 6 5 normal default", "info"},
                                          {"warn 4", "warning"},
                                          {"err 3 crit critical quiet", "error"}}))
            settings_.log_level = *level;
        }},
       {"on_stop",
        [&](const auto& k, const auto& n) {
          if (const auto value = table_.choice<OnStop>(
                  in, k, n, {{"keep", OnStop::keep}, {"remove", OnStop::remove}},
                  {{"leave nothing none false", "keep"},
                   {"reset clean delete clear undo true", "remove"}}))
            settings_.on_stop = *value;
        }},
       {"drift",
        [&](const auto& k, const auto& n) {
          if (const auto value = table_.choice<OnDrift>(
                  in, k, n, {{"restore", OnDrift::restore}, {"report", OnDrift::report}},
                  {{"fix repair enforce correct true", "restore"},
                   {"warn log ignore notify allow false", "report"}}))
            settings_.drift = *value;
        }},
       {"unsupported",
        [&](const auto& k, const auto& n) {
          if (const auto value = table_.choice<OnUnsupported>(
                  in, k, n, {{"refuse", OnUnsupported::refuse}, {"skip", OnUnsupported::skip}},
                  {{"error fail strict deny", "refuse"},
                   {"ignore warn warning allow omit", "skip"}},
                  "write \"skip\" to leave out what this machine does not have, or \"refuse\""))
            settings_.unsupported = *value;
        }},
       {"readers",
        [&](const auto& k, const auto& n) {
          if (const auto value = table_.choice<Readers>(
                  in, k, n, {{"group", Readers::group}, {"all", Readers::all}},
                  {{as_few_as_possible, "group"}, {everybody, "all"}}, hint_for_readers(n)))
            settings_.readers = *value;
        }},
       {"reconcile_interval", [&](const auto& k, const auto& n) { read_interval(in, k, n); }}});
}

void DaemonReader::read_interval(const FileReader& in, const toml::key& key,
                                 const toml::node& node) {
  const auto written = [](std::string_view text) {
    constexpr std::chrono::hours most{2400};
    return fmt::format("write \"{}\"",
                       duration_meant(text, shortest_interval, most).value_or("30s"));
  };
  if (const auto number = node.value<double>(); number && node.is_number())
    return in.wrong_type(key, node, "a string",
                         *number == 0 ? "write \"0\"" : written(fmt::format("{}", *number)));
  if (node.is_boolean())
    return in.wrong_type(key, node, "a string",
                         node.value_or(true) ? "write \"30s\"" : "write \"0\"");
  const auto text = in.string(key, node);
  if (!text) return;
  const std::string no_span = fmt::format("'{}' is not a time span", text->value);
  const auto span = parse_duration(text->value);
  if (span && span->count() > 0 && *span < shortest_interval)
    in.error(
        text->where,
        fmt::format("'reconcile_interval' must be \"0\" or at least 100ms, not '{}'", text->value));
  else if (span)
    settings_.reconcile_interval = *span;
  else if (is_never(text->value))
    in.error(text->where, no_span, "write \"0\"");
  else if (is_too_long(span.error()))
    in.error(text->where, span.error());
  else
    in.error(text->where, no_span, written(text->value));
}

}  // namespace rdtd
