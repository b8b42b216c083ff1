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
  // As hardware_events(); empty: the processor did not count.
  std::vector<double> events;
  // Of the command's monitoring group; absent: the kernel did not count.
  std::optional<double> occupancy;  // bytes of cache when the command ended
  std::optional<double> traffic;    // bytes/s of memory
};

struct BenchResult {
  std::string command;
  // Of the third condition; empty: it does not differ from the second in this.
  std::string group;        // of the command
  std::string pseudo_lock;  // the region that is the probe's memory
  std::string noise_group;
  std::string unit;  // "s", "ns", or empty for a metric
  bool time = true;  // the value is a time, less of which is better
  bool noise_has_rate = false;
  std::array<std::vector<Sample>, conditions> samples;  // one of each full round
  bool probe = false;
  std::array<experiment::ProbeTimes, conditions> times;  // of all runs, if a probe was measured
  std::vector<std::string> facts;         // the machine and the policy, a sentence each
  std::vector<std::string> disturbances;  // the same, of what makes the figures doubtful
};

// What the processor and the kernel counted, medians: a head of each column, and a row of each
// condition. Without columns, nothing was counted.
struct CountedTable {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
};
[[nodiscard]] CountedTable counted_table(const BenchResult& result);

// "alone", "with noise", and of what the third has: "in 'redis'", "in pseudo_lock 'buffer'", "with
// noise in 'batch'", "in 'redis', with noise in 'batch'".
[[nodiscard]] std::string condition_name(const BenchResult& result, size_t condition);
[[nodiscard]] std::string sentence(const BenchResult& result);
[[nodiscard]] JsonValue bench_json(const BenchResult& result);
[[nodiscard]] std::string bench_html(const BenchResult& result);
void print_bench(const Context& context, const BenchResult& result);

}  // namespace rdtd::bench
