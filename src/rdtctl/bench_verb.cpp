// The options of bench, and what is wrong with them.
#include <fmt/format.h>

#include "workload_options.hpp"
#include "verb_table.hpp"

namespace rdtd {

namespace {

void check_third_condition(const verbs::BenchOptions& options) {
  const bool own = !options.lease.amounts.empty();
  const int given =
      (own ? 1 : 0) + (options.group.empty() ? 0 : 1) + (options.pseudo_lock.empty() ? 0 : 1);
  if (given == 0 && options.noise_group.empty())
    throw UsageError{
        "bench requires --group GROUP, an amount such as --l3 \"2 ways\", --noise-group "
        "or --pseudo-lock"};
  if (given > 1)
    throw UsageError{options.pseudo_lock.empty()
                         ? "bench takes either --group or the amounts of a group of its own"
                         : "bench takes either --pseudo-lock or a group of the command"};
  if (options.noise_group == "default")
    throw UsageError{"the noise is in the default group without --noise-group too"};
  if (!options.pseudo_lock.empty() && !options.workload.command.empty())
    throw UsageError{"--pseudo-lock is for --probe: bench does not know a command's memory"};
}

}  // namespace

void VerbTable::add_bench() {
  CLI::App& bench =
      add("bench", "Measure a command alone, beside noise, and in a group beside noise",
          "rdtctl bench -g redis --noise stream --probe latency:384K", {});
  verbs::BenchOptions& options = given_.bench;
  refuse_empty(*bench
                    .add_option("-g,--group", options.group,
                                "The group of the command under the third condition")
                    ->type_name("GROUP"));
  for (const Resource resource : {Resource::L2, Resource::L3, Resource::MB, Resource::SMBA})
    refuse_empty(
        *bench
             .add_option("--" + resource_key(resource), options.lease.amounts[resource],
                         fmt::format("Make that group, with this much {}", to_string(resource)))
             ->type_name("AMOUNT"));
  bench.add_flag("--exclusive", options.lease.exclusive,
                 "With an amount: no other group may fill the ways of that group");
  refuse_empty(*bench
                    .add_option("--pseudo-lock", options.pseudo_lock,
                                "The third condition: the probe's memory is this region")
                    ->type_name("REGION"));
  add_bench_noise(bench);
  auto* rounds = bench.add_option("--rounds", options.rounds,
                                  "Counted runs of each condition, 6 to 99 (default 9)");
  allow_numbers(*rounds->type_name("N"), 6, 99);
  add_workload_options(bench, options.workload);
  auto* seconds = bench.add_option("--seconds", options.workload.seconds,
                                   "The length of each run of a probe, 0.1 to 60 (default 1)");
  allow_numbers(*seconds->type_name("SECONDS"), 0.1, 60);
  refuse_empty(*bench.add_option("--html", options.html, "Write the result to this file too")
                    ->type_name("FILE"));
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
                                "The group of the noise under the third condition")
                    ->type_name("GROUP"));
}

int VerbTable::bench(const CLI::App& verb) {
  check_live("bench");
  verbs::BenchOptions options = given_.bench;
  take_workload(verb, options.workload, marked_);
  check_length(verb, options.workload, "--seconds");
  std::erase_if(options.lease.amounts, [](const auto& amount) { return amount.second.empty(); });
  check_third_condition(options);
  if (options.lease.exclusive && options.lease.amounts.empty())
    throw UsageError{"--exclusive requires an amount, such as --l3 \"2 ways\""};
  if (!options.workload.given()) throw UsageError{"bench requires COMMAND or --probe PROBE"};
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
  return verbs::bench(context_, options);
}

}  // namespace rdtd
