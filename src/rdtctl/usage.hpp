// What the groups use of cache and bandwidth, from two readings of resctrl's counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/model/counters.hpp"
#include "rdtd/resctrl/tree.hpp"

namespace rdtd {

struct Reading {
  std::chrono::steady_clock::time_point at;
  std::vector<DomainCounters> counters;
};

[[nodiscard]] Result<Reading> read_usage(const Tree& tree);

// Of one group, on one domain or on all of them. Unknown values are absent.
struct Usage {
  std::string group;                   // label; "GROUP/MON_GROUP" for a monitoring group
  std::string directory;               // of its files, below the root of resctrl
  std::optional<DomainId> domain;      // absent: all
  std::optional<uint64_t> occupancy;   // bytes
  std::optional<double> total, local;  // bytes a second
};

enum class Domains { summed, apart };

// Rates from `before`, where the group was there already. Rows in the order of the later reading.
[[nodiscard]] std::vector<Usage> usage_between(const Reading& before, const Reading& now,
                                               Domains domains);

// "12.5 MiB/s", "-" where it is not known.
[[nodiscard]] std::string rate_text(std::optional<double> bytes_per_second);
[[nodiscard]] std::string occupancy_text(std::optional<uint64_t> bytes);

}  // namespace rdtd
