// Policies and everything that is wrong with them, for the tests of the parser.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "support.hpp"

namespace rdtd::test {

struct PolicyAndErrors {
  const char* text;
  const char* errors;  // whole text; "" if there is none
};

inline std::string diagnostics(const std::string& text) {
  const ParsedPolicy parsed = parse(text);
  return format_diagnostics(parsed.diagnostics, parsed.policy.sources);
}

inline void expect_errors(std::span<const PolicyAndErrors> rows) {
  for (const PolicyAndErrors& row : rows) EXPECT_EQ(diagnostics(row.text), row.errors) << row.text;
}

struct ValueAndFinding {
  const char* condition;
  const char* finding;  // "error: MESSAGE | HINT"; "" if there is none
};

// The finding about the condition of a rule, without its place and excerpt.
inline std::string finding_of(const std::string& condition) {
  const std::string text = diagnostics("[[rule]]\ngroup = \"default\"\n" + condition + "\n");
  if (text.empty()) return "";
  const size_t begin = text.find(": ") + 2;
  const size_t end = text.find('\n');
  const size_t mark = text.find("| ", text.find('\n', end + 1));
  const size_t hint = text.find_first_of(" \n", text.find_first_not_of(" ", mark + 1));
  std::string out = text.substr(begin, end - begin);
  if (text[hint] == ' ') out += " |" + text.substr(hint, text.find('\n', hint) - hint);
  if (text.find('\n', hint) + 1 != text.size()) out += " AND MORE";
  return out;
}

inline void expect_findings(std::span<const ValueAndFinding> rows) {
  for (const ValueAndFinding& row : rows)
    EXPECT_EQ(finding_of(row.condition), row.finding) << row.condition;
}

}  // namespace rdtd::test
