#include <fmt/format.h>

#include <set>
#include <string>

#include "rdtd/plan/plan.hpp"

namespace rdtd {

std::string plan_summary(const Plan& plan) {
  if (plan.changes_nothing()) return "Nothing to change.";
  std::set<std::string> created, changed, removed;
  const auto count = [&](const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      auto& names = std::holds_alternative<MakeGroup>(step)     ? created
                    : std::holds_alternative<RemoveGroup>(step) ? removed
                                                                : changed;
      names.insert(group_of(step));
    }
  };
  for (const auto* part : parts(plan.changes)) count(*part);
  for (const auto& name : created) changed.erase(name);
  for (const auto& name : removed) changed.erase(name);
  const size_t steps = plan.changes.size();
  return fmt::format("{} step{}; groups: {} to create, {} to change, {} to remove.", steps,
                     steps == 1 ? "" : "s", created.size(), changed.size(), removed.size());
}

std::string GroupTarget::exclusivity(Resource resource, DomainId domain) const {
  const auto contains = [&](const auto& domains) {
    const auto found = domains.find(resource);
    return found != domains.end() && found->second.contains(domain);
  };
  std::string out = !partition.empty()             ? "partition " + partition
                    : exclusive && contains(asked) ? "exclusive"
                                                   : "";
  if (contains(with_devices)) out += not_from_devices;
  return out;
}

std::string format_plan(const Plan& plan) {
  std::string out;
  for (const auto* part : parts(plan.changes))
    for (const Step& step : *part) out += break_step(format_step(step)) + "\n";
  return out + plan_summary(plan) + "\n";
}

}  // namespace rdtd
