#include "groups.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>

#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

std::string made_by(const TreeMachine& machine, const std::string& group) {
  if (group == root_group) return "kernel";
  return machine.snapshot.owned.contains(group) ? "rdtd" : "other";
}

JsonValue group_json(const TreeMachine& machine, const std::string& group) {
  const GroupState& state = machine.snapshot.groups.at(group);
  const resctrl::Members members = machine.tree.read_members(group).value_or(resctrl::Members{});
  JsonValue out = {{"group", group_label(group)},
                   {"made_by", made_by(machine, group)},
                   {"mode", to_string(state.mode)},
                   {"cpus", format_cpu_list(state.cpus)},
                   {"monitor_cpus", monitor_cpus_json(machine.snapshot.mon_cpus, group)},
                   {"tasks", members.tasks.size()},
                   {"schemata", schemata_json(state.schemata)}};
  if (!members.iommu_groups.empty()) out["iommu_groups"] = format_cpu_list(members.iommu_groups);
  if (const std::string counter = limited_counter(machine, group); !counter.empty())
    out["mba_MBps_event"] = printable(counter);
  return out;
}

bool lacks_policy(const Context& context) {
  return context.snapshot_given && context.root == Context{}.root;
}

std::vector<std::string> policy_groups(const Context& context) {
  std::vector<std::string> out;
  if (lacks_policy(context)) return out;
  for (const Group& group : parse_policy(find_policy_files(context.root)).policy.groups)
    if (std::string directory = group_directory(group.name.value); directory != root_group)
      out.push_back(std::move(directory));
  return out;
}

std::vector<std::string> ordered_groups(const TreeMachine& machine,
                                        const std::vector<std::string>& of_policy) {
  std::vector<std::string> out;
  std::set<std::string> listed = {std::string(root_group)};
  const auto add = [&](const std::string& name) {
    if (machine.snapshot.groups.contains(name) && listed.insert(name).second) out.push_back(name);
  };
  std::ranges::for_each(of_policy, add);
  for (const auto& [name, state] : machine.snapshot.groups) add(name);
  if (machine.snapshot.groups.contains(std::string(root_group))) out.emplace_back(root_group);
  return out;
}

std::string limited_counter(const TreeMachine& machine, const std::string& group) {
  const auto text = machine.tree.filesystem().read(resctrl::file_of(group, "mba_MBps_event"));
  return std::string(trim(text.value_or("")));
}

JsonValue monitor_cpus_json(const std::map<std::string, CpuSet>& mon_cpus,
                            const std::string& group) {
  JsonValue out = JsonValue::object();
  const std::string above = mon_group_directory(group, "");
  for (auto it = mon_cpus.lower_bound(above); it != mon_cpus.end() && it->first.starts_with(above);
       ++it)
    new_entry(out, it->first.substr(above.size())) = format_cpu_list(it->second);
  return out;
}

std::vector<std::string> unknown_rows(const TreeMachine& machine) {
  const Schemata& known = machine.snapshot.groups.at(std::string(root_group)).schemata;
  const std::string text = machine.tree.filesystem().read("schemata").value_or("");
  std::vector<std::string> out;
  for (const std::string_view name : row_names(text))
    if (!parse_resource(name) &&
        std::ranges::none_of(known, [&](const auto& row) { return row.first.name() == name; }))
      out.push_back(printable(name));
  return out;
}

JsonValue io_json(const TreeMachine& machine) {
  const Schemata& masks = machine.snapshot.io;
  if (masks.empty()) return nullptr;
  return {{"made_by", made_by(machine, std::string(io_group))}, {"schemata", schemata_json(masks)}};
}

void print_io(const TreeMachine& machine) {
  const Schemata& masks = machine.snapshot.io;
  if (masks.empty()) return;
  const bool own = made_by(machine, std::string(io_group)) == "rdtd";
  print("\nI/O devices fill {} (io_alloc, enabled by {})\n", schemata_line(masks),
        own ? "rdtd" : "another program");
}

std::vector<Usage> measure_usage(const Context& context) {
  constexpr std::chrono::milliseconds measured_for(200);
  const auto tree = Tree::open(context.resctrl);
  const auto before = tree ? read_usage(*tree) : std::unexpected(tree.error());
  if (!before || before->counters.empty()) return {};
  if (context.snapshot_given) return usage_between(*before, *before, Domains::summed);
  std::this_thread::sleep_for(measured_for);
  const auto now = read_usage(*tree);
  return now ? usage_between(*before, *now, Domains::summed) : std::vector<Usage>{};
}

void add_usage(JsonValue& group, const std::vector<Usage>& usage) {
  const Usage used = usage_of(usage, group["group"]);
  if (const auto occupancy = used.of("llc_occupancy").amount)
    group["occupancy_bytes"] = static_cast<uint64_t>(*occupancy);
  if (const auto total = used.of("mbm_total_bytes").amount)
    group["bandwidth_bytes_per_second"] = *total;
}

std::vector<std::string> unreadable_groups(const TreeMachine& machine) {
  std::vector<std::string> out;
  for (const std::string& name : machine.snapshot.unreadable)
    out.push_back(printable(group_label(name)));
  return out;
}

// That root may read them is no news: other reasons are. A tool may make very many such groups.
void print_unreadable_groups(const TreeMachine& machine) {
  constexpr size_t most_reasons = 5;
  const auto names = unreadable_groups(machine);
  if (names.empty()) return;
  print("\nCannot be read: {}\n", join(names, ", "));
  size_t reasons = 0;
  for (const auto& [group, unread] : machine.snapshot.unread) {
    const int code = unread.error.code;
    if (!machine.snapshot.unreadable.contains(group) || code == EACCES || code == EPERM) continue;
    if (++reasons > most_reasons) break;
    print("  {}\n", printable(unread.error.text()));
  }
}

bool is_group(const Context& context, const std::string& name) {
  std::error_code unknown;
  return !name.empty() && !name.starts_with('.') && !name.contains('/') &&
         std::filesystem::exists(std::filesystem::path(context.resctrl) / name / "schemata",
                                 unknown);
}

Usage usage_of(const std::vector<Usage>& usage, const std::string& label) {
  const auto found = std::ranges::find(usage, label, &Usage::group);
  return found == usage.end() ? Usage{} : *found;
}

}  // namespace rdtd
