#include "ways_meant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rdtd/base/text.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/policy/amount.hpp"

namespace rdtd {

std::string named_ways_meant(std::string_view text) {
  std::string list(trim(text));
  // "ways = 4" is a number of them.
  if (list.starts_with('=')) {
    list = trim(std::string_view(list).substr(1));
    if (const auto count = parse_unsigned<unsigned>(list); count && *count > 0 && *count <= 32)
      return fmt::format("{} way{}", *count, *count == 1 ? "" : "s");
  }
  constexpr std::string_view brackets = "[](){}", digits = "0123456789";
  const bool is_interval = list.find_first_of(brackets) != std::string::npos;
  std::erase_if(list, [&](char c) { return brackets.contains(c); });
  list = trim(list);
  std::ranges::replace(list, '+', ',');
  // "2 5", "2:5", "2/5" and "2 through 5"; in brackets "2,5".
  const size_t sign = list.find_first_not_of(digits);
  const size_t next = list.find_first_of(digits, sign);
  if (sign != std::string::npos && next != std::string::npos &&
      list.find_first_not_of(digits, next) == std::string::npos)
    if (const std::string_view word = trim(std::string_view(list).substr(sign, next - sign));
        is_one_of(word, {"", ":", "/", "..", "...", "~", "to", "through", "till", "until"}) ||
        (is_interval && word == ","))
      list.replace(sign, next - sign, "-");
  // Dashes that a word processor makes of "-": U+2013, U+2014, U+2212.
  for (const std::string_view dash : {"..", "\xe2\x80\x93", "\xe2\x80\x94", "\xe2\x88\x92"})
    if (const size_t at = list.find(dash); at != std::string::npos)
      list.replace(at, dash.size(), "-");
  if (const auto ends = split(list, '-'); ends.size() == 2 && !list.contains(',')) {
    const auto one = parse_unsigned<unsigned>(trim(ends[0])),
               other = parse_unsigned<unsigned>(trim(ends[1]));
    return one && other && std::max(*one, *other) < 32
               ? fmt::format("ways {}-{}", std::min(*one, *other), std::max(*one, *other))
               : "ways 4-7";
  }
  constexpr unsigned most_ways = 32;
  const auto ways = parse_cpu_list(list, most_ways);
  uint32_t mask = 0;
  if (ways && !ways->empty() && *ways->rbegin() < most_ways)
    for (const unsigned way : *ways) mask |= 1U << way;
  if (mask == 0) return "ways 4-7";
  // Few machines take masks with gaps.
  return Cbm{mask}.contiguous() ? fmt::format("0x{:x}", mask)
                                : fmt::format("{} ways", ways->size());
}

std::optional<std::string> numbered_ways_meant(std::string_view text) {
  constexpr size_t longest_list = 32;  // nobody's slip is longer
  constexpr std::string_view unit = "ways";
  constexpr std::string_view signs = "0123456789- ";
  if (!text.ends_with(unit) || text.size() > longest_list) return std::nullopt;
  const std::string_view list = trim(text.substr(0, text.size() - unit.size()));
  if (list.find_first_not_of(signs) != std::string_view::npos || !list.contains('-') ||
      list.starts_with('-') || list.ends_with('-'))
    return std::nullopt;
  std::string named = named_ways_meant(list);
  return parse_cache_amount(named) &&
                 named.substr(5).starts_with(trim(list.substr(0, list.find('-'))))
             ? std::optional(std::move(named))
             : std::nullopt;
}

std::optional<std::string> whole_ways_meant(std::string_view text) {
  constexpr double most = 32;
  for (const std::string_view unit : {"ways", "way"}) {
    if (!text.ends_with(unit)) continue;
    const std::string_view number = trim(text.substr(0, text.size() - unit.size()));
    double value = 0;
    const char* const begin = number.data();
    const char* const end = begin + number.size();
    if (number.empty() || std::from_chars(begin, end, value).ptr != end || value == 0)
      return std::nullopt;
    const double whole = std::ceil(std::abs(value));
    if (!(whole <= most)) return "2 ways";
    return fmt::format("{:.0f} way{}", whole, whole == 1 ? "" : "s");
  }
  return std::nullopt;
}

}  // namespace rdtd
