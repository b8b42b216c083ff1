// TaskCounts: how many threads are in each group. The kernel looks at every thread of the machine
// for each group that is counted, so requests that follow one another share the counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rdtd/bus/manager_interface.hpp"

namespace rdtd {

class TaskCounts {
 public:
  static constexpr uint64_t max_age = 200'000;  // microseconds

  explicit TaskCounts(ManagerInterface& manager) : manager_(manager) {}
  // `now` is in microseconds and never decreases.
  [[nodiscard]] uint32_t in(const std::string& group, uint64_t now);

 private:
  ManagerInterface& manager_;
  std::map<std::string, uint32_t> counts_;
  uint64_t begun_ = 0;  // when the oldest count was taken, microseconds
};

}  // namespace rdtd
