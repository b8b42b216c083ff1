// Processes: what the kernel says about processes and threads, one question at a time. proc::ProcFs
// reads it from a mounted /proc; the tests have processes made of plain values. Source: proc(5).
//
// An error with the code ENOENT or ESRCH means that the process or thread has ended (see ended()),
// EAGAIN or EBUSY that its memory or status cannot be read now (see held_up()). Any other error
// says that the question could not be answered now (EMFILE, ENOMEM, EIO), which is never the same
// as "there is nobody".
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/model/process_facts.hpp"

namespace rdtd::proc {

[[nodiscard]] inline bool ended(const Error& error) {
  return error.code == ENOENT || error.code == ESRCH;
}

// The process keeps its memory from being read, which any process can do, or others of its user
// did, or its status is not read because others took too long: it is no failure of the system. Only
// of Fact::cmdline and Fact::identity.
[[nodiscard]] inline bool held_up(const Error& error) {
  return error.code == EAGAIN || error.code == EBUSY;
}

// Some fields of /proc/PID/status.
struct Status {
  pid_t parent = 0;  // PPid: 0 if it has none in this pid namespace
  Identity identity;
};

// One process, held by a descriptor: once it has ended, every answer is an error with ESRCH or
// ENOENT or empty, even if its pid was given to another process meanwhile.
class Process {
 public:
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  virtual ~Process() = default;

  [[nodiscard]] virtual pid_t pid() const = 0;
  // The present comm. This alone proves that the process that was opened still exists.
  [[nodiscard]] virtual Result<std::string> read_name() const = 0;
  // Its effective user, who owns its directory in /proc. Costs less than Fact::identity.
  [[nodiscard]] virtual Result<uid_t> owner() const = 0;
  // Fills one fact. A fact that the process does not have (a kernel thread has no exe), that must
  // not be read (EACCES, EPERM) or that is a path beyond PATH_MAX becomes empty; for `identity`
  // UINT32_MAX, and its real user is read only where the effective one is root; names of containers
  // that are not known yet are empty. A command line is cut after 64 KiB, and waited for a limited
  // time: held_up().
  [[nodiscard]] virtual Result<void> read(Fact fact, ProcessFacts& facts) const = 0;
  // Its threads now, from the link count of `task`; 0 once it has ended, SIZE_MAX if that cannot be
  // seen.
  [[nodiscard]] virtual size_t thread_count() const = 0;
  [[nodiscard]] virtual Result<std::vector<pid_t>> threads() const = 0;
  [[nodiscard]] virtual Result<std::string> read_thread_name(pid_t tid) const = 0;
  // The group that a thread is in, by its directory: "" is the root, "redis/mon_groups/web" a
  // monitoring group; from cpu_resctrl_groups. ENOTSUP if the kernel does not say.
  [[nodiscard]] virtual Result<std::string> read_thread_group(pid_t tid) const = 0;
  // Costs up to 50 ms of a processor, since the kernel prints all supplementary groups.
  [[nodiscard]] virtual Result<Status> read_status() const = 0;
  // When it was forked, in clock ticks since boot: with the pid, one process of this boot.
  [[nodiscard]] virtual Result<uint64_t> read_start_time() const = 0;
  // Children of some of its threads: it takes a file for each. Empty if the kernel does not say
  // (CONFIG_PROC_CHILDREN).
  [[nodiscard]] virtual Result<std::vector<pid_t>> children(
      std::span<const pid_t> threads) const = 0;
};

class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  virtual ~Processes() = default;

  [[nodiscard]] virtual Result<std::unique_ptr<Process>> open(pid_t pid) const = 0;
  // The process that a thread belongs to: open() takes the id of any thread.
  [[nodiscard]] virtual Result<pid_t> process_of(pid_t tid) const = 0;
  // Whether a process has one thread and no child, or has ended, in as few system calls as show it.
  // False if that cannot be seen now.
  [[nodiscard]] virtual bool is_alone(pid_t pid) const = 0;
  // All of them, in no particular order.
  [[nodiscard]] virtual Result<std::vector<pid_t>> list() const = 0;
};

}  // namespace rdtd::proc
