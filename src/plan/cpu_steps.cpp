#include "cpu_steps.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rdtd {

namespace {

CpuSet common(const CpuSet& a, const CpuSet& b) {
  CpuSet out;
  std::ranges::set_intersection(a, b, std::inserter(out, out.end()));
  return out;
}

CpuSet without(const CpuSet& a, const CpuSet& b) {
  CpuSet out;
  std::ranges::set_difference(a, b, std::inserter(out, out.end()));
  return out;
}

// The CPUs of all groups as the steps so far leave them. The kernel takes more than what a step
// says (cpus_ctrl_write and cpus_mon_write in fs/resctrl/rdtgroup.c).
class CpuOwners {
 public:
  explicit CpuOwners(const Snapshot& now, const std::set<std::string>& replaced)
      : mon_cpus_(now.mon_cpus) {
    for (const auto& [name, state] : now.groups)
      if (!is_pseudo(state.mode) && !replaced.contains(name)) cpus_[name] = state.cpus;
  }

  [[nodiscard]] const CpuSet& of(const std::string& group) { return cpus_[group]; }
  [[nodiscard]] const CpuSet& of_mon(const std::string& directory) { return mon_cpus_[directory]; }

  // The monitoring groups of this group lose all CPUs, those of the others what it gets.
  void give(const std::string& group, const CpuSet& cpus) {
    CpuSet& own = cpus_[group];
    const CpuSet added = without(cpus, own), dropped = without(own, cpus);
    cpus_[std::string(root_group)].insert(dropped.begin(), dropped.end());
    for (auto& [other, theirs] : cpus_)
      if (other != group) theirs = without(theirs, added);
    for (auto& [directory, theirs] : mon_cpus_)
      theirs = control_group_of(directory) == group ? CpuSet{} : without(theirs, added);
    own = cpus;
  }
  void give_mon(const std::string& directory, const CpuSet& cpus) {
    for (auto& [other, theirs] : mon_cpus_)
      if (control_group_of(other) == control_group_of(directory)) theirs = without(theirs, cpus);
    mon_cpus_[directory] = cpus;
  }

 private:
  std::map<std::string, CpuSet> cpus_, mon_cpus_;
};

// What monitoring groups are to have: those of the request, and those that the steps take nothing
// from on purpose.
std::map<std::string, CpuSet> wanted_mon_cpus(const Snapshot& now, CpuOwners& owners,
                                              const std::map<std::string, CpuSet>& mon_groups,
                                              const std::set<std::string>& leaving) {
  std::map<std::string, CpuSet> out;
  std::map<std::string, CpuSet> given;  // by control group
  for (const auto& [directory, cpus] : mon_groups) {
    const std::string control(control_group_of(directory));
    const CpuSet& has = out[directory] = common(cpus, owners.of(control));
    given[control].insert(has.begin(), has.end());
  }
  for (const auto& [directory, cpus] : now.mon_cpus) {
    const std::string control(control_group_of(directory));
    if (!out.contains(directory) && !leaving.contains(directory) && !leaving.contains(control))
      out[directory] = without(common(cpus, owners.of(control)), given[control]);
  }
  return out;
}

}  // namespace

CpuSteps cpu_steps(const Snapshot& now, const std::vector<WantedGroup>& wanted,
                   const std::map<std::string, CpuSet>& mon_groups,
                   const std::set<std::string>& leaving, const std::set<std::string>& replaced) {
  CpuSteps out;
  CpuOwners owners(now, replaced);
  const CpuSet online = now.online_cpus();
  for (const WantedGroup& want : wanted) {
    // A CPU that no group has falls to the root by itself.
    if (want.group == root_group || want.group == io_group) continue;
    const auto found = now.groups.find(want.group);
    const bool existed = found != now.groups.end() && !replaced.contains(want.group);
    const CpuSet before = existed ? found->second.cpus : CpuSet{};
    const CpuSet after = common(want.state.cpus, online);
    if (before == after) continue;
    owners.give(want.group, after);
    out.groups.emplace_back(WriteCpus{want.group, before, after});
  }
  for (auto& [directory, cpus] : wanted_mon_cpus(now, owners, mon_groups, leaving)) {
    const CpuSet has = owners.of_mon(directory);
    if (has == cpus) continue;
    owners.give_mon(directory, cpus);
    WriteCpus step{directory, has, std::move(cpus)};
    if (now.mon_groups.contains(directory))
      out.groups.emplace_back(std::move(step));
    else
      out.new_mon_groups.emplace(directory, std::move(step));
  }
  return out;
}

}  // namespace rdtd
