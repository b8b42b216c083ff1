// The systemd units that a cgroup belongs to, derived from its path as systemd itself does. Only
// the part of the path that the manager created counts: a user can give any name to a cgroup
// further down.
#pragma once

#include <string_view>
#include <vector>

namespace rdtd {

// The end of the names of slices.
inline constexpr std::string_view dot_slice = ".slice";

// Whether the name ends in a unit type: ".service", ".slice", ".scope" ...
[[nodiscard]] bool has_unit_type(std::string_view name);

// The slices above the unit, outermost first, and then the unit itself, if there is one. The names
// are parts of the path.
struct CgroupUnits {
  std::vector<std::string_view> system;  // of the system manager
  std::vector<std::string_view> user;    // of a user's manager, below user@UID.service
};

[[nodiscard]] CgroupUnits units_of_cgroup(std::string_view path);

}  // namespace rdtd
