#include "rdtd/observer/pace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rdtd/model/drift_text.hpp"
#include "rdtd/observe/guard.hpp"

namespace rdtd {

namespace {

constexpr size_t most_marks = 100;

}  // namespace

uint64_t next_sample_usec(uint64_t due, uint64_t begin, uint64_t end, uint64_t interval) {
  const uint64_t earliest = std::max(begin + interval / 2, end + (end - begin));
  const uint64_t passed = earliest > due ? earliest - due : 0;
  return due + std::max<uint64_t>(1, (passed + interval - 1) / interval) * interval;
}

// A program may begin and end very many leases. What resets the guard is never left out: it would
// go on with amounts that are not in force, and a replay would not say what it did. Nor is it that
// there was drift of a group, which the guard waits for.
void Marks::add(std::string mark) {
  if (std::ranges::find(marks_, mark) != marks_.end()) return;
  if (marks_.size() < most_marks || observe::resets_guard(mark)) {
    marks_.push_back(std::move(mark));
    return;
  }
  left_out_++;
  constexpr const char* more_drift = "drift: more than is listed";
  if (mark.starts_with("drift") && !is_of_processes(mark) &&
      std::ranges::find(marks_, more_drift) == marks_.end())
    marks_.push_back(more_drift);
}

std::vector<std::string> Marks::take() {
  if (const size_t more = std::exchange(left_out_, 0); more > 0)
    marks_.push_back(fmt::format("and {} more", more));
  return std::exchange(marks_, {});
}

}  // namespace rdtd
