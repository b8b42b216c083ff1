// The HTML of suggest: one dot for each measurement, a line through the medians, and the knee.
#include <fmt/format.h>

#include "html.hpp"
#include "lease_text.hpp"
#include "plot.hpp"
#include "rdtd/experiment/statistics.hpp"
#include "suggest_report.hpp"

namespace rdtd {

namespace {

std::string curve_plot(const SuggestResult& result) {
  std::vector<double> amounts, values;
  std::vector<Point> dots, medians;
  for (const AmountRuns& runs : result.curve) {
    amounts.push_back(runs.amount);
    for (const double value : runs.values) {
      values.push_back(value / result.measure.unit_size);
      dots.push_back({double(runs.amount), values.back()});
    }
    medians.push_back(
        {double(runs.amount), experiment::median(runs.values) / result.measure.unit_size});
  }
  Plot plot(axis_of(amounts, false, ""), axis_of(values, false, result.measure.unit));
  for (const AmountRuns& runs : result.curve)
    plot.add_column(runs.amount, std::to_string(runs.amount));
  if (result.conclusive())
    plot.add_mark(*result.knee.amount, amount_text(result.resource, *result.knee.amount));
  plot.add_line(medians, 1);
  plot.add_dots(dots, 0);
  return plot.svg();
}

std::string table(const SuggestResult& result) {
  std::string out = "<table>\n<tr><th>Amount</th><th>Median</th></tr>\n";
  for (const AmountRuns& runs : result.curve)
    out +=
        fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", amount_text(result.resource, runs.amount),
                    html_escaped(result.measure.text_of(experiment::median(runs.values))));
  return out + "</table>\n";
}

}  // namespace

std::string suggest_html(const SuggestResult& result) {
  std::string body = fmt::format("<p><b>{}</b></p>\n", html_escaped(verdict(result)));
  if (!result.workload.empty())
    body += fmt::format("<p>Measured: {}</p>\n", html_escaped(result.workload));
  body += fmt::format("<h2>{} by {}</h2>\n", html_escaped(result.measure.name),
                      is_cache(result.resource) ? "ways" : "percent");
  body += curve_plot(result) + table(result);
  if (result.conclusive()) {
    body += fmt::format("<h2>Policy</h2>\n<p>In {}:</p>\n<pre>{}</pre>\n",
                        html_escaped(result.place), html_escaped(result.policy));
    body += html_list("Ways that the other groups keep then", cost_lines(result));
  }
  body += html_list("What may have disturbed the measurement", result.disturbances);
  body += html_list("Where and how it ran", result.facts);
  return html_page("rdtctl suggest: " + result.group, body, result.origin);
}

}  // namespace rdtd
