#include "line_meant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "amount_meant.hpp"
#include "names.hpp"
#include "plain_value.hpp"
#include "rate_meant.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/resource.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "unknown_key.hpp"

namespace rdtd {

namespace {

constexpr size_t longest_line = 500;  // longer ones get no hint

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (!(line = trim(line)).empty()) {
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return out;
}

// "USER[:PROCESS] CONTROLLERS DESTINATION", as libcgroup's cgrules.conf(5) has it.
bool is_cgrules(std::string_view line) {
  constexpr std::array<std::string_view, 12> controllers = {
      "*",       "cpu",     "cpuset", "cpuacct", "memory",  "blkio",
      "devices", "freezer", "pids",   "hugetlb", "net_cls", "perf_event"};
  const auto words = words_of(line);
  return words.size() == 3 && std::ranges::all_of(split(words[1], ','), [&](std::string_view one) {
           return std::ranges::find(controllers, one) != controllers.end();
         });
}

std::string_view format_of(std::string_view line) {
  if (line.starts_with('{')) return "JSON";
  if (line.starts_with('<')) return "XML";
  if (line.starts_with("---") || line.starts_with("- ") || line.ends_with(':')) return "YAML";
  if (line.starts_with("pqos ") || line.starts_with("sudo pqos ")) return "a command line of pqos";
  if (is_cgrules(line)) return "cgrules.conf";
  return "";
}

bool is_mark_of_conflict(std::string_view line) {
  for (const std::string_view mark : {"<<<<<<<", "|||||||", "=======", ">>>>>>>"})
    if (line.starts_with(mark) && (line.size() == mark.size() || line[mark.size()] == ' '))
      return true;
  return false;
}

std::string schemata_hint(std::string_view line) {
  const auto meant = schemata_meant(line);
  return meant ? "this is a line of schemata: in a [group.NAME], write " + *meant : "";
}

// "group a {" and "group "a" {", as HCL and nginx have it.
std::string block_hint(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() > 1 && words[0] == "rule" && words.back() == "{") return "write [[rule]]";
  if (words.size() != 3 || words[2] != "{" ||
      (words[0] != "group" && words[0] != "partition" && words[0] != "pseudo_lock"))
    return {};
  std::string name(words[1]);
  std::erase(name, '"');
  return name_problem(name) ? "" : fmt::format("write [{}.{}]", words[0], toml_key(name));
}

// Of "group a { l3 = ... }" in one line, and "group.a { ... }".
std::string one_line_block_hint(std::string_view line) {
  const size_t brace = line.find('{');
  if (brace == std::string_view::npos || line.substr(0, brace).contains('=')) return {};
  std::string head(trim(line.substr(0, brace)));
  for (const std::string_view kind : {"group.", "partition.", "pseudo_lock."})
    if (head.starts_with(kind)) head[kind.size() - 1] = ' ';
  if (head == "[[rule]]" || head == "rules") head = "rule";
  const std::string hint = block_hint(head + " {");
  return hint.empty() ? "" : hint + ", and each key in a line of its own below";
}

// "llc:1=0xf", "core:1=0-3", as -e and -a of pqos take them.
bool is_value_of_pqos(std::string_view line) {
  for (const std::string_view what : {"llc", "mba", "mba_max", "core", "cos", "pid"}) {
    const size_t sign = line.find('=');
    if (line.starts_with(what) && line.substr(what.size()).starts_with(':') &&
        sign != std::string_view::npos && sign > what.size() + 1 &&
        parse_unsigned<unsigned>(line.substr(what.size() + 1, sign - what.size() - 1)))
      return true;
  }
  return false;
}

// Whether the key is a condition whose values can be listed.
bool has_lists(std::string_view key) {
  constexpr auto lists =
      std::to_array<std::string_view>({"name", "thread", "exe", "cgroup", "unit", "user_unit", "vm",
                                       "pod", "container", "user", "user_group"});
  return std::ranges::find(lists, key) != lists.end();
}

}  // namespace

std::vector<std::string> schemata_lines_meant(std::string_view text) {
  constexpr size_t most = 8;
  std::vector<std::string> rows, out;
  std::vector<std::string_view> names;  // each once, as TOML has it
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = trim(line.substr(0, colon));
    const auto known = std::ranges::find(names, name);
    if (known != names.end()) {
      rows[static_cast<size_t>(known - names.begin())] +=
          fmt::format(";{}", trim(line.substr(std::min(colon + 1, line.size()))));
      continue;
    }
    if (names.size() == most) return {};
    names.push_back(name);
    rows.emplace_back(trim(line));
  }
  for (const std::string& row : rows) {
    auto meant = schemata_meant(row);
    if (!meant) return {};
    out.push_back(*std::move(meant));
  }
  return out;
}

std::optional<std::string> schemata_meant(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || line.size() > longest_line) return std::nullopt;
  const auto resource = parse_resource(trim(line.substr(0, colon)));
  if (!resource) return std::nullopt;
  const auto table = domain_table_meant(trim(line.substr(colon + 1)), is_cache(*resource));
  if (!table) return std::nullopt;
  return fmt::format("{} = {}{}", lower(to_string(*resource)), *table,
                     is_cache(*resource) ? "" : rates_of_amd(line.substr(colon + 1)));
}

