// The HTML of suggest: one dot for each measurement, and a line through the medians.
#include <fmt/format.h>

#include <algorithm>

#include "html.hpp"
#include "rdtd/experiment/statistics.hpp"
#include "suggest_report.hpp"

namespace rdtd {

namespace {

std::string plot(const SuggestResult& result) {
  constexpr double width = 640, height = 260, left = 60, bottom = 220, top = 20;
  double most = 0;
  for (const AmountRuns& runs : result.curve) most = std::max(most, std::ranges::max(runs.values));
  const unsigned from = result.curve.front().amount, to = result.curve.back().amount;
  const auto x = [&](unsigned amount) {
    return left + (width - left - 20) * (to > from ? double(amount - from) / (to - from) : 0.5);
  };
  const auto y = [&](double value) {
    return bottom - (most > 0 ? value / most : 0) * (bottom - top);
  };
  std::string dots, line, labels;
  for (const AmountRuns& runs : result.curve) {
    for (const double value : runs.values)
      dots +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>\n", x(runs.amount), y(value));
    line += fmt::format("{:.1f},{:.1f} ", x(runs.amount), y(experiment::median(runs.values)));
    labels += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                          x(runs.amount), bottom + 20, html_escaped(std::to_string(runs.amount)));
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\">\n<polyline points=\"{}\"/>\n{}{}"
      "<text x=\"0\" y=\"{:.1f}\">{:.4g}</text>\n<text x=\"0\" y=\"{}\">0</text>\n</svg>\n",
      width, height, line, dots, labels, top + 4, most / result.measure.unit_size, bottom);
}

std::string table(const SuggestResult& result) {
  std::string out = fmt::format(
      "<table>\n<tr><th>Amount</th><th>Median{}</th></tr>\n",
      result.measure.unit.empty() ? "" : fmt::format(" ({})", html_escaped(result.measure.unit)));
  for (const AmountRuns& runs : result.curve)
    out += fmt::format("<tr><td>{}</td><td>{:.4g}</td></tr>\n", result.amount_text(runs.amount),
                       experiment::median(runs.values) / result.measure.unit_size);
  return out + "</table>\n";
}

}  // namespace

std::string suggest_html(const SuggestResult& result) {
  std::string body = fmt::format("<p>{}</p>\n", html_escaped(verdict(result)));
  if (!result.workload.empty())
    body += fmt::format("<p>Measured: {}</p>\n", html_escaped(result.workload));
  body += fmt::format("<h2>{} over {}</h2>\n",
                      result.measure.unit.empty() ? "Number" : html_escaped(result.measure.unit),
                      is_cache(result.resource) ? "ways" : "percent");
  body += plot(result) + table(result);
  if (result.conclusive()) {
    body += fmt::format("<h2>Policy</h2>\n<pre>{}</pre>\n", html_escaped(result.policy));
    body += html_list("Ways that the other groups keep then", cost_lines(result));
  }
  return html_page("rdtctl suggest: " + result.group, body);
}

}  // namespace rdtd
