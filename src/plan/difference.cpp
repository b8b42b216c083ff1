// The steps back to the targets, and the same as sentences for people.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "rdtd/model/footprint.hpp"
#include "rdtd/plan/mbm_counters.hpp"
#include "value_of.hpp"

namespace rdtd {

namespace {

// The domains of `to` whose value is another in `from`. A domain that `from` lacks is offline: it
// cannot be written.
Schemata changed_values(const Schemata& from, const Schemata& to) {
  Schemata out;
  for (const auto& [resource, values] : to)
    for (const auto& [domain, value] : values)
      if (const auto before = value_in(from, resource, domain); before && *before != value)
        out[resource][domain] = value;
  return out;
}

Schemata values_at(const Schemata& from, const Schemata& places) {
  Schemata out;
  for (const auto& [resource, values] : places)
    for (const auto& [domain, value] : values)
      if (const auto found = value_in(from, resource, domain)) out[resource][domain] = *found;
  return out;
}

// Without the masks that overlap an obstacle.
GroupState reachable(GroupState state, const std::map<std::string, Schemata>& obstacles) {
  for (const auto& [name, theirs] : obstacles)
    for (auto& [resource, values] : state.schemata)
      std::erase_if(values, [&](const auto& value) {
        return footprint(theirs, resource, value.first).overlaps(Cbm{value.second});
      });
  return state;
}

CpuSet cpus_of(const std::map<std::string, CpuSet>& mon_cpus, const std::string& mon_group) {
  const auto found = mon_cpus.find(mon_group);
  return found == mon_cpus.end() ? CpuSet{} : found->second;
}

// Which other control group has one of these CPUs, so that a monitoring group cannot have it.
std::string holder_of(const CpuSet& cpus, const GroupTarget& control, const Snapshot& snapshot) {
  for (const auto& [name, state] : snapshot.groups) {
    const CpuSet theirs = is_pseudo(state.mode) ? CpuSet{} : common(cpus, state.cpus);
    if (name != control.directory && !theirs.empty())
      return fmt::format("; group '{}' has {}", group_label(name), format_cpu_list(theirs));
  }
  return {};
}

constexpr const char* was_made_again = " was removed and made again by another tool";

void add_io_difference(const GroupTarget& io, const Schemata& now, std::vector<Difference>& out) {
  const Schemata changed = changed_values(now, io.state.schemata);
  if (now.empty())
    out.push_back({io.directory, "I/O devices: io_alloc is disabled"});
  else if (!changed.empty())
    out.push_back({io.directory,
                   fmt::format("I/O devices: {}, granted {}",
                               schemata_line(values_at(now, changed)), schemata_line(changed))});
}

}  // namespace

void take_as_granted(const std::vector<GroupTarget>& targets, const Capabilities& capabilities,
                     Snapshot& snapshot) {
  for (const GroupTarget& target : targets) {
    const auto group = snapshot.groups.find(target.directory);
    if (group == snapshot.groups.end()) continue;
    for (auto& [resource, values] : group->second.schemata) {
      const uint32_t slack = capabilities.slack_of(resource);
      if (slack == 0) continue;
      for (auto& [domain, value] : values)
        if (const auto granted = value_in(target.state.schemata, resource, domain);
            granted && distance_of(*granted, value) <= slack)
          value = *granted;
    }
  }
}

std::map<std::string, Schemata> obstacles(const Snapshot& snapshot) {
  std::map<std::string, Schemata> out;
  for (const auto& [name, state] : snapshot.groups)
    if (state.mode != Mode::shareable && name != root_group && !snapshot.owned.contains(name))
      std::ranges::copy_if(state.schemata, std::inserter(out[name], out[name].end()),
                           [](const auto& row) { return is_cache(row.first); });
  return out;
}

bool is_taken(const std::string& directory, const Snapshot& snapshot) {
  const bool exists = snapshot.groups.contains(directory) ||
                      snapshot.unreadable.contains(directory) ||
                      snapshot.mon_groups.contains(directory);
  if (is_mon_group(directory) && is_taken(std::string(control_group_of(directory)), snapshot))
    return true;
  return directory != root_group && exists && !snapshot.owned.contains(directory);
}

std::vector<Step> adoptions(const std::vector<GroupTarget>& targets, const Snapshot& snapshot) {
  std::vector<Step> out;
  const auto adopt = [&](const std::string& directory) {
    const auto inode = snapshot.inodes.find(directory);
    if (inode != snapshot.inodes.end() && !snapshot.owned.contains(directory))
      out.emplace_back(AdoptGroup{directory, inode->second});
  };
  for (const GroupTarget& target : targets) {
    const auto group = snapshot.groups.find(target.directory);
    const bool adopts = target.adopt || snapshot.to_adopt.contains(target.directory);
    if (!adopts || group == snapshot.groups.end() || is_pseudo(group->second.mode)) continue;
    adopt(target.directory);
    std::ranges::for_each(target.mon_groups, adopt);
  }
  return out;
}

bool stands(const LockRegion& region, const Snapshot& snapshot) {
  const auto group = snapshot.groups.find(region.group);
  return group != snapshot.groups.end() && snapshot.owned.contains(region.group) &&
         group->second.mode == Mode::pseudo_locked &&
         group->second.schemata == Schemata{{region.resource, {{region.domain, region.mask.bits}}}};
}

Steps steps_to(const std::vector<GroupTarget>& targets, const std::vector<LockTarget>& locks,
               const IoTarget& io, const Capabilities& capabilities, const Snapshot& snapshot) {
  std::vector<WantedGroup> wanted;
  std::vector<LockRegion> to_lock;
  std::map<std::string, CpuSet> mon_groups;
  const auto in_the_way = obstacles(snapshot);
  std::set<std::string> leaving = snapshot.owned;
  leaving.erase(std::string(root_group));
  for (const GroupTarget& target : targets) {
    if (!is_taken(target.directory, snapshot))
      wanted.push_back({target.directory, reachable(target.state, in_the_way),
                        target.exclusive || !target.partition.empty()});
    leaving.erase(target.directory);
    for (const std::string& group : target.mon_groups) {
      if (!is_taken(group, snapshot)) mon_groups[group] = cpus_of(target.mon_cpus, group);
      leaving.erase(group);
    }
  }
  if (io) {
    wanted.push_back({io->directory, io->state});
    leaving.erase(io->directory);
  }
  for (const LockTarget& lock : locks) {
    const std::string& group = lock.region.group;
    if (!stands(lock.region, snapshot) && !is_taken(group, snapshot) &&
        !snapshot.busy_locks.contains(group))
      to_lock.push_back(lock.region);
    if (stands(lock.region, snapshot)) leaving.erase(group);
  }
  for (const auto& [group, holder] : snapshot.busy_locks) leaving.erase(group);
  Steps out = transition(capabilities, snapshot, wanted, mon_groups, leaving, to_lock);
  out.counters = plan_counters(targets, snapshot).steps;
  return out;
}

std::vector<Difference> differences(const std::vector<GroupTarget>& targets,
                                    const std::vector<LockTarget>& locks, const IoTarget& io,
                                    const Snapshot& snapshot) {
  std::vector<Difference> out;
  if (io) add_io_difference(*io, snapshot.io, out);
  for (const LockTarget& lock : locks) {
    const std::string& group = lock.region.group;
    if (stands(lock.region, snapshot)) continue;
    out.push_back({group, fmt::format("pseudo_lock '{}'{}", group,
                                      is_taken(group, snapshot)         ? was_made_again
                                      : snapshot.groups.contains(group) ? " has lost its region"
                                                                        : " is not there")});
  }
  const CpuSet online = snapshot.online_cpus();
  for (const GroupTarget& target : targets) {
    const std::string name = fmt::format("group '{}'", group_label(target.directory));
    if (is_taken(target.directory, snapshot)) {
      out.push_back({target.directory, name + was_made_again});
      continue;
    }
    const auto found = snapshot.groups.find(target.directory);
    if (found == snapshot.groups.end()) {
      out.push_back({target.directory, name + " is not there"});
      continue;
    }
    const auto differs = [&](const std::string& now, const std::string& granted) {
      out.push_back({target.directory, fmt::format("{}: {}, granted {}", name, now, granted)});
    };
    const GroupState& now = found->second;
    const Schemata changed = changed_values(now.schemata, target.state.schemata);
    if (!changed.empty())
      differs(schemata_line(values_at(now.schemata, changed)), schemata_line(changed));
    if (now.mode != target.state.mode)
      differs(fmt::format("mode {}", to_string(now.mode)),
              std::string(to_string(target.state.mode)));
    const CpuSet cpus = common(target.state.cpus, online);
    if (target.directory != root_group && now.cpus != cpus)
      differs("CPUs " + cpus_text(now.cpus), cpus_text(cpus));
    for (const std::string& group : target.mon_groups) {
      const std::string mon = fmt::format("monitoring group '{}'", group_label(group));
      if (is_taken(group, snapshot))
        out.push_back({group, mon + was_made_again});
      else if (!snapshot.mon_groups.contains(group))
        out.push_back({group, mon + " is not there"});
      else if (const CpuSet has = cpus_of(snapshot.mon_cpus, group),
               wants = common(cpus_of(target.mon_cpus, group), online);
               has != wants)
        out.push_back({group, fmt::format("{}: CPUs {}, granted {}{}", mon, cpus_text(has),
                                          cpus_text(wants), holder_of(wants, target, snapshot))});
    }
  }
  return out;
}

}  // namespace rdtd
