// metrics: Prometheus's text format (prometheus.io/docs/instrumenting/exposition_formats). Unknown
// values are left out, not zero. No label has a process in it.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "print.hpp"
#include "verbs.hpp"

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

std::string label(std::string_view name, std::string_view value) {
  std::string quoted;
  for (const char c : printable(value))
    quoted += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  return fmt::format("{}=\"{}\"", name, quoted);
}

void add_counter(Exposition& out, const std::vector<DomainCounters>& counters, const char* name,
                 const char* type, const char* help,
                 std::optional<uint64_t> DomainCounters::* counter) {
  for (const bool of_mon_groups : {false, true}) {
    const std::string full = fmt::format("rdtd_{}{}", of_mon_groups ? "mon_group_" : "", name);
    bool first = true;
    for (const DomainCounters& domain : counters) {
      if (domain.mon_group.empty() == of_mon_groups || !(domain.*counter)) continue;
      if (std::exchange(first, false)) out.head(full, type, help);
      const std::string mon_group = of_mon_groups ? label("mon_group", domain.mon_group) + "," : "";
      out.sample(full,
                 fmt::format("{},{}{}", label("group", group_label(domain.group)), mon_group,
                             label("domain", to_string(domain.domain))),
                 *(domain.*counter));
    }
  }
}

void add_daemon(Exposition& out, const ManagerProperties& daemon) {
  out.head("rdtd_config_last_reload_successful", "gauge",
           "Whether the last reload put the policy files in force.");
  out.sample("rdtd_config_last_reload_successful", "", daemon.last_reload_error.empty() ? 1 : 0);
  out.head("rdtd_config_last_reload_success_timestamp_seconds", "gauge",
           "When the policy in force was loaded.");
  out.sample("rdtd_config_last_reload_success_timestamp_seconds", "",
             static_cast<double>(daemon.last_reload_timestamp) / 1e6);
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

// Puts it in place at once, for a collector that may read at any moment.
int write_out(const std::string& text, const std::string& file) {
  const std::filesystem::path path(file);
  const auto parent = Directory::open(path.has_parent_path() ? path.parent_path().string() : ".");
  const auto written =
      parent ? parent->replace(path.filename().string(), text) : std::unexpected(parent.error());
  if (written) return Exit::ok;
  const int exit = report(written.error());
  return exit == Exit::no_resctrl ? Exit::failed : exit;  // the directory does not exist
}

}  // namespace

int verbs::metrics(const Context& context, const std::string& file) {
  const auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  const auto counters = tree->read_counters();
  if (!counters) return report(counters.error());
  Exposition out;
  out.head("rdtd_build_info", "gauge", "The version of rdtctl.");
  out.sample("rdtd_build_info", label("version", RDTD_VERSION), 1);
  add_counter(out, *counters, "llc_occupancy_bytes", "gauge",
              "Bytes that the group has in the L3 cache.", &DomainCounters::llc_occupancy);
  add_counter(out, *counters, "memory_bandwidth_bytes_total", "counter",
              "Bytes read from and written to memory by the group.",
              &DomainCounters::mbm_total_bytes);
  add_counter(out, *counters, "memory_bandwidth_local_bytes_total", "counter",
              "The part of them in the domain's own memory.", &DomainCounters::mbm_local_bytes);
  // Of a copied tree there is no daemon; where it does not run here, there is nothing of it to
  // tell.
  auto client = context.snapshot_given ? std::unexpected(Client::Failure{}) : Client::connect();
  if (client)
    if (const auto daemon = client->properties()) add_daemon(out, *daemon);
  if (!file.empty()) return write_out(out.text(), file);
  print("{}", out.text());
  return Exit::ok;
}

}  // namespace rdtd