bool is_unit_of_systemd(std::string_view text) {
  for (const std::string_view section : {"[Unit]\n", "[Service]\n", "[Install]\n"})
    if (const size_t at = text.find(section);
        at != std::string_view::npos && (at == 0 || text[at - 1] == '\n'))
      return true;
  return false;
}

std::string line_hint(std::string_view line, bool is_first) {
  line = trim(line);
  if (line.size() > longest_line) return {};
  if (is_value_of_pqos(line))
    return "this is a value of pqos: 'rdtctl import --from FILE' makes a policy of its command "
           "lines";
  if (is_mark_of_conflict(line))
    return "this marks a conflict of a merge: keep one of its two sides, and delete the marks";
  for (const std::string_view sign : {"{%", "{{", "{#", "<%"})
    if (line.starts_with(sign)) return "this is a template: rdtd reads what is made from it";
  for (const std::string_view sign : {"!include", "@include", "%include"})
    if (line.starts_with(sign)) return std::string(all_files_are_read);
  if (auto hint = block_hint(line); !hint.empty()) return hint;
  if (line == "}") return "remove this line: a table ends where the next one begins";
  for (const std::string_view sign : {";", "//", "/*", "-- "})
    if (line.starts_with(sign)) return "a comment begins with '#'";
  if (auto hint = schemata_hint(line); !hint.empty()) return hint;
  const std::string_view format = is_first ? format_of(line) : "";
  if (format.empty()) return {};
  return fmt::format(
      "this looks like {}; 'rdtctl import --from FILE' makes a policy of what other "
      "tools have",
      format);
}

std::string value_hint(std::string_view key, std::string_view value) {
  if (value.starts_with("(\"") && value.ends_with("\")"))
    return fmt::format("write {}", value.substr(1, value.size() - 2));
  const auto* const resource = std::ranges::find(
      all_resources, key, [](const Resource& one) { return lower(to_string(one)); });
  const size_t dash = value.find('-');
  if ((key == "user" || key == "user_group") && dash != std::string_view::npos &&
      parse_unsigned<uint32_t>(value.substr(0, dash)) &&
      parse_unsigned<uint32_t>(value.substr(dash + 1)))
    return "there are no ranges of numbers: list them, or use user_group or unit";
  const std::string_view text = without_marks(value);
  if (resource != all_resources.end() && value.size() <= longest_line) {
    const auto amount =
        is_cache(*resource) ? parse_cache_amount(text) : parse_bandwidth_amount(text);
    if (!amount && !amount.error().hint.empty()) return amount.error().hint;
  }
  return fmt::format("quote it: {}", rdtd::quoted(value));
}

std::string rest_hint(std::string_view key, std::string_view value, std::string_view rest) {
  if (rest.size() > longest_line || value.size() > longest_line) return {};
  std::string list(value);
  std::string_view left = rest;
  while (!(left = trim(left)).empty()) {
    for (const std::string_view sign : {",", ";", "||", "|", "or ", "and ", "&&", "+"})
      if (left.starts_with(sign)) {
        left = trim(left.substr(sign.size()));
        break;
      }
    const size_t end = left.starts_with('"') ? left.find('"', 1) : std::string_view::npos;
    if (end == std::string_view::npos) break;
    list += fmt::format(", {}", left.substr(0, end + 1));
    left.remove_prefix(end + 1);
  }
  const bool is_text = value.starts_with('"') && value.size() > 2;
  if (left.empty() && is_text && has_lists(key)) return fmt::format("write [{}]", list);
  return rest.contains('=') ? "a line has one key: write the next in a line of its own" : "";
}

std::string sign_hint(std::string_view key) {
  if (auto hint = one_line_block_hint(key); !hint.empty()) return hint;
  if (key.starts_with('!')) return std::string(no_negation);
  const size_t blank = key.rfind(' ');
  if (key.starts_with("* ") && blank + 1 < key.size())
    return fmt::format("write {} = ...", key.substr(blank + 1));
  return fmt::format("quote the key: {}", rdtd::quoted(key));
}

// "l3 = "4 ways"" of the value behind another sign than '='; "..." of what is no single value.
static std::string pair_meant(std::string_view key, std::string_view value) {
  value = trim(value.substr(0, value.find('#')));
  while (value.ends_with(';') || value.ends_with(','))
    value = trim(value.substr(0, value.size() - 1));
  if (value.starts_with('"'))
    if (const size_t end = value.find('"', 1);
        end != std::string_view::npos &&
        value.substr(end + 1).find_first_not_of(" ,;}") == std::string_view::npos)
      return fmt::format("{} = {}", key, value.substr(0, end + 1));
  if (value.empty() || value.find_first_of("\"'{}[]=") != std::string_view::npos)
    return fmt::format("{} = ...", key);
  if (const auto meant = boolean_meant(value); meant && is_boolean_key(key))
    return fmt::format("{} = {}", key, *meant);
  const auto* const resource = std::ranges::find(
      all_resources, key, [](const Resource& one) { return lower(to_string(one)); });
  if (resource == all_resources.end())
    return is_plain_value(value) ? fmt::format("{} = {}", key, value)
                                 : fmt::format("{} = {}", key, rdtd::quoted(value));
  const bool cache = is_cache(*resource);
  const bool parses =
      cache ? parse_cache_amount(value).has_value() : parse_bandwidth_amount(value).has_value();
  const auto meant = parses  ? std::optional(std::string(value))
                     : cache ? cache_amount_meant(value)
                             : bandwidth_amount_meant(value);
  return fmt::format("{} = {}", key, meant ? rdtd::quoted(*meant) : "...");
}

