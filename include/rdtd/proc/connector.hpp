// Connector: a socket of the kernel's process connector. A classic BPF filter, attached before the
// first event can arrive, passes only the events that its reader needs. The kernel drops events if
// the buffer is full; the reader learns of it from Batch::lost and must then examine all processes.
// Sources: linux/cn_proc.h, drivers/connector/cn_proc.c.
#pragma once

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"
#include "rdtd/proc/event.hpp"

namespace rdtd {

class Connector {
 public:
  // The most events that one call receives.
  static constexpr size_t batch_size = 64;
  // Bytes of the receive buffer that a waiting event takes (skb_truesize of the kernel's message).
  static constexpr int event_size = 832;
  // The longest wait of a blocking connector. Heartbeats are more frequent, so it waits that long
  // only while no event arrives at all.
  static constexpr std::chrono::seconds longest_wait{30};

  // Acknowledgements are in each of these sets.
  enum class Events {
    exec,     // each exec, and renamed threads of this process: a heartbeat
    changes,  // renamed threads and changed users and groups of all other processes
    forks,    // new threads and processes
  };

  // Opens a socket that is bound and filtered, but not subscribed. `receive_buffer` is in bytes and
  // may exceed the system's limit. Requires CAP_NET_ADMIN.
  [[nodiscard]] static Result<Connector> open(Events events, int receive_buffer, bool blocking);
  // Reads events from a socket that is bound and filtered already.
  [[nodiscard]] static Result<Connector> from_socket(UniqueFd fd, bool blocking);
  // Attaches the filter for `events` to a socket. `own` is the process that this socket belongs to.
  [[nodiscard]] static Result<void> attach_filter(int fd, Events events, pid_t own);

  // Asks for events; the kernel answers with an acknowledged event whose ack is `number` + 1. Any
  // thread may call it.
  [[nodiscard]] Result<void> send_subscription(uint32_t number) const;
  // Asks for events and waits for the answer. In a pid, user or network namespace other than the
  // first, no answer ever comes.
  [[nodiscard]] Result<void> subscribe(std::chrono::milliseconds timeout);

  // Waits until there are events or the time is over; false if there are none.
  [[nodiscard]] bool wait(std::chrono::milliseconds timeout) const;
  struct Batch {
    bool lost = false;  // the kernel dropped events since the last batch
  };
  // Appends the events that are there, at most batch_size, to `events`. If there are none, a
  // blocking connector waits for up to longest_wait, or until a signal.
  [[nodiscard]] Result<Batch> receive(std::vector<ProcEvent>& events);
  // About as many events wait; 0 if the kernel does not say.
  [[nodiscard]] size_t waiting() const;
  // The number of events that the kernel has dropped so far.
  [[nodiscard]] uint64_t dropped() const;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  static constexpr size_t datagram_size = 512;
  [[nodiscard]] std::array<uint32_t, SK_MEMINFO_VARS> memory() const;
  Connector(UniqueFd fd, bool blocking);
  UniqueFd fd_;
  int receive_flags_;
  std::vector<std::byte> buffer_;
};

}  // namespace rdtd
