// The daemon's texts about drift that names no group, because it is about processes. Any user can
// cause it, so a program that acts on drift has to tell it from that of groups.
#pragma once

#include <string_view>

namespace rdtd {

inline constexpr std::string_view not_in_ruled_group = "not in the group that the rules name";
inline constexpr std::string_view not_in_assigned_group = "not in the group of a manual assignment";

[[nodiscard]] constexpr bool is_of_processes(std::string_view drift) {
  return drift.contains(not_in_ruled_group) || drift.contains(not_in_assigned_group);
}

}  // namespace rdtd
