// Access to resctrl for reading. The kernel grants it to everybody, but each read of `tasks` or of
// a counter holds the lock that a write to `tasks` waits for, so users who read in a loop keep
// processes from coming to their groups. The mode of the root is the gate to all that is below it.
#pragma once

#include <sys/types.h>

#include <optional>

#include "rdtd/base/directory.hpp"

namespace rdtd::resctrl {

// In the state directory: the mode and the group of the root before rdtd changed them; if it is
// damaged, those that the kernel gives it. It ends with the boot, as they do.
inline constexpr const char* root_access_record = "access";

enum class Admit {
  group,   // root and one user group, unless others could not read before
  all,     // as before
  before,  // as before, and the record is removed: rdtd goes
};

// `root`: that of resctrl. `group`: if there is none, or this process is no member of it, only root
// reads; while it cannot be looked up, the root keeps the group that it has, and that is an error,
// so that the caller tries again. Under `group` and `all`, root may make groups without
// CAP_DAC_OVERRIDE. A mode that somebody else has set since then is left to them under `before`.
[[nodiscard]] Result<void> admit(Admit who, const Directory& root, const Directory& state,
                                 const Result<std::optional<gid_t>>& group = std::nullopt);

}  // namespace rdtd::resctrl
