// Two ways that are one: from Broadwell to Cascade Lake, a mask with one of the two ways that I/O
// devices fill acts as one with both (github.com/intel/intel-cmt-cat/issues/135 and 30). resctrl
// shows the mask as it was written, so nobody sees that an exclusive way is shared.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "placement_refusals.hpp"
#include "planner.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// Most of those processors have an L3 cache of 11 or 20 ways, whose top two devices fill.
Cbm joined_ways(const CacheDomain& domain, const DomainRequest& request) {
  const unsigned ways = request.all.count();
  const Cbm pair = domain.cache.info.shareable_bits;
  const bool so = domain.cache.resource == Resource::L3 && !request.sparse_masks &&
                  (ways == 11 || ways == 20) && pair.count() == 2 && pair.contiguous() &&
                  pair.highest() == request.all.highest();
  return so ? pair : Cbm{};
}

struct Owner {
  std::string name;
  Cbm mask;
  const Location* where = nullptr;  // of an exclusive one
};

// The parties that may fill ways. The code and the data of a party are one.
std::vector<Owner> owners(const PlannedRequest& planned, const DomainPlacement& placement,
                          bool default_takes_all) {
  const DomainRequest& request = planned.request;
  std::vector<Owner> out;
  for (size_t i = 0; i < request.exclusive.size(); i++) {
    const Party& party = request.exclusive[i].party;
    if (request.exclusive[i].other_half)
      out.back().mask = out.back().mask | placement.exclusive[i];
    else
      out.push_back({exclusive_name(planned, i), placement.exclusive[i], &party.where});
  }
  for (size_t i = 0; i < request.shared.size(); i++)
    out.push_back({fmt::format("'{}'", request.shared[i].name), placement.shared[i]});
  if (default_takes_all) out.push_back({"the default group", placement.remainder});
  for (const Cbm mask : request.others) out.push_back({"a group of another tool", mask});
  for (const Obstacle& obstacle : request.obstacles) out.push_back({obstacle.name, obstacle.mask});
  return out;
}

}  // namespace

void Planner::note_joined(const CacheDomain& domain, const PlannedRequest& planned,
                          const DomainPlacement& placement, DomainRefusals& warnings) const {
  const Cbm pair = joined_ways(domain, planned.request);
  if (pair.empty()) return;
  const std::vector<Owner> all = owners(planned, placement, default_group_ == nullptr);
  for (const Owner& one : all) {
    const Cbm other = pair.without(one.mask);
    if (one.where == nullptr || other.count() != 1) continue;
    std::vector<std::string> names;
    for (const Owner& owner : all)
      if (&owner != &one && owner.mask.overlaps(other) &&
          std::ranges::find(names, owner.name) == names.end())
        names.push_back(owner.name);
    if (names.empty()) continue;
    warnings[{*one.where,
              fmt::format("processors from Broadwell to Cascade Lake fill {} of ",
                          these_ways(pair)),
              fmt::format(" as one: {}, exclusive, has one of them, and {} the other", one.name,
                          join(names, ", "))}]
        .insert(domain.id);
  }
}

}  // namespace rdtd
