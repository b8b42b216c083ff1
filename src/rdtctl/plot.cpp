#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <span>

#include "html.hpp"

namespace rdtd {

namespace {

constexpr double width = 720, height = 300, left = 150, right = 700, top = 16, bottom = 262;

struct Prefix {
  double factor;
  std::string_view name;
};

}  // namespace

std::string quantity(double value, std::string_view unit) {
  static constexpr std::array<Prefix, 4> times = {
      {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  static constexpr std::array<Prefix, 4> numbers = {{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  static constexpr std::array<Prefix, 1> none = {{{1, ""}}};
  const bool time = unit == "ns" || unit == "s";
  const double amount = unit == "s" ? value * 1e9 : value;
  const std::span<const Prefix> prefixes = time           ? std::span<const Prefix>(times)
                                           : unit.empty() ? std::span<const Prefix>(numbers)
                                                          : std::span<const Prefix>(none);
  // 999.6 has three digits as 1000.
  auto found = std::ranges::find_if(
      prefixes, [&](const Prefix& prefix) { return std::abs(amount) >= 0.9995 * prefix.factor; });
  if (found == prefixes.end()) --found;
  const double shown = amount / found->factor, size = std::abs(shown);
  if (shown == 0) return unit.empty() ? "0" : fmt::format("0 {}", unit);
  // Three digits, also below the smallest prefix.
  const int decimals = size < 0.09995
                           ? std::min(9, 2 - static_cast<int>(std::floor(std::log10(size))))
                       : size < 9.995 ? 2
                       : size < 99.95 ? 1
                                      : 0;
  std::string out = fmt::format("{:.{}f}", shown, decimals);
  if (!found->name.empty()) out += fmt::format(" {}", found->name);
  return time || unit.empty() ? out : out + " " + std::string(unit);
}

double Axis::at(double value) const {
  if (to <= from) return 0.5;
  const double share = logarithmic ? std::log(std::max(value, from) / from) / std::log(to / from)
                                   : (value - from) / (to - from);
  return std::clamp(share, 0.0, 1.0);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> out;
  if (to <= from) return {from};
  constexpr size_t most = 8;
  if (logarithmic) {
    for (double power = std::pow(10, std::floor(std::log10(from))); power <= to; power *= 10)
      for (const double digit : {1.0, 2.0, 5.0})
        if (digit * power >= from && digit * power <= to) out.push_back(digit * power);
    if (out.size() > most)
      std::erase_if(out, [](double tick) {
        return std::abs(std::log10(tick) - std::round(std::log10(tick))) > 1e-6;
      });
    return out;
  }
  double step = std::pow(10, std::floor(std::log10((to - from) / most)));
  for (const double digit : {1.0, 2.0, 5.0, 10.0})
    if ((to - from) / (digit * step) <= most) {
      step *= digit;
      break;
    }
  for (double at = std::ceil(from / step); at * step <= to * (1 + 1e-9); ++at)
    out.push_back(at * step);
  return out;
}

Axis axis_of(const std::vector<double>& values, bool logarithmic, std::string unit) {
  Axis out{.logarithmic = logarithmic, .unit = std::move(unit)};
  bool any = false;
  for (const double value : values) {
    if (logarithmic && value <= 0) continue;
    out.from = any ? std::min(out.from, value) : value;
    out.to = any ? std::max(out.to, value) : value;
    any = true;
  }
  if (!any) return {.from = logarithmic ? 0.1 : 0, .to = 1, .logarithmic = logarithmic};
  constexpr double margin = 0.05;
  if (logarithmic) {
    out.from /= 1 + margin;
    out.to *= 1 + margin;
  } else {
    const double room = std::max(margin * (out.to - out.from), 1e-3 * std::abs(out.to));
    out.from -= room;
    out.to += room;
  }
  return out;
}

double Plot::left_of(double x) const { return left + x_.at(x) * (right - left); }
double Plot::top_of(double y) const { return bottom - y_.at(y) * (bottom - top); }

std::string Plot::coordinates(const Point& point) const {
  return fmt::format("{:.1f},{:.1f} ", left_of(point.x), top_of(point.y));
}

void Plot::add_row(double y, std::string_view text) {
  rows_ += fmt::format(
      "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n"
      "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
      left, right, top_of(y), left - 8, top_of(y) + 4, html_escaped(text));
}

void Plot::add_column(double x, std::string_view text) {
  columns_ += fmt::format(
      "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n"
      "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
      left_of(x), top, bottom, bottom + 18, html_escaped(text));
}

// "s2", or of the tenth series "s1 d1".
static std::string class_of(size_t series) {
  const std::string color = fmt::format("s{}", series % series_colors);
  return series < series_colors ? color
                                : fmt::format("{} d{}", color, 1 + series / series_colors % 2);
}

void Plot::add_dots(const std::vector<Point>& points, size_t series) {
  for (const Point& point : points)
    drawn_ += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>\n",
                          class_of(series), left_of(point.x), top_of(point.y));
}

void Plot::add_line(const std::vector<Point>& points, size_t series) {
  drawn_ += fmt::format("<polyline class=\"{}\" points=\"", class_of(series));
  for (const Point& point : points) drawn_ += coordinates(point);
  drawn_ += "\"/>\n";
}

void Plot::add_area(const std::vector<Point>& lower, const std::vector<Point>& upper,
                    size_t series) {
  drawn_ += fmt::format("<polygon class=\"{}\" points=\"", class_of(series));
  for (const Point& point : upper) drawn_ += coordinates(point);
  for (const Point& point : lower | std::views::reverse) drawn_ += coordinates(point);
  drawn_ += "\"/>\n";
}

void Plot::add_level(double y, std::string_view text) {
  drawn_ += fmt::format(
      "<line class=\"mark\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n"
      "<text x=\"{1}\" y=\"{3:.1f}\" text-anchor=\"end\">{4}</text>\n",
      left, right, top_of(y), top_of(y) - 4, html_escaped(text));
}

// One that is shorter than a line is wide is seen too.
void Plot::add_span(double from, double to) {
  constexpr double least = 2;
  drawn_ += fmt::format(
      "<rect class=\"episode\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>\n",
      left_of(from), top, std::max(least, left_of(to) - left_of(from)), bottom - top);
}

void Plot::add_mark(double x, std::string_view text) {
  drawn_ += fmt::format(
      "<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n"
      "<text x=\"{3:.1f}\" y=\"{4}\">{5}</text>\n",
      left_of(x), top, bottom, left_of(x) + 6, top + 12, html_escaped(text));
}

std::string Plot::svg() const {
  Plot copy = *this;
  if (rows_.empty())
    for (const double tick : y_.ticks()) copy.add_row(tick, quantity(tick, y_.unit));
  if (columns_.empty())
    for (const double tick : x_.ticks()) copy.add_column(tick, quantity(tick, x_.unit));
  return fmt::format("<svg viewBox=\"0 0 {} {}\">\n{}{}{}</svg>\n", width, height, copy.rows_,
                     copy.columns_, copy.drawn_);
}

std::string legend(const std::vector<std::string>& names) {
  std::string out = "<p>";
  for (size_t i = 0; i < names.size(); ++i)
    out += fmt::format("<span class=\"{}\">&#96{};</span>&nbsp;{}&emsp;", class_of(i),
                       i < series_colors ? 32 : 33, html_escaped(names[i]));
  return out + "</p>\n";
}

}  // namespace rdtd
