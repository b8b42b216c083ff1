// Adapts the policy in force to the machine and to the groups of others as they are now.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "log.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/daemon/drift_check.hpp"

namespace rdtd {

namespace {

const std::string others_key = "others ";

// Whether the table has a file of a group open that is there no more. A group that nobody wants any
// more is no reason to open all files again, and what cannot be listed may be there.
bool has_dead_files(const InForce& in_force, const Snapshot& now) {
  return std::ranges::any_of(in_force.table->tasks, [&](const auto& open) {
    const auto& [group, tasks] = open;
    return tasks && group != root_group && !now.inodes.contains(group) && in_force.has(group) &&
           !now.is_unlisted(group);
  });
}

}  // namespace

// A machine that has changed is planned for again, if the policy in force fits it. The groups of
// the policy keep their places, not what others or the kernel have made of them.
std::shared_ptr<const InForce> DriftCheck::follow_machine(const InForce& in_force,
                                                          const Machine& machine) {
  Snapshot granted = machine.snapshot;
  for (const GroupTarget& target : in_force.groups)
    if (const auto group = granted.groups.find(target.directory);
        group != granted.groups.end() && !is_taken(target.directory, granted))
      for (auto& [resource, values] : group->second.schemata)
        for (auto& [domain, value] : values)
          if (const auto masks = target.state.schemata.find(resource);
              masks != target.state.schemata.end() && masks->second.contains(domain))
            value = masks->second.at(domain);
  auto plan = make_plan(in_force.policy, machine.capabilities, granted, PlanFor::in_force);
  if (!plan) {
    const auto text = [&](const Sources& sources) {
      return fmt::format("the machine has changed, and the policy in force does not fit it:\n{}",
                         trim(format_diagnostics(plan.error(), sources)));
    };
    problems_.report("machine", text(in_force.policy.sources), text({}));
    return nullptr;
  }
  problems_.clear("machine");
  auto changed = std::make_shared<InForce>(in_force);
  changed->capabilities = machine.capabilities;
  changed->obstacles = obstacles(machine.snapshot);
  changed->groups = std::move(plan->groups);
  changed->locks = std::move(plan->locks);
  changed->io = std::move(plan->io);
  std::erase_if(changed->missing,
                [](const MissingPart& part) { return part.cause == Cause::device; });
  std::ranges::move(plan->missing, std::back_inserter(changed->missing));
  return changed;
}

// Groups of others that come, widen, narrow or go decide which groups of the policy can be
// exclusive in the kernel's sense.
std::shared_ptr<const InForce> DriftCheck::follow_groups(
    const std::shared_ptr<const InForce>& in_force, const Snapshot& now, Comparison& out) {
  std::vector<GroupTarget> groups = in_force->groups;
  std::set<std::string> shared;
  for (const Diagnostic& warning :
       follow_others(in_force->policy, in_force->capabilities, now, groups, in_force->io)) {
    shared.insert(warning.message);
    const bool is_new = problems_.set(others_key + warning.message, warning.message);
    const auto& logged = in_force->warnings;  // at the load
    if (is_new && std::ranges::find(logged, warning) == logged.end())
      log(LogEvent::kernel_refused, warning.message);
  }
  problems_.clear_all(others_key, shared);
  bool same = true;
  for (size_t i = 0; i < groups.size(); i++)
    if (groups[i].state.mode != in_force->groups[i].state.mode) {
      following_.insert(groups[i].directory);
      same = false;
    }
  std::shared_ptr<const InForce> current = in_force;
  if (!same) {
    auto changed = std::make_shared<InForce>(*in_force);
    changed->groups = std::move(groups);
    current = out.in_force = std::move(changed);
  }
  std::erase_if(following_, [&](const std::string& group) {
    const auto found = now.groups.find(group);
    const GroupTarget* const target = current->find(group);
    return target == nullptr || found == now.groups.end() ||
           found->second.mode == target->state.mode;
  });
  return current;
}

// The policy in force as it applies to the machine now. Puts it into `out` if it is another.
std::shared_ptr<const InForce> DriftCheck::update(const std::shared_ptr<const InForce>& in_force,
                                                  const Machine& machine, Comparison& out) {
  const Snapshot& now = machine.snapshot;
  std::shared_ptr<const InForce> current = in_force;
  if (in_force->groups.empty()) return current;
  // Each exec of a process that belongs in a group that is gone asks for a comparison.
  if (has_dead_files(*in_force, now)) out.tables_old = true;
  const bool others_changed = obstacles(now) != in_force->obstacles;
  if (!others_changed && machine.capabilities == in_force->capabilities) {
    problems_.clear("machine");
  } else if (auto changed = follow_machine(*in_force, machine)) {
    current = out.in_force = std::move(changed);
    if (others_changed)
      reset_pending_ = true;  // nobody changed the groups that have other ways now
  }
  // Under a policy that divides nothing, the default group stays as others set it.
  if (const GroupState& root = now.groups.at(std::string(root_group));
      current->policy.divides_nothing() && leaves_default_group(current->policy, now) &&
      current->groups.back().state != root) {
    auto changed = std::make_shared<InForce>(*current);
    changed->groups.back().state = root;
    current = out.in_force = std::move(changed);
  }

  std::set<std::string> taken;
  const auto note = [&](const std::string& directory) {
    if (is_taken(directory, now)) taken.insert(directory);
  };
  for (const GroupTarget& target : current->groups) {
    note(target.directory);
    std::ranges::for_each(target.mon_groups, note);
  }
  if (taken != current->taken) {
    auto changed = std::make_shared<InForce>(*current);
    changed->taken = std::move(taken);
    current = out.in_force = std::move(changed);
    out.tables_old = true;
  }
  return follow_groups(current, now, out);
}

}  // namespace rdtd
