// The other activity of the machine while something was measured: other programs on the CPUs that
// share a cache or a core with it, a hypervisor, and a frequency that changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rdtd/experiment/placement.hpp"

namespace rdtd::experiment {

// Of one CPU since the boot, in ticks of the kernel (proc(5), /proc/stat).
struct CpuTimes {
  uint64_t busy = 0;   // without idle time, waiting for devices, and stolen time
  uint64_t steal = 0;  // a hypervisor ran something else
  uint64_t total = 0;
  bool operator==(const CpuTimes&) const = default;
};
[[nodiscard]] std::map<unsigned, CpuTimes> parse_cpu_times(std::string_view stat);

// The CPU time of what was measured, and of the noise: no disturbance.
struct OwnSeconds {
  double command = 0;
  std::optional<double> noise;  // nothing: not known, so that its CPUs tell nothing
};

class Disturbance {
 public:
  // `proc` is /proc, `cpus` is /sys/devices/system/cpu.
  Disturbance(std::string proc, std::string cpus, Place place);

  // Around each run. `condition`: for people; conditions with different names are compared.
  void begin_run();
  void end_run(const OwnSeconds& own, const std::string& condition);

  // A sentence for each thing that may have changed the figures; none: nothing was found.
  [[nodiscard]] std::vector<std::string> sentences() const;
  // The settings that the figures depend on anyway: the governor, turbo, and threads of a core.
  [[nodiscard]] std::string settings() const;

 private:
  // Of some CPUs in all runs, in ticks.
  struct Sum {
    double others = 0, steal = 0, total = 0;  // total: of one CPU
  };
  using Times = std::map<unsigned, CpuTimes>;

  [[nodiscard]] Times read_times() const;
  void add(Sum& sum, const CpuSet& cpus, const Times& ended, double own_seconds) const;
  [[nodiscard]] std::string read(const std::string& file) const;
  [[nodiscard]] std::string read_cpu(const std::string& file) const;
  [[nodiscard]] bool turbo() const;
  [[nodiscard]] std::optional<std::string> frequency_sentence() const;

  std::string proc_, cpus_;
  Place place_;
  CpuSet beside_;  // the CPUs of the cache and of the command's cores, without the command's
  Times began_;
  Sum command_, others_;
  // At the end of each run, in kHz, by condition, in the order in which these came first.
  std::vector<std::pair<std::string, std::vector<double>>> frequencies_;
};

}  // namespace rdtd::experiment
