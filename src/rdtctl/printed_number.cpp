#include "printed_number.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "rdtd/base/text.hpp"

namespace rdtd {

std::expected<double, std::string> printed_number(const std::string& output,
                                                  const std::regex& expression) {
  constexpr size_t longest_line = 8192;
  std::smatch match;
  std::string line;
  for (std::istringstream lines(output); std::getline(lines, line);)
    if (line.size() <= longest_line && std::regex_search(line, match, expression)) break;
  if (match.empty()) return std::unexpected("");
  const std::string text = match[match.size() > 1 ? 1 : 0].str();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string_view rest = end;
  // "1,234.5" is not 1, nor "1.2M" 1.2; a unit may follow where no part is marked as the number.
  const bool more = match.size() > 1
                        ? !trim(rest).empty()
                        : rest.starts_with(',') || (!rest.empty() && rest.size() < 3 &&
                                                    std::string_view("kKMGT").contains(rest[0]));
  if (end == text.c_str() || !std::isfinite(value) || more) return std::unexpected(text);
  return value;
}

}  // namespace rdtd
