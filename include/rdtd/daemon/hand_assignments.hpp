// HandAssignments: the processes that somebody put in a group by hand, which the rules leave there
// until they exec or end. Shared by the threads. A record of them outlives the daemon, as the
// groups do.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/proc/process.hpp"

namespace rdtd {

class HandAssignments {
 public:
  // Each holds a file descriptor.
  static constexpr size_t most = 512;

  // `record`: the folder of the record, the file `by_hand`.
  explicit HandAssignments(Directory record) : record_(std::move(record)) {}

  // Those of the record that still are the same process, and the same program as far as can be
  // told.
  [[nodiscard]] Result<void> load(const ProcFs& proc);
  // Brings the record up to date, if it is not. Not for the thread that classifies: it is told of
  // changes by others.
  [[nodiscard]] Result<void> store();

  // `group`: its label. `for_next_program`: the process put itself there, for what it execs next.
  // False where there are too many.
  [[nodiscard]] bool add(Process process, std::string group, bool for_next_program);
  void remove(pid_t pid);
  void clear();
  // Whether the rules are to leave this process alone. Costs one load where there is none at all.
  [[nodiscard]] bool hold(pid_t pid);
  // The process has called exec; whether it is to be left alone all the same.
  [[nodiscard]] bool exec(pid_t pid);
  // The process has given itself another name, and is the same program all the same.
  void rename(pid_t pid);
  // Those that have not ended: pids and the labels of their groups.
  [[nodiscard]] std::vector<std::pair<pid_t, std::string>> all();
  // The label of the group that a process was put in, where the rules are to leave it alone.
  [[nodiscard]] std::optional<std::string> group_of(pid_t pid);

 private:
  struct Held {
    Process process;        // fails to be read once it has ended, even when its pid is taken again
    uint64_t start_time{};  // of the process, for the record
    std::string name;       // that it had when it was put there, or has since its exec
    std::string group;
    bool for_next_program = false;
  };
  using Map = std::unordered_map<pid_t, Held>;
  // Null where it is not held, or has ended. All of these with the lock taken.
  Held* find(pid_t pid);
  void erase(Map::iterator position);
  void insert(Held held);
  void drop_ended();

  Directory record_;
  std::atomic<size_t> count_ = 0;
  std::mutex mutex_;
  Map held_;
  bool stored_ = true;
};

}  // namespace rdtd
