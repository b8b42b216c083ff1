// The processes of bench and suggest: each is pinned, in its group before it begins, has no
// standard input, and is killed when rdtctl ends for whatever reason. Its children are killed with
// it, unless rdtctl itself is killed by SIGKILL.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"
#include "rdtd/experiment/probe.hpp"
#include "rdtd/model/cpu_list.hpp"

namespace rdtd::bench {

// What a child writes, and rdtctl reads.
struct Shared {
  std::atomic<uint64_t> started{0};     // nanoseconds; 0: it is not in its group yet
  std::atomic<uint64_t> cpu_before{0};  // nanoseconds that it had used by then
  std::atomic<uint64_t> bytes{0};       // of the noise
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
  // What it has written to standard error, and to standard output if that is kept.
  [[nodiscard]] std::string output() const;
  struct End {
    int status = 0;                 // as of wait(2)
    double cpu_seconds = 0;         // of the program
    double cpu_seconds_before = 0;  // until it began
  };
  // Waits for its end.
  [[nodiscard]] End wait();
  // As hardware_events(), after its end.
  [[nodiscard]] Result<std::vector<double>> counts() const;

 private:
  struct Unmap {
    void operator()(Shared* shared) const;
  };
  Process() = default;
  [[noreturn]] void begin(const Program& program, pid_t parent);

  pid_t pid_ = -1;
  UniqueFd pidfd_, output_;
  UniqueFd counters_, counters_of_child_;  // sockets
  std::unique_ptr<Shared, Unmap> shared_;
};

// Of CLOCK_MONOTONIC.
[[nodiscard]] uint64_t nanoseconds_now();

}  // namespace rdtd::bench
