// bench: runs a command alone, beside noise, and beside noise in a group, in turns, and compares.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <ranges>
#include <regex>

#include "bench_machine.hpp"
#include "bench_process.hpp"
#include "bench_report.hpp"
#include "rdtd/experiment/schedule.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

using namespace bench;

constexpr int exit_interrupted = 130;
constexpr int settle_ms = 200;  // the noise fills the cache
constexpr size_t shown_lines = 10;

enum class Ended { process, interrupted, lease, timeout };

CpuSet allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  (void)::sched_getaffinity(0, sizeof set, &set);
  CpuSet out;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) out.insert(cpu);
  return out;
}

UniqueFd block_signals() {
  sigset_t set;
  (void)::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) (void)::sigaddset(&set, number);
  (void)::sigprocmask(SIG_BLOCK, &set, nullptr);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC));
}

std::string last_lines(const std::string& text) {
  const std::string_view all = trim(text);
  size_t at = all.size(), lines = 0;
  while (at > 0 && lines < shown_lines) lines += all[--at] == '\n' ? 1 : 0;
  return std::string(trim(all.substr(at)));
}

std::string end_text(int status) {
  return WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                             : fmt::format("failed with status {}", WEXITSTATUS(status));
}

// The number in the first group of the expression, or in all of what it matches.
std::optional<double> metric(const std::string& output, const std::regex& expression) {
  std::smatch match;
  if (!std::regex_search(output, match, expression)) return std::nullopt;
  const std::string text = match[match.size() > 1 ? 1 : 0].str();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() ? std::nullopt : std::optional(value);
}

class Bench {
 public:
  Bench(const verbs::BenchOptions& options, BenchResult& result, Place place, UniqueFd lease)
      : options_(options),
        result_(result),
        place_(std::move(place)),
        signals_(block_signals()),
        lease_(std::move(lease)) {}

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

 private:
  Ended wait(const Process* process, int timeout_ms) {
    pollfd watched[] = {{process == nullptr ? -1 : process->descriptor(), POLLIN, 0},
                        {signals_.get(), POLLIN, 0},
                        {lease_ ? lease_.get() : -1, 0, 0}};
    const int ready = ::poll(watched, std::size(watched), timeout_ms);
    if (ready <= 0) return Ended::timeout;
    if (watched[1].revents != 0) return Ended::interrupted;
    return watched[2].revents != 0 ? Ended::lease : Ended::process;
  }

  Result<std::vector<Process>> start_noise() {
    std::vector<Process> out;
    const uint64_t bytes = 2 * place_.bytes;
    for (unsigned i = 0; i < options_.streams; ++i) {
      auto started = Process::start(
          {{},
           [bytes](Shared& shared) { return experiment::run_stream(bytes, shared.bytes); },
           options_.noise_group,
           place_.noise});
      if (!started) return std::unexpected(started.error());
      out.push_back(std::move(*started));
    }
    for (const std::string& command : options_.noise_commands) {
      auto started =
          Process::start({{"/bin/sh", "-c", command}, {}, options_.noise_group, place_.noise});
      if (!started) return std::unexpected(started.error());
      out.push_back(std::move(*started));
    }
    return out;
  }

  // Why a run ended that should not have.
  int stopped(Ended ended) {
    if (ended == Ended::interrupted) return exit_interrupted;
    note("rdtctl: the daemon ended the lease\n");
    return Exit::failed;
  }

  int failed(const std::string& what, const std::string& output) {
    note("rdtctl: {}\n", what);
    if (const std::string lines = last_lines(output); !lines.empty()) note("{}\n", lines);
    return Exit::failed;
  }

  static uint64_t bytes_of(const std::vector<Process>& noise) {
    uint64_t out = 0;
    for (const Process& process : noise) out += process.shared().bytes;
    return out;
  }

