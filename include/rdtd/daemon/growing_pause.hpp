// GrowingPause: when what failed is tried again. Each pause is twice as long as the one before, up
// to a limit.
#pragma once

#include <algorithm>
#include <chrono>

namespace rdtd {

class GrowingPause {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // RMIDs leave limbo some seconds after the last task of their group at the latest. Who has the
  // device of a region open may close it at any time.
  static constexpr std::chrono::seconds shortest{5}, longest{300};

  void begin(Time now) {
    length_ = std::clamp(2 * length_, shortest, longest);
    end_ = now + length_;
  }
  [[nodiscard]] bool has_begun() const { return length_.count() > 0; }
  [[nodiscard]] bool is_over(Time now) const { return now >= end_; }
  [[nodiscard]] Time end() const { return end_; }

 private:
  std::chrono::seconds length_{};
  Time end_{};
};

}  // namespace rdtd
