// The options of bench, and what is wrong with them.
#include <fmt/format.h>

#include <regex>

#include "verb_table.hpp"

namespace rdtd {

void VerbTable::add_bench() {
  CLI::App& bench =
      add("bench", "Measure a command alone, beside noise, and in a group beside noise",
          "rdtctl bench -g redis --noise stream --probe latency:384K", {});
  verbs::BenchOptions& options = given_.bench;
  refuse_empty(*bench.add_option("-g,--group", options.group, "The group of the third condition")
                    ->type_name("GROUP"));
  for (const Resource resource : {Resource::L2, Resource::L3, Resource::MB, Resource::SMBA})
    refuse_empty(
        *bench
             .add_option("--" + resource_key(resource), options.lease.amounts[resource],
                         fmt::format("Make that group, with this much {}", to_string(resource)))
             ->type_name("AMOUNT"));
  add_bench_noise(bench);
  auto* rounds = bench.add_option("--rounds", options.rounds,
                                  "Counted runs of each condition, 6 to 99 (default 9)");
  allow_numbers(*rounds->type_name("N"), 6, 99);
  refuse_empty(*bench
                    .add_option("--metric", options.metric,
                                "Compare the number that the command prints, not its time")
                    ->type_name("REGEX"));
  refuse_empty(*bench
                    .add_option("--probe", options.probe_text,
                                "Measure latency[:SIZE] or timer[:PERIOD] instead of a command")
                    ->type_name("PROBE"));
  auto* seconds = bench.add_option("--seconds", options.seconds,
                                   "The length of each run of a probe, 0.1 to 60 (default 1)");
  allow_numbers(*seconds->type_name("SECONDS"), 0.1, 60);
  refuse_empty(*bench.add_option("--html", options.html, "Write the result to this file too")
                    ->type_name("FILE"));
  // From its first word on, the command's options are its own.
  bench.prefix_command()->fallthrough(false);
  bench.callback([this, &bench] { exit_ = this->bench(bench); });
}

void VerbTable::add_bench_noise(CLI::App& bench) {
  refuse_empty(
      *bench
           .add_option("--noise", given_.noise, "stream[:N]: N processes use the cache (default 1)")
           ->type_name("NOISE")
           ->allow_extra_args(false));
  refuse_empty(*bench
                    .add_option("--noise-cmd", given_.bench.noise_commands,
                                "A command of the shell that is the noise")
                    ->type_name("CMD")
                    ->allow_extra_args(false));
  refuse_empty(*bench
                    .add_option("--noise-group", given_.bench.noise_group,
                                "The group of the noise; default is the resctrl root")
                    ->type_name("GROUP"));
}

int VerbTable::bench(const CLI::App& verb) {
  check_live("bench");
  verbs::BenchOptions options = given_.bench;
  options.command = verb.remaining();
  if (!options.command.empty() && options.command.front().starts_with('-') &&
      options.command.size() != marked_)
    throw UsageError{
        fmt::format("unknown option '{}' of bench: '--' precedes a command that "
                    "begins with '-'",
                    options.command.front())};
  std::erase_if(options.lease.amounts, [](const auto& amount) { return amount.second.empty(); });
  if (options.lease.amounts.empty() == options.group.empty())
    throw UsageError{options.group.empty()
                         ? "bench requires --group GROUP, or an amount such as --l3 \"2 ways\""
                         : "bench takes either --group or the amounts of a group of its own"};
  if (options.command.empty() == options.probe_text.empty())
    throw UsageError{options.command.empty() ? "bench requires COMMAND or --probe PROBE"
                                             : "bench takes either COMMAND or --probe, not both"};
  if (!options.probe_text.empty() && !options.metric.empty())
    throw UsageError{"--metric is for a command: it does not go with --probe"};
  if (!options.probe_text.empty() && !(options.probe = experiment::parse_probe(options.probe_text)))
    throw UsageError{
        fmt::format("invalid PROBE '{}' of --probe: use latency, latency:384K, timer or "
                    "timer:500us, with 4K to 4G or 50us to 1s",
                    options.probe_text)};
  for (const std::string& noise : given_.noise) {
    const auto streams = experiment::parse_noise(noise);
    if (!streams)
      throw UsageError{
          fmt::format("invalid NOISE '{}' of --noise: use stream or stream:N, with N "
                      "from 1 to 64",
                      noise)};
    options.streams += *streams;
  }
  if (options.streams == 0 && options.noise_commands.empty()) options.streams = 1;
  try {
    (void)std::regex(options.metric);
  } catch (const std::regex_error&) {
    throw UsageError{fmt::format("invalid REGEX '{}' of --metric", options.metric)};
  }
  return verbs::bench(context_, options);
}

}  // namespace rdtd
