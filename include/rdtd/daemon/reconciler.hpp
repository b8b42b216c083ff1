// Reconciler: finds what another tool or the kernel changed, and does about it what the policy
// says: in resctrl, and where the processes are. It says when that is looked for, and reports it.
// Parts of the policy that the machine could not have before are tried again afterwards.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rdtd/daemon/core.hpp"
#include "rdtd/daemon/drift_pace.hpp"
#include "rdtd/daemon/loads.hpp"
#include "rdtd/daemon/template_groups.hpp"

namespace rdtd {

class Reconciler {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Reconciler(Core& core, Loads& loads, Assignments& assignments)
      : core_(core), loads_(loads), assignments_(assignments) {}

  // Compares resctrl, and looks at all processes.
  void reconcile() { want(Scope::processes); }
  // Somebody, perhaps rdtd itself, has changed these groups, by directory: soon, finds what is
  // different in resctrl.
  void resctrl_changed(const std::set<std::string>& groups);
  // A group of another tool has other ways or another mode.
  void others_changed();
  // A CPU has gone offline or come online: soon, restores what the kernel has reset.
  void cpu_changed();
  // Looks at all processes, then calls `done`. `why` is for the log.
  void sweep(const char* why, std::function<void()> done);

  // Begins the comparisons that are due.
  void step();
  [[nodiscard]] Time next_due() const;

 private:
  // The extent of a comparison: resctrl only, or the processes too.
  enum class Scope { resctrl, processes };
  void want(Scope scope);
  [[nodiscard]] Task<> run_comparison();
  [[nodiscard]] Task<std::set<std::string>> compare(Scope scope);
  [[nodiscard]] Task<std::vector<Drift>> look_at_processes(const DriftCheck::Comparison& found);
  void keep_unread_drift(DriftCheck::Comparison& found) const;
  void finish(std::vector<Drift> drift, std::vector<Drift> before);
  void report_unsettled();
  void report_drift(const std::vector<Drift>& found);
  void log_processes(const std::string& drift);
  [[nodiscard]] bool end_is_due();
  [[nodiscard]] Task<bool> try_what_is_missing();
  void follow_templates(bool all);
  void renew_reasons(const std::vector<MissingPart>& missing);

  Core& core_;
  Loads& loads_;
  Assignments& assignments_;
  std::optional<Scope> waiting_, running_;  // comparisons: one waits, one is under way
  DriftPace drift_pace_;
  TemplateGroups templates_;
  // By templates, since the last look at all processes began.
  std::set<std::string> wanted_in_look_;
  Time next_templates_{};
  Time next_renewal_{};  // of a table whose groups are gone
  Time next_user_lookup_{};
  std::array<Time, 2> next_log_of_processes_{};  // by rules, by manual assignments
};

}  // namespace rdtd
