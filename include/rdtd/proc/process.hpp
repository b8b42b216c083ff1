// ProcFs and Process: what /proc tells of processes, one fact at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/model/process_facts.hpp"

namespace rdtd {

// A process by its open `comm`. The descriptor stays with this very process: once it has ended,
// reads fail, even when its pid has been given to another.
class Process {
 public:
  [[nodiscard]] pid_t pid() const { return pid_; }
  // The present name; nothing once the process has ended.
  [[nodiscard]] std::optional<std::string> read_name() const;
  // Reads a fact. What cannot be read, because the process is going, is a kernel thread or may not
  // be looked at, is empty.
  void read(Fact fact, ProcessFacts& facts) const;
  // Threads it has now; 0 once it has ended.
  [[nodiscard]] size_t thread_count() const;
  [[nodiscard]] std::vector<pid_t> threads() const;
  [[nodiscard]] std::optional<std::string> read_thread_name(pid_t tid) const;
  // /proc opens for every thread; this is the process that it belongs to. 0 once it has ended.
  [[nodiscard]] pid_t read_process() const;
  // 0 where it has none in this namespace, or has ended.
  [[nodiscard]] pid_t read_parent() const;
  // When it began, in clock ticks since boot: with the pid, one process of this boot. 0 once it has
  // ended.
  [[nodiscard]] uint64_t read_start_time() const;
  // The control group a thread is in, its directory, from cpu_resctrl_groups; nothing where the
  // kernel does not tell.
  [[nodiscard]] std::optional<std::string> read_thread_group(pid_t tid) const;

 private:
  friend class ProcFs;
  Process(int proc, pid_t pid, UniqueFd comm) : proc_(proc), pid_(pid), comm_(std::move(comm)) {}
  int proc_;
  pid_t pid_;
  UniqueFd comm_;
};

class ProcFs {
 public:
  explicit ProcFs(Directory root) : root_(std::move(root)) {}
  // Nothing where there is no such process.
  [[nodiscard]] std::optional<Process> open(pid_t pid) const;
  // As Process::thread_count, without opening the process.
  [[nodiscard]] size_t thread_count(pid_t pid) const;
  // Of its first thread; none where the kernel does not tell (CONFIG_PROC_CHILDREN).
  [[nodiscard]] std::vector<pid_t> children(pid_t pid) const;
  [[nodiscard]] std::vector<pid_t> processes() const;

 private:
  Directory root_;
};

}  // namespace rdtd
