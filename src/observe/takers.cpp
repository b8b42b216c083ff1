// The groups that can have taken something, and from which group.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "domain_watch.hpp"

namespace rdtd::observe {

namespace {

constexpr double lost_part = 0.1;          // of what a group was granted
constexpr double lost_bytes = 512 * 1024;  // where the kernel does not tell how much that is
constexpr double active_part = 0.05, fallen = 0.9;
constexpr unsigned high_samples = 3;
// Each takes at least a quarter of what is lost: where the figures are of a machine, few can.
constexpr size_t most_takers = 16;

bool is_sure(const Track& track) { return track.recent.size() >= 3; }

using PointAt = std::deque<Track::Point>::const_iterator;

// The cache that the group had both at this point and at the one before it. A group that begins to
// work may fill more for a moment than it can keep: that was never its own.
double held(PointAt point) { return std::min((point - 1)->occupancy, point->occupancy); }

// The last point before the last two at which the group held about the most cache, if there are
// two of them.
std::optional<PointAt> peak_of(const Track& track) {
  const PointAt first = track.recent.begin() + 1, end = track.recent.end() - 2;
  if (first >= end) return std::nullopt;
  double most = 0;
  for (PointAt point = first; point != end; ++point) most = std::max(most, held(point));
  PointAt peak = end - 1;
  while (peak != first && held(peak) < 0.95 * most) --peak;
  return peak;
}

}  // namespace

bool DomainWatch::others_share(const std::string& victim) const {
  const auto& ways = groups_.at(victim).amounts.ways;
  return !ways || (*ways & io_ways_) != 0 || std::ranges::any_of(groups_, [&](const auto& other) {
    return other.first != victim &&
           (!other.second.amounts.ways || (*other.second.amounts.ways & *ways) != 0);
  });
}

// Those that may fill the same ways, and gained while the victim lost: together at least half of
// it, each at least a quarter.
std::vector<Part> DomainWatch::cache_takers(const std::string& victim, uint64_t since,
                                            double lost) const {
  const auto& ways = groups_.at(victim).amounts.ways;
  std::vector<Part> out;
  double gained = 0;
  for (const auto& gainer : gainers_) {
    const auto& [name, track] = *gainer;
    if (name == victim || !ways || !track.amounts.ways || (*track.amounts.ways & *ways) == 0 ||
        takes_from(victim, name))
      continue;
    const auto begin = std::ranges::find_if(
        track.recent, [&](const Track::Point& point) { return point.monotonic_usec >= since; });
    const double gain = track.least(occupancy) - begin->occupancy;
    if (gain < lost / 4) continue;
    gained += gain;
    out.push_back(
        {name, begin->occupancy, track.least(occupancy), begin->traffic, track.least(traffic)});
  }
  if (gained < lost / 2) return {};
  std::ranges::sort(out, std::greater{},
                    [](const Part& part) { return part.occupancy_during - part.occupancy_before; });
  if (out.size() > most_takers) out.erase(out.begin() + most_takers, out.end());
  return out;
}

// Only they can have taken something, from whomever.
void DomainWatch::find_gainers() {
  gainers_.clear();
  for (auto group = groups_.cbegin(); group != groups_.cend(); ++group) {
    const Track& track = group->second;
    if (is_sure(track) && std::ranges::any_of(track.recent, [&](const Track::Point& point) {
          return point.occupancy < track.least(occupancy);
        }))
      gainers_.push_back(group);
  }
}

// The bytes that the ways of the group hold; infinity if that is not known.
double DomainWatch::granted(const Track& track) const {
  return way_bytes_ && track.amounts.ways
             ? static_cast<double>(*way_bytes_) * std::popcount(*track.amounts.ways)
             : std::numeric_limits<double>::infinity();
}

void DomainWatch::find_cache() {
  find_gainers();
  for (const auto& [name, track] : groups_) {
    if (!is_sure(track) || track.unsettled > 0 || !suffers(track) || is_sufferer(name)) continue;
    const auto found_peak = peak_of(track);
    if (!found_peak) continue;
    const PointAt& peak = *found_peak;
    // Cache that a group has in ways that its mask no longer has stays there until others fill
    // them, but the group has no right to it.
    const double granted = this->granted(track), had = std::min(held(peak), granted);
    const double lost = had - track.most(occupancy);
    const double least = std::isfinite(granted) ? lost_part * granted : lost_bytes;
    if (lost <= least) continue;
    const uint64_t took_usec = monotonic_usec_ - peak->monotonic_usec;
    Episode episode{Contention::cache, resource_, domain_, now_usec_ - took_usec, now_usec_};
    episode.seconds_to_show = static_cast<double>(took_usec) / 1e6;
    episode.traffic = total_;
    episode.sufferers = {
        {name, had, track.most(occupancy), *track.baseline(), track.least(traffic)}};
    episode.takers = cache_takers(name, peak->monotonic_usec, lost);
    if (episode.takers.empty() && others_share(name)) continue;
    if (episode.takers.empty()) episode.kind = Contention::none;
    found(std::move(episode));
  }
}

// Those that have more than usual, who grew most first.
std::vector<DomainWatch::Grown> DomainWatch::grown() const {
  std::vector<Grown> out;
  for (auto group = groups_.cbegin(); group != groups_.cend(); ++group) {
    const Track& track = group->second;
    if (is_sure(track) && track.loud())
      out.push_back({group, track.least(traffic) - track.usual()});
  }
  std::ranges::stable_sort(out, std::greater{}, &Grown::growth);
  return out;
}

// Those that grew while the victim lost: together by at least half of it. Who suffers itself is
// left out: a group whose cache is taken has more traffic because of that.
std::vector<Part> DomainWatch::bandwidth_takers(const std::string& victim,
                                                const std::vector<Grown>& grown,
                                                double lost) const {
  std::vector<Part> out;
  double gained = 0, least = lost / 4;
  for (const auto& [group, growth] : grown) {
    const auto& [name, track] = *group;
    if (growth < least || out.size() == most_takers) break;
    if (name == victim || is_sufferer(name) || takes_from(victim, name)) continue;
    if (out.empty()) least = std::max(least, growth / 4);
    gained += growth;
    out.push_back({name, track.least(occupancy), track.least(occupancy), track.usual(),
                   track.least(traffic)});
  }
  if (gained < lost / 2) return {};
  return out;
}

// Near the most that was ever seen, and somebody who goes on working has less than it used to have.
void DomainWatch::find_bandwidth() {
  const auto ceiling = this->ceiling();
  high_ = ceiling && total_ >= near_ceiling * *ceiling && total_ > loud_floor ? high_ + 1 : 0;
  if (high_ < high_samples || counted_ < 2) return;
  const std::vector<Grown> grown = this->grown();
  if (grown.empty()) return;
  Episode episode{Contention::bandwidth, resource_, domain_, now_usec_, now_usec_};
  episode.traffic = total_;
  episode.ceiling = std::max(*ceiling, total_);
  episode.measured = measured_ceiling_ && *measured_ceiling_ >= episode.ceiling;
  for (const auto& [name, track] : groups_) {
    if (!is_sure(track) || is_sufferer(name)) continue;
    const auto baseline = track.baseline();
    if (!baseline || *baseline <= active_part * total_ || track.most(traffic) >= fallen * *baseline)
      continue;
    if (track.least(traffic) <= std::max(idle_floor, idle_part * *baseline)) continue;
    episode.takers = bandwidth_takers(name, grown, *baseline - track.most(traffic));
    if (episode.takers.empty()) continue;
    episode.sufferers = {
        {name, track.least(occupancy), track.least(occupancy), *baseline, track.most(traffic)}};
    found(episode);
  }
}

}  // namespace rdtd::observe
