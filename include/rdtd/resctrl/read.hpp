// Reading resctrl: from the files of a Filesystem to the values of the model. Nothing is written
// here. Groups come and go while they are read: a group that disappears is left out. Formats:
// Documentation/filesystems/resctrl.rst.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/model/machine.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::resctrl {

// The path of a file of a group: "redis/schemata"; just the file for the root.
[[nodiscard]] std::string file_of(const std::string& group, const char* file);
// Whether an entry of the root is a control group, not a directory that resctrl itself has there.
[[nodiscard]] bool is_group(const Filesystem::Entry& entry);

// Of the directory of a group of either kind; 0: there is no such group.
[[nodiscard]] Result<uint64_t> inode_of(const Filesystem& filesystem, const std::string& group);
// Whether a file of a group could not be read or written since the group is gone: a single file may
// say so by mistake, so its directory is looked for. `inode`: of that directory; 0: not known.
[[nodiscard]] bool is_gone(const Filesystem& filesystem, const Error& error,
                           const std::string& group, uint64_t inode);

// Of a group of either kind, where counters are assigned: "mbm_L3_assignments".
[[nodiscard]] std::string mbm_assignments_file(std::string_view resource);

// The options that resctrl is mounted with, from this directory of /proc; none if it is not
// mounted.
[[nodiscard]] Result<MountOptions> read_mount_options(const Directory& proc);
// Whether resctrl is mounted anywhere, from the same directory.
[[nodiscard]] Result<bool> is_mounted(const Directory& proc);

// A file that copies of resctrl have in their root and resctrl itself does not: the options that
// the original was mounted with, as in /proc/mounts.
inline constexpr const char* mount_options_file = "mount_options";
// The options of a copy; none if the copy does not state them.
[[nodiscard]] MountOptions read_copied_mount_options(const Filesystem& filesystem);
// Another such file: the CPUs that the original can have, as in /sys/devices/system/cpu/possible.
inline constexpr const char* possible_cpus_file = "possible_cpus";
// Nothing if the copy does not state them.
[[nodiscard]] std::optional<CpuSet> read_copied_possible_cpus(const Filesystem& filesystem);

// Another: "1" if the kernel can lock memory into the caches of the original's processor, else "0".
inline constexpr const char* pseudo_locking_file = "pseudo_locking";
[[nodiscard]] std::optional<bool> read_copied_pseudo_locking(const Filesystem& filesystem);

// The detail of the error if a kernel is so old that its default group has no `mode`.
inline constexpr std::string_view too_old =
    "resctrl has this file since Linux 4.19, which rdtd needs";

// The directories in info/ of what is counted, by name: "L3_MON", "MB_MON", "PERF_PKG_MON". A
// machine that monitors has at least one.
[[nodiscard]] Result<std::vector<std::string>> monitoring_directories(const Filesystem& filesystem);

// The amounts of one control group, "" for the default group. No rate is above the one that means
// no limit, also where the kernel starts with a higher one, and a percentage that the kernel rounds
// is the one that was written. `others`: the rows that are no constants of Resource, if they are
// known.
[[nodiscard]] Result<Schemata> read_schemata(const Filesystem& filesystem, const std::string& group,
                                             const std::set<Resource>* others = nullptr);

// One control group, its amounts as read_schemata() has them. ENOENT or ENODEV: see is_gone().
// EACCES: this user may not read it.
[[nodiscard]] Result<GroupState> read_group(const Filesystem& filesystem, const std::string& group,
                                            const std::set<Resource>* others = nullptr);

// "info/L3/io_alloc", "info/L3/io_alloc_cbm".
[[nodiscard]] std::string io_file(Resource resource, const char* file);
// The masks of the I/O devices, as Snapshot has them. `root`: see read_capabilities.
[[nodiscard]] Result<Schemata> read_io(const Filesystem& filesystem, const Schemata& root);

// `root`: the schemata of the default group, which name the resources and the domains. What is
// unlimited on AMD's processors is left to find_unlimited.
[[nodiscard]] Result<Capabilities> read_capabilities(const Filesystem& filesystem,
                                                     const Schemata& root,
                                                     const MountOptions& mount);

// All control groups. resctrl does not record which of them are rdtd's: `owned` is empty. Reads
// again, at most twice, what another tool changed meanwhile.
[[nodiscard]] Result<Snapshot> read_snapshot(const Filesystem& filesystem);

// Both, and the three facts that are not in resctrl.
[[nodiscard]] Result<Machine> read_machine(const Filesystem& filesystem, const MountOptions& mount,
                                           CpuSet possible_cpus,
                                           std::optional<bool> pseudo_locking = std::nullopt);

}  // namespace rdtd::resctrl
