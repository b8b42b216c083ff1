// Paced: a value that takes time to read, kept until it may be read again, so that no user can make
// the main loop do little else.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "rdtd/base/cooldown.hpp"

namespace rdtd {

template <class T>
class Paced {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Cooldown pause{10, std::chrono::milliseconds(200)};

  // The value, if it need not be read again yet.
  [[nodiscard]] const std::optional<T>& at(Time now) {
    if (now >= due_) value_.reset();
    return value_;
  }
  // Keeps what took from `begin` to `end` to read.
  const T& keep(T value, Time begin, Time end) {
    due_ = end + pause.after(end - begin);
    return value_.emplace(std::move(value));
  }
  void forget() { value_.reset(); }

 private:
  std::optional<T> value_;
  Time due_{};
};

}  // namespace rdtd
