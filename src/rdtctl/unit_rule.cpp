#include "unit_rule.hpp"
#include "rdtd/policy/toml_text.hpp"

#include <fmt/format.h>

namespace rdtd {

namespace {

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '_' || c == '@' || c == ':';
}

}  // namespace

std::string unit_rule_file(std::string_view unit) {
  std::string escaped;
  for (const char c : unit)
    escaped +=
        is_plain(c) ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return "00-assign-" + escaped + ".toml";
}

std::string unit_rule_text(const std::string& group, const std::string& unit) {
  return fmt::format(
      "# Written by 'rdtctl assign --unit', which replaces this file.\n"
      "# To end the assignment, remove the file and run 'rdtctl reload'.\n\n"
      "[[rule]]\ngroup = {}\nunit = {}\n",
      toml_string(group), toml_string(unit));
}

}  // namespace rdtd
