// Pictures of numbers as SVG, in the style of html_page(): an axis has round ticks with their unit,
// and series that are to be compared share it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

// "151 us", "9.93 ms", "13.5 k", "0.40 MiB/s": three digits, of large numbers all. Times ("ns" or
// "s") change their unit, numbers without a unit get k, M or G.
[[nodiscard]] std::string quantity(double value, std::string_view unit);

struct Axis {
  double from = 0, to = 1;
  bool logarithmic = false;
  std::string unit;

  // From 0 to 1.
  [[nodiscard]] double at(double value) const;
  // Round numbers within it: 1, 2 or 5 times a power of ten, a few of them.
  [[nodiscard]] std::vector<double> ticks() const;
};
// One that has all these values and a margin. Logarithmic ones leave out what is not above 0.
[[nodiscard]] Axis axis_of(const std::vector<double>& values, bool logarithmic, std::string unit);

struct Point {
  double x = 0, y = 0;
};

// Colors of series; each has a class "sN" in a page.
inline constexpr size_t series_colors = 8;

class Plot {
 public:
  Plot(Axis x, Axis y) : x_(std::move(x)), y_(std::move(y)) {}

  // A tick of an axis with its text. Without these, axes have their own.
  void add_row(double y, std::string_view text);
  void add_column(double x, std::string_view text);
  // `series` chooses the color, and above the number of colors a broken line.
  void add_dots(const std::vector<Point>& points, size_t series);
  void add_line(const std::vector<Point>& points, size_t series);
  // Between the two lines, whose points have the same x.
  void add_area(const std::vector<Point>& lower, const std::vector<Point>& upper, size_t series);
  // A vertical line with its text.
  void add_mark(double x, std::string_view text);
  // A horizontal one.
  void add_level(double y, std::string_view text);
  // A shaded part of the x axis.
  void add_span(double from, double to);
  [[nodiscard]] std::string svg() const;

 private:
  [[nodiscard]] double left_of(double x) const;
  [[nodiscard]] double top_of(double y) const;
  [[nodiscard]] std::string coordinates(const Point& point) const;

  Axis x_, y_;
  std::string rows_, columns_, drawn_;
};

// The names of series in their colors.
[[nodiscard]] std::string legend(const std::vector<std::string>& names);

}  // namespace rdtd
