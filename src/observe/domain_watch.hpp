// DomainWatch: the detector's view of one domain. See detector.hpp.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/observe/detector.hpp"

namespace rdtd::observe {

inline constexpr double loud_floor = 1 << 20;  // bytes/s

// The last values of a figure, and its quantiles.
class Window {
 public:
  explicit Window(size_t length) : length_(length) {}
  void add(double value);
  [[nodiscard]] size_t size() const { return values_.size(); }
  // 0 to 1; nothing if there is no value.
  [[nodiscard]] std::optional<double> quantile(double part) const;

 private:
  size_t length_;
  std::deque<double> values_;
};

// The two highest means of ten seconds of each hour of the last day: what a domain has carried is
// not forgotten while it is idle.
class HighMeans {
 public:
  void add(uint64_t monotonic_usec, double mean);
  // The second highest, since one alone may be wrong; nothing before there are three.
  [[nodiscard]] std::optional<double> most() const;

 private:
  struct Hour {
    uint64_t number = 0;  // of CLOCK_BOOTTIME
    double highest = 0, second = 0;
  };
  std::deque<Hour> hours_;  // the last one is now
  size_t count_ = 0;        // means so far
};

// A group in a domain.
struct Track {
  struct Point {
    uint64_t monotonic_usec;
    double occupancy;  // bytes
    double traffic;    // bytes/s, since the sample before
  };
  std::optional<double> bytes;   // the traffic counter at the sample before
  std::optional<double> rate;    // at this sample
  std::deque<Point> recent;      // without a gap
  Window all{300}, quiet{60};    // traffic
  std::optional<uint64_t> ways;  // that it may fill; nothing: not known
  bool seen = false;             // in this sample
  bool is_new = true;            // in this sample, so that it has no rate yet
  // For streams: the figures that later ones are compared with.
  std::optional<Point> reference;
  unsigned same = 0;
  double least_occupancy = 0, most_occupancy = 0;

  // A lower quartile, so that a neighbour that is on for half of the time is loud when it is on.
  [[nodiscard]] bool loud() const;
  [[nodiscard]] std::optional<double> baseline() const;
  // Of the last two points, since one alone may be half before a change: what both of them show.
  [[nodiscard]] double least(double Point::* figure) const;
  [[nodiscard]] double most(double Point::* figure) const;
  void forget();
};

class DomainWatch {
 public:
  // `io_ways`: that I/O devices fill too.
  DomainWatch(std::string resource, DomainId domain, std::optional<uint64_t> way_bytes,
              uint64_t io_ways);
  // `gap`: no rate is between this sample and the one before.
  void begin_sample(const Sample& sample, bool gap);
  // `ways`: that the group may fill; nothing: not known.
  void add(const DomainCounters& row, std::optional<uint64_t> ways);
  // Returns what ended.
  std::vector<Episode> end_sample();
  [[nodiscard]] std::vector<Episode> running() const;
  void append_streams(std::vector<Stream>& out) const;
  // Bytes/s that the domain can carry, if that was measured.
  void set_ceiling(std::optional<double> rate) { measured_ceiling_ = rate; }
  // Without the groups' amounts.
  [[nodiscard]] DomainTraffic domain_traffic() const;

 private:
  struct Running {
    Episode episode;
    unsigned quiet = 0;  // samples since it was last seen
  };
  using Groups = std::map<std::string, Track>;

  void note_quiet();
  void note_ceiling();
  void follow_streams();
  void find_cache();
  void find_bandwidth();
  [[nodiscard]] std::vector<Part> takers_from(const std::string& victim, uint64_t since,
                                              double lost) const;
  [[nodiscard]] bool takes_from(const std::string& taker, const std::string& sufferer) const;
  [[nodiscard]] bool others_share(const std::string& victim) const;
  [[nodiscard]] std::optional<double> ceiling() const;
  [[nodiscard]] bool lasts(const Episode& episode) const;
  [[nodiscard]] bool suffers(const Track& track) const;
  void found(Episode episode);
  void note_roles(const Episode& episode);
  void find_gainers();
  [[nodiscard]] bool is_sufferer(const std::string& group) const {
    return sufferers_.contains(group);
  }
  [[nodiscard]] bool is_whole() const;

  std::string resource_;
  DomainId domain_;
  std::optional<uint64_t> way_bytes_;
  uint64_t io_ways_;
  Groups groups_;
  std::vector<Running> running_;
  // Of the episodes that run, so that no group is looked for in all of them.
  std::set<std::string> sufferers_;
  std::set<std::string> harmed_;  // those that another group makes suffer: it can be helped
  std::set<std::pair<std::string, std::string>> takes_;  // taker, sufferer
  std::vector<Groups::const_iterator> gainers_;          // that have more cache than they had
  std::map<std::string, uint64_t> excused_;  // when it was last said that nobody is to blame
  uint64_t now_usec_ = 0, monotonic_usec_ = 0;
  double seconds_ = 0;  // since the sample before
  double total_ = 0;
  size_t counted_ = 0;  // groups with a rate
  // For the ceiling.
  double sum_ = 0, sum_seconds_ = 0;
  HighMeans means_;
  std::optional<double> measured_ceiling_;
  unsigned high_ = 0;  // samples in a row near the ceiling
};

}  // namespace rdtd::observe
