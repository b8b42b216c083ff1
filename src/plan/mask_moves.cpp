// How the steps are found: the masks are simulated. In each round every group moves each of its
// domains to its goal where the other groups' present masks allow it. Once none can, one gives up
// the ways that its goal lacks: not sooner, since meanwhile it has less than before and after.
// Groups that wait for each other in a circle are resolved by moving one of them to the part of its
// goal that is free, or else by parking it on a few ways that nobody minds.
#include "mask_moves.hpp"

#include <algorithm>

#include "rdtd/model/footprint.hpp"
#include "value_of.hpp"

namespace rdtd {

namespace {

Cbm mask_in(const Schemata& schemata, Resource resource, DomainId domain) {
  return Cbm{value_in(schemata, resource, domain).value_or(0)};
}

}  // namespace

Cbm MaskMoves::usable_part(Resource resource, Cbm mask) const {
  const Cbm part = cache(resource).sparse_masks ? mask : longest_run(mask);
  return part.count() >= cache(resource).min_ways() ? part : Cbm{};
}

bool MaskMoves::keep_apart(const Moving& a, const Moving& b, Resource resource,
                           DomainId domain) const {
  const auto overlap = [&](const Schemata& x, const Schemata& y) {
    return footprint(x, resource, domain).overlaps(footprint(y, resource, domain));
  };
  return !overlap(a.before, b.before) && !overlap(a.goal, b.goal);
}

Cbm MaskMoves::forbidden(const Moving& group, Resource resource, DomainId domain,
                         Devices devices) const {
  Cbm out;
  for (const Moving& other : groups_) {
    if (&other == &group || !other.exists) continue;
    if (other.name == io_group && devices == Devices::give_way) continue;
    const Cbm ways = footprint(other.now, resource, domain);
    if (!out.contains(ways) &&
        (other.mode == Mode::exclusive || keep_apart(group, other, resource, domain)))
      out = out | ways;
  }
  return out;
}

// Within finish() only masks change, and only by write().
Cbm MaskMoves::forbidden_now(Moving& group, Resource resource, DomainId domain) {
  const CacheDomainKey key = {resources_of_cache(resource).front(), domain};
  const uint64_t writes = writes_[key];
  const auto known = group.forbidden.find(key);
  if (finishing_ && known != group.forbidden.end() && known->second.writes == writes)
    return known->second.ways;
  const Cbm ways = forbidden(group, resource, domain, Devices::are_a_group);
  group.forbidden[key] = {writes, ways};
  return ways;
}

void MaskMoves::write(Moving& group, const Schemata& change) {
  if (change.empty()) return;
  WriteSchemata step{group.name, {}, change};
  for (const auto& [resource, values] : change)
    for (const auto& [domain, value] : values) {
      if (group.existed) step.before[resource][domain] = group.now[resource][domain];
      group.now[resource][domain] = value;
      if (is_cache(resource)) ++writes_[{resources_of_cache(resource).front(), domain}];
    }
  steps_.emplace_back(std::move(step));
}

bool MaskMoves::move(Moving& group, Extent extent) {
  Schemata change;
  for (const auto& [resource, values] : group.goal)
    for (const auto& [domain, goal] : values) {
      const auto known = group.now.find(resource);
      if (known == group.now.end() || !known->second.contains(domain)) continue;
      const uint32_t now = known->second.at(domain);
      if (now == goal) continue;
      if (!is_cache(resource) || !forbidden_now(group, resource, domain).overlaps(Cbm{goal})) {
        change[resource][domain] = goal;
      } else if (const Cbm kept = usable_part(resource, Cbm{now} & Cbm{goal});
                 extent == Extent::part && !kept.empty() && kept.bits != now) {
        change[resource][domain] = kept.bits;
      }
    }
  write(group, change);
  return !change.empty();
}

// If possible in addition to its ways.
void MaskMoves::fill(Resource resource, DomainId domain, Cbm ways) {
  for (Moving& group : groups_) {
    const Cbm now = mask_in(group.now, resource, domain);
    if (!group.own || !group.exists || group.mode != Mode::shareable || group.name == io_group ||
        now.empty())
      continue;
    const Cbm both = now | ways;
    const Cbm wide = Cbm::range(both.lowest(), both.highest() - both.lowest() + 1);
    for (const Cbm mask : {wide, ways})
      if (cache(resource).cbm_mask.contains(mask) &&
          !forbidden(group, resource, domain, Devices::give_way).overlaps(mask))
        return write(group, {{resource, {{domain, mask.bits}}}});
  }
}

// Moves a group to the part of its goal that nobody is in, if that is more of it than it has.
bool MaskMoves::approach(Moving& group, Resource resource, DomainId domain, Cbm goal) {
  const Cbm part = usable_part(resource, goal.without(forbidden_now(group, resource, domain)));
  if (part.count() <= (mask_in(group.now, resource, domain) & goal).count()) return false;
  write(group, {{resource, {{domain, part.bits}}}});
  return true;
}

// Moves a group to the fewest ways that nobody minds, at most once for each domain; if possible not
// to ways that another one waits for.
bool MaskMoves::park(Moving& group, Resource resource, DomainId domain) {
  if (group.parked.contains({resource, domain})) return false;
  const unsigned least = cache(resource).min_ways();
  const Cbm now = mask_in(group.now, resource, domain);
  const Cbm taken = forbidden_now(group, resource, domain);
  Cbm awaited;
  for (const Moving& other : groups_)
    if (const Cbm goal = footprint(other.goal, resource, domain);
        &other != &group && goal != footprint(other.now, resource, domain) &&
        keep_apart(group, other, resource, domain))
      awaited = awaited | goal;
  for (const bool anywhere : {false, true})
    for (unsigned way = 0; way + least <= 32; way++) {
      const Cbm place = Cbm::range(way, least);
      if (place == now || !cache(resource).cbm_mask.contains(place)) continue;
      if (place.overlaps(taken) || (!anywhere && place.overlaps(awaited))) continue;
      group.parked.insert({resource, domain});
      write(group, {{resource, {{domain, place.bits}}}});
      return true;
    }
  return false;
}

// Every group that is not at its goal waits for another one. If no group can be parked, two groups
// share some ways for the time of one step. The default group, which most processes are in, is the
// last to be parked.
bool MaskMoves::resolve_circle() {
  const auto any_waiting = [&](const auto& resolve) {
    for (const bool root : {false, true})
      for (Moving& group : groups_) {
        if (!group.exists || (group.name == root_group) != root) continue;
        for (const auto& [resource, info] : machine_.caches)
          for (const auto& [domain, goal] : group.goal[resource])
            if (const Cbm now = mask_in(group.now, resource, domain);
                !now.empty() && now.bits != goal && resolve(group, resource, domain, Cbm{goal}))
              return true;
      }
    return false;
  };
  return any_waiting([&](Moving& group, Resource resource, DomainId domain, Cbm goal) {
           return approach(group, resource, domain, goal);
         }) ||
         any_waiting([&](Moving& group, Resource resource, DomainId domain, Cbm) {
           return park(group, resource, domain);
         }) ||
         any_waiting([&](Moving& group, Resource resource, DomainId domain, Cbm goal) {
           write(group, {{resource, {{domain, goal.bits}}}});
           return true;
         });
}

// All that can, or the first one that gives up a part.
bool MaskMoves::move_any(Extent extent) {
  bool moved = false;
  for (Moving& group : groups_) {
    if (group.exists && move(group, extent)) moved = true;
    if (moved && extent == Extent::part) return true;
  }
  return moved;
}

void MaskMoves::finish() {
  for (Moving& group : groups_) group.forbidden.clear();
  finishing_ = true;
  while (move_any(Extent::whole) || move_any(Extent::part) || resolve_circle()) {}
  finishing_ = false;
}

}  // namespace rdtd
