// CgroupChanges: moves between the cgroups that rules can match.
#pragma once

#include <chrono>
#include <memory>

#include "rdtd/daemon/event_source.hpp"
#include "rdtd/daemon/losses.hpp"
#include "rdtd/daemon/manager.hpp"
#include "rdtd/proc/cgroup_watch.hpp"

namespace rdtd {

class CgroupChanges {
 public:
  CgroupChanges(Manager& manager, Losses& losses) : manager_(manager), losses_(losses) {}

  // `watch`: null: moves are not watched. 0, or -errno.
  [[nodiscard]] int attach(sd_event* event, std::unique_ptr<CgroupWatch> watch);
  // From now on, those that the rules in force can match.
  void follow_rules();
  // The same if some could not be watched: there may be more room now.
  void retry_skipped();

 private:
  void read();
  void resume();
  void report_unwatched();
  [[nodiscard]] CgroupWatch::InterestIn interest() const;

  Manager& manager_;
  Losses& losses_;
  std::unique_ptr<CgroupWatch> watch_;
  Readable readable_;
  Timer pause_;  // until it is read again
  std::chrono::steady_clock::time_point next_unwatched_log_{};
  bool walk_in_parts_ = false;  // the walk over the cgroups took more than one call so far
  bool more_ = false;           // to be looked at without an event
};

}  // namespace rdtd
