#include "other_format.hpp"

#include <fmt/format.h>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

std::string_view format_of(std::string_view line) {
  if (line.starts_with('{')) return "JSON";
  if (line.starts_with('<')) return "XML";
  if (line.starts_with("---") || line.starts_with("- ") || line.ends_with(':')) return "YAML";
  if (line.starts_with("pqos ") || line.starts_with("sudo pqos ")) return "a command line of pqos";
  return "";
}

}  // namespace

std::string other_format_hint(std::string_view line) {
  const std::string_view format = format_of(trim(line));
  if (format.empty()) return {};
  return fmt::format(
      "this looks like {}; 'rdtctl import --from FILE' makes a policy of what other "
      "tools have",
      format);
}

}  // namespace rdtd
