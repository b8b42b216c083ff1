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
  // Calls that empty the buffer: those that receive something, and one that receives nothing.
  static constexpr size_t batches_of_buffer =
      receive_buffer / Connector::event_size / Connector::batch_size + 3;

  // `connector` passes Connector::Events::forks, is subscribed, and does not block. An update
  // receives at most so many times; by default, all that the buffer holds.
  explicit ForkWatch(Connector connector, size_t max_batches = batches_of_buffer);

  // Reads the events that have come. If it is not called for some time, the buffer is full, and
  // the first call after that can only empty it.
  void update();
  // About as many events wait to be read.
  [[nodiscard]] size_t waiting() const { return connector_.waiting(); }

  // The threads and children that a process has begun since a time.
  struct Forks {
    enum class Kind {
      none,
      children,  // no thread, and all children are known
      more,      // threads, or more children than are remembered
      unknown,
    };
    Kind kind = Kind::none;
    std::vector<pid_t> children = {};  // first threads of processes, some of which may have ended
  };
  static constexpr size_t max_children = 8;  // that are remembered of each process
  // From `since` (CLOCK_MONOTONIC, nanoseconds) to the last update. What a clone(2) is beginning at
  // this moment does not count.
  [[nodiscard]] Forks forks_of(pid_t pid, uint64_t since) const;

 private:
  struct Child {
    pid_t pid = 0;
    uint64_t time = 0;
  };
  struct Begun {
    std::vector<Child> children;  // the last ones
    uint64_t last_other = 0;      // the last thread, or child that is not in `children` any more
  };
  void note(const ProcEvent& event);
  void forget();

  Connector connector_;
  size_t max_batches_;
  std::vector<ProcEvent> events_;
  std::unordered_map<pid_t, Begun> begun_;
  uint64_t known_since_;  // all of it since then is in begun_
};

}  // namespace rdtd::proc
