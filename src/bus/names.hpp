// The names on the bus, all from the one build constant RDTD_BUS_NAME.
#pragma once

namespace rdtd {

inline constexpr const char* bus_name = RDTD_BUS_NAME;
inline constexpr const char* bus_path = "/org/rdtd1";
inline constexpr const char* bus_interface = RDTD_BUS_NAME ".Manager";
inline constexpr const char* bus_error_prefix = RDTD_BUS_NAME ".Error.";

}  // namespace rdtd
