#include "amount_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <set>
#include <vector>

#include "amount_meant.hpp"
#include "id_list.hpp"
#include "plain_value.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

namespace {

// The amount that a value stands for whose unit is in its key, or beside it: { ways = 4 }, { mask =
// "0xf" }, { value = 4, unit = "ways" }. Else the example.
std::string amount_of_word(std::string_view word, const toml::table& table, bool cache,
                           std::string_view example) {
  const toml::node& value = *table.get(word);
  const auto* unit = table.get_as<std::string>("unit");
  const auto* number = value.as_integer();
  const auto* string = value.as_string();
  const bool in_ways = word.starts_with("way") || (cache && word == "count");
  std::string text = string != nullptr ? string->get() : std::string(example);
  if (number != nullptr && in_ways)
    text = fmt::format("{} way{}", number->get(), number->get() == 1 ? "" : "s");
  else if (number != nullptr && word.starts_with("percent"))
    text = fmt::format("{}%", number->get());
  else if (number != nullptr && unit != nullptr)
    text = fmt::format("{} {}", number->get(), unit->get());
  else if (number != nullptr && is_one_of(word, {"mask", "cbm", "bitmask"}))
    text = fmt::format("0x{:x}", number->get());
  else if (number != nullptr && is_one_of(word, {"value", "amount", "limit"}))
    text = std::to_string(number->get());
  else if (string != nullptr && text.find_first_not_of("0123456789.") == std::string::npos)
    text += in_ways ? " ways" : word.starts_with("percent") ? "%" : "";
  const auto parse = cache ? parse_cache_amount : parse_bandwidth_amount;
  if (parse(text)) return text;
  const auto meant = cache ? cache_amount_meant(text) : bandwidth_amount_meant(text);
  return meant && parse(*meant) ? *meant : std::string(example);
}

// The text of the first of these keys that the table has; a number with the unit beside it.
std::string end_of_range(const toml::table& table, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const auto* text = table.get_as<std::string>(key)) return text->get();
    const auto* unit = table.get_as<std::string>("unit");
    if (const auto* number = table.get_as<int64_t>(key))
      return fmt::format("{}{}{}", number->get(), unit == nullptr ? "" : " ",
                         unit == nullptr ? "" : unit->get());
  }
  return {};
}

// Of l3 = { min = "2 ways", max = "4 ways" }, or of one of them.
std::string instead_of_ends(std::string_view key, bool has_range, bool cache,
                            const toml::table& table) {
  const std::string least = end_of_range(table, {"min", "least", "from"});
  const std::string most = end_of_range(table, {"max", "most", "to"});
  if (!has_range) {
    const auto amount = amount_of_ends("", most.empty() ? least : most, cache);
    return fmt::format("write {} = \"{}\"", key, amount.value_or(cache ? "4 ways" : "50%"));
  }
  const auto amount = amount_of_ends(least, most, cache);
  if (!amount && cache) return fmt::format("write {} = \"4 ways\"", key);
  const std::string line = fmt::format("{} = \"{}\"", key, amount.value_or("10%..100%"));
  if (line.contains("..")) return "write a range: " + line;
  return fmt::format("write {}{}", line, most.empty() ? to_keep_others_out : "");
}

// Of koordinator's l3 = { range = [0, 30] }, the percentages between which a cache's ways lie.
std::string instead_of_range(std::string_view key, const toml::table& table) {
  const auto* range = table.get_as<toml::array>("range");
  const int64_t from = range != nullptr && range->size() == 2 ? range->at(0).value_or(0) : 0;
  const int64_t to = range != nullptr && range->size() == 2 ? range->at(1).value_or(0) : 0;
  const bool is_range = from >= 0 && from < to && to <= 100;
  return fmt::format("write {} = \"{}%\"; rdtd chooses the place", key, is_range ? to - from : 30);
}

constexpr auto words_for_domain =
    std::to_array<std::string_view>({"domain", "domains", "domain_id", "id", "cache_id"});

bool names_domain(const toml::table& table) {
  return std::ranges::any_of(words_for_domain,
                             [&](std::string_view word) { return table.contains(word); });
}

// "0", "0-1" and [0, 1] as the key of a table; empty of other values.
std::string key_of_domain(const toml::node& node) {
  std::string out;
  if (const auto* array = node.as_array())
    for (const toml::node& one : *array)
      out += (out.empty() ? "" : ",") +
             (one.is_integer() ? std::to_string(*one.value<int64_t>()) : "?");
  if (const auto* number = node.as_integer()) out = std::to_string(number->get());
  if (const auto* text = node.as_string()) out = text->get();
  return out == "*" || parse_id_list(out, std::numeric_limits<uint32_t>::max()) ? out : "";
}

// "0" = "4 ways" of { domain = 0, ways = 4 }; empty of another table, and of one with more keys
// than these and `others`. `key`: that of the amount.
std::string line_of_domain(const toml::table& table, std::string_view key, bool cache,
                           std::initializer_list<std::string_view> others = {}) {
  const auto known = [&](std::string_view word) { return table.contains(word) ? 1U : 0U; };
  size_t keys = 2 + known("unit");
  for (const std::string_view other : others) keys += known(other);
  if (table.size() != keys) return {};
  const auto word = std::ranges::find_if(words_for_domain,
                                         [&](std::string_view one) { return table.contains(one); });
  if (word == words_for_domain.end()) return {};
  const std::string domain = key_of_domain(*table.get(*word));
  if (domain.empty()) return {};
  const auto line = [&](std::string_view value) {
    const std::string amount = table.contains(value) ? amount_of_word(value, table, cache, "") : "";
    return amount.empty() ? "" : fmt::format("\"{}\" = {}", domain, rdtd::quoted(amount));
  };
  for (const std::string_view value :
       {"ways", "way", "count", "percent", "percentage", "mask", "cbm", "bitmask", "size", "bytes",
        "value", "amount", "limit", "rate"})
    if (std::string found = line(value); !found.empty()) return found;
  return line(key);
}

