// The processes of bench and suggest: each is pinned, in its group before it begins, has neither
// standard input nor a terminal, and is killed when rdtctl ends for whatever reason. Its process
// group is killed with it, and end_children() kills the rest, unless rdtctl itself is killed by
// SIGKILL. Also the
// waiting for them, for an interruption, and for the end of the lease without which a measurement
// has no meaning.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "argument_vector.hpp"
#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"
#include "rdtd/experiment/placement.hpp"
#include "rdtd/experiment/probe.hpp"

namespace rdtd {

// The data that a child writes and rdtctl reads.
struct Shared {
  std::atomic<uint64_t> started{0};     // CLOCK_MONOTONIC, nanoseconds; 0: not in its group yet
  std::atomic<uint64_t> cpu_before{0};  // nanoseconds that it had used by then
  std::atomic<uint64_t> bytes{0};       // of the noise, that it has read and written
  experiment::ProbeTimes times;         // of a probe
};

struct Program {
  std::vector<std::string> command;        // is executed; if empty, `built_in` is called
  std::function<Error(Shared&)> built_in;  // an Error without text: success
  std::string group;
  CpuSet cpus;
  bool counted = false;       // with the processor's performance counters
  bool keeps_output = false;  // standard output too: without a reader it goes to /dev/null
};

class Process {
 public:
  [[nodiscard]] static Result<Process> start(const Program& program);
  Process(Process&&) = default;
  Process& operator=(Process&&) = delete;
  ~Process();  // kills it with its process group

  // Readable once it has ended.
  [[nodiscard]] int descriptor() const { return pidfd_.get(); }
  [[nodiscard]] const Shared& shared() const { return *shared_; }
  // The text that it has written to standard error, and to standard output if that is kept.
  [[nodiscard]] std::string output() const;
  struct End {
    int status = 0;                 // as of wait(2)
    double cpu_seconds = 0;         // of the program
    double cpu_seconds_before = 0;  // until it began
  };
  // CPU time until now, in seconds, without that of its children; before its end only.
  [[nodiscard]] double cpu_seconds_now() const;
  // Waits for its end.
  [[nodiscard]] End wait();
  // As hardware_events(), after its end.
  [[nodiscard]] Result<std::vector<double>> counts() const;

 private:
  struct Unmap {
    void operator()(Shared* shared) const;
  };
  Process() = default;
  [[noreturn]] void begin(const Program& program, ArgumentVector& command, pid_t parent);

  pid_t pid_ = -1;
  UniqueFd pidfd_, output_;
  UniqueFd counters_, counters_of_child_;  // sockets
  std::unique_ptr<Shared, Unmap> shared_;
};

// Kills what left the process group of a program, as `timeout`, a shell with job control and
// daemons do: it would go on beside the next run. To be called when no Process is there. A program
// that became rdtctl by exec may have had children before: those in `of_others` are left alone, but
// not what becomes a child of this process when one of them ends.
void end_children(const std::string& proc, const std::set<pid_t>& of_others);
// `proc`: /proc.
[[nodiscard]] std::set<pid_t> children_of_this(const std::string& proc);

enum class Ended { process, interrupted, lease, timeout };

// From its construction on, SIGINT, SIGTERM, SIGHUP and SIGQUIT end nothing but the waiting, and
// SIGTSTP does nothing: while rdtctl stood still, the time of a run would go on. What descends from
// a program becomes a child of this process when its parent ends.
class WatchedRun {
 public:
  WatchedRun();
  ~WatchedRun();  // from then on they have their effect again
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  // process: may be nullptr; lease: may hold none; timeout: -1 for none.
  [[nodiscard]] Ended wait(const Process* process, const UniqueFd& lease, int timeout_ms);
  // Waits until the process is in its group and has used so much memory. Ended::timeout: it has.
  [[nodiscard]] Ended wait_for_memory(const Process& process, uint64_t bytes,
                                      const UniqueFd& lease);
  // Waits, or prints why that makes no sense; the error is the exit code.
  [[nodiscard]] std::expected<void, int> pause(double seconds, const UniqueFd& lease);
  // Why a measurement ended that should not have: prints it and returns the exit code, of an
  // interruption 128 + SIGNAL as a shell's.
  [[nodiscard]] int stopped(Ended ended) const;
  [[nodiscard]] bool interrupted() const { return signal_ != 0; }

 private:
  UniqueFd signals_;
  sigset_t before_{};
  unsigned signal_ = 0;
};

}  // namespace rdtd
