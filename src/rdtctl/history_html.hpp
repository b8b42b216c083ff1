// The pictures of `history` as a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contention.hpp"
#include "rdtd/observe/series.hpp"

namespace rdtd {

// Of a recording, from one pass over its samples.
struct History {
  struct Mark {
    uint64_t time_usec = 0;
    double seconds = 0;  // from the first sample; the clock may have been set since
    std::string text;
  };
  ReadRecording read;
  std::vector<observe::Series> coarse, fine;  // for the terminal or JSON, and for the pictures
  std::vector<Mark> marks;                    // the last ones
  size_t marks_before = 0;                    // how many others there were
  uint64_t begin_usec = 0;                    // CLOCK_BOOTTIME of the first sample
  double seconds = 0;                         // from the first sample to the last
};

// Of more, the terminal has the last ones and the number of the others, and the pictures have none.
inline constexpr size_t marks_shown = 20;

// For each domain what the groups had of the cache, one above the other, and their traffic with
// the ceiling of the domain; marks and episodes on the same axis. `origin`: see origin_of().
[[nodiscard]] std::string history_html(const History& history, FoundContention found,
                                       const std::string& origin);

}  // namespace rdtd
