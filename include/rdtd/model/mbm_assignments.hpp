// MbmAssignments: which MBM events of a group have a counter, where the processor has fewer
// counters than RMIDs and they are assigned to groups: the file mbm_L3_assignments, since
// Linux 6.18 (Documentation/filesystems/resctrl.rst, "mbm_assign_mode").
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "rdtd/model/resource.hpp"

namespace rdtd {

// By event ("mbm_total_bytes"): whether it has a counter in a domain.
using MbmAssignments = std::map<std::string, std::map<DomainId, bool>>;

// Lines that are none are left out; a state that is not known counts as a counter.
[[nodiscard]] MbmAssignments parse_mbm_assignments(std::string_view text);
// "mbm_local_bytes:0=e;1=_", a line that the file takes, without its end.
[[nodiscard]] std::string format_mbm_assignment(std::string_view event,
                                                const std::map<DomainId, bool>& domains);
// "mbm_local_bytes:0-1=e mbm_total_bytes:0-1=e", for people.
[[nodiscard]] std::string mbm_assignments_line(const MbmAssignments& assignments);

// info/L3_MON/available_mbm_cntrs, "0=6;1=6": how many counters of each domain are not assigned.
[[nodiscard]] std::map<DomainId, unsigned> parse_mbm_counters(std::string_view text);

}  // namespace rdtd
