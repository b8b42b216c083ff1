#include "domain_watch.hpp"

#include <algorithm>
#include <utility>

#include "rdtd/model/capabilities.hpp"

namespace rdtd::observe {

namespace {

constexpr long settled_points = 4;
constexpr double suffer_factor = 1.3, suffer_floor = 1 << 18;  // bytes/s
// Of the ceiling: less than this is enough for all. Somewhat less than what is near the ceiling, so
// that an episode does not end and begin again with each sample.
constexpr double enough = near_ceiling - 0.1;
constexpr double mean_seconds = 10;
constexpr unsigned quiet_samples = 3, changes_of_stream = 3;
constexpr uint64_t excuse_usec = 60'000'000, usual_usec = 600'000'000;
constexpr size_t most_excused = 2000;

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

// Since the last gap: one that is not may be over.
bool was_seen(const Episode& episode) { return episode.end_usec > episode.begin_usec; }

}  // namespace

void DomainWatch::use(const Header& header) {
  way_bytes_ = of_domain(header.way_bytes, resource_, domain_);
  io_ways_ = of_domain(header.io_ways, resource_, domain_).value_or(0);
  measured_ceiling_ = of_domain(header.ceilings, resource_, domain_);
  const bool percent = header.mb.step > 0 && header.mb.percent && !header.mba_mbps;
  unlimited_percent_.reset();
  if (percent) unlimited_percent_ = 100 - percent_slack(static_cast<unsigned>(header.mb.step));
}

void DomainWatch::begin_sample(const Sample& sample, bool gap) {
  seconds_ = gap || monotonic_usec_ == 0
                 ? 0
                 : static_cast<double>(sample.monotonic_usec - monotonic_usec_) / 1e6;
  gap_ = gap;
  now_usec_ = sample.time_usec;
  monotonic_usec_ = sample.monotonic_usec;
  total_ = 0;
  counted_ = 0;
  moved_ways_ = 0;
  if (gap) end_before_gap();
  for (auto& [name, track] : groups_) {
    track.rate.reset();
    track.is_new = false;
    track.missing++;
    if (gap) track.forget();
  }
}

// Traffic that was usual with other amounts says nothing about these.
void DomainWatch::take_up(Track& track, Amounts amounts) {
  // An amount that could not be read this time is as it was.
  if (!amounts.ways) amounts.ways = track.amounts.ways;
  if (!amounts.traffic) amounts.traffic = track.amounts.traffic;
  const Amounts before = std::exchange(track.amounts, amounts);
  if (before.traffic && amounts.traffic && *amounts.traffic < *before.traffic) {
    track.lowered_usec = monotonic_usec_;
    track.quiet.clear();
  }
  if (before.ways && amounts.ways && *before.ways != *amounts.ways)
    moved_ways_ |= *before.ways | *amounts.ways;
}

// A group whose mask changed loses or gains cache by that, and so do those that had or have ways in
// common with it: that is nobody's taking, and nobody has used less.
void DomainWatch::forget_old_masks() {
  for (auto& [name, track] : groups_) {
    if (track.unsettled > 0) track.unsettled--;
    if (moved_ways_ == 0 || (track.amounts.ways.value_or(0) & moved_ways_) == 0) continue;
    track.recent.clear();
    track.quiet.clear();
    track.accepted = 0;
    track.unsettled = recent_points;
  }
}

void DomainWatch::add(const DomainCounters& row, const Amounts& amounts) {
  Track& track = groups_[row.group];
  counts_traffic_ = counts_traffic_ || row.counters.contains(traffic_counter);
  const auto bytes = number_of(row, traffic_counter);
  // Its RMID is another one, or a monitoring group is gone, whose traffic was part of the sum.
  if (bytes && track.bytes && *bytes < *track.bytes) track.forget();
  track.missing = 0;
  take_up(track, amounts);
  if (bytes && track.bytes && seconds_ > 0) track.rate = (*bytes - *track.bytes) / seconds_;
  if (track.rate && track.jumps.is_jump(*track.rate, measured_ceiling_)) track.forget();
  track.bytes = bytes;
  // Also if its occupancy is not known: the domain carries it all the same.
  if (track.rate) {
    track.rated_usec = monotonic_usec_;
    track.all.add(*track.rate);
    total_ += *track.rate;
    counted_++;
  }
  // A domain of memory has traffic only.
  const auto now = row.counters.contains(occupancy_counter) ? number_of(row, occupancy_counter)
                                                            : std::optional(0.0);
  if (!track.rate || !now) {
    track.recent.clear();
    return;
  }
  track.recent.push_back({monotonic_usec_, *now, *track.rate});
  if (track.recent.size() > recent_points) track.recent.pop_front();
}

// A group that cannot be read once, or is made again, is the same one: it only has no number.
void DomainWatch::forget_who_is_gone() {
  std::erase_if(groups_, [](const auto& group) { return group.second.missing > pause_samples; });
  for (auto& [name, track] : groups_)
    if (track.missing > 0) track.forget();
}

std::vector<Episode> DomainWatch::end_sample() {
  forget_who_is_gone();
  forget_old_masks();
  note_ceiling();
  note_quiet();
  find_cache();
  find_bandwidth();
  follow_streams();
  end_what_ended();
  std::erase_if(excused_,
                [&](const auto& last) { return last.second + excuse_usec <= monotonic_usec_; });
  return std::exchange(ended_, {});
}

void DomainWatch::end_what_ended() {
  bool changed = false;
  for (Running& running : running_) {
    const uint64_t length = monotonic_usec_ - running.began_usec;
    if (!lasts(running)) {
      running.quiet++;
    } else {
      changed = changed || !was_seen(running.episode);
      running.quiet = 0;
      running.episode.end_usec = running.episode.begin_usec + length;
      // Those who take from each other have come to terms: that is how it is now.
      if (running.episode.kind == Contention::cache && length >= usual_usec) {
        accept(running.episode.sufferers);
        running.quiet = quiet_samples;
      }
    }
    if (running.quiet < quiet_samples) continue;
    // A taker that goes on does not suffer when the other gets back what was taken.
    accept(running.episode.takers);
    if (was_seen(running.episode)) ended_.push_back(running.episode);
    changed = true;
  }
  if (!changed) return;
  std::erase_if(running_, [](const Running& running) { return running.quiet >= quiet_samples; });
  renew_roles();
}

// Nobody was seen to suffer in a gap. What goes on after it is another episode, which begins there.
void DomainWatch::end_before_gap() {
  for (Running& running : running_) {
    if (was_seen(running.episode)) ended_.push_back(running.episode);
    running.episode.begin_usec = running.episode.end_usec = now_usec_;
    running.began_usec = monotonic_usec_;
    running.quiet = 0;
  }
  renew_roles();
}

void DomainWatch::accept(const std::vector<Part>& parts) {
  for (const Part& part : parts)
    if (const auto found = groups_.find(part.group); found != groups_.end()) found->second.accept();
}

void DomainWatch::renew_roles() {
  sufferers_.clear();
  harmed_.clear();
  takes_.clear();
  for (const Running& running : running_) note_roles(running.episode);
}

std::vector<Episode> DomainWatch::running() const {
  std::vector<Episode> out;
  for (const Running& running : running_)
    if (was_seen(running.episode)) out.push_back(running.episode);
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
    // The sample of a change of masks is half before it.
    if (track.rate && !others_are_loud && !is_sufferer(name) && track.unsettled < recent_points)
      track.quiet.add(*track.rate);
    if (!track.recent.empty() &&
        track.most(traffic) < (track.baseline().value_or(0) + track.accepted) / 2)
      track.accepted = 0;
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
  return baseline &&
         track.least(traffic) > suffer_factor * std::max(*baseline, track.accepted) + suffer_floor;
}

// A group that gets back what was taken from it takes nothing.
bool DomainWatch::takes_from(const std::string& taker, const std::string& sufferer) const {
  return takes_.contains({taker, sufferer});
}

std::optional<double> DomainWatch::ceiling() const {
  const auto seen = means_.most();
  // Traffic that was seen can be carried, whatever the measurement says.
  return measured_ceiling_ && seen ? std::max(measured_ceiling_, seen)
         : measured_ceiling_       ? measured_ceiling_
                                   : seen;
}

DomainTraffic DomainWatch::domain_traffic() const {
  DomainTraffic out{.resource = resource_,
                    .domain = domain_,
                    .traffic = total_,
                    .ceiling = ceiling(),
                    .measured = measured_ceiling_,
                    .gap = gap_,
                    .groups = {},
                    .counts_traffic = counts_traffic_,
                    .mb_domains = {}};
  const auto is_here = [](const auto& group) { return group.second.missing == 0; };
  if (std::ranges::none_of(groups_, is_here)) return out;
  for (const auto& [name, track] : groups_) {
    DomainTraffic::Group& group = out.groups[name];
    group.rate = track.rate.value_or(0);
    group.suffers = harmed_.contains(name);
    group.counted = seconds_ > 0 && track.bytes && (track.rate || track.is_new);
    group.is_new = track.is_new;
    group.missing = track.missing > 0;
    group.lost = !group.counted && !group.missing && track.rated_usec &&
                 monotonic_usec_ - *track.rated_usec < usual_usec;
  }
  return out;
}

// That nobody is to blame is said once a minute.
void DomainWatch::found(Episode episode) {
  if (episode.kind == Contention::none) {
    if (excused_.size() >= most_excused) return;
    if (!excused_.emplace(episode.sufferers.front().group, monotonic_usec_).second) return;
  }
  note_roles(episode);
  const uint64_t passed = now_usec_ - episode.begin_usec;
  running_.push_back({std::move(episode), monotonic_usec_ - passed});
}

void DomainWatch::note_roles(const Episode& episode) {
  for (const Part& sufferer : episode.sufferers) {
    sufferers_.insert(sufferer.group);
    // Where nobody is to blame, nobody can help by having less.
    if (episode.kind != Contention::none && was_seen(episode)) harmed_.insert(sufferer.group);
    for (const Part& taker : episode.takers) takes_.emplace(taker.group, sufferer.group);
  }
}

// Nothing if it is gone, or has no number.
const Track* DomainWatch::track_of(const Part& part) const {
  const auto found = groups_.find(part.group);
  return found == groups_.end() || found->second.recent.empty() ? nullptr : &found->second;
}

bool DomainWatch::cache_lasts(const Episode& episode) const {
  const auto still_suffers = [&](const Part& part) {
    const Track* track = track_of(part);
    return track != nullptr && suffers(*track) &&
           track->least(occupancy) < (part.occupancy_before + part.occupancy_during) / 2;
  };
  // Lines stay where they are after their group has gone to sleep, until somebody needs the room.
  const auto still_takes = [&](const Part& part) {
    const Track* track = track_of(part);
    const auto shares = [&](const Part& sufferer) {
      const Track* other = track_of(sufferer);
      return other != nullptr && (!track->amounts.ways || !other->amounts.ways ||
                                  (*track->amounts.ways & *other->amounts.ways) != 0);
    };
    return track != nullptr && track->most(traffic) > idle_floor &&
           track->most(occupancy) > (part.occupancy_before + part.occupancy_during) / 2 &&
           std::ranges::any_of(episode.sufferers, shares);
  };
  return std::ranges::any_of(episode.takers, still_takes) &&
         std::ranges::any_of(episode.sufferers, still_suffers);
}

bool DomainWatch::bandwidth_lasts(const Running& running) const {
  const auto ceiling = this->ceiling();
  if (!ceiling || total_ < enough * *ceiling) return false;
  const auto half = [](const Part& part) {
    return (part.traffic_before + part.traffic_during) / 2;
  };
  const auto still_takes = [&](const Part& part) {
    const Track* track = track_of(part);
    return track != nullptr && track->most(traffic) > half(part);
  };
  // It is not known how much the taker cost it since its own amount was lowered.
  const auto still_suffers = [&](const Part& part) {
    const Track* track = track_of(part);
    return track != nullptr && track->least(traffic) < half(part) &&
           track->most(traffic) > std::max(idle_floor, idle_part * part.traffic_before) &&
           track->lowered_usec <= running.began_usec;
  };
  return std::ranges::any_of(running.episode.takers, still_takes) &&
         std::ranges::any_of(running.episode.sufferers, still_suffers);
}

// As long as a sufferer has not recovered, and the taker has not gone.
bool DomainWatch::lasts(const Running& running) const {
  switch (running.episode.kind) {
    case Contention::cache: return cache_lasts(running.episode);
    case Contention::bandwidth: return bandwidth_lasts(running);
    case Contention::none: break;
  }
  return false;
}

// Whether the group's traffic is as much as it may be, whatever cache it has.
bool DomainWatch::is_limited(const Track& track, uint64_t unlimited) const {
  if (measured_ceiling_ && total_ >= enough * *measured_ceiling_) return true;
  return track.amounts.traffic && *track.amounts.traffic < unlimited;
}

// As it stands in `schemata`: of rates, what the group has that has the most.
uint64_t DomainWatch::unlimited() const {
  if (unlimited_percent_) return *unlimited_percent_;
  uint64_t out = 0;
  for (const auto& [name, track] : groups_) out = std::max(out, track.amounts.traffic.value_or(0));
  return out;
}

// A doubling or halving of its cache that leaves the traffic as it is, three times.
void DomainWatch::follow_streams() {
  const uint64_t most = unlimited();
  for (auto& [name, track] : groups_) {
    if (is_limited(track, most)) {
      track.reference.reset();
      continue;
    }
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
