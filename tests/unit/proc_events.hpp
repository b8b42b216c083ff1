// Messages of the process connector, made from numbers.
#pragma once

#include <linux/connector.h>
#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace rdtd::test {

// When the events of messages happened, CLOCK_MONOTONIC.
inline constexpr uint64_t event_time = 0x200000001;

// A message as the kernel sends it.
inline std::vector<std::byte> message(uint32_t what, uint32_t first, uint32_t second,
                                      uint32_t ack = 0, uint32_t third = 0, uint32_t fourth = 0,
                                      uint64_t time = event_time) {
  const uint32_t body[] = {
      what,  0,     static_cast<uint32_t>(time), static_cast<uint32_t>(time >> 32), first, second,
      third, fourth};
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

}  // namespace rdtd::test
