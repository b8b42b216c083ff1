// The result of bench as a table, as JSON, as one HTML file, and as a sentence. Pure functions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "output.hpp"
#include "rdtd/experiment/probe.hpp"
#include "rdtd/experiment/statistics.hpp"

namespace rdtd::bench {

enum Condition : size_t { alone, with_noise, in_group, conditions };

struct Sample {
  double value = 0;  // in the unit of the result
  double cpu_seconds = 0;
  double noise_rate = 0;  // bytes/s
};

struct BenchResult {
  std::string command, group;
  std::string unit;  // "s", "ns", or empty for a metric
  bool time = true;  // the value is a time, less of which is better
  bool noise_has_rate = false;
  std::array<std::vector<Sample>, conditions> samples;  // one of each full round
  bool probe = false;
  std::array<experiment::ProbeTimes, conditions> times;  // of all runs, if a probe was measured
  std::vector<std::string> facts;  // the machine and the policy, a sentence each
};

// "alone", "with noise", "in 'redis'".
[[nodiscard]] std::string condition_name(const BenchResult& result, size_t condition);
[[nodiscard]] std::string sentence(const BenchResult& result);
[[nodiscard]] JsonValue bench_json(const BenchResult& result);
[[nodiscard]] std::string bench_html(const BenchResult& result);
void print_bench(const Context& context, const BenchResult& result);

}  // namespace rdtd::bench
