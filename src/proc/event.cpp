#include "rdtd/proc/event.hpp"

#include <linux/connector.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cstring>

#include "event_number.hpp"

namespace rdtd {

namespace {

// Copies the front of `bytes`, which need not be aligned; false if they are too few.
template <class T>
bool copy_front(std::span<const std::byte> bytes, T& out) {
  if (bytes.size() < sizeof(T)) return false;
  std::memcpy(static_cast<void*>(&out), bytes.data(), sizeof(T));
  return true;
}

// proc_event begins with these fields in every kernel; the union behind them has grown over time.
struct EventHead {
  uint32_t what;
  uint32_t cpu;
  uint64_t timestamp_ns;
};

struct EventBody {
  uint32_t first;   // pid of the thread; of an acknowledgement the error; of a fork the parent's
  uint32_t second;  // thread group id; of a fork the parent's
  uint32_t third;   // of a fork: the new pid
  uint32_t fourth;  // of a fork: the new thread group id
};

// The parent of a new thread is the parent of its process (copy_process in kernel/fork.c).
void decode_fork(const EventBody& body, ProcEvent& event) {
  event.kind = ProcEvent::Kind::fork;
  event.is_thread = body.third != body.fourth;
  event.tid = static_cast<pid_t>(body.third);
  event.pid = static_cast<pid_t>(event.is_thread ? body.fourth : body.second);
}

ProcEvent decode(uint32_t ack, const EventHead& head, const EventBody& body) {
  ProcEvent event;
  event.timestamp_ns = head.timestamp_ns;
  if (head.what == event_number::none) {
    event.kind = ProcEvent::Kind::acknowledged;
    event.ack = ack;
    event.error = static_cast<int>(body.first);
    return event;
  }
  event.tid = static_cast<pid_t>(body.first);
  event.pid = static_cast<pid_t>(body.second);
  switch (head.what) {
    case event_number::fork: decode_fork(body, event); break;
    case event_number::exec: event.kind = ProcEvent::Kind::exec; break;
    case event_number::comm: event.kind = ProcEvent::Kind::comm; break;
    case event_number::uid:
    case event_number::gid: event.kind = ProcEvent::Kind::identity; break;
    default: break;
  }
  return event;
}

}  // namespace

std::optional<ProcEvent> next_event(std::span<const std::byte>& datagram) {
  nlmsghdr netlink{};
  if (!copy_front(datagram, netlink) || netlink.nlmsg_len < NLMSG_HDRLEN ||
      netlink.nlmsg_len > datagram.size())
    return std::nullopt;
  std::span<const std::byte> message =
      datagram.subspan(NLMSG_HDRLEN, netlink.nlmsg_len - NLMSG_HDRLEN);
  datagram = datagram.subspan(std::min<size_t>(NLMSG_ALIGN(netlink.nlmsg_len), datagram.size()));
  cn_msg connector{};
  EventHead head{};
  if (!copy_front(message, connector) || connector.id.idx != CN_IDX_PROC ||
      connector.id.val != CN_VAL_PROC)
    return ProcEvent{};
  message = message.subspan(sizeof(cn_msg));
  if (!copy_front(message, head)) return ProcEvent{};
  message = message.subspan(sizeof(EventHead));
  // An acknowledgement's union may be shorter than these numbers.
  EventBody body{};
  std::memcpy(&body, message.data(), std::min(message.size(), sizeof body));
  return decode(connector.ack, head, body);
}

}  // namespace rdtd
