// Plan: what a policy comes to on this machine, and the steps from what stands in resctrl now to
// that. Pure: values in, values out.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/plan/step.hpp"
#include "rdtd/plan/transition.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// A group as it is to be.
struct GroupTarget {
  std::string directory{root_group};
  GroupState state;
  bool exclusive = false;
  std::string partition;  // empty: none
  std::string description;
  bool adopt = false;  // takes over a group of this name that rdtd did not make
  // Directories of the monitoring groups that the policy names, or that its templates have made.
  std::set<std::string> mon_groups;
  std::map<std::string, CpuSet> mon_cpus;  // of those that have some, with the offline ones
  std::map<Resource, std::map<DomainId, std::string>>
      asked;  // as written in the policy; absent where nothing was asked
  // Where I/O devices also fill ways that no group outside of this one, or of its partition, may
  // fill.
  std::map<Resource, std::set<DomainId>> with_devices;

  // "exclusive", "partition p", each with " (not from devices)" if that applies, or "".
  [[nodiscard]] std::string exclusivity(Resource resource, DomainId domain) const;
};

// The I/O devices as they are to be: a target that holds masks of one cache and nothing else.
using IoTarget = std::optional<GroupTarget>;

// A partition as it is to be: a target that holds the masks of its ways, and no directory.
using PartitionTarget = GroupTarget;

// A pseudo-locked region as it is to be.
struct LockTarget {
  LockRegion region;
  std::string asked;              // as written in the policy
  uint64_t bytes = 0;             // that are locked; 0 if the kernel does not tell
  std::string owner, user_group;  // of the device; empty: root
  unsigned mode = 0600;           // likewise
  bool operator==(const LockTarget&) const = default;
};

// A part of the policy that this machine cannot have now, with the reason.
struct MissingPart {
  std::string name;    // of the group, the partition or the region; "I/O"
  std::string what;    // "group 'redis' is", "the monitoring groups of 'redis' are"
  std::string reason;  // the message of the first diagnostic
  Cause cause = Cause::policy;
  // The pseudo-locked region that it is about, if any; of one that left the policy only the name.
  std::optional<PseudoLock> lock = {};
};

struct Plan {
  std::vector<GroupTarget> groups;          // the policy's, in its order; the default group last
  std::vector<PartitionTarget> partitions;  // likewise
  std::vector<LockTarget> locks;            // likewise
  IoTarget io;                              // of [io]
  Steps changes;
  std::vector<Diagnostic> warnings;
  std::vector<MissingPart> missing;  // what waits until somebody closes the device of a region

  [[nodiscard]] bool changes_nothing() const { return changes.empty(); }
};

// In a policy that is in force, monitoring groups that cannot be had now, and CPUs that another
// tool's group has, are no error: a comparison makes and restores them.
enum class PlanFor { new_policy, in_force };

// The errors are sorted by place and name every party. A group in the snapshot that is not owned is
// never touched.
[[nodiscard]] std::expected<Plan, std::vector<Diagnostic>> make_plan(
    const Policy& policy, const Capabilities& capabilities, const Snapshot& snapshot,
    PlanFor plan_for = PlanFor::new_policy);

// The obstacles that a plan goes around: the exclusive groups and pseudo-locked regions of others.
[[nodiscard]] std::map<std::string, Schemata> obstacles(const Snapshot& snapshot);

// Adapts targets that stay where they are to the groups of others: sets the mode that each can have
// now, and returns the warnings about the ways that others can fill too.
[[nodiscard]] std::vector<Diagnostic> follow_others(const Policy& policy,
                                                    const Capabilities& capabilities,
                                                    const Snapshot& snapshot,
                                                    std::vector<GroupTarget>& targets,
                                                    const IoTarget& io);

// Whether a group of this name exists that rdtd did not make, or a monitoring group is in such a
// group: its own is gone.
[[nodiscard]] bool is_taken(const std::string& directory, const Snapshot& snapshot);

// The steps that take over the groups which the policy or a request adopts. None for a
// pseudo-locked region, nor for a group that cannot be read.
[[nodiscard]] std::vector<Step> adoptions(const std::vector<GroupTarget>& targets,
                                          const Snapshot& snapshot);

// Has the percentages that the kernel reads otherwise than they were written (percent_slack()) as
// they are granted.
void take_as_granted(const std::vector<GroupTarget>& targets, const Capabilities& capabilities,
                     Snapshot& snapshot);

// Whether the region is locked as it is to be, by rdtd.
[[nodiscard]] bool stands(const LockRegion& region, const Snapshot& snapshot);

// The steps that make the groups in `snapshot` those of the targets again. Groups that rdtd made
// and that are no target are removed, except busy locks. A mask that overlaps an obstacle is left
// as it is: the kernel would refuse it.
[[nodiscard]] Steps steps_to(const std::vector<GroupTarget>& targets,
                             const std::vector<LockTarget>& locks, const IoTarget& io,
                             const Capabilities& capabilities, const Snapshot& snapshot);

// A value in resctrl that is not as it is to be, in a sentence: "group 'redis': L3:0=ff, granted
// L3:0=f". A domain or CPU that is offline is no difference.
struct Difference {
  std::string group;  // directory
  std::string text;
};
[[nodiscard]] std::vector<Difference> differences(const std::vector<GroupTarget>& targets,
                                                  const std::vector<LockTarget>& locks,
                                                  const IoTarget& io, const Snapshot& snapshot);

// Where resctrl divides nothing, there is only the default group. A policy that skips what the
// machine does not have is had without its other groups: the rules that name them lead to the
// default group, so that it counts what they monitor. Returns a warning for each.
[[nodiscard]] std::vector<Diagnostic> leave_out_groups(Policy& policy,
                                                       const Capabilities& capabilities);

// Whether the default group is left as others set it: under a policy that divides nothing, unless
// it was rdtd that set it.
[[nodiscard]] bool leaves_default_group(const Policy& policy, const Snapshot& snapshot);

// The text that follows the name of an exclusive group or a partition if I/O devices may fill its
// ways.
inline constexpr std::string_view not_from_devices = " (not from devices)";

// All steps, in lines of that width, then the counted summary.
[[nodiscard]] std::string format_plan(const Plan& plan, size_t width = 100);
[[nodiscard]] std::string plan_summary(const Plan& plan);

}  // namespace rdtd
