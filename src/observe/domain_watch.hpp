// DomainWatch: the detector's view of one domain. See detector.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/observe/detector.hpp"
#include "rdtd/observe/series.hpp"

namespace rdtd::observe {

inline constexpr double loud_floor = 1 << 20;  // bytes/s

// The last values of a figure, and its quantiles.
class Window {
 public:
  explicit Window(size_t length) : length_(length) {}
  void add(double value);
  void clear() { values_.clear(); }
  [[nodiscard]] size_t size() const { return values_.size(); }
  // 0 to 1; nothing if there is no value.
  [[nodiscard]] std::optional<double> quantile(double part) const;

 private:
  size_t length_;
  std::deque<double> values_;
};

// The highest means of ten seconds of each hour of the last day: what a domain has carried is not
// forgotten while it is idle.
class HighMeans {
 public:
  void add(uint64_t monotonic_usec, double mean);
  // The second highest, since one alone may be wrong, and the fifth once there are many; nothing
  // before there are three.
  [[nodiscard]] std::optional<double> most() const;

 private:
  struct Hour {
    uint64_t number = 0;  // of CLOCK_BOOTTIME
    std::array<double, 5> highest{};
    void add(double mean);
  };
  std::deque<Hour> hours_;  // the last one is now
  size_t count_ = 0;        // means so far
};

// The amounts that a group may use.
struct Amounts {
  std::optional<uint64_t> ways;     // that it may fill; nothing: not known
  std::optional<uint64_t> traffic;  // as it stands in `schemata`, in whatever unit
};

// A group in a domain.
struct Track {
  struct Point {
    uint64_t monotonic_usec;
    double occupancy;  // bytes
    double traffic;    // bytes/s, since the sample before
  };
  std::optional<double> bytes;  // the traffic counter at the sample before
  std::optional<double> rate;   // at this sample
  std::deque<Point> recent;     // without a gap
  Window all{300}, quiet{60};   // traffic
  Amounts amounts;
  // Its traffic with what was taken from it so long ago that it counts as usual; else 0.
  double accepted = 0;
  unsigned unsettled = 0;     // samples until its cache shows what the masks of now give it
  uint64_t lowered_usec = 0;  // when its amount of traffic was last lowered, CLOCK_BOOTTIME
  unsigned missing = 0;       // samples in a row in which it was not; 0: it is in this one
  Jumps jumps;
  bool is_new = true;                  // in this sample, so that it has no rate yet
  std::optional<uint64_t> rated_usec;  // when it last had a rate, CLOCK_BOOTTIME
  // For streams: the figures that later ones are compared with.
  std::optional<Point> reference;
  unsigned same = 0;
  double least_occupancy = 0, most_occupancy = 0;

  [[nodiscard]] double usual() const;
  [[nodiscard]] bool loud() const;
  [[nodiscard]] std::optional<double> baseline() const;
  // Of the last two points, since one alone may be half before a change: what both of them show.
  [[nodiscard]] double least(double Point::* figure) const;
  [[nodiscard]] double most(double Point::* figure) const;
  void forget();
  // Its present traffic is usual from now on.
  void accept();
};

class DomainWatch {
 public:
  DomainWatch(std::string resource, DomainId domain)
      : resource_(std::move(resource)), domain_(domain) {}
  // Takes the figures of this domain from the header.
  void use(const Header& header);
  // `gap`: no rate is between this sample and the one before.
  void begin_sample(const Sample& sample, bool gap);
  void add(const DomainCounters& row, const Amounts& amounts);
  // Returns what ended.
  std::vector<Episode> end_sample();
  [[nodiscard]] std::vector<Episode> running() const;
  void append_streams(std::vector<Stream>& out) const;
  // Without the groups' amounts.
  [[nodiscard]] DomainTraffic domain_traffic() const;

