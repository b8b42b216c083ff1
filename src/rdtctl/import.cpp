// import: the control groups in resctrl, or the settings of another tool, as a policy.
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "groups.hpp"
#include "import_foreign.hpp"
#include "import_policy.hpp"
#include "output.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// The counter that a new group gets: the kernel takes the local traffic if it counts it.
std::string default_counter(const TreeMachine& machine) {
  const auto features = machine.tree.filesystem().read("info/L3_MON/mon_features");
  return features.value_or("").contains("mbm_local_bytes") ? "mbm_local_bytes" : "mbm_total_bytes";
}

LeftOutByGroup left_out_of(const TreeMachine& machine) {
  LeftOutByGroup out;
  const std::string of_new_groups = default_counter(machine);
  for (const auto& [directory, state] : machine.snapshot.groups) {
    if (is_pseudo(state.mode)) continue;
    const auto members = machine.tree.read_members(directory);
    // All devices are in the default group at first.
    if (directory != root_group && members && !members->iommu_groups.empty())
      out[directory].push_back(
          {"membership of " + resctrl::iommu_groups_text(members->iommu_groups),
           "a policy gives devices no group; they stay in it until it is removed"});
    const std::string counter = limited_counter(machine, directory);
    if (!counter.empty() && counter != of_new_groups)
      out[directory].push_back(
          {"mba_MBps_event = " + counter,
           fmt::format("no key of a policy sets it; a new group has {}", of_new_groups)});
  }
  return out;
}

}  // namespace

int verbs::import(const Context& context) {
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  std::vector<std::string> regions;
  for (const auto& [name, state] : machine->snapshot.groups)
    if (state.mode == Mode::pseudo_locked) regions.push_back(name);
  const ImportedPolicy imported = import_policy(
      machine->capabilities, machine->snapshot,
      context.snapshot_given ? std::map<std::string, DeviceAccess>{} : read_device_access(regions),
      left_out_of(*machine));
  print("# The control groups of {} when this file was written.\n{}",
        printable(machine->tree.path()), imported.text);
  for (const std::string& line : imported.notes) note("rdtctl: {}\n", line);
  return Exit::ok;
}

int verbs::import_from(const std::string& path) {
  const std::string normal = std::filesystem::path(path).lexically_normal().string();
  if (const std::string resctrl = Context{}.resctrl; (normal + "/").starts_with(resctrl + "/")) {
    note("rdtctl: '{}' is resctrl itself, which 'rdtctl import' reads\n", path);
    return Exit::failed;
  }
  std::error_code unknown;
  if (std::filesystem::exists(std::filesystem::path(path) / "schemata", unknown)) {
    note("rdtctl: '{0}' is a copy of resctrl: rdtctl --resctrl {0} import\n", path);
    return Exit::failed;
  }
  const std::vector<PolicyFile> files = read_policy_files({path});
  const PolicyFile& file = files.front();
  if (file.state == PolicyFile::State::unreadable) {
    const bool is_command = path.starts_with('-') || path.contains(' ');
    note("rdtctl: {}: {}{}\n", file.path, file.problem,
         is_command ? "; for a command line: echo 'pqos ...' | rdtctl import --from -" : "");
    return Exit::failed;
  }
  const auto policy = import_foreign(file.text.text());
  if (!policy) {
    const ParsedPolicy parsed = parse_policy(files);
    const bool is_policy = !has_errors(parsed.diagnostics) &&
                           !(parsed.policy.groups.empty() && parsed.policy.rules.empty());
    note("rdtctl: {}: {}\n", file.path,
         is_policy ? "it is a policy already: copy it to /etc/rdtd" : policy.error());
    return Exit::failed;
  }
  print("{}", *policy);
  if (policy->contains("# Lost: "))
    note("rdtctl: {}: a policy has nothing like some of it: see the lines '# Lost'\n", file.path);
  return Exit::ok;
}

}  // namespace rdtd
