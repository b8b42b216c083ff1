#include <algorithm>
#include <vector>

#include "domain_watch.hpp"

namespace rdtd::observe {

namespace {

constexpr double loud_factor = 1.5;
constexpr size_t means_for_ceiling = 3;
constexpr uint64_t hour_usec = 3600 * uint64_t{1'000'000}, hours_kept = 24;

}  // namespace

void Window::add(double value) {
  values_.push_back(value);
  if (values_.size() > length_) values_.pop_front();
}

std::optional<double> Window::quantile(double part) const {
  if (values_.empty()) return std::nullopt;
  std::vector<double> sorted(values_.begin(), values_.end());
  const auto at = static_cast<ptrdiff_t>(part * static_cast<double>(sorted.size() - 1));
  std::ranges::nth_element(sorted, sorted.begin() + at);
  return sorted[static_cast<size_t>(at)];
}

void HighMeans::add(uint64_t monotonic_usec, double mean) {
  const uint64_t now = monotonic_usec / hour_usec;
  if (hours_.empty() || hours_.back().number != now) hours_.push_back({.number = now});
  while (hours_.front().number + hours_kept < now) hours_.pop_front();
  Hour& hour = hours_.back();
  hour.second = std::max(hour.second, std::min(hour.highest, mean));
  hour.highest = std::max(hour.highest, mean);
  count_++;
}

std::optional<double> HighMeans::most() const {
  if (count_ < means_for_ceiling) return std::nullopt;
  Hour all;
  for (const Hour& hour : hours_)
    for (const double mean : {hour.highest, hour.second}) {
      all.second = std::max(all.second, std::min(all.highest, mean));
      all.highest = std::max(all.highest, mean);
    }
  return all.second;
}

bool Track::loud() const {
  const double usual = all.size() >= 5 ? *all.quantile(0.25) : 0;
  return rate && *rate > loud_factor * usual + loud_floor;
}

std::optional<double> Track::baseline() const {
  return quiet.size() >= 3 ? quiet.quantile(0.5) : std::nullopt;
}

double Track::least(double Point::* figure) const {
  const Point& last = recent.back();
  return recent.size() < 2 ? last.*figure
                           : std::min(last.*figure, recent[recent.size() - 2].*figure);
}

double Track::most(double Point::* figure) const {
  const Point& last = recent.back();
  return recent.size() < 2 ? last.*figure
                           : std::max(last.*figure, recent[recent.size() - 2].*figure);
}

void Track::forget() {
  bytes.reset();
  rate.reset();
  recent.clear();
}

}  // namespace rdtd::observe
