// What --metric takes for a number.
#include "printed_number.hpp"

#include <gtest/gtest.h>

namespace rdtd {
namespace {

TEST(PrintedNumber, IsAWholeOne) {
  const struct {
    const char *output, *expression;
    std::expected<double, std::string> found;
  } rows[] = {
      {"x\nRequests: 1234.5\n", "Requests: ([0-9.]+)", 1234.5},
      {"Requests: 1,234.5", "Requests: ([0-9,.]+)", std::unexpected("1,234.5")},
      {"Requests: 987.0", "Requests: ([0-9,.]+)", 987.0},
      {"1.2M", "([0-9.]+[kM]?)", std::unexpected("1.2M")},
      {"900k", "[0-9.]+[kM]?", std::unexpected("900k")},
      {"1,234", "[0-9,]+", std::unexpected("1,234")},
      {"Requests: 1,234.5", "Requests: ([0-9.]+)", std::unexpected("1,234.5")},
      {"1.2M requests", "([0-9.]+)", std::unexpected("1.2M")},
      {"1.2 M", "([0-9.]+)", 1.2},
      {"12.5, p99 13", "[0-9.]+, p99", 12.5},
      {"12.5 MB/s", "([0-9.]+) MB/s", 12.5},
      {"12.5MB/s", "([0-9.]+)MB/s", 12.5},
      {"12 ms", "([0-9]+ ?ms)", 12.0},
      {"took 12ms", "[0-9]+ms", 12.0},
      {"took 12 ms", "[0-9]+ ms", 12.0},
      {"1.5e3 ", "(.*)", 1500.0},
      {"inf", ".*", std::unexpected("inf")},
      {"no", "[a-z]+", std::unexpected("no")},
      {"no", "[0-9]+", std::unexpected("")},
      {"", ".", std::unexpected("")},
  };
  for (const auto& row : rows)
    for (const auto& found : {printed_number(row.output, std::regex(row.expression)),
                              printed_number_within(10, row.output, std::regex(row.expression))})
      EXPECT_EQ(found, row.found) << row.output;
}

// It would take longer than the machine lasts.
TEST(PrintedNumber, ASlowExpressionEnds) {
  const std::regex slow("(a+)+b");
  EXPECT_THROW((void)printed_number_within(1, std::string(60, 'a'), slow), std::regex_error);
  EXPECT_EQ(printed_number_within(1, "0.1", std::regex(".*")), 0.1);
}

}  // namespace
}  // namespace rdtd
