// bench --ceiling: the most traffic that each domain can carry, which blame and the guard compare
// with.
#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "file_limit.hpp"
#include "measured_process.hpp"
#include "output.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/counters.hpp"
#include "rdtd/observe/episode.hpp"
#include "rdtd/observe/series.hpp"
#include "rdtd/observer/ceilings.hpp"
#include "rdtd/observer/sampler.hpp"
#include "rdtd/resctrl/read.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

constexpr double ramp_seconds = 0.5;
// Of the traffic of the busiest domain: one with less has memory that the streams do not use.
constexpr double least_part = 0.1;

struct CpuStream {
  unsigned cpu;
  uint64_t bytes;  // that it reads
};

// Streams that run at the same time, and the domains that they fill with traffic.
struct Load {
  std::set<DomainId> domains;
  std::vector<CpuStream> streams;
  CpuSet others;  // CPUs that would have one if this process might use them
};

struct Carried {
  DomainId domain{};
  double rate = 0;  // bytes/s
  CpuSet cpus;      // of the streams
};

std::string domain_words(const std::string& resource, const std::set<DomainId>& domains) {
  return fmt::format("{} domain{} {}", resource, domains.size() == 1 ? "" : "s",
                     domain_list(domains));
}

// For each L3 cache. Together the streams read twice as much as the cache holds, and each more than
// the caches of its core.
std::vector<Load> loads_of_caches(const Context& context) {
  const CpuSet allowed = experiment::allowed_cpus();
  std::vector<Load> out;
  for (const auto& [cpu, bytes] : experiment::caches_of(context.cpus, allowed, 3)) {
    const auto place = experiment::find_place(
        context.cpus, {.allowed = allowed, .command = {cpu}, .level = 3, .beside_noise = false});
    if (!place) continue;
    const CpuSet cpus = common(place->shared, allowed);
    if (cpus.empty()) continue;
    const uint64_t bytes_of_stream = 2 * bytes / cpus.size() + 2 * place->inner_bytes;
    Load& load = out.emplace_back();
    load.domains = {DomainId{place->cache.id}};
    load.others = without(place->shared, allowed);
    for (const unsigned one : cpus) load.streams.push_back({one, bytes_of_stream});
  }
  return out;
}

// No file says which CPUs use the memory of a domain that is no cache. All streams at once fill all
// of them, since each takes memory that is near.
std::vector<Load> loads_of(const Context& context, const std::string& resource,
                           const std::set<DomainId>& domains) {
  std::vector<Load> caches = loads_of_caches(context);
  if (resource == to_string(Resource::L3) || caches.empty()) return caches;
  Load all{domains, {}, {}};
  for (Load& load : caches) {
    std::ranges::move(load.streams, std::back_inserter(all.streams));
    all.others.merge(load.others);
  }
  return {std::move(all)};
}

// All traffic that was counted so far, by domain. Not of one in which a group has no number.
using Bytes = std::map<DomainId, double>;
Bytes bytes_in(const std::vector<DomainCounters>& counters, const std::string& resource) {
  Bytes out;
  std::set<DomainId> unknown;
  for (const DomainCounters& row : counters) {
    if (row.resource != resource || is_mon_group(row.group)) continue;
    const auto bytes = observe::number_of(row, traffic_counter);
    if (bytes)
      out[row.domain] += *bytes;
    else
      unknown.insert(row.domain);
  }
  for (const DomainId domain : unknown) out.erase(domain);
  return out;
}

class CeilingRun {
 public:
  CeilingRun(const Tree& tree, const std::string& resource, double seconds,
             std::vector<Carried>& carried)
      : tree_(tree), resource_(resource), seconds_(seconds), carried_(carried) {}
  // A load that cannot be measured is left out, with a note. An interruption leaves out all that
  // comes after it, and so does the first failure, which may be that of all. Returns the exit code.
  int measure(const std::vector<Load>& loads);

 private:
  // The error is the exit code, after a note.
  template <class T>
  using Or = std::expected<T, int>;

  [[nodiscard]] Or<std::vector<Process>> start(const Load& load);
  [[nodiscard]] Or<Bytes> bytes_now() const;
  [[nodiscard]] Or<Bytes> rates_of(const Load& load);
  [[nodiscard]] Or<void> add(const Load& load);

  const Tree& tree_;
  const std::string& resource_;
  double seconds_;
  std::vector<Carried>& carried_;
  WatchedRun watched_;
};

// They are in their group, and have used the memory that they read.
CeilingRun::Or<std::vector<Process>> CeilingRun::start(const Load& load) {
  (void)raise_file_limit();  // for a stream on each CPU of a large machine
  std::vector<Process> out;
  for (const CpuStream& stream : load.streams) {
    auto process = Process::start(
        {.command = {},
         .built_in = [bytes = stream.bytes](
                         Shared& shared) { return experiment::run_stream(bytes, shared.bytes); },
         .group = "default",
         .cpus = {stream.cpu}});
    if (!process) return std::unexpected(report(process.error()));
    out.push_back(std::move(*process));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const Ended ended = watched_.wait_for_memory(out[i], load.streams[i].bytes, {});
    if (ended == Ended::timeout) continue;
    if (ended != Ended::process) return std::unexpected(watched_.stopped(ended));
    return std::unexpected(
        report_failure("a stream " + end_text(out[i].wait().status), out[i].output()));
  }
  return out;
}

CeilingRun::Or<Bytes> CeilingRun::bytes_now() const {
  const auto counters = tree_.read_counters();
  if (!counters) return std::unexpected(report(counters.error()));
  return bytes_in(*counters, resource_);
}

