// list and show: the control groups in resctrl, no matter who created them.
#include <fmt/format.h>

#include <cerrno>

#include "groups.hpp"
#include "measure.hpp"
#include "regions.hpp"
#include "value_text.hpp"
#include "rdtd/base/text.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

constexpr size_t value_column = 13;  // of show

uint64_t at_share(const std::vector<uint64_t>& sorted, double share) {
  return sorted[static_cast<size_t>(static_cast<double>(sorted.size() - 1) * share)];
}

// Adds the kernel's measurement of a pseudo-locked region. Returns the exit code.
int add_measurement(const Context& context, const std::string& name, const GroupState& state,
                    JsonValue& json, std::string& text) {
  if (state.mode != Mode::pseudo_locked || state.schemata.empty()) {
    note("rdtctl: '{}' is not pseudo-locked: there is nothing to measure\n", printable(name));
    return Exit::failed;
  }
  const Resource resource = state.schemata.begin()->first;
  const auto measured = measure_region({context.debugfs, context.tracing}, name, resource);
  if (!measured) {
    note("rdtctl: the kernel's measurement is not available: {}\n", measured.error().text());
    return measured.error().code == EACCES ? Exit::not_permitted : Exit::failed;
  }
  if (measured->hits) {
    json["hits"] = *measured->hits;
    json["misses"] = *measured->misses;
    text += fmt::format("    Counted: {} hits, {} misses in {}\n", *measured->hits,
                        *measured->misses, to_string(resource));
  } else {
    text += "    Counted: nothing; the kernel has no counters of hits and misses here\n";
  }
  if (const auto& cycles = measured->cycles; !cycles.empty()) {
    const uint64_t median = at_share(cycles, 0.5), p99 = at_share(cycles, 0.99);
    json["read_cycles"] = {
        {"reads", cycles.size()}, {"median", median}, {"p99", p99}, {"max", cycles.back()}};
    text += fmt::format("    Latency: {} cycles (median), {} (p99), {} (max) of {} reads\n", median,
                        p99, cycles.back(), cycles.size());
  }
  return Exit::ok;
}

}  // namespace

int verbs::list(const Context& context, bool only_names) {
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  if (only_names && context.json == Json::off) {
    for (const auto& [directory, state] : machine->snapshot.groups)
      print("{}\n", printable(group_label(directory)));
    return Exit::ok;
  }
  JsonValue groups = JsonValue::array();
  std::vector<std::vector<std::string>> rows;
  for (const auto& [directory, state] : machine->snapshot.groups) {
    groups.push_back(group_json(*machine, directory));
    const auto tasks = machine->tree.read_tasks(directory).value_or(std::vector<pid_t>{});
    rows.push_back({group_label(directory), made_by(*machine, directory),
                    std::string(to_string(state.mode)), format_cpu_list(state.cpus),
                    std::to_string(tasks.size()),
                    schemata_text(machine->capabilities, state.schemata)});
  }
  JsonValue json = {{"groups", groups}};
  if (const Schemata& masks = machine->snapshot.io; !masks.empty()) {
    const std::string devices(io_group);
    json["io"] = io_json(*machine);
    rows.push_back(
        {group_label(devices), made_by(*machine, devices), "", "", "", schemata_line(masks)});
  }
  if (context.json != Json::off) {
    json["pseudo_locks"] = regions_json(*machine);
    json["bandwidth_units"] = bandwidth_units_json(machine->capabilities);
    if (const auto unknown = unknown_rows(*machine); !unknown.empty())
      json["unknown_controls"] = unknown;
    if (const auto names = unreadable_groups(*machine); !names.empty()) json["unreadable"] = names;
    print_json(context, json);
    return Exit::ok;
  }
  print_table(context,
              {{"GROUP"},
               {"MADE BY"},
               {"MODE"},
               {"CPUS", false, true},
               {"TASKS", true},
               {"SCHEMATA", false, true}},
              rows);
  print_regions(context, *machine);
  if (const std::vector<std::string> unknown = unknown_rows(*machine); !unknown.empty())
    print("\nNot shown: {}; rdtd does not know {} of schemata, and leaves {} alone\n",
          join(unknown, ", "), unknown.size() == 1 ? "this row" : "these rows",
          unknown.size() == 1 ? "it" : "them");
  print_unreadable_groups(*machine);
  return Exit::ok;
}

int verbs::show(const Context& context, const std::string& group, bool measure, bool is_verb) {
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  const std::string directory = group_directory(group);
  if (machine->snapshot.unreadable.contains(directory)) {
    note("rdtctl: group '{}' cannot be read, or says what this rdtctl does not know\n",
         printable(group));
    return Exit::failed;
  }
  if (!machine->snapshot.groups.contains(directory)) {
    std::vector<std::string> names;
    for (const auto& [name, state] : machine->snapshot.groups) names.push_back(group_label(name));
    const auto nearest = nearest_name(group, names);
    note("rdtctl: there is no group '{}' in {}{}\n", group, machine->tree.path(),
         is_verb ? fmt::format("; 'rdtctl {}' is a verb of its own", group)
         : group == "root" || group == "/" ? "; the resctrl root is 'default'"
         : nearest                         ? fmt::format("; did you mean '{}'?", *nearest)
                                           : "");
    return Exit::failed;
  }
  JsonValue json = group_json(*machine, directory);
  const GroupState& state = machine->snapshot.groups.at(directory);
  std::string measured;
  if (measure)
    if (const int exit = add_measurement(context, directory, state, json, measured);
        exit != Exit::ok)
      return exit;
  if (context.json != Json::off) {
    if (state.mode == Mode::pseudo_locked) json["device"] = device_of_lock(directory);
    json["bandwidth_units"] = bandwidth_units_json(machine->capabilities);
    print_json(context, json);
    return Exit::ok;
  }
  print("{}\n    Made by: {}\n       Mode: {}\n       CPUs: {}\n      Tasks: {}\n",
        emphasized(context, group), made_by(*machine, directory), to_string(state.mode),
        state.cpus.empty() ? "none of its own" : format_cpu_list(state.cpus),
        json["tasks"].get<size_t>());
  for (const auto& [mon_group, cpus] : machine->snapshot.mon_cpus)
    if (control_group_of(mon_group) == directory)
      print("{:>11}: CPUs {} in {}\n", "Counted", format_cpu_list(cpus), group_label(mon_group));
  for (const auto& [resource, values] : state.schemata)
    print("{}\n", break_entries(fmt::format("{:>11}: {}", to_string(resource),
                                            values_text(machine->capabilities, resource, values)),
                                widest_line, value_column));
  if (state.mode == Mode::pseudo_locked) print("     Device: {}\n", device_of_lock(directory));
  print("{}", measured);
  return Exit::ok;
}

}  // namespace rdtd
