// ProcEvent: a decoded event of the kernel's process connector. Pure. Formats: linux/netlink.h,
// linux/connector.h, linux/cn_proc.h.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rdtd {

struct ProcEvent {
  enum class Kind {
    acknowledged,  // the answer to a subscription, ours or another listener's
    exec,
    comm,      // a thread was renamed by prctl or through /proc/PID/comm
    identity,  // effective user or group changed
    fork,      // a process has a new thread or a new child
    other,
  };
  Kind kind = Kind::other;
  pid_t tid = 0;           // fork: the new thread, or the first thread of the child
  pid_t pid = 0;           // thread group id: the process; fork: the one that began it
  bool is_thread = false;  // fork: a thread of the same process
  uint32_t ack = 0;        // acknowledged: the subscriber's number plus 1
  int error = 0;           // acknowledged: errno, 0 if subscribed
  // When it happened, on CLOCK_MONOTONIC. It can be read much later, out of a full buffer.
  uint64_t timestamp_ns = 0;
};

// Takes the next event off the front of a datagram; nothing at its end or if the remainder is
// malformed.
[[nodiscard]] std::optional<ProcEvent> next_event(std::span<const std::byte>& datagram);

}  // namespace rdtd
