// bench --ceiling: the most traffic that each domain can carry, which blame and the guard compare
// with.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "measured_process.hpp"
#include "output.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/observe/episode.hpp"
#include "rdtd/observe/series.hpp"
#include "rdtd/observer/ceilings.hpp"
#include "rdtd/observer/sampler.hpp"
#include "rdtd/resctrl/read.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

constexpr double ramp_seconds = 0.5;

struct Domain {
  DomainId id{};
  CpuSet cpus, others;  // those of it that this process may use, and may not
  uint64_t bytes_of_stream = 0;
  double rate = 0;  // bytes/s
};

// The L3 caches, each with the CPUs of it that this process may use. Together the streams read
// twice as much as the cache holds, and each more than the caches of its core.
std::vector<Domain> domains_of(const Context& context) {
  const CpuSet allowed = experiment::allowed_cpus();
  std::vector<Domain> out;
  for (const auto& [cpu, bytes] : experiment::caches_of(context.cpus, allowed, 3)) {
    const auto place = experiment::find_place(
        context.cpus, {.allowed = allowed, .command = {cpu}, .level = 3, .beside_noise = false});
    if (!place) continue;
    Domain domain{.id = DomainId{place->cache.id}, .cpus = {}};
    std::ranges::set_intersection(place->shared, allowed,
                                  std::inserter(domain.cpus, domain.cpus.end()));
    if (domain.cpus.empty()) continue;
    std::ranges::set_difference(place->shared, allowed,
                                std::inserter(domain.others, domain.others.end()));
    domain.bytes_of_stream = 2 * bytes / domain.cpus.size() + 2 * place->inner_bytes;
    out.push_back(std::move(domain));
  }
  return out;
}

// All traffic that was counted in the domain so far; nothing if a group has no number.
std::optional<double> bytes_in(const Tree& tree, DomainId domain) {
  const auto counters = tree.read_counters();
  if (!counters) return std::nullopt;
  std::optional<double> out;
  for (const DomainCounters& row : *counters) {
    if (row.resource != "L3" || row.domain != domain || is_mon_group(row.group)) continue;
    const auto bytes = observe::number_of(row, traffic_counter);
    if (!bytes) return std::nullopt;
    out = out.value_or(0) + *bytes;
  }
  return out;
}

int not_counted(DomainId domain) {
  note("rdtctl: the kernel has no number of the traffic in domain {}\n", to_string(domain));
  return Exit::failed;
}

// The error is the exit code, after a note.
std::expected<void, int> measure(const Tree& tree, WatchedRun& watched, double seconds,
                                 Domain& domain) {
  std::vector<Process> streams;
  const uint64_t bytes = domain.bytes_of_stream;
  for (const unsigned cpu : domain.cpus) {
    auto stream = Process::start(
        {.command = {},
         .built_in =
             [bytes](Shared& shared) { return experiment::run_stream(bytes, shared.bytes); },
         .group = "default",
         .cpus = {cpu}});
    if (!stream) return std::unexpected(report(stream.error()));
    streams.push_back(std::move(*stream));
  }
  for (Process& stream : streams) {
    const Ended ended = watched.wait_for_memory(stream, bytes, {});
    if (ended == Ended::timeout) continue;
    if (ended != Ended::process) return std::unexpected(watched.stopped(ended));
    return std::unexpected(
        report_failure("a stream " + end_text(stream.wait().status), stream.output()));
  }
  if (const auto paused = watched.pause(ramp_seconds, {}); !paused)
    return std::unexpected(paused.error());
  const auto before = bytes_in(tree, domain.id);
  const uint64_t began = monotonic_nanoseconds();
  if (const auto paused = watched.pause(seconds, {}); !paused)
    return std::unexpected(paused.error());
  const auto after = bytes_in(tree, domain.id);
  const auto passed = static_cast<double>(monotonic_nanoseconds() - began) / 1e9;
  if (!before || !after || *after <= *before) return std::unexpected(not_counted(domain.id));
  domain.rate = (*after - *before) / passed;
  return {};
}

