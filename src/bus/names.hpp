// The names on the bus and of the polkit actions, all from the one build constant RDTD_BUS_NAME.
#pragma once

#include <array>
#include <string>

#include "rdtd/model/refusal.hpp"

namespace rdtd {

inline constexpr const char* bus_name = RDTD_BUS_NAME;
inline constexpr const char* bus_path = "/org/rdtd1";
inline constexpr const char* bus_interface = RDTD_BUS_NAME ".Manager";
inline constexpr const char* group_path = "/org/rdtd1/group";
inline constexpr const char* group_interface = RDTD_BUS_NAME ".Group";
// Of rdtd-observer.
inline constexpr const char* observer_name = RDTD_BUS_NAME ".Observer";
inline constexpr const char* observer_path = "/org/rdtd1/observer";
inline constexpr const char* observer_interface = RDTD_BUS_NAME ".Observer";
// The bus itself: its name and the interface of its one object.
inline constexpr const char* bus_driver = "org.freedesktop.DBus";
inline constexpr const char* properties_interface = "org.freedesktop.DBus.Properties";
inline constexpr const char* action_reload = RDTD_BUS_NAME ".reload";
inline constexpr const char* action_manage = RDTD_BUS_NAME ".manage";
inline constexpr const char* action_assign = RDTD_BUS_NAME ".assign";
inline constexpr const char* action_inspect = RDTD_BUS_NAME ".inspect";

// By Refusal::Kind.
inline constexpr std::array<const char*, 10> error_names = {
    "InvalidPolicy", "NoSuchGroup",    "NoSuchProcess", "NotSupported", "OutOfClosids",
    "Busy",          "KernelRejected", "NotPermitted",  "NoSuchLease",  "Incomplete"};

[[nodiscard]] inline std::string error_name(Refusal::Kind kind) {
  return std::string(RDTD_BUS_NAME ".Error.") + error_names.at(static_cast<size_t>(kind));
}

}  // namespace rdtd
