#include "plot.hpp"

#include <gtest/gtest.h>

#include <set>

#include "html.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {
namespace {

TEST(Plot, Quantities) {
  const struct {
    double value;
    const char *unit, *text;
  } rows[] = {
      {0, "ns", "0 ns"},
      {12.34, "ns", "12.3 ns"},
      {999.6, "ns", "1.00 us"},
      {150'900, "ns", "151 us"},
      {9'931'000, "ns", "9.93 ms"},
      {0.5, "s", "500 ms"},
      {123, "s", "123 s"},
      {0, "", "0"},
      {7, "", "7.00"},
      {0.004, "", "0.00400"},
      {0.0996, "", "0.0996"},
      {0.00001234, "MiB/s", "0.0000123 MiB/s"},
      {13'480, "", "13.5 k"},
      {4e9, "", "4.00 G"},
      {-2'000, "", "-2.00 k"},
      {0.4, "MiB/s", "0.40 MiB/s"},
      {10'100, "MiB/s", "10100 MiB/s"},
  };
  for (const auto& row : rows) EXPECT_EQ(quantity(row.value, row.unit), row.text);
}

TEST(Plot, TicksAreRoundAndFew) {
  using Ticks = std::vector<double>;
  EXPECT_EQ((Axis{.from = 0, .to = 10}).ticks(), (Ticks{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ((Axis{.from = 3, .to = 3}).ticks(), Ticks{3});
  EXPECT_EQ((Axis{.from = 30, .to = 300, .logarithmic = true}).ticks(), (Ticks{50, 100, 200}));
  EXPECT_EQ((Axis{.from = 1, .to = 1e6, .logarithmic = true}).ticks(),
            (Ticks{1, 10, 100, 1000, 10000, 100000, 1000000}));
}

TEST(Plot, AxesHaveAllValues) {
  const Axis linear = axis_of({2, 4}, false, "s");
  EXPECT_LT(linear.from, 2);
  EXPECT_GT(linear.to, 4);
  EXPECT_DOUBLE_EQ(linear.at(3), 0.5);
  const Axis logarithmic = axis_of({0, 10, 1000}, true, "ns");
  EXPECT_NEAR(logarithmic.from, 9.5, 0.1);
  EXPECT_DOUBLE_EQ(logarithmic.at(100), 0.5);
  EXPECT_DOUBLE_EQ(logarithmic.at(0), 0);
  EXPECT_DOUBLE_EQ(axis_of({}, true, "ns").at(1), 1);
  EXPECT_DOUBLE_EQ(axis_of({5, 5}, false, "").at(5), 0.5);
}

TEST(Plot, TextIsEscaped) {
  Plot plot({}, {});
  plot.add_row(0, "a<b");
  plot.add_mark(0.5, "&");
  EXPECT_NE(plot.svg().find(">a&lt;b<"), std::string::npos);
  EXPECT_NE(plot.svg().find(">&amp;<"), std::string::npos);
}

// However many groups there are, each has a color in the page, and no two the same line.
TEST(Plot, ColorsOfSeries) {
  const std::string page = html_page("title", "", "");
  std::set<std::string> classes;
  for (size_t series = 0; series < 3 * series_colors; series++) {
    Plot plot(axis_of({0, 1}, false, ""), axis_of({0, 1}, false, ""));
    plot.add_line({{0, 0}, {1, 1}}, series);
    const std::string svg = plot.svg();
    const size_t begin = svg.find("<polyline class=\"") + 17;
    const std::string found = svg.substr(begin, svg.find('"', begin) - begin);
    EXPECT_TRUE(classes.insert(found).second) << found;
    for (const std::string_view one : split(found, ' '))
      EXPECT_TRUE(page.contains("polyline." + std::string(one) + " {")) << found;
  }
}

TEST(Plot, Zero) {
  EXPECT_EQ(quantity(-0.0, "MiB"), "0 MiB");
  EXPECT_EQ(quantity(0, "s"), "0 s");
  EXPECT_EQ(quantity(0, ""), "0");
}

}  // namespace
}  // namespace rdtd
