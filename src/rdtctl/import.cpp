// import: the control groups in resctrl, or the settings of another tool, as a policy.
#include <filesystem>
#include <system_error>

#include "import_foreign.hpp"
#include "import_policy.hpp"
#include "output.hpp"
#include "verbs.hpp"

namespace rdtd {

int verbs::import(const Context& context) {
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  std::vector<std::string> regions;
  for (const auto& [name, state] : machine->snapshot.groups)
    if (state.mode == Mode::pseudo_locked) regions.push_back(name);
  const ImportedPolicy imported = import_policy(
      machine->capabilities, machine->snapshot,
      context.snapshot_given ? std::map<std::string, DeviceAccess>{} : read_device_access(regions));
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
    note("rdtctl: {}: {}\n", file.path, file.problem);
    return Exit::failed;
  }
  const auto policy = import_foreign(file.text);
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
