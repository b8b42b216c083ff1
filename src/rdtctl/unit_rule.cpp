#include "unit_rule.hpp"

#include <fmt/format.h>

#include <vector>

#include "rdtd/policy/parse.hpp"
#include "rdtd/policy/toml_text.hpp"

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

std::string why_unit_never(const std::string& unit, std::string_view action) {
  PolicyFile file;
  file.path = unit;
  file.text = unit_rule_text("default", unit);
  for (const Diagnostic& found : parse_policy(std::vector{file}).diagnostics) {
    if (found.severity != Severity::error) continue;
    constexpr std::string_view write = "write ";
    if (found.hint.starts_with("write ["))
      return fmt::format("'{}' names several units: {} one", unit, action);
    if (!found.hint.starts_with(write)) return found.message;
    return fmt::format(
        "{}; {} {}", found.message,
        found.hint.contains('*') ? "name an instance, or write a rule with unit =" : action,
        found.hint.substr(write.size()));
  }
  return {};
}

}  // namespace rdtd
