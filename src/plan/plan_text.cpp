#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/base/text.hpp"
#include "rdtd/plan/plan.hpp"

namespace rdtd {

namespace {

// Of groups of one kind.
struct StepCounts {
  std::set<std::string> created, changed, removed;

  void count(const Step& step) {
    auto& names = std::holds_alternative<MakeGroup>(step)     ? created
                  : std::holds_alternative<RemoveGroup>(step) ? removed
                                                              : changed;
    names.insert(group_of(step));
  }
  [[nodiscard]] bool any() const {
    return !created.empty() || !changed.empty() || !removed.empty();
  }
  // "1 to create, 0 to change, 0 to remove", or without the zeros.
  [[nodiscard]] std::string text(bool zeros) const {
    const auto is_old = [&](const std::string& name) {
      return !created.contains(name) && !removed.contains(name);
    };
    const auto changes = static_cast<size_t>(std::ranges::count_if(changed, is_old));
    std::vector<std::string> out;
    for (const auto& [count, what] :
         {std::pair(created.size(), "create"), {changes, "change"}, {removed.size(), "remove"}})
      if (zeros || count > 0) out.push_back(fmt::format("{} to {}", count, what));
    return join(out, ", ");
  }
};

}  // namespace

std::string plan_summary(const Plan& plan) {
  if (plan.changes_nothing()) return "Nothing to change.";
  StepCounts groups, mon_groups;
  for (const auto* part : parts(plan.changes))
    for (const Step& step : *part) (is_mon_group(group_of(step)) ? mon_groups : groups).count(step);
  std::string out = counted(plan.changes.size(), "step");
  if (groups.any()) out += "; groups: " + groups.text(true);
  if (mon_groups.any()) out += "; monitoring groups: " + mon_groups.text(false);
  return out + ".";
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

std::string format_plan(const Plan& plan, size_t width) {
  std::string out;
  for (const auto* part : parts(plan.changes))
    for (const Step& step : *part) out += break_step(format_step(step), width) + "\n";
  return out + plan_summary(plan) + "\n";
}

}  // namespace rdtd
