// Deferred: processes that the classifier examines later, because their users have taken too much
// time: each once, in the order in which they are due. For one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

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
    uint64_t exec_at = 0;  // as in SecondLooks::Process
  };

  // False if there are too many. One that waits already keeps its place, unless it is another
  // user's now: then it is another process, or runs another program.
  [[nodiscard]] bool push(Process process, Time due) {
    if (const auto waits = waiting_.find(process.pid); waits != waiting_.end()) {
      if (waits->second->second.user == process.user) return true;
      remove(waits);
    }
    if (!quota_.try_take(process.user)) return false;
    waiting_.emplace(process.pid, by_due_.emplace(due, process));
    return true;
  }
  [[nodiscard]] std::optional<Time> next_due() const {
    return by_due_.empty() ? std::nullopt : std::optional(by_due_.begin()->first);
  }
  // The first one, if it is due.
  [[nodiscard]] std::optional<Process> pop(Time now) {
    if (by_due_.empty() || by_due_.begin()->first > now) return std::nullopt;
    const Process process = by_due_.begin()->second;
    remove(waiting_.find(process.pid));
    return process;
  }

 private:
  using ByDue = std::multimap<Time, Process>;
  using ByPid = std::unordered_map<pid_t, ByDue::iterator>;
  void remove(ByPid::iterator waits) {
    quota_.give_back(waits->second->second.user);
    by_due_.erase(waits->second);
    waiting_.erase(waits);
  }

  ByDue by_due_;
  ByPid waiting_;
  Quota quota_{{max_of_user, max_size}};
};

}  // namespace rdtd
