#include "printed_number.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// Whether a number goes on: "1,234", "1.2M".
bool goes_on(std::string_view rest) {
  const auto is = [&](size_t at, auto kind) {
    return rest.size() > at && kind(static_cast<unsigned char>(rest[at])) != 0;
  };
  if (rest.starts_with(',')) return is(1, [](int c) { return std::isdigit(c); });
  return !rest.empty() && std::string_view("kKMGT").contains(rest[0]) &&
         !is(1, [](int c) { return std::isalpha(c); });
}

}  // namespace

std::expected<double, std::string> printed_number(const std::string& output,
                                                  const std::regex& expression) {
  constexpr size_t longest_line = 8192;
  std::smatch match;
  std::string line;
  for (std::istringstream lines(output); std::getline(lines, line);)
    if (line.size() <= longest_line && std::regex_search(line, match, expression)) break;
  if (match.empty()) return std::unexpected("");
  const size_t group = match.size() > 1 ? 1 : 0;
  if (!match[group].matched) return std::unexpected("");
  // What follows in the line may be a part of the number.
  const std::string text(match[group].first, line.cend());
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const auto length = static_cast<size_t>(end - text.c_str());
  const auto matched = static_cast<size_t>(match[group].length());
  if (length == 0 || !std::isfinite(value)) return std::unexpected(match[group].str());
  if (goes_on(std::string_view(text).substr(std::min(length, matched))))
    return std::unexpected(text.substr(0, text.find(' ')));
  return std::strtod(match[group].str().c_str(), nullptr);
}

}  // namespace rdtd
