// suggest: steps a group through amounts under leases, measures its tasks or a command in it, and
// names the smallest amount that suffices. Nothing remains of it but what it prints.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "experiment.hpp"
#include "html.hpp"
#include "lease_text.hpp"
#include "print.hpp"
#include "probe_memory.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/experiment/statistics.hpp"
#include "rdtd/proc/perf_events.hpp"
#include "size_text.hpp"
#include "suggest_report.hpp"
#include "suggest_steps.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

constexpr double mebibyte = 1 << 20;
// Of the largest traffic: what the kernel and other programs cause anyway.
constexpr double negligible_traffic = 0.02;
// Percent, of running tasks. There is none for traffic: it may grow to many times as much, from
// almost nothing, before that matters.
constexpr double default_max_loss = 50;

// Whether the processor counts the instructions of a task of the group: of the first that has not
// ended meanwhile.
bool counts_tasks(const std::vector<pid_t>& tasks) {
  for (const pid_t task : tasks) {
    const auto opened = PerfEvents::open(std::span(hardware_events()).first(1), task);
    if (opened || opened.error().code != ESRCH) return opened.has_value();
  }
  return false;
}

// A limited program has less traffic because it is slower, one with more ways because it finds more
// of its data there. How many instructions a program executes in a second shows both; their traffic
// by the time that they use the CPUs shows less what they wait for.
Measure measure_of(const verbs::SuggestOptions& options, Resource resource, bool counted) {
  const Workload& workload = options.workload;
  const Better more = is_cache(resource) ? Better::lower : Better::higher;
  if (options.traffic && workload.given() && is_cache(resource))
    return {"the traffic of a run", "MiB",         mebibyte, Better::lower,
            negligible_traffic,     Value::traffic};
  if (options.traffic)
    return {"the traffic", "MiB/s", mebibyte, more, negligible_traffic, Value::traffic_rate};
  if (!workload.given() && counted)
    return {"the rate of instructions",  "M/s", 1e6, Better::higher, 0,
            Value::instructions_of_tasks};
  if (!workload.given())
    return {"the traffic by CPU time", "MiB/s", mebibyte, more, negligible_traffic,
            Value::traffic_of_tasks};
  if (workload.is_time()) return {workload.time_name(), workload.unit(), 1, Better::lower};
  if (workload.metric == "ipc") return {"the IPC", "instructions/cycle", 1, Better::higher};
  return {"the number", "", 1, options.lower_is_better ? Better::lower : Better::higher};
}

// From the present amount down, then from there up, so that a bound of the loss is met before the
// smallest amounts are.
std::vector<Trial> conditions_of(const StepPlan& steps, std::vector<unsigned> order) {
  const auto larger = std::ranges::upper_bound(order, steps.present);
  std::ranges::reverse(order.begin(), larger);
  std::vector<Trial> out;
  for (const unsigned amount : order)
    out.push_back({.name = amount_text(steps.resource, amount),
                   .policy = steps.text_of(amount),
                   .group = steps.group.name.value,
                   .amount = amount});
  return out;
}

// Prints what will happen, before it does.
void announce(const StepPlan& steps, const verbs::SuggestOptions& options, const Measure& of,
              const experiment::Place& place, std::optional<double> max_loss) {
  const size_t all = steps.amounts.size(),
               first = experiment::coarse_amounts(steps.amounts, steps.present).size();
  const size_t runs = (first < all ? first + all : all) * (options.repeats + 1);
  // As in experiment.cpp: half of the time passes before tasks are measured.
  const double seconds = options.seconds * (options.workload.given() ? 1 : 1.5);
  const bool two = first < all;
  note("Group '{}' gets {} to {}, {}{} amounts{}, {}{} times each{}{}{}.\n", steps.group.name.value,
       steps.amounts.front(), amount_text(steps.resource, steps.amounts.back()),
       two ? fmt::format("first {} of ", first) : "", all,
       two ? ", then those near what seems to suffice" : "", options.repeats + 1,
       two ? " or more" : "",
       options.workload.given() ? ", on " + experiment::cpu_words(place.command) : "",
       options.workload.command.empty()
           ? fmt::format(": about {:.0f} min{}",
                         std::max(1.0, static_cast<double>(runs) * seconds / 60),
                         two ? " at most" : "")
           : "",
       max_loss ? fmt::format("; an amount that {} it by more than {:.0f}% is left out, as are "
                              "smaller ones",
                              of.better == Better::lower ? "raises" : "lowers", *max_loss)
                : "");
}

