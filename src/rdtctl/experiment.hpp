// The engine of bench and suggest: measures a workload under several conditions, in rounds that
// have each condition once, and collects a sample of each. It decides nothing about the result.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "rdtd/experiment/disturbance.hpp"
#include "rdtd/experiment/knee.hpp"
#include "rdtd/experiment/order.hpp"
#include "usage.hpp"
#include "workload.hpp"

namespace rdtd {

struct Trial {
  std::string name;    // for people
  std::string policy;  // of a lease during each run; "": none
  std::string group;   // of the workload
  // Of the noise. Nothing: the processes of the noise use their CPUs, but no cache that is shared,
  // so that nothing but the memory differs.
  std::optional<std::string> noise_group;
  std::string device;   // of a region that is the probe's memory
  unsigned amount = 0;  // of suggest
};

// Of one run.
struct Sample {
  double value = 0;  // in the unit of the workload
  double cpu_seconds = 0;
  double noise_rate = 0;  // bytes/s
  // As hardware_events(); empty: the processor did not count.
  std::vector<double> events;
  // Of the workload's group, or of its monitoring group; absent: the kernel did not count all.
  std::optional<double> occupancy;  // bytes of cache when it ended
  std::optional<double> traffic;    // bytes/s of memory
};

// The figure of a run that is its value.
enum class Value {
  of_workload,
  traffic,               // bytes of the run
  traffic_rate,          // bytes/s
  traffic_of_tasks,      // bytes for each second that the tasks of the group used the CPUs
  instructions_of_tasks  // in a second
};

struct ExperimentSetup {
  std::vector<Trial> conditions;
  Workload workload;  // none: the tasks of the group, for `workload.seconds`
  experiment::Place place;
  size_t rounds = 9;
  std::string step;     // as of Progress; "": the only one
  std::string lease;    // the name of the conditions' leases
  std::string monitor;  // of the monitoring group in the workload's group; "": none
  UniqueFd held;        // a lease that all runs need; may be none
  unsigned streams = 0;
  std::vector<std::string> noise_commands;  // for the shell
  bool evicts = false;                      // empties the caches of that level before each run
  Value value = Value::of_workload;
  std::function<std::string(double)> value_text;  // of a value, for people
  // Of the round that is not counted: how much worse than the best a value may be, as of loss_of().
  // A condition that is worse is left out, as are those with a smaller amount.
  std::optional<double> most_loss;
  experiment::Better better = experiment::Better::lower;
};

struct Measured {
  int exit = Exit::ok;  // or why it ended early; then after a note
  size_t rounds_wanted = 0;
  std::vector<std::vector<Sample>> samples;   // by condition, of each full round
  std::vector<experiment::ProbeTimes> times;  // by condition, of all these
  std::vector<std::string> disturbances;      // sentences
  std::string settings;                       // as of Disturbance
  [[nodiscard]] size_t rounds() const;        // the most that a condition has
};

[[nodiscard]] Measured measure(const Context& context, Client& client, ExperimentSetup setup);

// The circumstances that the figures of the workload depend on, a sentence each: `settings` of the
// machine, how much a probe read, the load.
[[nodiscard]] std::vector<std::string> circumstances(const Context& context,
                                                     const Workload& workload,
                                                     const std::string& settings);

}  // namespace rdtd
