// StepExecutor: carries out planned steps on the machine, together or each by itself, and logs the
// groups that go. Each failure has been undone when a function returns.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/daemon/system.hpp"
#include "rdtd/plan/mbm_counters.hpp"
#include "rdtd/resctrl/ownership.hpp"
#include "rdtd/resctrl/transaction.hpp"

namespace rdtd {

class StepExecutor {
 public:
  StepExecutor(System& system, Ownership ownership)
      : system_(system), ownership_(std::move(ownership)) {}

  // Knows which groups rdtd made; each step that makes or removes one is recorded.
  [[nodiscard]] Ownership& ownership() { return ownership_; }

  // All of them, or none.
  [[nodiscard]] Result<void> carry_out(const std::vector<Step>& steps, const Machine& machine);
  // Makes monitoring groups, each by itself. Returns those that could not be made, and why.
  [[nodiscard]] std::map<std::string, Error> make_mon_groups(const std::vector<Step>& steps,
                                                             const Machine& machine);
  // Assigns counters to the groups, and returns those that still lack some, and why.
  [[nodiscard]] std::map<std::string, std::string> assign_counters(CounterPlan plan,
                                                                   const Machine& machine);
  // Removes monitoring groups that the steps have made, and takes counters away that they have
  // assigned. Returns what failed.
  [[nodiscard]] std::vector<std::string> take_back(const std::vector<Step>& steps,
                                                   const Machine& machine);
  // Gives the CPUs that the steps have moved back to monitoring groups that were there before.
  void give_cpus_back(const std::vector<Step>& steps, const Machine& machine);

 private:
  System& system_;
  Ownership ownership_;
};

// Logs that a group has gone, and the IOMMU groups of the devices that were in it.
void log_removal(const std::string& group, const std::set<unsigned>& iommu_groups);
// The same for each group that the steps have removed.
void log_removals(const std::vector<Step>& steps, const resctrl::Transaction& done);

}  // namespace rdtd
