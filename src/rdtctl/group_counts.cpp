#include "group_counts.hpp"

#include <chrono>
#include <utility>

#include "rdtd/model/counters.hpp"

namespace rdtd {

namespace {

std::optional<double> of_all_domains(const Used& used) {
  return used.reason ? std::nullopt : used.amount;
}

}  // namespace

GroupCounts::GroupCounts(const Context& context) : proc_(context.proc) {
  if (auto tree = Tree::open(context.resctrl)) tree_.emplace(std::move(*tree));
}

std::optional<Reading> GroupCounts::read() const {
  auto reading = tree_ ? read_usage(*tree_) : std::unexpected(Error{});
  return reading ? std::optional(std::move(*reading)) : std::nullopt;
}

GroupCounts::Since GroupCounts::since(const std::optional<Reading>& before,
                                      const std::string& group,
                                      std::optional<double> seconds) const {
  Since out;
  const auto now = before ? read() : std::nullopt;
  if (!now) return out;
  const std::chrono::duration<double> passed = now->at - before->at;
  for (const Usage& usage : usage_between(*before, *now, Domains::summed)) {
    if (usage.group != group) continue;
    out.occupancy = of_all_domains(usage.of(occupancy_counter));
    out.traffic = of_all_domains(usage.of(traffic_counter));
    if (out.traffic && seconds) *out.traffic *= passed.count() / *seconds;
  }
  return out;
}

std::vector<pid_t> GroupCounts::tasks_of(const std::string& group) const {
  const auto tasks = tree_ ? tree_->read_tasks(group_directory(group)) : std::unexpected(Error{});
  return tasks.value_or(std::vector<pid_t>{});
}

CpuSeconds GroupCounts::task_seconds(const std::string& group) const {
  return cpu_seconds_of(tasks_of(group), proc_);
}

}  // namespace rdtd
