#include <fmt/format.h>

#include <cerrno>
#include <map>
#include <optional>

#include "diagnose.hpp"
#include "groups.hpp"
#include "leases.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "regions.hpp"
#include "runtimes.hpp"
#include "status_view.hpp"
#include "value_text.hpp"
#include "verbs.hpp"
#include "verify.hpp"

namespace rdtd {

namespace {

// The groups in resctrl, for when the daemon does not run.
void print_tree(const Context& context) {
  const auto machine = read_machine(context);
  JsonValue groups = JsonValue::array();
  if (!machine) {  // it is the daemon that was asked for
    if (context.json != Json::off)
      print_json(context, {{"state", "not running"}, {"groups", groups}});
    return;
  }
  const std::vector<Usage> usage = measure_usage(context);
  std::map<std::string, std::vector<std::string>> cells;  // by directory
  for (const auto& [directory, state] : machine->snapshot.groups) {
    JsonValue group = group_json(*machine, directory);
    const Usage used = usage_of(usage, group_label(directory));
    cells[directory] = {group_label(directory),
                        made_by(*machine, directory),
                        std::to_string(group["tasks"].get<size_t>()),
                        std::string(to_string(state.mode)),
                        format_cpu_list(state.cpus),
                        schemata_text(machine->capabilities, state.schemata),
                        used_text("llc_occupancy", used.of("llc_occupancy")),
                        used_text("mbm_total_bytes", used.of("mbm_total_bytes"))};
    add_usage(group, usage);
    groups.push_back(std::move(group));
  }
  if (context.json != Json::off) {
    JsonValue json = {{"state", "not running"},
                      {"groups", groups},
                      {"pseudo_locks", regions_json(*machine)},
                      {"bandwidth_units", bandwidth_units_json(machine->capabilities)}};
    if (JsonValue io = io_json(*machine); !io.is_null()) json["io"] = std::move(io);
    return print_json(context, std::move(json));
  }
  std::vector<std::vector<std::string>> rows;
  for (const std::string& directory : ordered_groups(*machine, policy_groups(context)))
    rows.push_back(std::move(cells.at(directory)));
  print_table(context,
              {{"GROUP"},
               {"MADE BY"},
               {"TASKS", true},
               {.name = "MODE", .whole = true},
               {"CPUS", false, true},
               {"SCHEMATA", false, true},
               {"OCCUPANCY", true},
               {"BANDWIDTH", true}},
              rows);
  print_regions(context, *machine);
  print_io(*machine);
}

Client::Observed observed_in_last_hour(const Context& context, Client& client) {
  constexpr uint64_t hour = 3'600'000'000;
  auto observed = client.observed(clock_usec(CLOCK_REALTIME) - hour);
  if (observed) return *std::move(observed);
  if (observed.error().unreachable() &&
      parse_policy(find_policy_files(context.root)).policy.guard.mode != GuardMode::off)
    note("rdtctl: warning: {}: systemctl enable --now rdtd-observer\n", guard_without_observer);
  return {};
}

// In what the kernel differs from what was granted.
std::vector<std::string> verified(const Context& context, const TreeMachine& machine,
                                  const ManagerProperties& daemon,
                                  const std::vector<Client::GroupRow>& groups,
                                  const std::vector<LockStatus>& locks) {
  const auto in_force = plan_in_force(context, machine, daemon);
  if (!in_force)
    note(
        "rdtctl: monitoring groups and the ways of I/O devices were not compared: the policy files "
        "have changed since they were loaded, or do not fit now\n");
  return differences_from(machine.capabilities, machine.snapshot, groups, locks, in_force);
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
  // A daemon that is not restarted yet may not know the method.
  const auto locks = client->list_locks();
  if (!locks) (void)report(locks.error());
  const auto leases = client->list_leases();
  if (!leases) (void)report(leases.error());
  for (const RuntimeSetting& setting : find_runtime_settings(context.root))
    note("rdtctl: warning: {} manages RDT itself ({}) and deletes groups: see rdtctl doctor\n",
         setting.runtime, setting.place);
  const auto ruled =
      rules ? client->list_rules() : Client::Answer<std::vector<RuleStatus>>(std::in_place);
  if (!ruled) return report(ruled.error());
  const auto machine = read_machine(context);
  if (verify && !machine) return report(machine.error());
  if (!machine && machine.error().code == EACCES)
    note("rdtctl: occupancy and bandwidth are for root and members of the user group rdtd\n");
  const std::vector<LockStatus> regions = locks ? *locks : std::vector<LockStatus>{};
  const std::vector<std::string> wrong =
      verify ? verified(context, *machine, *daemon, *groups, regions) : std::vector<std::string>{};
  const Status found{*daemon,
                     *groups,
                     regions,
                     leases ? *leases : std::vector<LeaseStatus>{},
                     machine ? machine->capabilities : Capabilities{},
                     machine ? machine->snapshot : Snapshot{},
                     measure_usage(context),
                     observed_in_last_hour(context, *client)};
  if (context.json != Json::off) {
    JsonValue json = status_json(context, found);
    if (JsonValue io = machine ? io_json(*machine) : nullptr; !io.is_null())
      json["io"] = std::move(io);
    if (rules) json["rules"] = rules_json(*ruled);
    if (verify) json["differences"] = wrong;
    print_json(context, std::move(json));
  } else {
    print_state(context, found);
    print_groups(context, found);
    print_policy_regions(context, found.locks);
    print_leases(context, found.leases);
    if (machine) print_io(*machine);
    if (rules) print_rules(context, *ruled);
    if (verify)
      print("\n{}\n",
            wrong.empty() ? "The kernel has every value that was granted." : join(wrong, "\n"));
  }
  return daemon->state == "running" && wrong.empty() ? Exit::ok : Exit::degraded;
}

}  // namespace rdtd
