// The HTML of bench: the comparisons, a dot for each run on one axis, and the percentiles of a
// probe's times laid over each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench_report.hpp"
#include "html.hpp"
#include "plot.hpp"

namespace rdtd::bench {

namespace {

std::vector<std::string> names_of(const BenchResult& result) {
  std::vector<std::string> out;
  for (size_t i = 0; i < conditions; ++i) out.push_back(condition_name(result, i));
  return out;
}

// A row of dots for each condition, one dot a run, and a line at the median.
std::string runs_plot(const BenchResult& result) {
  std::vector<double> all;
  for (const auto& samples : result.samples)
    for (const Sample& sample : samples) all.push_back(sample.value);
  Plot plot(axis_of(all, false, result.unit), {.from = -2.5, .to = 0.5});
  for (size_t i = 0; i < conditions; ++i) {
    const double y = -static_cast<double>(i);
    std::vector<double> values;
    std::vector<Point> dots;
    for (const Sample& sample : result.samples[i]) {
      values.push_back(sample.value);
      dots.push_back({sample.value, y});
    }
    const double median = experiment::median(std::move(values));
    plot.add_row(y, condition_name(result, i));
    plot.add_dots(dots, i);
    plot.add_line({{median, y - 0.3}, {median, y + 0.3}}, i);
  }
  return plot.svg();
}

// How long 50%, 90%, 99% ... of the times are at most; each further nine takes as much room.
std::string percentiles_plot(const BenchResult& result,
                             experiment::Distribution experiment::ProbeTimes::* which) {
  std::vector<double> all;
  double most = 1;
  for (const auto& times : result.times) {
    if ((times.*which).count == 0) continue;
    all.insert(all.end(), {(times.*which).quantile(0.1), (times.*which).most});
    most = std::max(most, static_cast<double>((times.*which).count));
  }
  Plot plot(axis_of(all, true, "ns"), {.from = 1, .to = most, .logarithmic = true});
  plot.add_row(2, "50%");
  std::string nines = "9";
  for (double one_of = 10; one_of <= most; one_of *= 10, nines += nines.size() == 2 ? ".9" : "9")
    plot.add_row(one_of, one_of == 10 ? "90%" : nines + "%");
  constexpr int points = 20;  // for each nine
  for (size_t i = 0; i < conditions; ++i) {
    const experiment::Distribution& times = result.times[i].*which;
    std::vector<Point> curve;
    for (int k = 1; std::pow(10, k / double{points}) <= static_cast<double>(times.count); ++k) {
      const double one_of = std::pow(10, k / double{points});
      curve.push_back({times.quantile(1 - 1 / one_of), one_of});
    }
    plot.add_line(curve, i);
  }
  return plot.svg() + legend(names_of(result));
}

// As on the terminal.
std::string table(const ResultTable& table) {
  if (table.heads.empty()) return {};
  std::string out = "<table>\n<tr>";
  for (const std::string& head : table.heads) out += fmt::format("<th>{}</th>", html_escaped(head));
  for (const auto& row : table.rows) {
    out += "</tr>\n<tr>";
    for (const std::string& cell : row) out += fmt::format("<td>{}</td>", html_escaped(cell));
  }
  return out + "</tr>\n</table>\n";
}

}  // namespace

std::string bench_html(const BenchResult& result) {
  ResultTable compared{{"Compared", "Result"}, {}};
  for (const auto& [what, verdict] : comparisons(result)) compared.rows.push_back({what, verdict});
  std::string body = table(compared) + "<h2>Runs</h2>\n" + runs_plot(result) +
                     table(runs_table(result)) + table(counted_table(result));
  if (result.probe)
    body += "<h2>Times</h2>\n" + percentiles_plot(result, &experiment::ProbeTimes::time) +
            table(times_table(result));
  if (result.times[alone].lateness.count > 0)
    body += "<h2>Lateness</h2>\n" + percentiles_plot(result, &experiment::ProbeTimes::lateness) +
            "<h2>Response</h2>\n" + percentiles_plot(result, &experiment::ProbeTimes::response);
  body += html_list("What makes the comparison pointless", result.warnings);
  body += html_list("What may have disturbed the measurement", result.disturbances);
  body += html_list("Machine and policy", result.facts);
  return html_page("rdtctl bench: " + result.command, body, result.origin);
}

}  // namespace rdtd::bench
