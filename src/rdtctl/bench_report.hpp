// The result of bench as a table, as JSON, as one HTML file, and as comparisons. Pure functions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "output.hpp"
#include "rdtd/experiment/probe.hpp"
#include "rdtd/experiment/statistics.hpp"

namespace rdtd::bench {

enum : size_t { alone, with_noise, in_group, conditions };

// Of the cache that is divided, in ways; 0: not known.
struct CacheShare {
  unsigned ways = 0, noise_ways = 0;
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
  bool complete = true;  // no interruption or failure left rounds out
  size_t rounds_wanted = 0;
  std::array<std::vector<Sample>, conditions> samples;  // one of each full round
  std::array<CacheShare, conditions> shares;
  bool probe = false;
  std::array<experiment::ProbeTimes, conditions> times;  // of all runs, if a probe was measured
  std::string origin;                                    // as of origin_of()
  std::vector<std::string> facts;         // the machine and the policy, a sentence each
  std::vector<std::string> warnings;      // the same, of what makes the comparison pointless
  std::vector<std::string> disturbances;  // the same, of what makes the figures doubtful
};

// A head of each column, and a row of each condition.
struct ResultTable {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
};
[[nodiscard]] ResultTable runs_table(const BenchResult& result);
// Of a probe.
[[nodiscard]] ResultTable times_table(const BenchResult& result);
// The counts of the processor and the kernel, as medians. Without columns, nothing was counted.
[[nodiscard]] ResultTable counted_table(const BenchResult& result);

// "alone", "with noise", and of what the third has: "in 'redis'", "in pseudo_lock 'buffer'", "with
// noise in 'batch'", "in 'redis', with noise in 'batch'".
[[nodiscard]] std::string condition_name(const BenchResult& result, size_t condition);
// "with noise / alone" and "1.52 times as long (95%: 1.41 to 1.66)".
struct Comparison {
  std::string what, verdict;
  bool operator==(const Comparison&) const = default;
};
// Of each two conditions, and of the rate of the noise.
[[nodiscard]] std::vector<Comparison> comparisons(const BenchResult& result);
// All of them in a line.
[[nodiscard]] std::string sentence(const BenchResult& result);
[[nodiscard]] JsonValue bench_json(const BenchResult& result);
[[nodiscard]] std::string bench_html(const BenchResult& result);
void print_bench(const Context& context, const BenchResult& result);

}  // namespace rdtd::bench
