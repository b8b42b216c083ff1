// list and show: the control groups in resctrl, no matter who created them.
#include <fmt/format.h>

#include "groups.hpp"
#include "rdtd/base/text.hpp"
#include "verbs.hpp"

namespace rdtd {

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
                    std::to_string(tasks.size()), schemata_line(state.schemata)});
  }
  if (context.json != Json::off)
    print_json(context, {{"groups", groups}});
  else
    print_table(
        context,
        {{"GROUP"}, {"MADE BY"}, {"MODE"}, {"CPUS"}, {"TASKS", true}, {"SCHEMATA", false, true}},
        rows);
  return Exit::ok;
}

int verbs::show(const Context& context, const std::string& group) {
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  const std::string directory = group_directory(group);
  if (!machine->snapshot.groups.contains(directory)) {
    std::vector<std::string> names;
    for (const auto& [name, state] : machine->snapshot.groups) names.push_back(group_label(name));
    const auto nearest = nearest_name(group, names);
    note("rdtctl: there is no group '{}' in {}{}\n", group, machine->tree.path(),
         nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
    return Exit::failed;
  }
  const JsonValue json = group_json(*machine, directory);
  if (context.json != Json::off) {
    print_json(context, json);
    return Exit::ok;
  }
  const GroupState& state = machine->snapshot.groups.at(directory);
  print("{}\n    Made by: {}\n       Mode: {}\n       CPUs: {}\n      Tasks: {}\n",
        emphasized(context, group), made_by(*machine, directory), to_string(state.mode),
        state.cpus.empty() ? "none of its own" : format_cpu_list(state.cpus),
        json["tasks"].get<size_t>());
  for (const auto& [resource, values] : state.schemata)
    print("{:>11}: {}\n", to_string(resource), format_values_merged(resource, values));
  return Exit::ok;
}

}  // namespace rdtd
