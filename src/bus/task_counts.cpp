#include "task_counts.hpp"

namespace rdtd {

uint32_t TaskCounts::in(const std::string& group, uint64_t now) {
  if (counts_.empty() || now - begun_ > max_age) {
    counts_.clear();
    begun_ = now;
  }
  const auto [count, added] = counts_.try_emplace(group);
  if (added) count->second = static_cast<uint32_t>(manager_.tasks_in(group));
  return count->second;
}

}  // namespace rdtd
