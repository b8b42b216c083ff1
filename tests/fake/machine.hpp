// Machine: the hardware and the kernel release below a fake::Resctrl, as plain values. A test sets
// the fields that it is about; the functions below give whole machines to start from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rdtd/model/cbm.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/model/resource.hpp"

namespace rdtd::fake {

struct Domain {
  CpuSet cpus;                // online or not; the domain exists while one of them is online
  uint64_t way_bytes = 0;     // caches
  bool without_cpus = false;  // a node with memory only: always there
};

enum class Unit {
  percent,
  mbps,    // mounted with mba_MBps
  eighths  // AMD: 1/8 GB/s
};

// One row of `schemata`.
struct Control {
  unsigned num_closids = 16;
  std::map<DomainId, Domain> domains;
  // Caches; empty for the others.
  Cbm cbm_mask;
  unsigned min_cbm_bits = 1;
  Cbm shareable_bits;
  bool sparse_masks = false;
  bool io_alloc = false;  // of the L3 cache: Linux 6.19 on a processor that can
  // MB and SMBA.
  Unit unit = Unit::percent;
  unsigned bandwidth_gran = 10;
  unsigned min_bandwidth = 10;
  bool delay_linear = true;
  unsigned fraction_bits = 0;     // MPAM keeps a percentage as so many bits; 0: as it is
  bool cuts_percentages = false;  // and as some vendors' kernels do
  uint32_t most_eighths = 2048;   // newer processors have more
  // Rows that are no constants of Resource: numbers from min_bandwidth to `most` in steps of
  // bandwidth_gran, or masks. A new group has `initial`.
  uint32_t most = 100;
  uint32_t initial = 0;
  std::string described_in;      // "MB": by info/MB/resource_schemata/NAME; empty: by info/NAME
  std::string unit_name, scope;  // in that description
  bool says_steps = false;       // info/NAME has bandwidth_gran and min_bandwidth
  // AMD's limit of a node in GB/s: this row reads as no more than it. Empty: it bounds none.
  std::string bounds;

  // No restriction: all ways, or the highest bandwidth.
  [[nodiscard]] uint32_t unlimited() const;
};

// Behaviour that differs between kernels.
struct Release {
  // "MB:0=  100" and "L3:0=0000f"; until 6.15, and never on Haswell servers.
  bool pads_values = true;
  // Under mba_MBps a value is rounded up to a multiple of bandwidth_gran and cut to 32 bits, so
  // that 4294967295 becomes 4; before 6.13, not in 6.12.y.
  bool rounds_rates = false;
  bool has_mba_mbps_event = false;  // since 6.14, under mba_MBps: the event that groups go by
  bool every_command_clears_status = false;  // until at least 6.12, mkdir and writes to cpus append
};

struct Machine {
  std::map<Resource, Control> controls;  // with CDP, L3CODE and L3DATA instead of L3
  unsigned num_rmids = 0;                // 0: no monitoring
  // MPAM: each CLOSID has so many RMIDs of its own, whatever num_rmids says; 0: all share them.
  unsigned pmgs = 0;
  std::vector<std::string> mon_features;
  std::map<DomainId, CpuSet> mon_domains;
  // Counters of each domain that are assigned to MBM events (mbm_event mode); 0: each event counts.
  unsigned num_mbm_cntrs = 0;
  bool mbm_assign_on_mkdir = true;
  CpuSet cpus;
  bool pseudo_locking = false;  // the processor's model is one that the kernel knows
  unsigned name_width = 6;      // of the names in `schemata` and `size`
  // Constant files below info/ that no field above describes: "MB/thread_throttle_mode".
  std::map<std::string, std::string> more_info;
  Release release;
};

// A server with `sockets` sockets of two CPUs: L3 of `ways` ways of 64 KiB and 16 CLOSIDs, MB in
// steps of 10% with 8 CLOSIDs, 64 RMIDs.
[[nodiscard]] Machine xeon(unsigned sockets = 2, unsigned ways = 20);
// Two L2 caches of two CPUs: 8 ways of 512 KiB, 4 CLOSIDs, pseudo-locking, and nothing else.
[[nodiscard]] Machine atom();
// One socket of four CPUs: sparse L3 masks that may be empty, MB and SMBA in 1/8 GB/s.
[[nodiscard]] Machine amd();
// The machine with io_alloc.
[[nodiscard]] Machine with_io_alloc(Machine machine);
// The machine mounted with `cdp`: L3 is split, and has half of its CLOSIDs.
[[nodiscard]] Machine with_cdp(Machine machine);
// The machine mounted with `mba_MBps`.
[[nodiscard]] Machine with_mbps(Machine machine);

}  // namespace rdtd::fake
