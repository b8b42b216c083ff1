#include "domain_watch.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "rdtd/observe/series.hpp"

namespace rdtd::observe {

namespace {

constexpr size_t recent_points = 10;
constexpr long settled_points = 4;
constexpr double lost_part = 0.1;          // of what a group was granted
constexpr double lost_bytes = 512 * 1024;  // where the kernel does not tell how much that is
constexpr double suffer_factor = 1.3, suffer_floor = 1 << 18;  // bytes/s
constexpr double near_ceiling = 0.8, active_part = 0.05, fallen = 0.9;
constexpr double mean_seconds = 10;
constexpr unsigned high_samples = 3, quiet_samples = 3, changes_of_stream = 3;
constexpr uint64_t excuse_usec = 60'000'000;
// Each takes at least a quarter of what is lost: where the figures are of a machine, few can.
constexpr size_t most_takers = 16;
constexpr size_t most_excused = 2000;

constexpr auto occupancy = &Track::Point::occupancy;
constexpr auto traffic = &Track::Point::traffic;

bool is_sure(const Track& track) { return track.recent.size() >= 3; }

// The last point before the last two at which the group had about the most cache.
std::deque<Track::Point>::const_iterator peak_of(const Track& track) {
  const auto end = track.recent.end() - 2;
  const double most = std::ranges::max_element(track.recent.begin(), end, {}, occupancy)->occupancy;
  auto peak = end - 1;
  while (peak != track.recent.begin() && peak->occupancy < 0.95 * most) --peak;
  return peak;
}

// The mean of the last points, if the group has had about the same cache in all of them: the
// traffic of one sample scatters.
std::optional<Track::Point> settled(const Track& track) {
  if (std::ssize(track.recent) < settled_points) return std::nullopt;
  const auto last = std::ranges::subrange(track.recent.end() - settled_points, track.recent.end());
  Track::Point out = track.recent.back();
  out.traffic = 0;
  for (const Track::Point& point : last) out.traffic += point.traffic / settled_points;
  const auto [least, most] = std::ranges::minmax(last, {}, &Track::Point::occupancy);
  return least.occupancy > 0.8 * most.occupancy ? std::optional(out) : std::nullopt;
}

}  // namespace

DomainWatch::DomainWatch(std::string resource, DomainId domain, std::optional<uint64_t> way_bytes,
                         uint64_t io_ways)
    : resource_(std::move(resource)), domain_(domain), way_bytes_(way_bytes), io_ways_(io_ways) {}

void DomainWatch::begin_sample(const Sample& sample, bool gap) {
  seconds_ = gap || monotonic_usec_ == 0
                 ? 0
                 : static_cast<double>(sample.monotonic_usec - monotonic_usec_) / 1e6;
  now_usec_ = sample.time_usec;
  monotonic_usec_ = sample.monotonic_usec;
  total_ = 0;
  counted_ = 0;
  for (auto& [name, track] : groups_) {
    track.rate.reset();
    track.seen = track.is_new = false;
    if (gap) track.forget();
  }
}

void DomainWatch::add(const DomainCounters& row, std::optional<uint64_t> ways) {
  Track& track = groups_[row.group];
  const auto bytes = number_of(row, traffic_counter);
  // Its RMID is another one, or a monitoring group is gone, whose traffic was part of the sum.
  if (bytes && track.bytes && *bytes < *track.bytes) track.forget();
  track.seen = true;
  track.ways = ways;
  if (bytes && track.bytes && seconds_ > 0) track.rate = (*bytes - *track.bytes) / seconds_;
  track.bytes = bytes;
  // A domain of memory has traffic only.
  const auto now = row.counters.contains(occupancy_counter) ? number_of(row, occupancy_counter)
                                                            : std::optional(0.0);
  if (!track.rate || !now) {
    track.recent.clear();
    return;
  }
  track.recent.push_back({monotonic_usec_, *now, *track.rate});
  if (track.recent.size() > recent_points) track.recent.pop_front();
  track.all.add(*track.rate);
  total_ += *track.rate;
  counted_++;
}

std::vector<Episode> DomainWatch::end_sample() {
  std::erase_if(groups_, [](const auto& group) { return !group.second.seen; });
  note_ceiling();
  note_quiet();
  find_cache();
  find_bandwidth();
  follow_streams();
  std::vector<Episode> ended;
  for (Running& running : running_) {
    if (lasts(running.episode)) {
      running.quiet = 0;
      running.episode.end_usec = now_usec_;
    } else if (++running.quiet >= quiet_samples) {
      ended.push_back(running.episode);
    }
  }
  std::erase_if(excused_,
                [&](const auto& last) { return last.second + excuse_usec <= monotonic_usec_; });
  if (ended.empty()) return ended;
  std::erase_if(running_, [](const Running& running) { return running.quiet >= quiet_samples; });
  sufferers_.clear();
  harmed_.clear();
  takes_.clear();
  for (const Running& running : running_) note_roles(running.episode);
  return ended;
}

std::vector<Episode> DomainWatch::running() const {
  std::vector<Episode> out;
  for (const Running& running : running_) out.push_back(running.episode);
  return out;
}

// The traffic of a group while no other one is loud and nothing is taken from it.
void DomainWatch::note_quiet() {
  const std::string* only = nullptr;
  size_t loud = 0;
  for (const auto& [name, track] : groups_)
    if (track.loud()) {
      only = &name;
      loud++;
    }
  for (auto& [name, track] : groups_) {
    const bool others_are_loud = loud > 1 || (loud == 1 && *only != name);
    if (track.rate && !others_are_loud && !is_sufferer(name)) track.quiet.add(*track.rate);
  }
}

void DomainWatch::note_ceiling() {
  if (seconds_ <= 0) return;
  sum_ += total_ * seconds_;
  sum_seconds_ += seconds_;
  if (sum_seconds_ < mean_seconds) return;
  means_.add(monotonic_usec_, sum_ / sum_seconds_);
  sum_ = sum_seconds_ = 0;
}

bool DomainWatch::suffers(const Track& track) const {
  const auto baseline = track.baseline();
  return baseline && track.least(traffic) > suffer_factor * *baseline + suffer_floor;
}

// Each group has a rate, unless it is new.
bool DomainWatch::is_whole() const {
  return seconds_ > 0 && std::ranges::all_of(groups_, [](const auto& group) {
           const Track& track = group.second;
           return track.bytes && (track.rate || track.is_new);
         });
}

// Who gets back what was taken from it takes nothing.
bool DomainWatch::takes_from(const std::string& taker, const std::string& sufferer) const {
  return takes_.contains({taker, sufferer});
}

bool DomainWatch::others_share(const std::string& victim) const {
  const auto& ways = groups_.at(victim).ways;
  return !ways || (*ways & io_ways_) != 0 || std::ranges::any_of(groups_, [&](const auto& other) {
    return other.first != victim && (!other.second.ways || (*other.second.ways & *ways) != 0);
  });
}

// Those that may fill the same ways, and gained while the victim lost: together at least half of
// it, each at least a quarter.
std::vector<Part> DomainWatch::takers_from(const std::string& victim, uint64_t since,
                                           double lost) const {
  const auto& ways = groups_.at(victim).ways;
  std::vector<Part> out;
  double gained = 0;
  for (const auto& gainer : gainers_) {
    const auto& [name, track] = *gainer;
    if (name == victim || !ways || !track.ways || (*track.ways & *ways) == 0 ||
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

void DomainWatch::find_cache() {
  find_gainers();
  for (const auto& [name, track] : groups_) {
    if (!is_sure(track) || !suffers(track) || is_sufferer(name)) continue;
    const auto peak = peak_of(track);
    const double lost = peak->occupancy - track.most(occupancy);
    const double least = way_bytes_ && track.ways ? lost_part * static_cast<double>(*way_bytes_) *
                                                        std::popcount(*track.ways)
                                                  : lost_bytes;
    if (lost <= least) continue;
    const uint64_t took_usec = monotonic_usec_ - peak->monotonic_usec;
    Episode episode{Contention::cache, resource_, domain_, now_usec_ - took_usec, now_usec_};
    episode.seconds_to_show = static_cast<double>(took_usec) / 1e6;
    episode.traffic = total_;
    episode.sufferers = {
        {name, peak->occupancy, track.most(occupancy), *track.baseline(), track.least(traffic)}};
    episode.takers = takers_from(name, peak->monotonic_usec, lost);
    if (episode.takers.empty() && others_share(name)) continue;
    if (episode.takers.empty()) episode.kind = Contention::none;
    found(std::move(episode));
  }
}

std::optional<double> DomainWatch::ceiling() const {
  if (measured_ceiling_) return measured_ceiling_;
  return means_.most();
}

DomainTraffic DomainWatch::domain_traffic() const {
  DomainTraffic out{resource_,  domain_, total_, ceiling(), measured_ceiling_.has_value(),
                    is_whole(), {}};
  for (const auto& [name, track] : groups_)
    out.groups[name] = {track.rate.value_or(0), "", harmed_.contains(name),
                        seconds_ > 0 && track.bytes && (track.rate || track.is_new), track.is_new};
  return out;
}

// Near the most that was ever seen, and somebody has less than it used to have.
void DomainWatch::find_bandwidth() {
  const auto ceiling = this->ceiling();
  high_ = ceiling && total_ >= near_ceiling * *ceiling && total_ > loud_floor ? high_ + 1 : 0;
  if (high_ < high_samples || counted_ < 2) return;
  const auto taker = std::ranges::max_element(
      groups_, {}, [](const auto& group) { return group.second.rate.value_or(0); });
  if (!taker->second.loud()) return;
  const Track& track = taker->second;
  if (!is_sure(track)) return;
  Episode episode{Contention::bandwidth, resource_, domain_, now_usec_, now_usec_};
  episode.traffic = total_;
  episode.measured = measured_ceiling_.has_value();
  episode.ceiling = episode.measured ? *ceiling : std::max(*ceiling, total_);
  episode.takers = {{taker->first, track.least(occupancy), track.least(occupancy),
                     track.recent.front().traffic, track.least(traffic)}};
  for (const auto& [name, other] : groups_) {
    if (!is_sure(other) || name == taker->first || is_sufferer(name)) continue;
    const auto baseline = other.baseline();
    if (!baseline || *baseline <= active_part * total_ || other.most(traffic) >= fallen * *baseline)
      continue;
    episode.sufferers = {
        {name, other.least(occupancy), other.least(occupancy), *baseline, other.most(traffic)}};
    found(episode);
  }
}

// That nobody is to blame is said once a minute.
void DomainWatch::found(Episode episode) {
  if (episode.kind == Contention::none) {
    if (excused_.size() >= most_excused) return;
    if (!excused_.emplace(episode.sufferers.front().group, monotonic_usec_).second) return;
  }
  note_roles(episode);
  running_.push_back({std::move(episode)});
}

void DomainWatch::note_roles(const Episode& episode) {
  for (const Part& sufferer : episode.sufferers) {
    sufferers_.insert(sufferer.group);
    // Where nobody is to blame, nobody can help by having less.
    if (episode.kind != Contention::none) harmed_.insert(sufferer.group);
    for (const Part& taker : episode.takers) takes_.emplace(taker.group, sufferer.group);
  }
}

// As long as a sufferer has not recovered, and the taker has not gone.
bool DomainWatch::lasts(const Episode& episode) const {
  if (episode.takers.empty()) return false;
  const auto still_takes = [&](const Part& part) {
    const auto found = groups_.find(part.group);
    if (found == groups_.end() || found->second.recent.empty()) return false;
    if (episode.kind == Contention::bandwidth)
      return found->second.most(traffic) > (part.traffic_before + part.traffic_during) / 2;
    return found->second.most(occupancy) > (part.occupancy_before + part.occupancy_during) / 2;
  };
  const auto still_suffers = [&](const Part& part) {
    const auto found = groups_.find(part.group);
    if (found == groups_.end() || found->second.recent.empty()) return false;
    if (episode.kind == Contention::bandwidth)
      return found->second.least(traffic) < (part.traffic_before + part.traffic_during) / 2;
    return suffers(found->second) &&
           found->second.least(occupancy) < (part.occupancy_before + part.occupancy_during) / 2;
  };
  return std::ranges::any_of(episode.takers, still_takes) &&
         std::ranges::any_of(episode.sufferers, still_suffers);
}

// A doubling or halving of its cache that leaves the traffic as it is, three times.
void DomainWatch::follow_streams() {
  for (auto& [name, track] : groups_) {
    if (!is_sure(track)) continue;
    const auto found = settled(track);
    if (!found || found->traffic < loud_floor) continue;
    const Track::Point& now = *found;
    if (!track.reference) track.reference = now;
    const Track::Point& then = *track.reference;
    const bool same_traffic = now.traffic > 0.9 * then.traffic && now.traffic < 1.1 * then.traffic;
    const bool changed = now.occupancy >= 2 * then.occupancy || now.occupancy <= then.occupancy / 2;
    if (changed) {
      if (!same_traffic || track.same == 0)
        track.least_occupancy = track.most_occupancy =
            same_traffic ? then.occupancy : now.occupancy;
      track.same = same_traffic ? track.same + 1 : 0;
      track.least_occupancy = std::min(track.least_occupancy, now.occupancy);
      track.most_occupancy = std::max(track.most_occupancy, now.occupancy);
      track.reference = now;
    } else if (!same_traffic) {
      track.reference = now;
    }
  }
}

void DomainWatch::append_streams(std::vector<Stream>& out) const {
  for (const auto& [name, track] : groups_)
    if (track.same >= changes_of_stream)
      out.push_back({name, resource_, domain_, track.least_occupancy, track.most_occupancy});
}

}  // namespace rdtd::observe
