// Groups, tasks and CPUs coming and going.
#include "fake/resctrl.hpp"

#include <algorithm>
#include <cerrno>

namespace rdtd::fake {

namespace {

constexpr size_t status_size = 512;

}  // namespace

bool is_locking(const Group& group) {
  return group.mode == Mode::pseudo_locksetup || group.mode == Mode::pseudo_locked;
}

void Status::clear() {
  text_.clear();
  overflowed_ = false;
}

void Status::put(std::string_view text) {
  if (!overflowed_ && text_.size() + text.size() < status_size)
    text_ += text;
  else
    overflowed_ = true;
}

void Status::print(std::string_view text) {
  if (overflowed_) return;
  const size_t room = status_size - text_.size() - 1;
  overflowed_ = text.size() > room;
  text_ += text.substr(0, room);
}

Resctrl::Resctrl(Machine hardware) : machine(std::move(hardware)), online(machine.cpus) {
  for (const auto& [resource, control] : machine.controls)
    for (const auto& [id, domain] : control.domains)
      values[resource][id].assign(control.num_closids, unrestricted(resource));
  for (unsigned closid = 1; closid < num_closids(); closid++) free_closids.insert(closid);
  // With PMGs the numbers here only tell groups apart.
  const unsigned rmids = machine.pmgs != 0 ? machine.pmgs * num_closids() : machine.num_rmids;
  for (unsigned rmid = 1; rmid < rmids; rmid++) free_rmids.push_back(rmid);
  groups.push_back({.cpus = online, .inode = ++next_inode_});
}

Group* Resctrl::find(std::string_view name) {
  const auto found = std::ranges::find(groups, name, &Group::name);
  return found == groups.end() ? nullptr : &*found;
}

unsigned Resctrl::num_closids() const {
  unsigned least = 32;
  for (const auto& [resource, control] : machine.controls)
    least = std::min(least, control.num_closids);
  return least;
}

// A pseudo-locked group has given its CLOSID back, so that a newer group may have the same one.
std::optional<Mode> Resctrl::mode_of(unsigned closid) const {
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    if (group->closid == closid) return group->mode;
  return std::nullopt;
}

std::expected<unsigned, int> Resctrl::take_rmid() {
  if (!monitors()) return 0U;
  if (free_rmids.empty()) {
    status.put("Out of RMIDs\n");
    return std::unexpected(limbo.empty() ? ENOSPC : EBUSY);
  }
  const unsigned rmid = free_rmids.front();
  free_rmids.pop_front();
  return rmid;
}

// The kernel waits until the cache holds little of a freed RMID, if it can know.
void Resctrl::free_rmid(unsigned rmid) {
  if (!monitors() || rmid == 0) return;
  const bool measures_occupancy =
      std::ranges::find(machine.mon_features, "llc_occupancy") != machine.mon_features.end();
  (measures_occupancy ? limbo : free_rmids).push_back(rmid);
}

void Resctrl::end_limbo() {
  free_rmids.insert(free_rmids.end(), limbo.begin(), limbo.end());
  limbo.clear();
}

int Resctrl::make_control_group(const std::string& name) {
  if (free_closids.empty()) {
    status.put("Out of CLOSIDs\n");
    return ENOSPC;
  }
  const unsigned closid = *free_closids.begin();
  free_closids.erase(closid);
  const auto rmid = take_rmid();
  int code = rmid ? 0 : rmid.error();
  if (rmid) code = initialize_allocations(closid);
  if (code == 0) {
    groups.push_back({.name = name, .closid = closid, .rmid = *rmid, .inode = ++next_inode_});
    assign_at_mkdir(groups.back().assigned);
    return 0;
  }
  if (rmid) free_rmid(*rmid);
  free_closids.insert(closid);
  return code;
}

int Resctrl::make_mon_group(Group& parent, const std::string& name) {
  if (is_locking(parent)) {
    status.put("Pseudo-locking in progress\n");
    return EINVAL;
  }
  if (machine.pmgs != 0 && parent.mon_groups.size() + 1 >= machine.pmgs) {
    status.put("Out of RMIDs\n");
    return ENOSPC;
  }
  const auto rmid = take_rmid();
  if (!rmid) return rmid.error();
  parent.mon_groups.push_back({.name = name, .rmid = *rmid, .inode = ++next_inode_});
  assign_at_mkdir(parent.mon_groups.back().assigned);
  return 0;
}

void Resctrl::remove_control_group(Group& group) {
  // A group that is being locked has no tasks, CPUs or RMID; a locked one has no CLOSID either.
  if (group.mode != Mode::pseudo_locked) free_closids.insert(group.closid);
  if (!is_locking(group)) {
    for (auto& [tid, task] : tasks)
      if (task.closid == group.closid) task = {root().closid, root().rmid};
    root().cpus.insert(group.cpus.begin(), group.cpus.end());
    root().iommu_groups.insert(group.iommu_groups.begin(), group.iommu_groups.end());
    free_rmid(group.rmid);
    for (const MonGroup& child : group.mon_groups) free_rmid(child.rmid);
  }
  groups.erase(groups.begin() + (&group - groups.data()));
}

void Resctrl::remove_mon_group(Group& parent, const MonGroup& group) {
  for (auto& [tid, task] : tasks)
    if (task.rmid == group.rmid) task = {parent.closid, parent.rmid};
  free_rmid(group.rmid);
  parent.mon_groups.erase(parent.mon_groups.begin() + (&group - parent.mon_groups.data()));
}

bool Resctrl::has_tasks(const Group& group) const {
  return std::ranges::any_of(
      tasks, [&](const auto& entry) { return entry.second.closid == group.closid; });
}

void Resctrl::add_task(pid_t tid, pid_t parent) {
  const auto found = tasks.find(parent);
  tasks[tid] = found == tasks.end() ? Task{} : found->second;
}

std::optional<std::string> Resctrl::group_of(pid_t tid) const {
  const auto task = tasks.find(tid);
  if (task == tasks.end()) return std::nullopt;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    if (!is_locking(*group) && group->closid == task->second.closid) {
      const auto mon = std::ranges::find(group->mon_groups, task->second.rmid, &MonGroup::rmid);
      return mon == group->mon_groups.end() ? group->name
                                            : mon_group_directory(group->name, mon->name);
    }
  return std::nullopt;
}

void Resctrl::take_offline(unsigned cpu) {
  online.erase(cpu);
  for (Group& group : groups) {
    group.cpus.erase(cpu);
    for (MonGroup& child : group.mon_groups) child.cpus.erase(cpu);
    const Region& region = group.region;
    if (region.domain && online_cpus(region.resource, *region.domain).empty())
      group.region.domain.reset();
  }
}

void Resctrl::bring_online(unsigned cpu) {
  for (const auto& [resource, control] : machine.controls)
    for (const auto& [id, domain] : control.domains)
      if (domain.cpus.contains(cpu) && online_cpus(resource, id).empty())
        values[resource][id].assign(control.num_closids, unrestricted(resource));
  online.insert(cpu);
  root().cpus.insert(cpu);
}

}  // namespace rdtd::fake
