// Client: the daemon as rdtctl sees it. No call starts the daemon.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rdtd/base/unique_fd.hpp"
#include "rdtd/bus/reads.hpp"
#include "rdtd/model/contention.hpp"
#include "rdtd/model/guard_status.hpp"

using sd_bus = struct sd_bus;

namespace rdtd {

class Client {
 public:
  struct Failure {
    enum class Kind {
      no_bus,      // there is no system bus, or the connection to it ended
      not_on_bus,  // the daemon runs, but is not on the bus
      not_running,
      not_permitted,
      no_such_process,
      no_closid,   // the kernel has none left for another group
      incomplete,  // the policy is in force, but not all processes could be examined
      timed_out,
      refused
    };
    Kind kind = Kind::refused;
    std::string text;  // the daemon's own, if it answered
    // Whether the request did not reach a daemon.
    [[nodiscard]] bool unreachable() const {
      return kind == Kind::no_bus || kind == Kind::not_on_bus || kind == Kind::not_running;
    }
  };
  template <class T>
  using Answer = std::expected<T, Failure>;

  // A signal of the daemon.
  struct Event {
    enum class Kind { assigned, reloaded, drift, lease_ended, episode, started, stopped };
    Kind kind = Kind::assigned;
    uint32_t pid = 0;     // assigned
    std::string group;    // assigned
    std::string rule;     // assigned: FILE:LINE; empty for a manual assignment
    std::string what;     // drift; lease_ended: why; episode: its sentence
    std::string lease;    // lease_ended
    bool success = true;  // reloaded
  };

  // A group of the policy in force; the default group is the last.
  struct GroupRow {
    std::string name;
    std::vector<Share> asked, granted;
    std::string mode, cpus;
    uint32_t rules = 0, tasks = 0;
  };

  [[nodiscard]] static Answer<Client> connect();
  [[nodiscard]] Answer<void> reload();
  // Returns the groups and monitoring groups that were taken over.
  [[nodiscard]] Answer<std::vector<std::string>> adopt(const std::vector<std::string>& groups);
  [[nodiscard]] Answer<void> reset();
  [[nodiscard]] Answer<void> assign(pid_t pid, const std::string& group);
  // Puts [group.*] and [[rule]] tables in force, in addition to the policy files, until every copy
  // of the descriptor is closed. poll(2) reports POLLHUP on it once the daemon has ended the lease.
  // The descriptor is closed on exec.
  [[nodiscard]] Answer<UniqueFd> lease(const std::string& name, const std::string& policy);
  [[nodiscard]] Answer<std::vector<LeaseStatus>> list_leases();
  [[nodiscard]] Answer<PlanSummary> plan();
  [[nodiscard]] Answer<Explanation> explain(pid_t pid);
  [[nodiscard]] Answer<std::vector<GroupRow>> list_groups();
  [[nodiscard]] Answer<std::vector<RuleStatus>> list_rules();
  [[nodiscard]] Answer<std::vector<LockStatus>> list_locks();
  [[nodiscard]] Answer<ManagerProperties> properties();
  // Of rdtd-observer; nothing where it does not run.
  struct Observed {
    std::vector<EpisodeRow> episodes;  // that ended since then, or have not ended
    std::vector<ContentionCount> counts;
    GuardStatus guard;
  };
  [[nodiscard]] Answer<Observed> observed(uint64_t since_usec);
  // Listens until the listener returns false, or the connection to the bus ends; the daemon may
  // stop and start meanwhile.
  [[nodiscard]] Answer<void> follow(const std::function<bool(const Event&)>& listener);

 private:
  struct Unref {
    void operator()(sd_bus* bus) const;
  };
  explicit Client(std::unique_ptr<sd_bus, Unref> bus) : bus_(std::move(bus)) {}
  [[nodiscard]] Answer<void> subscribe();
  std::unique_ptr<sd_bus, Unref> bus_;
};

}  // namespace rdtd
