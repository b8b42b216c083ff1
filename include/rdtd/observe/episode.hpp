// Episode: a time in which what some groups took of a cache or of the bandwidth was missing for
// others in the same domain. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/model/resource.hpp"

namespace rdtd::observe {

enum class Contention {
  cache,      // a group lost cache to another one that may fill the same ways
  bandwidth,  // the traffic of the domain was near its ceiling, or grew at the cost of others
  none        // a group lost cache, but nobody else may fill its ways: nobody is to blame
};
[[nodiscard]] std::string_view to_string(Contention kind);

// A group in an episode: its figures just before it, and in it.
struct Part {
  std::string group;                                  // directory
  double occupancy_before = 0, occupancy_during = 0;  // bytes
  double traffic_before = 0, traffic_during = 0;      // bytes/s
};

struct Episode {
  Contention kind = Contention::cache;
  std::string resource;  // "L3"
  DomainId domain{};
  uint64_t begin_usec = 0, end_usec = 0;  // CLOCK_REALTIME
  double seconds_to_show = 0;             // how long it took until it showed
  std::vector<Part> takers, sufferers;    // who took most first; one sufferer
  double traffic = 0;                     // bytes/s of all groups, when it showed
  double ceiling = 0;                     // bytes/s that it can carry; 0: not known yet
  bool measured = false;                  // the ceiling; else it is the most that was seen
};

// One sentence: who took what from whom, with figures.
[[nodiscard]] std::string sentence(const Episode& episode);
// "3.1 MiB", "512 KiB"; "6.2 GiB/s", "12.5 MiB/s".
[[nodiscard]] std::string bytes_text(double bytes);
[[nodiscard]] std::string rate_text(double bytes_per_second);

}  // namespace rdtd::observe
