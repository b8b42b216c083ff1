#include "rdtd/proc/perf_events.hpp"

#include <linux/perf_event.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace rdtd {

namespace {

constexpr size_t most_events = 8;
constexpr const char* operation = "open";
constexpr const char* object = "the processor's performance counters";

// One message: an errno, or 0 and the descriptors.
struct Message {
  int code = 0;
  iovec part{&code, sizeof code};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_events * sizeof(int))> control{};
  msghdr header{nullptr, 0, &part, 1, nullptr, 0, 0};
};

}  // namespace

const std::vector<PerfEvent>& hardware_events() {
  static const std::vector<PerfEvent> events = {
      {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
      {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
      {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}};
  return events;
}

Result<PerfEvents> PerfEvents::open(std::span<const PerfEvent> events, pid_t thread) {
  PerfEvents out;
  for (const PerfEvent& event : events) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.inherit = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    out.descriptors_.emplace_back(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!out.descriptors_.back()) return errno_error(operation, object);
  }
  return out;
}

void PerfEvents::send(int socket, const Result<PerfEvents>& events) {
  Message message;
  std::array<int, most_events> descriptors{};
  if (!events) {
    message.code = events.error().code;
  } else {
    const size_t count = events->descriptors_.size();
    for (size_t i = 0; i < count; ++i) descriptors[i] = events->descriptors_[i].get();
    message.header.msg_control = message.control.data();
    message.header.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(control), descriptors.data(), count * sizeof(int));
  }
  (void)::sendmsg(socket, &message.header, MSG_NOSIGNAL);
}

Result<PerfEvents> PerfEvents::receive(int socket) {
  Message message;
  message.header.msg_control = message.control.data();
  message.header.msg_controllen = message.control.size();
  if (::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) <= 0)
    return std::unexpected(Error{operation, object, errno, {}});
  if (message.code != 0) return std::unexpected(Error{operation, object, message.code, {}});
  PerfEvents out;
  const cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS) return out;
  std::array<int, most_events> descriptors{};
  const size_t bytes = control->cmsg_len - CMSG_LEN(0);
  std::memcpy(descriptors.data(), CMSG_DATA(control), bytes);
  for (size_t i = 0; i < bytes / sizeof(int); ++i) out.descriptors_.emplace_back(descriptors[i]);
  return out;
}

Result<std::vector<double>> PerfEvents::read() const {
  std::vector<double> out;
  for (const UniqueFd& descriptor : descriptors_) {
    struct {
      uint64_t value, enabled, running;
    } count{};
    if (::read(descriptor.get(), &count, sizeof count) != sizeof count)
      return errno_error("read", object);
    // A task that slept all the time has used nothing.
    if (count.enabled == 0) {
      out.push_back(0);
      continue;
    }
    if (count.running == 0)
      return std::unexpected(
          Error{"read", object, 0, "other programs used all of the processor's counters"});
    out.push_back(static_cast<double>(count.value) * static_cast<double>(count.enabled) /
                  static_cast<double>(count.running));
  }
  return out;
}

}  // namespace rdtd
