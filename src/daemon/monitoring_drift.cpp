#include "rdtd/daemon/monitoring_drift.hpp"

#include <fmt/format.h>

#include <utility>

namespace rdtd {

namespace {

const std::string mon_group_key = "monitoring group ";
const std::string counter_key = "counters ";

}  // namespace

void MonitoringDrift::forget() {
  unmade_.clear();
  without_counters_.clear();
}

void MonitoringDrift::make_later(const std::map<std::string, Error>& unmade) {
  for (const auto& [group, error] : unmade) {
    unmade_.insert(group);
    problems_.set(mon_group_key + group, error.text());
  }
}

void MonitoringDrift::expect_new(const std::set<std::string>& mon_groups) {
  unmade_.insert(mon_groups.begin(), mon_groups.end());
}

std::set<std::string> MonitoringDrift::make_groups(const InForce& in_force, std::vector<Step> steps,
                                                   const Machine& machine, bool by_kernel) {
  // Nobody removed a group that could not be made yet, nor took CPUs that it could not get.
  if (in_force.policy.daemon.drift == OnDrift::report && !by_kernel)
    std::erase_if(steps, [&](const Step& step) { return !unmade_.contains(group_of(step)); });
  const auto failed = executor_.make_mon_groups(steps, machine);
  std::set<std::string> made;
  for (const Step& step : steps)
    if (std::holds_alternative<MakeGroup>(step) && !failed.contains(group_of(step)))
      made.insert(group_of(step));
  for (const auto& [group, error] : failed) problems_.report(mon_group_key + group, error.text());
  unmade_.clear();
  for (const auto& [group, error] : failed) unmade_.insert(group);
  problems_.clear_all(mon_group_key, unmade_);
  return made;
}

void MonitoringDrift::assign_later(const std::map<std::string, std::string>& without_counters) {
  for (const auto& [group, why] : without_counters) {
    without_counters_.insert(group);
    problems_.set(counter_key + group, why);
  }
}

// Counters that became free go to groups that lacked some, even if drift is only reported.
std::vector<Drift> MonitoringDrift::assign_counters(const InForce& in_force, bool by_kernel,
                                                    const std::set<std::string>& made,
                                                    const std::optional<Machine>& machine) {
  without_counters_.insert(made.begin(), made.end());
  if (!machine && by_kernel)
    for (const GroupTarget& target : in_force.groups) {
      without_counters_.insert(target.directory);
      without_counters_.insert(target.mon_groups.begin(), target.mon_groups.end());
    }
  if (!machine) return {};
  CounterPlan plan = plan_counters(in_force.groups, machine->snapshot);
  const bool wanted = by_kernel || in_force.policy.daemon.drift == OnDrift::restore;
  std::vector<Drift> taken;
  std::erase_if(plan.steps, [&](const Step& step) {
    const std::string& group = group_of(step);
    if (without_counters_.contains(group)) return false;
    const MbmAssignments& events = std::get<AssignCounters>(step).events;
    taken.push_back({group,
                     fmt::format("group '{}': no counter at {}", group_label(group),
                                 mbm_assignments_line(events)),
                     wanted, by_kernel});
    return !wanted;
  });
  const auto still = executor_.assign_counters(std::move(plan), *machine);
  std::erase_if(taken, [&](const Drift& drift) { return still.contains(*drift.group); });
  for (const auto& [group, why] : still) problems_.report(counter_key + group, why);
  without_counters_.clear();
  for (const auto& [group, why] : still) without_counters_.insert(group);
  problems_.clear_all(counter_key, without_counters_);
  return taken;
}

void MonitoringDrift::forget_counters() {
  without_counters_.clear();
  problems_.clear_all(counter_key, {});
}

}  // namespace rdtd
