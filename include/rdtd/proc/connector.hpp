// Connector: the socket of the kernel's process connector. A classic BPF filter, in place before
// the first event can arrive, lets only those through that can change a decision: exec, rename,
// change of user or group. What the kernel had to drop is told, never hidden: whoever hears it
// looks at all processes again.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"
#include "rdtd/proc/event.hpp"

namespace rdtd {

class Connector {
 public:
  // The most events that are received at once.
  static constexpr size_t batch_size = 64;

  // Bound and filtered, not yet subscribed. `receive_buffer` in bytes, beyond the system's limit
  // too; a waiting event takes 832 of them. Needs CAP_NET_ADMIN.
  [[nodiscard]] static Result<Connector> open(int receive_buffer);

  // Asks for events; the kernel answers with an acknowledged event whose ack is `number` + 1. Any
  // thread may call it.
  [[nodiscard]] Result<void> send_subscription(uint32_t number) const;
  // The same and waits for the answer. In a pid, user or network namespace other than the first
  // none ever comes.
  [[nodiscard]] Result<void> subscribe(std::chrono::milliseconds timeout);

  // Waits for events, at most so long; false where none came.
  [[nodiscard]] bool wait(std::chrono::milliseconds timeout) const;
  struct Batch {
    bool lost = false;  // the kernel dropped events since the last batch
  };
  // Waits for events, at most a second, and adds those that are there, at most batch_size, to
  // `events`.
  [[nodiscard]] Result<Batch> receive(std::vector<ProcEvent>& events);
  // Events that the kernel has dropped so far.
  [[nodiscard]] uint64_t dropped() const;

 private:
  static constexpr size_t datagram_size = 512;
  explicit Connector(UniqueFd fd);
  UniqueFd fd_;
  std::vector<std::byte> buffer_;
};

}  // namespace rdtd
