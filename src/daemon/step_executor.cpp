#include "rdtd/daemon/step_executor.hpp"

#include <spdlog/spdlog.h>

#include <ranges>
#include <utility>

#include "rdtd/resctrl/members.hpp"

namespace rdtd {

// Of devices nobody else says that they have lost their limits.
void log_removal(const std::string& group, const std::set<unsigned>& iommu_groups) {
  if (iommu_groups.empty())
    spdlog::info("removed group '{}'", group_label(group));
  else
    spdlog::warn("removed group '{}', which had {}", group_label(group),
                 resctrl::iommu_groups_text(iommu_groups));
}

void log_removals(const std::vector<Step>& steps, const resctrl::Transaction& done) {
  for (const Step& step : steps)
    if (const std::string& group = group_of(step); std::holds_alternative<RemoveGroup>(step))
      log_removal(group, resctrl::parse_members(done.tasks_before(group)).iommu_groups);
}

Result<void> StepExecutor::carry_out(const std::vector<Step>& steps, const Machine& machine) {
  resctrl::Transaction transaction(system_.resctrl, ownership_, machine, system_.device_holder);
  auto done = transaction.carry_out(steps);
  if (done) log_removals(steps, transaction);
  return done;
}

// A failure of another tool's monitoring group is ignored: that tool has to notice it.
std::map<std::string, Error> StepExecutor::make_mon_groups(const std::vector<Step>& steps,
                                                           const Machine& machine) {
  std::map<std::string, Error> failed;
  for (const Step& step : steps) {
    const std::string& group = group_of(step);
    if (failed.contains(group)) continue;
    auto made = carry_out({step}, machine);
    const bool others =
        machine.snapshot.mon_groups.contains(group) && !machine.snapshot.owned.contains(group);
    if (!made && !others) failed.emplace(group, std::move(made.error()));
  }
  return failed;
}

std::map<std::string, std::string> StepExecutor::assign_counters(CounterPlan plan,
                                                                 const Machine& machine) {
  for (const Step& step : plan.steps)
    if (const auto done = carry_out({step}, machine); !done)
      plan.missing.insert_or_assign(group_of(step), done.error().text());
  return std::move(plan.missing);
}

std::vector<std::string> StepExecutor::take_back(const std::vector<Step>& steps,
                                                 const Machine& machine) {
  std::vector<std::string> problems;
  for (const Step& step : std::views::reverse(steps)) {
    if (std::holds_alternative<WriteCpus>(step)) continue;  // see give_cpus_back
    Step back = RemoveGroup{group_of(step)};
    if (const auto* assigned = std::get_if<AssignCounters>(&step)) {
      AssignCounters none = *assigned;
      for (auto& [event, domains] : none.events)
        for (auto& [domain, has_counter] : domains) has_counter = false;
      back = std::move(none);
    }
    auto done = carry_out({back}, machine);
    if (done) continue;
    done.error().detail.clear();  // it is about this one step
    problems.push_back(done.error().text());
  }
  return problems;
}

void StepExecutor::give_cpus_back(const std::vector<Step>& steps, const Machine& machine) {
  std::map<std::string, CpuSet> had;
  for (const Step& step : steps)
    if (const std::string& group = group_of(step);
        std::holds_alternative<WriteCpus>(step) && machine.snapshot.mon_groups.contains(group)) {
      const auto cpus = machine.snapshot.mon_cpus.find(group);
      had[group] = cpus == machine.snapshot.mon_cpus.end() ? CpuSet{} : cpus->second;
    }
  for (const auto& [group, cpus] : had)
    (void)carry_out({WriteCpus{.group = group, .before = {}, .after = cpus}}, machine);
}

}  // namespace rdtd
