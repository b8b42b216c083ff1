// The groups that come, go and stay, as the steps find them one after the other. How their masks
// move is mask_moves.cpp's.
#include "rdtd/plan/transition.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "cpu_steps.hpp"
#include "mask_moves.hpp"
#include "rdtd/model/footprint.hpp"

namespace rdtd {

namespace {

size_t missing(size_t needed, size_t there) { return needed - std::min(needed, there); }

class Transition {
 public:
  Transition(const Capabilities& capabilities, const Snapshot& now,
             const std::vector<LockRegion>& locks)
      : machine_(capabilities), locks_(locks) {
    const GroupState& root = now.groups.at(std::string(root_group));
    domains_ = root.schemata;
  }

  Steps run(const Snapshot& now, const std::vector<WantedGroup>& wanted,
            const std::map<std::string, CpuSet>& mon_groups, const std::set<std::string>& leaving);

 private:
  void disable_io(const Snapshot& now, const std::set<std::string>& leaving);
  void unlock_regions(const Snapshot& now, const std::vector<WantedGroup>& wanted,
                      const std::set<std::string>& leaving);
  void add_groups(const Snapshot& now, const std::vector<WantedGroup>& wanted,
                  const std::set<std::string>& leaving);
  void choose_retirement(Moving& group);
  void drop_exclusive();
  void add_mon_groups(const Snapshot& now, const std::map<std::string, CpuSet>& wanted,
                      const std::set<std::string>& leaving);
  void remove_early(const Snapshot& now, Steps& out);
  void remove_mon_groups_early(size_t missing_rmids, const Snapshot& now, Steps& out);
  void make_groups();
  void make(Moving& group);
  void add_locks(Steps& out);
  void set_exclusive();
  [[nodiscard]] bool enables_io() const;
  void offer_ways();
  [[nodiscard]] bool can_make() const;
  [[nodiscard]] Cbm offered(Resource resource, DomainId domain) const;

  [[nodiscard]] Schemata at_online_domains(const Schemata& schemata) const;
  void set_mode(Moving& group, Mode mode) {
    steps_.emplace_back(SetMode{group.name, mode});
    group.mode = mode;
  }

