#include "status_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "diagnose_parts.hpp"
#include "group_facts.hpp"
#include "groups.hpp"
#include "leases.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"
#include "rdtd/plan/plan.hpp"
#include "regions.hpp"
#include "time_point.hpp"
#include "value_text.hpp"

namespace rdtd {

namespace {

std::optional<Resource> resource_named(const std::string& name, const Capabilities& capabilities) {
  for (const auto& [other, control] : capabilities.controls)
    if (other.name() == name) return other;
  return parse_resource(name);
}

std::optional<uint32_t> number_in(const Share& share, Resource resource) {
  return parse_unsigned<uint32_t>(share.text, resource.is_bitmap() ? 16 : 10);
}

// "L3:4 ways MB:0=20%;1=40%"
std::string shares_text(const std::vector<Share>& shares, const Capabilities& capabilities) {
  std::map<std::string, std::map<DomainId, std::string>> resources;
  for (const Share& share : shares) resources[share.resource][DomainId{share.domain}] = share.text;
  std::vector<std::string> parts;
  for (const auto& [name, texts] : resources) {
    const auto resource = resource_named(name, capabilities);
    parts.push_back(fmt::format("{}:{}", name,
                                domains_text(capabilities, resource.value_or(Resource()), texts)));
  }
  return join(parts, " ");
}

// The same with amounts for people instead of the kernel's numbers.
std::vector<Share> as_amounts(std::vector<Share> granted, const Capabilities& capabilities) {
  for (Share& share : granted) {
    const auto resource = resource_named(share.resource, capabilities);
    const auto value = resource ? number_in(share, *resource) : std::nullopt;
    if (value) share.text = amount_text(capabilities, *resource, DomainId{share.domain}, *value);
  }
  return granted;
}

// The mode, and what it does not show: the kernel has no exclusive mode for ways that devices fill.
std::string mode_text(const Client::GroupRow& group, const Status& found) {
  if (group.mode != to_string(Mode::shareable) || group.name == "default") return group.mode;
  const Schemata granted = schemata_of(group.granted, found.capabilities);
  bool devices = false;
  for (const auto& [resource, info] : found.capabilities.caches)
    for (const auto& [domain, bytes] : info.way_bytes) {
      const Cbm ways = footprint(granted, resource, domain);
      const auto overlaps = [&](const auto& other) {
        return other.first != group_directory(group.name) &&
               footprint(other.second.schemata, resource, domain).overlaps(ways);
      };
      if (ways.empty() || std::ranges::any_of(found.now.groups, overlaps)) return group.mode;
      devices =
          devices || ways.overlaps(info.shareable_bits | footprint(found.now.io, resource, domain));
    }
  return devices ? fmt::format("exclusive{}", not_from_devices) : group.mode;
}

// Whether resctrl has a group of the policy. If it cannot be read, nothing is known to be missing.
bool exists(const Context& context, const std::string& group) {
  std::error_code unreadable;
  const auto path = std::filesystem::path(context.resctrl) / group_directory(group);
  return std::filesystem::is_directory(path, unreadable) ||
         unreadable == std::errc::permission_denied ||
         !std::filesystem::is_directory(context.resctrl, unreadable);
}

// "2 files, loaded TIME"; if none is in force, why.
std::string policy_text(const Context& context, const ManagerProperties& daemon) {
  const size_t in_force = daemon.config_files.size();
  if (in_force > 0 || !daemon.last_reload_error.empty())
    return fmt::format("{}, loaded {}", counted(in_force, "file"),
                       time_text(daemon.last_reload_timestamp));
  const auto files = find_policy_files(context.root);
  const auto waiting =
      static_cast<size_t>(std::ranges::count(files, PolicyFile::State::active, &PolicyFile::state));
  if (waiting > 0)
    return fmt::format("none since the last reset; rdtctl reload puts {} in force",
                       counted(waiting, "file"));
  const bool empty =
      std::ranges::find(files, PolicyFile::State::masked, &PolicyFile::state) != files.end();
  return fmt::format(
      "none: {}, and nothing is divided: see rdtctl init",
      empty ? "the *.toml files in /etc/rdtd are empty" : "there is no *.toml file in /etc/rdtd");
}

// "2 episodes in the last hour, batch -> redis, other -> redis"
std::string contention_text(const std::vector<EpisodeRow>& episodes) {
  std::vector<std::string> pairs;
  size_t count = 0;
  for (const EpisodeRow& episode : episodes) {
    if (episode.takers.empty() || episode.sufferers.empty()) continue;
    count++;
    const std::string pair = episode.takers.front() + " -> " + episode.sufferers.front();
    if (std::ranges::find(pairs, pair) == pairs.end()) pairs.push_back(pair);
  }
  if (count == 0) return {};
  constexpr size_t most = 3;
  const bool more = pairs.size() > most;
  pairs.resize(std::min(pairs.size(), most));
  return fmt::format("{} in the last hour, {}{}: rdtctl blame", counted(count, "episode"),
                     join(pairs, ", "), more ? ", ..." : "");
}

JsonValue contention_json(const std::vector<EpisodeRow>& episodes) {
  JsonValue out = JsonValue::array();
  for (const EpisodeRow& episode : episodes)
    out.push_back(
        {{"takers", episode.takers}, {"sufferers", episode.sufferers}, {"text", episode.text}});
  return out;
}

// "on: no step now: drift: group 'batch'". Empty without a guard.
std::string guard_text(const GuardStatus& guard) {
  if (guard.problem.empty()) return guard.mode == "off" ? "" : guard.mode;
  return fmt::format("{}: {}", guard.mode, printable(guard.problem));
}

// As doctor has it. Empty if a group can be created, or none is of another tool.
std::string no_closid_text(const Status& found) {
  if (found.capabilities.divides_nothing()) return {};
  MachineFacts facts;
  read_groups(found.capabilities, found.now, Policy{}, facts);
  const Finding closids = count_closids(facts);
  return closids.kind == Finding::Kind::warning ? fmt::format("{}; see rdtctl doctor", closids.what)
                                                : "";
}

// The lines of a text after its first one, below that.
std::string indented(const std::string& text) {
  return fmt::format("{}", fmt::join(split(trim(text), '\n'), "\n             "));
}

}  // namespace

Schemata schemata_of(const std::vector<Share>& granted, const Capabilities& capabilities) {
  Schemata out;
  for (const Share& share : granted) {
    const auto resource = resource_named(share.resource, capabilities);
    const auto value = resource ? number_in(share, *resource) : std::nullopt;
    if (value) out[*resource][DomainId{share.domain}] = *value;
  }
  return out;
}

JsonValue status_json(const Context& context, const Status& found) {
  const ManagerProperties& daemon = found.daemon;
  JsonValue list = JsonValue::array();
  for (const Client::GroupRow& group : found.groups) {
    JsonValue asked = JsonValue::object();
    for (const Share& share : group.asked)
      asked[share.resource][std::to_string(share.domain)] = share.text;
    JsonValue entry = {{"group", group.name},
                       {"exists", exists(context, group.name)},
                       {"asked", asked},
                       {"granted", schemata_json(schemata_of(group.granted, found.capabilities))},
                       {"mode", group.mode},
                       {"cpus", group.cpus},
                       {"rules", group.rules},
                       {"tasks", group.tasks}};
    add_usage(entry, found.usage);
    list.push_back(std::move(entry));
  }
  return {
      {"state", daemon.state},
      {"problems", daemon.problems},
      {"config_files", daemon.config_files},
      {"last_reload_error", daemon.last_reload_error},
      {"last_reload_timestamp_usec", daemon.last_reload_timestamp},
      {"job", daemon.job},
      {"job_timestamp_usec", daemon.job_timestamp},
      {"events_seen", daemon.events_seen},
      {"event_overruns", daemon.event_overruns},
      {"assigned", daemon.assigned()},
      {"drift", daemon.drift},
      {"groups", list},
      {"pseudo_locks", policy_regions_json(found.locks)},
      {"leases", leases_json(found.leases)},
      {"contention", contention_json(found.observed.episodes)},
      {"guard", {{"mode", found.observed.guard.mode}, {"problem", found.observed.guard.problem}}},
      {"bandwidth_units", bandwidth_units_json(found.capabilities)}};
}

void print_state(const Context& context, const Status& found) {
  const ManagerProperties& daemon = found.daemon;
  print(
      "      State: {}\n     Policy: {}\n     Events: {} seen, {} lost\n   "
      "Assigned: {} thread{}\n      Drift: {}\n",
      colored(context, daemon.state == "running" ? Judgment::good : Judgment::bad, daemon.state),
      policy_text(context, daemon), daemon.events_seen, daemon.event_overruns, daemon.assigned(),
      daemon.assigned() == 1 ? "" : "s", daemon.drift);
  if (!daemon.job.empty())
    print("        Job: {}, since {}\n", daemon.job, time_text(daemon.job_timestamp));
  if (const std::string text = contention_text(found.observed.episodes); !text.empty())
    print(" Contention: {}\n", text);
  if (const std::string text = guard_text(found.observed.guard); !text.empty())
    print("{}\n", wrapped(context, "      Guard: " + text, 13));
  std::string what_follows;
  for (const std::string& problem : daemon.problems) {
    // Once, with the error below.
    if (!daemon.last_reload_error.empty() && problem.starts_with(failed_reload))
      what_follows = problem.substr(failed_reload.size());
    else
      print("    Problem: {}\n", indented(problem));
  }
  if (const std::string text = no_closid_text(found); !text.empty())
    print("{}\n", wrapped(context, "    Warning: " + text, 13));
  if (!daemon.last_reload_error.empty())
    print("{}{}{}:\n{}\n",
          daemon.config_files.empty() ? "Last reload or reset failed" : "Last reload failed",
          what_follows,
          daemon.config_files.empty() ? ""
          : what_follows.empty()      ? ", the policy before it is in force"
                                      : "; the policy before it is in force",
          daemon.last_reload_error);
  print("\n");
}

void print_groups(const Context& context, const Status& found) {
  std::vector<std::vector<std::string>> rows;
  for (const Client::GroupRow& group : found.groups) {
    const Usage used = usage_of(found.usage, group.name);
    rows.push_back({group.name, std::to_string(group.tasks), std::to_string(group.rules),
                    exists(context, group.name) ? mode_text(group, found) : "missing", group.cpus,
                    shares_text(group.asked, found.capabilities),
                    shares_text(as_amounts(group.granted, found.capabilities), found.capabilities),
                    used_text("llc_occupancy", used.of("llc_occupancy")),
                    used_text("mbm_total_bytes", used.of("mbm_total_bytes"))});
  }
  print_table(context,
              {{"GROUP"},
               {"TASKS", true},
               {"RULES", true},
               {.name = "MODE", .whole = true},
               {"CPUS", false, true},
               {"ASKED", false, true},
               {"GRANTED", false, true},
               {"OCCUPANCY", true},
               {"BANDWIDTH", true}},
              rows);
}

JsonValue rules_json(const std::vector<RuleStatus>& rules) {
  JsonValue out = JsonValue::array();
  for (const RuleStatus& rule : rules)
    out.push_back({{"rule", rule.place}, {"group", rule.group}, {"processes", rule.processes}});
  return out;
}

void print_rules(const Context& context, const std::vector<RuleStatus>& rules) {
  std::vector<std::vector<std::string>> rows;
  for (const RuleStatus& rule : rules)
    rows.push_back({rule.place, rule.group, std::to_string(rule.processes)});
  print("\n");
  print_table(context, {{"RULE"}, {"GROUP"}, {"PROCESSES", true}}, rows);
}

}  // namespace rdtd
