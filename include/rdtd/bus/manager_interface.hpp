// ManagerInterface: what the D-Bus service needs of the daemon, in values. The daemon implements
// it; the service translates it and knows nothing else.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/base/located.hpp"
#include "rdtd/model/counters.hpp"

namespace rdtd {

// Why a call failed; the name of the D-Bus error is RDTD_BUS_NAME ".Error." and the kind.
struct CallError {
  enum class Kind {
    InvalidPolicy,
    NoSuchGroup,
    NoSuchProcess,
    NotSupported,
    OutOfClosids,
    Busy,
    KernelRejected,
    NotPermitted
  };
  Kind kind = Kind::KernelRejected;
  std::string text;
  Location where = {};  // InvalidPolicy: of the first error
};

// What a group has of one domain, asked for as written in the policy or granted as the kernel
// writes it.
struct Share {
  std::string resource;
  uint32_t domain = 0;
  std::string text;
  bool operator==(const Share&) const = default;
};

struct GroupStatus {
  std::string name;
  std::string description;
  std::vector<Share> asked;  // only what was asked for
  std::vector<Share> granted;
  std::string mode;
  std::string cpus;
  std::vector<std::string> rules;  // FILE:LINE of each that names it
};

// For people, domains with equal shares merged: "L3:0-1=4 ways MB:0=10%".
[[nodiscard]] std::string shares_line(const std::vector<Share>& shares);

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

struct Explanation {
  struct Trial {
    std::string place;  // FILE:LINE
    std::string group;
    bool matched = false;
    std::string reason;  // why not
  };
  std::string name;                                       // of the process
  std::vector<Trial> trials;                              // up to the rule that matched
  std::vector<std::pair<uint32_t, std::string>> threads;  // thread id and the group it is in
};

struct ManagerProperties {
  std::string state;  // "running", or "degraded": a policy could not be applied, drift was only
                      // reported, or the process events fail
  std::vector<std::string> config_files;
  std::vector<std::string> problems;   // why the state is degraded, for people
  std::string last_reload_error;       // empty after a good one
  uint64_t last_reload_timestamp = 0;  // CLOCK_REALTIME, microseconds
  uint64_t events_seen = 0;            // process events received
  uint64_t event_overruns = 0;         // process events that the kernel dropped
  std::vector<AssignmentCount> assignments;
  uint64_t drift = 0;  // things that somebody else had changed at the last look

  // Threads put in a group.
  [[nodiscard]] uint64_t assigned() const;
};

// Who calls, as the bus knows it.
struct Caller {
  uid_t uid = UINT32_MAX;
  pid_t pid = 0;  // for telling apart what a caller means; nothing is permitted by it
};

class ManagerInterface {
 public:
  ManagerInterface() = default;
  ManagerInterface(const ManagerInterface&) = delete;
  ManagerInterface& operator=(const ManagerInterface&) = delete;
  virtual ~ManagerInterface() = default;

  [[nodiscard]] virtual std::expected<void, CallError> reload() = 0;
  // The warnings of the policy files as they are now, formatted; the errors are the error's text.
  [[nodiscard]] virtual std::expected<std::string, CallError> check() = 0;
  [[nodiscard]] virtual std::expected<PlanSummary, CallError> plan() = 0;
  // Removes every group that rdtd made and forgets the policy in force, until the next reload.
  [[nodiscard]] virtual std::expected<void, CallError> reset() = 0;
  // Puts a process in a group of the policy in force against what the rules say, until it execs or
  // ends. A caller that puts itself there does so for the program that it execs next.
  [[nodiscard]] virtual std::expected<void, CallError> assign_by_hand(pid_t pid,
                                                                      const std::string& group,
                                                                      const Caller& caller) = 0;
  // What only the process's owner may know is told to the owner and to root.
  [[nodiscard]] virtual std::expected<Explanation, CallError> explain(pid_t pid,
                                                                      const Caller& caller) = 0;
  [[nodiscard]] virtual std::expected<std::vector<DomainCounters>, CallError> counters() = 0;
  [[nodiscard]] virtual std::vector<GroupStatus> list_groups() = 0;
  // Threads in a group now; 0 where there is none of that name.
  [[nodiscard]] virtual size_t tasks_in(const std::string& group) = 0;
  [[nodiscard]] virtual ManagerProperties properties() = 0;
  // Whether somebody wants to be told of each assignment.
  virtual void watch_assignments(bool on) = 0;

  // By the names of syslog(3) without "LOG_", in lower case: "debug". False where there is no such
  // level.
  [[nodiscard]] virtual std::string log_level() = 0;
  [[nodiscard]] virtual bool set_log_level(const std::string& level) = 0;
  [[nodiscard]] virtual std::string log_target() = 0;  // "journal" or "console"
};

}  // namespace rdtd
