// suggest: steps a group through amounts under leases, measures its tasks or a command in it, and
// names the smallest amount that suffices. Nothing remains of it but what it prints.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

#include "bench_machine.hpp"
#include "html.hpp"
#include "lease_text.hpp"
#include "print.hpp"
#include "rdtd/experiment/statistics.hpp"
#include "rdtd/plan/plan.hpp"
#include "suggest_report.hpp"
#include "suggest_steps.hpp"
#include "usage.hpp"
#include "verbs.hpp"
#include "watched_run.hpp"

namespace rdtd {

namespace {

constexpr const char* traffic_counter = "mbm_total_bytes";
// Of each measurement of running tasks: until the lines of the earlier amount have left the cache.
constexpr double settling_share = 0.5;
constexpr double mebibyte = 1 << 20;

// A limited program has less traffic because it is slower, one with more ways because it finds more
// of its data there.
Measure measure_of(const verbs::SuggestOptions& options, Resource resource) {
  const Workload& workload = options.workload;
  if (options.traffic && (!workload.given() || !is_cache(resource)))
    return {"the traffic", "MiB/s", mebibyte, is_cache(resource) ? Better::lower : Better::higher};
  if (options.traffic) return {"the traffic of a run", "MiB", mebibyte, Better::lower};
  if (workload.is_time()) return {"the time", workload.unit(), 1, Better::lower};
  if (workload.metric == "ipc") return {"the IPC", "instructions/cycle", 1, Better::higher};
  return {"the number", "", 1, options.lower_is_better ? Better::lower : Better::higher};
}

class Measurement {
 public:
  Measurement(const Context& context, const Tree& tree, const StepPlan& plan,
              const verbs::SuggestOptions& options)
      : tree_(tree), plan_(plan), options_(options) {
    if (is_cache(plan.resource))
      caches_ = bench::caches_of(context.cpus, bench::allowed_cpus(),
                                 plan.resource == Resource::L2 ? 2 : 3);
  }

  // Of each amount, in ascending order. The error is the exit code.
  std::expected<std::vector<AmountRuns>, int> measure(Client& client) {
    std::vector<AmountRuns> curve;
    for (const unsigned amount : plan_.amounts) curve.push_back({amount, {}});
    const uint64_t seed = std::random_device{}();
    const auto order = random_order(plan_.amounts, options_.repeats, seed);
    for (size_t i = 0; i < order.size(); ++i) {
      if (::isatty(STDERR_FILENO) == 1)
        note("\rrun {} of {}, {}\033[K", i + 1, order.size(), plan_.amount_text(order[i]));
      const auto value = measure_once(client, order[i]);
      if (::isatty(STDERR_FILENO) == 1) note("\r\033[K");
      if (!value) return std::unexpected(value.error());
      std::ranges::find(curve, order[i], &AmountRuns::amount)->values.push_back(*value);
    }
    return curve;
  }

 private:
  // The lease ends with it, before the next one is asked for.
  std::expected<double, int> measure_once(Client& client, unsigned amount) {
    const auto lease = client.lease(fmt::format("suggest-{}", ::getpid()), plan_.text_of(amount));
    if (!lease) return std::unexpected(report(lease.error()));
    if (auto evicted = evict(*lease); !evicted) return std::unexpected(evicted.error());
    if (!options_.traffic) return run(*lease);
    if (!options_.workload.given())
      if (auto settled = watched_.pause(options_.seconds * settling_share, *lease); !settled)
        return std::unexpected(settled.error());
    const auto before = read_usage(tree_);
    if (!before) return std::unexpected(report(before.error()));
    if (options_.workload.given()) {
      if (auto ran = run(*lease); !ran) return ran;
    } else if (auto waited = watched_.pause(options_.seconds, *lease); !waited) {
      return std::unexpected(waited.error());
    }
    const auto now = read_usage(tree_);
    if (!now) return std::unexpected(report(now.error()));
    return traffic_between(*before, *now);
  }