  const Capabilities& machine_;
  const std::vector<LockRegion>& locks_;
  std::set<std::string> unlocked_;  // that are there before the first step only
  Schemata domains_;                // of the root: those that are online
  std::vector<Moving> groups_;      // and the I/O devices while they have masks
  std::vector<std::string> new_mon_groups_, leaving_mon_groups_;
  std::vector<Step> steps_;
  MaskMoves masks_{machine_, groups_, steps_};
};

Schemata Transition::at_online_domains(const Schemata& schemata) const {
  Schemata out;
  for (const auto& [resource, values] : schemata) {
    const auto online = domains_.find(resource);
    if (online == domains_.end()) continue;
    for (const auto& [domain, value] : values)
      if (online->second.contains(domain)) out[resource][domain] = value;
  }
  return out;
}

// First of all: others may be waiting for the ways, and the name may be wanted.
void Transition::unlock_regions(const Snapshot& now, const std::vector<WantedGroup>& wanted,
                                const std::set<std::string>& leaving) {
  const auto is_wanted = [&](const std::string& name) {
    return std::ranges::find(wanted, name, &WantedGroup::group) != wanted.end() ||
           std::ranges::find(locks_, name, &LockRegion::group) != locks_.end();
  };
  for (const auto& [name, state] : now.groups) {
    if (!is_pseudo(state.mode) || (!leaving.contains(name) && !is_wanted(name))) continue;
    steps_.emplace_back(RemoveGroup{name});
    unlocked_.insert(name);
  }
}

// Others may be waiting for the CLOSID and the ways.
void Transition::disable_io(const Snapshot& now, const std::set<std::string>& leaving) {
  if (!leaving.contains(std::string(io_group))) return;
  for (const auto& [resource, masks] : now.io)
    steps_.emplace_back(SetIoAlloc{.resource = resource, .enabled = false});
}

void Transition::add_groups(const Snapshot& now, const std::vector<WantedGroup>& wanted,
                            const std::set<std::string>& leaving) {
  std::set<std::string> known;
  for (const WantedGroup& want : wanted) {
    known.insert(want.group);
    Moving& group = groups_.emplace_back();
    group.name = want.group;
    group.own = true;
    group.goal_mode = want.state.mode;
    group.exclusive = want.exclusive;
    const auto found = now.groups.find(want.group);
    group.existed = group.exists = found != now.groups.end() && !unlocked_.contains(want.group);
    if (want.group == io_group) {
      group.existed = group.exists = !now.io.empty();
      group.before = group.now = group.goal = now.io;
    } else if (group.existed) {
      group.before = group.now = group.goal = found->second.schemata;
      group.mode = found->second.mode;
    }
    for (const auto& [resource, values] : at_online_domains(want.state.schemata))
      for (const auto& [domain, value] : values) group.goal[resource][domain] = value;
  }
  if (const std::string io(io_group);
      !now.io.empty() && !known.contains(io) && !leaving.contains(io)) {
    Moving& group = groups_.emplace_back();
    group.name = io;
    group.before = group.now = group.goal = now.io;
  }
  for (const auto& [name, state] : now.groups) {
    if (known.contains(name) || unlocked_.contains(name)) continue;
    Moving& group = groups_.emplace_back();
    group.name = name;
    group.before = group.now = group.goal = state.schemata;
    group.mode = group.goal_mode = state.mode;
    group.own = now.owned.contains(name);
    group.leaving = leaving.contains(name);
  }
}

// A group lives until its processes have left it. Meanwhile it must not be in the way of a group
// that will be exclusive, nor of a region: then it shares the ways that the default group gets. It
// keeps its bandwidth: others would feel its processes without it.
void Transition::choose_retirement(Moving& group) {
  const auto in_the_way = [&](const Moving& other) {
    if (&other == &group || (other.goal_mode != Mode::exclusive && !other.exclusive)) return false;
    for (const auto& [resource, info] : machine_.caches)
      for (const auto& [domain, value] : group.goal[resource])
        if (footprint(other.goal, resource, domain).overlaps(Cbm{value})) return true;
    return false;
  };
  const auto in_a_region = [&](const LockRegion& lock) {
    return footprint(group.goal, lock.resource, lock.domain).overlaps(lock.mask);
  };
  group.goal_mode = Mode::shareable;
  const auto root = std::ranges::find(groups_, root_group, &Moving::name);
  if ((std::ranges::any_of(groups_, in_the_way) || std::ranges::any_of(locks_, in_a_region)) &&
      root != groups_.end())
    for (const auto& [resource, values] : root->goal)
      if (is_cache(resource)) group.goal[resource] = values;
}

// The kernel checks every write to an exclusive group against all others, so a group whose ways
// move leaves the mode for that time.
void Transition::drop_exclusive() {
  for (Moving& group : groups_) {
    if (group.mode != Mode::exclusive) continue;
    const bool moves = std::ranges::any_of(machine_.caches, [&](const auto& entry) {
      return group.now[entry.first] != group.goal[entry.first];
    });
    if (moves || group.goal_mode != Mode::exclusive) set_mode(group, Mode::shareable);
  }
}

// A monitoring group goes with its control group.
void Transition::add_mon_groups(const Snapshot& now, const std::map<std::string, CpuSet>& wanted,
                                const std::set<std::string>& leaving) {
  for (const auto& [group, cpus] : wanted)
    if (!now.mon_groups.contains(group)) new_mon_groups_.push_back(group);
  std::ranges::copy_if(
      now.mon_groups, std::back_inserter(leaving_mon_groups_), [&](const std::string& group) {
        return leaving.contains(group) && !leaving.contains(std::string(control_group_of(group)));
      });
}

bool Transition::enables_io() const {
  const auto io = std::ranges::find(groups_, io_group, &Moving::name);
  return io != groups_.end() && !io->exists;
}

// For new monitoring groups: as many of the monitoring groups that leave go first as RMIDs are
// missing. No control group does, whose processes would lose their limits.
void Transition::remove_mon_groups_early(size_t missing_rmids, const Snapshot& now, Steps& out) {
  std::map<std::string_view, size_t> in;  // by control group
  for (const std::string& group : now.mon_groups) in[control_group_of(group)]++;
  for (const std::string& group : new_mon_groups_) in[control_group_of(group)]++;
  const auto rmids_of_closid = machine_.rmids_of_closid();
  for (const std::string& group : leaving_mon_groups_) {
    size_t& used = in[control_group_of(group)];
    const bool early = missing_rmids > 0 || (rmids_of_closid && used + 1 > *rmids_of_closid);
    (early ? steps_ : out.removals).emplace_back(RemoveGroup{group});
    if (early) used--;
    if (missing_rmids > 0) missing_rmids--;
  }
}

// As many groups go first as CLOSIDs or RMIDs are missing for the new control groups. A region
// needs one of each until it is locked, and I/O devices a CLOSID. A group whose name a region gets
// goes first as well. All go before io_alloc is enabled: one of them may hold the highest CLOSID.
void Transition::remove_early(const Snapshot& now, Steps& out) {
  const auto needed = static_cast<size_t>(std::ranges::count_if(groups_, [](const Moving& group) {
    return !group.exists || group.mode != Mode::pseudo_locked;
  }));
  const size_t locking = locks_.empty() ? 0 : 1, unreadable = now.unreadable.size();
  size_t closids = missing(needed + unreadable + locking, machine_.num_closids());
  const auto devices = static_cast<size_t>(std::ranges::count(groups_, io_group, &Moving::name));
  const size_t used = needed - devices + unreadable + locking + now.mon_groups.size();
  const size_t there = machine_.shared_rmids().value_or(UINT32_MAX);
  size_t rmids = missing(used, there);
  const auto take = [](size_t& count, size_t taken) { count -= std::min(count, taken); };
  remove_mon_groups_early(missing(used + new_mon_groups_.size(), there), now, out);
  take(rmids, leaving_mon_groups_.size());
  for (Moving& group : groups_) {
    if (!group.leaving) continue;
    const bool name_wanted =
        std::ranges::find(locks_, group.name, &LockRegion::group) != locks_.end();
    if (closids == 0 && rmids == 0 && !name_wanted && !enables_io()) {
      out.removals.emplace_back(RemoveGroup{group.name});
      continue;
    }
    const auto in_it =
        std::ranges::count(now.mon_groups, std::string_view(group.name), control_group_of);
    take(closids, 1);
    take(rmids, 1 + static_cast<size_t>(in_it));
    steps_.emplace_back(RemoveGroup{group.name});
    group.exists = false;
    group.now.clear();
  }
}

// The mask that the kernel gives a new group: the lowest run of the ways that nobody uses, that
// shareable groups use, and that devices fill without io_alloc.
Cbm Transition::offered(Resource resource, DomainId domain) const {
  const CacheInfo& info = machine_.caches.at(resource);
  Cbm used = info.shareable_bits, offered = info.shareable_bits;
  for (const Moving& group : groups_) {
    const Cbm mask = footprint(group.now, resource, domain);
    used = used | mask;
    if (group.mode == Mode::shareable && group.name != io_group) offered = offered | mask;
  }
  offered = offered | info.cbm_mask.without(used);
  return offered.empty() ? Cbm{} : first_run(offered);
}

// The kernel refuses to make a group if that mask is too short.
bool Transition::can_make() const {
  for (const auto& [resource, info] : machine_.caches) {
    const auto online = domains_.find(resource);
    if (online == domains_.end()) continue;
    for (const auto& [domain, value] : online->second)
      if (offered(resource, domain).count() < info.min_ways()) return false;
  }
  return true;
}

// Until a group can be made, rdtd's own ones leave the exclusive mode; then one of them fills what
// only devices fill. The steps that follow take both back.
void Transition::offer_ways() {
  for (auto group = groups_.begin(); group != groups_.end() && !can_make(); ++group)
    if (group->mode == Mode::exclusive && group->goal_mode == Mode::exclusive && group->own &&
        !group->leaving)
      set_mode(*group, Mode::shareable);
  if (can_make()) return;
  for (const auto& [resource, info] : machine_.caches) {
    const auto online = domains_.find(resource);
    if (online == domains_.end()) continue;
    for (const auto& [domain, value] : online->second)
      if (const Cbm mask = offered(resource, domain);
          !mask.empty() && mask.count() < info.min_ways())
        masks_.fill(resource, domain, Cbm::range(mask.lowest(), info.min_ways()));
  }
}

void Transition::make(Moving& group) {
  offer_ways();
  if (group.name == io_group)
    for (const auto& [resource, masks] : group.goal)
      steps_.emplace_back(SetIoAlloc{.resource = resource, .enabled = true});
  else
    steps_.emplace_back(MakeGroup{group.name});
  group.exists = true;
  // It restricts nothing until it is written, and holds no process until then.
  for (const auto& [resource, values] : group.goal)
    for (const auto& [domain, value] : values)
      group.now[resource][domain] = is_cache(resource) ? 0 : ~value;  // whatever it is
  masks_.move(group);
}

// A new group gets the lowest free CLOSID, I/O devices take the highest.
void Transition::make_groups() {
  const auto io = std::ranges::find(groups_, io_group, &Moving::name);
  if (io != groups_.end() && !io->exists) make(*io);
  for (Moving& group : groups_)
    if (!group.exists && !group.leaving) make(group);
}

void Transition::set_exclusive() {
  for (Moving& group : groups_)
    if (group.exists && group.goal_mode == Mode::exclusive && group.mode != Mode::exclusive)
      set_mode(group, Mode::exclusive);
}

// A region begins as a group.
void Transition::add_locks(Steps& out) {
  for (const LockRegion& lock : locks_) {
    offer_ways();
    steps_.emplace_back(MakeGroup{lock.group});
    steps_.emplace_back(lock);
    Moving& region = groups_.emplace_back();
    region.name = lock.group;
    region.mode = region.goal_mode = Mode::pseudo_locked;
    region.now[lock.resource][lock.domain] = lock.mask.bits;
    region.before = region.goal = region.now;
  }
  masks_.finish();
  set_exclusive();
  out.locks = std::move(steps_);
}

Steps Transition::run(const Snapshot& now, const std::vector<WantedGroup>& wanted,
                      const std::map<std::string, CpuSet>& mon_groups,
                      const std::set<std::string>& leaving) {
  Steps out;
  disable_io(now, leaving);
  unlock_regions(now, wanted, leaving);
  add_groups(now, wanted, leaving);
  add_mon_groups(now, mon_groups, leaving);
  for (Moving& group : groups_)
    if (group.leaving) choose_retirement(group);
  drop_exclusive();
  remove_early(now, out);
  for (Moving& group : groups_)
    if (group.exists) masks_.move(group);
  make_groups();
  masks_.finish();
  std::set<std::string> gone = unlocked_;
  for (const Moving& group : groups_)
    if (group.leaving && !group.exists) gone.insert(group.name);
  CpuSteps cpus = cpu_steps(now, wanted, mon_groups, leaving, gone);
  std::ranges::move(cpus.groups, std::back_inserter(steps_));
  set_exclusive();
  out.steps = std::exchange(steps_, {});
  add_locks(out);
  // Groups that are there give up CPUs before others are made, which may fail.
  auto step = cpus.mon_groups.begin();
  for (; step != cpus.mon_groups.end() && now.mon_groups.contains(group_of(*step)); ++step)
    out.mon_groups.push_back(std::move(*step));
  for (const std::string& group : new_mon_groups_) out.mon_groups.emplace_back(MakeGroup{group});
  std::move(step, cpus.mon_groups.end(), std::back_inserter(out.mon_groups));
  return out;
}

}  // namespace

Steps transition(const Capabilities& capabilities, const Snapshot& now,
                 const std::vector<WantedGroup>& wanted,
                 const std::map<std::string, CpuSet>& mon_groups,
                 const std::set<std::string>& leaving, const std::vector<LockRegion>& locks) {
  return Transition(capabilities, now, locks).run(now, wanted, mon_groups, leaving);
}

}  // namespace rdtd
