// bench: runs a command alone, beside noise, and beside noise in a group, in turns, and compares.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <ranges>
#include <set>

#include "bench_machine.hpp"
#include "bench_process.hpp"
#include "bench_region.hpp"
#include "bench_report.hpp"
#include "disturbance.hpp"
#include "html.hpp"
#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/experiment/schedule.hpp"
#include "toml_text.hpp"
#include "usage.hpp"
#include "verbs.hpp"
#include "watched_run.hpp"

namespace rdtd {

namespace {

using namespace bench;

constexpr double settle_seconds = 0.2;  // the noise fills the cache
constexpr int start_poll_ms = 10;

// What the measurement adds to the policy. A group of its own exists only while the command is in
// it: if it is exclusive, it would take ways from the runs outside of it.
struct Held {
  // A monitoring group in each group that the command is in, so that the kernel counts for the
  // command alone.
  UniqueFd lease;
  std::string monitor;    // the monitoring groups' name; "": there are none
  std::string why_not;    // a sentence
  std::string own_group;  // the policy of the group; "": the policy has it
  std::string device;     // of the region that is the probe's memory in the third condition
};

class Bench {
 public:
  Bench(const Context& context, Client& client, const verbs::BenchOptions& options,
        BenchResult& result, Place place, Held held)
      : client_(client),
        options_(options),
        result_(result),
        place_(std::move(place)),
        held_(std::move(held)),
        disturbance_(context.proc, context.cpus, place_.command) {
    if (held_.monitor.empty()) return;
    if (auto tree = Tree::open(context.resctrl)) tree_.emplace(std::move(*tree));
  }

  // Exit::ok, or the exit status after a note.
  int measure() {
    const auto runs = experiment::schedule(conditions, options_.rounds, 1);
    std::array<Sample, conditions> round;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (::isatty(STDERR_FILENO) == 1)
        note("\rrun {} of {}, {}\033[K", i + 1, runs.size(),
             condition_name(result_, runs[i].condition));
      const auto sample = run(runs[i]);
      if (::isatty(STDERR_FILENO) == 1) note("\r\033[K");
      if (!sample) return sample.error();
      round[runs[i].condition] = *sample;
      // A round counts when all of its conditions were measured.
      if (!runs[i].warm_up && i % conditions == conditions - 1)
        for (size_t of = 0; of < conditions; ++of) result_.samples[of].push_back(round[of]);
    }
    return Exit::ok;
  }

  [[nodiscard]] bool interrupted() const { return watched_.interrupted(); }

  [[nodiscard]] std::vector<std::string> disturbances() const {
    auto out = disturbance_.sentences();
    if (place_.core_is_shared)
      out.push_back("The noise ran on the command's core: it took more than cache from it.");
    if (!held_.why_not.empty()) out.push_back(held_.why_not);
    if (!no_events_.empty())
      out.push_back(fmt::format("Instructions and cache misses were not counted: {}.", no_events_));
    return out;
  }

 private:
  Result<std::vector<Process>> start_noise(const std::string& group) {
    std::vector<Process> out;
    const uint64_t bytes = 2 * place_.bytes;
    for (unsigned i = 0; i < options_.streams; ++i) {
      auto started = Process::start(
          {{},
           [bytes](Shared& shared) { return experiment::run_stream(bytes, shared.bytes); },
           group,
           place_.noise});
      if (!started) return std::unexpected(started.error());
      out.push_back(std::move(*started));
    }
    for (const std::string& command : options_.noise_commands) {
      auto started = Process::start({{"/bin/sh", "-c", command}, {}, group, place_.noise});
      if (!started) return std::unexpected(started.error());
      out.push_back(std::move(*started));
    }
    return out;
  }

  // Waits until all noise is in its group and has begun, and a little longer.
  std::expected<void, int> settle(std::vector<Process>& noise, const UniqueFd& lease) {
    for (Process& process : noise)
      while (process.shared().started == 0) {
        const Ended ended = watched_.wait(&process, lease, start_poll_ms);
        if (ended == Ended::process) return std::unexpected(noise_ended(process));
        if (ended != Ended::timeout) return std::unexpected(watched_.stopped(ended));
      }
    if (const auto paused = watched_.pause(settle_seconds, lease); !paused) return paused;
    return check_noise(noise, lease);
  }

  // An error if noise has ended, which it must not do before the command.
  std::expected<void, int> check_noise(std::vector<Process>& noise, const UniqueFd& lease) {
    for (Process& process : noise) {
      const Ended ended = watched_.wait(&process, lease, 0);
      if (ended == Ended::process) return std::unexpected(noise_ended(process));
      if (ended != Ended::timeout) return std::unexpected(watched_.stopped(ended));
    }
    return {};
  }

  static int noise_ended(Process& process) {
    const int status = process.wait().status;
    return report_failure(fmt::format("the noise {} before the command ended",
                                      status == 0 ? "ended" : end_text(status)),
                          process.output());
  }

  static uint64_t bytes_of(const std::vector<Process>& noise) {
    uint64_t out = 0;
    for (const Process& process : noise) out += process.shared().bytes;
    return out;
  }

