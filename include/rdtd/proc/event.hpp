// ProcEvent: one event of the kernel's process connector, decoded. Pure. Formats: linux/netlink.h,
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
    other,
  };
  Kind kind = Kind::other;
  pid_t tid = 0;
  pid_t pid = 0;     // thread group id: the process
  uint32_t ack = 0;  // acknowledged: the subscriber's number plus 1
  int error = 0;     // acknowledged: errno, 0 when subscribed
};

// Takes the next event off the front of a datagram; nothing at its end or where the rest is
// malformed.
[[nodiscard]] std::optional<ProcEvent> next_event(std::span<const std::byte>& datagram);

}  // namespace rdtd
