#include "bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "plot.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/proc/perf_events.hpp"

namespace rdtd::bench {

namespace {

using experiment::Distribution;
using experiment::Ratio;

// Each condition with the one that it is divided by.
constexpr std::pair<size_t, size_t> compared[] = {
    {with_noise, alone}, {in_group, alone}, {in_group, with_noise}};

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

// Two digits of a small one, which must not read as 0.00.
std::string ratio_text(double ratio, int digits) {
  if (std::isinf(ratio)) return "infinity";
  return ratio < 0.1 ? fmt::format("{:.2g}", ratio) : fmt::format("{:.{}f}", ratio, digits);
}

// Of one condition compared with another; always with the interval.
std::string verdict(const BenchResult& result, size_t condition, size_t base) {
  const auto found = ratio(result, condition, base);
  if (!found) return "no ratio";
  const auto [low, high] = found->interval.value_or(Ratio::Interval{});
  const bool differs = !found->interval || found->verdict() == Ratio::Verdict::differs;
  // A difference of less than a hundredth must not read as 1.00.
  const auto reads_as_one = [](double bound) { return bound > 0.995 && bound < 1.005; };
  const bool small = low > 0.98 && high < 1.02;
  const int digits =
      differs && found->interval && (small || reads_as_one(low) || reads_as_one(high)) ? 3 : 2;
  const std::string interval =
      found->interval
          ? fmt::format("95%: {} to {}", ratio_text(low, digits), ratio_text(high, digits))
          : "too few rounds for an interval";
  const double times = found->estimate;
  if (differs)
    return fmt::format("{} times as {} ({})",
                       std::isinf(times) ? "infinitely many" : ratio_text(times, digits),
                       result.time ? "long" : "much", interval);
  const bool same = found->verdict() == Ratio::Verdict::same;
  return fmt::format("{} ({})", same ? "no difference" : "too few rounds to tell", interval);
}

// The median of what every run of the condition has.
template <class Get>
std::optional<double> median_if_known(const BenchResult& result, size_t condition, Get get) {
  std::vector<double> out;
  for (const Sample& sample : result.samples[condition]) {
    const std::optional<double> value = get(sample);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out.empty() ? std::nullopt : std::optional(experiment::median(std::move(out)));
}

auto event(size_t index) {
  return [index](const Sample& sample) {
    return index < sample.events.size() ? std::optional(sample.events[index]) : std::nullopt;
  };
}

// Instructions per cycle.
std::optional<double> ipc_of(const Sample& sample) {
  if (sample.events.size() < 2 || sample.events[1] == 0) return std::nullopt;
  return sample.events[0] / sample.events[1];
}

std::string number(double value) { return quantity(value, ""); }

JsonValue ratio_json(const BenchResult& result, size_t condition, size_t base) {
  const auto found = ratio(result, condition, base);
  JsonValue out = {{"condition", condition_name(result, condition)},
                   {"base", condition_name(result, base)}};
  // JSON has no number for the ratio to 0.
  const auto put = [&](const char* key, double ratio) {
    if (std::isfinite(ratio)) out[key] = ratio;
  };
  if (found) put("ratio", found->estimate);
  if (found && found->interval) {
    out["verdict"] = to_string(found->verdict());
    out["differs"] = found->verdict() == Ratio::Verdict::differs;
    put("low", found->interval->low);
    put("high", found->interval->high);
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
  std::vector<std::string> out = {name};
  for (const double time : {times.least, times.mean(), times.quantile(0.5), times.quantile(0.99),
                            times.quantile(0.999), times.most})
    out.push_back(quantity(time, "ns"));
  return out;
}

// "6", or with other ways for the noise "6, noise 10".
std::string ways_text(const CacheShare& share) {
  if (share.ways == 0) return "-";
  return share.noise_ways == 0 || share.noise_ways == share.ways
             ? std::to_string(share.ways)
             : fmt::format("{}, noise {}", share.ways, share.noise_ways);
}

std::string third_condition(const BenchResult& result) {
  std::string out;
  if (!result.group.empty()) out = fmt::format("in '{}'", result.group);
  if (!result.pseudo_lock.empty()) out = fmt::format("in pseudo_lock '{}'", result.pseudo_lock);
  if (result.noise_group.empty()) return out;
  return fmt::format("{}{}with noise in '{}'", out, out.empty() ? "" : ", ", result.noise_group);
}

}  // namespace

std::string condition_name(const BenchResult& result, size_t condition) {
  if (condition == alone) return "alone";
  return condition == with_noise ? "with noise" : third_condition(result);
}

ResultTable runs_table(const BenchResult& result) {
  ResultTable out{{"CONDITION", "RUNS", "MEDIAN", "MIN", "MAX", "CPU TIME", "WAYS", "NOISE"}, {}};
  for (size_t i = 0; i < conditions; ++i) {
    const auto values = values_of(result, i);
    const auto [least, most] = std::ranges::minmax(values);
    const bool rate = result.noise_has_rate && i != alone;
    out.rows.push_back(
        {condition_name(result, i), std::to_string(values.size()),
         quantity(experiment::median(values), result.unit), quantity(least, result.unit),
         quantity(most, result.unit), quantity(median_of(result, i, &Sample::cpu_seconds), "s"),
         ways_text(result.shares[i]),
         rate ? quantity(median_of(result, i, &Sample::noise_rate) / (1 << 20), "MiB/s") : "-"});
  }
  return out;
}

ResultTable times_table(const BenchResult& result) {
  if (!result.probe) return {};
  // A percentile of batches is none of single reads.
  const uint64_t batch = result.times[alone].batch;
  ResultTable out{{batch == 1 ? "TIMES" : fmt::format("MEANS OF {} READS", batch), "MIN", "MEAN",
                   "MEDIAN", "P99", "P99.9", "MAX"},
                  {}};
  for (size_t i = 0; i < conditions; ++i) {
    out.rows.push_back(distribution_row(condition_name(result, i), result.times[i].time));
    if (result.times[i].lateness.count == 0) continue;
    const std::string name = condition_name(result, i);
    out.rows.push_back(distribution_row(name + ", lateness", result.times[i].lateness));
    out.rows.push_back(distribution_row(name + ", response", result.times[i].response));
  }
  return out;
}

ResultTable counted_table(const BenchResult& result) {
  const auto mebibytes = [](double bytes) { return fmt::format("{:.2f}", bytes / (1 << 20)); };
  const auto ratio = [](double value) { return fmt::format("{:.2f}", value); };
  const struct {
    const char* head;
    std::function<std::optional<double>(const Sample&)> get;
    std::function<std::string(double)> text;
  } columns[] = {{"INSTRUCTIONS", event(0), number},
                 {"IPC", ipc_of, ratio},
                 {"CACHE MISSES", event(2), number},
                 {"OCCUPANCY (MiB)", [](const Sample& of) { return of.occupancy; }, mebibytes},
                 {"TRAFFIC (MiB/s)", [](const Sample& of) { return of.traffic; }, mebibytes}};
  ResultTable out{{"CONDITION"}, std::vector<std::vector<std::string>>(conditions)};
  for (size_t i = 0; i < conditions; ++i) out.rows[i].push_back(condition_name(result, i));
  for (const auto& column : columns) {
    std::vector<std::optional<double>> values;
    for (size_t i = 0; i < conditions; ++i)
      values.push_back(median_if_known(result, i, column.get));
    if (std::ranges::none_of(values, [](const auto& value) { return value.has_value(); })) continue;
    out.heads.emplace_back(column.head);
    for (size_t i = 0; i < conditions; ++i)
      out.rows[i].push_back(values[i] ? column.text(*values[i]) : "-");
  }
  return out.heads.size() > 1 ? out : ResultTable{};
}

std::vector<Comparison> comparisons(const BenchResult& result) {
  std::vector<Comparison> out;
  for (const auto& [condition, base] : compared)
    out.push_back(
        {fmt::format("{} / {}", condition_name(result, condition), condition_name(result, base)),
         verdict(result, condition, base)});
  const double rate = median_of(result, with_noise, &Sample::noise_rate);
  if (result.noise_has_rate && rate > 0)
    out.push_back(
        {fmt::format("rate of the noise, {} / {}", condition_name(result, in_group),
                     condition_name(result, with_noise)),
         fmt::format("{:.0f}%", 100 * median_of(result, in_group, &Sample::noise_rate) / rate)});
  return out;
}

std::string sentence(const BenchResult& result) {
  std::vector<std::string> parts;
  for (const auto& [what, verdict] : comparisons(result)) parts.push_back(what + ": " + verdict);
  return join(parts, "; ");
}

JsonValue bench_json(const BenchResult& result) {
  JsonValue measured = JsonValue::array();
  for (size_t i = 0; i < conditions; ++i) {
    JsonValue runs = JsonValue::array();
    for (const Sample& sample : result.samples[i]) {
      JsonValue run = {{"value", sample.value}, {"cpu_seconds", sample.cpu_seconds}};
      if (result.noise_has_rate && i != alone) run["noise_bytes_per_second"] = sample.noise_rate;
      for (size_t k = 0; k < sample.events.size(); ++k)
        run[hardware_events()[k].name] = sample.events[k];
      if (sample.occupancy) run["occupancy_bytes"] = *sample.occupancy;
      if (sample.traffic) run["traffic_bytes_per_second"] = *sample.traffic;
      runs.push_back(run);
    }
    JsonValue entry = {{"condition", condition_name(result, i)},
                       {"median", experiment::median(values_of(result, i))},
                       {"ways", result.shares[i].ways},
                       {"noise_ways", result.shares[i].noise_ways},
                       {"runs", runs}};
    if (result.probe) entry["nanoseconds"] = distribution_json(result.times[i].time);
    if (result.times[i].lateness.count > 0) {
      entry["lateness"] = distribution_json(result.times[i].lateness);
      entry["response"] = distribution_json(result.times[i].response);
    }
    measured.push_back(entry);
  }
  JsonValue ratios = JsonValue::array();
  for (const auto& [condition, base] : compared)
    ratios.push_back(ratio_json(result, condition, base));
  return {{"command", result.command},
          {"unit", result.unit},
          {"complete", result.complete},
          {"rounds_wanted", result.rounds_wanted},
          {"conditions", measured},
          {"ratios", ratios},
          {"facts", result.facts},
          {"warnings", result.warnings},
          {"disturbances", result.disturbances},
          {"sentence", sentence(result)}};
}

void print_bench(const Context& context, const BenchResult& result) {
  ResultTable differences{{"COMPARED", "RESULT"}, {}};
  for (const auto& [what, verdict] : comparisons(result))
    differences.rows.push_back({what, verdict});
  for (const ResultTable& table :
       {runs_table(result), times_table(result), counted_table(result), differences}) {
    if (table.heads.empty()) continue;
    std::vector<Column> columns;
    for (const std::string& head : table.heads)
      columns.push_back({.name = head,
                         .right = head != table.heads.front() && head != "RESULT",
                         .whole = head == "RESULT"});
    print_table(context, columns, table.rows);
    print("\n");
  }
  for (const auto* sentences : {&result.warnings, &result.disturbances, &result.facts})
    print_sentences(context, *sentences);
}

}  // namespace rdtd::bench
