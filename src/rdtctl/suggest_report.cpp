#include "suggest_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot.hpp"
#include "lease_text.hpp"
#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/experiment/statistics.hpp"

namespace rdtd {

namespace {

// Of a curve beside these cells: what remains of the terminal's width.
size_t widest_bar(const Context& context, const std::vector<std::vector<std::string>>& rows) {
  constexpr size_t usual = 40, least = 5;
  if (context.columns == 0) return usual;
  size_t others = 0;
  for (size_t i = 0; i < rows.front().size(); i++) {
    size_t widest_cell = std::string_view("AMOUNT").size();  // as long as any head
    for (const auto& row : rows) widest_cell = std::max(widest_cell, row[i].size());
    others += widest_cell + 1;
  }
  return std::clamp(context.columns - std::min<size_t>(context.columns, others), least, usual);
}

std::string bar(const Context& context, double share, size_t widest) {
  const auto length = static_cast<size_t>(std::lround(share * static_cast<double>(widest)));
  std::string out;
  for (size_t i = 0; i < length; i++) out += context.utf8 ? "\u2588" : "#";
  return out;
}

void print_curve(const Context& context, const SuggestResult& result) {
  double most = 0;
  for (const AmountRuns& runs : result.curve)
    most = std::max(most, experiment::median(runs.values));
  std::vector<std::vector<std::string>> rows;
  for (const AmountRuns& runs : result.curve) {
    const auto [least, highest] = std::ranges::minmax(runs.values);
    rows.push_back({amount_text(result.resource, runs.amount),
                    result.measure.text_of(experiment::median(runs.values)),
                    result.measure.text_of(least), result.measure.text_of(highest)});
  }
  const size_t widest = widest_bar(context, rows);
  for (size_t i = 0; i < rows.size(); i++) {
    const double middle = experiment::median(result.curve[i].values);
    rows[i].push_back(bar(context, most > 0 ? std::max(0.0, middle / most) : 0, widest));
  }
  print_table(context,
              {{"AMOUNT", true},
               {"MEDIAN", true},
               {"LEAST", true},
               {"MOST", true},
               {.name = "CURVE", .whole = true}},
              rows);
}

}  // namespace

std::string Measure::text_of(double number) const { return quantity(number / unit_size, unit); }

// Where the smallest that was measured suffices, less is not known, unless --max-loss left it out.
bool SuggestResult::conclusive() const {
  return knee.amount && curve.size() > 1 &&
         (*knee.amount != curve.front().amount || less_is_unbearable());
}

bool SuggestResult::less_is_unbearable() const {
  return std::ranges::any_of(unbearable,
                             [&](unsigned amount) { return amount < curve.front().amount; });
}

namespace {

// Without an amount that certainly suffices.
std::string doubt(const SuggestResult& result) {
  using experiment::fewest_rounds;
  const unsigned most = result.curve.back().amount;
  if (const size_t rounds = result.curve.front().values.size(); rounds < fewest_rounds)
    return fmt::format("{} full rounds tell nothing: at least {} are needed.", rounds,
                       fewest_rounds);
  if (result.knee.most_is_worse)
    return fmt::format("More is worse: {} of '{}' is best below {}.", result.measure.name,
                       result.group, amount_text(result.resource, most));
  if (result.knee.all_are_zero) return "All numbers were 0.";
  const std::string cure =
      fmt::format("measure with more --repeats{}", result.command ? "" : " or a longer --for");
  const std::string all = amount_text(result.resource, most);
  return result.knee.perhaps == most
             ? fmt::format("Whether the largest amount suffices, {}, is not certain: {}.", all,
                           cure)
             : fmt::format("Cannot tell between {} and {}: {}.", result.knee.perhaps, all, cure);
}

// If the smallest amount is as good as the best.
std::string no_help(const SuggestResult& result) {
  if (!is_cache(result.resource))
    return fmt::format("No limit that was measured changes {} of '{}' by more than 5%.",
                       result.measure.name, result.group);
  return fmt::format(
      "More than {} do not improve {} of '{}' by more than 5%: {}.",
      amount_text(result.resource, *result.knee.amount), result.measure.name, result.group,
      *result.knee.amount > result.least_ways ? "fewer were not measured" : "ways do not help");
}

}  // namespace

std::optional<std::string> lacks_second_step(const Measured& first, size_t amounts, size_t all) {
  if (first.exit == Exit::ok || amounts == all) return std::nullopt;
  return "Only some of the amounts were measured: there was no second step.";
}

std::string verdict(const SuggestResult& result) {
  const experiment::Knee& knee = result.knee;
  if (result.curve.size() == 1)
    return fmt::format("Only {} {} measured: there is nothing to compare.{}",
                       amount_text(result.resource, result.curve.front().amount),
                       result.curve.front().amount == 1 ? "was" : "were",
                       result.less_is_unbearable() ? " Less was left out by --max-loss." : "");
  if (!knee.amount) return doubt(result);
  if (!result.conclusive()) return no_help(result);
  std::string out = fmt::format("The smallest amount that is certainly within 5% of the best: {}.",
                                amount_text(result.resource, *knee.amount));
  if (*knee.amount == result.curve.front().amount)
    out += " Less was left out by --max-loss.";
  else if (knee.perhaps < *knee.amount)
    out += fmt::format(" From {} on it may be so too: more --repeats would tell.",
                       amount_text(result.resource, knee.perhaps));
  if (*knee.amount == result.curve.back().amount)
    out += " It is the largest that was measured: more may be better.";
  return out;
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
  // One amount is within 5% of itself, which says nothing.
  const auto knee = result.curve.size() > 1 ? result.knee.amount : std::nullopt;
  return {{"group", result.group},
          {"workload", result.workload},
          {"resource", to_string(result.resource)},
          {"measure", result.measure.name},
          {"unit", result.measure.unit},
          {"unit_size", result.measure.unit_size},
          {"complete", result.complete},
          {"rounds_wanted", result.rounds_wanted},
          {"curve", curve},
          {"knee", knee ? JsonValue(*knee) : JsonValue()},
          {"perhaps", result.knee.perhaps},
          {"flat", knee && !result.conclusive()},
          {"at_begin", knee == result.curve.front().amount},
          {"at_end", knee == result.curve.back().amount},
          {"sentence", verdict(result)},
          {"facts", result.facts},
          {"disturbances", result.disturbances},
          {"left_out", result.unbearable},
          {"policy", result.conclusive() ? JsonValue(result.policy) : JsonValue()},
          {"place", result.conclusive() ? JsonValue(result.place) : JsonValue()},
          {"ways_of_others", result.then}};
}

void print_suggestion(const Context& context, const SuggestResult& result) {
  print_curve(context, result);
  print("\n");
  print_sentences(context, {verdict(result)});
  for (const auto* sentences : {&result.disturbances, &result.facts})
    print_sentences(context, *sentences);
  if (!result.conclusive()) return;
  print("\nThe policy has the group in {}:\n{}", result.place, result.policy);
  const auto costs = cost_lines(result);
  if (costs.empty()) return;
  print("\nWays that the other groups keep then:\n");
  for (const std::string& line : costs) print("  {}\n", line);
}

}  // namespace rdtd