// Of one step, or of both.
struct Stepped {
  Measured measured;  // of the last one
  experiment::MeasuredCurve curve;
};

Stepped stepped(const std::vector<Trial>& conditions, Measured measured, const Measure& of) {
  experiment::MeasuredCurve out;
  for (size_t i = 0; i < conditions.size(); ++i) {
    AmountRuns runs{conditions[i].amount, {}};
    for (const Sample& sample : measured.samples[i]) runs.values.push_back(sample.value);
    if (!runs.values.empty())
      out.runs.push_back(std::move(runs));
    else
      out.unbearable.push_back(runs.amount);
  }
  std::ranges::sort(out.runs, {}, &AmountRuns::amount);
  std::ranges::sort(out.unbearable);
  if (!out.runs.empty()) out.knee = find_knee(out.runs, of.better, of.negligible);
  return {std::move(measured), std::move(out)};
}

// A disturbance of the first step disturbs the result of both.
Stepped both_steps(Stepped first, Stepped second) {
  auto& disturbances = second.measured.disturbances;
  for (std::string& sentence : first.measured.disturbances)
    if (std::ranges::find(disturbances, sentence) == disturbances.end())
      disturbances.push_back(std::move(sentence));
  if (second.measured.rounds() < experiment::fewest_rounds) {
    first.measured.exit = second.measured.exit;
    first.measured.rounds_wanted = second.measured.rounds_wanted;
    first.measured.disturbances = std::move(disturbances);
    first.measured.disturbances.emplace_back(
        "Only some of the amounts were measured: the second step has too few rounds.");
    return first;
  }
  second.curve = joined(std::move(first.curve), std::move(second.curve));
  return second;
}

// `setup` makes that of these conditions and so many rounds.
template <class Setup>
Stepped measure_steps(const Context& context, Client& client, const StepPlan& steps,
                      const Measure& of, size_t repeats, Setup setup) {
  const auto few = experiment::coarse_amounts(steps.amounts, steps.present);
  const auto measure_these = [&](const std::vector<unsigned>& amounts, size_t rounds, int step) {
    const std::vector<Trial> conditions = conditions_of(steps, amounts);
    ExperimentSetup of_step = setup(conditions, rounds);
    if (few.size() < steps.amounts.size()) of_step.step = fmt::format("step {} of 2: ", step);
    return stepped(conditions, measure(context, client, std::move(of_step)), of);
  };
  Stepped first = measure_these(few, repeats, 1);
  if (auto sentence = lacks_second_step(first.measured, few.size(), steps.amounts.size()))
    first.measured.disturbances.push_back(*std::move(sentence));
  if (first.measured.exit != Exit::ok || first.curve.runs.empty()) return first;
  const auto second = experiment::second_amounts(first.curve, steps.amounts);
  if (second.size() < 2) return first;
  const size_t rounds =
      experiment::rounds_near(repeats, steps.amounts.size(), few.size(), second.size());
  return both_steps(std::move(first), measure_these(second, rounds, 2));
}

SuggestResult result_of(const Planned& planned, const StepPlan& steps,
                        const verbs::SuggestOptions& options, Measure of, Stepped stepped) {
  const Location& where = steps.group.name.where;
  SuggestResult out{.group = steps.group.name.value,
                    .workload = options.workload.given() ? options.workload.text() : "",
                    .command = !options.workload.command.empty(),
                    .resource = steps.resource,
                    .measure = std::move(of),
                    .complete = stepped.measured.exit == Exit::ok,
                    .rounds_wanted = stepped.measured.rounds_wanted,
                    .curve = std::move(stepped.curve.runs),
                    .unbearable = std::move(stepped.curve.unbearable),
                    .knee = stepped.curve.knee,
                    .place = fmt::format("{}:{}", where.file.text(), where.line)};
  if (is_cache(out.resource))
    out.least_ways = planned.machine.capabilities.caches.at(out.resource).min_ways();
  out.others = steps.others;
  out.disturbances = std::move(stepped.measured.disturbances);
  if (!out.conclusive()) return out;
  const std::string amount = amount_text(out.resource, *out.knee.amount);
  out.policy = lease_text({out.group, {{out.resource, amount}}, false});
  out.then = steps.others_at.at(*out.knee.amount);
  return out;
}