// Bytes/s by domain, 0 where nothing more was counted.
CeilingRun::Or<Bytes> CeilingRun::rates_of(const Load& load) {
  const auto streams = start(load);
  if (!streams) return std::unexpected(streams.error());
  if (const auto paused = watched_.pause(ramp_seconds, {}); !paused)
    return std::unexpected(paused.error());
  const auto before = bytes_now();
  if (!before) return before;
  const uint64_t began = monotonic_nanoseconds();
  if (const auto paused = watched_.pause(seconds_, {}); !paused)
    return std::unexpected(paused.error());
  const auto after = bytes_now();
  if (!after) return after;
  const auto passed = static_cast<double>(monotonic_nanoseconds() - began) / 1e9;
  Bytes out;
  for (const DomainId domain : load.domains)
    if (before->contains(domain) && after->contains(domain))
      out[domain] = std::max(0.0, after->at(domain) - before->at(domain)) / passed;
  return out;
}

CeilingRun::Or<void> CeilingRun::add(const Load& load) {
  const auto rates = rates_of(load);
  if (!rates) return std::unexpected(rates.error());
  double most = 0;
  for (const auto& [domain, rate] : *rates) most = std::max(most, rate);
  CpuSet cpus;
  for (const CpuStream& stream : load.streams) cpus.insert(stream.cpu);
  std::set<DomainId> not_counted, not_used;
  for (const DomainId domain : load.domains) {
    const auto rate = rates->find(domain);
    if (rate == rates->end() || most == 0)
      not_counted.insert(domain);
    else if (rate->second < least_part * most)
      not_used.insert(domain);
    else
      carried_.push_back({domain, rate->second, cpus});
  }
  if (!not_counted.empty())
    note("rdtctl: the kernel has no number of the traffic in {}\n",
         domain_words(resource_, not_counted));
  if (!not_used.empty())
    note("rdtctl: programs on {} use hardly any memory of {}\n", experiment::cpu_words(cpus),
         domain_words(resource_, not_used));
  if (not_counted.empty() && not_used.empty()) return {};
  return std::unexpected(Exit::failed);
}

int CeilingRun::measure(const std::vector<Load>& loads) {
  int out = Exit::ok;
  for (const Load& load : loads) {
    const auto added = add(load);
    if (!added) out = added.error();
    if (watched_.interrupted() || carried_.empty()) break;
  }
  std::set<DomainId> missing;
  for (const Load& load : loads) missing.insert(load.domains.begin(), load.domains.end());
  for (const Carried& one : carried_) missing.erase(one.domain);
  if (!missing.empty())
    note("rdtctl: {} {} not measured\n", domain_words(resource_, missing),
         missing.size() == 1 ? "was" : "were");
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

void warn_of_other_cpus(const std::string& resource, const std::vector<Load>& loads) {
  for (const Load& load : loads)
    if (!load.others.empty())
      note("rdtctl: warning: this process may not use {} (taskset, cpuset): {} may carry more\n",
           experiment::cpu_words(load.others), domain_words(resource, load.domains));
}

// Before the result is printed: that ends rdtctl if standard output is a closed pipe.
Result<void> keep(const Context& context, Tree tree, const std::string& resource,
                  const std::vector<Carried>& carried) {
  observe::Header header = Sampler(std::move(tree)).header(0);
  for (const Carried& one : carried) header.ceilings[resource][one.domain] = one.rate;
  return write_ceilings(state_directory(context), header);
}

void print_carried(const Context& context, const std::string& resource,
                   const std::vector<Carried>& carried) {
  JsonValue rows = JsonValue::array();
  for (const Carried& one : carried) {
    rows.push_back({{"resource", resource},
                    {"domain", static_cast<uint32_t>(one.domain)},
                    {"bytes_per_second", one.rate},
                    {"cpus", format_cpu_list(one.cpus)}});
    if (context.json == Json::off)
      print("{} {}: {} on {}\n", resource, to_string(one.domain), observe::rate_text(one.rate),
            experiment::cpu_words(one.cpus));
  }
  if (context.json != Json::off) print_json(context, {{"ceilings", std::move(rows)}});
}

}  // namespace

int verbs::ceiling(const Context& context, double seconds) {
  auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  const auto counters = tree->read_counters();
  if (!counters) return report(counters.error());
  const std::string resource = traffic_resource(*counters);
  if (resource.empty()) {
    note("rdtctl: the kernel counts no memory traffic here: no group has {}\n", traffic_counter);
    return Exit::failed;
  }
  std::set<DomainId> domains;
  for (const DomainCounters& row : *counters)
    if (row.resource == resource) domains.insert(row.domain);
  const std::vector<Load> loads = loads_of(context, resource, domains);
  if (loads.empty()) {
    note("rdtctl: this machine has no L3 cache that this process may use\n");
    return Exit::failed;
  }
  if (resource == to_string(Resource::L3))
    note("Streams on all CPUs of {}, {:g} s each, show how much memory traffic it carries.\n",
         loads.size() == 1 ? "the L3 cache" : "each L3 cache in turn", seconds);
  else
    note("Streams on all CPUs, {:g} s, show how much memory traffic each domain of {} carries.\n",
         seconds, resource);
  if (const std::string limit = limit_of_streams(*tree); !limit.empty())
    note(
        "rdtctl: warning: the default group, which the streams are in, may use {} of the "
        "bandwidth: the domain may carry more\n",
        limit);
  warn_of_other_cpus(resource, loads);
  std::vector<Carried> carried;
  const int failed = CeilingRun(*tree, resource, seconds, carried).measure(loads);
  if (carried.empty()) return failed;
  const auto written = keep(context, std::move(*tree), resource, carried);
  print_carried(context, resource, carried);
  if (!written) return report_file(written.error());
  note("rdtd-observer takes it up within a minute.\n");
  return failed;
}

}  // namespace rdtd
