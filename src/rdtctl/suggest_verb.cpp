// The options of suggest, and what is wrong with them.
#include <fmt/format.h>

#include "rdtd/base/text.hpp"
#include "workload_options.hpp"
#include "verb_table.hpp"

namespace rdtd {

namespace {

constexpr const char* traffic = "traffic";

// "2-10"
void read_range(const std::string& range, verbs::SuggestOptions& options) {
  const size_t dash = range.find('-');
  const auto number = [&](size_t from, size_t length) {
    return from > range.size() ? std::nullopt
                               : parse_unsigned<unsigned>(range.substr(from, length));
  };
  const auto from = number(0, dash),
             to = dash == std::string::npos ? from : number(dash + 1, std::string::npos);
  if (!from || !to || *from < 1 || *to <= *from)
    throw UsageError{
        fmt::format("invalid FROM-TO '{}' of --ways: use two numbers of ways such as 2-10", range)};
  options.from = *from;
  options.to = *to;
}

}  // namespace

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
  allow_numbers(*seconds->type_name("SECONDS"), 0.1, 3600);
  auto* repeats = verb.add_option("--repeats", options.repeats,
                                  "Measurements of each amount, 3 to 1000 (default 5)");
  allow_numbers(*repeats->type_name("N"), 3, 1000);
  add_workload_options(verb, options.workload);
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
  if (!given_.ways.empty() && options.bandwidth)
    throw UsageError{"suggest takes either --ways or --mb, not both"};
  if (!given_.ways.empty()) read_range(given_.ways, options);
  options.traffic = options.workload.metric == traffic;
  if (options.traffic) options.workload.metric.clear();
  take_workload(verb, options.workload, marked_);
  options.workload.seconds = options.seconds;
  check_length(verb, options.workload, "--for");
  if (options.lower_is_better &&
      (options.workload.metric.empty() || options.workload.metric == "ipc"))
    throw UsageError{"--lower-is-better requires --metric REGEX"};
  if (options.workload.given()) return verbs::suggest(context_, options);
  if (!options.workload.metric.empty())
    throw UsageError{"--metric requires COMMAND, except for the traffic of the group's tasks"};
  options.traffic = true;
  return verbs::suggest(context_, options);
}

}  // namespace rdtd
