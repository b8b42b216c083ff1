#include "rdtd/daemon/left_alone.hpp"

#include <algorithm>
#include <utility>

namespace rdtd {

namespace {

const GroupState* state_in(const Snapshot& snapshot, const std::string& group) {
  const auto found = snapshot.groups.find(group);
  return found == snapshot.groups.end() ? nullptr : &found->second;
}

// Whether each value is the one that is wanted, or the one of before. A domain that has come since
// has the kernel's.
bool has_same_values(const Schemata& now, const Schemata& before, const Schemata& wanted) {
  const auto is_in = [](const Schemata& schemata, Resource resource, DomainId domain,
                        uint32_t value) {
    const auto values = schemata.find(resource);
    if (values == schemata.end()) return false;
    const auto found = values->second.find(domain);
    return found != values->second.end() && found->second == value;
  };
  for (const auto& [resource, values] : now)
    for (const auto& [domain, value] : values)
      if (!is_in(wanted, resource, domain, value) && !is_in(before, resource, domain, value))
        return false;
  return true;
}

}  // namespace

void LeftAlone::remember(const std::vector<GroupTarget>& targets, Snapshot now) {
  wanted_.clear();
  for (const GroupTarget& target : targets) wanted_[target.directory] = target.state;
  left_ = std::move(now);
}

bool LeftAlone::is_as_left(const GroupTarget& target, const Snapshot& now) const {
  const auto wanted = wanted_.find(target.directory);
  if (wanted == wanted_.end() || wanted->second != target.state) return false;
  const GroupState* const state = state_in(now, target.directory);
  const GroupState* const before = state_in(*left_, target.directory);
  if (state == nullptr || before == nullptr) return state == before;
  // A CPU that has come since has fallen to the default group.
  const CpuSet lacks = without(common(target.state.cpus, now.online_cpus()), state->cpus);
  const CpuSet lacked = without(common(target.state.cpus, left_->online_cpus()), before->cpus);
  return (state->mode == target.state.mode || state->mode == before->mode) &&
         has_same_values(state->schemata, before->schemata, target.state.schemata) &&
         without(lacks, lacked).empty() &&
         without(without(state->cpus, target.state.cpus), before->cpus).empty();
}

void LeftAlone::take_out(const std::vector<GroupTarget>& targets, const Snapshot& now,
                         const std::set<std::string>& pending, Steps& back) const {
  if (!left_) return;
  std::set<std::string> left;
  for (const GroupTarget& target : targets)
    if (is_as_left(target, now)) left.insert(target.directory);
  std::erase_if(back.steps, [&](const Step& step) {
    const std::string& group = group_of(step);
    return left.contains(group) &&
           !(std::holds_alternative<SetMode>(step) && pending.contains(group));
  });
  std::erase_if(back.mon_groups, [&](const Step& step) {
    const std::string& group = group_of(step);
    return !now.mon_groups.contains(group) && !left_->mon_groups.contains(group) &&
           !pending.contains(group);
  });
}

}  // namespace rdtd
