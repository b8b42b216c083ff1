#include "experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <ranges>
#include <set>

#include "print.hpp"
#include "progress.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/proc/perf_events.hpp"
#include "size_text.hpp"
#include "task_counters.hpp"

namespace rdtd {

namespace {

constexpr double settle_seconds = 0.2;  // the noise fills the cache
// Of each measurement of running tasks: until the lines of the earlier amount have left the cache.
constexpr double settling_share = 0.5;
constexpr const char* occupancy_counter = "llc_occupancy";
constexpr const char* traffic_counter = "mbm_total_bytes";

class Experiment {
 public:
  Experiment(const Context& context, Client& client, ExperimentSetup setup)
      : proc_(context.proc),
        cpus_(context.cpus),
        of_others_(children_of_this(context.proc)),
        client_(client),
        setup_(std::move(setup)),
        disturbance_(context.proc, context.cpus, setup_.place),
        progress_(setup_.conditions.size() * (setup_.rounds + 1), setup_.step) {
    if (auto tree = Tree::open(context.resctrl)) tree_.emplace(std::move(*tree));
  }

  Measured measure() {
    Measured out{.rounds_wanted = setup_.rounds,
                 .samples = std::vector<std::vector<Sample>>(setup_.conditions.size()),
                 .times = std::vector<experiment::ProbeTimes>(setup_.conditions.size())};
    out.exit = measure_rounds(out);
    if (watched_.interrupted() && out.rounds() == 0)
      note("rdtctl: interrupted before a round was complete: there is nothing to show\n");
    out.disturbances = disturbance_.sentences();
    if (out.exit != Exit::ok && out.rounds() > 0)
      out.disturbances.insert(out.disturbances.begin(),
                              ended_early(watched_.interrupted(), out.rounds(), setup_.rounds));
    if (setup_.streams > 0 || !setup_.noise_commands.empty())
      if (auto sentence = experiment::nearness_of_noise(setup_.place))
        out.disturbances.push_back(*std::move(sentence));
    if (!no_events_.empty())
      out.disturbances.push_back(
          fmt::format("Instructions and cache misses were not counted: {}.", no_events_));
    if (!not_counted_.empty()) out.disturbances.push_back(not_counted_);
    out.settings = disturbance_.settings();
    return out;
  }

 private:
  struct Ran {
    Sample sample;
    experiment::ProbeTimes times;
  };
  template <class T>
  using Or = std::expected<T, int>;  // an exit code after a note

  int measure_rounds(Measured& out) {
    auto left = warm_up();
    if (!left) return left.error();
    const auto order =
        experiment::order_of_runs(left->size(), setup_.rounds, std::random_device{}());
    std::vector<Ran> round(left->size());
    for (size_t i = left->size(); i < order.size(); ++i) {
      const size_t condition = (*left)[order[i].condition];
      auto ran = run_shown(condition);
      if (!ran) return ran.error();
      round[order[i].condition] = std::move(*ran);
      // A round counts when all of its conditions were measured.
      if ((i + 1) % left->size() != 0) continue;
      for (size_t k = 0; k < round.size(); ++k) {
        out.samples[(*left)[k]].push_back(round[k].sample);
        out.times[(*left)[k]].add(round[k].times);
      }
      progress_.end_round((i + 1) / left->size() - 1, setup_.rounds, medians(out, *left));
    }
    return Exit::ok;
  }

  // Of what was measured so far: "alone 1.20 s".
  [[nodiscard]] std::vector<std::string> medians(const Measured& measured,
                                                 std::vector<size_t> of) const {
    std::ranges::stable_sort(of, {}, [&](size_t i) { return setup_.conditions[i].amount; });
    std::vector<std::string> out;
    for (const size_t condition : of) {
      std::vector<double> values;
      for (const Sample& sample : measured.samples[condition]) values.push_back(sample.value);
      out.push_back(fmt::format("{} {}", setup_.conditions[condition].name,
                                setup_.value_text(experiment::median(std::move(values)))));
    }
    return out;
  }

