// What else the machine did while something was measured on a CPU: other programs, a hypervisor,
// and a frequency that changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

// Of one CPU since the boot, in ticks of the kernel (proc(5), /proc/stat).
struct CpuTimes {
  uint64_t busy = 0;   // without idle time, waiting for devices, and stolen time
  uint64_t steal = 0;  // a hypervisor ran something else
  uint64_t total = 0;
  bool operator==(const CpuTimes&) const = default;
};
[[nodiscard]] std::optional<CpuTimes> parse_cpu_times(std::string_view stat, unsigned cpu);

class Disturbance {
 public:
  // `proc` is /proc, `cpus` is /sys/devices/system/cpu.
  Disturbance(std::string proc, std::string cpus, unsigned cpu);

  // Around each run; the CPU time of what was measured is no disturbance.
  void begin_run();
  void end_run(double cpu_seconds);

  // A sentence for each thing that may have changed the figures; none: nothing was found.
  [[nodiscard]] std::vector<std::string> sentences() const;

 private:
  [[nodiscard]] std::optional<CpuTimes> read_times() const;
  [[nodiscard]] std::string read_cpu(const std::string& file) const;
  [[nodiscard]] std::optional<std::string> frequency_sentence() const;

  std::string proc_, cpus_;
  unsigned cpu_;
  std::optional<CpuTimes> began_;
  double own_ticks_ = 0, busy_ = 0, steal_ = 0, total_ = 0;  // of all runs
  std::vector<double> frequencies_;                          // kHz, at the end of each run
};

}  // namespace rdtd
