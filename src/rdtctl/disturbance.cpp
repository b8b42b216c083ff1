#include "disturbance.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// Shares below these are what the kernel's ticks cannot tell from nothing.
constexpr double noticed_load = 0.03, noticed_steal = 0.005, noticed_frequency = 1.03;

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::optional<CpuTimes> parse_cpu_times(std::string_view stat, unsigned cpu) {
  const std::string begin = fmt::format("cpu{} ", cpu);
  for (const std::string_view line : split(stat, '\n')) {
    if (!line.starts_with(begin)) continue;
    // user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user time.
    enum { user, nice, system, idle, iowait, irq, softirq, steal, known };
    std::vector<uint64_t> ticks;
    for (const std::string_view word : split(line.substr(begin.size()), ' '))
      if (const auto number = parse_unsigned<uint64_t>(word); number && ticks.size() < known)
        ticks.push_back(*number);
    if (ticks.size() < known) return std::nullopt;
    CpuTimes out{.steal = ticks[steal],
                 .total = std::accumulate(ticks.begin(), ticks.end(), uint64_t{0})};
    out.busy = out.total - ticks[idle] - ticks[iowait] - ticks[steal];
    return out;
  }
  return std::nullopt;
}

Disturbance::Disturbance(std::string proc, std::string cpus, unsigned cpu)
    : proc_(std::move(proc)), cpus_(std::move(cpus)), cpu_(cpu) {}

std::optional<CpuTimes> Disturbance::read_times() const {
  return parse_cpu_times(file_text(proc_ + "/stat"), cpu_);
}

std::string Disturbance::read_cpu(const std::string& file) const {
  return std::string(trim(file_text(fmt::format("{}/cpu{}/cpufreq/{}", cpus_, cpu_, file))));
}

void Disturbance::begin_run() { began_ = read_times(); }

void Disturbance::end_run(double cpu_seconds) {
  const auto ended = read_times();
  if (!began_ || !ended) return;
  own_ticks_ += cpu_seconds * static_cast<double>(::sysconf(_SC_CLK_TCK));
  busy_ += static_cast<double>(ended->busy - began_->busy);
  steal_ += static_cast<double>(ended->steal - began_->steal);
  total_ += static_cast<double>(ended->total - began_->total);
  if (const auto frequency = parse_unsigned<uint32_t>(read_cpu("scaling_cur_freq")))
    frequencies_.push_back(*frequency);
}

std::vector<std::string> Disturbance::sentences() const {
  std::vector<std::string> out;
  const auto percent = [this](double ticks) { return 100 * ticks / total_; };
  if (total_ > 0 && (busy_ - own_ticks_) / total_ > noticed_load)
    out.push_back(fmt::format("Other programs took {:.0f}% of CPU {} during the runs.",
                              percent(busy_ - own_ticks_), cpu_));
  if (total_ > 0 && steal_ / total_ > noticed_steal)
    out.push_back(
        fmt::format("A hypervisor took {:.1f}% of CPU {} during the runs.", percent(steal_), cpu_));
  if (auto sentence = frequency_sentence()) out.push_back(std::move(*sentence));
  if (const std::string governor = read_cpu("scaling_governor");
      !governor.empty() && governor != "performance")
    out.push_back(fmt::format(
        "The frequency governor of CPU {} is '{}': with 'performance' the frequency changes less.",
        cpu_, governor));
  // Intel's driver has the one file, other drivers have the other.
  if (trim(file_text(cpus_ + "/intel_pstate/no_turbo")) == "0" ||
      trim(file_text(cpus_ + "/cpufreq/boost")) == "1")
    out.push_back("Turbo is on: the frequency depends on the load of the other CPUs.");
  return out;
}

std::optional<std::string> Disturbance::frequency_sentence() const {
  if (frequencies_.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(frequencies_);
  if (most <= least * noticed_frequency) return std::nullopt;
  return fmt::format("CPU {} ran at {:.2f} to {:.2f} GHz at the ends of the runs.", cpu_,
                     least / 1e6, most / 1e6);
}

}  // namespace rdtd
