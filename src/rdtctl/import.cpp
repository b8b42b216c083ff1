// import: the control groups in resctrl as a policy.
#include "import_policy.hpp"
#include "output.hpp"
#include "verbs.hpp"

namespace rdtd {

int verbs::import(const Context& context) {
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  const ImportedPolicy imported = import_policy(machine->capabilities, machine->snapshot);
  print("# The control groups of {} when this file was written.\n{}",
        printable(machine->tree.path()), imported.text);
  for (const std::string& line : imported.notes) note("rdtctl: {}\n", line);
  return Exit::ok;
}

}  // namespace rdtd
