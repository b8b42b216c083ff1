// The activity of tasks that run already, while they are measured: how long they use the CPUs, and
// how often an event of the processor's performance counters happens in them.
#pragma once

#include <sys/types.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "rdtd/proc/perf_events.hpp"

namespace rdtd {

// Until now, of those that are there; `proc` is /proc.
using CpuSeconds = std::map<pid_t, double>;
[[nodiscard]] CpuSeconds cpu_seconds_of(std::span<const pid_t> tasks, const std::string& proc);

// Of those that are in both: what another one had used before it came, or was moved, is not known.
struct UsedMeanwhile {
  double seconds = 0;
  size_t others = 0;  // tasks that came or went
  size_t came = 0;    // of these
};
[[nodiscard]] UsedMeanwhile used_between(const CpuSeconds& before, const CpuSeconds& after);

class TaskCounters {
 public:
  // A counter for each task, of which those that it starts are a part. It takes as many open files
  // as there are tasks: the limit of this process is raised if it has to be.
  TaskCounters(std::span<const pid_t> tasks, const PerfEvent& event);

  // To be called once, at the end.
  [[nodiscard]] double count();
  // A sentence if not all tasks could be counted; else empty.
  [[nodiscard]] std::string missing() const;

 private:
  std::vector<PerfEvents> counters_;
  size_t all_ = 0, refused_ = 0;  // tasks
  std::string why_;
};

}  // namespace rdtd
