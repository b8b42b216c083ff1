// The options that bench and suggest have in common: what they measure.
#pragma once

#include <CLI/CLI.hpp>

#include "workload.hpp"

namespace rdtd {

// --metric, --probe, and a command behind them.
void add_workload_options(CLI::App& verb, Workload& workload);

// The command that is left of the command line; `marked` is the number of words after "--". Throws
// UsageError if what was given makes no sense.
void take_workload(const CLI::App& verb, Workload& workload, size_t marked);
// Throws UsageError if the option that gives the length of a run does not go with what it runs.
void check_length(const CLI::App& verb, const Workload& workload, const std::string& option);

}  // namespace rdtd
