#include "metrics_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>
#include <variant>

#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

namespace {

class Exposition {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    out_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  template <class Value>
  void sample(std::string_view name, std::string_view labels, Value value) {
    out_ += labels.empty() ? fmt::format("{} {}\n", name, value)
                           : fmt::format("{}{{{}}} {}\n", name, labels, value);
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::string out_;
};

// Two samples with the same labels make the file useless: bytes that cannot be printed are escaped,
// not replaced.
std::string label(std::string_view name, std::string_view value) {
  const bool is_printable = printable(value) == value;
  std::string quoted;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (!is_printable && (byte < ' ' || byte > '~'))
      quoted += fmt::format("\\\\x{:02x}", byte);
    else
      quoted += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  }
  return fmt::format("{}=\"{}\"", name, quoted);
}

// The name of a counter's metric without its prefix, by the customs of Prometheus.
std::string metric_name(const std::string& counter) {
  if (counter == "llc_occupancy") return "llc_occupancy_bytes";
  if (counter == "mbm_total_bytes") return "memory_bandwidth_bytes_total";
  if (counter == "mbm_local_bytes") return "memory_bandwidth_local_bytes_total";
  std::string out = counter;
  std::ranges::replace_if(out, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  const CounterKind kind = kind_of_counter(counter);
  if (kind.unit == CounterKind::Unit::joules) out += "_joules";
  if (kind.unit == CounterKind::Unit::farads) out += "_farads";
  return kind.cumulative ? out + "_total" : out;
}

std::string help_of(const std::string& counter) {
  if (counter == "llc_occupancy") return "Bytes that the group has in the L3 cache.";
  if (counter == "mbm_total_bytes") return "Bytes read from and written to memory by the group.";
  if (counter == "mbm_local_bytes") return "The part of them in the domain's own memory.";
  return fmt::format("The kernel's counter {} of the group.", printable(counter));
}

// Values that are not counted are left out. A node's figures are apart from those of the domain
// that includes them. Counters of one name that are not those of an L3 cache say of what they are.
void add_counters(Exposition& out, const std::vector<DomainCounters>& counters) {
  struct Family {
    std::string counter;
    std::vector<std::pair<std::string, std::string>> samples;  // labels, value
  };
  std::map<std::string, Family> families;
  for (const DomainCounters& of : counters) {
    const bool node = of.resource.starts_with("sub_");
    const std::string label_name = node ? "node" : of.resource == "PERF_PKG" ? "package" : "domain";
    std::string labels = label("group", group_label(control_group_of(of.group)));
    if (is_mon_group(of.group))
      labels += "," + label("mon_group", of.group.substr(of.group.rfind('/') + 1));
    labels += "," + label(label_name, to_string(of.domain));
    if (label_name == "domain" && of.resource != "L3")
      labels += "," + label("resource", of.resource);
    for (const auto& [counter, value] : of.counters) {
      if (std::holds_alternative<NoCount>(value)) continue;
      Family& family =
          families[fmt::format("rdtd_{}{}{}", is_mon_group(of.group) ? "mon_group_" : "",
                               node ? "node_" : "", metric_name(counter))];
      family.counter = counter;
      const auto* integer = std::get_if<uint64_t>(&value);
      family.samples.emplace_back(labels, integer != nullptr
                                              ? fmt::format("{}", *integer)
                                              : fmt::format("{}", std::get<double>(value)));
    }
  }
  for (const auto& [name, family] : families) {
    out.head(name, kind_of_counter(family.counter).cumulative ? "counter" : "gauge",
             help_of(family.counter));
    for (const auto& [labels, value] : family.samples) out.sample(name, labels, value);
  }
}

// The amounts that the groups may have, so that their use can be compared with them. A rate without
// a limit is left out.
class Granted {
 public:
  explicit Granted(const Capabilities& capabilities) : capabilities_(capabilities) {}
  void add(const std::string& group, const GroupState& state) {
    for (const auto& [resource, values] : state.schemata)
      for (const auto& [domain, value] : values) {
        std::string labels = fmt::format("{},{}", label("group", group_label(group)),
                                         label("domain", to_string(domain)));
        if (resource != Resource::L3 && resource != Resource::MB)
          labels += "," + label("resource", to_string(resource));
        if (is_cache(resource))
          add_ways(resource, domain, Cbm{value}.count(), labels);
        else
          add_limit(resource, domain, value, labels);
      }
  }
  void write(Exposition& out) const {
    write(out, "rdtd_granted_ways", "Ways of the cache that the group may fill.", ways_);
    write(out, "rdtd_granted_cache_bytes", "How much the cache has in them.", bytes_);
    write(out, "rdtd_granted_bandwidth_percent", "The group's limit of bandwidth.", percents_);
    write(out, "rdtd_granted_bandwidth_bytes_per_second", "The group's limit of bandwidth.",
          rates_);
  }

 private:
  using Samples = std::vector<std::pair<std::string, uint64_t>>;  // labels, value
  static void write(Exposition& out, std::string_view name, std::string_view help,
                    const Samples& samples) {
    if (samples.empty()) return;
    out.head(name, "gauge", help);
    for (const auto& [labels, value] : samples) out.sample(name, labels, value);
  }
  void add_ways(Resource resource, DomainId domain, unsigned ways, const std::string& labels) {
    ways_.emplace_back(labels, ways);
    const auto cache = capabilities_.caches.find(resource);
    if (cache == capabilities_.caches.end()) return;
    const auto size = cache->second.way_bytes.find(domain);
    if (size != cache->second.way_bytes.end() && size->second != 0)
      bytes_.emplace_back(labels, size->second * ways);
  }
  void add_limit(Resource resource, DomainId domain, uint32_t value, const std::string& labels) {
    const auto limit = capabilities_.bandwidths.find(resource);
    if (limit == capabilities_.bandwidths.end()) return;
    const auto unlimited = limit->second.unlimited.find(domain);
    if (limit->second.unit == BandwidthUnit::percent)
      percents_.emplace_back(labels, value);
    else if (unlimited == limit->second.unlimited.end() || value < unlimited->second)
      rates_.emplace_back(labels, unit_bytes(limit->second.unit) * value);
  }

  const Capabilities& capabilities_;
  Samples ways_, bytes_, percents_, rates_;
};

void add_granted(Exposition& out, const MetricsSource& source) {
  Granted granted(source.capabilities);
  for (const auto& [group, state] : source.snapshot.groups) granted.add(group, state);
  granted.write(out);
  if (source.snapshot.groups.empty()) return;
  out.head("rdtd_closids", "gauge",
           "Control groups that the machine can have, the default one too.");
  out.sample("rdtd_closids", "", source.capabilities.most_groups());
  out.head("rdtd_control_groups", "gauge",
           "Control groups that hold a CLOSID, the default one too.");
  out.sample("rdtd_control_groups", "", 1 + source.snapshot.closid_holders().size());
}

void add_daemon(Exposition& out, const ManagerProperties& daemon) {
  out.head("rdtd_config_last_reload_successful", "gauge",
           "Whether the last reload put the policy files in force.");
  out.sample("rdtd_config_last_reload_successful", "", daemon.last_reload_error.empty() ? 1 : 0);
  out.head("rdtd_config_last_reload_success_timestamp_seconds", "gauge",
           "When the policy in force was loaded.");
  out.sample("rdtd_config_last_reload_success_timestamp_seconds", "",
             static_cast<double>(daemon.last_reload_timestamp) / 1e6);
  out.head("rdtd_state", "gauge", "1 for the state that rdtd is in.");
  for (const std::string_view state : {"running", "degraded"})
    out.sample("rdtd_state", label("state", state), daemon.state == state ? 1 : 0);
  out.head("rdtd_drift", "gauge", "Things that something else had changed when rdtd last looked.");
  out.sample("rdtd_drift", "", daemon.drift);
  out.head("rdtd_proc_event_overruns_total", "counter", "Process events that the kernel dropped.");
  out.sample("rdtd_proc_event_overruns_total", "", daemon.event_overruns);
  if (daemon.assignments.empty()) return;
  out.head("rdtd_assignments_total", "counter",
           "Threads that rules put in a group, and those that the kernel refused to move.");
  for (const AssignmentCount& count : daemon.assignments)
    out.sample("rdtd_assignments_total",
               label("group", count.group) + "," + label("result", count.result), count.threads);
}

void add_locks(Exposition& out, const std::vector<LockStatus>& locks) {
  if (locks.empty()) return;
  out.head("rdtd_pseudo_lock_bytes", "gauge", "Bytes that the region holds in the cache.");
  for (const LockStatus& lock : locks)
    out.sample(
        "rdtd_pseudo_lock_bytes",
        fmt::format("{},{},{}", label("pseudo_lock", lock.name), label("resource", lock.resource),
                    label("domain", std::to_string(lock.domain))),
        lock.state == "missing" ? 0 : lock.bytes);
  out.head("rdtd_pseudo_lock_state", "gauge", "1 for the state that the region is in.");
  for (const LockStatus& lock : locks)
    for (const std::string_view state : {"locked", "waiting", "missing"})
      out.sample("rdtd_pseudo_lock_state",
                 fmt::format("{},{}", label("pseudo_lock", lock.name), label("state", state)),
                 lock.state == state ? 1 : 0);
}

void add_contention(Exposition& out, const std::vector<ContentionCount>& counts) {
  if (counts.empty()) return;
  const auto labels = [](const ContentionCount& count) {
    return fmt::format("{},{},{},{},{}", label("resource", count.resource),
                       label("domain", std::to_string(count.domain)), label("kind", count.kind),
                       label("taker", count.taker), label("sufferer", count.sufferer));
  };
  out.head(
      "rdtd_contention_episodes_total", "counter",
      "How often what one group took was missing for another, of the 1000 pairs that had it last.");
  for (const ContentionCount& count : counts)
    out.sample("rdtd_contention_episodes_total", labels(count), count.episodes);
  out.head("rdtd_contention_seconds_total", "counter", "How long that was.");
  for (const ContentionCount& count : counts)
    out.sample("rdtd_contention_seconds_total", labels(count), count.seconds);
}

void add_guard(Exposition& out, const GuardStatus& guard) {
  const auto domain_labels = [](const auto& row) {
    return fmt::format("{},{},{}", label("group", row.group), label("resource", row.resource),
                       label("domain", std::to_string(row.domain)));
  };
  if (!guard.amounts.empty())
    out.head("rdtd_guard_amount", "gauge",
             "Bandwidth that the guard asks for the group, or would in mode shadow.");
  for (const GuardAmount& amount : guard.amounts)
    out.sample("rdtd_guard_amount",
               fmt::format("{},{},{}", domain_labels(amount), label("unit", amount.unit),
                           label("mode", guard.mode)),
               amount.amount);
  if (guard.mode == "on" || guard.mode == "shadow" || !guard.problem.empty()) {
    out.head("rdtd_guard_problem", "gauge",
             "Whether something keeps the guard from its work; rdtctl explain guard says what.");
    out.sample("rdtd_guard_problem", label("mode", guard.mode), guard.problem.empty() ? 0 : 1);
  }
  if (!guard.counts.empty())
    out.head("rdtd_guard_steps_total", "counter", "How often the guard changed that.");
  for (const GuardCount& count : guard.counts)
    out.sample("rdtd_guard_steps_total",
               fmt::format("{},{},{}", domain_labels(count), label("direction", count.direction),
                           label("mode", count.mode)),
               count.steps);
}

}  // namespace

std::string metrics_text(const MetricsSource& source) {
  Exposition out;
  out.head("rdtd_build_info", "gauge", "The version of rdtctl.");
  out.sample("rdtd_build_info", label("version", RDTD_VERSION), 1);
  add_counters(out, source.counters);
  add_granted(out, source);
  if (source.daemon) add_daemon(out, *source.daemon);
  add_locks(out, source.locks);
  add_contention(out, source.contention);
  add_guard(out, source.guard);
  return out.text();
}

}  // namespace rdtd
