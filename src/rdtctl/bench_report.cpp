#include "bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "rdtd/proc/perf_events.hpp"

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
  if (!found->interval) return times_text(result, *found) + ", of too few rounds for an interval";
  if (!found->differs()) return "no difference beyond the scatter";
  return times_text(result, *found);
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

std::string number(double value) { return fmt::format("{:.4g}", value); }

JsonValue ratio_json(const BenchResult& result, size_t condition, size_t base) {
  const auto found = ratio(result, condition, base);
  JsonValue out = {{"condition", condition_name(result, condition)},
                   {"base", condition_name(result, base)}};
  if (found) out["ratio"] = found->estimate;
  if (found && found->interval) {
    out["differs"] = found->differs();
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

CountedTable counted_table(const BenchResult& result) {
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
  CountedTable out{{"CONDITION"}, std::vector<std::vector<std::string>>(conditions)};
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
  return out.heads.size() > 1 ? out : CountedTable{};
}

std::string sentence(const BenchResult& result) {
  const std::string what = result.time ? "the command takes " : "the number is ";
  const auto phrase = [&](size_t condition, size_t base) {
    const auto found = ratio(result, condition, base);
    const bool number = found && (found->differs() || !found->interval);
    return (number ? what : "") + verdict(result, condition, base);
  };
  std::string third = third_condition(result);
  std::string out = fmt::format("With the noise, compared with alone: {}; {}: {}. ",
                                phrase(with_noise, alone), third, phrase(in_group, alone));
  third.front() = third.front() == 'i' ? 'I' : 'W';
  out += fmt::format("{}, compared with the noise without it: {}", third,
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
      for (size_t k = 0; k < sample.events.size(); ++k)
        run[hardware_events()[k].name] = sample.events[k];
      if (sample.occupancy) run["occupancy_bytes"] = *sample.occupancy;
      if (sample.traffic) run["traffic_bytes_per_second"] = *sample.traffic;
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
          {"disturbances", result.disturbances},
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
  if (const auto [heads, counted] = counted_table(result); !heads.empty()) {
    std::vector<Column> columns;
    for (const std::string& head : heads) columns.push_back({head, head != heads.front()});
    print("\n");
    print_table(context, columns, counted);
  }
  print("\n{}\n", sentence(result));
  for (const std::string& disturbance : result.disturbances) print("{}\n", disturbance);
}

}  // namespace rdtd::bench