  std::expected<Sample, int> run(const experiment::Run& which) {
    UniqueFd own;
    if (which.condition == in_group && !held_.own_group.empty()) {
      auto made = client_.lease(result_.group, held_.own_group);
      if (!made) return std::unexpected(report(made.error()));
      own = std::move(*made);
    }
    return run_beside(which, own ? own : held_.lease);
  }

  // The lease: without it, the run has no meaning.
  std::expected<Sample, int> run_beside(const experiment::Run& which, const UniqueFd& lease) {
    const auto group_of = [&](const std::string& third) {
      return which.condition == in_group && !third.empty() ? third : std::string("default");
    };
    auto noise = which.condition == alone ? std::vector<Process>()
                                          : start_noise(group_of(result_.noise_group));
    if (!noise) return std::unexpected(report(noise.error()));
    if (!noise->empty())
      if (const auto settled = settle(*noise, lease); !settled)
        return std::unexpected(settled.error());
    const std::string group = group_of(result_.group);
    const auto counters = read_counters();
    disturbance_.begin_run();
    const uint64_t bytes_before = bytes_of(*noise), began = nanoseconds_now();
    auto process = Process::start(options_.workload.program(
        held_.monitor.empty() ? group : group + "/" + held_.monitor, {place_.command},
        which.condition == in_group ? held_.device : ""));
    if (!process) return std::unexpected(report(process.error()));
    if (const Ended ended = watched_.wait(&*process, lease, -1); ended != Ended::process)
      return std::unexpected(watched_.stopped(ended));
    const uint64_t ended_at = nanoseconds_now();
    Sample sample{.noise_rate = static_cast<double>(bytes_of(*noise) - bytes_before) /
                                (static_cast<double>(ended_at - began) * 1e-9)};
    add_counters(group, counters, sample);
    if (const auto checked = check_noise(*noise, lease); !checked)
      return std::unexpected(checked.error());
    return finish(which, *process, ended_at, std::move(sample));
  }

  [[nodiscard]] std::optional<Reading> read_counters() const {
    auto reading = tree_ ? read_usage(*tree_) : std::unexpected(Error{});
    return reading ? std::optional(std::move(*reading)) : std::nullopt;
  }

  void add_counters(const std::string& group, const std::optional<Reading>& before,
                    Sample& sample) const {
    const auto now = before ? read_counters() : std::nullopt;
    if (!now) return;
    for (const Usage& usage : usage_between(*before, *now, Domains::summed)) {
      if (usage.group != group + "/" + held_.monitor) continue;
      sample.occupancy = usage.of("llc_occupancy").amount;
      sample.traffic = usage.of("mbm_total_bytes").amount;
    }
  }

  std::expected<Sample, int> finish(const experiment::Run& which, Process& process,
                                    uint64_t ended_at, Sample sample) {
    auto numbers = numbers_of(options_.workload, process, ended_at);
    if (!numbers) return std::unexpected(numbers.error());
    disturbance_.end_run(numbers->cpu_seconds_before + numbers->cpu_seconds);
    sample.cpu_seconds = numbers->cpu_seconds;
    sample.value = numbers->value;
    sample.events = std::move(numbers->events);
    no_events_ = numbers->no_events;
    if (result_.probe && !which.warm_up) {
      result_.times[which.condition].time.add(numbers->times.time);
      result_.times[which.condition].lateness.add(numbers->times.lateness);
    }
    return sample;
  }

