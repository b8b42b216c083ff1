// Core: the parts of the daemon that its changes and answers work with, and the state that they
// share. It decides nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rdtd/daemon/applier.hpp"
#include "rdtd/daemon/drift_check.hpp"
#include "rdtd/daemon/growing_pause.hpp"
#include "rdtd/daemon/in_force.hpp"
#include "rdtd/daemon/jobs.hpp"
#include "rdtd/daemon/leases.hpp"
#include "rdtd/daemon/manual_assignments.hpp"
#include "rdtd/daemon/problems.hpp"
#include "rdtd/daemon/publisher.hpp"
#include "rdtd/daemon/put_off_load.hpp"
#include "rdtd/daemon/stand_ins.hpp"
#include "rdtd/daemon/sweeper.hpp"
#include "rdtd/daemon/system.hpp"

namespace rdtd {

// The actions of the loop when something happens in the core.
struct Observer {
  std::function<void()> before_reload = [] {};
  std::function<void()> rules_changed = [] {};  // in force, processes not looked at yet
  std::function<void(bool success)> after_reload = [](bool) {};
  std::function<void()> groups_changed = [] {};  // what they are granted, without a reload
  std::function<void()> state_changed = [] {};
  // More processes may have changed than can be visited one by one: call sweep.
  std::function<void()> visits_lost = [] {};
  std::function<void(const std::string& what)> on_drift = [](const std::string&) {};
  std::function<void(const std::string& name, const std::string& reason)> on_lease_ended =
      [](const std::string&, const std::string&) {};
  // `rule` is empty for a manual assignment.
  std::function<void(pid_t pid, const std::string& group, const std::string& rule)> on_assigned =
      [](pid_t, const std::string&, const std::string&) {};
  std::function<void(bool)> watch_assignments = [](bool) {};
  // Brings the counts of process events in the state up to date.
  std::function<void()> count_events = [] {};
};

// The state in force, and the results of the last changes.
struct State {
  struct LastReload {
    std::string error, public_error;  // empty after a successful one
    uint64_t timestamp = 0;           // of a successful one: CLOCK_REALTIME, microseconds
  };
  std::shared_ptr<const InForce> in_force;
  PutOffLoad put_off;
  // Set while what leases that have ended had put in force still is. When that is tried again.
  std::optional<GrowingPause> ended_in_force;
  LastReload last_reload;
  std::vector<Drift> drift;                               // that the last comparison found
  std::chrono::steady_clock::time_point comparison_due =  // because of a change in resctrl
      std::chrono::steady_clock::time_point::max();
  std::map<size_t, size_t> processes_by_rule;  // at the last look at all of them
  bool events_available = true;
  uint64_t events_seen = 0, event_overruns = 0;
};

struct Core {
  // `state_directory`: of the records that outlive the daemon.
  Core(System outside, Ownership ownership, Directory state_directory);

  // Before any policy is in force, those who could read resctrl before may.
  [[nodiscard]] resctrl::Admit readers() const;
  void admit(resctrl::Admit who);
  [[nodiscard]] bool reports_only() const {
    return state.in_force->policy.daemon.drift == OnDrift::report;
  }
  // Reports what a look at all processes could not do.
  void note_sweep(const Result<SweepResult>& swept);
  // Reports the parts of the policy that the machine cannot have now.
  void report_missing();
  // Has resctrl compared with what was granted within this time.
  void compare_within(std::chrono::milliseconds delay);
  // How often a user database that does not answer is asked: each question may keep the main loop
  // waiting for its timeout.
  static constexpr std::chrono::minutes user_lookup_interval{5};
  // Has resctrl compared soon, if something is missing that may become possible at any time; after
  // growing pauses, if something failed. A new failure begins them again.
  void retry_soon();
  // Whether the last look at all processes could not do all of it, and another one is due.
  [[nodiscard]] bool look_is_due() const {
    return misses_processes() && retry_.is_over(system.now());
  }
  // Writes down what outlives the daemon, if it has changed.
  void store();

  System system;
  Problems problems;
  StandIns stand_ins;
  State state;
  Observer observer;
  ManualAssignments manual;
  Applier applier;
  DriftCheck drift_check;
  Sweeper sweeper;
  Publisher publisher;
  Jobs jobs;
  Leases leases;

 private:
  [[nodiscard]] bool misses_processes() const;
  GrowingPause retry_;
  std::set<std::string> failing_;  // what it is for
};

[[nodiscard]] std::string cannot_be_examined(const SweepResult& swept);

}  // namespace rdtd
