#include "rdtd/observe/series.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rdtd::observe {

std::optional<double> number_of(const DomainCounters& row, const char* counter) {
  const auto found = row.counters.find(counter);
  if (found == row.counters.end()) return std::nullopt;
  if (const auto* integer = std::get_if<uint64_t>(&found->second))
    return static_cast<double>(*integer);
  if (const auto* decimal = std::get_if<double>(&found->second)) return *decimal;
  return std::nullopt;
}

bool Jumps::is_jump(double rate, std::optional<double> measured) {
  constexpr double most_of_measured = 4;
  constexpr unsigned rates_believed = 3;
  const bool above = measured && rate > most_of_measured * *measured;
  above_ = above ? above_ + 1 : 0;
  return rate > most_rate || (above && above_ < rates_believed);
}

SeriesBuilder::SeriesBuilder(size_t points, double interval)
    : points_(std::max<size_t>(points, 1)),
      width_usec_(std::clamp(interval, 0.001, 3600.0) * 1e6) {}

// Nothing for more groups and domains than a machine has: a file may have any number.
SeriesBuilder::Collected* SeriesBuilder::collected(const DomainCounters& row) {
  constexpr size_t most = 10'000;
  if (collected_.size() >= most && !places_.contains({row.group, row.resource, row.domain}))
    return nullptr;
  const auto [place, is_new] =
      places_.emplace(std::tuple{row.group, row.resource, row.domain}, collected_.size());
  if (is_new) collected_.push_back({row.group, row.resource, row.domain, {}, {}, {}, {}});
  // Many curves have fewer points each, so that all of them together take no more memory.
  constexpr size_t most_points = 2'000'000;
  while (collected_.size() * points_ > most_points) points_ = (points_ + 1) / 2;
  return &collected_[place->second];
}

// Two parts become one.
void SeriesBuilder::double_width() {
  width_usec_ *= 2;
  const auto halve = [](std::vector<Sums>& parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const Sums part = std::exchange(parts[i], {});
      parts[i / 2].sum += part.sum;
      parts[i / 2].count += part.count;
    }
    parts.resize((parts.size() + 1) / 2);
  };
  for (Collected& of : collected_) {
    halve(of.occupancy);
    halve(of.traffic);
  }
  used_ = (used_ + 1) / 2;
}

void SeriesBuilder::add(const Header& header, const Sample& sample) {
  if (!begin_usec_) begin_usec_ = sample.monotonic_usec;
  // First, since new curves can change how many points there are.
  for (const DomainCounters& row : sample.counters) (void)collected(row);
  const auto since = static_cast<double>(sample.monotonic_usec - *begin_usec_);
  // A sample is due at the begin of its part, and comes a little earlier or later.
  auto part = static_cast<size_t>(std::llround(since / width_usec_));
  for (; part >= 2 * points_; part = static_cast<size_t>(std::llround(since / width_usec_)))
    double_width();
  used_ = std::max(used_, part + 1);
  const double seconds = last_usec_ && !sample.first
                             ? static_cast<double>(sample.monotonic_usec - *last_usec_) / 1e6
                             : 0;
  last_usec_ = sample.monotonic_usec;
  const auto add_to = [part](std::vector<Sums>& parts, double value) {
    if (parts.size() <= part) parts.resize(part + 1);
    parts[part].sum += value;
    parts[part].count++;
  };
  for (const DomainCounters& row : sample.counters) {
    Collected* of = collected(row);
    if (of == nullptr) continue;
    Collected& to = *of;
    if (const auto bytes = number_of(row, occupancy_counter)) add_to(to.occupancy, *bytes);
    const auto bytes = number_of(row, traffic_counter);
    // A counter starts again if its RMID is given to another group.
    const double rate = bytes && to.bytes && seconds > 0 ? (*bytes - *to.bytes) / seconds : -1;
    const auto measured = of_domain(header.ceilings, row.resource, row.domain);
    if (rate >= 0 && !to.jumps.is_jump(rate, measured)) add_to(to.traffic, rate);
    to.bytes = bytes;
  }
  if (sample.counters.size() == collected_.size()) return;
  std::set<std::tuple<std::string, std::string, DomainId>> here;
  for (const DomainCounters& row : sample.counters)
    here.emplace(row.group, row.resource, row.domain);
  for (Collected& of : collected_)
    if (!here.contains({of.group, of.resource, of.domain})) of.bytes.reset();
}

Curve SeriesBuilder::curve(const std::vector<Sums>& parts) const {
  const size_t length = std::min(points_, used_);
  std::vector<Sums> sums(length);
  for (size_t i = 0; i < parts.size(); ++i) {
    Sums& to = sums[i * length / used_];
    to.sum += parts[i].sum;
    to.count += parts[i].count;
  }
  Curve out(length);
  for (size_t i = 0; i < length; ++i)
    if (sums[i].count > 0) out[i] = sums[i].sum / static_cast<double>(sums[i].count);
  return out;
}

std::vector<Series> SeriesBuilder::series() const {
  std::vector<Series> out;
  for (const Collected& of : collected_)
    out.push_back({of.group, of.resource, of.domain, curve(of.occupancy), curve(of.traffic)});
  return out;
}

std::optional<Extent> extent_of(const Curve& curve) {
  std::optional<Extent> out;
  size_t count = 0;
  for (const auto& value : curve) {
    if (!value) continue;
    if (!out) out = Extent{*value, 0, *value};
    out->least = std::min(out->least, *value);
    out->most = std::max(out->most, *value);
    out->mean += *value;
    count++;
  }
  if (out) out->mean /= static_cast<double>(count);
  return out;
}

}  // namespace rdtd::observe
