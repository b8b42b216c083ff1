#include <algorithm>
#include <utility>
#include <vector>

#include "domain_watch.hpp"

namespace rdtd::observe {

namespace {

constexpr double loud_factor = 1.5;
constexpr size_t means_for_ceiling = 3, means_for_another = 90;
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

void HighMeans::Hour::add(double mean) {
  for (double& one : highest)
    if (mean > one) std::swap(one, mean);
}

void HighMeans::add(uint64_t monotonic_usec, double mean) {
  const uint64_t now = monotonic_usec / hour_usec;
  if (hours_.empty() || hours_.back().number != now) hours_.push_back({.number = now});
  while (hours_.front().number + hours_kept < now) hours_.pop_front();
  hours_.back().add(mean);
  count_++;
}

// The more there are, the more of them may be wrong; but a domain that was busy for a minute only
// has shown what it can carry.
std::optional<double> HighMeans::most() const {
  if (count_ < means_for_ceiling) return std::nullopt;
  Hour all;
  for (const Hour& hour : hours_)
    for (const double mean : hour.highest) all.add(mean);
  return all.highest[std::min(1 + count_ / means_for_another, all.highest.size() - 1)];
}

// A lower quartile, so that a neighbour that is on for half of the time is loud when it is on.
double Track::usual() const { return all.size() >= 5 ? *all.quantile(0.25) : 0; }

bool Track::loud() const { return rate && *rate > loud_factor * usual() + loud_floor; }

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

void Track::accept() {
  if (!recent.empty()) accepted = std::max(accepted, least(traffic));
}

}  // namespace rdtd::observe
