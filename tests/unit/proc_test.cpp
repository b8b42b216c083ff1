#include <gtest/gtest.h>

#include <linux/connector.h>
#include <linux/netlink.h>

#include <cstring>
#include <vector>

#include "rdtd/proc/event.hpp"

namespace rdtd {
namespace {

// One message as the kernel sends it.
std::vector<std::byte> message(uint32_t what, uint32_t first, uint32_t second, uint32_t ack = 0) {
  const uint32_t body[] = {what, 0, 0, 0, first, second, 0, 0};
  std::vector<std::byte> out(NLMSG_LENGTH(sizeof(cn_msg) + sizeof body));
  nlmsghdr netlink{};
  netlink.nlmsg_len = static_cast<uint32_t>(out.size());
  cn_msg connector{};
  connector.id = {CN_IDX_PROC, CN_VAL_PROC};
  connector.ack = ack;
  connector.len = sizeof body;
  std::memcpy(out.data(), &netlink, sizeof netlink);
  std::memcpy(out.data() + NLMSG_HDRLEN, static_cast<void*>(&connector), sizeof connector);
  std::memcpy(out.data() + NLMSG_HDRLEN + sizeof connector, body, sizeof body);
  return out;
}

TEST(Event, Decode) {
  using Kind = ProcEvent::Kind;
  const struct {
    uint32_t what;
    Kind kind;
  } rows[] = {{0x0, Kind::acknowledged}, {0x1, Kind::other},     {0x2, Kind::exec},
              {0x4, Kind::identity},     {0x40, Kind::identity}, {0x200, Kind::comm},
              {0x80000000, Kind::other}};
  for (const auto& row : rows) {
    const auto bytes = message(row.what, 11, 10, 7);
    std::span<const std::byte> datagram(bytes);
    const auto event = next_event(datagram);
    ASSERT_TRUE(event) << row.what;
    EXPECT_EQ(event->kind, row.kind) << row.what;
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

TEST(Event, SeveralInOneDatagram) {
  auto bytes = message(2, 1, 1);
  const auto second = message(0x200, 3, 2);
  bytes.insert(bytes.end(), second.begin(), second.end());
  std::span<const std::byte> datagram(bytes);
  EXPECT_EQ(next_event(datagram)->pid, 1);
  EXPECT_EQ(next_event(datagram)->tid, 3);
  EXPECT_FALSE(next_event(datagram));
}

// Cut anywhere, or with any byte changed, it neither reads beyond its end nor goes on for ever.
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

}  // namespace
}  // namespace rdtd
