// The I/O devices: whether the ways that they fill can be set, and which they fill otherwise. While
// io_alloc is enabled, the kernel compares their masks with those of other groups as it does with
// those of a group that is not exclusive.
#include <fmt/format.h>

#include <algorithm>

#include "planner.hpp"
#include "rdtd/model/footprint.hpp"

namespace rdtd {

// The kernel gives the devices the highest CLOSID of the cache. It must be one that groups can
// have, too: otherwise another resource has fewer.
void Planner::check_io() {
  if (!policy_.io) return;
  const Location& where = policy_.io->name.where;
  const auto cache = std::ranges::find(caches_, Resource::L3, &Cache::resource);
  if (cache == caches_.end()) return check_resources(policy_.io->amounts);
  if (!cache->info.io_alloc)
    return unsupported(where, "[io]: the ways that I/O devices fill cannot be set here (io_alloc)",
                       "that requires Linux 6.19 and an AMD processor with SDCIAE");
  if (cache->info.num_closids > capabilities_.num_closids())
    return unsupported(
        where, fmt::format("[io]: I/O devices need CLOSID {} (io_alloc), and the highest one that "
                           "all resources have is {}",
                           cache->info.num_closids - 1, capabilities_.num_closids() - 1));
  check_resources(policy_.io->amounts);
  io_ = &*policy_.io;
  io_target_.emplace().directory = io_group;
}

// Then their masks stay as they are, unless the policy has [io].
bool Planner::others_enabled_io() const {
  return !snapshot_.io.empty() && !snapshot_.owned.contains(std::string(io_group));
}

// The ways that no group can have alone because devices fill them, wherever the policy puts these.
Cbm Planner::ways_of_devices(const CacheDomain& domain) const {
  const Cbm always = domain.cache.info.shareable_bits;
  if (io_ != nullptr || !others_enabled_io()) return always;
  return always | footprint(snapshot_.io, domain.cache.resource, domain.id);
}

// The devices lie in the remainder as a group does. Under CDP the kernel mirrors their masks.
bool Planner::add_io(const CacheDomain& domain, PlannedRequest& out) {
  if (io_ == nullptr || domain.cache.resource != Resource::L3) return true;
  const Slot slot{io_, std::span(domain.cache.parts).first(1),
                  cache_line(io_->amounts, domain.cache.parts.front(), domain.id)};
  auto one = party(domain, slot, io_->name, domain.cache.info.cbm_mask.count());
  if (!one) return false;
  if (default_group_ != nullptr) out.request.remainder_for = one->name;
  out.request.shared.push_back(*std::move(one));
  out.shared.push_back(slot);
  return true;
}

}  // namespace rdtd
