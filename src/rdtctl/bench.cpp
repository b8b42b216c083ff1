// bench: compares a command alone, beside noise, and beside noise in a group.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <ranges>
#include <set>

#include "probe_memory.hpp"
#include "bench_report.hpp"
#include "bench_shares.hpp"
#include "experiment.hpp"
#include "html.hpp"
#include "plot.hpp"
#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "rdtd/resctrl/read.hpp"
#include "size_text.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

using namespace bench;
using experiment::Place;

// The additions of the measurement to the policy. A group of its own exists only while the command
// is in it: if it is exclusive, it would take ways from the runs outside of it.
struct Held {
  // A monitoring group in each group that the command is in, so that the kernel counts for the
  // command alone.
  UniqueFd lease;
  std::string monitor;    // the monitoring groups' name; "": there are none
  std::string why_not;    // a sentence
  std::string own_group;  // the policy of the group; "": the policy has it
};

// The command in the group is counted in a monitoring group of that name.
std::string monitor_rule(const std::string& name, const std::string& group) {
  return fmt::format("[[rule]]\ngroup = {}\nmonitor = \"{}\"\ncgroup = {}\n", toml_string(group),
                     name, toml_string(fmt::format("/rdtctl/{}/{}", name, group)));
}

// The monitoring groups are made if this machine and the daemon allow it.
Held hold(Client& client, const verbs::BenchOptions& options, const BenchResult& result) {
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
  return out;
}

