// The workload that bench and suggest measure: a command or a built-in probe, and which of its
// numbers counts.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "measured_process.hpp"
#include "rdtd/experiment/probe.hpp"

namespace rdtd {

struct Workload {
  std::vector<std::string> command;
  std::string probe_text;
  std::optional<experiment::Probe> probe;  // instead of the command
  double seconds = 1;                      // of each run of the probe
  CpuSet cpus;                             // empty: one is chosen
  // A regular expression for the number among what the command prints, or "ipc", instructions per
  // cycle. Without it, the time: as time_name() says.
  std::string metric;

  [[nodiscard]] bool given() const { return !command.empty() || probe; }
  // "probe latency (8.00 MiB)", or the words of the command.
  [[nodiscard]] std::string text() const;
  // "ns", "s", or "" for a metric.
  [[nodiscard]] std::string unit() const;
  // Whether the number is a time, less of which is better.
  [[nodiscard]] bool is_time() const { return metric.empty(); }
  // Which time of a run is compared.
  [[nodiscard]] std::string time_name() const;
  // A process of it in the group, from its first instruction. The probe has the memory of the
  // device, as Probe::device.
  [[nodiscard]] Program program(std::string group, CpuSet on, std::string device = "") const;
};

// Of one run.
struct Numbers {
  double value = 0;                                // in the unit of the workload
  double cpu_seconds = 0, cpu_seconds_before = 0;  // as of Process::End
  std::vector<double> events;  // as hardware_events(); empty: the processor does not count
  std::string no_events;       // why
  experiment::ProbeTimes times;
};

// Of a process that has ended, at this time of CLOCK_MONOTONIC. Prints why there are none; the
// error is the exit code.
[[nodiscard]] std::expected<Numbers, int> numbers_of(const Workload& workload, Process& process,
                                                     uint64_t ended_at);

// "failed with status 1", from a status as of wait(2).
[[nodiscard]] std::string end_text(int status);
// Prints what failed and the last lines of the output of a program; returns the exit code.
int report_failure(const std::string& what, const std::string& output);

}  // namespace rdtd
