// Capabilities: what this machine's resctrl offers, as its info/ directory reports it. Nothing is
// assumed: a limit that differs between processors is read. Each field is documented in
// Documentation/filesystems/resctrl.rst.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "rdtd/model/cbm.hpp"
#include "rdtd/model/resource.hpp"

namespace rdtd {

// info/L3, info/L2 and their CODE and DATA forms.
struct CacheInfo {
  Cbm cbm_mask;               // all ways
  unsigned min_cbm_bits = 1;  // 0 on AMD, where the kernel accepts an empty mask
  Cbm shareable_bits;         // ways that I/O devices fill too
  bool sparse_masks = false;  // masks may have gaps
  unsigned num_closids = 0;
  std::map<DomainId, uint64_t> way_bytes;  // size of one way; 0 where the kernel does not tell
  bool operator==(const CacheInfo&) const = default;

  // The fewest ways that rdtd gives to any group: without a way a program runs from memory.
  [[nodiscard]] unsigned min_ways() const { return std::max(1U, min_cbm_bits); }
};

// info/MB and info/SMBA.
struct BandwidthInfo {
  unsigned bandwidth_gran = 1;  // percent: granted values are rounded up to multiples of it
  unsigned min_bandwidth = 0;   // percent
  unsigned num_closids = 0;
  bool percent = true;  // false: counts rates (AMD, or mounted with mba_MBps)
  std::map<DomainId, uint32_t>
      unlimited;  // percent: the value that means no limit; its keys are the domains
  bool operator==(const BandwidthInfo&) const = default;
};

struct Capabilities {
  std::map<Resource, CacheInfo> caches;
  std::map<Resource, BandwidthInfo> bandwidths;
  std::optional<unsigned> num_rmids;  // info/L3_MON; nothing without monitoring
  bool operator==(const Capabilities&) const = default;

  // Control groups that can exist at once, the default one included: the smallest num_closids of
  // all resources.
  [[nodiscard]] unsigned num_closids() const {
    unsigned least = UINT32_MAX;
    for (const auto& [resource, info] : caches) least = std::min(least, info.num_closids);
    for (const auto& [resource, info] : bandwidths) least = std::min(least, info.num_closids);
    return least;
  }
};

}  // namespace rdtd
