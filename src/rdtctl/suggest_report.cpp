#include "suggest_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/experiment/statistics.hpp"

namespace rdtd {

namespace {

constexpr size_t widest_bar = 40;
// Values that scatter by more hide that an amount makes a difference, or which one suffices.
constexpr double largest_flat_margin = 1.25, largest_knee_margin = 1.5;

std::string bar(const Context& context, double value, double most) {
  const double share = most > 0 ? std::max(0.0, value / most) : 0;
  const auto length = static_cast<size_t>(std::lround(share * widest_bar));
  std::string out;
  for (size_t i = 0; i < length; i++) out += context.utf8 ? "\u2588" : "#";
  return out;
}

std::string value_text(const SuggestResult& result, double value) {
  return fmt::format("{:.4g}", value / result.measure.unit_size);
}

void print_curve(const Context& context, const SuggestResult& result) {
  double most = 0;
  for (const AmountRuns& runs : result.curve)
    most = std::max(most, experiment::median(runs.values));
  std::vector<std::vector<std::string>> rows;
  for (const AmountRuns& runs : result.curve) {
    const auto [least, highest] = std::ranges::minmax(runs.values);
    const double middle = experiment::median(runs.values);
    rows.push_back({result.amount_text(runs.amount), value_text(result, middle),
                    value_text(result, least), value_text(result, highest),
                    bar(context, middle, most)});
  }
  const std::string& unit = result.measure.unit;
  print_table(context,
              {{"AMOUNT", true},
               {unit.empty() ? "MEDIAN" : fmt::format("MEDIAN ({})", unit), true},
               {"LEAST", true},
               {"MOST", true},
               {"CURVE"}},
              rows);
}

}  // namespace

std::string amount_text(Resource resource, unsigned amount) {
  return is_cache(resource) ? counted(amount, "way") : fmt::format("{}%", amount);
}

std::string SuggestResult::amount_text(unsigned amount) const {
  return rdtd::amount_text(resource, amount);
}

bool SuggestResult::conclusive() const {
  return knee.margin <= largest_knee_margin && !knee.flat && !(knee.at_begin && is_cache(resource));
}

std::string verdict(const SuggestResult& result) {
  const Knee& knee = result.knee;
  const double percent = (knee.margin - 1) * 100;
  if (knee.margin > (knee.flat ? largest_flat_margin : largest_knee_margin))
    return fmt::format("The values scatter by {:.0f}%, which hides what matters: measure {}.",
                       percent, result.command ? "more often" : "longer or more often");
  if (knee.flat && !is_cache(result.resource))
    return fmt::format("No limit that was measured changes {} of '{}'.", result.measure.name,
                       result.group);
  if (knee.at_begin && is_cache(result.resource))
    return fmt::format(
        "More than {} do not improve {} of '{}': {}.", result.amount_text(knee.amount),
        result.measure.name, result.group,
        knee.amount > result.least_ways ? "fewer were not measured" : "ways do not help");
  return fmt::format(
      "The smallest amount within {:.0f}% of the best: {}.{}", percent,
      result.amount_text(knee.amount),
      knee.at_end ? " It is the largest that was measured: more may be better." : "");
}

std::vector<std::string> cost_lines(const SuggestResult& result) {
  std::vector<std::string> out;
  for (const auto& [group, ways] : result.then) {
    const auto before = result.others.find(group);
    out.push_back(fmt::format("{}: {}{}", group, counted(ways, "way"),
                              before == result.others.end() || before->second == ways
                                  ? ""
                                  : fmt::format(" (now {})", before->second)));
  }
  return out;
}

JsonValue suggest_json(const SuggestResult& result) {
  JsonValue curve = JsonValue::array();
  for (const AmountRuns& runs : result.curve)
    curve.push_back({{"amount", runs.amount},
                     {"median", experiment::median(runs.values)},
                     {"values", runs.values}});
  return {{"group", result.group},
          {"workload", result.workload},
          {"resource", to_string(result.resource)},
          {"measure", result.measure.name},
          {"unit", result.measure.unit},
          {"unit_size", result.measure.unit_size},
          {"curve", curve},
          {"knee", result.knee.amount},
          {"flat", result.knee.flat},
          {"at_begin", result.knee.at_begin},
          {"at_end", result.knee.at_end},
          {"sentence", verdict(result)},
          {"policy", result.conclusive() ? JsonValue(result.policy) : JsonValue()},
          {"ways_of_others", result.then}};
}

void print_suggestion(const Context& context, const SuggestResult& result) {
  print_curve(context, result);
  print("\n{}\n", verdict(result));
  if (!result.conclusive()) return;
  print("\n{}", result.policy);
  const auto costs = cost_lines(result);
  if (costs.empty()) return;
  print("\nWays that the other groups keep then:\n");
  for (const std::string& line : costs) print("  {}\n", line);
}

}  // namespace rdtd
