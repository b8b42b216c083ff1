// How a transaction that failed goes back to the state before it.
#include <fmt/format.h>

#include <algorithm>

#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/members.hpp"
#include "rdtd/resctrl/read.hpp"
#include "rdtd/resctrl/transaction.hpp"

namespace rdtd::resctrl {

bool Transaction::io_enabled() const {
  const auto now = read_schemata(std::string(io_group));
  return !now || !now->empty();  // what cannot be read now is kept
}

// A name that stays in the record without a group would make rdtd take another tool's group of that
// name for its own.
void Transaction::forget_what_was_not_made(bool restored) {
  for (const std::string& group : expected_) {
    if (group == io_group) {
      if (!io_enabled()) ownership_.forget(group);
      continue;
    }
    const auto inode = group == root_group ? Result<uint64_t>(0) : inode_of(group);
    const auto known = known_.find(group);
    // One that was there, whatever the steps took it for. What cannot be listed now still is.
    if (known != known_.end() && known->second && !made_.contains(group) &&
        (!inode || *inode == *known->second)) {
      ownership_.made(group, *known->second);
      continue;
    }
    // A group that cannot be listed now is kept: it was made.
    const bool listed = group == root_group || inode != Result<uint64_t>(0);
    const bool exists =
        group == root_group ? known_.contains(group) || !restored : made_.contains(group) && listed;
    if (!exists) ownership_.forget(group);
  }
  (void)ownership_.store();
}

void Transaction::put_tasks_back(const std::string& group, std::vector<std::string>& problems) {
  const auto known = tasks_.find(group);
  if (known == tasks_.end()) return;
  store_inode(group);
  const auto tasks = filesystem_.open_tasks(group);
  if (!tasks) return problems.push_back(tasks.error().text());
  int failed = 0;
  const Members members = parse_members(known->second);
  for (const pid_t tid : members.tasks)
    if (tid != 0)
      if (const int error = (*tasks)->add(tid); error != 0 && error != ESRCH) failed = error;
  for (const unsigned iommu_group : members.iommu_groups)
    if (const auto put =
            filesystem_.write(file_of(group, "tasks"), iommu_group_word(iommu_group) + "\n");
        !put)
      failed = put.error().code;
  if (failed != 0)
    problems.push_back(
        Error{"put its tasks back in", fmt::format("group '{}'", group), failed, {}}.text());
}

// Whether one of these CPUs belongs now to one of the groups that the steps touched.
bool Transaction::touched_has(const CpuSet& cpus, const Snapshot& now) const {
  return std::ranges::any_of(touched_, [&](const std::string& group) {
    const auto state = now.groups.find(group);
    const auto mon = now.mon_cpus.find(group);
    const CpuSet none;
    const CpuSet& theirs = state != now.groups.end()   ? state->second.cpus
                           : mon != now.mon_cpus.end() ? mon->second
                                                       : none;
    return std::ranges::any_of(cpus, [&](unsigned cpu) { return theirs.contains(cpu); });
  });
}

// The monitoring groups whose CPUs the steps changed, with those of before.
std::map<std::string, CpuSet> Transaction::mon_cpus_before(const Snapshot& now) const {
  std::map<std::string, CpuSet> out;
  for (const auto& [group, cpus] : before_.snapshot.mon_cpus) {
    const auto has = now.mon_cpus.find(group);
    const CpuSet lost = has == now.mon_cpus.end() ? cpus : without(cpus, has->second);
    const std::string control(control_group_of(group));
    if (now.mon_groups.contains(group) && !lost.empty() &&
        (touched_.contains(control) || touched_has(lost, now)))
      out[group] = cpus;
  }
  for (const std::string& group : touched_)
    if (now.mon_groups.contains(group) && !made_.contains(group)) {
      const auto had = before_.snapshot.mon_cpus.find(group);
      out[group] = had == before_.snapshot.mon_cpus.end() ? CpuSet{} : had->second;
    }
  return out;
}

// A group as the steps have left it, as far as they were carried out. Where they wrote several
// values, the last one that is not that of before: the way back then writes the value of before in
// any case.
GroupState Transaction::as_left(const std::string& group, const GroupState& before) const {
  GroupState out = before;
  for (const Step& step : tried_) {
    if (group_of(step) != group) continue;
    if (const auto* written = std::get_if<WriteSchemata>(&step)) {
      for (const auto& [resource, values] : written->after)
        for (const auto& [domain, value] : values)
          if (const auto known = before.schemata.find(resource); known == before.schemata.end() ||
                                                                 !known->second.contains(domain) ||
                                                                 known->second.at(domain) != value)
            out.schemata[resource][domain] = value;
    } else if (const auto* given = std::get_if<WriteCpus>(&step)) {
      out.cpus.insert(given->after.begin(), given->after.end());
    } else if (const auto* set = std::get_if<SetMode>(&step); set && set->after != before.mode) {
      out.mode = set->after;
    }
  }
  return out;
}

// Without the CPUs that other groups have, or may have got from the steps: each is in one group.
CpuSet Transaction::cpus_as_left(const std::string& group, CpuSet cpus, const Snapshot& now) const {
  for (const auto* of : {&now.groups, &now.half_read})
    for (const auto& [other, state] : *of)
      if (other != group && !is_pseudo(state.mode)) cpus = without(cpus, state.cpus);
  for (const Step& step : tried_)
    if (const auto* given = std::get_if<WriteCpus>(&step); given && given->group != group)
      if (const auto unread = now.unread.find(given->group);
          unread != now.unread.end() && !is_mon_group(given->group))
        cpus = without(cpus, given->after);
  return cpus;
}

// Whether the steps changed monitoring groups of this control group. One that they removed is made
// again, which says by itself that they cannot be listed.
bool Transaction::changed_mon_groups(const std::string& control) const {
  const auto has_cpus = [&](const auto& mon) { return control_group_of(mon.first) == control; };
  return std::ranges::any_of(tried_, [&](const Step& step) {
    const std::string& group = group_of(step);
    if (control_group_of(group) != control || !touched_.contains(group)) return false;
    return std::holds_alternative<WriteCpus>(step)
               ? is_mon_group(group) || std::ranges::any_of(before_.snapshot.mon_cpus, has_cpus)
               : is_mon_group(group) && made_.contains(group);
  });
}

// State that cannot be read now is assumed to be as the steps have left it. State that nobody can
// know is a problem.
void Transaction::take_unread(Snapshot& now, std::vector<std::string>& problems) const {
  std::set<std::string> taken = touched_;
  for (const auto& [group, unread] : now.unread) {
    const auto found = now.inodes.find(group);
    const uint64_t known = known_inode(group);
    if (found != now.inodes.end() && known != 0 && found->second != known) continue;
    const auto before = before_.snapshot.groups.find(group);
    const auto half = now.half_read.find(group);
    bool unknown = unread.names.contains("mon_groups") && changed_mon_groups(group);
    if (before != before_.snapshot.groups.end() && half != now.half_read.end()) {
      if (made_.contains(group)) {
        unknown = unknown || !is_pseudo(before->second.mode);
      } else {
        GroupState left = as_left(group, before->second);
        if (unread.names.contains("mode")) half->second.mode = left.mode;
        if (unread.names.contains("schemata")) half->second.schemata = std::move(left.schemata);
        if (unread.names.contains("cpus_list"))
          half->second.cpus = cpus_as_left(group, std::move(left.cpus), now);
        taken.insert(group);
      }
    }
    // CPUs that it had before are written in any case.
    if (is_mon_group(group) && !before_.snapshot.mon_cpus.contains(group)) {
      CpuSet cpus = as_left(group, {}).cpus;
      for (const auto& [other, theirs] : now.mon_cpus) cpus = without(cpus, theirs);
      if (!cpus.empty()) now.mon_cpus[group] = std::move(cpus);
    }
    if (unknown)
      problems.push_back(fmt::format("group '{}': {}", group_label(group), unread.error.text()));
  }
  take_half_read(now, taken);
}

// The steps from what is there now to the state before.
Steps Transaction::way_back(const Snapshot& now, std::vector<std::string>& problems) const {
  std::vector<WantedGroup> wanted;
  std::map<std::string, CpuSet> mon_groups = mon_cpus_before(now);
  std::set<std::string> leaving;
  std::vector<LockRegion> locks;
  for (const std::string& group : touched_) {
    if (group == io_group) {
      if (before_.snapshot.io.empty())
        leaving.insert(group);
      else
        wanted.push_back({group, {Mode::shareable, before_.snapshot.io, {}}});
      continue;
    }
    const auto before = before_.snapshot.groups.find(group);
    const bool exists = now.groups.contains(group) || now.mon_groups.contains(group);
    if (before_.snapshot.mon_groups.contains(group)) {
      if (const auto had = before_.snapshot.mon_cpus.find(group); tasks_.contains(group))
        mon_groups[group] = had == before_.snapshot.mon_cpus.end() ? CpuSet{} : had->second;
    } else if (before == before_.snapshot.groups.end()) {
      // A group that was not there before and that this did not make is another tool's.
      if (exists && made_.contains(group)) leaving.insert(group);
    } else if (is_pseudo(before->second.mode)) {
      // The steps removed it, and may have made a new one of that name.
      if (exists && made_.contains(group)) leaving.insert(group);
      if (tasks_.contains(group) && before->second.mode == Mode::pseudo_locked)
        for (const auto& [resource, values] : before->second.schemata)
          for (const auto& [domain, mask] : values)
            locks.push_back({group, resource, domain, Cbm{mask}});
    } else if (exists || tasks_.contains(group)) {
      wanted.push_back({group, before->second});
    } else {
      problems.push_back(
          fmt::format("group '{}': another tool removed it meanwhile", group_label(group)));
    }
  }
  // CPUs that a touched group took from another one go back to that one.
  for (const auto& [group, state] : before_.snapshot.groups) {
    const auto has = now.groups.find(group);
    if (touched_.contains(group) || has == now.groups.end() || group == root_group) continue;
    if (touched_has(without(state.cpus, has->second.cpus), now))
      wanted.push_back({group, {has->second.mode, {}, state.cpus}});
  }
  return transition(before_.capabilities, now, wanted, mon_groups, leaving, locks);
}

// Groups that another tool removed and made again while the steps were carried out.
void Transaction::leave_replaced(const Snapshot& now, std::vector<std::string>& problems) {
  std::set<std::string> replaced;
  for (const std::string& group : touched_) {
    const auto found = now.inodes.find(group);
    const uint64_t known = known_inode(group);
    if (found == now.inodes.end() || known == 0 || found->second == known) continue;
    replaced.insert(group);
    problems.push_back(
        fmt::format("group '{}': another tool made one of that name", group_label(group)));
  }
  // With the monitoring groups in them.
  const auto is_theirs = [&](const std::string& group) {
    return replaced.contains(group) || replaced.contains(std::string(control_group_of(group)));
  };
  std::erase_if(touched_, is_theirs);
  std::erase_if(tasks_, [&](const auto& tasks) { return is_theirs(tasks.first); });
}

// Reads the present state first, since the step that failed may have been carried out in part.
std::vector<std::string> Transaction::undo() {
  std::vector<std::string> problems;
  // Nobody else knows the tasks of the groups that are gone: one reading that fails is no reason.
  constexpr int most_readings = 3;
  auto now = read_snapshot(filesystem_);
  for (int reading = 1; !now && reading < most_readings; reading++)
    now = read_snapshot(filesystem_);
  if (!now) {
    for (const std::string& group : touched_)
      problems.push_back(fmt::format("group '{}': {}", group_label(group), now.error().text()));
    forget_what_was_not_made(false);
    return problems;
  }
  now->owned = before_.snapshot.owned;
  leave_replaced(*now, problems);
  take_unread(*now, problems);
  const Steps back = way_back(*now, problems);
  std::vector<std::string> replaced;  // groups whose name the steps gave to another one
  for (const auto& [group, tasks] : tasks_)
    if (const auto found = now->groups.find(group);
        made_.contains(group) && found != now->groups.end() && !is_pseudo(found->second.mode))
      replaced.push_back(group);
  std::set<std::string> lost;  // groups that could not be made again: their other steps are void
  const auto attempt = [&](const Step& step) {
    if (lost.contains(group_of(step))) return;
    const bool makes = std::holds_alternative<MakeGroup>(step);
    if (const auto done = carry_out_one(step); !done) {
      // A monitoring group that another tool has removed meanwhile.
      if (std::holds_alternative<WriteCpus>(step) && is_mon_group(group_of(step)) &&
          is_gone(done.error(), group_of(step)))
        return;
      problems.push_back(
          fmt::format("group '{}': {}", group_label(group_of(step)), done.error().text()));
      if (makes) lost.insert(group_of(step));
    } else if (makes) {
      made_again_ = true;
      if (!known_.contains(group_of(step))) ownership_.forget(group_of(step));  // another tool's
      put_tasks_back(group_of(step), problems);
    }
  };
  // Monitoring groups last: their RMIDs may be those of groups that go. Of a region that goes and
  // comes, so may the CLOSID.
  for (const auto* part : {&back.steps, &back.removals, &back.locks})
    std::ranges::for_each(*part, attempt);
  for (const std::string& group : replaced) {
    made_again_ = true;
    put_tasks_back(group, problems);
  }
  std::ranges::for_each(back.mon_groups, attempt);
  forget_what_was_not_made(problems.empty());
  return problems;
}

}  // namespace rdtd::resctrl
