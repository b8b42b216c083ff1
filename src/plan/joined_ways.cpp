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

// Those processors have L3 caches of 11 or 20 ways, whose top two devices fill.
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
};

// Who may fill ways, beside each exclusive party.
std::vector<Owner> owners(const DomainRequest& request, const DomainPlacement& placement) {
  std::vector<Owner> out;
  for (size_t i = 0; i < request.exclusive.size(); i++)
    out.push_back({fmt::format("'{}'", request.exclusive[i].party.name), placement.exclusive[i]});
  for (size_t i = 0; i < request.shared.size(); i++)
    out.push_back({fmt::format("'{}'", request.shared[i].name), placement.shared[i]});
  if (request.remainder_for == "default") out.push_back({"the default group", placement.remainder});
  for (const Cbm mask : request.others) out.push_back({"a group of another tool", mask});
  for (const Obstacle& obstacle : request.obstacles) out.push_back({obstacle.name, obstacle.mask});
  return out;
}

}  // namespace

void Planner::note_joined(const CacheDomain& domain, const DomainRequest& request,
                          const DomainPlacement& placement, DomainRefusals& warnings) {
  const Cbm pair = joined_ways(domain, request);
  if (pair.empty()) return;
  const std::vector<Owner> all = owners(request, placement);
  for (size_t i = 0; i < request.exclusive.size(); i++) {
    const Cbm other = pair.without(placement.exclusive[i]);
    if (other.count() != 1) continue;
    std::vector<std::string> names;
    for (size_t j = 0; j < all.size(); j++)
      if (j != i && all[j].mask.overlaps(other) &&
          std::ranges::find(names, all[j].name) == names.end())
        names.push_back(all[j].name);
    if (names.empty()) continue;
    warnings[{request.exclusive[i].party.where,
              fmt::format("processors from Broadwell to Cascade Lake fill {} of ",
                          these_ways(pair)),
              fmt::format(" as one: {}, exclusive, has one of them, and {} the other", all[i].name,
                          join(names, ", "))}]
        .insert(domain.id);
  }
}

}  // namespace rdtd
