// How far a measurement is, for people.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "rdtd/base/clock.hpp"

namespace rdtd {

[[nodiscard]] inline double seconds_since(uint64_t began) {
  return static_cast<double>(monotonic_nanoseconds() - began) * 1e-9;
}

// "alone 1.20 s, with noise 1.52 s": as many of the parts as fit into that many columns, and ",
// ..." in place of the others.
[[nodiscard]] std::string joined_within(const std::vector<std::string>& parts, size_t columns);

// Of one that did not reach its end: "Interrupted: 3 of 9 rounds were measured."
[[nodiscard]] std::string ended_early(bool interrupted, size_t rounds, size_t wanted);

// On a terminal, one line that is overwritten: which run of how many, how long the others take if
// they take as long, and the medians so far. Elsewhere, if the measurement is long, a line for each
// round.
class Progress {
 public:
  static constexpr double long_seconds = 60;

  // `step`: of a measurement that has several, such as "step 1 of 2: ", since the time that is left
  // is that of the step. `of_long`: seconds from which on a measurement is long.
  explicit Progress(size_t runs, std::string step = "", double of_long = long_seconds)
      : runs_(runs), step_(std::move(step)), of_long_(of_long), began_(monotonic_nanoseconds()) {}
  void show(const std::string& condition);
  void clear() const;
  // After the round that is not counted: so many runs are left.
  void expect_more(size_t runs);
  // After a round that counts: the median of each condition, as in joined_within().
  void end_round(size_t round, size_t rounds, std::vector<std::string> medians);

 private:
  [[nodiscard]] double seconds_left() const;
  [[nodiscard]] std::string remaining() const;  // "; 40 s left"

  size_t runs_, done_ = 0;
  std::string step_;
  double of_long_;
  uint64_t began_;
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool long_ = false;
  std::vector<std::string> medians_;
};

}  // namespace rdtd
