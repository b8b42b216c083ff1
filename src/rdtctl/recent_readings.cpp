#include "recent_readings.hpp"

#include <algorithm>

namespace rdtd {

const char* RecentReadings::counter() const {
  return traffic_ ? traffic_counter : occupancy_counter;
}

void RecentReadings::add(const std::vector<Usage>& rows) {
  if (!traffic_ && std::ranges::any_of(rows, [](const Usage& row) {
        return row.counters.contains(traffic_counter);
      })) {
    traffic_ = true;
    readings_.clear();
  }
  std::map<Place, std::vector<std::optional<double>>> next;
  for (const Usage& row : rows) {
    const Place place{row.directory, row.domain};
    auto& values = next[place];
    if (const auto before = readings_.find(place); before != readings_.end())
      values = std::move(before->second);
    values.push_back(row.of(counter()).amount);
    if (values.size() > kept) values.erase(values.begin());
  }
  readings_ = std::move(next);
}

std::vector<std::optional<double>> RecentReadings::of(const Usage& row, size_t count) const {
  std::vector<std::optional<double>> out(count);
  const auto found = readings_.find({row.directory, row.domain});
  if (found == readings_.end()) return out;
  const auto& values = found->second;
  const size_t shown = std::min(count, values.size());
  std::copy(values.end() - static_cast<ptrdiff_t>(shown), values.end(),
            out.end() - static_cast<ptrdiff_t>(shown));
  return out;
}

}  // namespace rdtd
