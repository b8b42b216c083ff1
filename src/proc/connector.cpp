#include "rdtd/proc/connector.hpp"

#include <arpa/inet.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "event_number.hpp"

namespace rdtd {

namespace {

// Offsets in the datagram, which the filter sees from its netlink header on: proc_event follows the
// connector's header; in its union, the thread group id follows the id of the thread.
constexpr uint32_t what_offset = NLMSG_HDRLEN + sizeof(cn_msg);
constexpr uint32_t process_offset = what_offset + 16 + 4;

// BPF loads words in network order.
constexpr sock_filter load(uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
constexpr sock_filter jump_if(uint32_t value, uint8_t then, uint8_t otherwise) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __builtin_bswap32(value), then, otherwise);
}
constexpr sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
constexpr sock_filter pass = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);

// A jump skips this many instructions.
std::vector<sock_filter> make_filter(Connector::Events events, pid_t own) {
  const auto process = static_cast<uint32_t>(own);
  switch (events) {
    case Connector::Events::exec:
      return {load(what_offset),
              jump_if(event_number::none, 5, 0),
              jump_if(event_number::exec, 4, 0),
              jump_if(event_number::comm, 0, 2),
              load(process_offset),
              jump_if(process, 1, 0),
              drop,
              pass};
    case Connector::Events::changes:
      return {load(what_offset),
              jump_if(event_number::none, 6, 0),
              jump_if(event_number::comm, 2, 0),
              jump_if(event_number::uid, 1, 0),
              jump_if(event_number::gid, 0, 2),
              load(process_offset),
              jump_if(process, 0, 1),
              drop,
              pass};
    case Connector::Events::forks: break;
  }
  return {load(what_offset), jump_if(event_number::none, 2, 0), jump_if(event_number::fork, 1, 0),
          drop, pass};
}

}  // namespace

Result<void> Connector::attach_filter(int fd, Events events, pid_t own) {
  std::vector<sock_filter> program = make_filter(events, own);
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) < 0)
    return errno_error("filter", "process events");
  return {};
}

Connector::Connector(UniqueFd fd, bool blocking)
    : fd_(std::move(fd)),
      receive_flags_(blocking ? MSG_WAITFORONE : MSG_DONTWAIT),
      buffer_(batch_size * datagram_size) {}

Result<Connector> Connector::open(Events events, int receive_buffer, bool blocking) {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR));
  if (!fd) return errno_error("open", "process events");
  if (auto filtered = attach_filter(fd.get(), events, ::getpid()); !filtered)
    return std::unexpected(filtered.error());
  // The kernel doubles the value, for its own bookkeeping.
  const int half = receive_buffer / 2;
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof half) < 0)
    return errno_error("enlarge the buffer of", "process events");
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = CN_IDX_PROC;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return errno_error("listen to", "process events");
  return from_socket(std::move(fd), blocking);
}

Result<Connector> Connector::from_socket(UniqueFd fd, bool blocking) {
  const timeval timeout{longest_wait.count(), 0};
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0)
    return errno_error("set a timeout on", "process events");
  return Connector(std::move(fd), blocking);
}

Result<void> Connector::send_subscription(uint32_t number) const {
  // Every kernel knows the plain four-byte request, and none filters its acknowledgement.
  const uint32_t operation = PROC_CN_MCAST_LISTEN;
  cn_msg connector{};
  connector.id = {CN_IDX_PROC, CN_VAL_PROC};
  connector.ack = number;
  connector.len = sizeof operation;
  nlmsghdr netlink{};
  netlink.nlmsg_len = NLMSG_LENGTH(sizeof connector + sizeof operation);
  netlink.nlmsg_type = NLMSG_DONE;
  std::array<std::byte, NLMSG_LENGTH(sizeof connector + sizeof operation)> message{};
  std::memcpy(message.data(), &netlink, sizeof netlink);
  std::memcpy(message.data() + NLMSG_HDRLEN, &connector, sizeof connector);
  std::memcpy(message.data() + NLMSG_HDRLEN + sizeof connector, &operation, sizeof operation);
  if (::send(fd_.get(), message.data(), message.size(), 0) < 0)
    return errno_error("subscribe to", "process events");
  return {};
}

Result<void> Connector::subscribe(std::chrono::milliseconds timeout) {
  const auto number = static_cast<uint32_t>(::getpid());
  if (auto sent = send_subscription(number); !sent) return sent;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::vector<ProcEvent> events;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    if (!wait(left)) continue;
    events.clear();
    if (const auto batch = receive(events); !batch) return std::unexpected(batch.error());
    for (const ProcEvent& event : events) {
      if (event.kind != ProcEvent::Kind::acknowledged || event.ack != number + 1) continue;
      if (event.error != 0)
        return std::unexpected(Error{"subscribe to", "process events", event.error, {}});
      return {};
    }
  }
  return std::unexpected(
      Error{"subscribe to", "process events", ETIMEDOUT,
            "the kernel sends them to the first pid, user and network namespace only"});
}

bool Connector::wait(std::chrono::milliseconds timeout) const {
  pollfd events{fd_.get(), POLLIN, 0};
  return ::poll(&events, 1, static_cast<int>(timeout.count())) > 0;
}

Result<Connector::Batch> Connector::receive(std::vector<ProcEvent>& events) {
  std::array<mmsghdr, batch_size> messages{};
  std::array<iovec, batch_size> vectors{};
  for (size_t i = 0; i < batch_size; i++) {
    vectors[i] = {buffer_.data() + i * datagram_size, datagram_size};
    messages[i].msg_hdr.msg_iov = &vectors[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  // The sender is not checked: only the kernel and CAP_NET_ADMIN can send here.
  const int count = ::recvmmsg(fd_.get(), messages.data(), batch_size, receive_flags_, nullptr);
  if (count < 0 && errno == ENOBUFS) return Batch{true};
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Batch{};
  if (count < 0) return errno_error("receive", "process events");
  for (size_t i = 0; i < static_cast<size_t>(count); i++) {
    std::span<const std::byte> datagram(buffer_.data() + i * datagram_size, messages[i].msg_len);
    while (const auto event = next_event(datagram)) events.push_back(*event);
  }
  return Batch{};
}

std::array<uint32_t, SK_MEMINFO_VARS> Connector::memory() const {
  std::array<uint32_t, SK_MEMINFO_VARS> out{};
  socklen_t length = sizeof out;
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_MEMINFO, out.data(), &length) < 0) return {};
  return out;
}

size_t Connector::waiting() const { return memory()[SK_MEMINFO_RMEM_ALLOC] / event_size; }

uint64_t Connector::dropped() const { return memory()[SK_MEMINFO_DROPS]; }

}  // namespace rdtd
