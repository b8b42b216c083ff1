// Detector: from samples to episodes: who took whose cache or bandwidth, and which groups gain
// nothing from ways. It looks at the samples only: no clock, descriptor or log, so that a recording
// gives what was seen live. docs/observe.md says the rules for users.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/observe/episode.hpp"
#include "rdtd/observe/recording.hpp"
#include "rdtd/observe/schemata_text.hpp"

namespace rdtd::observe {

// A group whose traffic stays the same whatever cache it has: more ways would be lost on it.
struct Stream {
  std::string group;  // directory
  std::string resource;
  DomainId domain{};
  double least = 0, most = 0;  // bytes that it had, with the same traffic
};

// A shorter pause takes nothing away from what was seen before it.
inline constexpr unsigned pause_samples = 5;

// A domain at the last sample. Without groups, it is offline.
struct DomainTraffic {
  struct Group {
    double rate = 0;       // bytes/s
    std::string mb;        // its amount of bandwidth, as it stands in `schemata`; "": not known
    bool suffers = false;  // in an episode that runs
    bool counted = true;   // its counter has a number, and a rate unless the group is new
    bool is_new = false;   // in this sample, so that its rate is not known yet
    bool missing = false;  // in this sample, though it was there not long ago
    bool lost = false;     // it is not counted, but was in the last ten minutes
  };
  std::string resource;
  DomainId domain{};
  double traffic = 0;                   // bytes/s of all groups
  std::optional<double> ceiling;        // bytes/s that it can carry: measured, or the most seen
  std::optional<double> measured;       // bytes/s; below the ceiling if more was seen
  bool gap = false;                     // no rate is between this sample and the one before
  std::map<std::string, Group> groups;  // by directory
  bool counts_traffic = false;          // it has such a counter, with or without a number
  // Where MB is set if it is not set here: in none, if there is no MB. Nothing: it is set here, or
  // that is not known.
  std::optional<std::set<DomainId>> mb_domains = std::nullopt;

  // Else the ceiling is the most that was seen.
  [[nodiscard]] bool is_measured() const { return measured && measured == ceiling; }
};

class DomainWatch;

class Detector {
 public:
  explicit Detector(Header header);
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;
  ~Detector();

  // From now on, samples are of a recording with this header.
  void use(const Header& header);
  // Returns the episodes that ended with this sample. In the order of monotonic_usec.
  std::vector<Episode> add(const Sample& sample);
  // Those that have not ended.
  [[nodiscard]] std::vector<Episode> running() const;
  [[nodiscard]] std::vector<Stream> streams() const;
  // Of the domains in the last sample.
  [[nodiscard]] std::vector<DomainTraffic> traffic() const;

 private:
  [[nodiscard]] bool is_gap(const Sample& sample);
  [[nodiscard]] bool knows(const DomainCounters& row) const;
  [[nodiscard]] DomainWatch& watch_of(const DomainCounters& row);
  // Adds the bandwidth values of its groups, or else the domains that have such values.
  void add_amounts(DomainTraffic& domain) const;

  Header header_;
  double monotonic_ = 0, time_ = 0;               // of the sample before, seconds
  std::map<std::string, SchemataText> schemata_;  // in force, by label
  std::map<std::pair<std::string, DomainId>, std::unique_ptr<DomainWatch>> domains_;
};

}  // namespace rdtd::observe
