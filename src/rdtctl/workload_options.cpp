#include "workload_options.hpp"

#include <fmt/format.h>

#include <regex>

#include "command_line.hpp"

namespace rdtd {

namespace {
constexpr uint64_t least_cycles = 10;  // of the timer in a run
}

void add_workload_options(CLI::App& verb, Workload& workload) {
  refuse_empty(*verb.add_option("--metric", workload.metric,
                                "Compare the number that the command prints, or ipc, not its time")
                    ->type_name("REGEX"));
  refuse_empty(*verb.add_option("--probe", workload.probe_text,
                                "Measure latency[:SIZE] or timer[:PERIOD] instead of a command")
                    ->type_name("PROBE"));
  // From its first word on, the command's options are its own.
  verb.prefix_command()->fallthrough(false);
}

void check_length(const CLI::App& verb, const Workload& workload, const std::string& option) {
  if (!workload.command.empty() && verb.count(option) > 0)
    throw UsageError{fmt::format("{} is for --probe{}: a command takes its time", option,
                                 option == "--for" ? " and for tasks" : "")};
  if (!workload.probe || workload.probe->kind != experiment::Probe::Kind::timer) return;
  const double least = static_cast<double>(least_cycles * workload.probe->period) * 1e-9;
  if (workload.seconds < least)
    throw UsageError{fmt::format("{} of --probe {} must be at least {:g}, {} periods", option,
                                 workload.probe_text, least, least_cycles)};
}

void take_workload(const CLI::App& verb, Workload& workload, size_t marked) {
  workload.command = verb.remaining();
  if (!workload.command.empty() && workload.command.front().starts_with('-') &&
      workload.command.size() != marked)
    throw UsageError{
        fmt::format("unknown option '{}' of {}: '--' precedes a command that begins with '-'",
                    workload.command.front(), verb.get_name())};
  if (!workload.command.empty() && !workload.probe_text.empty())
    throw UsageError{fmt::format("{} takes either COMMAND or --probe, not both", verb.get_name())};
  if (!workload.probe_text.empty() && !workload.metric.empty() && workload.metric != "ipc")
    throw UsageError{"--metric REGEX is for a command: it does not go with --probe"};
  if (!workload.probe_text.empty()) workload.probe = experiment::parse_probe(workload.probe_text);
  if (!workload.probe_text.empty() && !workload.probe)
    throw UsageError{
        fmt::format("invalid PROBE '{}' of --probe: use latency, latency:384K, timer or "
                    "timer:500us, with 4K to 4G or 50us to 1s",
                    workload.probe_text)};
  try {
    (void)std::regex(workload.metric);
  } catch (const std::regex_error&) {
    throw UsageError{fmt::format("invalid REGEX '{}' of --metric", workload.metric)};
  }
}

}  // namespace rdtd
