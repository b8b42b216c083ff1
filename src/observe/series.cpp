#include "rdtd/observe/series.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace rdtd::observe {

namespace {

constexpr const char* occupancy_counter = "llc_occupancy";
constexpr const char* traffic_counter = "mbm_total_bytes";

std::optional<double> number(const DomainCounters& of, const char* counter) {
  const auto found = of.counters.find(counter);
  if (found == of.counters.end()) return std::nullopt;
  if (const auto* integer = std::get_if<uint64_t>(&found->second))
    return static_cast<double>(*integer);
  if (const auto* decimal = std::get_if<double>(&found->second)) return *decimal;
  return std::nullopt;
}

// The mean of what was added in each part.
class Means {
 public:
  explicit Means(size_t points) : sums_(points), counts_(points) {}
  void add(size_t point, double value) {
    sums_[point] += value;
    counts_[point]++;
  }
  [[nodiscard]] Curve curve() const {
    Curve out(sums_.size());
    for (size_t i = 0; i < out.size(); ++i)
      if (counts_[i] > 0) out[i] = sums_[i] / static_cast<double>(counts_[i]);
    return out;
  }

 private:
  std::vector<double> sums_;
  std::vector<size_t> counts_;
};

struct Collected {
  const DomainCounters* first = nullptr;
  Means occupancy, traffic;
  std::optional<double> bytes;  // at the sample before
};

using Place = std::tuple<std::string_view, std::string_view, DomainId>;

}  // namespace

std::vector<Series> series_of(const std::vector<Sample>& samples, size_t points) {
  std::map<Place, size_t> known;
  std::vector<Collected> collected;
  if (samples.empty()) return {};
  const uint64_t begin = samples.front().monotonic_usec;
  const double length = static_cast<double>(samples.back().monotonic_usec - begin) + 1;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    const double part = static_cast<double>(sample.monotonic_usec - begin) / length;
    const size_t point =
        std::min(points - 1, static_cast<size_t>(part * static_cast<double>(points)));
    const double seconds =
        i == 0 ? 0
               : static_cast<double>(sample.monotonic_usec - samples[i - 1].monotonic_usec) / 1e6;
    std::vector<bool> seen(collected.size());
    for (const DomainCounters& of : sample.counters) {
      const auto [place, is_new] =
          known.emplace(Place{of.group, of.resource, of.domain}, collected.size());
      if (is_new) {
        collected.push_back({&of, Means(points), Means(points), {}});
        seen.push_back(false);
      }
      Collected& to = collected[place->second];
      seen[place->second] = true;
      if (const auto bytes = number(of, occupancy_counter)) to.occupancy.add(point, *bytes);
      const auto bytes = number(of, traffic_counter);
      // A counter starts again if its RMID is given to another group.
      if (bytes && to.bytes && *bytes >= *to.bytes && seconds > 0)
        to.traffic.add(point, (*bytes - *to.bytes) / seconds);
      to.bytes = bytes;
    }
    for (size_t k = 0; k < seen.size(); ++k)
      if (!seen[k]) collected[k].bytes.reset();
  }
  std::vector<Series> out;
  for (const Collected& of : collected)
    out.push_back({of.first->group, of.first->resource, of.first->domain, of.occupancy.curve(),
                   of.traffic.curve()});
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
