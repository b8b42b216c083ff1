// ClassifierEvents: what the classifier tells the loop thread: processes to examine, processes that
// were moved and are due for a second look, and whether process events arrive at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "rdtd/daemon/classifier.hpp"
#include "rdtd/daemon/event_source.hpp"
#include "rdtd/daemon/losses.hpp"
#include "rdtd/daemon/manager.hpp"
#include "rdtd/proc/fork_watch.hpp"

namespace rdtd {

class ClassifierEvents {
 public:
  ClassifierEvents(Manager& manager, Losses& losses) : manager_(manager), losses_(losses) {}

  // `requests_fd`: an eventfd that the classifier writes. `classifier`: null: there are no process
  // events. 0, or -errno.
  [[nodiscard]] int attach(sd_event* event, int requests_fd, Classifier* classifier,
                           std::optional<proc::ForkWatch> forks);
  // As Publisher::ToClassifier.
  [[nodiscard]] uint64_t publish(std::shared_ptr<const RuleTable> table);
  void watch_assignments(bool on);
  // Checks that process events arrive, and subscribes again if they do not.
  void beat();
  // Brings the counts of process events in the core's state up to date.
  void count();
  // Process events so far.
  [[nodiscard]] uint64_t seen() const {
    return classifier_ == nullptr ? 0 : classifier_->events_seen();
  }

 private:
  void take_requests();
  void look_again();
  void visit_descendants(std::vector<pid_t> pids, uint64_t since, std::unordered_set<pid_t>& seen);
  [[nodiscard]] bool update_forks(size_t worth_reading);
  void set_available(bool available);

  Manager& manager_;
  Losses& losses_;
  Classifier* classifier_ = nullptr;
  int requests_fd_ = -1;
  std::optional<proc::ForkWatch> forks_;
  Readable requests_, second_looks_;
  Timer pause_;  // until requests are taken again
  std::chrono::steady_clock::time_point next_fork_update_{};
  // Since the heartbeat before it.
  uint64_t overruns_before_ = 0;
  bool failed_ = false;
};

}  // namespace rdtd
