#include "workload.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <regex>

#include "context.hpp"
#include "print.hpp"
#include "printed_number.hpp"
#include "rdtd/base/text.hpp"
#include "size_text.hpp"

namespace rdtd {

namespace {

constexpr size_t shown_lines = 10;
constexpr unsigned longest_match_seconds = 10;
constexpr const char* instructions_per_cycle = "ipc";

std::string last_lines(const std::string& text) {
  const std::string_view all = trim(text);
  size_t at = all.size(), lines = 0;
  while (at > 0 && lines < shown_lines) lines += all[--at] == '\n' ? 1 : 0;
  return std::string(trim(all.substr(at)));
}

}  // namespace

std::string Workload::text() const {
  if (!probe) return fmt::format("{}", fmt::join(command, " "));
  return fmt::format("probe {}{}", probe_text,
                     probe->size == 0 ? "" : fmt::format(" ({})", size_text(probe->size)));
}

std::string Workload::unit() const {
  if (!metric.empty()) return "";
  return probe ? "ns" : "s";
}

std::string Workload::time_name() const {
  return probe ? experiment::name_of_compared(*probe) : "the time";
}

Program Workload::program(std::string group, CpuSet on, std::string device) const {
  std::optional<experiment::Probe> placed = probe;
  if (placed) placed->device = std::move(device);
  const auto run = [probe = std::move(placed), seconds = seconds](Shared& shared) {
    const auto done = experiment::run_probe(*probe, seconds, shared.times);
    return done ? Error{} : done.error();
  };
  const bool reads_output = !metric.empty() && metric != instructions_per_cycle;
  return {command, run, std::move(group), std::move(on), true, reads_output};
}

std::string end_text(int status) {
  return WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                             : fmt::format("failed with status {}", WEXITSTATUS(status));
}

int report_failure(const std::string& what, const std::string& output) {
  note("rdtctl: {}\n", what);
  if (const std::string lines = last_lines(output); !lines.empty()) note("{}\n", lines);
  return Exit::failed;
}

std::expected<Numbers, int> numbers_of(const Workload& workload, Process& process,
                                       uint64_t ended_at) {
  const auto end = process.wait();
  const std::string name = workload.probe ? "the probe" : "the command";
  if (end.status != 0)
    return std::unexpected(report_failure(name + " " + end_text(end.status), process.output()));
  Numbers out{.cpu_seconds = end.cpu_seconds,
              .cpu_seconds_before = end.cpu_seconds_before,
              .times = process.shared().times};
  const auto counts = process.counts();
  if (counts)
    out.events = *counts;
  else
    out.no_events = counts.error().text();
  if (workload.metric == instructions_per_cycle) {
    if (!counts) return std::unexpected(report_failure(counts.error().text(), ""));
    out.value = out.events.at(1) > 0 ? out.events.at(0) / out.events.at(1) : 0;
  } else if (!workload.metric.empty()) {
    std::expected<double, std::string> number;
    try {
      number = printed_number_within(longest_match_seconds, process.output(),
                                     std::regex(workload.metric));
    } catch (const std::regex_error&) {
      return std::unexpected(report_failure(
          "--metric takes too long or too much memory for a line of the output", ""));
    }
    if (!number && !number.error().empty())
      return std::unexpected(report_failure(
          fmt::format("--metric matches '{}', which is no plain number", printable(number.error())),
          process.output()));
    if (!number)
      return std::unexpected(
          report_failure("the command printed no number that --metric matches", process.output()));
    if (*number < 0)
      return std::unexpected(report_failure(
          fmt::format("the command printed {}: numbers below 0 cannot be compared", *number), ""));
    out.value = *number;
  } else if (workload.probe) {
    out.value = experiment::compared_time(*workload.probe, out.times);
  } else {
    out.value = static_cast<double>(ended_at - process.shared().started) * 1e-9;
  }
  return out;
}

}  // namespace rdtd