  std::expected<Sample, int> run(const experiment::Run& which) {
    auto noise = which.condition == alone ? std::vector<Process>() : start_noise();
    if (!noise) return std::unexpected(report(noise.error()));
    if (!noise->empty())
      if (const Ended ended = wait(nullptr, settle_ms); ended != Ended::timeout)
        return std::unexpected(stopped(ended));
    const uint64_t bytes_before = bytes_of(*noise), began = nanoseconds_now();
    auto process = Process::start(program(which.condition));
    if (!process) return std::unexpected(report(process.error()));
    if (const Ended ended = wait(&*process, -1); ended != Ended::process)
      return std::unexpected(stopped(ended));
    const uint64_t ended_at = nanoseconds_now();
    const double noise_seconds = static_cast<double>(ended_at - began) * 1e-9;
    Sample sample{.noise_rate =
                      static_cast<double>(bytes_of(*noise) - bytes_before) / noise_seconds};
    for (Process& other : *noise)
      if (wait(&other, 0) == Ended::process)
        return std::unexpected(
            failed("the noise " + end_text(other.wait().status) + " before the command ended",
                   other.output()));
    return finish(which, *process, ended_at, sample);
  }

  Program program(size_t condition) {
    const std::string group = condition == in_group ? result_.group : "default";
    const auto probe = options_.probe;
    const double seconds = options_.seconds;
    return {options_.command,
            [probe, seconds](Shared& shared) {
              const auto done = experiment::run_probe(*probe, seconds, shared.times);
              return done ? Error{} : done.error();
            },
            group,
            {place_.command}};
  }

  std::expected<Sample, int> finish(const experiment::Run& which, Process& process,
                                    uint64_t ended_at, Sample sample) {
    const auto end = process.wait();
    const std::string name = options_.probe ? "the probe" : "the command";
    if (end.status != 0)
      return std::unexpected(failed(name + " " + end_text(end.status), process.output()));
    sample.cpu_seconds = end.cpu_seconds;
    sample.value = static_cast<double>(ended_at - process.shared().started) * 1e-9;
    if (options_.probe) {
      sample.value = process.shared().times.time.mean();
      if (!which.warm_up) {
        result_.times[which.condition].time.add(process.shared().times.time);
        result_.times[which.condition].lateness.add(process.shared().times.lateness);
      }
    }
    if (!options_.metric.empty()) {
      const auto found = metric(process.output(), std::regex(options_.metric));
      if (!found)
        return std::unexpected(
            failed("the command printed no number that --metric matches", process.output()));
      sample.value = *found;
    }
    return sample;
  }

  const verbs::BenchOptions& options_;
  BenchResult& result_;
  Place place_;
  UniqueFd signals_, lease_;
};

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
  if (const auto tree = Tree::open(context.resctrl))
    for (const std::string& group : {result.group, std::string("default")})
      if (const auto text = tree->filesystem().read(group_directory(group) + "/schemata"))
        out.push_back(fmt::format("The schemata of '{}' after the runs: {}", group, trim(*text)));
  return out;
}

}  // namespace

int verbs::bench(const Context& context, BenchOptions options) {
  auto place = find_place(context.cpus, allowed_cpus());
  if (!place) return report(place.error());
  auto client = Client::connect();
  if (!client) return report(client.error());
  if (const auto running = client->properties(); !running) return report(running.error());
  BenchResult result;
  result.group = options.group;
  UniqueFd lease;
  if (!options.lease.amounts.empty()) {
    result.group = options.lease.name = fmt::format("bench-{}", ::getpid());
    auto made = client->lease(options.lease.name, lease_text(options.lease));
    if (!made) return report(made.error());
    lease = std::move(*made);
  }
  result.probe = options.probe.has_value();
  result.command = result.probe ? "probe " + options.probe_text
                                : fmt::format("{}", fmt::join(options.command, " "));
  result.unit = result.probe ? "ns" : options.metric.empty() ? "s" : "";
  result.time = options.metric.empty();
  result.noise_has_rate = options.streams > 0;
  const int exit = Bench(options, result, *place, std::move(lease)).measure();
  if (result.samples[alone].empty() || (exit != Exit::ok && exit != exit_interrupted)) return exit;
  result.facts = facts_of(context, options, result, *place);
  if (context.json == Json::off)
    print_bench(context, result);
  else
    print_json(context, bench_json(result));
  if (!options.html.empty()) {
    std::ofstream file(options.html);
    file << bench_html(result) << std::flush;
    if (!file) return report(Error{"write", options.html, errno, {}});
  }
  return exit;
}

}  // namespace rdtd
