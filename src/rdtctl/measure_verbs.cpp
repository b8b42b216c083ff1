// The options of bench and suggest, and what is wrong with them.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "command_line.hpp"
#include "rdtd/base/text.hpp"
#include "verb_table.hpp"

namespace rdtd {

namespace {

constexpr uint64_t least_cycles = 10;  // of the timer in a run

// --metric, --probe, --cpus, and a command behind them.
void add_workload_options(CLI::App& verb, Workload& workload, std::string& cpus) {
  refuse_empty(*verb.add_option("--metric", workload.metric,
                                "Compare the number that the command prints, or ipc, not its time")
                    ->type_name("REGEX"));
  refuse_empty(*verb.add_option("--probe", workload.probe_text,
                                "Measure latency[:SIZE] or timer[:PERIOD[:SIZE]], not a command")
                    ->type_name("PROBE"));
  refuse_empty(
      *verb.add_option("--cpus", cpus, "Run it on these CPUs; default: one of the last core")
           ->type_name("LIST"));
  // From its first word on, the command's options are its own.
  verb.prefix_command()->fallthrough(false);
}

// Throws UsageError if the option that gives the length of a run does not go with what it runs.
void check_length(const CLI::App& verb, const Workload& workload, const std::string& option) {
  if (!workload.command.empty() && verb.count(option) > 0)
    throw UsageError{
        fmt::format("{} is the length of a {}; a command runs until it ends", option,
                    option == "--for" ? "measurement of a probe or of tasks" : "probe's run")};
  if (!workload.probe || workload.probe->kind != experiment::Probe::Kind::timer) return;
  const double least = static_cast<double>(least_cycles * workload.probe->period) * 1e-9;
  if (workload.seconds < least)
    throw UsageError{fmt::format("{} of --probe {} must be at least {:g}, {} periods", option,
                                 workload.probe_text, least, least_cycles)};
}

// Throws UsageError if what was given makes no sense.
void take_workload(const CLI::App& verb, Workload& workload, const std::string& cpus,
                   const std::vector<std::string>& marked) {
  const auto list = parse_cpu_list(cpus);
  if (!list)
    throw UsageError{fmt::format("invalid LIST '{}' of --cpus: use CPUs such as 4-7,12", cpus)};
  workload.cpus = *list;
  workload.command = command_of(verb, marked);
  if (!workload.command.empty() && !workload.probe_text.empty())
    throw UsageError{fmt::format("{} takes either COMMAND or --probe, not both", verb.get_name())};
  if (!workload.probe_text.empty() && !workload.metric.empty() && workload.metric != "ipc")
    throw UsageError{"--metric REGEX is for a command: it does not go with --probe"};
  if (!workload.probe_text.empty()) workload.probe = experiment::parse_probe(workload.probe_text);
  if (!workload.probe_text.empty() && !workload.probe)
    throw UsageError{
        fmt::format("invalid PROBE '{}' of --probe: use latency, latency:8M, timer, timer:500us "
                    "or timer:500us:8M, with 4K to 4G or 50us to 1s",
                    workload.probe_text)};
  try {
    (void)std::regex(workload.metric);
  } catch (const std::regex_error&) {
    throw UsageError{fmt::format("invalid REGEX '{}' of --metric", workload.metric)};
  }
}

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

constexpr const char* traffic = "traffic";

// "2-10", "2..10"
void read_range(const std::string& range, verbs::SuggestOptions& options) {
  const size_t dash = std::min(range.find('-'), range.find(".."));
  const size_t second =
      dash + (range.substr(std::min(dash, range.size())).starts_with("..") ? 2 : 1);
  const auto number = [&](size_t from, size_t length) {
    return from > range.size() ? std::nullopt
                               : parse_unsigned<unsigned>(range.substr(from, length));
  };
  const auto from = number(0, dash),
             to = dash == std::string::npos ? from : number(second, std::string::npos);
  if (!from || !to || *from < 1 || *to <= *from)
    throw UsageError{
        fmt::format("invalid FROM-TO '{}' of --ways: use two numbers of ways such as 2-10", range)};
  options.from = *from;
  options.to = *to;
}

}  // namespace

void VerbTable::add_bench() {
  CLI::App& bench =
      add("bench", "Measure a command (1) alone, (2) beside noise, (3) beside noise in a group",
          "rdtctl bench -g redis --noise stream --probe latency", {});
  verbs::BenchOptions& options = given_.bench;
  refuse_empty(*bench
                    .add_option("-g,--group", options.group,
                                "The group of the command under the third condition")
                    ->type_name("GROUP"));
  add_amounts(bench, options.lease, "Make that group");
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
  add_workload_options(bench, options.workload, given_.cpu_list);
  auto* seconds = bench.add_option("--seconds", options.workload.seconds,
                                   "The length of each run of a probe, 0.1 to 60 (default 1)");
  allow_seconds(*seconds->type_name("SECONDS"), 0.1, 60);
  refuse_empty(*bench.add_option("--html", options.html, "Write the result to this file too")
                    ->type_name("FILE"));
  bench.add_flag("--ceiling", given_.ceiling,
                 "Instead: measure how much memory traffic each domain can carry, for blame and "
                 "the guard");
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
  if (given_.ceiling) {
    const bool more = std::ranges::any_of(verb.get_options(), [](const CLI::Option* option) {
      return !option->empty() && !option->check_name("--ceiling") &&
             !option->check_name("--seconds");
    });
    if (more || !command_of(verb, command_).empty())
      throw UsageError{"bench --ceiling takes no COMMAND, and no other option than --seconds"};
    const double seconds = given_.bench.workload.seconds;
    if (!verb.get_option("--seconds")->empty() && seconds < 1)
      throw UsageError{"bench --ceiling takes --seconds of 1 or more: the streams need a while"};
    return verbs::ceiling(context_, std::max(1.0, seconds));
  }
  verbs::BenchOptions options = given_.bench;
  take_workload(verb, options.workload, given_.cpu_list, command_);
  check_length(verb, options.workload, "--seconds");
  std::erase_if(options.lease.amounts, [](const auto& amount) { return amount.second.empty(); });
  check_third_condition(options);
  if (options.lease.exclusive && options.lease.amounts.empty())
    throw UsageError{"--exclusive requires an amount, such as --l3 \"2 ways\""};
  if (!options.workload.given()) throw UsageError{"bench requires COMMAND or --probe PROBE"};
  for (const std::string& noise : given_.noise) {
    const auto streams = experiment::parse_noise(noise);
    if (!streams)
      throw UsageError{fmt::format(
          "invalid NOISE '{}' of --noise: use stream or stream:N, with N from 1 to 64{}", noise,
          noise.starts_with("stream")
              ? ""
              : "; --noise-group names a group of the noise, and --noise-cmd a command")};
    options.streams += *streams;
  }
  if (options.streams == 0 && options.noise_commands.empty()) options.streams = 1;
  return verbs::bench(context_, options);
}

void VerbTable::add_suggest() {
  CLI::App& verb = add("suggest", "Measure how many ways a group needs, for its tasks or a command",
                       "rdtctl suggest -g redis --ways 2-10", {});
  verbs::SuggestOptions& options = given_.suggest;
  add_group_option(verb, "A group of the policy in force");
  refuse_empty(*verb.add_option("--ways", given_.ways, "Measure these numbers of ways only")
                    ->type_name("FROM-TO"));
  verb.add_flag("--mb", options.bandwidth, "Measure limits of memory bandwidth instead of ways");
  auto* seconds =
      verb.add_option("--for", options.seconds,
                      "Seconds of each measurement of tasks or a probe, 0.1 to 3600 (default 2)");
  allow_seconds(*seconds->type_name("SECONDS"), 0.1, 3600);
  auto* repeats = verb.add_option("--repeats", options.repeats,
                                  "Measurements of each amount, 6 to 1000 (default 9)");
  allow_numbers(*repeats->type_name("N"), 6, 1000);
  auto* loss = verb.add_option(
      "--max-loss", options.max_loss,
      "Try no amount that makes it worse by more; default 50 for tasks' instructions");
  allow_percent(*loss->type_name("PERCENT"), 1, 100000);
  add_workload_options(verb, options.workload, given_.cpu_list);
  verb.get_option("--metric")
      ->description("The number that the command prints, traffic or ipc, instead of its time");
  verb.add_flag("--lower-is-better", options.lower_is_better,
                "The number of --metric REGEX is a time or a cost");
  refuse_empty(*verb.add_option("--html", options.html, "Write the result to this file too")
                    ->type_name("FILE"));
  verb.callback([this, &verb] { exit_ = suggest(verb); });
}

int VerbTable::suggest(const CLI::App& verb) {
  check_live("suggest");
  verbs::SuggestOptions options = given_.suggest;
  options.group = given_.group;
  if (options.group == "default")
    throw UsageError{"the default group gets what the others leave: name another group"};
  if (!given_.ways.empty() && options.bandwidth)
    throw UsageError{"suggest takes either --ways or --mb, not both"};
  if (!given_.ways.empty()) read_range(given_.ways, options);
  options.traffic = options.workload.metric == traffic;
  if (options.traffic) options.workload.metric.clear();
  take_workload(verb, options.workload, given_.cpu_list, command_);
  options.workload.seconds = options.seconds;
  check_length(verb, options.workload, "--for");
  // By the group's present share, the answer would be that share.
  if (options.workload.probe && options.workload.probe->size == 0 && !options.bandwidth)
    throw UsageError{
        "suggest needs to know how much the probe reads, such as 8M in --probe latency:8M"};
  if (options.lower_is_better &&
      (options.workload.metric.empty() || options.workload.metric == "ipc"))
    throw UsageError{"--lower-is-better requires --metric REGEX"};
  if (!options.workload.given() && !given_.cpu_list.empty())
    throw UsageError{"--cpus is for a command or --probe: tasks stay where they are"};
  if (options.workload.given()) return verbs::suggest(context_, options);
  if (!options.workload.metric.empty())
    throw UsageError{"--metric requires COMMAND, except for the traffic of the group's tasks"};
  return verbs::suggest(context_, options);
}

}  // namespace rdtd
