// HandAssignments: the processes that somebody put in a group by hand, which the rules leave there until they exec or
// end. Shared by the threads.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>

#include "rdtd/proc/process.hpp"

namespace rdtd {

class HandAssignments {
 public:
  // Each holds a file descriptor.
  static constexpr size_t most = 512;

  // `for_next_program`: the process put itself there, for what it execs next. False where there are too many.
  [[nodiscard]] bool add(Process process, bool for_next_program);
  void remove(pid_t pid);
  // Whether the rules are to leave this process alone. Costs one load where there is none at all.
  [[nodiscard]] bool hold(pid_t pid);
  // The process has called exec; whether it is to be left alone all the same.
  [[nodiscard]] bool exec(pid_t pid);

 private:
  struct Held {
    Process process;   // fails to be read once it has ended, even when its pid is taken again
    std::string name;  // that it had when it was put there
    bool for_next_program;
  };
  void drop_ended();

  std::atomic<size_t> count_ = 0;
  std::mutex mutex_;
  std::unordered_map<pid_t, Held> held_;
};

}  // namespace rdtd
