// The episodes of contention that rdtd-observer has on D-Bus. Plain values, for both sides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rdtd {

struct EpisodeRow {
  std::string kind;      // "cache", "bandwidth", "none": nobody is to blame
  std::string resource;  // "L3"
  uint32_t domain = 0;
  uint64_t begin_usec = 0, end_usec = 0;       // CLOCK_REALTIME
  bool running = false;                        // it has not ended
  std::vector<std::string> takers, sufferers;  // groups, "GROUP" or "GROUP/MON_GROUP"
  std::string text;                            // one sentence with the figures
};

// Of one pair of groups, since rdtd-observer was started.
struct ContentionCount {
  std::string resource;
  uint32_t domain = 0;
  std::string kind, taker, sufferer;
  uint64_t episodes = 0;
  double seconds = 0;
};

}  // namespace rdtd
