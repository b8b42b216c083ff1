// Ways that nobody fills: the remainder is divided where the groups that keep their places, or the
// ways that a policy names, leave it in pieces, and a group without an amount has one of them.
#include <fmt/format.h>

#include <algorithm>

#include "placement_refusals.hpp"
#include "planner.hpp"

namespace rdtd {

namespace {

// Of the ways that are not exclusive. None if no group takes all that is left: then the amounts of
// the policy leave them.
Cbm idle_ways(const DomainRequest& request, bool default_takes_all,
              const DomainPlacement& placement) {
  const auto takes_all = [](const Party& party) {
    return std::holds_alternative<Whole>(party.want);
  };
  if (!default_takes_all && std::ranges::none_of(request.shared, takes_all)) return {};
  Cbm idle = request.all.without(request.shareable);
  for (const Obstacle& obstacle : request.obstacles) idle = idle.without(obstacle.mask);
  for (const Cbm mask : request.others) idle = idle.without(mask);
  for (const Cbm mask : placement.exclusive) idle = idle.without(mask);
  for (const Cbm mask : placement.shared) idle = idle.without(mask);
  return default_takes_all ? idle.without(placement.remainder) : idle;
}

// As if no group had a place to keep.
DomainRequest without_places(DomainRequest request) {
  for (Exclusive& exclusive : request.exclusive) {
    exclusive.party.previous = {};
    for (Party& member : exclusive.members) member.previous = {};
  }
  for (Party& party : request.shared) party.previous = {};
  return request;
}

}  // namespace

void Planner::note_idle(const CacheDomain& domain, const PlannedRequest& planned,
                        const DomainPlacement& placement, PlacementWarnings& warnings) const {
  const DomainRequest& request = planned.request;
  const bool default_takes_all = default_group_ == nullptr;
  const Cbm idle = idle_ways(request, default_takes_all, placement);
  if (idle.empty() || request.exclusive.empty()) return;
  const auto other = place(without_places(request));
  const bool for_now =
      other && idle_ways(request, default_takes_all, *other).count() < idle.count();
  (for_now ? warnings.idle_for_now : warnings.idle)
      [{request.exclusive.front().party.where, fmt::format("nobody fills {} of ", these_ways(idle)),
        for_now ? ": the groups keep their places, which leaves the other ways in pieces"
                : ": the ways that are not exclusive are in pieces"}]
          .insert(domain.id);
}

}  // namespace rdtd
