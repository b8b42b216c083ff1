#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

namespace {

constexpr uint64_t one_second = 1'000'000;
constexpr std::string_view too_long = " is longer than 100 days";

constexpr std::array<std::pair<std::string_view, uint64_t>, 23> known_units = {{
    {"", one_second},
    {"us", 1},
    {"usec", 1},
    {"ms", 1000},
    {"msec", 1000},
    {"s", one_second},
    {"sec", one_second},
    {"second", one_second},
    {"seconds", one_second},
    {"m", 60 * one_second},
    {"min", 60 * one_second},
    {"minute", 60 * one_second},
    {"minutes", 60 * one_second},
    {"h", 3600 * one_second},
    {"hr", 3600 * one_second},
    {"hour", 3600 * one_second},
    {"hours", 3600 * one_second},
    {"d", 86400 * one_second},
    {"day", 86400 * one_second},
    {"days", 86400 * one_second},
    {"w", 604800 * one_second},
    {"week", 604800 * one_second},
    {"weeks", 604800 * one_second},
}};

}  // namespace

std::optional<std::string> duration_meant(std::string_view text, std::chrono::microseconds least,
                                          std::chrono::microseconds most) {
  constexpr std::array<std::pair<std::string_view, uint64_t>, 5> written = {
      {{"h", 3600 * one_second},
       {"min", 60 * one_second},
       {"s", one_second},
       {"ms", 1000},
       {"us", 1}}};
  const std::string small = lower(trim(text));
  for (const auto& [word, span] :
       {std::pair("hourly", "1h"), {"daily", "24h"}, {"minutely", "1min"}, {"weekly", "168h"}})
    if (small == word) return duration_meant(span, least, most);
  double number = 0;
  const char* const end = small.data() + small.size();
  const auto [rest, error] = std::from_chars(small.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit = trim({rest, static_cast<size_t>(end - rest)});
  const auto* const known =
      std::ranges::find(known_units, unit, &std::pair<std::string_view, uint64_t>::first);
  if (known == known_units.end()) return std::nullopt;
  const double exact = number * static_cast<double>(known->second);
  if (!(exact >= static_cast<double>(least.count()) && exact <= static_cast<double>(most.count())))
    return std::nullopt;
  const auto span = static_cast<uint64_t>(std::llround(exact));
  for (const auto& [name, factor] : written)
    if (span > 0 && span % factor == 0) return fmt::format("{}{}", span / factor, name);
  return std::nullopt;
}

bool is_too_long(std::string_view error) { return error.ends_with(too_long); }

std::expected<std::chrono::microseconds, std::string> parse_duration(std::string_view text) {
  constexpr uint64_t longest = uint64_t{100} * 86400 * one_second;
  const auto bad = [&] {
    const auto meant =
        duration_meant(text, std::chrono::microseconds(1), std::chrono::microseconds(longest));
    return std::unexpected(meant
                               ? fmt::format("'{}' is not a time span; write \"{}\"", text, *meant)
                               : fmt::format("'{}' is not a time span; write \"30s\", "
                                             "\"5min\" or \"0\"",
                                             text));
  };
  std::string_view rest = trim(text);
  if (rest.empty()) return bad();
  uint64_t total = 0;
  while (!rest.empty()) {
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto number = parse_unsigned<uint32_t>(rest.substr(0, digits));
    rest = trim(rest.substr(digits));
    const size_t letters =
        std::min(rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), rest.size());
    const std::string_view unit = rest.substr(0, letters);
    rest = trim(rest.substr(letters));
    const auto* const known =
        std::ranges::find(known_units, unit, &std::pair<std::string_view, uint64_t>::first);
    if (!number || known == known_units.end()) return bad();
    if (*number > (longest - total) / known->second)
      return std::unexpected(fmt::format("'{}'{}", text, too_long));
    total += *number * known->second;
  }
  return std::chrono::microseconds(total);
}

}  // namespace rdtd
