// DriftCheck: compares resctrl with what was granted, and decides what is done about a difference:
// another tool's change is restored or only reported, as the policy says; what the kernel itself
// reset, and what becomes possible on a changed machine, is always corrected.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rdtd/daemon/applier.hpp"
#include "rdtd/daemon/drift.hpp"
#include "rdtd/daemon/in_force.hpp"
#include "rdtd/daemon/left_alone.hpp"
#include "rdtd/daemon/monitoring_drift.hpp"
#include "rdtd/daemon/problems.hpp"

namespace rdtd {

class DriftCheck {
 public:
  DriftCheck(Applier& applier, Problems& problems)
      : applier_(applier),
        executor_(applier.executor()),
        problems_(problems),
        monitoring_(applier.executor(), problems) {}

  struct Comparison {
    // Replaces the present one: planned for a machine that has changed. Null if nothing changed.
    std::shared_ptr<const InForce> in_force;
    std::vector<Drift> drift;
    bool groups_made = false;       // threads outside of them are a consequence
    bool read = true;               // false: nothing could be compared
    std::set<std::string> unread;   // groups of which something could not be
    bool tables_old = false;        // the `tasks` files must be opened again
    std::set<std::string> refused;  // groups of which something could not be restored
  };
  // Compares and restores. The caller holds the lock of resctrl.
  [[nodiscard]] Comparison compare(const std::shared_ptr<const InForce>& in_force);

  // Knows what could not be made or assigned at a load, and tries it again at each comparison.
  [[nodiscard]] MonitoringDrift& monitoring() { return monitoring_; }

  // A CPU has gone or come: the kernel may have reset what it belongs to, even if the next
  // comparison does not see that it was away. Or the undo of a load has failed.
  void expect_reset() { reset_pending_ = true; }

  // The problem of a region begins with this, and its name follows.
  static constexpr const char* lock_key = "pseudo_lock ";
  // A new policy is in force. `left_others`: what others changed before it is so still.
  void forget(bool left_others = false);

 private:
  [[nodiscard]] std::shared_ptr<const InForce> follow_machine(const InForce& in_force,
                                                              const Machine& machine);
  [[nodiscard]] std::shared_ptr<const InForce> update(
      const std::shared_ptr<const InForce>& in_force, const Machine& machine, Comparison& out);
  [[nodiscard]] std::shared_ptr<const InForce> follow_groups(
      const std::shared_ptr<const InForce>& in_force, const Snapshot& now, Comparison& out);
  void report_unread(const Snapshot& now, Comparison& out);
  std::set<std::string> adopt(const InForce& in_force, Machine& machine, Comparison& out);
  [[nodiscard]] std::optional<Machine> read_again();
  void lock_regions(std::vector<Step> steps, bool ready, bool by_kernel, Comparison& out);
  void remove_left_behind(const std::vector<Step>& removals, const Machine& machine);
  struct Restored {
    bool limits = true;          // of the groups that are there
    bool all = true;             // nothing is left that the others of a comparison wait for
    std::optional<Error> error;  // the first one
  };
  [[nodiscard]] Restored restore_apart(const std::vector<Step>& steps, Comparison& out);
  void restore_each(const std::vector<Step>& steps, Comparison& out, Restored& result);
  [[nodiscard]] Restored restore(const InForce& in_force, const std::vector<Step>& steps,
                                 const Machine& machine, Comparison& out);
  void set_modes(const std::vector<Step>& modes, bool ready, bool by_kernel);
  void enable_io(const InForce& in_force, bool alone, Comparison& out);
  void restore_io(const InForce& in_force, bool is_disabled, bool ready, bool by_kernel,
                  Comparison& out);
  void compare_monitoring(const InForce& in_force, std::vector<Step> mon_groups,
                          const Machine& before, bool by_kernel, Comparison& out);
  [[nodiscard]] bool kernel_reset(const Machine& machine);
  [[nodiscard]] std::vector<Difference> differences_to(const InForce& in_force, Snapshot now) const;
  void add_drift(const InForce& in_force, const Snapshot& before, bool by_kernel,
                 const std::set<std::string>& adopted, const std::set<std::string>& unmade,
                 Comparison& out);

  Applier& applier_;
  StepExecutor& executor_;
  Problems& problems_;
  MonitoringDrift monitoring_;
  std::string last_failure_;         // to restore, by what failed
  std::set<std::string> following_;  // groups whose mode rdtd has yet to set
  // Regions, and the I/O ways, that the kernel took and rdtd could not give back yet.
  std::set<std::string> lost_;
  LeftAlone left_alone_;
  bool reset_pending_ = false;            // by the kernel or a failed undo, not restored yet
  bool read_failed_ = false;              // in the middle of a comparison
  std::optional<Schemata> last_domains_;  // of the root at the last comparison
  std::optional<CpuSet> last_online_;     // at the last comparison
};

}  // namespace rdtd
