// Sources of the one sd-event loop, each with the function that it calls. They live no longer than
// the sd_event that they are attached to.
#pragma once

#include <systemd/sd-event.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace rdtd {

class EventSource {
 public:
  EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;
  ~EventSource() { detach(); }

  void detach() { source_ = sd_event_source_disable_unref(source_); }

  // False if it stays off: the kernel may have no memory to watch a descriptor again, or root may
  // have as many watches of epoll(7) as it permits. The caller has to try again.
  bool enable(bool on) {
    return sd_event_source_set_enabled(source_, on ? SD_EVENT_ON : SD_EVENT_OFF) >= 0;
  }

 protected:
  sd_event_source* source_ = nullptr;
  std::function<void()> call_;
};

// Calls once, when the time has come.
class Timer : public EventSource {
 public:
  // Off until it is set. 0, or -errno; likewise below.
  [[nodiscard]] int attach(sd_event* event, std::function<void()> call);
  // From now, not from when it was due: a loop that was held up does not catch up on what it
  // missed.
  void set(std::chrono::microseconds delay);
  [[nodiscard]] bool is_set() const;
};

// Calls whenever something can be read.
class Readable : public EventSource {
 public:
  [[nodiscard]] int attach(sd_event* event, int fd, std::function<void()> call);
  // Calls at most once in so long.
  [[nodiscard]] int limit_to_one_in(std::chrono::microseconds interval);
};

// Calls whenever something is due. When that is, it asks before each wait of the loop.
class Due : public EventSource {
 public:
  using Time = std::chrono::steady_clock::time_point;  // CLOCK_MONOTONIC, as sd-event's timers here
  // `due`: Time::max() if there is nothing to do.
  [[nodiscard]] int attach(sd_event* event, std::function<Time()> due, std::function<void()> call);

 private:
  static int before_poll(sd_event_source* source, void* self);
  static int on_work(sd_event_source*, uint64_t, void* self);
  std::function<Time()> due_;
};

}  // namespace rdtd