  // The round that is not counted: which conditions are bearable.
  Or<std::vector<size_t>> warm_up() {
    std::vector<size_t> out;
    std::optional<double> best;
    unsigned unbearable = 0;  // this amount and smaller ones
    const bool lower = setup_.better == experiment::Better::lower;
    for (size_t i = 0; i < setup_.conditions.size(); ++i) {
      const Trial& condition = setup_.conditions[i];
      if (condition.amount != 0 && condition.amount <= unbearable) continue;
      const auto ran = run_shown(i);
      if (!ran) return std::unexpected(ran.error());
      const double value = ran->sample.value;
      best = !best ? value : lower ? std::min(*best, value) : std::max(*best, value);
      const auto unfit = is_unbearable(i, value, *best);
      if (!unfit) return std::unexpected(unfit.error());
      if (*unfit) {
        // From the present amount down, less is worse still.
        const bool down = condition.amount < setup_.conditions.front().amount;
        if (down) unbearable = condition.amount;
        note("{} made it {:.0f}% {}, more than --max-loss allows: {} left out\n", condition.name,
             100 * experiment::loss_of(value, *best, setup_.better), lower ? "worse" : "less",
             down ? "it and smaller amounts are" : "it is");
      } else {
        out.push_back(i);
      }
    }
    progress_.expect_more(out.size() * setup_.rounds);
    return out;
  }

  // A single run may have met a pause of the workload: two of three must be that bad.
  Or<bool> is_unbearable(size_t condition, double first, double best) {
    const auto is_bad = [&](double value) {
      return setup_.most_loss && best > 0 &&
             experiment::loss_of(value, best, setup_.better) > *setup_.most_loss;
    };
    if (!is_bad(first)) return false;
    int bad = 1;
    for (int again = 0; again < 2; again++) {
      const auto ran = run_shown(condition);
      if (!ran) return std::unexpected(ran.error());
      bad += is_bad(ran->sample.value) ? 1 : 0;
    }
    return bad > 1;
  }

  Or<Ran> run_shown(size_t condition) {
    progress_.show(setup_.conditions[condition].name);
    auto out = run(setup_.conditions[condition]);
    end_children(proc_, of_others_);
    progress_.clear();
    return out;
  }

