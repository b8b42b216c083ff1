// Series: a recording as curves, one for each group and domain. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/observe/recording.hpp"

namespace rdtd::observe {

// Absent: a gap. The kernel had no number, the domain was offline, or the group was not there.
using Curve = std::vector<std::optional<double>>;

struct Series {
  std::string group;     // directory
  std::string resource;  // as of DomainCounters
  DomainId domain{};
  Curve occupancy;  // bytes
  Curve traffic;    // bytes/s
};

// `points`: how many parts the time of the recording is divided into; each has the mean of its
// samples. At least 1. In the order of the rows of the samples; those that come later at the end.
[[nodiscard]] std::vector<Series> series_of(const std::vector<Sample>& samples, size_t points);

struct Extent {
  double least = 0, mean = 0, most = 0;
};
// Nothing if it is one gap.
[[nodiscard]] std::optional<Extent> extent_of(const Curve& curve);

}  // namespace rdtd::observe