  Client& client_;
  const verbs::BenchOptions& options_;
  BenchResult& result_;
  Place place_;
  Held held_;
  WatchedRun watched_;
  Disturbance disturbance_;
  std::optional<Tree> tree_;
  std::string no_events_;
};

// The command in the group is counted in a monitoring group of that name.
std::string monitor_rule(const std::string& name, const std::string& group) {
  return fmt::format("[[rule]]\ngroup = {}\nmonitor = \"{}\"\ncgroup = {}\n", toml_string(group),
                     name, toml_string(fmt::format("/rdtctl/{}/{}", name, group)));
}

// The monitoring groups are made if this machine and the daemon allow it. The group of its own is
// made here once, so that a group that cannot be made is reported before the first run.
std::expected<Held, Client::Failure> hold(Client& client, verbs::BenchOptions& options,
                                          const BenchResult& result) {
  Held out;
  const std::string name = fmt::format("bench-{}", ::getpid());
  const bool own = !options.lease.amounts.empty();
  std::string monitored = monitor_rule(name, "default");
  if (!own && !result.group.empty() && result.group != "default")
    monitored += monitor_rule(name, result.group);
  if (auto made = client.lease(name + "-monitor", monitored)) {
    out.lease = std::move(*made);
    out.monitor = name;
  } else {
    const std::string_view why = made.error().text;
    out.why_not = fmt::format("Occupancy and traffic were not measured: {}.",
                              trim(why.substr(0, why.find('\n'))));
  }
  if (!own) return out;
  out.own_group = lease_text(options.lease);
  if (!out.monitor.empty()) out.own_group += monitor_rule(name, result.group);
  if (auto made = client.lease(result.group, out.own_group); !made)
    return std::unexpected(made.error());
  return out;
}

// Whether the daemon has the groups that the policy is to have; a run would find it out late.
int check_groups(Client& client, const verbs::BenchOptions& options) {
  const auto groups = client.list_groups();
  if (!groups) return report(groups.error());
  std::vector<std::string> names;
  for (const Client::GroupRow& group : *groups) names.push_back(group.name);
  for (const std::string& group : {options.group, options.noise_group}) {
    // A monitoring group is not among them.
    if (group.empty() || group.contains('/') || std::ranges::find(names, group) != names.end())
      continue;
    const auto nearest = nearest_name(group, names);
    note("rdtctl: there is no group '{}' in the policy in force{}\n", group,
         nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
    return Exit::failed;
  }
  return Exit::ok;
}

// Nothing if the third condition is a group.
std::expected<std::optional<Region>, int> region_of(const Context& context, Client& client,
                                                    verbs::BenchOptions& options) {
  if (options.pseudo_lock.empty()) return std::nullopt;
  proc::DeviceHolders holders(context.proc, context.lock_devices,
                              proc::DeviceHolders::command_wait);
  auto region = find_region(client, holders, options.pseudo_lock);
  if (!region) return std::unexpected(region.error());
  if (const int exit = fit_probe(options.workload, *region); exit != Exit::ok)
    return std::unexpected(exit);
  return *std::move(region);
}

BenchResult empty_result(verbs::BenchOptions& options) {
  BenchResult out;
  out.pseudo_lock = options.pseudo_lock;
  out.group = options.group;
  out.noise_group = options.noise_group;
  if (!options.lease.amounts.empty())
    out.group = options.lease.name = fmt::format("bench-{}", ::getpid());
  out.probe = options.workload.probe.has_value();
  out.command = options.workload.text();
  out.unit = options.workload.unit();
  out.time = options.workload.is_time();
  out.noise_has_rate = options.streams > 0;
  return out;
}

std::string fact_of(const Region& region, const experiment::Probe& probe) {
  return fmt::format("The probe read {} under all conditions, in pseudo_lock '{}' those of {}.",
                     size_text(probe.size), region.name, region.device);
}

std::vector<std::string> facts_of(const Context& context, const verbs::BenchOptions& options,
                                  const BenchResult& result, const Place& place) {
  std::vector<std::string> out = {fmt::format(
      "The command ran on CPU {}, the noise on CPUs {}; they share an L{} cache of {}.",
      place.command, format_cpu_list(place.noise), place.level, size_text(place.bytes))};
  std::string line;
  std::getline(std::ifstream(context.proc + "/loadavg"), line);
  if (!line.empty())
    out.push_back(fmt::format("The load averages after the runs were {}.",
                              fmt::join(split(line, ' ') | std::views::take(3), " ")));
  if (!options.lease.amounts.empty())
    out.push_back(
        fmt::format("Group '{}' was a lease:\n{}", result.group, lease_text(options.lease)));
  std::set<std::string> groups = {result.group, result.noise_group, "default"};
  groups.erase("");
  if (const auto tree = Tree::open(context.resctrl))
    for (const std::string& group : groups)
      if (const auto text = tree->filesystem().read(group_directory(group) + "/schemata"))
        out.push_back(fmt::format("The schemata of '{}' after the runs: {}", group, trim(*text)));
  return out;
}

}  // namespace

int verbs::bench(const Context& context, BenchOptions options) {
  if (const int exit = check_html(options.html); exit != Exit::ok) return exit;
  auto client = Client::connect();
  if (!client) return report(client.error());
  if (const auto running = client->properties(); !running) return report(running.error());
  if (const int exit = check_groups(*client, options); exit != Exit::ok) return exit;
  const auto region = region_of(context, *client, options);
  if (!region) return region.error();
  const CpuSet allowed = allowed_cpus();
  auto place = *region ? find_place(context.cpus, allowed, (*region)->cache)
                       : find_place(context.cpus, allowed);
  if (!place) return report(place.error());
  BenchResult result = empty_result(options);
  auto held = hold(*client, options, result);
  if (!held) return report(held.error());
  if (*region) held->device = (*region)->device;
  int exit = Exit::ok;
  bool interrupted = false;
  {
    Bench bench(context, *client, options, result, *place, std::move(*held));
    exit = bench.measure();
    interrupted = bench.interrupted();
    result.disturbances = bench.disturbances();
  }
  if (result.samples[alone].empty() || (exit != Exit::ok && !interrupted)) return exit;
  result.facts = facts_of(context, options, result, *place);
  if (*region) result.facts.push_back(fact_of(**region, *options.workload.probe));
  if (context.json == Json::off)
    print_bench(context, result);
  else
    print_json(context, bench_json(result));
  const int written = write_html(options.html, bench_html(result));
  return exit == Exit::ok ? written : exit;
}

}  // namespace rdtd
