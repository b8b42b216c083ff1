// The HTML of bench: one file without external references.
#include <fmt/format.h>

#include <algorithm>

#include "bench_report.hpp"
#include "html.hpp"

namespace rdtd::bench {

namespace {

constexpr double picture_width = 640, names_width = 210, row_height = 36;

// A row of dots for each condition, one dot a run, and a line at the median.
std::string dots(const BenchResult& result) {
  double most = 0;
  for (const auto& samples : result.samples)
    for (const Sample& sample : samples) most = std::max(most, sample.value);
  const auto x = [&](double value) {
    return names_width + (most > 0 ? value / most : 0) * (picture_width - names_width - 10);
  };
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\">\n", picture_width,
                                row_height * static_cast<double>(conditions));
  for (size_t i = 0; i < conditions; ++i) {
    const double y = row_height * (static_cast<double>(i) + 0.5);
    std::vector<double> values;
    out += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", y + 4,
                       html_escaped(condition_name(result, i)));
    for (const Sample& sample : result.samples[i]) {
      values.push_back(sample.value);
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{}\" r=\"4\"/>\n", x(sample.value), y);
    }
    const double median = experiment::median(values);
    out += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n", x(median),
                       y - 12, y + 12);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{:.4g}</text>\n",
                       std::min(x(median) + 4, picture_width - 50), y - 8, median);
  }
  return out + "</svg>\n";
}

// As on the terminal.
std::string table(const BenchResult& result) {
  std::string out = "<table>\n<tr>";
  const auto [heads, rows] = counted_table(result);
  for (const std::string& head : heads) out += fmt::format("<th>{}</th>", html_escaped(head));
  for (const auto& row : rows) {
    out += "</tr>\n<tr>";
    for (const std::string& cell : row) out += fmt::format("<td>{}</td>", html_escaped(cell));
  }
  return out + "</tr>\n</table>\n";
}

// The height of a bar is the share of its bucket among all of the condition.
std::string bars(const std::string& name, const experiment::Distribution& times) {
  const auto buckets = experiment::histogram(times);
  if (buckets.empty()) return {};
  const double bar = picture_width / static_cast<double>(buckets.size());
  std::string out =
      fmt::format("<h3>{}</h3>\n<svg viewBox=\"0 0 {} 120\">\n", html_escaped(name), picture_width);
  uint64_t most = 1;
  for (const auto& bucket : buckets) most = std::max(most, bucket.count);
  for (size_t i = 0; i < buckets.size(); ++i) {
    const double height = 100 * static_cast<double>(buckets[i].count) / static_cast<double>(most);
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                       bar * static_cast<double>(i), 100 - height, bar * 0.9, height);
  }
  return out + fmt::format(
                   "<text x=\"0\" y=\"116\">{:.4g} ns</text>\n"
                   "<text x=\"{}\" y=\"116\">{:.4g} ns</text>\n</svg>\n",
                   times.least, picture_width - 90, times.most);
}

}  // namespace

std::string bench_html(const BenchResult& result) {
  std::string body = "<table>\n";
  for (const auto& [what, verdict] : comparisons(result))
    body +=
        fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_escaped(what), html_escaped(verdict));
  body += fmt::format("</table>\n<h2>Runs{}</h2>\n",
                      result.unit.empty() ? "" : fmt::format(" ({})", html_escaped(result.unit)));
  body += dots(result);
  body += table(result);
  if (result.probe) body += "<h2>Times</h2>\n";
  for (size_t i = 0; i < conditions; ++i) {
    body += bars(condition_name(result, i), result.times[i].time);
    body += bars(condition_name(result, i) + ", lateness", result.times[i].lateness);
  }
  body += html_list("What makes the comparison pointless", result.warnings);
  body += html_list("What may have disturbed the measurement", result.disturbances);
  body += html_list("Machine and policy", result.facts);
  return html_page("rdtctl bench: " + result.command, body);
}

}  // namespace rdtd::bench
