// import: the control groups in resctrl as a policy.
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

}  // namespace rdtd
