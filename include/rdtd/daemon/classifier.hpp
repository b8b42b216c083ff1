// Classifier: what the real-time thread does. It hears of each exec and puts the process in its
// group at once. All that can wait or take long is the loop thread's: other threads and children of
// a process that was moved (SecondLooks), renames, looks at all processes, reports. It asks for
// these through an eventfd.
//
// It is bounded by time, not by the number of events: after max_work without waiting it sleeps, the
// longer the more often that happens in a row. If the kernel's limit for real-time threads comes
// near nevertheless (RLIMIT_RTTIME, SIGXCPU), it sleeps for a second.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/base/inheriting_mutex.hpp"
#include "rdtd/daemon/assigner.hpp"
#include "rdtd/daemon/deferred.hpp"
#include "rdtd/daemon/second_looks.hpp"
#include "rdtd/proc/connector.hpp"

namespace rdtd {

class Classifier {
 public:
  // CPU time without waiting, before the thread sleeps.
  static constexpr std::chrono::milliseconds max_work{5};

  // `requests_fd`: an eventfd, written to when there are requests. `error_pause`: how long it waits
  // after an error before it receives again. Fails if there can be no more descriptors.
  [[nodiscard]] static Result<std::unique_ptr<Classifier>> make(
      int requests_fd, std::chrono::milliseconds error_pause = std::chrono::seconds(1));
  Classifier(const Classifier&) = delete;
  Classifier& operator=(const Classifier&) = delete;

  // Handles events in the calling thread, from start until stop. To be called once.
  void run();
  // For another thread: makes run return, and waits until it has; it may still be to come.
  void stop();

  // `processes` and `manual` must live until stop.
  void start(Connector connector, const proc::Processes& processes, ManualAssignments& manual);

  // Once Requests::table_in_use has reached the number that this returns, it uses this table or a
  // later one.
  [[nodiscard]] uint64_t publish(std::shared_ptr<const RuleTable> table);
  // Makes the kernel send an event, by renaming the calling thread to its present name. Whether the
  // event of the last beat has come back. To be called by the loop thread, with seconds between.
  [[nodiscard]] bool heartbeat();
  [[nodiscard]] Result<void> resubscribe() const { return connector_->send_subscription(0); }

  struct Assigned {
    pid_t pid;
    std::string group;  // label
    std::string rule;   // FILE:LINE
  };
  // The requests to the loop thread since that last took them.
  struct Requests {
    bool any = false;           // whether there is one
    bool events_lost = false;   // look at all processes
    uint64_t table_in_use = 0;  // by its number
    bool table_old = false;     // a group of the table was removed
    // Tables that it does not use any more: to destroy one can take long.
    std::vector<std::shared_ptr<const RuleTable>> retired;
    std::optional<Error> failed;     // receiving events fails again and again; it goes on trying
    std::vector<pid_t> unexamined;   // a moment later: look at all of them
    std::vector<Assigned> assigned;  // while they are watched
    size_t dropped = 0;              // of `assigned`: too many
  };
  [[nodiscard]] Requests take_requests();
  // The processes that it has moved, and those that it could not place.
  [[nodiscard]] SecondLooks& second_looks() { return *second_looks_; }
  void watch_assignments(bool on) { watched_ = on; }

  [[nodiscard]] uint64_t events_seen() const { return counts_.seen; }
  [[nodiscard]] uint64_t event_overruns() const { return counts_.overruns; }

 private:
  Classifier(int requests_fd, std::chrono::milliseconds error_pause,
             std::unique_ptr<SecondLooks> second_looks)
      : requests_fd_(requests_fd),
        error_pause_(error_pause),
        second_looks_(std::move(second_looks)) {}
  // Makes the thread notice what has changed, also while no events arrive.
  void wake();
  void handle_events();
  class Pacer;
  // `exec_at`: as in SecondLooks::Process.
  void handle(const ProcEvent& event, uint64_t exec_at, const RuleTable& table, bool others_wait);
  [[nodiscard]] bool defer(const Deferred::Process& process, UserShares::Time now);
  [[nodiscard]] bool belongs_to(const Deferred::Process& process) const;
  void handle_deferred(const RuleTable* table);
  void charge(const Assignment& assignment, UserShares::Time begin);
  void finish(pid_t pid, uint64_t exec_at, const Assignment& assignment, const RuleTable& table);
  void handle_batch(const std::vector<ProcEvent>& events, const RuleTable* table, Pacer& pacer);
  template <class Change>
  void request(Change change);
  static void beat();

  // The state that starts, runs and ends the thread.
  struct Life {
    std::counting_semaphore<2> started{0};  // by start, and by stop
    std::binary_semaphore ended{0};
    std::atomic<pid_t> thread = 0;  // that runs
    std::atomic<bool> stop = false;
  };
  // The data that the two threads hand over to each other. The mutex is never held while anything
  // is read, written or computed.
  struct Exchange {
    InheritingMutex mutex;
    Requests requests;
    std::shared_ptr<const RuleTable> table;
    std::atomic<uint64_t> published = 0;
  };
  struct Counts {
    std::atomic<uint64_t> seen = 0, overruns = 0;
  };
  // Of the thread alone.
  struct Own {
    MatchMemo memo;
    UserShares shares;
    Deferred deferred;
    unsigned handled = 0;
    UserShares::Time hidden_until{};
  };

  int requests_fd_;
  std::chrono::milliseconds error_pause_;
  std::unique_ptr<SecondLooks> second_looks_;
  Life life_;
  std::optional<Connector> connector_;
  const proc::Processes* processes_ = nullptr;
  ManualAssignments* manual_ = nullptr;
  Exchange exchange_;
  std::atomic<bool> beat_seen_ = true;
  std::atomic<bool> watched_ = false;
  Counts counts_;
  Own own_;
};

}  // namespace rdtd