// The value that the table's key 'exclusive' stands for in a group; empty without one.
std::string_view exclusive_meant(const toml::table& table) {
  if (const auto* strict = table.get_as<std::string>("exclusive"))
    return lower(strict->get()) == "strict" ? "\"strict\""
                                            : boolean_meant(strict->get()).value_or("true");
  if (!table.contains("exclusive")) return "";
  return table.at("exclusive").value_or(true) ? "true" : "false";
}

// Whether it is [group.a.l3], and not l3 = { ... }.
bool has_header(const toml::table& table) {
  return !table.is_inline() && table.source().begin.line < table.begin()->first.source().begin.line;
}

// Of l3 = { ways = 4, exclusive = true }.
std::string with_exclusive(const toml::table& table) {
  const std::string_view meant = exclusive_meant(table);
  return meant.empty() || meant == "false"
             ? ""
             : fmt::format(", and exclusive = {} in the group", meant);
}

constexpr std::string_view list_of_domains =
    "write domains that 'rdtctl info' lists, such as \"0\" or \"0-1\", or \"*\" for all";

// For tables that have more than a domain and its amount, of which no cure may lose anything.
std::string amount_of_each_domain(bool cache) {
  return fmt::format(
      "the amount of each domain is {{ \"0\" = \"{}\" }}, and other settings are keys of the group",
      cache ? "4 ways" : "50%");
}

// "L3:1", and "socket0", which may have several domains; "" of other words.
std::string instead_of_place(std::string_view word) {
  const size_t digits = word.find_last_not_of("0123456789") + 1;
  const std::string_view number = word.substr(digits);
  if (is_one_of(word, {"l2", "l3"})) return {};  // the key of an amount
  if (digits == 0 || !parse_unsigned<uint32_t>(number) ||
      word.find_first_of("-,") != std::string_view::npos)
    return {};
  const std::string noun =
      lower(trim(word.substr(0, word.find_last_not_of(" :_#=.", digits - 1) + 1)));
  if (is_one_of(noun, {"",          "domain",   "dom",      "d",        "l3",
                       "l2",        "llc",      "cache",    "id",       "mb",
                       "mba",       "smba",     "cache_id", "cache id", "domain_id",
                       "domain id", "l3 cache", "l2 cache", "l3_cache", "l2_cache"}))
    return fmt::format("write \"{}\"", number);
  return fmt::format(
      "write the domains of {}, which 'rdtctl info' lists: \"{}\" if the numbers are the same",
      word, number);
}

}  // namespace

std::optional<std::string> domains_meant(const toml::array& array, bool cache) {
  std::vector<std::string> lines;
  std::set<std::string> named;  // TOML has each key once
  for (const toml::node& one : array) {
    const auto* table = one.as_table();
    if (table == nullptr || !names_domain(*table)) return std::nullopt;
    std::string line = line_of_domain(*table, cache ? "" : "mb", cache);
    if (!line.empty() && named.insert(line.substr(0, line.find('='))).second)
      lines.push_back(std::move(line));
  }
  if (lines.empty() || lines.size() < array.size())
    return array.empty() ? std::nullopt : std::optional(amount_of_each_domain(cache));
  return "write " + inline_table(lines);
}

std::string instead_of_words(std::string_view word, std::string_view key, bool has_range,
                             const std::optional<Resource>& of, const toml::table& table) {
  const auto is = [word](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
  };
  if (is({"all", "default", "any", "each", "every", "other", "others", "rest"}))
    return "write \"*\" for all domains that have no amount of their own";
  if (const auto list = id_list_meant(word, std::numeric_limits<uint32_t>::max()))
    return fmt::format("write \"{}\"", *list);
  if (std::string hint = instead_of_place(word); !hint.empty()) return hint;
  if (!of) return std::string(list_of_domains);
  if (is({"exclusive"}))
    return fmt::format("write exclusive = {} in the group", exclusive_meant(table));
  if (is({"unit"})) return "the unit belongs in the amount: \"4 ways\", \"50%\", \"8 GB/s\"";
  const bool cache = is_cache(*of);
  if (const std::string line = line_of_domain(table, key, cache, {"exclusive"}); !line.empty())
    return (has_header(table) ? fmt::format("write {} in this table", line)
                              : fmt::format("write {} = {{ {} }}", key, line)) +
           with_exclusive(table);
  if (names_domain(table)) return amount_of_each_domain(cache);
  if (is({"min", "max", "least", "most", "from", "to"}))
    return instead_of_ends(key, has_range, cache, table);
  const auto written = [&](std::string_view name, std::string_view example) {
    const std::string line =
        fmt::format("{} = {}", name, rdtd::quoted(amount_of_word(word, table, cache, example))) +
        with_exclusive(table);
    return !has_header(table) ? "write " + line
                              : fmt::format(
                                    "write {} in the group's own table, in place of this "
                                    "one",
                                    line);
  };
  if (cache && table.size() == 1 && is({"range"})) return instead_of_range(key, table);
  if (cache && is({"code", "data"}))
    return written(fmt::format("{}{}", key.substr(0, 2), word), "4 ways");
  if (cache && is({"mask", "cbm", "bitmask"})) return written(key, "0xf");
  if (cache && is({"size", "bytes"})) return written(key, "2 MiB");
  if (cache && is({"ways", "way", "count", "unified"})) return written(key, "4 ways");
  if (is({"percent", "percentage", "value", "amount"})) return written(key, "50%");
  return std::string(list_of_domains);
}

}  // namespace rdtd
