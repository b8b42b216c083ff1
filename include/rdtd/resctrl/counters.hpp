// The counts of resctrl: the monitoring data of the groups, and their tasks. Formats:
// Documentation/filesystems/resctrl.rst, "mon_data" and "tasks".
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "rdtd/model/counters.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::resctrl {

// Of all control and monitoring groups, by name, then domain. Empty if resctrl does not monitor. A
// group that is removed meanwhile has none; one whose directories cannot be listed is an error, so
// that nobody takes it for removed.
[[nodiscard]] Result<std::vector<DomainCounters>> read_counters(const Filesystem& filesystem);
// As far as the kernel says so. `monitoring`: see monitoring_directories().
[[nodiscard]] CountedTraffic where_traffic_is_counted(const Filesystem& filesystem,
                                                      const std::vector<std::string>& monitoring);
// Thread ids, sorted.
[[nodiscard]] Result<std::vector<pid_t>> read_tasks(const Filesystem& filesystem,
                                                    const std::string& group);

}  // namespace rdtd::resctrl
