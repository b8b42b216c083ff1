// Machine: everything that a plan depends on, read in one pass: the capabilities, the groups that
// exist, the mount options and the CPUs. A plan for another machine needs a value of this type and
// nothing else. This header reads nothing; rdtd/resctrl/read.hpp does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

// The options that resctrl was mounted with, by their names in
// Documentation/filesystems/resctrl.rst. They apply until resctrl is unmounted.
struct MountOptions {
  bool cdp = false;       // L3CODE and L3DATA instead of L3
  bool cdpl2 = false;     // L2CODE and L2DATA instead of L2
  bool mba_MBps = false;  // MB in MiB/s, which the kernel enforces by measurement
  bool debug = false;     // more files, for developers
  bool operator==(const MountOptions&) const = default;
};

// The options field of a mount: "rw,relatime,cdp". Other options are ignored.
[[nodiscard]] MountOptions parse_mount_options(std::string_view options);
// The reverse, without the options that are not set: "rw,cdp,mba_MBps".
[[nodiscard]] std::string format_mount_options(const MountOptions& options);
// Instructions for an administrator to mount resctrl with these options.
[[nodiscard]] std::string how_to_mount(const MountOptions& options);
// Without it, a kernel with MPAM refuses cdp and cdpl2 (resctrl_arch_set_cdp_enabled() in
// drivers/resctrl/mpam_resctrl.c).
inline constexpr std::string_view needed_for_cdp_on_arm = "CONFIG_EXPERT=y";
// The options of resctrl in the text of /proc/mounts (see proc_pid_mounts(5)); nothing if resctrl
// is not mounted. Which of several lines is used does not matter: the kernel permits one mount, and
// bind mounts of it share its options.
[[nodiscard]] std::optional<MountOptions> find_mount_options(std::string_view mounts);

// The value that means no limit on an AMD processor is in no file: groups without a limit show it.
// Raises it to what is the case on this machine at least.
void find_unlimited(Capabilities& capabilities, const Snapshot& snapshot);

// Whether the kernel locks memory into the caches of this processor, from the text of
// /proc/cpuinfo: it knows the models whose prefetchers it can stop (get_prefetch_disable_bits in
// arch/x86/kernel/cpu/resctrl/pseudo_lock.c). resctrl shows it nowhere.
[[nodiscard]] bool can_pseudo_lock(std::string_view cpuinfo);

struct Machine {
  Capabilities capabilities;
  Snapshot snapshot;
  MountOptions mount;
};

}  // namespace rdtd
