// The result of suggest for people and programs. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "output.hpp"
#include "rdtd/model/resource.hpp"

namespace rdtd {

using experiment::AmountRuns, experiment::Better;

// The figure that is compared: its name in a sentence, and how it is shown.
struct Measure {
  std::string name = "the traffic";
  std::string unit;      // of the values as they are shown
  double unit_size = 1;  // value / unit_size is shown
  Better better = Better::lower;
  double negligible = 0;  // as of find_knee()
  Value value = Value::of_workload;

  // "12.5 MiB/s".
  [[nodiscard]] std::string text_of(double number) const;
};

struct SuggestResult {
  std::string group, workload;  // workload: "" if the tasks of the group were measured
  bool command = false;         // that is a command
  Resource resource = Resource::L3;
  unsigned least_ways = 1;  // that the kernel lets a group have
  Measure measure;
  bool complete = true;      // no interruption or failure left rounds or amounts out
  size_t rounds_wanted = 0;  // of the last step
  std::vector<AmountRuns> curve;
  std::vector<unsigned> unbearable;  // amounts that --max-loss left out
  experiment::Knee knee;
  std::string policy;                            // of the knee, without what the policy has anyway
  std::string place;                             // where that belongs: "FILE:LINE"
  std::map<std::string, unsigned> others, then;  // ways now, and with the knee
  std::vector<std::string> disturbances;  // of what makes the figures doubtful, a sentence each
  std::vector<std::string> facts;         // the same, where and how the workload ran

  std::string origin;  // as of origin_of()

  // Whether the knee tells how much to allocate.
  [[nodiscard]] bool conclusive() const;
  [[nodiscard]] bool less_is_unbearable() const;
};

// A sentence if the first step, which has so many of all amounts, was interrupted or failed.
[[nodiscard]] std::optional<std::string> lacks_second_step(const Measured& first, size_t amounts,
                                                           size_t all);
[[nodiscard]] std::string verdict(const SuggestResult& result);
// The cost of the knee to other groups, a line each; none for bandwidth.
[[nodiscard]] std::vector<std::string> cost_lines(const SuggestResult& result);
[[nodiscard]] JsonValue suggest_json(const SuggestResult& result);
[[nodiscard]] std::string suggest_html(const SuggestResult& result);
void print_suggestion(const Context& context, const SuggestResult& result);

}  // namespace rdtd
