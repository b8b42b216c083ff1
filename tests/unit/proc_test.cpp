// Events of the process connector: decoded from bytes, and filtered by the kernel's own BPF
// machine.
#include <gtest/gtest.h>

#include <linux/connector.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <vector>

#include "proc_events.hpp"
#include "rdtd/proc/connector.hpp"
#include "rdtd/proc/event.hpp"

namespace rdtd {
namespace {

using test::message;

TEST(Event, Decode) {
  using Kind = ProcEvent::Kind;
  const struct {
    uint32_t what;
    Kind kind;
  } rows[] = {{0x0, Kind::acknowledged}, {0x2, Kind::exec},   {0x4, Kind::identity},
              {0x40, Kind::identity},    {0x80, Kind::other}, {0x200, Kind::comm},
              {0x80000000, Kind::other}};
  for (const auto& row : rows) {
    const auto bytes = message(row.what, 11, 10, 7);
    std::span<const std::byte> datagram(bytes);
    const auto event = next_event(datagram);
    ASSERT_TRUE(event) << row.what;
    EXPECT_EQ(event->kind, row.kind) << row.what;
    EXPECT_EQ(event->timestamp_ns, test::event_time) << row.what;
    if (row.kind == Kind::acknowledged) {
      EXPECT_EQ(event->ack, 7U);
      EXPECT_EQ(event->error, 11);
    } else {
      EXPECT_EQ(event->tid, 11);
      EXPECT_EQ(event->pid, 10);
    }
    EXPECT_FALSE(next_event(datagram));
  }
}

// The parent of a new thread is the parent of its process.
TEST(Event, DecodeFork) {
  const struct {
    uint32_t parent, parent_process, child, child_process;
    pid_t pid;
  } rows[] = {{11, 10, 20, 20, 10}, {6, 5, 21, 20, 20}, {1, 1, 20, 20, 1}};
  for (const auto& row : rows) {
    const auto bytes =
        message(0x1, row.parent, row.parent_process, 0, row.child, row.child_process);
    std::span<const std::byte> datagram(bytes);
    const auto event = next_event(datagram);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, ProcEvent::Kind::fork);
    EXPECT_EQ(event->pid, row.pid);
    EXPECT_EQ(event->tid, static_cast<pid_t>(row.child));
    EXPECT_EQ(event->timestamp_ns, test::event_time);
  }
}

TEST(Event, SeveralInOneDatagram) {
  auto bytes = message(2, 1, 1);
  const auto second = message(0x200, 3, 2);
  bytes.insert(bytes.end(), second.begin(), second.end());
  std::span<const std::byte> datagram(bytes);
  EXPECT_EQ(next_event(datagram)->pid, 1);
  EXPECT_EQ(next_event(datagram)->tid, 3);
  EXPECT_FALSE(next_event(datagram));
}

// The decoder neither reads beyond a message that is cut anywhere or has any byte changed, nor
// loops forever.
TEST(Event, Malformed) {
  const auto whole = message(2, 1, 1);
  for (size_t length = 0; length < whole.size(); length++) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(length));
    std::span<const std::byte> datagram(cut);
    int events = 0;
    while (next_event(datagram)) ASSERT_LT(events++, 10);
    EXPECT_EQ(events, 0);
  }
  for (size_t at = 0; at < whole.size(); at++)
    for (const int value : {0, 1, 0x7f, 0xff}) {
      auto changed = whole;
      changed[at] = static_cast<std::byte>(value);
      std::span<const std::byte> datagram(changed);
      int events = 0;
      while (next_event(datagram)) ASSERT_LT(events++, 10);
    }
}

// Whether a socket with this filter receives the message.
bool passes(Connector::Events events, pid_t own, const std::vector<std::byte>& datagram) {
  std::array<int, 2> pair{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const UniqueFd sender(pair[0]), receiver(pair[1]);
  const auto attached = Connector::attach_filter(receiver.get(), events, own);
  EXPECT_TRUE(attached) << attached.error().text();
  (void)::send(sender.get(), datagram.data(), datagram.size(), MSG_DONTWAIT);
  std::array<std::byte, 512> buffer{};
  const ssize_t n = ::recv(receiver.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (n < 0) return false;
  EXPECT_EQ(static_cast<size_t>(n), datagram.size());
  EXPECT_EQ(std::memcmp(buffer.data(), datagram.data(), datagram.size()), 0);
  return true;
}

TEST(Event, Filter) {
  constexpr pid_t own = 0x12345;
  const struct {
    uint32_t what;
    uint32_t process;
    bool exec, changes, forks;
  } rows[] = {
      {0x0, 0, true, true, true},               // acknowledged
      {0x0, own, true, true, true},             //
      {0x1, 7, false, false, true},             // fork
      {0x1, own, false, false, true},           //
      {0x2, 7, true, false, false},             // exec
      {0x2, own, true, false, false},           //
      {0x4, 7, false, true, false},             // uid
      {0x4, own, false, false, false},          //
      {0x40, 7, false, true, false},            // gid
      {0x40, own, false, false, false},         //
      {0x80, 7, false, false, false},           // sid
      {0x100, 7, false, false, false},          // ptrace
      {0x200, 7, false, true, false},           // comm
      {0x200, own, true, false, false},         //
      {0x200, 0x45230100, false, true, false},  // the own pid in the other byte order
      {0x80000000, 7, false, false, false},     // exit
      {0x02000000, 7, false, false, false},     // exec in the other byte order
      {0x01000000, 7, false, false, false},     // fork in the other byte order
      {0x202, 7, false, false, false},          // no event
  };
  for (const auto& row : rows) {
    // The thread is never the one that the filter compares.
    const auto datagram = message(row.what, own + 1, row.process);
    EXPECT_EQ(passes(Connector::Events::exec, own, datagram), row.exec) << row.what;
    EXPECT_EQ(passes(Connector::Events::changes, own, datagram), row.changes) << row.what;
    EXPECT_EQ(passes(Connector::Events::forks, own, datagram), row.forks) << row.what;
  }
}

// A message that is too short to have a process passes no filter.
TEST(Event, FilterOfShortMessages) {
  const auto whole = message(0x200, 7, 7);
  const std::vector<std::byte> cut(whole.begin(),
                                   whole.begin() + NLMSG_HDRLEN + sizeof(cn_msg) + 20);
  for (const auto events : {Connector::Events::exec, Connector::Events::changes})
    EXPECT_FALSE(passes(events, 7, cut));
}

}  // namespace
}  // namespace rdtd
