// Snapshot: the groups as they stand in resctrl at one moment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/model/counters.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/model/mbm_assignments.hpp"
#include "rdtd/model/schemata.hpp"

namespace rdtd {

// A group's `mode` file.
enum class Mode { shareable, exclusive, pseudo_locksetup, pseudo_locked };

[[nodiscard]] std::string_view to_string(Mode mode);
[[nodiscard]] std::optional<Mode> parse_mode(std::string_view text);
// Pseudo-locked regions hold no CLOSID and, from their setup on, no RMID. Their cpus_list shows
// CPUs that other groups have.
[[nodiscard]] bool is_pseudo(Mode mode);

struct GroupState {
  Mode mode = Mode::shareable;
  Schemata schemata;
  CpuSet cpus;
  bool operator==(const GroupState&) const = default;
};

// Groups go by their directory, relative to the root of resctrl: "redis", or for a monitoring group
// "redis/mon_groups/web". The root itself, the default group, is "".
inline constexpr std::string_view root_group;
// Stands for the I/O devices where they fill ways of their own (io_alloc): they hold a CLOSID as a
// group does. resctrl has their files below this directory, and no group can have its name.
inline constexpr std::string_view io_group = "info";
// The group's name for people: "redis", "redis/web", "default", "default/web", "I/O"; a group that
// another tool has made in a directory "default" is "./default".
[[nodiscard]] std::string group_label(std::string_view directory);
[[nodiscard]] std::string group_directory(std::string_view label);

[[nodiscard]] std::string mon_group_directory(std::string_view control_group,
                                              std::string_view mon_group);
[[nodiscard]] bool is_mon_group(std::string_view directory);
// That of the control group which the monitoring group is in; of a control group, its own.
[[nodiscard]] std::string_view control_group_of(std::string_view directory);

// At most five: "a, b, c, d, e and 26 more". Another tool can have very many groups.
[[nodiscard]] std::string first_names(const std::vector<std::string>& names);

// Of controls that the language has no word for, by group.
using ControlValues = std::map<std::string, Schemata>;

// Files of one group that cannot be read, although it exists.
struct UnreadFiles {
  std::set<std::string> names;  // "mode", "schemata", "cpus_list", "mon_groups"
  Error error;                  // of the first one
};

struct Snapshot {
  std::map<std::string, GroupState> groups;  // control groups, the root included
  // Made by rdtd, for the root set by it, and for the I/O devices enabled by it; the others are not
  // touched.
  std::set<std::string> owned;
  // Groups of others that a request names: rdtd takes them over, if the policy has them.
  std::set<std::string> to_adopt;
  // Groups that cannot be read as a whole, or say what rdtd does not know; not in `groups`.
  std::set<std::string> unreadable;
  // The parts of these that could be read: their CPUs and masks, and the mode if it is a known one.
  std::map<std::string, GroupState> half_read;
  // By directory, of groups of both kinds.
  std::map<std::string, UnreadFiles> unread;
  bool torn = false;  // another tool changed the groups during the reading, again and again
  std::set<std::string> mon_groups;  // of all control groups; each holds an RMID
  // Of those that have CPUs: they count there what tasks of the default group do. A CPU belongs to
  // one of a control group at most, and to that control group.
  std::map<std::string, CpuSet> mon_cpus;
  // Of all groups of both kinds that can be read, the root included. Both are empty where counters
  // are not assigned (mbm_event mode).
  std::map<std::string, MbmAssignments> mbm_assignments;
  std::string mbm_resource;  // whose counters these are: "L3"
  std::map<DomainId, unsigned> free_mbm_counters;
  CountedTraffic traffic;
  // The masks of the I/O devices, by cache, while io_alloc is enabled there. Under CDP only those
  // of the code: the kernel mirrors them.
  Schemata io;
  // Of the directory of each group except the root, monitoring groups and unreadable ones included:
  // a group that is removed and made again has another inode.
  std::map<std::string, uint64_t> inodes;
  // Pseudo-locked regions of rdtd whose device is open: why rdtd says so, "process 812 (app) has
  // /dev/pseudo_lock/NAME open". To remove one would leave its ways locked until the next boot (see
  // proc::DeviceHolders).
  std::map<std::string, std::string> busy_locks;
  std::optional<CpuSet> possible_cpus;  // that the machine can have, online or not; if known
  // Why no group can be made now: rdtd cannot record it. Empty if groups can be made.
  std::string unrecordable;
  // Groups and pseudo-locked regions that the kernel refused a short time ago, and the I/O devices
  // if it refused them: by directory, why. A plan goes without them. The root stands for its
  // amounts and for what it must leave to others alone.
  std::map<std::string, std::string> refused;
  // The masks that groups of rdtd had before leases displaced them: the places that they keep.
  std::map<std::string, Schemata> places;
  // The values that groups had before the policy in force set them: values_before() in
  // plan/controls.hpp.
  ControlValues controls_before;

  // Control groups that hold a CLOSID, without the default one, which always does. Those that
  // cannot be read are among them. A region holds none once it is locked.
  [[nodiscard]] std::vector<std::string> closid_holders() const;
  // The pseudo-locked regions that rdtd made.
  [[nodiscard]] std::vector<std::string> own_locks() const;
  // Whether this is a monitoring group, and those beside it cannot be listed: it may be there.
  [[nodiscard]] bool is_unlisted(std::string_view group) const;
  // All CPUs that are online: each belongs to exactly one group.
  [[nodiscard]] CpuSet online_cpus() const;
};

// Has these groups among the others, with what could be read of them: a plan that removes them
// needs no more. The steps of other plans leave amounts alone that are not in here, and a file that
// could not be read counts as one that says "shareable" or has no CPUs. Who knows better sets it
// before.
void take_half_read(Snapshot& snapshot, const std::set<std::string>& groups);

}  // namespace rdtd
