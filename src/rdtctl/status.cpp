#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "groups.hpp"
#include "rdtd/base/text.hpp"
#include "runtimes.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// How long bandwidth is measured.
constexpr std::chrono::milliseconds measured_for(200);

std::string time_text(uint64_t usec) {
  if (usec == 0) return "never";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}",
                     fmt::localtime(static_cast<std::time_t>(usec / 1'000'000)));
}

// Empty if resctrl does not monitor or cannot be read.
std::vector<Usage> measure(const Context& context) {
  const auto tree = Tree::open(context.resctrl);
  const auto before = tree ? read_usage(*tree) : std::unexpected(tree.error());
  if (!before || before->counters.empty()) return {};
  std::this_thread::sleep_for(measured_for);
  const auto now = read_usage(*tree);
  return now ? usage_between(*before, *now, Domains::summed) : std::vector<Usage>{};
}

Schemata schemata_of(const std::vector<Share>& granted) {
  Schemata out;
  for (const Share& share : granted) {
    const auto resource = parse_resource(share.resource);
    const auto value = resource
                           ? parse_unsigned<uint32_t>(share.text, is_cache(*resource) ? 16 : 10)
                           : std::nullopt;
    if (value) out[*resource][DomainId{share.domain}] = *value;
  }
  return out;
}

// The values of the kernel that differ from those that the daemon granted, one line each.
std::vector<std::string> differences_from(const TreeMachine& machine,
                                          const std::vector<Client::GroupRow>& groups) {
  std::vector<GroupTarget> targets;
  for (const Client::GroupRow& group : groups) {
    // Under a policy that divides nothing the default group is others' to set.
    if (groups.size() == 1 && group.asked.empty()) continue;
    GroupTarget& target = targets.emplace_back();
    target.directory = group_directory(group.name);
    target.state = {parse_mode(group.mode).value_or(Mode::shareable), schemata_of(group.granted),
                    parse_cpu_list(group.cpus).value_or(CpuSet{})};
  }
  std::vector<std::string> out;
  for (const Difference& difference : differences(targets, {}, {}, machine.snapshot))
    out.push_back(difference.text);
  return out;
}

// Whether resctrl has a group of the policy. If it cannot be read, nothing is known to be missing.
bool exists(const Context& context, const std::string& group) {
  std::error_code unreadable;
  const auto path = std::filesystem::path(context.resctrl) / group_directory(group);
  return std::filesystem::is_directory(path, unreadable) ||
         !std::filesystem::is_directory(context.resctrl, unreadable);
}

JsonValue status_json(const Context& context, const ManagerProperties& daemon,
                      const std::vector<Client::GroupRow>& groups,
                      const std::vector<Usage>& usage) {
  JsonValue list = JsonValue::array();
  for (const Client::GroupRow& group : groups) {
    JsonValue asked = JsonValue::object();
    for (const Share& share : group.asked)
      asked[share.resource][std::to_string(share.domain)] = share.text;
    JsonValue entry = {
        {"group", group.name},  {"exists", exists(context, group.name)},
        {"asked", asked},       {"granted", schemata_json(schemata_of(group.granted))},
        {"mode", group.mode},   {"cpus", group.cpus},
        {"rules", group.rules}, {"tasks", group.tasks}};
    add_usage(entry, usage);
    list.push_back(std::move(entry));
  }
  return {{"state", daemon.state},
          {"problems", daemon.problems},
          {"config_files", daemon.config_files},
          {"last_reload_error", daemon.last_reload_error},
          {"last_reload_timestamp_usec", daemon.last_reload_timestamp},
          {"events_seen", daemon.events_seen},
          {"event_overruns", daemon.event_overruns},
          {"assigned", daemon.assigned()},
          {"drift", daemon.drift},
          {"groups", list}};
}

// The lines of a text after its first one, below that.
std::string indented(const std::string& text) {
  return fmt::format("{}", fmt::join(split(trim(text), '\n'), "\n             "));
}

