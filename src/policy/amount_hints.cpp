#include "amount_hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "amount_meant.hpp"
#include "line_meant.hpp"
#include "plain_value.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/amount.hpp"

namespace rdtd {

AmountsOfTable::AmountsOfTable(const UnknownKey& unknown, std::span<const std::string> keys)
    : of_group(std::ranges::find(keys, "mb") != keys.end()),
      of_region(unknown.table.starts_with("[pseudo_lock.")),
      of_l2(std::ranges::find(keys, "l2") != keys.end()) {}

namespace {

// "write l3 = "4 ways"" in a table that has caches only; of no amount of a cache, the example.
std::string hint_for_cache(std::string_view key, std::string_view text,
                           const AmountsOfTable& table) {
  const auto amount = parse_cache_amount(text);
  const std::string value = rdtd::quoted(amount && !amount->least ? text : "4 ways");
  return table.of_region ? fmt::format("write {} = {{ \"0\" = {} }}", key, value)
                         : fmt::format("write {} = {}", key, value);
}

}  // namespace

std::string hint_for_amount(std::string_view text, const AmountsOfTable& table) {
  const bool cache = parse_cache_amount(text).has_value(),
             bandwidth = parse_bandwidth_amount(text).has_value();
  if (const auto lines = schemata_lines_meant(text); !lines.empty() && table.of_group)
    return "write " + join(lines, " and ");
  else if (!lines.empty() && lines.front().starts_with("l3 "))
    return "write " + lines.front();
  if (!table.of_group)
    return bandwidth && !cache ? "bandwidth belongs in a [group.NAME]; " +
                                     hint_for_cache("l3", text, table) + " here"
                               : hint_for_cache("l3", text, table);
  if (cache == bandwidth) return {};
  return fmt::format("write {} = {}", cache ? "l3" : "mb", rdtd::quoted(text));
}

std::string hint_for_end(const UnknownKey& unknown, std::string_view word,
                         const AmountsOfTable& table) {
  const bool of_l2 = word.starts_with("l2") && table.of_l2;
  const std::string_view cache_key = of_l2 ? "l2" : "l3";
  if (!table.of_group) return hint_for_cache(cache_key, unknown.text, table);
  const bool names_cache = word.starts_with("l2") || word.starts_with("l3") ||
                           word.starts_with("llc") || word.contains("way") ||
                           word.contains("cache");
  const bool may_be_cache = parse_cache_amount(unknown.text).has_value(),
             may_be_bandwidth = parse_bandwidth_amount(unknown.text).has_value();
  if (may_be_cache == may_be_bandwidth && !(may_be_cache && names_cache)) return {};
  const bool cache = may_be_cache;
  const bool is_most = word.contains("max") || word.contains("limit") || word == "burst";
  const auto least = is_most ? unknown.other_end : unknown.text,
             most = is_most ? unknown.text : unknown.other_end;
  const auto amount = amount_of_ends(least, most, cache);
  if (!amount) return {};
  const std::string line = fmt::format("{} = \"{}\"", cache ? cache_key : "mb", *amount);
  if (!unknown.other_end.empty()) return fmt::format("write a range: {}, in place of both", line);
  if (!cache && !is_most) return "write a range: " + line;
  return fmt::format("write {}{}", line, is_most ? "" : to_keep_others_out);
}

bool is_other_percentage(std::string_view word, uint64_t number) {
  constexpr uint64_t least_percent = 10;
  const bool is_percent = word.contains("percent") || word.contains("pct");
  return word.contains("throttl") || (!is_percent && number < least_percent);
}

std::string hint_for_number(const UnknownKey& unknown, std::string_view word, std::string_view key,
                            const AmountsOfTable& table) {
  const std::string_view digits = unknown.number.empty() ? unknown.text : unknown.number;
  constexpr uint64_t most_ways = 64, most_percent = 100;
  const auto number = parse_unsigned<uint64_t>(digits);
  if (!number || *number == 0) return {};
  if (is_one_of(key, {"l3", "l2"}) && word.contains("ways") && *number <= most_ways)
    return hint_for_cache(key, fmt::format("{} way{}", *number, *number == 1 ? "" : "s"), table);
  // "mbps" would be a rate.
  if (key == "mb" && !word.contains("bps") && *number <= most_percent &&
      !is_other_percentage(word, *number))
    return fmt::format("write mb = \"{}%\"", *number);
  return {};
}

std::string hint_for_control(const UnknownKey& unknown) {
  if (is_one_of(unknown.name, {"L3_MAX", "L2_MAX", "L3_MIN"})) {
    if (!unknown.text.empty() && !parse_control_amount(unknown.text)) return {};
    return fmt::format("write control = {{ {} = {} }}", unknown.name,
                       rdtd::quoted(unknown.text.empty() ? "50%" : unknown.text));
  }
  // As `schemata` has them.
  const std::string value = unknown.number.empty() ? rdtd::quoted(unknown.text) : unknown.number;
  for (const std::string_view row :
       {"MB_HLIM", "MB_NODE", "GMB", "L3PRI", "MBPRI", "CAPRI", "MB_WGHT"})
    if (lower(row) == lower(unknown.name.substr(0, 64)) &&
        parse_control_amount(unknown.number.empty() ? unknown.text : unknown.number))
      return fmt::format("write control = {{ {} = {} }}", row, value);
  return {};
}

std::string other_end_of(std::string_view key) {
  constexpr auto ends = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"min", "max"}, {"Min", "Max"}, {"MIN", "MAX"}});
  const std::string short_key(key.substr(0, 64));
  for (const auto& [least, most] : ends)
    for (const auto& [one, other] : {std::pair(least, most), std::pair(most, least)})
      if (const size_t at = short_key.find(one); at != std::string::npos)
        return std::string(short_key).replace(at, one.size(), other);
  return {};
}

}  // namespace rdtd
