// The status of its guard that rdtd-observer has on D-Bus. Plain values, for both sides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rdtd {

// The lease by which the guard's amounts are in force.
inline constexpr const char* guard_lease_name = "guard";

// Traffic of a group that was seen at an amount.
struct GuardSeen {
  double amount = 0, bytes_per_second = 0;
};

// The amount of bandwidth of a group in a domain, and the range that it stays in.
struct GuardAmount {
  std::string group, resource;
  uint32_t domain = 0;
  std::string unit;  // "percent", "bytes_per_second"
  double amount = 0, least = 0, most = 0;
  std::string state;  // why it is left as it is; "" if it may be changed
  std::vector<GuardSeen> seen;
};

struct GuardStepRow {
  uint64_t time_usec = 0;  // CLOCK_REALTIME
  std::string mode;        // "shadow", "on"
  std::string text;        // one sentence with the figures
};

// Steps since rdtd-observer was started.
struct GuardCount {
  std::string group, resource;
  uint32_t domain = 0;
  std::string direction;  // "cut", "give_back"
  std::string mode;
  uint64_t steps = 0;
};

struct GuardStatus {
  std::string mode;     // "off", "shadow", "on"
  std::string problem;  // why it takes no step now, or why its amounts are not in force
  std::vector<GuardAmount> amounts;
  std::vector<GuardStepRow> steps;  // the last ones, the oldest first
  std::vector<GuardCount> counts;
};

}  // namespace rdtd
