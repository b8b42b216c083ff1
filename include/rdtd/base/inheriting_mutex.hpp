// InheritingMutex: a mutex that the real-time thread may wait for. Meanwhile the thread that holds
// it runs at the priority of the one that waits (pthread_mutexattr_setprotocol(3)). With std::mutex
// an ordinary thread that has no processor could keep the real-time thread waiting.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <ctime>

namespace rdtd {

class InheritingMutex {
 public:
  using Clock = std::chrono::steady_clock;

  InheritingMutex() {
    pthread_mutexattr_t attributes;
    (void)::pthread_mutexattr_init(&attributes);
    (void)::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    (void)::pthread_mutex_init(&mutex_, &attributes);
    (void)::pthread_mutexattr_destroy(&attributes);
  }
  InheritingMutex(const InheritingMutex&) = delete;
  InheritingMutex& operator=(const InheritingMutex&) = delete;
  ~InheritingMutex() { (void)::pthread_mutex_destroy(&mutex_); }

  void lock() { (void)::pthread_mutex_lock(&mutex_); }
  void unlock() { (void)::pthread_mutex_unlock(&mutex_); }
  // False if it could not be had until then.
  [[nodiscard]] bool lock_until(Clock::time_point time) {
    const timespec end = timespec_of(time.time_since_epoch());
    const int error = ::pthread_mutex_clocklock(&mutex_, CLOCK_MONOTONIC, &end);
    if (error != EINVAL) return error == 0;
    // Before Linux 5.14, a wait for such a mutex ends only by the clock that can be set.
    const auto remaining = time - Clock::now();
    const timespec wall =
        timespec_of(std::chrono::system_clock::now().time_since_epoch() + remaining);
    return ::pthread_mutex_timedlock(&mutex_, &wall) == 0;
  }

 private:
  [[nodiscard]] static timespec timespec_of(std::chrono::nanoseconds time) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    return {seconds.count(), (time - seconds).count()};
  }
  pthread_mutex_t mutex_{};
};

}  // namespace rdtd
