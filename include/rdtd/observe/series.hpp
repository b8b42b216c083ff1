// Series: samples as curves, one for each group and domain. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
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

// A counter's number in a row of a sample; nothing if it has none.
[[nodiscard]] std::optional<double> number_of(const DomainCounters& row, const char* counter);

// Finds rates that are no traffic: the counter has jumped, as the sum of a control group does when
// a monitoring group is moved to it.
class Jumps {
 public:
  static constexpr double most_rate = 0x1p40;  // bytes/s: no domain of a machine carries more
  // Of each rate of a group, bytes/s. `measured`: what the domain can carry, if that is known. It
  // is not wrong by much, unless several rates in a row say so: a counter jumps once.
  [[nodiscard]] bool is_jump(double rate, std::optional<double> measured);

 private:
  unsigned above_ = 0;
};

// Takes samples one by one, of any number: its memory is that of the curves. It keeps means of
// equal parts of the time so far, which become twice as long whenever there are too many.
class SeriesBuilder {
 public:
  // `points`: at most so many each curve has, at least 1. `interval`: seconds between samples.
  SeriesBuilder(size_t points, double interval);
  // In the order of monotonic_usec. `header`: of the recording that the sample is of.
  void add(const Header& header, const Sample& sample);
  // In the order of the rows of the samples; those that come later at the end.
  [[nodiscard]] std::vector<Series> series() const;

 private:
  struct Sums {
    double sum = 0;
    size_t count = 0;
  };
  struct Collected {
    std::string group, resource;
    DomainId domain{};
    std::vector<Sums> occupancy, traffic;
    std::optional<double> bytes;  // at the sample before
    Jumps jumps;
  };
  [[nodiscard]] Collected* collected(const DomainCounters& row);
  void double_width();
  [[nodiscard]] Curve curve(const std::vector<Sums>& parts) const;

  size_t points_;
  double width_usec_;
  std::optional<uint64_t> begin_usec_, last_usec_;
  size_t used_ = 0;  // parts so far
  std::map<std::tuple<std::string, std::string, DomainId>, size_t> places_;
  std::vector<Collected> collected_;
};

struct Extent {
  double least = 0, mean = 0, most = 0;
};
// Nothing if it is one gap.
[[nodiscard]] std::optional<Extent> extent_of(const Curve& curve);

}  // namespace rdtd::observe