  // Under its lease, which ends before the next one is asked for.
  Or<Ran> run(const Trial& condition) {
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
  Or<void> await_end_of_leases() {
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

  // Whose ways the run may use. A group of another condition's lease is not there now.
  [[nodiscard]] std::set<std::string> groups_to_evict(const Trial& condition) const {
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
  Or<std::vector<Process>> evict(const Trial& condition, const UniqueFd& lease) {
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
  Or<std::vector<Process>> start_noise(const Trial& condition, const UniqueFd& lease) {
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
  Or<void> check_noise(std::vector<Process>& noise, const UniqueFd& lease) {
    for (Process& process : noise)
      if (const Ended ended = watched_.wait(&process, lease, 0); ended != Ended::timeout)
        return std::unexpected(noise_ended(process, ended));
    return {};
  }

  [[nodiscard]] int noise_ended(Process& noise, Ended ended) const {
    if (ended != Ended::process) return watched_.stopped(ended);
    const int status = noise.wait().status;
    return report_failure(fmt::format("the noise {} before the command ended",
                                      status == 0 ? "ended" : end_text(status)),
                          noise.output());
  }

  static double bytes_of(const std::vector<Process>& noise) {
    uint64_t out = 0;
    for (const Process& process : noise) out += process.shared().bytes;
    return static_cast<double>(out);
  }

  // Nothing if there are commands: their children's time is not known before they end.
  [[nodiscard]] std::optional<double> noise_seconds(const std::vector<Process>& noise) const {
    if (!setup_.noise_commands.empty()) return std::nullopt;
    double out = 0;
    for (const Process& process : noise) out += process.cpu_seconds_now();
    return out;
  }

  Or<Ran> run_workload(const Trial& condition, std::vector<Process>& noise, const UniqueFd& lease) {
    const std::string group =
        setup_.monitor.empty() ? condition.group : condition.group + "/" + setup_.monitor;
    const auto counters = read_counters();
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
    add_counters(group, counters, seconds, out.sample);
    OwnSeconds own;
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

  Or<Ran> watch_tasks(const Trial& condition, const UniqueFd& lease) {
    const double seconds = setup_.workload.seconds;
    if (auto settled = watched_.pause(seconds * settling_share, lease); !settled)
      return std::unexpected(settled.error());
    const auto counters = read_counters();
    const bool instructions = setup_.value == Value::instructions_of_tasks;
    const CpuSeconds before = task_seconds(condition.group);
    TaskCounters counted(instructions ? tasks_of(condition.group) : std::vector<pid_t>{},
                         hardware_events().front());
    const uint64_t began = monotonic_nanoseconds();
    if (auto waited = watched_.pause(seconds, lease); !waited)
      return std::unexpected(waited.error());
    Ran out;
    if (instructions) {
      // A machine with much to do wakes this process late.
      out.sample.value = counted.count() / seconds_since(began);
      note_not_counted(counted, used_between(before, task_seconds(condition.group)).came);
      return out;
    }
    add_counters(condition.group, counters, std::nullopt, out.sample);
    const UsedMeanwhile used = used_between(before, task_seconds(condition.group));
    if (setup_.value == Value::traffic_of_tasks && used.others > 0)
      not_counted_ = fmt::format(
          "Tasks came or went, {} at the last time: their traffic counts, and their CPU time does "
          "not.",
          used.others);
    return choose_value(condition, std::move(out), seconds, used.seconds);
  }

  void note_not_counted(const TaskCounters& counted, size_t came) {
    if (std::string missing = counted.missing(); !missing.empty())
      not_counted_ = std::move(missing);
    else if (came > 0)
      not_counted_ = fmt::format(
          "Tasks came, {} at the last time: their instructions count only if a task of the group "
          "has started them meanwhile.",
          came);
  }

  [[nodiscard]] std::vector<pid_t> tasks_of(const std::string& group) const {
    const auto tasks = tree_ ? tree_->read_tasks(group_directory(group)) : std::unexpected(Error{});
    return tasks.value_or(std::vector<pid_t>{});
  }

  [[nodiscard]] CpuSeconds task_seconds(const std::string& group) const {
    return cpu_seconds_of(tasks_of(group), proc_);
  }

  Or<Ran> choose_value(const Trial& condition, Ran ran, double seconds,
                       std::optional<double> task_seconds) const {
    if (setup_.value == Value::of_workload) return ran;
    if (!ran.sample.traffic) {
      note("rdtctl: the kernel does not count {} of group '{}': measure a command or --probe\n",
           traffic_counter, condition.group);
      return std::unexpected(Exit::failed);
    }
    ran.sample.value = *ran.sample.traffic;
    if (setup_.value == Value::traffic) ran.sample.value *= seconds;
    if (setup_.value != Value::traffic_of_tasks || !task_seconds || ran.sample.value == 0)
      return ran;
    if (*task_seconds <= 0) {
      note("rdtctl: no task of group '{}' was at work all the time: measure it by --traffic\n",
           condition.group);
      return std::unexpected(Exit::failed);
    }
    ran.sample.value *= seconds / *task_seconds;
    return ran;
  }

  [[nodiscard]] std::optional<Reading> read_counters() const {
    auto reading = tree_ ? read_usage(*tree_) : std::unexpected(Error{});
    return reading ? std::optional(std::move(*reading)) : std::nullopt;
  }

  // A sum that lacks a domain would look like less.
  static std::optional<double> of_all_domains(const Used& used) {
    return used.reason ? std::nullopt : used.amount;
  }

  // `seconds`: how long the workload ran, while reading the counters takes a while too; nothing for
  // tasks that go on meanwhile.
  void add_counters(const std::string& group, const std::optional<Reading>& before,
                    std::optional<double> seconds, Sample& sample) const {
    const auto now = before ? read_counters() : std::nullopt;
    if (!now) return;
    const std::chrono::duration<double> passed = now->at - before->at;
    for (const Usage& usage : usage_between(*before, *now, Domains::summed)) {
      if (usage.group != group) continue;
      sample.occupancy = of_all_domains(usage.of(occupancy_counter));
      sample.traffic = of_all_domains(usage.of(traffic_counter));
      if (sample.traffic && seconds) *sample.traffic *= passed.count() / *seconds;
    }
  }

  using OwnSeconds = experiment::OwnSeconds;

  std::string proc_, cpus_;
  std::set<pid_t> of_others_;  // children that this process had before
  Client& client_;
  ExperimentSetup setup_;
  WatchedRun watched_;
  experiment::Disturbance disturbance_;
  Progress progress_;
  std::optional<Tree> tree_;
  std::string no_events_, not_counted_;  // why; not_counted_: a sentence
};

}  // namespace

size_t Measured::rounds() const {
  size_t out = 0;
  for (const auto& of_condition : samples) out = std::max(out, of_condition.size());
  return out;
}

Measured measure(const Context& context, Client& client, ExperimentSetup setup) {
  return Experiment(context, client, std::move(setup)).measure();
}

std::vector<std::string> circumstances(const Context& context, const Workload& workload,
                                       const std::string& settings) {
  std::vector<std::string> out = {settings};
  if (const auto& probe = workload.probe)
    out.push_back(fmt::format("The probe read {}.", size_text(probe->size)));
  std::string line;
  std::getline(std::ifstream(context.proc + "/loadavg"), line);
  if (!line.empty())
    out.push_back(fmt::format("The load averages after the runs were {}.",
                              fmt::join(split(line, ' ') | std::views::take(3), " ")));
  return out;
}

}  // namespace rdtd
