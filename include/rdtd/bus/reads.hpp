// Reads: the requests on D-Bus that change nothing, and their answers in values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rdtd/base/located.hpp"
#include "rdtd/bus/changes.hpp"
#include "rdtd/model/counters.hpp"
#include "rdtd/model/refusal.hpp"

namespace rdtd {

// The share of one domain that a group asks for, as written in the policy, or was granted, as
// written to the kernel.
struct Share {
  std::string resource;
  uint32_t domain = 0;
  std::string text;
  bool operator==(const Share&) const = default;
};

struct GroupStatus {
  std::string name;
  std::string description;
  bool description_for_all = false;  // it is in a file that every user may read
  std::vector<Share> asked;          // only the shares that the policy names
  std::vector<Share> granted;
  std::string mode;
  std::string cpus;
  std::vector<Location> rules;  // those that name the group
};

// The groups of the policy in force, in its order, the default group last. Immutable: the daemon
// makes one for each change of the state in force, and everybody shares it.
class GroupList {
 public:
  GroupList() = default;
  explicit GroupList(std::vector<GroupStatus> groups);

  [[nodiscard]] const std::vector<GroupStatus>& all() const { return groups_; }
  // Null if there is no such group.
  [[nodiscard]] const GroupStatus* find(std::string_view name) const;

 private:
  std::vector<GroupStatus> groups_;
  std::map<std::string, size_t, std::less<>> by_name_;  // indexes into groups_
};

struct RuleStatus {
  std::string place;  // FILE:LINE
  std::string group;
  uint32_t processes = 0;  // that it decided about, at the last look at all processes
};

// A pseudo-locked region of the policy in force, or one that left it and cannot be undone yet.
struct LockStatus {
  std::string name;
  std::string resource;
  uint32_t domain = 0;
  std::string asked;   // as written in the policy; empty for a region that left it
  std::string mask;    // that is locked, or is to be
  uint64_t bytes = 0;  // of the mask; 0 if the kernel does not tell
  std::string device;  // its path, whether or not it exists
  std::string owner;   // of the device, as in the policy; likewise the next two
  std::string user_group;
  std::string mode;    // "0660"
  std::string state;   // "locked"; "waiting" until the device is closed; "missing"
  std::string reason;  // why it is not locked as the policy asks, for people
};

// A piece of policy that is in force as long as somebody has its descriptor open.
struct LeaseStatus {
  std::string name;
  uint32_t uid = 0;                 // of the caller that asked for it
  uint64_t since = 0;               // CLOCK_REALTIME, microseconds
  std::vector<std::string> groups;  // that it defines or replaces
  std::string policy;               // its text; empty for a caller who may not see it
};

struct AssignmentCount {
  std::string group;
  std::string result;  // "moved", or "refused" by the kernel
  uint64_t threads = 0;
};

struct PlannedStep {
  std::string kind;
  std::string group;
  std::string text;
};

struct PlanSummary {
  std::vector<PlannedStep> steps;
  std::string summary;
};

// The formatted warnings of the policy files.
struct CheckResult {
  std::string warnings;
  std::string public_warnings;  // without lines of files that not all users may read
};

struct Explanation {
  struct Trial {
    std::string place;  // FILE:LINE
    std::string group;
    bool matched = false;
    // Why the rule does not match; of one that does: why it leads to the default group instead of
    // its own.
    std::string reason;
  };
  std::string name;                                       // of the process
  std::vector<Trial> trials;                              // up to the rule that matched
  std::vector<std::pair<uint32_t, std::string>> threads;  // thread id and the group it is in
};

// How the problem of a policy that was not loaded begins; the error has properties of its own.
inline constexpr std::string_view failed_reload = "the last reload failed";

struct ManagerProperties {
  std::string state;  // "running", or "degraded": a policy could not be applied, drift was only
                      // reported, or the process events fail
  std::vector<std::string> config_files;
  // Why the state is degraded, for people. The public texts are without lines of files that not all
  // users may read.
  std::vector<std::string> problems, problems_public;
  std::string last_reload_error, last_reload_error_public;  // empty after a successful reload
  uint64_t last_reload_timestamp = 0;                       // CLOCK_REALTIME, microseconds
  std::string job;              // the change that is under way, and its stage, for people; or empty
  uint64_t job_timestamp = 0;   // when it began: CLOCK_REALTIME, microseconds
  uint64_t events_seen = 0;     // process events received
  uint64_t event_overruns = 0;  // process events that the kernel dropped
  std::vector<AssignmentCount> assignments;
  uint64_t drift = 0;  // differences that the last comparison found, restored or not

  // Threads put in a group.
  [[nodiscard]] uint64_t assigned() const;
};

class Reads {
 public:
  Reads() = default;
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;
  virtual ~Reads() = default;

  // Reads the policy files as they are now. Errors are in the text of the refusal.
  [[nodiscard]] virtual std::expected<CheckResult, Refusal> check() = 0;
  [[nodiscard]] virtual std::expected<PlanSummary, Refusal> plan() = 0;
  // If `owner` is given, refuses with not_permitted if the process belongs to somebody else, and
  // does not show what the rules look for.
  [[nodiscard]] virtual std::expected<Explanation, Refusal> explain(pid_t pid,
                                                                    std::optional<uid_t> owner) = 0;
  [[nodiscard]] virtual std::expected<std::vector<DomainCounters>, Refusal> counters() = 0;
  // Never null. The same object until the groups change.
  [[nodiscard]] virtual std::shared_ptr<const GroupList> list_groups() = 0;
  // In the order in which they are tried.
  [[nodiscard]] virtual std::vector<RuleStatus> list_rules() = 0;
  // The state that it is in now; at most a moment old.
  [[nodiscard]] virtual std::expected<std::vector<LockStatus>, Refusal> list_locks() = 0;
  // The oldest first. `caller` sees the text of its own leases only, root that of all.
  [[nodiscard]] virtual std::vector<LeaseStatus> list_leases(const Caller& caller) = 0;
  // The number of threads in a group now; 0 if there is no such group.
  [[nodiscard]] virtual size_t tasks_in(const std::string& group) = 0;
  [[nodiscard]] virtual ManagerProperties properties() = 0;
  // The user who may see the process (Identity::owner); nothing if it has ended.
  [[nodiscard]] virtual std::optional<uid_t> owner_of(pid_t pid) = 0;
  // The user who owns its directory in /proc, which costs little to read; nothing if it has ended.
  [[nodiscard]] virtual std::optional<uid_t> effective_user_of(pid_t pid) = 0;
  // Whether anybody subscribes to assignments.
  virtual void watch_assignments(bool on) = 0;
};

}  // namespace rdtd
