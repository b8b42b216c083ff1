// Capabilities: what this machine's resctrl offers, as its info/ directory reports it. Nothing is
// assumed: a limit that differs between processors is read. Each field is documented in
// Documentation/filesystems/resctrl.rst.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "rdtd/model/cbm.hpp"
#include "rdtd/model/control.hpp"
#include "rdtd/model/resource.hpp"

namespace rdtd {

// info/L3, info/L2 and their CODE and DATA forms.
struct CacheInfo {
  Cbm cbm_mask;  // all ways
  // The fewest ways that a mask may have. At least 1, although AMD reports 0 since Linux 6.1 and
  // then accepts an empty mask: no amount means no cache at all.
  unsigned min_cbm_bits = 1;
  Cbm shareable_bits;         // ways that I/O devices fill too
  bool sparse_masks = false;  // masks may have gaps
  bool io_alloc = false;      // the ways that I/O devices fill can be set
  unsigned num_closids = 0;
  std::map<DomainId, uint64_t> way_bytes;  // size of one way; 0 where the kernel does not tell
  bool operator==(const CacheInfo&) const = default;

  // The fewest ways that rdtd gives to any group: without a way a program runs from memory.
  [[nodiscard]] unsigned min_ways() const { return std::max(1U, min_cbm_bits); }
};

// The unit of the values in `schemata`: a percentage of the full bandwidth (Intel, Arm), MB/s
// (Intel mounted with mba_MBps) or eighths of GB/s (AMD).
enum class BandwidthUnit { percent, mbps, eighth_gbps };

[[nodiscard]] std::string_view to_string(BandwidthUnit unit);
// Bytes per second; 0 for percent.
[[nodiscard]] uint64_t unit_bytes(BandwidthUnit unit);

// The percentage that is read from the kernel after one was written, a multiple of bandwidth_gran.
// MPAM keeps it as a fraction of 2^bits, and its steps are what one of these is, rounded up: with
// six bits "10" reads "9" (percent_to_mbw_max and mbw_max_to_percent in
// drivers/resctrl/mpam_resctrl.c, Linux 7.1). With seven bits or more, and on all others, what was
// written is read.
[[nodiscard]] uint32_t percent_as_read(uint32_t written, unsigned bandwidth_gran);

// How far from what was written a percentage may read. Vendors' kernels with MPAM before Linux 7.1
// keep less than they take, each in its own way: "40" may read "38", and "100" "97". Their steps
// are the whole divided by 2^bits and rounded down; of these, others have only 1.
[[nodiscard]] uint32_t percent_slack(unsigned bandwidth_gran);
[[nodiscard]] constexpr uint32_t distance_of(uint32_t a, uint32_t b) {
  return a < b ? b - a : a - b;
}

// info/MB and info/SMBA.
struct BandwidthInfo {
  // The kernel rounds values up to multiples of it; before 6.13 MiB/s too.
  unsigned bandwidth_gran = 1;
  unsigned min_bandwidth = 0;  // in the unit, except that it does not apply to MiB/s
  unsigned num_closids = 0;
  BandwidthUnit unit = BandwidthUnit::percent;
  // The value that means no limit. Its keys are the domains.
  std::map<DomainId, uint32_t> unlimited;
  bool operator==(const BandwidthInfo&) const = default;
};

struct Capabilities {
  std::map<Resource, CacheInfo> caches;
  std::map<Resource, BandwidthInfo> bandwidths;
  std::map<Resource, Control> controls;  // the other rows of `schemata` that are made of numbers
  // The smallest one of those in info/: L3_MON, MB_MON, PERF_PKG_MON; nothing without monitoring.
  std::optional<unsigned> num_rmids;
  // Each CLOSID has RMIDs of its own (MPAM: the PMGs of a PARTID), so that a control group never
  // lacks one, and its monitoring groups cannot have those of others.
  bool rmids_per_closid = false;
  // Whether the kernel can lock memory into a cache of this processor; nothing if not known.
  std::optional<bool> pseudo_locking;
  bool operator==(const Capabilities&) const = default;

  // The RMIDs that all groups share, if they share them.
  [[nodiscard]] std::optional<unsigned> shared_rmids() const {
    return rmids_per_closid ? std::nullopt : num_rmids;
  }
  // The RMIDs of one CLOSID, if it has its own and the kernel says how many: older kernels do not
  // count those of all CLOSIDs.
  [[nodiscard]] std::optional<unsigned> rmids_of_closid() const {
    // `num_rmids` counts those of all PARTIDs. With code and data apart, a CLOSID has two of these.
    const bool codes =
        std::ranges::any_of(caches, [](const auto& cache) { return is_code_or_data(cache.first); });
    const uint64_t partids = uint64_t{num_closids()} * (codes ? 2 : 1);
    if (!rmids_per_closid || !num_rmids || *num_rmids < partids) return std::nullopt;
    return static_cast<unsigned>(*num_rmids / partids);
  }
  // percent_slack() of a row of `schemata`; 0 if it does not count percent.
  [[nodiscard]] uint32_t slack_of(const Resource& resource) const;
  // Then there is only the default group.
  [[nodiscard]] bool divides_nothing() const { return num_closids() == UINT32_MAX; }
  // Control groups that can exist at once, the default one included.
  [[nodiscard]] unsigned most_groups() const { return divides_nothing() ? 1 : num_closids(); }
  // The smallest num_closids of all resources; UINT32_MAX if there is none.
  [[nodiscard]] unsigned num_closids() const {
    unsigned least = UINT32_MAX;
    for (const auto& [resource, info] : caches) least = std::min(least, info.num_closids);
    for (const auto& [resource, info] : bandwidths) least = std::min(least, info.num_closids);
    for (const auto& [resource, info] : controls)
      least = std::min(least, info.num_closids.value_or(UINT32_MAX));
    return least;
  }
};

}  // namespace rdtd