// Of "l3 4 ways" and "exclusive"; empty of other lines.
static std::string pair_without_sign(std::string_view key, std::string_view rest) {
  if (rest.empty() && is_boolean_key(key)) return fmt::format("write {} = true", key);
  const std::string meant = pair_meant(key, rest);
  return is_key_of_groups(key) && !rest.empty() && !meant.ends_with("...") ? "write " + meant : "";
}

std::string pair_hint(std::string_view line, std::string_view key) {
  const std::string_view found = trim(line.substr(key.size()));
  if (key == "not") return std::string(no_negation);
  for (const std::string_view word : {"set", "export", "let", "var", "local", "const", "-"})
    if (const size_t sign = found.find('='); key == word && sign != std::string_view::npos)
      return "write " + pair_meant(lower(trim(found.substr(0, sign))), found.substr(sign + 1));
  if (found.starts_with("+=")) return fmt::format("write {} = ...", key);
  for (const std::string_view sign : {":=", "?=", "<-", "->", ":"})
    if (found.starts_with(sign)) return "write " + pair_meant(key, found.substr(sign.size()));
  for (const std::string_view word : {"in ", "like ", "is ", "matches ", "equals "})
    if (found.starts_with(word)) return fmt::format("write {} = ...; a pattern is a glob", key);
  if (found.starts_with('!')) return std::string(no_negation);
  if (found.starts_with('~')) return fmt::format("write {} = ...; a pattern is a glob", key);
  if (key == "include") return std::string(all_files_are_read);
  if (auto hint = one_line_block_hint(line); !hint.empty()) return hint;
  if (found.starts_with('"'))
    if (const size_t end = found.find('"', 1); end != std::string_view::npos)
      return fmt::format("write {} = {}", key, found.substr(0, end + 1));
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return pair_without_sign(key, found);
  const std::string word = lower(trim(line.substr(key.size(), equals - key.size())));
  std::string_view value = trim(line.substr(equals + 1, line.find('#') - equals - 1));
  if (value.size() > 2 && value.starts_with('"') && value.ends_with('"'))
    value = value.substr(1, value.size() - 2);
  const auto number = parse_unsigned<uint32_t>(value);
  const auto* const resource = std::ranges::find(
      all_resources, key, [](const Resource& one) { return lower(to_string(one)); });
  const bool ways = word == "way" || word == "ways", percent = word == "percent" || word == "%";
  if (number && resource != all_resources.end() &&
      ((ways && is_cache(*resource)) || (percent && *number <= 100)))
    return fmt::format("write {} = \"{}{}\"", key, value, ways ? " ways" : "%");
  return fmt::format("quote the key: {}", quoted(trim(line.substr(0, equals))));
}

std::string list_hint(std::string_view key, std::string_view value) {
  if (value.size() > longest_line || !has_lists(key) ||
      value.find_first_of("=[]{}") != std::string_view::npos)
    return {};
  const bool in_parentheses = value.starts_with('(') && value.ends_with(')');
  const std::string_view inside = in_parentheses ? value.substr(1, value.size() - 2) : value;
  const char separator = inside.contains(',') ? ',' : inside.contains(';') ? ';' : ' ';
  std::string list;
  size_t count = 0;
  for (std::string_view word : split(inside, separator)) {
    word = trim(word);
    if (word.empty()) continue;
    if (word.size() > 1 && word.front() == word.back() && (word[0] == '"' || word[0] == '\''))
      word = word.substr(1, word.size() - 2);
    if (word.find_first_of("\"'") != std::string_view::npos) return {};
    list += (list.empty() ? "" : ", ") + rdtd::quoted(word);
    count++;
  }
  if (count == 0 || (count == 1 && !in_parentheses)) return {};
  // Names can have blanks.
  const bool may_be_one = separator == ' ' && !in_parentheses && (key == "name" || key == "thread");
  return may_be_one ? fmt::format("write [{}], or quote one name: {}", list, rdtd::quoted(value))
                    : fmt::format("write [{}]", list);
}

bool ends_in_string(std::string_view line) {
  char quote = '\0';
  for (size_t i = 0; i < line.size(); i++) {
    const char c = line[i];
    if (quote == '\0' && c == '#') return false;
    if (quote == '"' && c == '\\')
      i++;
    else if (quote == '\0' && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = '\0';
  }
  return quote == '"';
}

}  // namespace rdtd
