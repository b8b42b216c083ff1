#include "rdtd/daemon/assigner.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "rdtd/model/snapshot.hpp"

namespace rdtd {

namespace {

// A longer command line is left to the loop thread: patterns can make it expensive.
constexpr size_t max_cmdline = 4096;
// The kernel takes time in the square of the depth to build a path, with a lock held that every
// fork and exit takes (kernfs_path_from_node in fs/kernfs/dir.c, proc_cgroup_show). At this depth
// it is not noticeable; a path can have some 2000 components.
constexpr std::ptrdiff_t deepest_cgroup = 128;
// The kernel cuts a longer path or refuses it, and takes the same time.
constexpr size_t longest_cgroup = 4000;

bool is_deep(const ProcessFacts& facts) {
  return facts.cgroup_too_long ||
         (facts.cgroup && (facts.cgroup->size() > longest_cgroup ||
                           std::ranges::count(*facts.cgroup, '/') > deepest_cgroup));
}

// The loop thread may have assigned the process manually while the classifier carried out a rule.
// The manual assignment has the last word.
void respect_manual(const Placement& placement, pid_t pid) {
  const auto label = placement.manual.group_of(pid);
  if (!label) return;
  const Place place = assigned_place(placement.table, *label);
  if (place.exists()) (void)place.add(pid);
}

struct Owner {
  uid_t user = 0;
  bool hidden = false;
};

// The user who is charged for the time. A user can make a process look like root's, so once root
// has no share left, or somebody rests, its processes are examined; root itself is never deferred.
Result<Owner> owner_of(const Placement& placement, const proc::Process& process) {
  const auto owner = process.owner();
  if (!owner) return std::unexpected(owner.error());
  const UserShares& shares = *placement.shares;
  if (*owner != 0 || !(shares.anybody_rests(placement.now) ||
                       (placement.examine_root && shares.exhausted(0, placement.now))))
    return Owner{*owner};
  ProcessFacts facts;
  if (const auto read = process.read(Fact::identity, facts); !read)
    return std::unexpected(read.error());
  const uid_t user = facts.identity->responsible();
  return Owner{user, user != 0};
}

// Whether the process is in a group of another tool that its rule lets it be in: a monitoring group
// in the control group that the rule names, as runc and cAdvisor make one for each container, or
// any group if its own cannot be had. Looked at only where there are some.
bool may_stay(const Placement& placement, const proc::Process& process, pid_t pid,
              size_t destination) {
  const Place& place = placement.table.places[destination];
  if (!place.monitor && !place.own_only &&
      !place.counter->others_monitor.load(std::memory_order_relaxed))
    return false;
  const auto now = process.read_thread_group(pid);
  if (!now) return place.own_only;
  // Whether it is the right one, the next look at all processes finds out: most are.
  if (place.monitor && is_mon_group(*now) && control_group_of(*now) == place.directory) return true;
  return (place.own_only || is_mon_group(*now)) && placement.table.is_at(destination, *now);
}

Assignment place_by_facts(const Placement& placement, const proc::Process& process, pid_t pid,
                          ProcessFacts& facts) {
  auto name = process.read_name();
  Assignment out;
  for (int attempt = 0; attempt < max_renames; attempt++) {
    if (!name) return cannot_place(name.error());
    facts = {};
    facts.name = *name;
    if (placement.table.rules.has_thread_rules()) facts.thread = *name;
    const auto decision =
        decide(placement.table.rules, process, facts, {max_cmdline, placement.memo});
    if (!decision) return cannot_place(decision.error());
    if (decision->kind != Decision::Kind::matched) return out;
    out.rule = decision->rule;
    const size_t destination = placement.table.rules.rules()[decision->rule].destination;
    const Place& place = placement.table.places[destination];
    if (!place.exists()) return out;
    out.kind = Assignment::Kind::in_group;
    if (may_stay(placement, process, pid, destination)) return out;
    if (const int error = add_counted(place, pid); error != 0)
      return {.kind = kind_of_failure(error), .rule = out.rule, .error = error};
    out.moved = 1;
    respect_manual(placement, pid);
    name = process.read_name();
    if (name && *name == *facts.name) return out;
    if (!name && proc::ended(name.error())) return correct_placement(placement, pid);
  }
  return out;
}

Assignment place_opened(const Placement& placement, const proc::Process& process, pid_t pid) {
  ProcessFacts facts;
  Assignment out = place_by_facts(placement, process, pid, facts);
  out.deep = is_deep(facts);
  return out;
}

}  // namespace

Assignment place_leader(const Placement& placement, pid_t pid) {
  if (placement.manual.group_of(pid)) return {};
  const auto process = placement.processes.open(pid);
  if (!process) return cannot_place(process.error());
  if (placement.shares == nullptr) {
    Assignment out = place_opened(placement, **process, pid);
    ProcessFacts facts;
    if (out.deep && (*process)->read(Fact::identity, facts))
      out.user = facts.identity->responsible();
    return out;
  }
  const auto owner = owner_of(placement, **process);
  // It can be anybody's: the loop thread looks at it, when nobody waits.
  if (!owner && proc::held_up(owner.error())) return cannot_place(owner.error());
  const bool deferred = owner && owner->user != 0 &&
                        (placement.shares->exhausted(owner->user, placement.now) ||
                         placement.now < placement.shares->resting_until(owner->user));
  Assignment out = deferred ? Assignment{.kind = Assignment::Kind::deferred}
                            : place_opened(placement, **process, pid);
  if (owner) {
    out.user = owner->user;
    out.hidden = owner->hidden;
  }
  return out;
}

}  // namespace rdtd