// Where the workload runs, and with it how much a probe reads.
std::expected<experiment::Place, int> place_of(const Context& context, const StepPlan& steps,
                                               verbs::SuggestOptions& options) {
  experiment::PlaceRequest request{.allowed = experiment::allowed_cpus(),
                                   .command = options.workload.cpus,
                                   .beside_noise = false};
  if (is_cache(steps.resource)) request.level = steps.resource == Resource::L2 ? 2 : 3;
  auto place = experiment::find_place(context.cpus, request);
  if (!place) return std::unexpected(report(place.error()));
  const auto warnings =
      size_probe(options.workload, *place, bench::ProbeShare{.group = steps.group.name.value});
  if (!warnings) return std::unexpected(warnings.error());
  for (const std::string& warning : *warnings) note("rdtctl: {}\n", warning);
  return *place;
}

std::vector<std::string> facts_of(const Context& context, const verbs::SuggestOptions& options,
                                  const Measure& of, const experiment::Place& place,
                                  const std::string& settings) {
  std::vector<std::string> out = {fmt::format("The amounts are compared by {}.", of.name)};
  if (options.workload.given())
    out.push_back(fmt::format("The command ran on {} only, whose L{} cache has {}.",
                              experiment::cpu_words(place.command), place.cache.level,
                              size_text(place.bytes)));
  std::ranges::move(circumstances(context, options.workload, settings), std::back_inserter(out));
  return out;
}

}  // namespace

int verbs::suggest(const Context& context, SuggestOptions options) {
  const auto html = HtmlFile::open(options.html);
  if (!html) return html.error();
  const auto planned = plan_files(context);
  if (!planned) return planned.error();
  const auto steps = plan_steps(context, *planned, options);
  if (!steps) return steps.error();
  auto client = Client::connect();
  if (!client) return report(client.error());
  const bool tasks = !options.workload.given();
  const auto running = planned->machine.tree.read_tasks(group_directory(options.group));
  if (tasks && !options.traffic && running && running->empty()) {
    note("rdtctl: group '{}' has no tasks: give a command, or start them first\n", options.group);
    return Exit::failed;
  }
  const Measure of =
      measure_of(options, steps->resource, tasks && running && counts_tasks(*running));
  auto place = place_of(context, *steps, options);
  if (!place) return place.error();
  std::optional<double> max_loss = options.max_loss;
  if (of.value == Value::instructions_of_tasks && !max_loss) max_loss = default_max_loss;
  if (max_loss && *max_loss >= 100 && of.better == Better::higher) {
    note("rdtctl: --max-loss {:g} would leave nothing out: {} cannot be 100% less\n", *max_loss,
         of.name);
    return Exit::usage;
  }
  announce(*steps, options, of, *place, max_loss);
  Stepped found =
      measure_steps(context, *client, *steps, of, options.repeats,
                    [&](const std::vector<Trial>& conditions, size_t rounds) {
                      return ExperimentSetup{
                          .conditions = conditions,
                          .workload = options.workload,
                          .place = *place,
                          .rounds = rounds,
                          .lease = fmt::format("suggest-{}", ::getpid()),
                          .evicts = is_cache(steps->resource),
                          .value = of.value,
                          .value_text = [&](double value) { return of.text_of(value); },
                          .most_loss = max_loss ? std::optional(*max_loss / 100) : std::nullopt,
                          .better = of.better};
                    });
  const int exit = found.measured.exit;
  if (found.curve.runs.empty()) return exit;
  if (tasks && std::ranges::all_of(found.curve.runs, [](const AmountRuns& runs) {
        return experiment::median(runs.values) == 0;
      })) {
    note("rdtctl: group '{}' {}: its tasks must be at work while it is measured\n", options.group,
         of.value == Value::instructions_of_tasks ? "executed nothing" : "caused no traffic");
    return Exit::failed;
  }
  const auto facts = facts_of(context, options, of, *place, found.measured.settings);
  SuggestResult result = result_of(*planned, *steps, options, of, std::move(found));
  result.facts = facts;
  result.origin = origin_of(context);
  // Before the result is printed: that ends rdtctl if standard output is a closed pipe.
  const int written = html->write(suggest_html(result));
  if (context.json == Json::off)
    print_suggestion(context, result);
  else
    print_json(context, suggest_json(result));
  return exit == Exit::ok ? written : exit;
}

}  // namespace rdtd
