#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

std::expected<std::chrono::microseconds, std::string> parse_duration(std::string_view text) {
  constexpr uint64_t second = 1'000'000;
  constexpr std::array<std::pair<std::string_view, uint64_t>, 21> units = {{
      {"", second},
      {"us", 1},
      {"usec", 1},
      {"ms", 1000},
      {"msec", 1000},
      {"s", second},
      {"sec", second},
      {"second", second},
      {"seconds", second},
      {"m", 60 * second},
      {"min", 60 * second},
      {"minute", 60 * second},
      {"minutes", 60 * second},
      {"h", 3600 * second},
      {"hr", 3600 * second},
      {"hour", 3600 * second},
      {"hours", 3600 * second},
      {"d", 86400 * second},
      {"day", 86400 * second},
      {"days", 86400 * second},
      {"w", 604800 * second},
  }};
  constexpr uint64_t longest = uint64_t{100} * 86400 * second;
  const auto bad = [&] {
    return std::unexpected(
        fmt::format("'{}' is not a time span; write \"30s\", \"5min\" or \"0\"", text));
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
        std::ranges::find(units, unit, &std::pair<std::string_view, uint64_t>::first);
    if (!number || known == units.end()) return bad();
    total += *number * known->second;
    if (total > longest) return std::unexpected(fmt::format("'{}' is longer than 100 days", text));
  }
  return std::chrono::microseconds(total);
}

}  // namespace rdtd
