#include "rdtd/daemon/event_source.hpp"

#include <sys/epoll.h>

#include <ctime>

namespace rdtd {

namespace {

uint64_t usec(std::chrono::steady_clock::time_point time) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count());
}

int on_time(sd_event_source*, uint64_t, void* call) {
  (*static_cast<std::function<void()>*>(call))();
  return 0;
}

int on_io(sd_event_source*, int, uint32_t, void* call) {
  (*static_cast<std::function<void()>*>(call))();
  return 0;
}

}  // namespace

int Timer::attach(sd_event* event, std::function<void()> call) {
  call_ = std::move(call);
  const int r = sd_event_add_time(event, &source_, CLOCK_MONOTONIC, 0, 1000, on_time, &call_);
  return r < 0 ? r : sd_event_source_set_enabled(source_, SD_EVENT_OFF);
}

void Timer::set(std::chrono::microseconds delay) {
  (void)sd_event_source_set_time(source_, usec(std::chrono::steady_clock::now() + delay));
  (void)sd_event_source_set_enabled(source_, SD_EVENT_ONESHOT);
}

bool Timer::is_set() const {
  int enabled = SD_EVENT_OFF;
  (void)sd_event_source_get_enabled(source_, &enabled);
  return enabled != SD_EVENT_OFF;
}

int Readable::attach(sd_event* event, int fd, std::function<void()> call) {
  call_ = std::move(call);
  return sd_event_add_io(event, &source_, fd, EPOLLIN, on_io, &call_);
}

int Readable::limit_to_one_in(std::chrono::microseconds interval) {
  return sd_event_source_set_ratelimit(source_, static_cast<uint64_t>(interval.count()), 1);
}

int Due::attach(sd_event* event, std::function<Time()> due, std::function<void()> call) {
  due_ = std::move(due);
  call_ = std::move(call);
  int r = sd_event_add_time(event, &source_, CLOCK_MONOTONIC, 0, 1000, on_work, this);
  if (r >= 0) r = sd_event_source_set_prepare(source_, before_poll);
  return r < 0 ? r : sd_event_source_set_enabled(source_, SD_EVENT_ON);
}

// sd-event calls this before each wait, as long as the source is enabled: without work it is set to
// a time that never comes.
int Due::before_poll(sd_event_source* source, void* self) {
  const Time due = static_cast<Due*>(self)->due_();
  if (due == Time::max()) return sd_event_source_set_time(source, UINT64_MAX);
  return sd_event_source_set_time(source, due < std::chrono::steady_clock::now() ? 0 : usec(due));
}

int Due::on_work(sd_event_source*, uint64_t, void* self) {
  static_cast<Due*>(self)->call_();
  return 0;
}

}  // namespace rdtd
