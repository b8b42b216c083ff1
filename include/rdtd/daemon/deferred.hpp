// Deferred: processes that the classifier examines later, because their users have taken too much
// time: each once, in the order in which they are due. For one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <unordered_set>

#include "rdtd/base/quota.hpp"

namespace rdtd {

class Deferred {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr size_t max_size = 4096;
  static constexpr size_t max_of_user = 1024;
  struct Process {
    pid_t pid = 0;
    uid_t user = 0;
  };

  [[nodiscard]] bool contains(pid_t pid) const { return pids_.contains(pid); }
  // False if there are too many. One that waits already keeps its place.
  [[nodiscard]] bool push(Process process, Time due) {
    if (pids_.contains(process.pid)) return true;
    if (!quota_.try_take(process.user)) return false;
    pids_.insert(process.pid);
    by_due_.emplace(due, process);
    return true;
  }
  [[nodiscard]] std::optional<Time> next_due() const {
    return by_due_.empty() ? std::nullopt : std::optional(by_due_.begin()->first);
  }
  // The first one, if it is due.
  [[nodiscard]] std::optional<Process> pop(Time now) {
    if (by_due_.empty() || by_due_.begin()->first > now) return std::nullopt;
    const Process process = by_due_.begin()->second;
    by_due_.erase(by_due_.begin());
    pids_.erase(process.pid);
    quota_.give_back(process.user);
    return process;
  }

 private:
  std::multimap<Time, Process> by_due_;
  std::unordered_set<pid_t> pids_;
  Quota quota_{{max_of_user, max_size}};
};

}  // namespace rdtd
