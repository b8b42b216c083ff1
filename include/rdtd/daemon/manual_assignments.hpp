// ManualAssignments: the processes that somebody put in a group with `rdtctl assign` or `rdtctl
// run`. Rules leave them there until they exec or end, or, if a process put itself there, until it
// ends. Shared by the two threads: the lock is never held while a file is read or a text is made,
// since each exec may wait for it. A record of them outlives the daemon, as the groups do.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/inheriting_mutex.hpp"
#include "rdtd/proc/processes.hpp"

namespace rdtd {

class ManualAssignments {
 public:
  // Each holds a file descriptor.
  static constexpr size_t max_per_user = 256;
  static constexpr size_t max_in_all = 4096;

  struct Held {
    std::shared_ptr<const proc::Process> process;
    std::string group;  // its label
    uid_t user = 0;     // who asked for it
    // The process put itself there, for all programs that it execs: `nice`, then the command.
    bool through_execs = false;
    uint64_t since = 0;  // CLOCK_MONOTONIC, nanoseconds: events that are older do not count
  };

  // `record`: the directory of the record.
  explicit ManualAssignments(Directory record) : record_(std::move(record)) {}

  // Those of the record that are still the same process and, as far as can be determined, the same
  // program.
  [[nodiscard]] Result<void> load(const proc::Processes& processes);
  // Brings the record up to date, if it is not. For the loop thread.
  [[nodiscard]] Result<void> store();

  // The label of a full limit, "this user" or "all users", or nothing if it was added.
  [[nodiscard]] std::optional<std::string> add(Held held);
  void remove(pid_t pid);
  // The last assignment of the process, for `add`.
  [[nodiscard]] std::optional<Held> held(pid_t pid);
  void clear();

  // The label of the group that the process was put in, if the rules are to leave it alone. Costs
  // one load if there is no manual assignment at all.
  [[nodiscard]] std::optional<std::string> group_of(pid_t pid);
  // The process has called exec at `timestamp` (CLOCK_MONOTONIC, nanoseconds). Whether the rules
  // are to leave it alone nevertheless.
  [[nodiscard]] bool exec(pid_t pid, uint64_t timestamp);
  // The process has given itself another name, and is the same program nevertheless.
  void rename(pid_t pid);
  // Those that have not ended.
  [[nodiscard]] std::vector<Held> all();

 private:
  struct Entry {
    Held held;
    uint64_t start_time = 0;  // for the record
    std::string name;         // since it was assigned, or renamed itself
  };
  using EntryPtr = std::shared_ptr<const Entry>;
  // Null if there is none.
  [[nodiscard]] EntryPtr find(pid_t pid);
  [[nodiscard]] std::vector<EntryPtr> entries();
  // Erases an entry unless another process has taken its place meanwhile.
  void erase(pid_t pid, const proc::Process* process);
  void insert(Entry entry);
  void drop_ended() { (void)all(); }

  Directory record_;
  std::atomic<size_t> count_ = 0;
  InheritingMutex mutex_;
  std::unordered_map<pid_t, EntryPtr> entries_;
  bool stored_ = true;
};

}  // namespace rdtd
