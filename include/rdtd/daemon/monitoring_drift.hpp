// MonitoringDrift: the part of a comparison that is about monitoring groups and their counters.
// They are made and assigned each by itself; what the kernel has no RMID or counter for is tried
// again at each comparison, whatever the policy says of drift: nobody took it away.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rdtd/daemon/drift.hpp"
#include "rdtd/daemon/in_force.hpp"
#include "rdtd/daemon/problems.hpp"
#include "rdtd/daemon/step_executor.hpp"

namespace rdtd {

class MonitoringDrift {
 public:
  MonitoringDrift(StepExecutor& executor, Problems& problems)
      : executor_(executor), problems_(problems) {}

  // Monitoring groups of the policy that could not be made at its load, and why.
  void make_later(const std::map<std::string, Error>& unmade);
  // The same for counters of groups.
  void assign_later(const std::map<std::string, std::string>& without_counters);
  // Monitoring groups that the next comparison is to make.
  void expect_new(const std::set<std::string>& mon_groups);
  // The groups that could not be made yet.
  [[nodiscard]] const std::set<std::string>& unmade() const { return unmade_; }
  // A new policy is in force.
  void forget();

  // `by_kernel`: what is missing was lost by a reset of the kernel, and is restored even if drift
  // is only reported. Returns the groups that were made.
  [[nodiscard]] std::set<std::string> make_groups(const InForce& in_force, std::vector<Step> steps,
                                                  const Machine& machine, bool by_kernel);
  // `made`: groups that may lack counters since they are new. `machine`: as it is after all other
  // restoration, or nothing if it could not be read. Returns what others took.
  [[nodiscard]] std::vector<Drift> assign_counters(const InForce& in_force, bool by_kernel,
                                                   const std::set<std::string>& made,
                                                   const std::optional<Machine>& machine);
  // The kernel assigns no counters: what was missing is no problem now.
  void forget_counters();

 private:
  StepExecutor& executor_;
  Problems& problems_;
  std::set<std::string> unmade_;            // monitoring groups that could not be made yet
  std::set<std::string> without_counters_;  // groups that lacked some at the last look
};

}  // namespace rdtd
