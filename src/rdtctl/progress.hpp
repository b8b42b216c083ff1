// How far a measurement is, for people.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "print.hpp"
#include "rdtd/base/clock.hpp"

namespace rdtd {

[[nodiscard]] inline double seconds_since(uint64_t began) {
  return static_cast<double>(monotonic_nanoseconds() - began) * 1e-9;
}

// On a terminal: which run of how many, and how long the others take if they take as long.
class Progress {
 public:
  explicit Progress(size_t runs) : runs_(runs), began_(monotonic_nanoseconds()) {}
  void show(const std::string& condition) {
    if (terminal_) note("\rrun {} of {}, {}{}\033[K", done_ + 1, runs_, condition, remaining());
    ++done_;
  }
  void clear() const {
    if (terminal_) note("\r\033[K");
  }
  // Where no line can be overwritten, how long it will take is said once, if it is long.
  void expect_more(size_t runs) {
    runs_ = done_ + runs;
    if (!terminal_ && seconds_left() >= worth_saying) note("{} runs{}\n", runs, remaining());
  }

 private:
  static constexpr double worth_saying = 60;
  [[nodiscard]] double seconds_left() const {
    if (done_ == 0) return 0;
    return seconds_since(began_) * static_cast<double>(runs_ - done_) / static_cast<double>(done_);
  }
  [[nodiscard]] std::string remaining() const {
    if (done_ == 0) return "";
    const double seconds = seconds_left();
    return seconds < 100 ? fmt::format("; {:.0f} s left", seconds)
                         : fmt::format("; {:.0f} min left", seconds / 60);
  }
  size_t runs_, done_ = 0;
  uint64_t began_;
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

}  // namespace rdtd
