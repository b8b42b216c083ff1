// The pseudo-locked regions: what the kernel can lock, and where. The kernel locks at most one
// region in a domain, so that the search is short: each place is tried with all other parties.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "placement_refusals.hpp"
#include "planner.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"

namespace rdtd {

namespace {

// The kernel takes the memory in one piece (KMALLOC_MAX_SIZE on x86).
constexpr uint64_t largest_region = 4 << 20;

std::string title(const PseudoLock& lock) {
  return fmt::format("pseudo_lock '{}'", lock.name.value);
}

// Whether regions in the two caches are over the same CPUs, of which the kernel locks one
// (rdtgroup_pseudo_locked_in_hierarchy in pseudo_lock.c). Which CPUs a domain has is not in
// resctrl, but the only L3 domain has all of them. Of several, the kernel decides at the load.
bool share_cpus(const Capabilities& capabilities, Resource one, Resource other) {
  const auto l3 = capabilities.caches.find(Resource::L3);
  return one != other && l3 != capabilities.caches.end() && l3->second.way_bytes.size() == 1;
}

unsigned ways_wanted(const Want& want) {
  if (const Cbm* mask = std::get_if<Cbm>(&want)) return mask->count();
  return std::get<unsigned>(want);
}

// Whether the kernel can make groups beside the region, which is an obstacle: it gives them the
// lowest ways that nobody holds for good.
bool leaves_room(const DomainRequest& request) {
  Cbm left = request.all;
  for (const Obstacle& obstacle : request.obstacles) left = left.without(obstacle.mask);
  return !left.empty() && first_run(left).count() >= request.min_ways;
}

// Whether groups can be made beside the region, exclusive parties outside of the ways of devices,
// then parties that keep their places: how many.
using Worth = std::tuple<bool, size_t, size_t>;
Worth worth(const DomainRequest& request, const DomainPlacement& placement) {
  const auto apart = static_cast<size_t>(std::ranges::count_if(
      placement.exclusive, [&](Cbm mask) { return !mask.overlaps(request.shareable); }));
  size_t kept = 0;
  const auto count = [&](const Party& party, Cbm mask) {
    if (!mask.empty() && party.previous == mask) kept++;
  };
  for (size_t i = 0; i < request.exclusive.size(); i++) {
    count(request.exclusive[i].party, placement.exclusive[i]);
    for (size_t j = 0; j < request.exclusive[i].members.size(); j++)
      count(request.exclusive[i].members[j], placement.members[i][j]);
  }
  for (size_t i = 0; i < request.shared.size(); i++) count(request.shared[i], placement.shared[i]);
  return {leaves_room(request), apart, kept};
}

}  // namespace

// Whether the machine can lock at all.
bool Planner::can_lock(const PseudoLock& lock) {
  if (!capabilities_.pseudo_locking.value_or(true)) {
    unsupported(lock.name.where,
                title(lock) + ": the kernel cannot lock memory into the caches of this processor",
                "it can on some models only (Intel Broadwell-X, Apollo Lake, Gemini Lake)");
    return false;
  }
  if (const MountOptions mount = options_in_use(); mount.cdp || mount.cdpl2) {
    unsupported(lock.name.where,
                title(lock) +
                    ": the kernel locks no memory while a cache is divided into code and "
                    "data",
                "mount resctrl without cdp and cdpl2", Cause::mount);
    return false;
  }
  return true;
}

// Of two regions over the same CPUs, the later one.
void Planner::check_caches_of_locks() {
  std::map<Resource, const PseudoLock*> first;
  for (const PseudoLock* lock : locks_) {
    const std::set<DomainId>* domains = domains_of(lock->resource());
    if (domains == nullptr || !domains->contains(lock->domain())) continue;
    first.try_emplace(lock->resource(), lock);
    for (const auto& [resource, other] : first)
      if (share_cpus(capabilities_, lock->resource(), resource))
        error(lock->line().domains_where,
              fmt::format("{} in {} domain {} and {} of {} in {} domain {} are over the same CPUs, "
                          "and the kernel locks one region there",
                          title(*lock), to_string(lock->resource()), to_string(lock->domain()),
                          title(*other), other->name.where.text(), to_string(resource),
                          to_string(other->domain())));
  }
}

// A request that the kernel refused a short time ago is not repeated at once. If it was the default
// group's part, nothing can be had that the default group must leave.
void Planner::check_refused() {
  const auto check = [&](const Located<std::string>& name, const std::vector<std::string>& needs) {
    for (const std::string& directory : needs)
      if (const auto why = snapshot_.refused.find(directory); why != snapshot_.refused.end())
        return error(name.where, why->second, {}, Cause::machine);
  };
  const std::string root(root_group);
  for (const Group& group : policy_.groups) {
    const std::string directory = group_directory(group.name.value);
    if (directory == root && group.amounts.empty() && group.controls.empty()) continue;
    check(group.name, group.exclusive || group.partition ? std::vector{directory, root}
                                                         : std::vector{directory});
  }
  for (const Partition& partition : policy_.partitions) check(partition.name, {root});
  for (const PseudoLock& lock : policy_.locks) check(lock.name, {lock.name.value, root});
  if (policy_.io) check(policy_.io->name, {std::string(io_group)});
}

void Planner::check_locks() {
  std::map<std::pair<Resource, DomainId>, const PseudoLock*> by_domain;
  for (const PseudoLock& lock : policy_.locks) {
    if (is_taken(lock.name.value, snapshot_)) {
      error(lock.name.where,
            fmt::format("group '{}' exists in resctrl already and rdtd did not make it",
                        lock.name.value),
            "choose another name, or remove that group");
      continue;
    }
    if (!snapshot_.unrecordable.empty() && !snapshot_.groups.contains(lock.name.value)) {
      error(lock.name.where,
            fmt::format("{} cannot be made now: {}", title(lock), snapshot_.unrecordable), {},
            Cause::machine);
      continue;
    }
    if (!can_lock(lock)) continue;
    check_resources(lock.amounts);
    const std::set<DomainId>* const domains = domains_of(lock.resource());
    if (domains == nullptr || (!domains->contains(lock.domain()) && offline_cpus().empty()))
      continue;  // refused, or left out
    const auto [other, is_new] = by_domain.try_emplace({lock.resource(), lock.domain()}, &lock);
    if (!is_new)
      error(lock.line().domains_where,
            fmt::format("{} and {} in {} are both in {} domain {}, and the kernel locks one region "
                        "in a domain",
                        title(lock), title(*other->second), other->second->name.where.text(),
                        to_string(lock.resource()), to_string(lock.domain())));
    else
      locks_.push_back(&lock);
  }
  check_caches_of_locks();
}

// A region whose device is open stays as it is.
void Planner::find_busy_locks() {
  for (const auto& [name, why] : snapshot_.busy_locks) {
    for (const Group& group : policy_.groups)
      if (group.name.value == name)
        error(group.name.where, fmt::format("the name of group '{}' is not free: {}", name, why),
              {}, Cause::machine);
    const auto lock = std::ranges::find(
        locks_, name, [](const auto* one) -> const std::string& { return one->name.value; });
    const auto state = snapshot_.groups.find(name);
    if (state == snapshot_.groups.end()) continue;
    const bool in_place =
        lock != locks_.end() &&
        !footprint(state->second.schemata, (*lock)->resource(), (*lock)->domain()).empty();
    if (!in_place)
      missing_.push_back({name, fmt::format("the end of pseudo_lock '{}' is", name), why,
                          Cause::device, PseudoLock{.name = {name, {}}}});
    if (lock != locks_.end() && !in_place) locks_.erase(lock);
  }
}

const PseudoLock* Planner::lock_in(const CacheDomain& domain) const {
  for (const PseudoLock* lock : locks_)
    if (lock->resource() == domain.cache.resource && lock->domain() == domain.id) return lock;
  return nullptr;
}

// The ways that rdtd has locked for it.
std::optional<Cbm> Planner::locked_now(const CacheDomain& domain, const PseudoLock& lock) const {
  const auto group = snapshot_.groups.find(lock.name.value);
  if (group == snapshot_.groups.end() || group->second.mode != Mode::pseudo_locked ||
      is_foreign(lock.name.value))
    return std::nullopt;
  const Cbm mask = footprint(group->second.schemata, domain.cache.resource, domain.id);
  return mask.empty() ? std::nullopt : std::optional(mask);
}

// The preferred ones first: where it is, then from the lowest way up. The kernel refuses a region
// that any group can fill, also one of another tool.
std::vector<Cbm> Planner::lock_places(const CacheDomain& domain, const PseudoLock& lock,
                                      const Want& wanted) const {
  const std::optional<Cbm> now = locked_now(domain, lock);
  if (now && snapshot_.busy_locks.contains(lock.name.value)) return {*now};
  Cbm free = domain.cache.info.cbm_mask.without(ways_of_devices(domain));
  const auto take = [&](const GroupState& state) {
    free = free.without(footprint(state.schemata, domain.cache.resource, domain.id));
  };
  for (const auto& [name, state] : foreign_groups()) take(*state);
  for (const auto& [name, why] : snapshot_.busy_locks)
    if (const auto busy = snapshot_.groups.find(name);
        busy != snapshot_.groups.end() && name != lock.name.value)
      take(busy->second);
  const Cbm* const named = std::get_if<Cbm>(&wanted);
  const unsigned ways = ways_wanted(wanted);
  std::vector<Cbm> out;
  const auto add = [&](Cbm mask) {
    if (free.contains(mask) && mask.contiguous() && mask.count() >= domain.cache.info.min_ways() &&
        (named == nullptr || mask == *named) && mask.count() == ways)
      out.push_back(mask);
  };
  if (now) add(*now);
  if (named != nullptr) add(*named);
  for (unsigned way = 0; named == nullptr && way + ways <= 32; way++) add(Cbm::range(way, ways));
  return out;
}

void Planner::add_lock_target(const CacheDomain& domain, const PseudoLock& lock, Cbm mask) {
  const auto id = [](const auto& located) { return located ? located->value : std::string(); };
  lock_targets_[&lock] = {
      {lock.name.value, domain.cache.resource, domain.id, mask},
      lock.line().amount.value.text,
      domain.cache.info.way_bytes.at(domain.id) * mask.count(),
      id(lock.owner),
      id(lock.user_group),
      lock.mode,
  };
}

// The reason for which the kernel refuses the region wherever it lies, if there is one.
std::optional<PlacementRefusal> Planner::lock_refusal(const CacheDomain& domain,
                                                      const PseudoLock& lock,
                                                      const Want& wanted) const {
  const Location& where = lock.line().amount.where;
  const uint64_t bytes = ways_wanted(wanted) * domain.cache.info.way_bytes.at(domain.id);
  if (bytes > largest_region)
    return PlacementRefusal{
        where,
        fmt::format("{}: the kernel locks at most {} KiB in one region, and {} of ", title(lock),
                    largest_region >> 10, counted(ways_wanted(wanted), "way")),
        fmt::format(" {} {} KiB", ways_wanted(wanted) == 1 ? "holds" : "hold", bytes >> 10)};
  auto regions = foreign_groups();
  for (const auto& [name, why] : snapshot_.busy_locks)
    if (const auto busy = snapshot_.groups.find(name);
        busy != snapshot_.groups.end() && name != lock.name.value)
      regions.emplace(name, &busy->second);
  for (const auto& [name, found] : regions) {
    const GroupState& state = *found;
    const bool busy = snapshot_.busy_locks.contains(std::string(name));
    if (state.mode != Mode::pseudo_locked || state.schemata.empty()) continue;
    const std::string other = fmt::format("{}: {} '{}', which {}, is locked in ", title(lock),
                                          busy ? "pseudo_lock" : "group", name,
                                          busy ? "is still in use" : "rdtd did not make");
    if (!footprint(state.schemata, domain.cache.resource, domain.id).empty())
      return PlacementRefusal{where, other, ", and the kernel locks one region in a domain"};
    const Resource resource = state.schemata.begin()->first;
    if (share_cpus(capabilities_, domain.cache.resource, resource))
      return PlacementRefusal{where,
                              fmt::format("{}{}, over the CPUs of ", other, to_string(resource)),
                              ", and the kernel locks one region over the same CPUs"};
  }
  return std::nullopt;
}

// No place is possible: why. As an exclusive party the region has its place in the usual messages.
std::vector<PlacementRefusal> Planner::explain_lock(const CacheDomain& domain,
                                                    const PseudoLock& lock, const Want& wanted,
                                                    DomainRequest request) const {
  const Amount& amount = lock.line().amount.value;
  const Location& where = lock.line().amount.where;
  if (const auto now = locked_now(domain, lock);
      now && snapshot_.busy_locks.contains(lock.name.value)) {
    request.obstacles.push_back({title(lock), *now, "is still in use"});
    return rdtd::place(request).error();
  }
  request.exclusive.push_back(
      {{title(lock), where, amount.text, wanted, {}}, {}, false, true, /*region=*/true});
  if (auto placement = rdtd::place(request); !placement) return std::move(placement.error());
  if (auto refusal = explain_region(request)) return {*std::move(refusal)};
  const Cbm* const named = named_ways(request.exclusive.back().party);
  std::vector<std::string> others;
  for (const auto& [name, state] : foreign_groups())
    if (const Cbm theirs = footprint(state->schemata, domain.cache.resource, domain.id);
        named == nullptr ? !theirs.empty() : theirs.overlaps(*named))
      others.push_back(fmt::format("'{}'", name));
  return {{where,
           fmt::format("{}: no group may fill the ways of a region, and groups that rdtd did not "
                       "make ({}) can fill ways of ",
                       title(lock), first_names(others)),
           ""}};
}

// A new group has no mask of its own yet, nor has one that a region begins as, nor have devices.
// rdtd's own groups leave the exclusive mode until they have one; regions and the groups of others
// stay.
void Planner::check_new_regions() {
  const auto is_new = [&](const Group& group) {
    return !snapshot_.groups.contains(group_directory(group.name.value));
  };
  const auto new_group = std::ranges::find_if(policy_.groups, is_new);
  for (const Cache& cache : caches_) {
    DomainRefusals refusals;
    Schemata locked = regions_that_stay();
    const auto check = [&](const Location& where, const std::string& what) {
      for (const auto& [domain, bytes] : cache.info.way_bytes)
        if (!can_make_group({cache, domain}, footprint(locked, cache.resource, domain)))
          refusals[{where,
                    what + ": the kernel gives a new group the lowest ways that are free in ",
                    fmt::format(", and below exclusive groups and regions these are fewer than the "
                                "{} ways of a mask (min_cbm_bits)",
                                cache.info.min_cbm_bits)}]
              .insert(domain);
    };
    if (new_group != policy_.groups.end())
      check(new_group->name.where,
            fmt::format("group '{}' cannot be created", new_group->name.value));
    if (io_ != nullptr && snapshot_.io.empty() && cache.resource == Resource::L3)
      check(io_->name.where, "[io]: io_alloc cannot be enabled");
    for (const PseudoLock* lock : locks_) {
      const auto target = lock_targets_.find(lock);
      if (target == lock_targets_.end() || stands(target->second.region, snapshot_)) continue;
      const LockRegion& region = target->second.region;
      check(lock->name.where, title(*lock) + " cannot be locked");
      locked[region.resource][region.domain] |= region.mask.bits;
    }
    report(cache.resource, refusals, Severity::error);
  }
}

// Those that rdtd has locked and no step removes.
Schemata Planner::regions_that_stay() const {
  Schemata out;
  for (const std::string& name : snapshot_.own_locks()) {
    const bool stays = std::ranges::any_of(lock_targets_, [&](const auto& target) {
      return target.second.region.group == name && stands(target.second.region, snapshot_);
    });
    if (!stays && !snapshot_.busy_locks.contains(name)) continue;
    for (const auto& [resource, masks] : snapshot_.groups.at(name).schemata)
      for (const auto& [domain, mask] : masks) out[resource][domain] |= mask;
  }
  return out;
}

// Whether the lowest ways that the kernel can offer a new group are enough for a mask.
bool Planner::can_make_group(const CacheDomain& domain, Cbm locked) const {
  const CacheInfo& info = domain.cache.info;
  Cbm free = info.cbm_mask.without(locked);
  for (const auto& [name, state] : foreign_groups())
    if (state->mode != Mode::shareable)
      free = free.without(footprint(state->schemata, domain.cache.resource, domain.id));
  return info.sparse_masks || (!free.empty() && first_run(free).count() >= info.min_ways());
}

// The error is empty if an amount was refused.
std::expected<DomainPlacement, std::vector<PlacementRefusal>> Planner::place_with_lock(
    const CacheDomain& domain, const PseudoLock& lock, DomainRequest request) {
  const auto wanted = want(domain, lock.line(), domain.cache.info.cbm_mask.count());
  if (!wanted) return std::unexpected(std::vector<PlacementRefusal>{});
  if (auto refusal = lock_refusal(domain, lock, *wanted))
    return std::unexpected(std::vector{*std::move(refusal)});

  const std::optional<Cbm> now = locked_now(domain, lock);
  std::optional<DomainPlacement> best;
  Cbm best_place;
  Worth most;
  request.obstacles.push_back({title(lock), {}, ""});
  for (const Cbm place : lock_places(domain, lock, *wanted)) {
    request.obstacles.back().mask = place;
    auto placement = rdtd::place(request);
    if (!placement) continue;
    const auto value = worth(request, *placement);
    if (best && value <= most) continue;
    best = std::move(*placement);
    best_place = place;
    most = value;
    if (place == now) break;
  }
  request.obstacles.pop_back();
  if (!best) return std::unexpected(explain_lock(domain, lock, *wanted, std::move(request)));

  const Cbm* const named = std::get_if<Cbm>(&*wanted);
  if (best_place.count() != ways_wanted(*wanted) || (named != nullptr && best_place != *named))
    missing_.push_back({lock.name.value, fmt::format("the change of {} is", title(lock)),
                        snapshot_.busy_locks.at(lock.name.value), Cause::device, lock});
  add_lock_target(domain, lock, best_place);
  return *std::move(best);
}

}  // namespace rdtd
