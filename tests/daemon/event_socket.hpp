// Sockets that stand for the kernel's process connector.
#pragma once

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "event_number.hpp"
#include "rdtd/proc/connector.hpp"
#include "unit/proc_events.hpp"

namespace rdtd::test {

// The test sends the events of processes. Once it hangs up, its reader no longer waits for any.
class EventSocket {
 public:
  EventSocket() {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()), 0);
    sender_ = UniqueFd(pair[0]);
    receiver_ = UniqueFd(pair[1]);
  }
  // The reader's end; to be called once.
  [[nodiscard]] Connector connector(bool blocking) {
    return std::move(*Connector::from_socket(std::move(receiver_), blocking));
  }
  void hang_up() { sender_.reset(); }
  // Every call of the reader fails, as those of broken_connector do, until the test repairs this.
  // To be called before `connector`.
  void break_off() {
    sender_.reset();
    receiver_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    broken_ = receiver_.get();
  }
  void repair() {
    const UniqueFd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
    auto* address = reinterpret_cast<sockaddr*>(&name);
    socklen_t length = sizeof(sa_family_t);  // the kernel chooses the rest
    EXPECT_EQ(::bind(listener.get(), address, length), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    length = sizeof name;
    EXPECT_EQ(::getsockname(listener.get(), address, &length), 0);
    EXPECT_EQ(::connect(broken_, address, length), 0);
    sender_ = UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_TRUE(sender_);
  }

  void exec(pid_t pid, uint64_t time = event_time) const {
    EXPECT_TRUE(send(event_number::exec, pid, pid, 0, time));
  }
  void comm(pid_t tid, pid_t pid) const { EXPECT_TRUE(send(event_number::comm, tid, pid)); }
  void uid(pid_t pid) const { EXPECT_TRUE(send(event_number::uid, pid, pid)); }
  void fork(pid_t parent, pid_t child, uint64_t time) const {
    send_fork(parent, child, child, time);
  }
  // A new thread of a process whose parent is 1.
  void clone(pid_t pid, pid_t tid, uint64_t time) const { send_fork(1, tid, pid, time); }
  // The kernel's answer to a thread of this process that renames itself. Lost if the queue is full.
  void beat() const { (void)send(event_number::comm, 1, 1, MSG_DONTWAIT); }
  // Whether the reader has sent something since the last call.
  [[nodiscard]] bool take_subscription() const {
    std::array<char, 512> buffer{};
    return ::recv(sender_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT) > 0;
  }

 private:
  void send_fork(pid_t parent, pid_t child, pid_t child_process, uint64_t time) const {
    const auto number = [](pid_t pid) { return static_cast<uint32_t>(pid); };
    const auto bytes = message(event_number::fork, number(parent), number(parent), 0, number(child),
                               number(child_process), time);
    EXPECT_GT(::send(sender_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
  }
  [[nodiscard]] bool send(uint32_t what, pid_t tid, pid_t pid, int flags = 0,
                          uint64_t time = event_time) const {
    const auto bytes =
        message(what, static_cast<uint32_t>(tid), static_cast<uint32_t>(pid), 0, 0, 0, time);
    return ::send(sender_.get(), bytes.data(), bytes.size(), flags | MSG_NOSIGNAL) > 0;
  }
  UniqueFd sender_, receiver_;
  int broken_ = -1;  // the reader's end
};

// A netlink socket whose queue the kernel overruns, as it does that of the process connector: with
// answers to requests, which anybody may send. They are no events, but count as such.
class OverrunSocket {
 public:
  OverrunSocket()
      : fd_(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_ROUTE)), number_(fd_.get()) {
    const int bytes = 65536;
    EXPECT_EQ(::setsockopt(number_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
  }
  [[nodiscard]] Connector connector(bool blocking) {
    return std::move(*Connector::from_socket(std::move(fd_), blocking));
  }
  // More answers than the queue holds, which are more than one batch: 1000, and again as many while
  // a reader keeps up with them. The socket must be open.
  void overrun() const {
    nlmsghdr request{};
    request.nlmsg_len = NLMSG_LENGTH(0);
    request.nlmsg_type = NLMSG_NOOP;
    request.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    const uint32_t before = dropped();
    for (int i = 0; i < 1000 || (dropped() == before && i < 1'000'000); i++)
      EXPECT_EQ(::send(number_, &request, request.nlmsg_len, 0), ssize_t{NLMSG_LENGTH(0)});
    EXPECT_NE(dropped(), before);
  }

  // Bytes of the queue in use. The socket must be open.
  [[nodiscard]] uint32_t waiting() const { return memory(SK_MEMINFO_RMEM_ALLOC); }

 private:
  [[nodiscard]] uint32_t dropped() const { return memory(SK_MEMINFO_DROPS); }
  [[nodiscard]] uint32_t memory(size_t which) const {
    std::array<uint32_t, SK_MEMINFO_VARS> memory{};
    socklen_t length = sizeof memory;
    EXPECT_EQ(::getsockopt(number_, SOL_SOCKET, SO_MEMINFO, memory.data(), &length), 0);
    return memory[which];
  }
  UniqueFd fd_;
  int number_;
};

// A reader whose every call fails: nobody is at the other end.
[[nodiscard]] inline Connector broken_connector() {
  return std::move(
      *Connector::from_socket(UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)), true));
}

}  // namespace rdtd::test
