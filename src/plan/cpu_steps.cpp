#include "cpu_steps.hpp"

#include <utility>

namespace rdtd {

namespace {

// The CPUs of all groups as the steps so far leave them. The kernel takes more than what a step
// says (cpus_ctrl_write and cpus_mon_write in fs/resctrl/rdtgroup.c).
class CpuOwners {
 public:
  explicit CpuOwners(const Snapshot& now, const std::set<std::string>& gone) {
    for (const auto& [name, state] : now.groups)
      if (!is_pseudo(state.mode))
        cpus_[gone.contains(name) ? std::string(root_group) : name].insert(state.cpus.begin(),
                                                                           state.cpus.end());
    for (const auto& [directory, cpus] : now.mon_cpus) {
      if (gone.contains(std::string(control_group_of(directory)))) continue;
      mon_cpus_[directory] = cpus;
      for (const unsigned cpu : cpus) monitors_[cpu] = directory;
    }
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
    take_from_monitors(own);
    take_from_monitors(added);
    own = cpus;
  }
  void give_mon(const std::string& directory, const CpuSet& cpus) {
    take_from_monitors(mon_cpus_[directory]);
    take_from_monitors(cpus);
    for (const unsigned cpu : cpus) monitors_[cpu] = directory;
    mon_cpus_[directory] = cpus;
  }

 private:
  void take_from_monitors(const CpuSet cpus) {  // a copy: they may be those of a monitoring group
    for (const unsigned cpu : cpus)
      if (const auto monitor = monitors_.extract(cpu)) mon_cpus_[monitor.mapped()].erase(cpu);
  }

  std::map<std::string, CpuSet> cpus_, mon_cpus_;
  std::map<unsigned, std::string> monitors_;  // the monitoring group that has the CPU
};

class CpuPlan {
 public:
  CpuPlan(const Snapshot& now, const std::map<std::string, CpuSet>& mon_groups,
          const std::set<std::string>& leaving, const std::set<std::string>& gone)
      : now_(now), mon_groups_(mon_groups), leaving_(leaving), gone_(gone), owners_(now, gone) {}

  CpuSteps run(const std::vector<WantedGroup>& wanted) {
    free_counted_cpus();
    const CpuSet online = now_.online_cpus();
    for (const WantedGroup& want : wanted)
      // A CPU that no group has falls to the root by itself.
      if (want.group != root_group && want.group != io_group)
        give(want.group, common(want.state.cpus, online));
    const std::map<std::string, CpuSet> mon_cpus = wanted_mon_cpus();
    // A new group may not be made: the others do not wait for it.
    for (const bool is_new : {false, true})
      for (const auto& [directory, cpus] : mon_cpus)
        if (now_.mon_groups.contains(directory) != is_new) give_mon(directory, cpus);
    return std::move(out_);
  }

 private:
  // A group that goes does so after all else, and until then its CPUs are not the root's.
  void free_counted_cpus() {
    CpuSet counted;
    for (const auto& [directory, cpus] : mon_groups_)
      if (control_group_of(directory) == root_group) counted.insert(cpus.begin(), cpus.end());
    for (const auto& [group, state] : now_.groups)
      if (leaving_.contains(group) && !gone_.contains(group) && !is_pseudo(state.mode) &&
          !common(state.cpus, counted).empty())
        give(group, {});
  }
  void give(const std::string& group, const CpuSet& after) {
    const auto found = now_.groups.find(group);
    const bool existed = found != now_.groups.end() && !gone_.contains(group);
    const CpuSet before = existed ? found->second.cpus : CpuSet{};
    if (before == after) return;
    owners_.give(group, after);
    out_.groups.emplace_back(WriteCpus{group, before, after});
  }
  void give_mon(const std::string& directory, const CpuSet& cpus) {
    const CpuSet has = owners_.of_mon(directory);
    if (has == cpus) return;
    owners_.give_mon(directory, cpus);
    out_.mon_groups.emplace_back(WriteCpus{directory, has, cpus});
  }

  // The CPUs of the monitoring groups in the request, and of those that the steps take nothing from
  // on purpose.
  std::map<std::string, CpuSet> wanted_mon_cpus() {
    std::map<std::string, CpuSet> out;
    std::map<std::string, CpuSet> given;  // by control group
    for (const auto& [directory, cpus] : mon_groups_) {
      const std::string control(control_group_of(directory));
      const CpuSet& has = out[directory] = common(cpus, owners_.of(control));
      given[control].insert(has.begin(), has.end());
    }
    for (const auto& [directory, cpus] : now_.mon_cpus) {
      const std::string control(control_group_of(directory));
      if (!out.contains(directory) && !leaving_.contains(directory) && !leaving_.contains(control))
        out[directory] = without(common(cpus, owners_.of(control)), given[control]);
    }
    return out;
  }

  const Snapshot& now_;
  const std::map<std::string, CpuSet>& mon_groups_;
  const std::set<std::string>& leaving_;
  const std::set<std::string>& gone_;
  CpuOwners owners_;
  CpuSteps out_;
};

}  // namespace

CpuSteps cpu_steps(const Snapshot& now, const std::vector<WantedGroup>& wanted,
                   const std::map<std::string, CpuSet>& mon_groups,
                   const std::set<std::string>& leaving, const std::set<std::string>& gone) {
  return CpuPlan(now, mon_groups, leaving, gone).run(wanted);
}

}  // namespace rdtd