// Those that cannot be measured are left out, with a note of all of them. An interruption leaves
// out the others too, and so does the first failure, which may be that of all. Returns the exit
// code.
int measure_all(const Tree& tree, double seconds, std::vector<Domain>& domains) {
  WatchedRun watched;
  int out = Exit::ok;
  for (Domain& domain : domains) {
    const auto measured = measure(tree, watched, seconds, domain);
    if (!measured) out = measured.error();
    const bool any = std::ranges::any_of(domains, [](const Domain& one) { return one.rate > 0; });
    if (watched.interrupted() || !any) break;
  }
  std::set<unsigned> missing;
  for (const Domain& domain : domains)
    if (domain.rate <= 0) missing.insert(static_cast<unsigned>(domain.id));
  if (!missing.empty())
    note("rdtctl: L3 domain{} {} not measured\n", missing.size() == 1 ? "" : "s",
         format_cpu_list(missing) + (missing.size() == 1 ? " was" : " were"));
  std::erase_if(domains, [](const Domain& domain) { return domain.rate <= 0; });
  return out;
}

// The default group's limit of bandwidth, as in `schemata`, if it has one.
std::string limit_of_streams(const Tree& tree) {
  const auto capabilities = tree.read_capabilities({});
  const auto schemata = resctrl::read_schemata(tree.filesystem(), std::string(root_group));
  if (!capabilities || !schemata || !capabilities->bandwidths.contains(Resource::MB)) return "";
  const auto row = schemata->find(Resource::MB);
  if (row == schemata->end()) return "";
  for (const auto& [domain, value] : row->second)
    if (capabilities->bandwidths.at(Resource::MB).unit == BandwidthUnit::percent && value < 100)
      return fmt::format("{}%", value);
  return "";
}

void warn_of_other_cpus(const std::vector<Domain>& domains) {
  for (const Domain& domain : domains)
    if (!domain.others.empty())
      note(
          "rdtctl: warning: this process may not use {} of domain {} (taskset, cpuset): the domain "
          "may carry more\n",
          experiment::cpu_words(domain.others), to_string(domain.id));
}

}  // namespace

int verbs::ceiling(const Context& context, double seconds) {
  auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  std::vector<Domain> domains = domains_of(context);
  if (domains.empty()) {
    note("rdtctl: this machine has no L3 cache that this process may use\n");
    return Exit::failed;
  }
  note("Streams on all CPUs of {}, {:g} s each, show how much memory traffic it carries.\n",
       domains.size() == 1 ? "the L3 cache" : "each L3 cache in turn", seconds);
  if (const std::string limit = limit_of_streams(*tree); !limit.empty())
    note(
        "rdtctl: warning: the default group, which the streams are in, may use {} of the "
        "bandwidth: the domain may carry more\n",
        limit);
  warn_of_other_cpus(domains);
  const int failed = measure_all(*tree, seconds, domains);
  if (domains.empty()) return failed;
  observe::Header header = Sampler(std::move(*tree)).header(0);
  for (const Domain& domain : domains) header.ceilings["L3"][domain.id] = domain.rate;
  // Before the result is printed: that ends rdtctl if standard output is a closed pipe.
  const auto written = write_ceilings(state_directory(context), header);
  JsonValue rows = JsonValue::array();
  for (const Domain& domain : domains) {
    rows.push_back({{"resource", "L3"},
                    {"domain", static_cast<uint32_t>(domain.id)},
                    {"bytes_per_second", domain.rate},
                    {"cpus", format_cpu_list(domain.cpus)}});
    if (context.json == Json::off)
      print("L3 {}: {} on {}\n", to_string(domain.id), observe::rate_text(domain.rate),
            experiment::cpu_words(domain.cpus));
  }
  if (context.json != Json::off) print_json(context, {{"ceilings", std::move(rows)}});
  if (!written) return report_file(written.error());
  note("rdtd-observer takes it up within a minute.\n");
  return failed;
}

}  // namespace rdtd
