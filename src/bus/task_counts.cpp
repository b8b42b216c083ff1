#include "task_counts.hpp"

#include <algorithm>

namespace rdtd {

uint32_t TaskCounts::in(const std::string& group) {
  const uint64_t begin = now_();
  if (counts_.empty() || begin - begun_ > std::max(least_age, parts * took_)) {
    counts_.clear();
    begun_ = begin;
    took_ = 0;
  }
  const auto [count, added] = counts_.try_emplace(group);
  if (!added) return count->second;
  count->second = static_cast<uint32_t>(reads_.tasks_in(group));
  took_ += now_() - begin;
  return count->second;
}

}  // namespace rdtd
