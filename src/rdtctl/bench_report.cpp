#include "bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rdtd::bench {

namespace {

using experiment::Distribution;
using experiment::Ratio;

std::vector<double> values_of(const BenchResult& result, size_t condition) {
  std::vector<double> out;
  for (const Sample& sample : result.samples[condition]) out.push_back(sample.value);
  return out;
}

double median_of(const BenchResult& result, size_t condition, double Sample::* member) {
  std::vector<double> out;
  for (const Sample& sample : result.samples[condition]) out.push_back(sample.*member);
  return experiment::median(std::move(out));
}

std::optional<Ratio> ratio(const BenchResult& result, size_t condition, size_t base) {
  return experiment::paired_ratio(values_of(result, condition), values_of(result, base));
}

std::string times_text(const BenchResult& result, const Ratio& ratio) {
  const std::string interval =
      ratio.interval
          ? fmt::format(" (95%: {:.2f} to {:.2f})", ratio.interval->low, ratio.interval->high)
          : "";
  return fmt::format("{:.2f} times as {}{}", ratio.estimate, result.time ? "long" : "much",
                     interval);
}

// Of one condition compared with another.
std::string verdict(const BenchResult& result, size_t condition, size_t base) {
  const auto found = ratio(result, condition, base);
  if (!found) return "no ratio";
  if (!found->differs()) return "no difference beyond the scatter";
  return times_text(result, *found);
}

std::string number(double value) { return fmt::format("{:.4g}", value); }

JsonValue ratio_json(const BenchResult& result, size_t condition, size_t base) {
  const auto found = ratio(result, condition, base);
  JsonValue out = {{"condition", condition_name(result, condition)},
                   {"base", condition_name(result, base)},
                   {"differs", found && found->differs()}};
  if (found) out["ratio"] = found->estimate;
  if (found && found->interval) {
    out["low"] = found->interval->low;
    out["high"] = found->interval->high;
  }
  return out;
}

JsonValue distribution_json(const Distribution& times) {
  JsonValue buckets = JsonValue::array();
  for (const auto& bucket : experiment::histogram(times))
    buckets.push_back({{"from", bucket.from}, {"count", bucket.count}});
  return {{"count", times.count},        {"min", times.least},
          {"mean", times.mean()},        {"median", times.quantile(0.5)},
          {"p99", times.quantile(0.99)}, {"p99_9", times.quantile(0.999)},
          {"max", times.most},           {"histogram", buckets}};
}

std::vector<std::string> distribution_row(const std::string& name, const Distribution& times) {
  return {name,
          number(times.least),
          number(times.mean()),
          number(times.quantile(0.5)),
          number(times.quantile(0.99)),
          number(times.quantile(0.999)),
          number(times.most)};
}

}  // namespace

std::string condition_name(const BenchResult& result, size_t condition) {
  if (condition == alone) return "alone";
  return condition == with_noise ? "with noise" : fmt::format("in '{}'", result.group);
}

std::string sentence(const BenchResult& result) {
  const std::string what = result.time ? "the command takes " : "the number is ";
  const auto phrase = [&](size_t condition, size_t base) {
    const auto found = ratio(result, condition, base);
    return (found && found->differs() ? what : "") + verdict(result, condition, base);
  };
  std::string out = fmt::format("With the noise, compared with alone: {}; in '{}': {}. ",
                                phrase(with_noise, alone), result.group, phrase(in_group, alone));
  out += fmt::format("In '{}', compared with the noise without it: {}", result.group,
                     phrase(in_group, with_noise));
  const double rate = median_of(result, with_noise, &Sample::noise_rate);
  if (result.noise_has_rate && rate > 0)
    out += fmt::format("; the noise keeps {:.0f}% of its rate",
                       100 * median_of(result, in_group, &Sample::noise_rate) / rate);
  return out + ".";
}

JsonValue bench_json(const BenchResult& result) {
  JsonValue measured = JsonValue::array();
  for (size_t i = 0; i < conditions; ++i) {
    JsonValue runs = JsonValue::array();
    for (const Sample& sample : result.samples[i]) {
      JsonValue run = {{"value", sample.value}, {"cpu_seconds", sample.cpu_seconds}};
      if (result.noise_has_rate && i != alone) run["noise_bytes_per_second"] = sample.noise_rate;
      runs.push_back(run);
    }
    JsonValue entry = {{"condition", condition_name(result, i)},
                       {"median", experiment::median(values_of(result, i))},
                       {"runs", runs}};
    if (result.probe) entry["nanoseconds"] = distribution_json(result.times[i].time);
    if (result.times[i].lateness.count > 0)
      entry["lateness"] = distribution_json(result.times[i].lateness);
    measured.push_back(entry);
  }
  return {{"command", result.command},
          {"unit", result.unit},
          {"conditions", measured},
          {"ratios", JsonValue::array({ratio_json(result, with_noise, alone),
                                       ratio_json(result, in_group, alone),
                                       ratio_json(result, in_group, with_noise)})},
          {"facts", result.facts},
          {"sentence", sentence(result)}};
}

void print_bench(const Context& context, const BenchResult& result) {
  std::vector<std::vector<std::string>> rows, times;
  for (size_t i = 0; i < conditions; ++i) {
    const auto values = values_of(result, i);
    const auto [least, most] = std::ranges::minmax(values);
    const bool rate = result.noise_has_rate && i != alone;
    rows.push_back(
        {condition_name(result, i), std::to_string(values.size()),
         number(experiment::median(values)), number(least), number(most),
         number(median_of(result, i, &Sample::cpu_seconds)),
         rate ? fmt::format("{:.1f} MiB/s", median_of(result, i, &Sample::noise_rate) / (1 << 20))
              : "-"});
    if (result.probe) times.push_back(distribution_row(rows.back().front(), result.times[i].time));
    if (result.times[i].lateness.count > 0)
      times.push_back(
          distribution_row(rows.back().front() + ", lateness", result.times[i].lateness));
  }
  const std::string unit = result.unit.empty() ? "" : fmt::format(" ({})", result.unit);
  print_table(context,
              {{"CONDITION"},
               {"RUNS", true},
               {"MEDIAN" + unit, true},
               {"MIN", true},
               {"MAX", true},
               {"CPU (s)", true},
               {"NOISE", true}},
              rows);
  if (!times.empty()) {
    print("\n");
    print_table(context,
                {{"TIMES (ns)"},
                 {"MIN", true},
                 {"MEAN", true},
                 {"MEDIAN", true},
                 {"P99", true},
                 {"P99.9", true},
                 {"MAX", true}},
                times);
  }
  print("\n{}\n", sentence(result));
}

}  // namespace rdtd::bench
