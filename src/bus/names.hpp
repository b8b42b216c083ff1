// The names on the bus and of the polkit actions, all from the one build constant RDTD_BUS_NAME.
#pragma once

namespace rdtd {

inline constexpr const char* bus_name = RDTD_BUS_NAME;
inline constexpr const char* bus_path = "/org/rdtd1";
inline constexpr const char* bus_interface = RDTD_BUS_NAME ".Manager";
inline constexpr const char* group_path = "/org/rdtd1/group";
inline constexpr const char* group_interface = RDTD_BUS_NAME ".Group";
inline constexpr const char* action_reload = RDTD_BUS_NAME ".reload";
inline constexpr const char* action_manage = RDTD_BUS_NAME ".manage";
inline constexpr const char* action_assign = RDTD_BUS_NAME ".assign";
inline constexpr const char* bus_error_prefix = RDTD_BUS_NAME ".Error.";

}  // namespace rdtd
