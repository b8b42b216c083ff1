// Step: one change to resctrl, as a value that names what was there before and what is there after.
// resctrl::Transaction carries steps out; format_step shows them to people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rdtd/model/cbm.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

// Groups go by their directory; the root is "". Monitoring groups are adopted, made and removed as
// control groups are.
struct AdoptGroup {  // rdtd owns it from here on, with its tasks; nothing in resctrl changes
  std::string group;
  uint64_t inode = 0;  // of its directory
  bool operator==(const AdoptGroup&) const = default;
};
struct MakeGroup {
  std::string group;
  bool operator==(const MakeGroup&) const = default;
};
struct RemoveGroup {
  std::string group;
  bool operator==(const RemoveGroup&) const = default;
};
struct WriteSchemata {
  std::string group;
  Schemata before;  // of the same domains as `after`; empty for a group that was just made
  Schemata after;   // only the domains that change
  bool operator==(const WriteSchemata&) const = default;
};
struct WriteCpus {
  std::string group;
  CpuSet before;
  CpuSet after;
  bool operator==(const WriteCpus&) const = default;
};
struct SetMode {
  std::string group;
  Mode after = Mode::shareable;
  bool operator==(const SetMode&) const = default;
};
// Of a group that was just made: its region is locked, and the device /dev/pseudo_lock/GROUP is
// there. To remove the group undoes it. What the memory held is not restored.
struct LockRegion {
  std::string group;
  Resource resource{};
  DomainId domain{};
  Cbm mask;
  bool operator==(const LockRegion&) const = default;
};
// Gives the events of a group counters (mbm_L3_assignments). An undo leaves them: they limit
// nobody.
struct AssignCounters {
  std::string group;
  MbmAssignments events;  // those that get one
  bool operator==(const AssignCounters&) const = default;
};

// Whether I/O devices fill ways of their own. Enabling takes the highest CLOSID and gives them all
// ways that no exclusive group has; WriteSchemata sets their masks.
struct SetIoAlloc {
  std::string group{io_group};
  Resource resource{};
  bool enabled = false;
  bool operator==(const SetIoAlloc&) const = default;
};

using Step = std::variant<AdoptGroup, MakeGroup, RemoveGroup, WriteSchemata, WriteCpus, SetMode,
                          LockRegion, AssignCounters, SetIoAlloc>;

[[nodiscard]] const std::string& group_of(const Step& step);
// "adopt", "create", "remove", "schemata", "cpus", "mode", "lock", "assign", "io_alloc": the first
// column of format_step.
[[nodiscard]] std::string_view kind_of(const Step& step);
// One line, "schemata  redis  L3:0=f;1=f (was 0=ff;1=ff)".
[[nodiscard]] std::string format_step(const Step& step);
// Breaks the text of format_step into lines of at most `width` columns, for a terminal.
[[nodiscard]] std::string break_step(std::string_view text, size_t width = 100);

}  // namespace rdtd
