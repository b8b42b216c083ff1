// ManagerInterface: what the D-Bus service needs of the daemon, in values. The daemon implements it; the service
// translates it and knows nothing else.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace rdtd {

// Why a call failed; the name of the D-Bus error is RDTD_BUS_NAME ".Error." and the kind.
struct CallError {
  enum class Kind { InvalidPolicy, NoSuchProcess, OutOfClosids, Busy, KernelRejected };
  Kind kind = Kind::KernelRejected;
  std::string text;
};

struct GroupStatus {
  std::string name;
  std::string asked;    // "L3:0=4 ways;1=4 ways MB:0=10%", empty where nothing was asked
  std::string granted;  // "L3:0=f;1=f MB:0=10;1=100"
  std::string mode;
  std::string cpus;
  uint32_t rules = 0;
  uint32_t tasks = 0;
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
  std::string state;  // "running", or "degraded": a policy could not be applied or the process events fail
  std::vector<std::string> config_files;
  std::string last_reload_error;       // empty after a good one
  uint64_t last_reload_timestamp = 0;  // CLOCK_REALTIME, microseconds
  uint64_t events_seen = 0;            // process events received
  uint64_t event_overruns = 0;         // process events that the kernel dropped
  uint64_t assigned = 0;               // threads put in a group
  uint64_t drift = 0;                  // things found changed by somebody else
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
  // `caller` is an effective user id: what only the process's owner may know is told to the owner and to root.
  [[nodiscard]] virtual std::expected<Explanation, CallError> explain(pid_t pid, uid_t caller) = 0;
  [[nodiscard]] virtual std::vector<GroupStatus> list_groups() = 0;
  [[nodiscard]] virtual ManagerProperties properties() = 0;
};

}  // namespace rdtd
