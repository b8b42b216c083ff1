#include "rdtd/daemon/left_alone.hpp"

#include <algorithm>
#include <utility>

namespace rdtd {

namespace {

const GroupState* state_in(const Snapshot& snapshot, const std::string& group) {
  const auto found = snapshot.groups.find(group);
  return found == snapshot.groups.end() ? nullptr : &found->second;
}

// All ways, or no limit. Of a control whose highest value is not known, any value.
bool is_reset_value(const Resource& resource, DomainId domain, uint32_t value,
                    const Capabilities& capabilities) {
  if (const auto cache = capabilities.caches.find(resource); cache != capabilities.caches.end())
    return value == cache->second.cbm_mask.bits;
  if (const auto rates = capabilities.bandwidths.find(resource);
      rates != capabilities.bandwidths.end()) {
    const auto unlimited = rates->second.unlimited.find(domain);
    return unlimited == rates->second.unlimited.end() || value >= unlimited->second;
  }
  const auto control = capabilities.controls.find(resource);
  return control == capabilities.controls.end() || !control->second.maximum ||
         value >= *control->second.maximum;
}

// Whether each value is the one that is wanted, or one of before that others have written.
bool has_same_values(const Schemata& now, const Schemata& before, const Schemata& wanted,
                     const Capabilities& capabilities) {
  const auto is_in = [](const Schemata& schemata, const Resource& resource, DomainId domain,
                        uint32_t value) {
    const auto values = schemata.find(resource);
    if (values == schemata.end()) return false;
    const auto found = values->second.find(domain);
    return found != values->second.end() && found->second == value;
  };
  for (const auto& [resource, values] : now)
    for (const auto& [domain, value] : values) {
      if (is_in(wanted, resource, domain, value)) continue;
      if (is_reset_value(resource, domain, value, capabilities) ||
          !is_in(before, resource, domain, value))
        return false;
    }
  return true;
}

// Domains that have come or gone change nothing for the others.
bool wants_the_same(const GroupState& before, const GroupState& now) {
  if (before.mode != now.mode || before.cpus != now.cpus) return false;
  for (const auto& [resource, values] : now.schemata) {
    const auto known = before.schemata.find(resource);
    if (known == before.schemata.end()) return false;
    for (const auto& [domain, value] : values)
      if (const auto other = known->second.find(domain);
          other != known->second.end() && other->second != value)
        return false;
  }
  return true;
}

// Those that a CPU does not fall to by itself.
CpuSet cpus_of_groups(const Snapshot& now) {
  CpuSet out;
  for (const auto& [group, state] : now.groups)
    if (group != root_group) out.insert(state.cpus.begin(), state.cpus.end());
  return out;
}

}  // namespace

void LeftAlone::remember(const std::vector<GroupTarget>& targets, Snapshot now) {
  wanted_.clear();
  for (const GroupTarget& target : targets) wanted_[target.directory] = target.state;
  left_ = std::move(now);
}

void LeftAlone::forget(const std::set<std::string>& groups) {
  for (const std::string& group : groups) wanted_.erase(group);
}

bool LeftAlone::is_as_left(const GroupTarget& target, const Machine& machine) const {
  const Snapshot& now = machine.snapshot;
  const auto wanted = wanted_.find(target.directory);
  if (wanted == wanted_.end() || !wants_the_same(wanted->second, target.state)) return false;
  const GroupState* const state = state_in(now, target.directory);
  const GroupState* const before = state_in(*left_, target.directory);
  if (state == nullptr || before == nullptr) return state == before;
  if (state->mode != target.state.mode && state->mode != before->mode) return false;
  if (!has_same_values(state->schemata, before->schemata, target.state.schemata,
                       machine.capabilities))
    return false;
  if (target.directory == root_group) return true;  // its CPUs are those that nobody has
  const CpuSet lacks = without(common(target.state.cpus, now.online_cpus()), state->cpus);
  return without(lacks, cpus_of_groups(now)).empty() &&
         without(without(state->cpus, target.state.cpus), before->cpus).empty();
}

void LeftAlone::take_out(const std::vector<GroupTarget>& targets, const Machine& machine,
                         const std::set<std::string>& pending, Steps& back) const {
  if (!left_) return;
  std::set<std::string> as_left;
  for (const GroupTarget& target : targets)
    if (is_as_left(target, machine)) as_left.insert(target.directory);
  std::erase_if(back.steps, [&](const Step& step) {
    const std::string& group = group_of(step);
    return as_left.contains(group) &&
           !(std::holds_alternative<SetMode>(step) && pending.contains(group));
  });
  std::erase_if(back.mon_groups, [&](const Step& step) {
    const std::string& group = group_of(step);
    return !machine.snapshot.mon_groups.contains(group) && !left_->mon_groups.contains(group) &&
           !pending.contains(group);
  });
}

}  // namespace rdtd
