// RecentReadings: the last readings of each row of `top`, for its sparklines.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "usage.hpp"

namespace rdtd {

class RecentReadings {
 public:
  static constexpr size_t kept = 60;

  // The rows of one reading. What has no row in it is forgotten.
  void add(const std::vector<Usage>& rows);
  // The last `count` readings of the row, the newest at the end; blanks in front of the first one.
  [[nodiscard]] std::vector<std::optional<double>> of(const Usage& row, size_t count) const;
  // The counter of the readings: the traffic, or the occupancy if no group's traffic is counted.
  [[nodiscard]] const char* counter() const;

 private:
  using Place = std::pair<std::string, std::optional<std::pair<std::string, DomainId>>>;

  bool traffic_ = false;
  std::map<Place, std::vector<std::optional<double>>> readings_;
};

}  // namespace rdtd
