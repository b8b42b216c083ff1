// bench: compares a command alone, beside noise, and beside noise in a group.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <ranges>
#include <set>

#include "probe_memory.hpp"
#include "bench_report.hpp"
#include "experiment.hpp"
#include "html.hpp"
#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "size_text.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

using namespace bench;
using experiment::Place;

// What the measurement adds to the policy. A group of its own exists only while the command is in
// it: if it is exclusive, it would take ways from the runs outside of it.
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
  out.unit = options.workload.unit();
  out.time = options.workload.is_time();
  out.noise_has_rate = options.streams > 0;
  return out;
}

// The three, in the order of bench::Condition.
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

// The ways that a group of that name has now, of the cache with that id.
unsigned ways_of(const Schemata& schemata, experiment::CacheId cache) {
  for (const auto& [resource, masks] : schemata)
    if (is_cache(resource) && to_string(resource).starts_with(fmt::format("L{}", cache.level)))
      if (const auto mask = masks.find(DomainId{cache.id}); mask != masks.end())
        return Cbm{mask->second}.count();
  return 0;
}

// 0 if that cache is not divided.
unsigned all_ways_of(const Capabilities& capabilities, unsigned level) {
  for (const auto& [resource, cache] : capabilities.caches)
    if (to_string(resource).starts_with(fmt::format("L{}", level))) return cache.cbm_mask.count();
  return 0;
}

Schemata schemata_of(const Tree& tree, const std::string& group) {
  const std::string directory = group_directory(group);
  const auto text =
      tree.filesystem().read(directory.empty() ? "schemata" : directory + "/schemata");
  const auto parsed = text ? parse_schemata(*text) : std::unexpected(text.error());
  return parsed.value_or(Schemata{});
}

// What each condition has of the cache. A group that cannot be made is reported here, before the
// first run.
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
    result.shares[i].ways = ways_of(schemata_of(machine->tree, conditions[i].group), place.cache);
    if (conditions[i].noise_group)
      result.shares[i].noise_ways =
          ways_of(schemata_of(machine->tree, *conditions[i].noise_group), place.cache);
  }
  return {};
}

// The level of the cache that the third condition divides; nothing if it divides none.
std::optional<unsigned> divided_level(const Result<TreeMachine>& machine,
                                      const verbs::BenchOptions& options) {
  const auto divides = [&](Resource resource) {
    if (options.lease.amounts.contains(resource)) return true;
    if (!machine) return false;
    const auto cache = machine->capabilities.caches.find(resource);
    if (cache == machine->capabilities.caches.end()) return false;
    for (const std::string& name : {options.group, options.noise_group}) {
      const auto group = machine->snapshot.groups.find(name.empty() ? "" : group_directory(name));
      if (group == machine->snapshot.groups.end()) continue;
      const auto masks = group->second.schemata.find(resource);
      if (masks == group->second.schemata.end()) continue;
      for (const auto& [domain, mask] : masks->second)
        if (!name.empty() && Cbm{mask} != cache->second.cbm_mask) return true;
    }
    return false;
  };
  if (divides(Resource::L3)) return 3;
  return divides(Resource::L2) ? std::optional(2U) : std::nullopt;
}

// The ways of a region are locked under all conditions, which is the point of it.
void warn_of_shares(const verbs::BenchOptions& options, const Place& place, unsigned all_ways,
                    BenchResult& result) {
  const unsigned ways = result.shares[alone].ways;
  if (ways == 0 || ways >= all_ways || !options.pseudo_lock.empty()) return;
  result.warnings.push_back(fmt::format(
      "Alone, the command has {} of {} ways of L{}: exclusive groups have the others.{}", ways,
      all_ways, place.cache.level,
      options.group.empty()
          ? ""
          : " With an amount such as --l3 instead of --group, only the runs in the group do."));
}

std::vector<std::string> facts_of(const Context& context, const verbs::BenchOptions& options,
                                  const BenchResult& result, const Place& place,
                                  const std::string& settings) {
  std::vector<std::string> out = {
      fmt::format("The command ran on {}, the noise on {}; they share an L{} cache of {}. The next "
                  "smaller cache has {}.",
                  experiment::cpu_words(place.command), experiment::cpu_words(place.noise),
                  place.cache.level, size_text(place.bytes), size_text(place.inner_bytes))};
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
  // Three quarters of what the group has, which only a reader of resctrl knows.
  if (const auto& probe = options.workload.probe; !machine && probe && probe->size == 0) {
    const int exit = report(machine.error());
    note(
        "rdtctl: so it is not known what the group has of the cache: give the size, such as "
        "--probe latency:8M\n");
    return exit;
  }
  auto place = experiment::find_place(
      context.cpus, {.allowed = experiment::allowed_cpus(),
                     .command = options.workload.cpus,
                     .level = divided_level(machine, options),
                     .cache = *region ? std::optional((*region)->cache) : std::nullopt});
  if (!place) return report(place.error());
  BenchResult result = empty_result(options);
  Held held = hold(*client, options, result);
  auto conditions = conditions_of(result, held, *region);
  if (auto read = read_shares(*client, machine, *place, conditions, result); !read)
    return read.error();
  const unsigned all_ways = machine ? all_ways_of(machine->capabilities, place->cache.level) : 0;
  const auto warnings = size_probe(
      options.workload, *place,
      {result.group.empty() ? "default" : result.group, result.shares[in_group].ways, all_ways});
  if (!warnings) return warnings.error();
  result.warnings = *warnings;
  result.command = options.workload.text();
  warn_of_shares(options, *place, all_ways, result);
  for (const std::string& warning : result.warnings) note("rdtctl: {}\n", warning);
  Measured measured = measure(context, *client,
                              {.conditions = std::move(conditions),
                               .workload = options.workload,
                               .place = *place,
                               .rounds = options.rounds,
                               .lease = result.group,
                               .monitor = held.monitor,
                               .held = std::move(held.lease),
                               .streams = options.streams,
                               .noise_commands = options.noise_commands,
                               .evicts = true});
  if (measured.rounds() == 0) return measured.exit;
  std::ranges::move(measured.samples, result.samples.begin());
  std::ranges::move(measured.times, result.times.begin());
  result.disturbances = std::move(measured.disturbances);
  if (!held.why_not.empty()) result.disturbances.push_back(held.why_not);
  result.origin = origin_of(context);
  result.facts = facts_of(context, options, result, *place, measured.settings);
  if (context.json == Json::off)
    print_bench(context, result);
  else
    print_json(context, bench_json(result));
  const int written = html->write(bench_html(result));
  return measured.exit == Exit::ok ? written : measured.exit;
}

}  // namespace rdtd
