// ForkWatch: which processes have begun threads or children, from the kernel's fork events. Nobody
// waits for these events: a reader takes what has come when it has a question, so they wake nobody
// up. If the kernel drops some, answers about the time before are unknown.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "rdtd/proc/connector.hpp"

namespace rdtd::proc {

class ForkWatch {
 public:
  // Of the socket, in bytes: 630 events.
  static constexpr int receive_buffer = 512 << 10;

  // `connector` passes Connector::Events::forks, is subscribed, and does not block. An update
  // receives at most so many times; by default, all that the buffer holds.
  explicit ForkWatch(Connector connector, size_t max_batches = receive_buffer /
                                                                   Connector::event_size /
                                                                   Connector::batch_size +
                                                               2);

  // Reads the events that have come.
  void update();
  // About as many events wait to be read.
  [[nodiscard]] size_t waiting() const { return connector_.waiting(); }

  enum class Answer { no, yes, unknown };
  // Whether a process has begun a thread or a child from `since` (CLOCK_MONOTONIC, nanoseconds) to
  // the last update. What another thread of the system is beginning at this moment does not count.
  [[nodiscard]] Answer has_forked(pid_t pid, uint64_t since) const;

 private:
  void forget();

  Connector connector_;
  size_t max_batches_;
  std::vector<ProcEvent> events_;
  std::unordered_map<pid_t, uint64_t> last_;  // when a process last did
  uint64_t known_since_;                      // all of it since then is in last_
};

}  // namespace rdtd::proc
