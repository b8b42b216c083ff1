// Classifier: the thread that puts processes in their groups as the kernel tells of them. It owns
// the process connector and does for each event the least that decides it. What it cannot do by
// itself, looking at all processes after a loss or telling of assignments, it asks of the main
// thread through an eventfd.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "rdtd/daemon/assign.hpp"
#include "rdtd/proc/connector.hpp"

namespace rdtd {

class Classifier {
 public:
  // Inherits the caller's scheduling. `requests_fd`, an eventfd, is written to when there are
  // requests.
  Classifier(Connector connector, const ProcFs& proc, int requests_fd);
  Classifier(const Classifier&) = delete;
  Classifier& operator=(const Classifier&) = delete;
  ~Classifier();

  // From its return on, the classifier uses this table and no other. False where it has not taken
  // it within 2 s.
  bool publish(std::shared_ptr<const RuleTable> table);

  // Makes the kernel send an event, by renaming the calling thread to what it is called already,
  // and tells whether the event of the last beat has come back. To be called with some seconds
  // between, by the main thread.
  [[nodiscard]] bool heartbeat();
  [[nodiscard]] Result<void> resubscribe() const { return connector_.send_subscription(0); }

  // What the main thread is asked for since it last looked.
  struct Assigned {
    pid_t pid;
    std::string group;  // label
    std::string rule;   // FILE:LINE
  };
  struct Requests {
    bool rescan = false;             // events were lost
    std::vector<Assigned> assigned;  // while they are watched
    size_t untold = 0;               // that were too many to be kept
  };
  [[nodiscard]] Requests take_requests();
  void watch_assignments(bool on) { watched_ = on; }

  struct Counters {
    uint64_t events_seen = 0;
    uint64_t event_overruns = 0;
  };
  [[nodiscard]] Counters counters() const;

 private:
  void run();
  void handle(const ProcEvent& event, const RuleTable& table);
  // The second looks that are due, and what is over the number that may wait.
  void look_again(const RuleTable& table);
  void tell_assigned(pid_t pid, const Assignment& assignment, const RuleTable& table);
  static void beat();

  Connector connector_;
  const ProcFs& proc_;
  int requests_fd_;
  pid_t self_;
  std::atomic<std::shared_ptr<const RuleTable>> table_;
  std::atomic<uint64_t> published_ = 0;
  std::binary_semaphore taken_{0};
  std::atomic<bool> stop_ = false;
  std::atomic<bool> beat_seen_ = true;
  // Processes that were moved and are owed a second look. The classifier thread's own.
  struct Moved {
    pid_t pid;
    std::chrono::steady_clock::time_point due;
  };
  std::deque<Moved> moved_;
  std::atomic<uint64_t> events_seen_ = 0, event_overruns_ = 0;
  std::atomic<bool> watched_ = false;
  std::mutex requests_mutex_;
  Requests requests_;
  std::thread thread_;
};

}  // namespace rdtd
