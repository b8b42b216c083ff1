// Units that the rules of a policy name, and that systemd does not have under this name.
#pragma once

#include <string>
#include <vector>

#include "context.hpp"

namespace rdtd {

struct WrongUnit {
  std::string name;
  Location where;
  std::string alias_of;  // empty: systemd does not know the unit at all
};
// Asks systemd about the names that are written out, 256 at most: a pattern may match units that
// are created later. Nothing if it does not answer.
[[nodiscard]] std::vector<WrongUnit> find_wrong_units(const Policy& policy);
// The same on this machine as warnings, with the unit that was meant, if one is running.
[[nodiscard]] std::vector<Diagnostic> unknown_units(const Context& context, const Policy& policy);

// Names of the units that have processes.
[[nodiscard]] std::vector<std::string> running_units(const Context& context);

}  // namespace rdtd