  // A hit is a hit in any way: what the group has in ways that it may no longer fill stays there
  // until another group needs them. The default group may fill all ways that are not exclusive.
  std::expected<void, int> evict(const UniqueFd& lease) {
    for (const bench::CacheOfCpu& cache : caches_) {
      const auto work = [bytes = 2 * cache.bytes](bench::Shared&) {
        return experiment::evict_others(bytes);
      };
      auto process = bench::Process::start({{}, work, "default", {cache.cpu}});
      if (!process) return std::unexpected(report(process.error()));
      if (const Ended ended = watched_.wait(&*process, lease, -1); ended != Ended::process)
        return std::unexpected(watched_.stopped(ended));
      if (const int status = process->wait().status; status != 0)
        return std::unexpected(report_failure(
            "the process that empties the cache " + end_text(status), process->output()));
    }
    return {};
  }

  // Bytes of a run of a command, or per second.
  std::expected<double, int> traffic_between(const Reading& before, const Reading& now) const {
    const bool whole = options_.workload.given() && is_cache(plan_.resource);
    const double seconds = std::chrono::duration<double>(now.at - before.at).count();
    for (const Usage& usage : usage_between(before, now, Domains::summed))
      if (usage.directory == plan_.group.name.value)
        if (const auto used = usage.of(traffic_counter).amount)
          return whole ? *used * seconds : *used;
    note("rdtctl: the kernel does not count {} of group '{}': measure a command or --probe\n",
         traffic_counter, plan_.group.name.value);
    return std::unexpected(Exit::failed);
  }

  std::expected<double, int> run(const UniqueFd& lease) {
    auto process = bench::Process::start(
        options_.workload.program(plan_.group.name.value, bench::allowed_cpus()));
    if (!process) return std::unexpected(report(process.error()));
    if (const Ended ended = watched_.wait(&*process, lease, -1); ended != Ended::process)
      return std::unexpected(watched_.stopped(ended));
    const uint64_t ended_at = bench::nanoseconds_now();
    auto numbers = numbers_of(options_.workload, *process, ended_at);
    return numbers ? std::expected<double, int>(numbers->value) : std::unexpected(numbers.error());
  }

  const Tree& tree_;
  const StepPlan& plan_;
  const verbs::SuggestOptions& options_;
  std::vector<bench::CacheOfCpu> caches_;
  WatchedRun watched_;
};

SuggestResult result_of(const Planned& planned, const StepPlan& steps,
                        const verbs::SuggestOptions& options, std::vector<AmountRuns> curve) {
  SuggestResult out{.group = steps.group.name.value,
                    .workload = options.workload.given() ? options.workload.text() : "",
                    .command = !options.workload.command.empty(),
                    .resource = steps.resource,
                    .measure = measure_of(options, steps.resource),
                    .curve = std::move(curve)};
  if (is_cache(out.resource))
    out.least_ways = planned.machine.capabilities.caches.at(out.resource).min_ways();
  out.knee = find_knee(out.curve, out.measure.better);
  out.policy = lease_text({out.group, {{out.resource, out.amount_text(out.knee.amount)}}, false});
  out.others = steps.others;
  out.then = steps.others_at.at(out.knee.amount);
  return out;
}

}  // namespace

int verbs::suggest(const Context& context, const SuggestOptions& options) {
  if (const int exit = check_html(options.html); exit != Exit::ok) return exit;
  const auto planned = plan_files(context);
  if (!planned) return planned.error();
  const auto steps = plan_steps(context, *planned, options);
  if (!steps) return steps.error();
  auto client = Client::connect();
  if (!client) return report(client.error());
  auto curve = Measurement(context, planned->machine.tree, *steps, options).measure(*client);
  if (!curve) return curve.error();
  if (options.traffic && std::ranges::all_of(*curve, [](const AmountRuns& runs) {
        return experiment::median(runs.values) == 0;
      })) {
    note("rdtctl: group '{}' caused no traffic: its tasks must be at work while it is measured\n",
         options.group);
    return Exit::failed;
  }
  const SuggestResult result = result_of(*planned, *steps, options, std::move(*curve));
  if (context.json == Json::off)
    print_suggestion(context, result);
  else
    print_json(context, suggest_json(result));
  return write_html(options.html, suggest_html(result));
}

}  // namespace rdtd