 private:
  struct Running {
    Episode episode;
    // CLOCK_BOOTTIME: how long it lasts must not depend on a clock that is set.
    uint64_t began_usec = 0;
    unsigned quiet = 0;  // samples since it was last seen
  };
  using Groups = std::map<std::string, Track>;
  // A group that has more traffic than usual.
  struct Grown {
    Groups::const_iterator group;
    double growth;  // bytes/s
  };

  void take_up(Track& track, Amounts amounts);
  void forget_old_masks();
  void forget_who_is_gone();
  void end_before_gap();
  void end_what_ended();
  void note_quiet();
  void note_ceiling();
  [[nodiscard]] uint64_t unlimited() const;
  [[nodiscard]] bool is_limited(const Track& track, uint64_t unlimited) const;
  void follow_streams();
  void find_cache();
  void find_bandwidth();
  [[nodiscard]] double granted(const Track& track) const;
  [[nodiscard]] std::vector<Part> cache_takers(const std::string& victim, uint64_t since,
                                               double lost) const;
  [[nodiscard]] std::vector<Part> bandwidth_takers(const std::string& victim,
                                                   const std::vector<Grown>& grown,
                                                   double lost) const;
  [[nodiscard]] std::vector<Grown> grown() const;
  [[nodiscard]] bool takes_from(const std::string& taker, const std::string& sufferer) const;
  [[nodiscard]] bool others_share(const std::string& victim) const;
  [[nodiscard]] std::optional<double> ceiling() const;
  [[nodiscard]] const Track* track_of(const Part& part) const;
  [[nodiscard]] bool cache_lasts(const Episode& episode) const;
  [[nodiscard]] bool bandwidth_lasts(const Running& running) const;
  [[nodiscard]] bool lasts(const Running& running) const;
  [[nodiscard]] bool suffers(const Track& track) const;
  void found(Episode episode);
  void accept(const std::vector<Part>& parts);
  void note_roles(const Episode& episode);
  void renew_roles();
  void find_gainers();
  [[nodiscard]] bool is_sufferer(const std::string& group) const {
    return sufferers_.contains(group);
  }

  std::string resource_;
  DomainId domain_;
  std::optional<uint64_t> way_bytes_;
  uint64_t io_ways_ = 0;  // that I/O devices fill too
  Groups groups_;
  std::vector<Running> running_;
  std::vector<Episode> ended_;  // at this sample
  // Of the episodes that run, so that no group is looked for in all of them.
  std::set<std::string> sufferers_;
  std::set<std::string> harmed_;  // those that another group makes suffer: it can be helped
  std::set<std::pair<std::string, std::string>> takes_;  // taker, sufferer
  std::vector<Groups::const_iterator> gainers_;          // that have more cache than they had
  std::map<std::string, uint64_t> excused_;  // when it was last said that nobody is to blame
  uint64_t now_usec_ = 0, monotonic_usec_ = 0;
  double seconds_ = 0;           // since the sample before
  bool gap_ = false;             // no rate is between them
  bool counts_traffic_ = false;  // a group had such a counter, with or without a number
  double total_ = 0;
  size_t counted_ = 0;       // groups with a rate
  uint64_t moved_ways_ = 0;  // that a group whose mask changed may fill now, or could before
  // For the ceiling.
  double sum_ = 0, sum_seconds_ = 0;
  HighMeans means_;
  std::optional<double> measured_ceiling_;
  std::optional<uint64_t> unlimited_percent_;  // the least that no limit may read as
  unsigned high_ = 0;                          // samples in a row near the ceiling
};

inline constexpr auto occupancy = &Track::Point::occupancy;
inline constexpr auto traffic = &Track::Point::traffic;
inline constexpr double near_ceiling = 0.8;
// Below it, or below a tenth of what it usually has, a group does nothing that could be disturbed.
inline constexpr double idle_floor = 1 << 18, idle_part = 0.1;  // bytes/s
// After so many points, a change of masks has moved all the cache that it moves, and the points
// before it are out of sight.
inline constexpr size_t recent_points = 10;

}  // namespace rdtd::observe
