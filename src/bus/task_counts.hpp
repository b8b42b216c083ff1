// TaskCounts: how many threads are in each group. The kernel looks at every thread of the machine
// for each group that is counted, so requests that follow one another share the counts: for longer
// if counting takes long.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "accounts.hpp"
#include "rdtd/bus/reads.hpp"

namespace rdtd {

class TaskCounts {
 public:
  using Clock = uint64_t (*)();                   // microseconds; never decreases
  static constexpr uint64_t least_age = 200'000;  // microseconds
  // Counting takes no more than one part of so many of the time.
  static constexpr uint64_t parts = 10;

  explicit TaskCounts(Reads& reads, Clock now = monotonic_now) : reads_(reads), now_(now) {}
  [[nodiscard]] uint32_t in(const std::string& group);

 private:
  Reads& reads_;
  Clock now_;
  std::map<std::string, uint32_t> counts_;
  uint64_t begun_ = 0;  // when the oldest count was taken, microseconds
  uint64_t took_ = 0;   // all of them, microseconds
};

}  // namespace rdtd
