// The files cpus, cpus_list, tasks and mode.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "fake/kernel_text.hpp"
#include "fake/resctrl.hpp"
#include "rdtd/resctrl/members.hpp"

namespace rdtd::fake {

namespace {

CpuSet without(const CpuSet& cpus, const CpuSet& others) {
  CpuSet out;
  std::ranges::set_difference(cpus, others, std::inserter(out, out.end()));
  return out;
}

CpuSet both(const CpuSet& cpus, const CpuSet& others) {
  CpuSet out;
  std::ranges::set_intersection(cpus, others, std::inserter(out, out.end()));
  return out;
}

unsigned possible_cpus(const Machine& machine) {
  return machine.cpus.empty() ? 1 : *machine.cpus.rbegin() + 1;
}

}  // namespace

int Resctrl::write_cpus(Group& group, MonGroup* mon, std::string_view text, bool list) {
  if (machine.release.every_command_clears_status) status.clear();
  if (is_locking(group)) {
    status.put("Pseudo-locking in progress\n");
    return EINVAL;
  }
  const unsigned count = possible_cpus(machine);
  const auto cpus = list ? parse_cpulist(text, count) : parse_cpumask(text, count);
  if (!cpus) {
    status.put("Bad CPU list/mask\n");
    return cpus.error();
  }
  if (!without(*cpus, online).empty()) {
    status.put("Can only assign online CPUs\n");
    return EINVAL;
  }
  return mon != nullptr ? set_mon_cpus(group, *mon, *cpus) : set_cpus(group, *cpus);
}

int Resctrl::set_cpus(Group& group, const CpuSet& cpus) {
  const CpuSet dropped = without(group.cpus, cpus);
  if (!dropped.empty() && &group == &root()) {
    status.put("Can't drop CPUs from default group\n");
    return EINVAL;
  }
  root().cpus.insert(dropped.begin(), dropped.end());
  const CpuSet added = without(cpus, group.cpus);
  for (Group& other : groups) {
    if (&other == &group || both(other.cpus, added).empty()) continue;
    other.cpus = without(other.cpus, added);
    for (MonGroup& child : other.mon_groups) child.cpus = both(child.cpus, other.cpus);
  }
  group.cpus = cpus;
  for (MonGroup& child : group.mon_groups) child.cpus.clear();
  return 0;
}

int Resctrl::set_mon_cpus(Group& parent, MonGroup& group, const CpuSet& cpus) {
  if (!without(cpus, parent.cpus).empty()) {
    status.put("Can only add CPUs to mongroup that belong to parent\n");
    return EINVAL;
  }
  const CpuSet added = without(cpus, group.cpus);
  for (MonGroup& other : parent.mon_groups)
    if (&other != &group) other.cpus = without(other.cpus, added);
  group.cpus = cpus;
  return 0;
}

Answer<std::string> Resctrl::cpus_text(const Group& group, const MonGroup* mon, bool list) {
  CpuSet cpus = mon != nullptr ? mon->cpus : group.cpus;
  if (group.mode == Mode::pseudo_locked) {
    if (!group.region.domain) {
      status.clear();
      status.put("Cache domain offline\n");
      return std::unexpected(Refusal{ENODEV});
    }
    cpus = online_cpus(group.region.resource, *group.region.domain);
  }
  return (list ? format_cpu_list(cpus) : format_cpumask(cpus, possible_cpus(machine))) + "\n";
}

int Resctrl::write_tasks(Group& group, MonGroup* mon, std::string_view text) {
  status.clear();
  if (is_locking(group)) {
    status.put("Pseudo-locking in progress\n");
    return EINVAL;
  }
  // The list ends at a line break that stands where an id would begin.
  while (!text.empty() && text.front() != '\n') {
    const size_t comma = text.find(',');
    const std::string_view word = strim(text.substr(0, comma));
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    if (const auto device = resctrl::parse_members(word).iommu_groups; !device.empty()) {
      for (Group& one : groups) one.iommu_groups.erase(*device.begin());
      group.iommu_groups.insert(*device.begin());
      continue;
    }
    const auto tid = parse_int(word);
    if (!tid) {
      status.print(fmt::format("Task list parsing error pid {}\n", word));
      return EINVAL;
    }
    if (*tid < 0) {
      status.print(fmt::format("Invalid pid {}\n", *tid));
      return EINVAL;
    }
    if (const int code = move_task(group, mon, *tid); code != 0) {
      status.print(fmt::format("Error while processing task {}\n", *tid));
      return code;
    }
  }
  return 0;
}

int Resctrl::move_task(Group& group, MonGroup* mon, int tid) {
  const auto task = tasks.find(tid == 0 ? writer : tid);
  if (task == tasks.end()) {
    status.print(fmt::format("No task {}\n", tid));
    return ESRCH;
  }
  if (mon != nullptr && task->second.closid != group.closid) {
    status.put("Can't move task to different control group\n");
    return EINVAL;
  }
  task->second = {group.closid, mon != nullptr ? mon->rmid : group.rmid};
  return 0;
}

// By id; the kernel's order is that in which processes began.
std::string Resctrl::tasks_text(const Group& group, const MonGroup* mon) const {
  std::string out;
  for (const auto& [tid, task] : tasks)
    if (task.closid == group.closid && (mon == nullptr || task.rmid == mon->rmid))
      out += fmt::format("{}\n", tid);
  if (mon == nullptr)
    for (const unsigned device : group.iommu_groups)
      out += resctrl::iommu_group_word(device) + "\n";
  return out;
}

int Resctrl::write_mode(Group& group, std::string_view text) {
  if (!text.ends_with('\n')) return EINVAL;
  text.remove_suffix(1);
  status.clear();
  if (text == to_string(group.mode)) return 0;
  if (group.mode == Mode::pseudo_locked) {
    status.put("Cannot change pseudo-locked group\n");
    return EINVAL;
  }
  if (text == "pseudo-locksetup") return enter_locksetup(group);
  if (text != "shareable" && text != "exclusive") {
    status.put("Unknown or unsupported mode\n");
    return EINVAL;
  }
  if (text == "exclusive" && !can_be_exclusive(group)) return EINVAL;
  if (group.mode == Mode::pseudo_locksetup)
    if (const int code = exit_locksetup(group); code != 0) return code;
  group.mode = text == "exclusive" ? Mode::exclusive : Mode::shareable;
  return 0;
}

bool Resctrl::can_be_exclusive(const Group& group) {
  bool has_cache = false;
  for (const auto& [resource, control] : machine.controls) {
    if (!is_cache(resource)) continue;
    has_cache = true;
    for (const auto& [id, domain] : control.domains) {
      if (online_cpus(resource, id).empty()) continue;
      if (overlaps(resource, id, values[resource][id][group.closid], group.closid, false)) {
        status.put("Schemata overlaps\n");
        return false;
      }
    }
  }
  if (!has_cache) status.put("Cannot be exclusive without CAT/CDP\n");
  return has_cache;
}

int Resctrl::enter_locksetup(Group& group) {
  const bool cdp =
      machine.controls.contains(Resource::L3CODE) || machine.controls.contains(Resource::L2CODE);
  const char* reason = nullptr;
  if (&group == &root())
    reason = "Cannot pseudo-lock default group\n";
  else if (cdp)
    reason = "CDP enabled\n";
  else if (!machine.pseudo_locking)
    reason = "Pseudo-locking not supported\n";
  else if (!group.mon_groups.empty())
    reason = "Monitoring in progress\n";
  else if (has_tasks(group))
    reason = "Tasks assigned to resource group\n";
  else if (!group.cpus.empty())
    reason = "CPUs assigned to resource group\n";
  if (reason != nullptr) {
    status.put(reason);
    return EINVAL;
  }
  free_rmid(group.rmid);
  group.region = {};
  group.mode = Mode::pseudo_locksetup;
  return 0;
}

int Resctrl::exit_locksetup(Group& group) {
  const auto rmid = take_rmid();
  if (!rmid) return rmid.error();
  group.rmid = *rmid;
  group.region = {};
  return 0;
}

}  // namespace rdtd::fake