void print_status(const Context& context, const ManagerProperties& daemon,
                  const std::vector<Client::GroupRow>& groups, const std::vector<Usage>& usage) {
  print(
      "      State: {}\n     Policy: {} file{}, loaded {}\n     Events: {} seen, {} lost\n   "
      "Assigned: {} thread{}\n      Drift: {}\n",
      emphasized(context, daemon.state), daemon.config_files.size(),
      daemon.config_files.size() == 1 ? "" : "s", time_text(daemon.last_reload_timestamp),
      daemon.events_seen, daemon.event_overruns, daemon.assigned(),
      daemon.assigned() == 1 ? "" : "s", daemon.drift);
  for (const std::string& problem : daemon.problems) print("    Problem: {}\n", indented(problem));
  if (!daemon.last_reload_error.empty())
    print("{}:\n{}\n",
          daemon.config_files.empty() ? "Last reload or reset failed"
                                      : "Last reload failed, the policy before it is in force",
          daemon.last_reload_error);
  print("\n");
  std::vector<std::vector<std::string>> rows;
  for (const Client::GroupRow& group : groups) {
    const Usage used = usage_of(usage, group.name);
    rows.push_back({group.name, std::to_string(group.tasks), std::to_string(group.rules),
                    exists(context, group.name) ? group.mode : "missing", group.cpus,
                    shares_line(group.asked), shares_line(group.granted),
                    used_text("llc_occupancy", used.of("llc_occupancy")),
                    used_text("mbm_total_bytes", used.of("mbm_total_bytes"))});
  }
  print_table(context,
              {{"GROUP"},
               {"TASKS", true},
               {"RULES", true},
               {"MODE"},
               {"CPUS"},
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

// The groups in resctrl, for when the daemon does not run.
void print_tree(const Context& context) {
  const auto machine = read_machine(context);
  JsonValue groups = JsonValue::array();
  if (!machine) {  // it is the daemon that was asked for
    if (context.json != Json::off)
      print_json(context, {{"state", "not running"}, {"groups", groups}});
    return;
  }
  const std::vector<Usage> usage = measure(context);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [directory, state] : machine->snapshot.groups) {
    JsonValue group = group_json(*machine, directory);
    const Usage used = usage_of(usage, group_label(directory));
    rows.push_back({group_label(directory), made_by(*machine, directory),
                    std::to_string(group["tasks"].get<size_t>()),
                    std::string(to_string(state.mode)), format_cpu_list(state.cpus),
                    schemata_line(state.schemata),
                    used_text("llc_occupancy", used.of("llc_occupancy")),
                    used_text("mbm_total_bytes", used.of("mbm_total_bytes"))});
    add_usage(group, usage);
    groups.push_back(std::move(group));
  }
  if (context.json != Json::off)
    print_json(context, {{"state", "not running"}, {"groups", groups}});
  else
    print_table(context,
                {{"GROUP"},
                 {"MADE BY"},
                 {"TASKS", true},
                 {"MODE"},
                 {"CPUS"},
                 {"SCHEMATA", false, true},
                 {"OCCUPANCY", true},
                 {"BANDWIDTH", true}},
                rows);
}

}  // namespace

int verbs::status(const Context& context, bool rules, bool verify) {
  auto client = Client::connect();
  const auto daemon = client ? client->properties() : std::unexpected(client.error());
  const auto groups = daemon ? client->list_groups() : std::unexpected(daemon.error());
  if (!groups) {
    const int exit = report(groups.error());
    if (groups.error().unreachable()) print_tree(context);
    return exit;
  }
  for (const RuntimeSetting& setting : find_runtime_settings(context.root))
    note("rdtctl: warning: {} manages RDT itself ({}) and deletes groups: see rdtctl doctor\n",
         setting.runtime, setting.place);
  const auto ruled =
      rules ? client->list_rules() : Client::Answer<std::vector<RuleStatus>>(std::in_place);
  if (!ruled) return report(ruled.error());
  std::vector<std::string> wrong;
  if (verify) {
    const auto machine = read_machine(context);
    if (!machine) return report(machine.error());
    wrong = differences_from(*machine, *groups);
  }
  const std::vector<Usage> usage = measure(context);
  if (context.json != Json::off) {
    JsonValue json = status_json(context, *daemon, *groups, usage);
    if (rules) json["rules"] = rules_json(*ruled);
    if (verify) json["differences"] = wrong;
    print_json(context, std::move(json));
  } else {
    print_status(context, *daemon, *groups, usage);
    if (rules) print_rules(context, *ruled);
    if (verify)
      print("\n{}\n",
            wrong.empty() ? "The kernel has every value that was granted." : join(wrong, "\n"));
  }
  return daemon->state == "running" && wrong.empty() ? Exit::ok : Exit::degraded;
}

}  // namespace rdtd
