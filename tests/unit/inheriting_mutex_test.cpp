#include "rdtd/base/inheriting_mutex.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <thread>

namespace rdtd {
namespace {

// The kernel finds the holder by the futex, which has its thread id if priority is inherited
// (FUTEX_LOCK_PI in futex(2)); that of other mutexes has 1. It is the first word of a mutex.
TEST(InheritingMutex, TheKernelKnowsItsHolder) {
  InheritingMutex mutex;
  const auto futex = [&] {
    uint32_t word = 0;
    std::memcpy(&word, static_cast<const void*>(&mutex), sizeof word);
    return static_cast<pid_t>(word);
  };
  EXPECT_EQ(futex(), 0);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(futex(), ::gettid());
}

TEST(InheritingMutex, AWaitHasAnEnd) {
  InheritingMutex mutex;
  const auto locked = [&](std::chrono::milliseconds wait) {
    bool out = false;
    std::thread([&] {
      out = mutex.lock_until(InheritingMutex::Clock::now() + wait);
      if (out) mutex.unlock();
    }).join();
    return out;
  };
  EXPECT_TRUE(locked(std::chrono::seconds(10)));
  const std::lock_guard lock(mutex);
  EXPECT_FALSE(locked(std::chrono::milliseconds(5)));
}

}  // namespace
}  // namespace rdtd
