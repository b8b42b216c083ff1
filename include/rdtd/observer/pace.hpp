// When the observer takes its samples, and what it keeps in mind between two of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rdtd {

// All in microseconds of CLOCK_MONOTONIC: the sample was due, began and ended then. The next one is
// due at a multiple of the interval after that, so that after a stall none follows at once: a rate
// over some milliseconds would weigh as much as any other. One that takes long leaves some out:
// each read holds the kernel's lock, which the daemon's writes wait for.
[[nodiscard]] uint64_t next_sample_usec(uint64_t due, uint64_t begin, uint64_t end,
                                        uint64_t interval);

// The events between two samples.
class Marks {
 public:
  void add(std::string mark);
  // Those since the last call.
  [[nodiscard]] std::vector<std::string> take();

 private:
  std::vector<std::string> marks_;
  size_t left_out_ = 0;
};

}  // namespace rdtd
