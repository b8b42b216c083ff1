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

}  // namespace rdtd::test
