#include "rdtd/experiment/disturbance.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>

#include "rdtd/base/text.hpp"
#include "rdtd/experiment/statistics.hpp"

namespace rdtd::experiment {

namespace {

// Shares below these are what the kernel's ticks cannot tell from nothing.
constexpr double noticed_load = 0.03, noticed_steal = 0.005, noticed_frequency = 1.03;

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string& name_of(const std::pair<std::string, std::vector<double>>& frequencies) {
  return frequencies.first;
}

}  // namespace

std::map<unsigned, CpuTimes> parse_cpu_times(std::string_view stat) {
  std::map<unsigned, CpuTimes> out;
  for (const std::string_view line : split(stat, '\n')) {
    const auto words = split(line, ' ');
    if (!words[0].starts_with("cpu")) continue;
    const auto cpu = parse_unsigned<unsigned>(words[0].substr(3));
    if (!cpu) continue;
    // user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user time.
    enum { user, nice, system, idle, iowait, irq, softirq, steal, known };
    std::vector<uint64_t> ticks;
    for (const std::string_view word : words)
      if (const auto number = parse_unsigned<uint64_t>(word); number && ticks.size() < known)
        ticks.push_back(*number);
    if (ticks.size() < known) continue;
    CpuTimes times{.steal = ticks[steal],
                   .total = std::accumulate(ticks.begin(), ticks.end(), uint64_t{0})};
    times.busy = times.total - ticks[idle] - ticks[iowait] - ticks[steal];
    out[*cpu] = times;
  }
  return out;
}

Disturbance::Disturbance(std::string proc, std::string cpus, Place place)
    : proc_(std::move(proc)),
      cpus_(std::move(cpus)),
      place_(std::move(place)),
      beside_(without(place_.shared, place_.command)) {}

Disturbance::Times Disturbance::read_times() const {
  return parse_cpu_times(file_text(proc_ + "/stat"));
}

std::string Disturbance::read(const std::string& file) const {
  return std::string(trim(file_text(cpus_ + "/" + file)));
}

std::string Disturbance::read_cpu(const std::string& file) const {
  return read(fmt::format("cpu{}/cpufreq/{}", *place_.command.begin(), file));
}

// Intel's driver has the one file, other drivers have the other.
bool Disturbance::turbo() const {
  return read("intel_pstate/no_turbo") == "0" || read("cpufreq/boost") == "1";
}

void Disturbance::begin_run() { began_ = read_times(); }

void Disturbance::add(Sum& sum, const CpuSet& cpus, const Times& ended, double own_seconds) const {
  // The kernel's figures can fall: that of waiting for devices does, proc_stat(5).
  const auto passed = [](uint64_t before, uint64_t after) {
    return static_cast<double>(after - std::min(before, after));
  };
  double others = 0, steal = 0, total = 0;
  for (const unsigned cpu : cpus) {
    const auto before = began_.find(cpu), after = ended.find(cpu);
    if (before == began_.end() || after == ended.end()) continue;
    others += passed(before->second.busy, after->second.busy);
    steal += passed(before->second.steal, after->second.steal);
    total = std::max(total, passed(before->second.total, after->second.total));
  }
  sum.others += others - own_seconds * static_cast<double>(::sysconf(_SC_CLK_TCK));
  sum.steal += steal;
  sum.total += total;
}

void Disturbance::end_run(const OwnSeconds& own, const std::string& condition) {
  const Times ended = read_times();
  add(command_, place_.command, ended, own.command);
  add(others_, own.noise ? beside_ : without(beside_, place_.noise), ended, own.noise.value_or(0));
  const auto frequency = parse_unsigned<uint32_t>(read_cpu("scaling_cur_freq"));
  if (!frequency) return;
  auto of_condition = std::ranges::find(frequencies_, condition, name_of);
  if (of_condition == frequencies_.end())
    of_condition = frequencies_.emplace(of_condition, condition, std::vector<double>{});
  of_condition->second.push_back(*frequency);
}

std::vector<std::string> Disturbance::sentences() const {
  std::vector<std::string> out;
  const std::string command = cpu_words(place_.command);
  // Of several CPUs, in parts of one.
  const std::string of_command = place_.command.size() > 1 ? "a CPU on " + command : command;
  if (command_.others > noticed_load * command_.total)
    out.push_back(fmt::format("Other programs took {:.0f}% of {} during the runs.",
                              100 * command_.others / command_.total, of_command));
  if (others_.others > noticed_load * others_.total)
    out.push_back(fmt::format(
        "Other programs took {:.0f}% of a CPU on {} during the runs, which share the cache or the "
        "core.",
        100 * others_.others / others_.total, cpu_words(beside_)));
  if (command_.steal > noticed_steal * command_.total)
    out.push_back(fmt::format("A hypervisor took {:.1f}% of {} during the runs.",
                              100 * command_.steal / command_.total, of_command));
  if (auto sentence = frequency_sentence()) out.push_back(std::move(*sentence));
  if (const std::string governor = read_cpu("scaling_governor");
      !governor.empty() && governor != "performance")
    out.push_back(fmt::format(
        "The frequency governor of {} is '{}': with 'performance' the frequency changes less.",
        command, governor));
  if (turbo()) out.push_back("Turbo is on: the frequency depends on the load of the other CPUs.");
  return out;
}

std::string Disturbance::settings() const {
  const std::string governor = read_cpu("scaling_governor"), smt = read("smt/active");
  return fmt::format("Governor {}, turbo {}, {}.", governor.empty() ? "not known" : governor,
                     turbo() ? "on" : "off or not known",
                     smt == "1" ? "two or more threads a core" : "one thread a core");
}

std::optional<std::string> Disturbance::frequency_sentence() const {
  std::vector<double> all, medians;
  std::string each;
  for (const auto& [condition, values] : frequencies_) {
    all.insert(all.end(), values.begin(), values.end());
    medians.push_back(median(values));
    each += fmt::format("{}{:.2f} {}", each.empty() ? "" : ", ", medians.back() / 1e6, condition);
  }
  const auto differs = [](const std::vector<double>& values) {
    const auto [least, most] = std::ranges::minmax(values);
    return most > least * noticed_frequency;
  };
  if (all.empty() || !differs(all)) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(all);
  std::string out = fmt::format("{} ran at {:.2f} to {:.2f} GHz at the ends of the runs",
                                cpu_words(place_.command), least / 1e6, most / 1e6);
  // Then a ratio of two conditions is that of their frequencies too.
  if (differs(medians)) out += ", medians by condition: " + each;
  return out + ".";
}

}  // namespace rdtd::experiment
