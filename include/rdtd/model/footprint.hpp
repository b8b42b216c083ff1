// Footprint: the ways of one cache that a group can fill. With CDP a cache has two masks per group,
// one for code and one for data, and the kernel compares both with both of every other group: the
// footprint is their union. Every check of exclusivity compares footprints, never single masks.
#pragma once

#include <array>
#include <span>

#include "rdtd/model/cbm.hpp"
#include "rdtd/model/resource.hpp"
#include "rdtd/model/schemata.hpp"

namespace rdtd {

// The resources that divide the same cache: L3, L3CODE and L3DATA are one cache. Empty for
// bandwidth.
[[nodiscard]] inline std::span<const Resource> resources_of_cache(const Resource& resource) {
  static constexpr std::array l3 = {Resource::L3, Resource::L3CODE, Resource::L3DATA};
  static constexpr std::array l2 = {Resource::L2, Resource::L2CODE, Resource::L2DATA};
  if (!is_cache(resource)) return {};
  return resource < Resource::L2 ? l3 : l2;
}

// Empty if the schemata do not have this cache and domain.
[[nodiscard]] inline Cbm footprint(const Schemata& schemata, Resource resource, DomainId domain) {
  Cbm ways;
  for (const Resource part : resources_of_cache(resource)) {
    const auto masks = schemata.find(part);
    if (masks == schemata.end()) continue;
    if (const auto mask = masks->second.find(domain); mask != masks->second.end())
      ways = ways | Cbm{mask->second};
  }
  return ways;
}

}  // namespace rdtd
