// The numbers of the process connector's events that rdtd uses. They are the kernel's ABI;
// linux/cn_proc.h defines them in an enumeration whose name differs between versions of the header.
#pragma once

#include <cstdint>

namespace rdtd::event_number {

inline constexpr uint32_t none = 0x0;  // the acknowledgement of a subscription
inline constexpr uint32_t fork = 0x1;
inline constexpr uint32_t exec = 0x2;
inline constexpr uint32_t uid = 0x4;
inline constexpr uint32_t gid = 0x40;
inline constexpr uint32_t comm = 0x200;

}  // namespace rdtd::event_number
