// PerfEvents: what a process and all that it starts did on the processor, from the kernel's
// performance counters (perf_event_open(2)). Only user space is counted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd {

// type and config as in linux/perf_event.h.
struct PerfEvent {
  std::string name;
  uint32_t type = 0;
  uint64_t config = 0;
};
// instructions, cycles, cache_misses.
[[nodiscard]] const std::vector<PerfEvent>& hardware_events();

class PerfEvents {
 public:
  // Counts for the calling process, or for this thread, and for what it starts from now on. ENOENT:
  // the processor has no such counter, or a virtual machine hides it; EACCES:
  // kernel.perf_event_paranoid forbids it.
  [[nodiscard]] static Result<PerfEvents> open(std::span<const PerfEvent> events, pid_t thread = 0);

  // A process that is about to execute another program hands them to the one that reads them, or
  // tells it why it has none.
  static void send(int socket, const Result<PerfEvents>& events);
  [[nodiscard]] static Result<PerfEvents> receive(int socket);

  // In the order of the events; what the kernel could count only a part of the time is scaled up.
  // Complete when the process has ended.
  [[nodiscard]] Result<std::vector<double>> read() const;

 private:
  std::vector<UniqueFd> descriptors_;
};

}  // namespace rdtd
