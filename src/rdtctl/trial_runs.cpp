#include "trial_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "print.hpp"
#include "progress.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/model/counters.hpp"
#include "rdtd/proc/perf_events.hpp"

namespace rdtd {

namespace {

constexpr double settle_seconds = 0.2;  // the noise fills the cache
// Of each measurement of running tasks: until the lines of the earlier amount have left the cache.
constexpr double settling_share = 0.5;

double bytes_of(const std::vector<Process>& noise) {
  uint64_t out = 0;
  for (const Process& process : noise) out += process.shared().bytes;
  return static_cast<double>(out);
}

void add(const GroupCounts::Since& counted, Sample& sample) {
  sample.occupancy = counted.occupancy;
  sample.traffic = counted.traffic;
}

}  // namespace

template <class T>
using Or = TrialRuns::Or<T>;

TrialRuns::TrialRuns(const Context& context, Client& client, ExperimentSetup& setup)
    : proc_(context.proc),
      cpus_(context.cpus),
      of_others_(children_of_this(context.proc)),
      client_(client),
      setup_(setup),
      disturbance_(context.proc, context.cpus, setup_.place),
      counts_(context) {}

std::vector<std::string> TrialRuns::sentences() const {
  std::vector<std::string> out = disturbance_.sentences();
  if (setup_.streams > 0 || !setup_.noise_commands.empty())
    if (auto sentence = experiment::nearness_of_noise(setup_.place))
      out.push_back(*std::move(sentence));
  if (!no_events_.empty())
    out.push_back(fmt::format("Instructions and cache misses were not counted: {}.", no_events_));
  if (!not_counted_.empty()) out.push_back(not_counted_);
  return out;
}

Or<TrialRuns::Ran> TrialRuns::run(const Trial& condition) {
  auto out = run_under_lease(condition);
  end_children(proc_, of_others_);
  return out;
}

// Under its lease, which ends before the next one is asked for.
Or<TrialRuns::Ran> TrialRuns::run_under_lease(const Trial& condition) {
  UniqueFd lease;
  if (condition.policy.empty()) {
    if (auto gone = await_end_of_leases(); !gone) return std::unexpected(gone.error());
  } else {
    auto made = client_.lease(setup_.lease, condition.policy);
    if (!made) return std::unexpected(report(made.error()));
    lease = std::move(*made);
  }
  const UniqueFd& needed = lease ? lease : setup_.held;
  const auto evicted = evict(condition, needed);
  if (!evicted) return std::unexpected(evicted.error());
  auto noise = start_noise(condition, needed);
  if (!noise) return std::unexpected(noise.error());
  return setup_.workload.given() ? run_workload(condition, *noise, needed)
                                 : watch_tasks(condition, needed);
}

// The daemon undoes a lease some time after it was closed. Until then its group is there, and may
// keep ways from the others.
Or<void> TrialRuns::await_end_of_leases() {
  constexpr double poll_seconds = 0.02, most_seconds = 30;
  const bool some =
      std::ranges::any_of(setup_.conditions, [](const Trial& of) { return !of.policy.empty(); });
  const uint64_t began = monotonic_nanoseconds();
  while (some) {
    const auto groups = client_.list_groups();
    if (!groups) return std::unexpected(report(groups.error()));
    const auto left = std::ranges::find_if(*groups, [this](const Client::GroupRow& group) {
      return std::ranges::any_of(setup_.conditions, [&](const Trial& condition) {
        return !condition.policy.empty() && condition.group == group.name;
      });
    });
    if (left == groups->end()) return {};
    if (seconds_since(began) > most_seconds) {
      note("rdtctl: group '{}' is still there after its lease: 'rdtctl status' shows why\n",
           left->name);
      return std::unexpected(Exit::failed);
    }
    if (auto paused = watched_.pause(poll_seconds, setup_.held); !paused) return paused;
  }
  return {};
}

// The groups whose ways the run may use. A group of another condition's lease is not there now.
std::set<std::string> TrialRuns::groups_to_evict(const Trial& condition) const {
  std::set<std::string> out = {"default"};
  if (!setup_.workload.given()) return out;
  for (const Trial& other : setup_.conditions)
    if (&other == &condition || other.policy.empty()) out.insert(other.group);
  return out;
}

// A hit is a hit in any way: what a run before left in ways that this one may not fill would stay
// there, and the kernel gives the memory of a process that ended to the next one. Hence each
// group evicts from its own ways, and the processes that did so keep their memory as long as they
// are kept. The default group may fill all ways that are not exclusive.
Or<std::vector<Process>> TrialRuns::evict(const Trial& condition, const UniqueFd& lease) {
  std::vector<Process> out;
  if (!setup_.evicts) return out;
  // Tasks that run anyway may be on any CPU that is there now.
  const auto caches = experiment::caches_of(
      cpus_, setup_.workload.given() ? setup_.place.command : experiment::allowed_cpus(),
      setup_.place.cache.level);
  if (caches.empty()) return out;
  const auto work = [&caches](Shared& shared) {
    return experiment::evict_others(caches, shared.bytes);
  };
  for (const std::string& group : groups_to_evict(condition)) {
    auto process = Process::start({{}, work, group, {caches.front().cpu}});
    if (!process) return std::unexpected(report(process.error()));
    const Ended ended = watched_.wait_for_memory(*process, 1, lease);
    if (ended == Ended::process)
      return std::unexpected(
          report_failure("the process that empties the cache " + end_text(process->wait().status),
                         process->output()));
    if (ended != Ended::timeout) return std::unexpected(watched_.stopped(ended));
    out.push_back(std::move(*process));
  }
  return out;
}

// Returns when all of it is in its group and has used its memory once, and a little later.
Or<TrialRuns::Noise> TrialRuns::start_noise(const Trial& condition, const UniqueFd& lease) {
  const bool spins = !condition.noise_group;
  const uint64_t bytes = spins ? 0 : 2 * setup_.place.bytes;
  const auto stream = [bytes](Shared& shared) {
    return experiment::run_stream(bytes, shared.bytes);
  };
  std::vector<Process> out;
  for (size_t i = 0; i < setup_.streams + setup_.noise_commands.size(); ++i) {
    Program program{{}, stream, condition.noise_group.value_or("default"), setup_.place.noise};
    if (i >= setup_.streams && !spins)
      program.command = {"/bin/sh", "-c", setup_.noise_commands[i - setup_.streams]};
    auto started = Process::start(program);
    if (!started) return std::unexpected(report(started.error()));
    out.push_back(std::move(*started));
    const uint64_t touched = program.command.empty() ? std::max<uint64_t>(bytes, 1) : 0;
    const Ended ended = watched_.wait_for_memory(out.back(), touched, lease);
    if (ended != Ended::timeout) return std::unexpected(noise_ended(out.back(), ended));
  }
  if (out.empty()) return out;
  if (const auto paused = watched_.pause(settle_seconds, lease); !paused)
    return std::unexpected(paused.error());
  if (auto running = check_noise(out, lease); !running) return std::unexpected(running.error());
  return out;
}

// An error if noise has ended, which it must not do before the command.
Or<void> TrialRuns::check_noise(Noise& noise, const UniqueFd& lease) {
  for (Process& process : noise)
    if (const Ended ended = watched_.wait(&process, lease, 0); ended != Ended::timeout)
      return std::unexpected(noise_ended(process, ended));
  return {};
}

int TrialRuns::noise_ended(Process& noise, Ended ended) const {
  if (ended != Ended::process) return watched_.stopped(ended);
  const int status = noise.wait().status;
  return report_failure(fmt::format("the noise {} before the command ended",
                                    status == 0 ? "ended" : end_text(status)),
                        noise.output());
}

// Nothing if there are commands: their children's time is not known before they end.
std::optional<double> TrialRuns::noise_seconds(const Noise& noise) const {
  if (!setup_.noise_commands.empty()) return std::nullopt;
  double out = 0;
  for (const Process& process : noise) out += process.cpu_seconds_now();
  return out;
}

Or<TrialRuns::Ran> TrialRuns::run_workload(const Trial& condition, Noise& noise,
                                           const UniqueFd& lease) {
  const std::string group =
      setup_.monitor.empty() ? condition.group : condition.group + "/" + setup_.monitor;
  const auto counters = counts_.read();
  disturbance_.begin_run();
  const uint64_t began = monotonic_nanoseconds();
  const double bytes_before = bytes_of(noise);
  const auto seconds_before = noise_seconds(noise);
  auto process =
      Process::start(setup_.workload.program(group, setup_.place.command, condition.device));
  if (!process) return std::unexpected(report(process.error()));
  if (const Ended ended = watched_.wait(&*process, lease, -1); ended != Ended::process)
    return std::unexpected(watched_.stopped(ended));
  const uint64_t ended_at = monotonic_nanoseconds();
  const double seconds = static_cast<double>(ended_at - began) * 1e-9;
  Ran out{{.noise_rate = (bytes_of(noise) - bytes_before) / seconds}, {}};
  add(counts_.since(counters, group, seconds), out.sample);
  experiment::OwnSeconds own;
  if (const auto now = noise_seconds(noise)) own.noise = *now - *seconds_before;
  if (const auto running = check_noise(noise, lease); !running)
    return std::unexpected(running.error());
  auto numbers = numbers_of(setup_.workload, *process, ended_at);
  if (!numbers) return std::unexpected(numbers.error());
  own.command = numbers->cpu_seconds_before + numbers->cpu_seconds;
  disturbance_.end_run(own, condition.name);
  out.sample.cpu_seconds = numbers->cpu_seconds;
  out.sample.value = numbers->value;
  out.sample.events = std::move(numbers->events);
  no_events_ = numbers->no_events;
  out.times = numbers->times;
  // Means of as many reads in each run can be compared.
  if (auto& probe = setup_.workload.probe; probe && probe->batch == 0)
    probe->batch = out.times.batch;
  return choose_value(condition, std::move(out), seconds, std::nullopt);
}

Or<TrialRuns::Ran> TrialRuns::watch_tasks(const Trial& condition, const UniqueFd& lease) {
  const double seconds = setup_.workload.seconds;
  if (auto settled = watched_.pause(seconds * settling_share, lease); !settled)
    return std::unexpected(settled.error());
  const auto counters = counts_.read();
  const bool instructions = setup_.value == Value::instructions_of_tasks;
  const CpuSeconds before = counts_.task_seconds(condition.group);
  TaskCounters counted(instructions ? counts_.tasks_of(condition.group) : std::vector<pid_t>{},
                       hardware_events().front());
  const uint64_t began = monotonic_nanoseconds();
  if (auto waited = watched_.pause(seconds, lease); !waited) return std::unexpected(waited.error());
  Ran out;
  if (instructions) {
    // A machine with much to do wakes this process late.
    out.sample.value = counted.count() / seconds_since(began);
    note_not_counted(counted, used_between(before, counts_.task_seconds(condition.group)).came);
    return out;
  }
  add(counts_.since(counters, condition.group, std::nullopt), out.sample);
  const UsedMeanwhile used = used_between(before, counts_.task_seconds(condition.group));
  if (setup_.value == Value::traffic_of_tasks && used.others > 0)
    not_counted_ = fmt::format(
        "Tasks came or went, {} at the last time: their traffic counts, and their CPU time does "
        "not.",
        used.others);
  return choose_value(condition, std::move(out), seconds, used.seconds);
}

void TrialRuns::note_not_counted(const TaskCounters& counted, size_t came) {
  if (std::string missing = counted.missing(); !missing.empty())
    not_counted_ = std::move(missing);
  else if (came > 0)
    not_counted_ = fmt::format(
        "Tasks came, {} at the last time: their instructions count only if a task of the group "
        "has started them meanwhile.",
        came);
}

Or<TrialRuns::Ran> TrialRuns::choose_value(const Trial& condition, Ran ran, double seconds,
                                           std::optional<double> task_seconds) const {
  if (setup_.value == Value::of_workload) return ran;
  if (!ran.sample.traffic) {
    note("rdtctl: the kernel does not count {} of group '{}': measure a command or --probe\n",
         traffic_counter, condition.group);
    return std::unexpected(Exit::failed);
  }
  ran.sample.value = *ran.sample.traffic;
  if (setup_.value == Value::traffic) ran.sample.value *= seconds;
  if (setup_.value != Value::traffic_of_tasks || !task_seconds || ran.sample.value == 0) return ran;
  if (*task_seconds <= 0) {
    note("rdtctl: no task of group '{}' was at work all the time: measure it by --metric traffic\n",
         condition.group);
    return std::unexpected(Exit::failed);
  }
  ran.sample.value *= seconds / *task_seconds;
  return ran;
}

}  // namespace rdtd