// Whether the daemon has the groups that the policy is to have; a run would find it out late.
int check_groups(Client& client, const verbs::BenchOptions& options) {
  const auto groups = client.list_groups();
  if (!groups) return report(groups.error());
  std::vector<std::string> names;
  for (const Client::GroupRow& group : *groups) names.push_back(group.name);
  for (const std::string& group : {options.group, options.noise_group}) {
    // Monitoring groups are not among them.
    const std::string control(control_group_of(group_directory(group)));
    if (group.empty() || std::ranges::find(names, group_label(control)) != names.end()) continue;
    note("rdtctl: there is no group '{}' in the policy in force{}\n", group,
         nearest_question(group, names));
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

// Without a size a probe reads three quarters of what the group has, which only a reader of resctrl
// knows.
int check_size(const Result<TreeMachine>& machine, const verbs::BenchOptions& options) {
  const auto& probe = options.workload.probe;
  if (machine || !probe || probe->size != 0) return Exit::ok;
  const int exit = report(machine.error());
  note(
      "rdtctl: so it is not known what the group has of the cache: give the size, such as "
      "--probe latency:8M\n");
  return exit;
}

BenchResult empty_result(verbs::BenchOptions& options) {
  BenchResult out;
  out.pseudo_lock = options.pseudo_lock;
  out.group = options.group;
  out.noise_group = options.noise_group;
  if (!options.lease.amounts.empty())
    out.group = options.lease.name = fmt::format("bench-{}", ::getpid());
  out.probe = options.workload.probe.has_value();
  out.unit = options.workload.unit();
  out.time = options.workload.is_time();
  out.noise_has_rate = options.streams > 0;
  return out;
}

// The three, in the order of alone, with_noise, in_group.
std::vector<Trial> conditions_of(const BenchResult& result, const Held& held,
                                 const std::optional<Region>& region) {
  const auto group = [](const std::string& name) { return name.empty() ? "default" : name; };
  return {
      {.name = condition_name(result, alone), .group = "default"},
      {.name = condition_name(result, with_noise), .group = "default", .noise_group = "default"},
      {.name = condition_name(result, in_group),
       .policy = held.own_group,
       .group = group(result.group),
       .noise_group = group(result.noise_group),
       .device = region ? region->device : ""}};
}

Schemata schemata_of(const Tree& tree, const std::string& group) {
  const auto text = tree.filesystem().read(resctrl::file_of(group_directory(group), "schemata"));
  const auto parsed = text ? parse_schemata(*text) : std::unexpected(text.error());
  return parsed.value_or(Schemata{});
}

// Reads the share of the cache that each condition has. A group that cannot be made is reported
// here, before the first run.
std::expected<void, int> read_shares(Client& client, const Result<TreeMachine>& machine,
                                     const Place& place, const std::vector<Trial>& conditions,
                                     BenchResult& result) {
  for (size_t i = 0; i < conditions.size(); ++i) {
    UniqueFd lease;
    if (!conditions[i].policy.empty()) {
      auto made = client.lease(result.group, conditions[i].policy);
      if (!made) return std::unexpected(report(made.error()));
      lease = std::move(*made);
    }
    if (!machine) continue;
    result.shares[i].ways = ways_in(schemata_of(machine->tree, conditions[i].group), place.cache);
    if (conditions[i].noise_group)
      result.shares[i].noise_ways =
          ways_in(schemata_of(machine->tree, *conditions[i].noise_group), place.cache);
  }
  return {};
}

// By group, of those that the policy has. None with a group of its own, from which others may have
// to give ways during its runs.
std::map<std::string, Schemata> present_schemata(const Result<TreeMachine>& machine,
                                                 const verbs::BenchOptions& options) {
  std::map<std::string, Schemata> out;
  if (!machine || !options.lease.amounts.empty()) return out;
  for (const std::string& group : {std::string("default"), options.group, options.noise_group})
    if (!group.empty()) out[group] = schemata_of(machine->tree, group);
  return out;
}

// Where the third condition differs from the second. Warns if it does not.
Divided divided_on(const Result<TreeMachine>& machine, const verbs::BenchOptions& options,
                   BenchResult& result) {
  std::set<std::string> groups = {options.group, options.noise_group};
  groups.erase("");
  groups.erase("default");
  const auto& amounts = options.lease.amounts;
  if (groups.empty() && amounts.empty() && options.group == "default")
    result.warnings.emplace_back(
        "The command is in the default group under both: the third condition does not differ from "
        "the second.");
  Divided out;
  if (machine && !groups.empty()) {
    const auto found = divided_by(machine->snapshot, groups);
    if (!found && amounts.empty())
      result.warnings.push_back(fmt::format(
          "'{}' {} what the default group has: the third condition does not differ from the "
          "second.",
          fmt::join(groups, "' and '"), groups.size() == 1 ? "has" : "have"));
    out = found.value_or(Divided{});
  }
  if (!amounts.empty()) out.domains.clear();
  if (amounts.contains(Resource::L3)) out.level = 3;
  if (amounts.contains(Resource::L2) && out.level != 3) out.level = 2;
  return out;
}

// Where all of it runs: in a domain that the third condition changes.
std::expected<Place, int> place_of(const Context& context, const verbs::BenchOptions& options,
                                   const Divided& divided, const std::optional<Region>& region) {
  experiment::PlaceRequest request{.allowed = experiment::allowed_cpus(),
                                   .command = options.workload.cpus,
                                   .level = divided.level,
                                   .domains = divided.domains};
  if (region) {
    request.level = region->cache.level;
    request.domains = {region->cache.id};
  }
  auto place = experiment::find_place(context.cpus, request);
  if (place) return *std::move(place);
  const int exit = report(place.error());
  if (!region && !divided.domains.empty())
    note("rdtctl: in the other domains, the third condition does not differ from the second\n");
  return std::unexpected(exit);
}

// The ways of a region are locked under all conditions, which is the point of it.
void warn_of_ways(const Result<TreeMachine>& machine, const verbs::BenchOptions& options,
                  const Place& place, BenchResult& result) {
  if (!machine || !options.pseudo_lock.empty()) return;
  if (auto sentence =
          missing_ways(machine->capabilities, machine->snapshot, place.cache, options.group))
    result.warnings.push_back(*std::move(sentence));
}

std::vector<std::string> facts_of(const Context& context, const verbs::BenchOptions& options,
                                  const BenchResult& result, const Place& place,
                                  const std::string& settings) {
  std::vector<std::string> out = {
      fmt::format("The command ran on {}, the noise on {}; they share an L{} cache of {}. The next "
                  "smaller cache has {}.",
                  experiment::cpu_words(place.command), experiment::cpu_words(place.noise),
                  place.cache.level, size_text(place.bytes), size_text(place.inner_bytes))};
  if (options.workload.probe && options.workload.is_time())
    out.push_back(fmt::format("The runs are compared by {}.", options.workload.time_name()));
  std::ranges::move(circumstances(context, options.workload, settings), std::back_inserter(out));
  if (!options.lease.amounts.empty())
    out.push_back(
        fmt::format("Group '{}' was a lease:\n{}", result.group, lease_text(options.lease)));
  std::set<std::string> groups = {result.group, result.noise_group, "default"};
  groups.erase("");
  if (const auto tree = Tree::open(context.resctrl))
    for (const std::string& group : groups)
      if (const Schemata schemata = schemata_of(*tree, group); !schemata.empty())
        out.push_back(
            fmt::format("The schemata of '{}' after the runs: {}", group, schemata_line(schemata)));
  return out;
}

}  // namespace

int verbs::bench(const Context& context, BenchOptions options) {
  const auto html = HtmlFile::open(options.html);
  if (!html) return html.error();
  auto client = Client::connect();
  if (!client) return report(client.error());
  if (const auto running = client->properties(); !running) return report(running.error());
  if (const int exit = check_groups(*client, options); exit != Exit::ok) return exit;
  const auto region = region_of(context, *client, options);
  if (!region) return region.error();
  const auto machine = read_machine(context);  // a user may bench without the right to read it
  if (const int exit = check_size(machine, options); exit != Exit::ok) return exit;
  BenchResult result = empty_result(options);
  const auto place = place_of(context, options, divided_on(machine, options, result), *region);
  if (!place) return place.error();
  Held held = hold(*client, options, result);
  auto conditions = conditions_of(result, held, *region);
  if (auto read = read_shares(*client, machine, *place, conditions, result); !read)
    return read.error();
  const unsigned all_ways = machine ? all_ways_of(machine->capabilities, place->cache.level) : 0;
  const auto warnings = size_probe(
      options.workload, *place,
      {result.group.empty() ? "default" : result.group, result.shares[in_group].ways, all_ways});
  if (!warnings) return warnings.error();
  std::ranges::copy(*warnings, std::back_inserter(result.warnings));
  result.command = options.workload.text();
  warn_of_ways(machine, options, *place, result);
  for (const std::string& warning : result.warnings) note("rdtctl: {}\n", warning);
  const auto before = present_schemata(machine, options);
  Measured measured =
      measure(context, *client,
              {.conditions = std::move(conditions),
               .workload = options.workload,
               .place = *place,
               .rounds = options.rounds,
               .lease = result.group,
               .monitor = held.monitor,
               .held = std::move(held.lease),
               .streams = options.streams,
               .noise_commands = options.noise_commands,
               .evicts = true,
               .value_text = [unit = result.unit](double value) { return quantity(value, unit); }});
  if (measured.rounds() == 0) return measured.exit;
  result.complete = measured.exit == Exit::ok;
  result.rounds_wanted = measured.rounds_wanted;
  std::ranges::move(measured.samples, result.samples.begin());
  std::ranges::move(measured.times, result.times.begin());
  result.disturbances = std::move(measured.disturbances);
  std::ranges::move(changed_groups(before, present_schemata(machine, options)),
                    std::back_inserter(result.disturbances));
  if (!held.why_not.empty()) result.disturbances.push_back(held.why_not);
  result.origin = origin_of(context);
  result.facts = facts_of(context, options, result, *place, measured.settings);
  // Before the result is printed: that ends rdtctl if standard output is a closed pipe.
  const int written = html->write(bench_html(result));
  if (context.json == Json::off)
    print_bench(context, result);
  else
    print_json(context, bench_json(result));
  return measured.exit == Exit::ok ? written : measured.exit;
}

}  // namespace rdtd
