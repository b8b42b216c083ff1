// list: the control groups in resctrl, no matter who created them.
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "groups.hpp"
#include "regions.hpp"
#include "value_text.hpp"
#include "rdtd/base/text.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// Also of groups that only the policy has: for completion, which does not know what the verb needs.
void print_names(const TreeMachine& machine, const std::vector<std::string>& of_policy) {
  const auto& there = machine.snapshot.groups;
  for (const std::string& directory : ordered_groups(machine, of_policy))
    print("{}\n", printable(group_label(directory)));
  for (const std::string& directory : of_policy)
    if (!there.contains(directory)) print("{}\n", printable(group_label(directory)));
}

}  // namespace

int verbs::list(const Context& context, bool only_names) {
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  const std::vector<std::string> of_policy = policy_groups(context);
  if (only_names && context.json == Json::off) {
    print_names(*machine, of_policy);
    return Exit::ok;
  }
  JsonValue groups = JsonValue::array();
  std::map<std::string, std::vector<std::string>> cells;  // by directory
  std::vector<std::string> iommu_groups;
  for (const auto& [directory, state] : machine->snapshot.groups) {
    JsonValue group = group_json(*machine, directory);
    cells[directory] = {group_label(directory),
                        made_by(*machine, directory),
                        std::string(to_string(state.mode)),
                        format_cpu_list(state.cpus),
                        std::to_string(group["tasks"].get<size_t>()),
                        schemata_text(machine->capabilities, state.schemata)};
    if (const auto found = group.find("iommu_groups"); found != group.end())
      iommu_groups.push_back(
          fmt::format("{} in {}", found->get<std::string>(), printable(group_label(directory))));
    groups.push_back(std::move(group));
  }
  std::vector<std::vector<std::string>> rows;
  for (const std::string& directory : ordered_groups(*machine, of_policy))
    rows.push_back(std::move(cells.at(directory)));
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
               {.name = "MODE", .whole = true},
               {"CPUS", false, true},
               {"TASKS", true},
               {"SCHEMATA", false, true}},
              rows);
  if (!iommu_groups.empty()) print("\nIOMMU groups: {}\n", join(iommu_groups, "; "));
  print_regions(context, *machine);
  if (const std::vector<std::string> unknown = unknown_rows(*machine); !unknown.empty())
    print("\nNot shown: {}; rdtd does not know {} of schemata, and leaves {} alone\n",
          join(unknown, ", "), unknown.size() == 1 ? "this row" : "these rows",
          unknown.size() == 1 ? "it" : "them");
  print_unreadable_groups(*machine);
  return Exit::ok;
}

}  // namespace rdtd
